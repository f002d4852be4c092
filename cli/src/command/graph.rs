//! `formwork graph`: the graph of a plan, for Graphviz.

use std::collections::BTreeMap;
use std::path::PathBuf;

use formwork_core::apply;
use formwork_core::eval::Results;
use formwork_core::event::NoEventObserver;
use formwork_core::plan::{self, PlanMode, PlanOptions};
use formwork_core::provider::ProviderPool;
use formwork_core::state::State;
use formwork_operation::PhaseInputs;
use formwork_operation::saved_plan::GeneratedConfigUse;
use formwork_value::{Diagnostic, Diagnostics, Reported};

use super::encryption;
use super::operation::{PreparedConfig, StateNeedingProviders, providers_only_in_state};
use super::output::stored_state_file;
use super::planfile::{self, OpenedPlan, PlanToOpen};
use crate::clock;
use crate::command_line::{StatePaths, VariableArgs, example};
use crate::env::Env;
use crate::exit::Exit;
use crate::messages;
use crate::view::{Screen, operation_report::OperationReport, print_data};
use crate::workspace::Workspace;

/// Print the graph of a plan, for Graphviz.
#[derive(Debug, clap::Args)]
#[command(after_help = example(
    "-type=plan",
    "Print the graph of a plan. Pipe it to `dot -Tsvg` to draw it."
))]
pub(crate) struct GraphArgs {
    /// Graph to print: `plan`, `plan-destroy`, `plan-refresh-only` or `apply`. Default: only resources.
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) kind: Option<String>,
    /// Print the apply graph of this saved plan.
    #[arg(long, value_name = "FILE")]
    pub(crate) plan: Option<PathBuf>,
    /// Accepted for compatibility. A cycle is an error that names each of its edges.
    #[arg(long)]
    pub(crate) draw_cycles: bool,
    /// Accepted for compatibility, and without effect.
    #[arg(long, value_name = "N", hide = true, allow_negative_numbers = true)]
    pub(crate) module_depth: Option<i64>,
    /// Accepted for compatibility, and without effect.
    #[arg(long, hide = true)]
    pub(crate) verbose: bool,
    #[command(flatten)]
    pub(crate) variables: VariableArgs,
}

/// Source of the graph to draw.
enum GraphSource {
    /// The graph of a plan with these options.
    Planning(PlanOptions, GraphDetail),
    /// The application of a saved plan.
    Applying(Box<OpenedPlan>),
}

/// Level of detail.
#[derive(Clone, Copy, PartialEq, Eq)]
enum GraphDetail {
    /// Only the resources.
    Resources,
    /// Every vertex.
    Whole,
}

/// Runs the command.
pub(super) async fn run(args: &GraphArgs, env: &Env) -> Exit {
    let report = OperationReport::new(Screen::of(env), false, false);
    let mut diags = Diagnostics::new();
    let Ok(mut workspace) = Workspace::open(env, &mut diags) else {
        return report.report_failure(None, &diags);
    };
    let text = draw_graph(&mut diags, args, &mut workspace).await;
    report.report_diagnostics(&workspace.sources, &diags);
    match text {
        Ok(text) => {
            print_data(&text);
            Exit::Done
        }
        Err(_) => Exit::Failed,
    }
}

async fn draw_graph(
    diags: &mut Diagnostics,
    args: &GraphArgs,
    workspace: &mut Workspace<'_>,
) -> Result<String, Reported> {
    let mut opened = None;
    if let Some(path) = &args.plan {
        let opening = PlanToOpen { path, sources: &[], generated: GeneratedConfigUse::Include };
        opened = Some(planfile::open_plan(diags, workspace, opening)?);
    }
    let state_paths = StatePaths::default();
    let state_paths =
        opened.as_ref().map_or(state_paths.clone(), |(saved, _)| saved.state_paths(state_paths));
    encryption::set_up_encryption_without_sealed(diags, workspace)?;
    let file = stored_state_file(diags, workspace, &state_paths).await?;
    // A plan for a state that no longer exists does not show the real changes.
    if let (Some((saved, _)), Some(file)) = (&opened, &file) {
        saved.plan.check_state_unchanged(diags, file)?;
    }
    let state = &file.map(|file| file.state).unwrap_or_default();
    let (saved, config) = match opened {
        Some((saved, config)) => (Some(saved), config),
        None => {
            // References are checked by evaluating them, which the graph does not require.
            let (config, _) = workspace.config_with_reference_errors(diags)?;
            (None, config)
        }
    };
    let source = graph_source(diags, args.kind.as_deref(), saved)?;
    config.check_module_calls(diags)?;
    let mut required = config.provider_requirements();
    let needed = StateNeedingProviders { state_paths: &state_paths, with_open: false };
    required.extend(providers_only_in_state(workspace, &config, &required, needed).await);
    let launcher = workspace.make_launcher(diags, &required)?;
    let mut own_workspace = Workspace::open(workspace.env, diags)?;
    // The sources are restored below, so that diagnostics can quote them.
    std::mem::swap(&mut own_workspace.sources, &mut workspace.sources);
    let mut prepared = PreparedConfig {
        launcher,
        provisioners: formwork_provisioners::provisioners(&workspace.env.provisioner_environment()),
        workspace_name: own_workspace.name(),
        workspace: own_workspace,
        config,
        variables: BTreeMap::new(),
        time: clock::current_time(),
    };
    let text = draw_prepared_config(diags, &prepared, state, &source);
    std::mem::swap(&mut prepared.workspace.sources, &mut workspace.sources);
    text
}

/// Chooses the graph by the option `-type` and the saved plan.
fn graph_source(
    diags: &mut Diagnostics,
    kind: Option<&str>,
    saved: Option<OpenedPlan>,
) -> Result<GraphSource, Reported> {
    let of_plan = |mode| {
        GraphSource::Planning(PlanOptions { mode, ..PlanOptions::default() }, GraphDetail::Whole)
    };
    Ok(match (kind, saved) {
        (None | Some("apply"), Some(saved)) => GraphSource::Applying(Box::new(saved)),
        (None, None) => GraphSource::Planning(PlanOptions::default(), GraphDetail::Resources),
        // Without a plan, the graph shows only the configuration.
        (Some("plan" | "apply"), _) => of_plan(PlanMode::Normal),
        (Some("plan-destroy"), _) => of_plan(PlanMode::Destroy),
        (Some("plan-refresh-only"), _) => of_plan(PlanMode::RefreshOnly),
        (Some(type_name), _) => return Err(diags.error(unsupported_graph_type_error(type_name))),
    })
}

/// The error for an unknown graph type.
fn unsupported_graph_type_error(kind: &str) -> Diagnostic {
    if kind == "validate" {
        let detail = "The graph type \"validate\" is no longer available. Use -type=plan to get a similar result.";
        return Diagnostic::error(messages::GRAPH_TYPE_NO_LONGER_AVAILABLE, detail);
    }
    let detail = format!(
        "The graph type {kind:?} does not exist. Use plan, plan-destroy, plan-refresh-only or apply."
    );
    Diagnostic::error(messages::UNSUPPORTED_GRAPH_TYPE, detail)
}

fn draw_prepared_config(
    diags: &mut Diagnostics,
    prepared: &PreparedConfig<'_>,
    state: &State,
    source: &GraphSource,
) -> Result<String, Reported> {
    let pool = ProviderPool::new(&prepared.launcher);
    let operation = prepared.operation(&pool).with_parallelism(1);
    let (results, host_values) = (Results::new(&prepared.config), operation.host_values(false));
    let session = operation.engine_session(PhaseInputs {
        state: match source {
            GraphSource::Planning(..) => state,
            GraphSource::Applying(saved) => &saved.plan.plan().prior,
        },
        results: &results,
        world: &host_values,
        watch: &NoEventObserver,
    });
    match source {
        GraphSource::Planning(options, detail) => {
            plan::plan_graph_dot(&session, diags, options, *detail == GraphDetail::Resources)
        }
        GraphSource::Applying(saved) => apply::apply_graph_dot(&session, diags, saved.plan.plan()),
    }
}
