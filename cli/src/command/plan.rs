//! `formwork plan`: shows what has to change.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::path::Path;

use formwork_core::eval::Results;
use formwork_core::event::{EventObserver, NoObserver};
use formwork_core::plan::{Mode, Options, Plan, UNRESOLVED, plan};
use formwork_core::provider::Pool;
use formwork_core::state::State;
use formwork_value::{Diagnostic, Diagnostics, Reported};

use super::generated;
use super::interrupt::{Interrupt, guarded};
use super::operation::{PhaseInputs, PrepareOptions, Prepared, may_ask, options, warn_of_place};
use super::planfile::{self, PlannedState};
use super::state_session::StateSession;
use super::unmatched::UnmatchedOptions;
use crate::args::{PlanArgs, at_once};
use crate::env::Env;
use crate::exit::Exit;
use crate::view::Screen;
use crate::view::report::Report;
use crate::workspace::{OverrideWarning, Workspace};

/// Runs the command.
pub(super) async fn run(args: &PlanArgs, env: &Env) -> Exit {
    let screen = Screen::of(env);
    let report = Report::new(screen, args.json, env.compact_warnings);
    let mut diags = Diagnostics::new();
    let ask = (!args.json && may_ask(env, args.operation.input)).then_some(&screen);
    warn_of_place(&mut diags, &args.state);
    let generated = args.generate_config_out.as_deref().filter(|path| !path.as_os_str().is_empty());
    let options = options(&mut diags, &args.operation, false).and_then(|options| {
        generated::check(&mut diags, generated, options.mode).map(|()| options)
    });
    let prepared = match options {
        Ok(options) => {
            let place = args.state.place();
            let preparing = PrepareOptions {
                sources: &args.variables.sources,
                place: &place,
                needs_config: options.mode != Mode::Destroy,
                generate: generated.is_some(),
                ask,
                fills: None,
            };
            let workspace = open(&mut diags, env, (&report, OverrideWarning::Always));
            prepare(&mut diags, workspace, &preparing).await.map(|prepared| (prepared, options))
        }
        Err(_) => Err(None),
    };
    let (prepared, options) = match prepared {
        Ok(both) => both,
        Err(workspace) => return report.failed(workspace.as_deref(), &diags),
    };
    prepared.workspace.warn_of_backend(&mut diags, prepared.config.backend());
    let store =
        prepared.workspace.store(&mut diags, prepared.config.backend(), &args.state.place()).await;
    let Ok(store) = store else { return report.failed(Some(&prepared.workspace), &diags) };
    let locked = StateSession::open(&mut diags, store, &args.state.lock, "OperationTypePlan").await;
    let Ok(mut locked) = locked else { return report.failed(Some(&prepared.workspace), &diags) };
    locked.follow_moves(&prepared.config);
    let options = Options { interrupted: locked.interrupted(), ..options };
    let state = &locked.file.state;
    let mut unmatched = UnmatchedOptions::before_plan(&prepared.config, state, &options);
    report.diagnostics(&prepared.workspace.sources, &unmatched.warnings());
    let pool = Pool::new(&prepared.launcher);
    let interrupt = Interrupt::default();
    let results = Results::new(&prepared.config);
    let making = Making {
        results: &results,
        state: &locked.file.state,
        options: &options,
        watch: report.watch(),
        parallelism: at_once(args.operation.parallelism),
        stop: interrupt.flag(),
    };
    let planning = make_around_open(&mut diags, (&prepared, &pool), making, &locked);
    let made = guarded(planning, (&pool, &prepared), &interrupt).await;
    let Some(made) = made else { return Exit::Failed };
    let planned = (&prepared.config, &locked.file.state, &options);
    unmatched.after_plan(&mut diags, planned, &results);
    if let Ok((plan, _)) = &made {
        locked.take_evidence(&mut diags, plan);
    }
    locked.remind(&mut diags);
    let exit = match made {
        Ok((plan, again)) => {
            let generated = (generated, again.as_ref().unwrap_or(&results));
            let made =
                Made { prepared: &prepared, locked: &locked, pool: &pool, plan: &plan, generated };
            finish(&mut diags, args, &report, &made)
        }
        Err(_) => Exit::Failed,
    };
    prepared.launcher.shutdown(&mut diags).await;
    locked.close(&mut diags).await;
    report.diagnostics(&prepared.workspace.sources, &diags);
    if diags.has_errors() { Exit::Failed } else { exit }
}

/// Opens the folder, and prints the warning about overrides, which stands before all else.
pub(super) fn open<'e>(
    diags: &mut Diagnostics,
    env: &'e Env,
    (report, overrides): (&Report, OverrideWarning),
) -> Result<Workspace<'e>, Reported> {
    let mut workspace = Workspace::open(env, diags)?;
    let mut warnings = Diagnostics::new();
    workspace.warn_of_overrides(&mut warnings, overrides);
    report.diagnostics(&workspace.sources, &warnings);
    Ok(workspace)
}

/// Gets ready to plan in a folder.
pub(super) async fn prepare<'e>(
    diags: &mut Diagnostics,
    workspace: Result<Workspace<'e>, Reported>,
    preparing: &PrepareOptions<'_>,
) -> Result<Prepared<'e>, Option<Box<Workspace<'e>>>> {
    let workspace = workspace.map_err(|_| None)?;
    Prepared::prepare(diags, workspace, preparing).await.map_err(|(workspace, _)| Some(workspace))
}

/// Inputs of a plan.
#[derive(Clone, Copy)]
pub(super) struct Making<'a> {
    pub(super) results: &'a Results,
    pub(super) state: &'a State,
    pub(super) options: &'a Options,
    pub(super) watch: &'a dyn EventObserver,
    pub(super) parallelism: usize,
    pub(super) stop: &'a Cell<bool>,
}

/// Makes a plan.
pub(super) async fn make(
    diags: &mut Diagnostics,
    prepared: &Prepared<'_>,
    pool: &Pool<'_>,
    making: Making<'_>,
) -> Result<Plan, Reported> {
    let world = prepared.world(false);
    let session = prepared.session(PhaseInputs {
        state: making.state,
        pool,
        results: making.results,
        world: &world,
        watch: making.watch,
        parallelism: making.parallelism,
        stop: making.stop,
    });
    plan(&session, diags, making.options).await
}

/// Makes a plan that leaves alone the instances of operations with an unknown outcome, and their
/// dependents. The provider may know the outcome, so they are planned first, and left out of a
/// second plan where it did not. Returns the results of the second plan, if one was made.
pub(super) async fn make_around_open(
    diags: &mut Diagnostics,
    (prepared, pool): (&Prepared<'_>, &Pool<'_>),
    making: Making<'_>,
    locked: &StateSession,
) -> Result<(Plan, Option<Results>), Reported> {
    let mut found = Diagnostics::new();
    let first = make(&mut found, prepared, pool, making).await;
    let open = match &first {
        Ok(plan) if !plan.errored => locked.open_in(plan),
        _ => BTreeSet::new(),
    };
    if open.is_empty() {
        let _ = diags.append(found);
        return first.map(|plan| (plan, None));
    }
    // Everything else is reported again.
    let evidence = found.iter().filter(|one| one.summary == UNRESOLVED).cloned();
    evidence.for_each(|one| diags.warn(one));
    let (options, results) = (making.options.around(open), Results::new(&prepared.config));
    // Objects that are refreshed again were shown before.
    let second = Making { options: &options, results: &results, watch: &NoObserver, ..making };
    let plan = make(diags, prepared, pool, second).await?;
    Ok((plan, Some(results)))
}

/// Shows the plan with all that is to be said about it, and saves it where that was asked for.
fn finish(diags: &mut Diagnostics, args: &PlanArgs, report: &Report, made: &Made<'_>) -> Exit {
    let Made { prepared, locked, pool, plan, generated: (generated, results) } = *made;
    report.plan(plan, pool);
    if let Some(path) = &args.out
        && let Err(error) = planfile::write(
            path,
            prepared,
            PlannedState {
                file: &locked.file,
                place: &args.state.place(),
                recovered: locked.recovered().as_deref(),
            },
            plan,
        )
    {
        let detail = format!("The plan could not be written to {}: {error}.", path.display());
        let _ = diags.error(Diagnostic::error("Failed to write plan file", detail));
    }
    // Behind the plan, in which the configuration stands as it was read.
    let is_generated = generated::write(diags, generated, results, plan);
    let said = std::mem::take(diags);
    report.diagnostics(&prepared.workspace.sources, &said);
    if said.has_errors() {
        return Exit::Failed;
    }
    // A program that runs this knows what it does next.
    if !prepared.workspace.env.in_automation {
        report.next_step(plan, args.out.as_deref(), generated.filter(|_| is_generated));
    }
    // Open operations are still to be done.
    if args.detailed_exitcode && (plan.applyable() || !plan.open.is_empty()) {
        Exit::HasChanges
    } else {
        Exit::Done
    }
}

/// A plan, with its inputs.
struct Made<'a> {
    prepared: &'a Prepared<'a>,
    locked: &'a StateSession,
    pool: &'a Pool<'a>,
    plan: &'a Plan,
    /// Destination of generated configuration, and the results of the plan.
    generated: (Option<&'a Path>, &'a Results),
}
