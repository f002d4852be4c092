//! `formwork plan`: shows what has to change.

use std::cell::Cell;

use formwork_core::eval::Results;
use formwork_core::event::Watch;
use formwork_core::plan::{Options, Plan, plan};
use formwork_core::provider::Pool;
use formwork_core::state::State;
use formwork_value::{Diagnostic, Diagnostics, Reported};

use super::interrupt::{Interrupt, guarded};
use super::locked::Locked;
use super::operation::{Prepared, Preparing, With, may_ask, options};
use super::planfile;
use crate::args::PlanArgs;
use crate::env::Env;
use crate::exit::Exit;
use crate::view::Screen;
use crate::view::report::Report;
use crate::workspace::Workspace;

/// Runs the command.
pub(super) async fn run(args: &PlanArgs, env: &Env) -> Exit {
    let screen = Screen::of(env);
    let report = Report::new(screen, args.json, env.compact_warnings);
    let mut diags = Diagnostics::new();
    let ask = (!args.json && may_ask(env, args.operation.input)).then_some(&screen);
    let prepared = match options(&mut diags, &args.operation, false) {
        Ok(options) => {
            let place = args.state.place();
            let preparing = Preparing {
                sources: &args.variables.sources,
                place: &place,
                mode: options.mode,
                ask,
            };
            prepare(&mut diags, env, &preparing).await.map(|prepared| (prepared, options))
        }
        Err(_) => Err(None),
    };
    let (prepared, options) = match prepared {
        Ok(both) => both,
        Err(workspace) => return report.failed(workspace.as_deref(), &diags),
    };
    let store = prepared.workspace.store(&mut diags, Some(&prepared.config), &args.state.place());
    let Ok(store) = store else { return report.failed(Some(&prepared.workspace), &diags) };
    let locked = Locked::open(&mut diags, store, &args.state.lock, "OperationTypePlan").await;
    let Ok(mut locked) = locked else { return report.failed(Some(&prepared.workspace), &diags) };
    let options = Options { interrupted: locked.interrupted(), ..options };
    let pool = Pool::new(&prepared.launcher);
    let interrupt = Interrupt::default();
    let planning = make(
        &mut diags,
        &prepared,
        &pool,
        Making {
            state: &locked.file.state,
            options: &options,
            watch: report.watch(),
            parallelism: args.operation.parallelism,
            stop: interrupt.flag(),
        },
    );
    let made = guarded(planning, (&pool, &prepared), &interrupt).await;
    let Some(made) = made else { return Exit::Failed };
    if let Ok(plan) = &made {
        locked.take_evidence(&mut diags, plan);
    }
    locked.remind(&mut diags);
    let exit = match made {
        Ok(plan) => {
            let made = Made { prepared: &prepared, locked: &locked, pool: &pool, plan: &plan };
            finish(&mut diags, args, &report, &made)
        }
        Err(_) => Exit::Failed,
    };
    prepared.launcher.shutdown().await;
    locked.close(&mut diags).await;
    report.diagnostics(&prepared.workspace.sources, &diags);
    if diags.has_errors() { Exit::Failed } else { exit }
}

/// Opens the folder and gets ready to plan in it.
pub(super) async fn prepare<'e>(
    diags: &mut Diagnostics,
    env: &'e Env,
    preparing: &Preparing<'_>,
) -> Result<Prepared<'e>, Option<Box<Workspace<'e>>>> {
    let workspace = Workspace::open(env, diags).map_err(|_| None)?;
    Prepared::prepare(diags, workspace, preparing).await.map_err(|(workspace, _)| Some(workspace))
}

/// What a plan is made of.
#[derive(Clone, Copy)]
pub(super) struct Making<'a> {
    pub(super) state: &'a State,
    pub(super) options: &'a Options,
    pub(super) watch: &'a dyn Watch,
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
    let results = Results::new(&prepared.config);
    let world = prepared.world(false);
    let session = prepared.session(With {
        state: making.state,
        pool,
        results: &results,
        world: &world,
        watch: making.watch,
        parallelism: making.parallelism,
        stop: making.stop,
    });
    plan(&session, diags, making.options).await
}

/// Shows the plan, and saves it where that was asked for.
fn finish(diags: &mut Diagnostics, args: &PlanArgs, report: &Report, made: &Made<'_>) -> Exit {
    let Made { prepared, locked, pool, plan } = made;
    report.plan(plan, pool);
    if let Some(path) = &args.out {
        match planfile::write(path, prepared, &locked.file, plan) {
            Ok(()) => report.saved(path),
            Err(error) => {
                let detail =
                    format!("The plan could not be written to {}: {error}.", path.display());
                let _ = diags.error(Diagnostic::error("Failed to write plan file", detail));
            }
        }
    } else {
        report.not_saved(plan);
    }
    if args.detailed_exitcode && plan.applyable() { Exit::HasChanges } else { Exit::Done }
}

/// A plan, with what it was made of.
struct Made<'a> {
    prepared: &'a Prepared<'a>,
    locked: &'a Locked,
    pool: &'a Pool<'a>,
    plan: &'a Plan,
}
