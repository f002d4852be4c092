//! `formwork console`: evaluates expressions against the configuration and the state, or against a
//! plan. Changes neither.

mod line_editor;
mod repl;
mod type_name;

use std::collections::BTreeMap;
use std::io::IsTerminal as _;
use std::path::PathBuf;

use formwork_core::config::Config;
use formwork_core::config::inputs::{self, ResolvedVariable, UnsetVariableTreatment};
use formwork_core::eval::Results;
use formwork_core::event::NoEventObserver;
use formwork_core::plan::{
    MissingResourceMeaning, PlanMode, PlanOptions, evaluate_from_state, make_plan,
};
use formwork_core::provider::ProviderPool;
use formwork_operation::launcher::Launcher;
use formwork_operation::{PhaseInputs, StateSession};
use formwork_value::{Diagnostic, Diagnostics, Reported, Str};

use super::encryption;
use super::operation::{PreparedConfig, StateNeedingProviders, providers_only_in_state};
use super::state_session;
use super::variable_inputs::variable_values;
use crate::clock;
use crate::command_line::{StateArgs, StatePaths, VariableArgs, example};
use crate::env::Env;
use crate::exit::Exit;
use crate::messages;
use crate::view::operation_report::OperationReport;
use crate::view::{Screen, print_diagnostic};
use crate::workspace::Workspace;
use repl::Repl;

/// Try expressions against the configuration and the state.
#[derive(Debug, clap::Args)]
#[command(after_help = example("-plan", "Evaluate expressions against the planned values."))]
pub(crate) struct ConsoleArgs {
    /// Create a plan, and evaluate against its values instead of those of the state.
    #[arg(long)]
    pub(crate) plan: bool,
    /// The state file.
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) variables: VariableArgs,
}

/// Runs the command.
pub(super) async fn run(args: &ConsoleArgs, env: &Env) -> Exit {
    let screen = Screen::of(env);
    let report = OperationReport::new(screen, false, env.compact_warnings);
    let mut diags = Diagnostics::new();
    let Ok(mut workspace) = Workspace::open(env, &mut diags) else {
        return report.report_failure(None, &diags);
    };
    let state_paths = StatePaths::from_state_path(args.state.as_ref());
    let prepared = prepare_console(&mut diags, &mut workspace, args, &state_paths).await;
    let Ok((config, variables, launcher)) = prepared else {
        return report.report_failure(Some(&workspace.sources), &diags);
    };
    let prepared = PreparedConfig {
        workspace_name: workspace.name(),
        workspace,
        config,
        variables,
        launcher,
        provisioners: formwork_provisioners::provisioners(&env.provisioner_environment()),
        time: clock::current_time(),
    };
    let store =
        prepared.workspace.open_state(&mut diags, prepared.config.backend(), &state_paths).await;
    let Ok(store) = store else {
        return report.report_failure(Some(&prepared.workspace.sources), &diags);
    };
    let state_args = StateArgs::for_locked_read(args.state.clone());
    let locked = state_session::open_locked_state(
        &mut diags,
        store,
        &state_args.lock,
        "OperationTypeInvalid",
    )
    .await;
    let Ok(locked) = locked else {
        return report.report_failure(Some(&prepared.workspace.sources), &diags);
    };
    let exit = evaluate_config_and_run_console(args, &report, &prepared, &locked, diags).await;
    let mut diags = Diagnostics::new();
    // Expressions may call provider functions, so the plugins run until the last expression is evaluated.
    prepared.launcher.shutdown(&mut diags).await;
    locked.unlock(&mut diags).await;
    report.report_diagnostics(&prepared.workspace.sources, &diags);
    exit
}

/// Evaluates the configuration, then runs the console.
async fn evaluate_config_and_run_console(
    args: &ConsoleArgs,
    report: &OperationReport,
    prepared: &PreparedConfig<'_>,
    locked: &StateSession,
    mut diags: Diagnostics,
) -> Exit {
    let pool = ProviderPool::new(&prepared.launcher);
    let (results, operation) = (Results::new(&prepared.config), prepared.operation(&pool));
    // Results are not part of a plan, so functions that return times and random values can be evaluated.
    let host_values = operation.host_values(true);
    let session = operation.engine_session(PhaseInputs {
        state: &locked.file.state,
        results: &results,
        world: &host_values,
        watch: &NoEventObserver,
    });
    let inspected = if args.plan {
        let options = PlanOptions { mode: PlanMode::Normal, ..PlanOptions::default() };
        // Values that planning did not determine are unknown.
        drop(make_plan(&session, &mut diags, &options).await);
        Ok(())
    } else {
        evaluate_from_state(&session, &mut diags, MissingResourceMeaning::Unknown).await
    };
    pool.report_warnings(&mut diags);
    report.report_diagnostics(&prepared.workspace.sources, &diags);
    if inspected.is_err() {
        return Exit::Failed;
    }
    if diags.has_errors() {
        let mut note = Diagnostics::new();
        note.warn(Diagnostic::warning(messages::CONSOLE_WITH_PROBLEMS, ""));
        report.report_diagnostics(&prepared.workspace.sources, &note);
    }
    let repl = Repl::new(&session, report);
    if std::io::stdin().is_terminal() {
        run_interactive(&repl).await
    } else {
        repl.run_piped().await
    }
}

async fn run_interactive(repl: &Repl<'_>) -> Exit {
    match line_editor::LineEditor::new() {
        Ok(lines) => repl.run_interactive(lines).await,
        Err(error) => {
            let summary = messages::TERMINAL_CANNOT_BE_USED;
            print_diagnostic(&Diagnostic::error(summary, format!("{error}.")));
            Exit::Failed
        }
    }
}

async fn prepare_console(
    diags: &mut Diagnostics,
    workspace: &mut Workspace<'_>,
    args: &ConsoleArgs,
    state_paths: &StatePaths,
) -> Result<(Config, BTreeMap<Str, ResolvedVariable>, Launcher), Reported> {
    // An unresolved reference is reported when it is evaluated.
    let (config, _) = workspace.config_with_reference_errors(diags)?;
    config.check_module_calls(diags)?;
    encryption::load_encryption(diags, workspace, &config.root, &args.variables.sources)?;
    let mut required = config.provider_requirements();
    if args.plan {
        let state = StateNeedingProviders { state_paths, with_open: false };
        required.extend(providers_only_in_state(workspace, &config, &required, state).await);
    }
    let launcher = workspace.make_launcher(diags, &required)?.prefer_cached_schemas();
    let values = variable_values(diags, workspace, &args.variables.sources)?;
    let sources = &mut workspace.sources;
    let inputs = inputs::resolve_variables(
        diags,
        sources,
        &config.root,
        values,
        UnsetVariableTreatment::Unknown,
    )?;
    Ok((config, inputs, launcher))
}
