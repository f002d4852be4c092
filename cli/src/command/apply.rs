//! `formwork apply` and `formwork destroy`: shows the planned changes, and applies them after approval.

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use formwork_backend::OpenState;
use formwork_core::plan::{PlanMode, PlanOptions};
use formwork_core::provider::ProviderPool;
use formwork_operation::plan_options::check_replace_option;
use formwork_operation::{
    Approval, ApprovalPrompt, CancellationToken, Operation, PlanSource, StateSession,
};
use formwork_value::{Diagnostic, Diagnostics, Reported};

use super::interrupt::run_until_interrupted;
use super::operation::{
    PrepareOptions, PreparedConfig, may_ask_user, open_workspace, planning_options, prepare_in_dir,
    warn_of_state_option,
};
use super::planfile::{self, SavedPlanToApply};
use super::question::{NoAnswer, Prompt, ask_user};
use super::run_observer::RunObserver;
use super::state_session;
use crate::command_line::{
    OperationArgs, StateArgs, StatePaths, VariableArgs, parse_parallelism, path_if_given,
    path_or_empty,
};
use crate::env::Env;
use crate::exit::Exit;
use crate::messages;
use crate::view::operation_report::OperationReport;
use crate::view::{self, Screen, sanitize};
use crate::workspace::{OverrideWarningCondition, Workspace};

/// Arguments of `apply` and `destroy`.
#[derive(Debug, clap::Args)]
pub(crate) struct ApplyArgs {
    /// A saved plan to apply.
    #[arg(value_name = "PLAN", value_parser = path_or_empty())]
    pub(crate) plan: Option<PathBuf>,
    /// Do not ask for approval.
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "false", value_name = "BOOL")]
    pub(crate) auto_approve: bool,
    /// Apply a saved plan that was created by another user or on another machine.
    #[arg(long)]
    pub(crate) allow_foreign_plan: bool,
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

/// Purpose of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ApplyPurpose {
    /// `apply`: change real objects to match the configuration.
    Apply,
    /// `destroy`: destroy all real objects.
    Destroy,
    /// `formwork refresh`: the state is updated, and the changes are not printed.
    Refresh,
}

/// Runs the command.
pub(super) async fn run(args: &ApplyArgs, env: &Env, purpose: ApplyPurpose) -> Exit {
    let destroying = purpose == ApplyPurpose::Destroy;
    let screen = Screen::of(env);
    let report = OperationReport::new(screen, args.json, env.compact_warnings);
    let mut diags = Diagnostics::new();
    if let Err(_reported) = check_args(&mut diags, args, purpose) {
        return report.report_failure(None, &diags);
    }
    let prepared = match path_if_given(args.plan.as_ref()) {
        Some(path) => match planfile::prepare_saved_plan(
            &mut diags,
            env,
            saved_plan_to_apply(path, args),
            &report,
        ) {
            Ok((prepared, _)) if destroying => {
                let _ = diags.error(saved_plan_in_destroy_error());
                Err(Some(Box::new(prepared.workspace)))
            }
            prepared => {
                prepared.map(|(prepared, saved)| (prepared, PlanToApply::Saved(Box::new(saved))))
            }
        },
        None => prepare_apply(&mut diags, &ApplyRequest { env, args, purpose }, &report).await,
    };
    let (prepared, plan_to_apply) = match prepared {
        Ok(prepared_and_plan) => prepared_and_plan,
        Err(workspace) => {
            return report.report_failure(workspace.map(|it| it.sources).as_ref(), &diags);
        }
    };
    let state_paths = match &plan_to_apply {
        PlanToApply::Fresh(_) | PlanToApply::Refresh(_) => args.state.state_paths(),
        PlanToApply::Saved(saved) => saved.state_paths(args.state.state_paths()),
    };
    let store = open_state(&mut diags, &prepared, &plan_to_apply, &state_paths).await;
    let Ok(store) = store else {
        return report.report_failure(Some(&prepared.workspace.sources), &diags);
    };
    let locked =
        state_session::open_locked_state(&mut diags, store, &args.state.lock, "OperationTypeApply")
            .await;
    let Ok(mut locked) = locked else {
        return report.report_failure(Some(&prepared.workspace.sources), &diags);
    };
    let pool = ProviderPool::new(&prepared.launcher);
    let cancellation = CancellationToken::new();
    let observer = RunObserver {
        destroying,
        out: state_paths.out.as_deref(),
        ..RunObserver::new(&report, &prepared.workspace.sources)
    };
    let question = ApprovalQuestion {
        env,
        input: args.operation.input,
        screen: &screen,
        cancellation: &cancellation,
    };
    let operation = prepared
        .operation(&pool)
        .with_parallelism(parse_parallelism(args.operation.parallelism))
        .with_observer(&observer)
        .with_cancellation(cancellation.clone());
    let operation = if args.auto_approve { operation } else { operation.with_approval(&question) };
    let work = run_operation(&mut diags, &operation, &mut locked, plan_to_apply);
    let Some(exit) = run_until_interrupted(work, &pool, &prepared, &cancellation).await else {
        return Exit::Failed;
    };
    prepared.launcher.shutdown(&mut diags).await;
    locked.unlock(&mut diags).await;
    report.report_diagnostics(&prepared.workspace.sources, &diags);
    match exit {
        Ok(exit) if !diags.has_errors() => exit,
        _ => Exit::Failed,
    }
}

async fn run_operation(
    diags: &mut Diagnostics,
    operation: &Operation<'_>,
    session: &mut StateSession,
    plan_to_apply: PlanToApply,
) -> Result<Exit, Reported> {
    let source = match plan_to_apply {
        PlanToApply::Refresh(options) => {
            return operation.refresh(diags, session, options).await.map(|()| Exit::Done);
        }
        PlanToApply::Fresh(options) => PlanSource::New(options),
        PlanToApply::Saved(saved) => PlanSource::Saved(Box::new(saved.plan)),
    };
    let applied = operation.apply(diags, session, source).await?;
    Ok(if applied.is_complete { Exit::Done } else { Exit::Failed })
}

/// Opens the state: in the backend that a saved plan names, otherwise in the configured backend.
async fn open_state(
    diags: &mut Diagnostics,
    prepared: &PreparedConfig<'_>,
    plan_to_apply: &PlanToApply,
    state_paths: &StatePaths,
) -> Result<OpenState, Reported> {
    if let PlanToApply::Saved(saved) = plan_to_apply
        && let Some(backend) = saved.backend(diags, &prepared.workspace).await?
    {
        return prepared.workspace.open_state_in(diags, &backend, state_paths).await;
    }
    prepared.workspace.warn_of_deprecated_backend(diags, prepared.config.backend()).await;
    prepared.workspace.open_state(diags, prepared.config.backend(), state_paths).await
}

fn check_args(
    diags: &mut Diagnostics,
    args: &ApplyArgs,
    purpose: ApplyPurpose,
) -> Result<(), Reported> {
    if args.json && path_if_given(args.plan.as_ref()).is_none() && !args.auto_approve {
        return Err(diags.error(Diagnostic::error(
            messages::PLAN_FILE_OR_AUTO_APPROVE_REQUIRED,
            "Formwork cannot ask for interactive approval when -json is set. You can either apply a saved plan file, or enable the -auto-approve option.",
        )));
    }
    let mode =
        [(args.operation.destroy, "-destroy"), (args.operation.refresh_only, "-refresh-only")];
    let conflict =
        mode.into_iter().find(|(conflict, _)| *conflict && purpose == ApplyPurpose::Destroy);
    if let Some((_, option)) = conflict {
        let detail = format!(
            "The option {option} is not valid for `formwork destroy`, which plans to destroy everything."
        );
        return Err(diags.error(Diagnostic::error(messages::INVALID_MODE_OPTION, detail)));
    }
    Ok(())
}

fn saved_plan_to_apply<'a>(path: &'a Path, args: &'a ApplyArgs) -> SavedPlanToApply<'a> {
    SavedPlanToApply {
        path,
        sources: &args.variables.sources,
        allow_foreign: args.allow_foreign_plan,
    }
}

fn saved_plan_in_destroy_error() -> Diagnostic {
    Diagnostic::error(
        messages::DESTROY_WITH_PLAN_FILE,
        "If this plan was created using plan -destroy, apply it using:\n  formwork apply PLAN",
    )
}

/// Plan to apply.
enum PlanToApply {
    /// Create a plan with these options.
    Fresh(PlanOptions),
    /// None: the state is only brought up to date.
    Refresh(PlanOptions),
    /// A saved plan.
    Saved(Box<planfile::OpenedPlan>),
}

type ReadyToApply<'e> = (PreparedConfig<'e>, PlanToApply);

/// The inputs of an apply run.
struct ApplyRequest<'e> {
    env: &'e Env,
    args: &'e ApplyArgs,
    purpose: ApplyPurpose,
}

async fn prepare_apply<'e>(
    diags: &mut Diagnostics,
    request: &ApplyRequest<'e>,
    report: &OperationReport,
) -> Result<ReadyToApply<'e>, Option<Box<Workspace<'e>>>> {
    let ApplyRequest { env, args, purpose } = *request;
    let options = planning_options(diags, &args.operation, purpose == ApplyPurpose::Destroy)
        .map_err(|_| None)?;
    check_replace_option(diags, &options).map_err(|_| None)?;
    warn_of_state_option(diags, &args.state);
    let preparing = PrepareOptions {
        sources: &args.variables.sources,
        state_paths: &args.state.state_paths(),
        needs_config: options.mode != PlanMode::Destroy && purpose != ApplyPurpose::Refresh,
        generate: false,
        ask: (!args.json && may_ask_user(env, args.operation.input)).then_some(report.screen()),
        fills: None,
    };
    let overrides = match purpose {
        ApplyPurpose::Apply | ApplyPurpose::Destroy => OverrideWarningCondition::WithBackend,
        ApplyPurpose::Refresh => OverrideWarningCondition::Never,
    };
    let workspace = open_workspace(diags, env, report, overrides);
    let prepared = prepare_in_dir(diags, workspace, &preparing).await?;
    let plan_to_apply = match purpose {
        ApplyPurpose::Apply | ApplyPurpose::Destroy => PlanToApply::Fresh(options),
        ApplyPurpose::Refresh => PlanToApply::Refresh(options),
    };
    Ok((prepared, plan_to_apply))
}

/// A prompt for approval, with the warnings to print before it.
struct ApprovalQuestion<'a> {
    env: &'a Env,
    /// Whether the option `-input` allows prompts.
    input: bool,
    screen: &'a Screen,
    cancellation: &'a CancellationToken,
}

#[async_trait(?Send)]
impl Approval for ApprovalQuestion<'_> {
    async fn approve(
        &self,
        diags: &mut Diagnostics,
        request: ApprovalPrompt<'_>,
    ) -> Result<(), Reported> {
        // The answer may come from a pipe, such as `yes |`, unless prompts are disabled.
        if !may_ask_user(self.env, self.input) {
            return Err(diags.error(Diagnostic::error(
                messages::APPROVAL_CANNOT_BE_ASKED_FOR,
                "These actions require approval, but prompts are disabled. Use -auto-approve to continue without approval, or apply a saved plan.",
            )));
        }
        let ApprovalPrompt { mode, reminder } = request;
        let (title, explanation) = match mode {
            PlanMode::Destroy => (
                "Do you really want to destroy all resources?",
                "Formwork will destroy all your managed infrastructure, as shown above.\nThere is no undo. Only 'yes' will be accepted to confirm.",
            ),
            PlanMode::RefreshOnly => (
                "Would you like to update the state to reflect these detected changes?",
                "Formwork will write these changes to the state without modifying any real infrastructure.\nThere is no undo. Only 'yes' will be accepted to confirm.",
            ),
            PlanMode::Normal => (
                "Do you want to perform these actions?",
                "Formwork will perform the actions described above.\nOnly 'yes' will be accepted to approve.",
            ),
        };
        view::print_out("\n");
        let explanation = &format!("{reminder}{explanation}");
        let question = Prompt { title, explanation, secret: false };
        // After an interrupt during planning, the command does not prompt.
        let answer = match self.cancellation.is_cancelled() {
            true => Err(NoAnswer::Interrupted),
            false => ask_user(self.screen, question).await,
        };
        match answer {
            Ok(answer) if answer == "yes" => return Ok(()),
            Err(NoAnswer::Interrupted) => {
                let detail = "The run was interrupted before it was approved. Nothing was changed.";
                return Err(
                    diags.error(Diagnostic::error(messages::ERROR_ASKING_FOR_APPROVAL, detail))
                );
            }
            Ok(_) | Err(NoAnswer::Ended) => {}
        }
        let changes = if mode == PlanMode::Destroy {
            messages::DESTROY_CANCELLED
        } else {
            messages::APPLY_CANCELLED
        };
        Err(diags.error(Diagnostic::error(changes, "Nothing was changed.")))
    }

    async fn wants_new_plan(&self, overtaken: &Diagnostic) -> bool {
        if !may_ask_user(self.env, self.input) || self.cancellation.is_cancelled() {
            return false;
        }
        // User names and addresses come from the database, so they are sanitized.
        let detail = sanitize::sanitize_text(&overtaken.detail);
        let changed = detail.split("\n\n").next().unwrap_or_default();
        view::print_out("\n");
        let title = "The state has changed since the plan was created. Do you want to plan again?";
        let explanation = &format!("{changed}\nOnly 'yes' will be accepted to create a new plan.");
        let question = Prompt { title, explanation, secret: false };
        ask_user(self.screen, question).await.is_ok_and(|answer| answer == "yes")
    }
}
