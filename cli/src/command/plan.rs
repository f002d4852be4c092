//! `formwork plan`: shows the changes that an apply would make.

use std::path::{Path, PathBuf};

use formwork_core::eval::Results;
use formwork_core::plan::{Plan, PlanMode, PlanOptions};
use formwork_core::provider::ProviderPool;
use formwork_operation::generated_config::{
    check_generate_config_out_option, write_generated_config,
};
use formwork_operation::plan_options::check_replace_option;
use formwork_operation::{CancellationToken, PlanOutcome, StateSession};
use formwork_value::{Diagnostic, Diagnostics, Reported};

use super::interrupt::run_until_interrupted;
use super::operation::{
    PrepareOptions, PreparedConfig, may_ask_user, open_workspace, planning_options, prepare_in_dir,
    warn_of_state_option,
};
use super::planfile::{self, PlanBaseState};
use super::run_observer::RunObserver;
use super::state_session;
use crate::command_line::{OperationArgs, StateArgs, VariableArgs, example, parse_parallelism};
use crate::env::Env;
use crate::exit::Exit;
use crate::messages;
use crate::view::Screen;
use crate::view::operation_report::OperationReport;
use crate::workspace::OverrideWarningCondition;

/// Show the changes that an apply would make.
#[derive(Debug, clap::Args)]
#[command(after_help = example(
    "-out=tfplan -var region=eu",
    "Save a plan, to apply exactly these changes later."
))]
pub(crate) struct PlanArgs {
    /// Write the plan to this file, for `apply`.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Write configuration blocks for imported resources without one to this new file.
    #[arg(long, value_name = "FILE")]
    pub(crate) generate_config_out: Option<PathBuf>,
    /// Exit with status 2 if there are changes, and with 0 if there are none.
    #[arg(long)]
    pub(crate) detailed_exitcode: bool,
    /// Print events as JSON, one per line.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) operation: OperationArgs,
    #[command(flatten)]
    pub(crate) variables: VariableArgs,
    #[command(flatten)]
    pub(crate) state: StateArgs,
}

/// Runs the command.
pub(super) async fn run(args: &PlanArgs, env: &Env) -> Exit {
    let screen = Screen::of(env);
    let report = OperationReport::new(screen, args.json, env.compact_warnings);
    let mut diags = Diagnostics::new();
    let ask = (!args.json && may_ask_user(env, args.operation.input)).then_some(&screen);
    warn_of_state_option(&mut diags, &args.state);
    let generated = args.generate_config_out.as_deref().filter(|path| !path.as_os_str().is_empty());
    let options = checked_plan_options(&mut diags, args, generated, env, &report);
    let prepared = match options {
        Ok(options) => {
            let state_paths = args.state.state_paths();
            let preparing = PrepareOptions {
                sources: &args.variables.sources,
                state_paths: &state_paths,
                needs_config: options.mode != PlanMode::Destroy,
                generate: generated.is_some(),
                ask,
                fills: None,
            };
            let workspace =
                open_workspace(&mut diags, env, &report, OverrideWarningCondition::Always);
            prepare_in_dir(&mut diags, workspace, &preparing)
                .await
                .map(|prepared| (prepared, options))
        }
        Err(_) => Err(None),
    };
    let (prepared, options) = match prepared {
        Ok(prepared_and_output) => prepared_and_output,
        Err(workspace) => {
            return report.report_failure(workspace.map(|it| it.sources).as_ref(), &diags);
        }
    };
    let (workspace, backend) = (&prepared.workspace, prepared.config.backend());
    workspace.warn_of_deprecated_backend(&mut diags, backend).await;
    let store = workspace.open_state(&mut diags, backend, &args.state.state_paths()).await;
    let Ok(store) = store else {
        return report.report_failure(Some(&prepared.workspace.sources), &diags);
    };
    let locked =
        state_session::open_locked_state(&mut diags, store, &args.state.lock, "OperationTypePlan")
            .await;
    let Ok(mut locked) = locked else {
        return report.report_failure(Some(&prepared.workspace.sources), &diags);
    };
    let pool = ProviderPool::new(&prepared.launcher);
    let cancellation = CancellationToken::new();
    let observer = RunObserver::new(&report, &prepared.workspace.sources);
    let operation = prepared
        .operation(&pool)
        .with_parallelism(parse_parallelism(args.operation.parallelism))
        .with_observer(&observer)
        .with_cancellation(cancellation.clone());
    let planning = operation.plan(&mut diags, &mut locked, options);
    let result = run_until_interrupted(planning, &pool, &prepared, &cancellation).await;
    let Some(result) = result else { return Exit::Failed };
    let exit = match result {
        Ok(PlanOutcome { plan, results, .. }) => {
            let generated = (generated, &results);
            let result = PlanWithInputs {
                prepared: &prepared,
                locked: &locked,
                pool: &pool,
                plan: &plan,
                generated,
            };
            show_and_save_plan(&mut diags, args, &report, &result).await
        }
        Err(_) => Exit::Failed,
    };
    prepared.launcher.shutdown(&mut diags).await;
    locked.unlock(&mut diags).await;
    report.report_diagnostics(&prepared.workspace.sources, &diags);
    if diags.has_errors() { Exit::Failed } else { exit }
}

/// The options of the plan, if they are compatible.
fn checked_plan_options(
    diags: &mut Diagnostics,
    args: &PlanArgs,
    generated: Option<&Path>,
    env: &Env,
    report: &OperationReport,
) -> Result<PlanOptions, Reported> {
    let options = planning_options(diags, &args.operation, false)?;
    let checked = check_replace_option(diags, &options)
        .and_then(|()| check_generate_config_out_option(diags, generated, options.mode));
    if checked.is_err() {
        // As in Terraform, the warning is printed with these errors, but not with other option errors.
        drop(open_workspace(diags, env, report, OverrideWarningCondition::Always));
    }
    checked.map(|()| options)
}

/// Prints the plan with its diagnostics, and saves it if requested.
async fn show_and_save_plan(
    diags: &mut Diagnostics,
    args: &PlanArgs,
    report: &OperationReport,
    plan_with_inputs: &PlanWithInputs<'_>,
) -> Exit {
    let PlanWithInputs { prepared, locked, pool, plan, generated: (generated, results) } =
        *plan_with_inputs;
    report.report_plan(plan, pool);
    if let Some(path) = &args.out
        && let Err(error) = planfile::write_plan(
            path,
            prepared,
            PlanBaseState {
                file: &locked.file,
                state_paths: &args.state.state_paths(),
                recovered: locked.fingerprint_if_recovered().as_deref(),
            },
            plan,
        )
        .await
    {
        let detail = format!("The plan could not be written to {}: {error}.", path.display());
        let _ = diags.error(Diagnostic::error(messages::FAILED_TO_WRITE_PLAN_FILE, detail));
    }
    // After the plan, which contains the configuration as it was read.
    let is_generated = write_generated_config(diags, generated, results, plan);
    let planning_diags = std::mem::take(diags);
    report.report_diagnostics(&prepared.workspace.sources, &planning_diags);
    if planning_diags.has_errors() {
        return Exit::Failed;
    }
    // An automation does not need advice about the next step.
    if !prepared.workspace.env.in_automation {
        report.report_next_step(plan, args.out.as_deref(), generated.filter(|_| is_generated));
    }
    // Open operations count as pending changes.
    if args.detailed_exitcode && (plan.is_applyable() || !plan.open.is_empty()) {
        Exit::HasChanges
    } else {
        Exit::Done
    }
}

/// A plan, with its inputs.
struct PlanWithInputs<'a> {
    prepared: &'a PreparedConfig<'a>,
    locked: &'a StateSession,
    pool: &'a ProviderPool<'a>,
    plan: &'a Plan,
    /// Destination of generated configuration, and the results of the plan.
    generated: (Option<&'a Path>, &'a Results),
}
