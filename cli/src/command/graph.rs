//! `formwork graph`: the graph of a plan, for Graphviz.

use std::cell::Cell;
use std::collections::BTreeMap;

use formwork_core::eval::Results;
use formwork_core::event::Unwatched;
use formwork_core::plan::{Mode, Options, dot};
use formwork_core::provider::Pool;
use formwork_core::state::State;
use formwork_value::{Diagnostic, Diagnostics, Reported};

use super::operation::{Prepared, With};
use super::output::stored;
use crate::args::{GraphArgs, StatePlace};
use crate::clock;
use crate::env::Env;
use crate::exit::Exit;
use crate::launcher::Launcher;
use crate::view::{Screen, out, report::Report};
use crate::workspace::Workspace;

/// Runs the command.
pub(super) async fn run(args: &GraphArgs, env: &Env) -> Exit {
    let report = Report::new(Screen::of(env), false, false);
    let mut diags = Diagnostics::new();
    let Ok(mut workspace) = Workspace::open(env, &mut diags) else {
        return report.failed(None, &diags);
    };
    let state = stored(&mut diags, &mut workspace, &StatePlace::default()).await;
    let text = state.and_then(|state| draw(&mut diags, args, &mut workspace, &state));
    report.diagnostics(&workspace.sources, &diags);
    match text {
        Ok(text) => {
            out(&text);
            Exit::Done
        }
        Err(_) => Exit::Failed,
    }
}

fn draw(
    diags: &mut Diagnostics,
    args: &GraphArgs,
    workspace: &mut Workspace<'_>,
    state: &State,
) -> Result<String, Reported> {
    let (mode, resources_only) = match args.kind.as_deref() {
        None => (Mode::Normal, true),
        Some("plan") => (Mode::Normal, false),
        Some("plan-destroy") => (Mode::Destroy, false),
        Some("plan-refresh-only") => (Mode::RefreshOnly, false),
        Some(other) => {
            let detail = format!(
                "There is no graph of the type {other:?}; use plan, plan-destroy or plan-refresh-only."
            );
            return Err(diags.error(Diagnostic::error("Graph type is not available", detail)));
        }
    };
    let config = workspace.config(diags)?;
    let mut own = Workspace::open(workspace.env, diags)?;
    // The texts come back below, so that problems can be shown with them.
    std::mem::swap(&mut own.sources, &mut workspace.sources);
    let mut prepared = Prepared {
        launcher: Launcher::new(workspace.env, BTreeMap::new(), BTreeMap::new()),
        provisioners: formwork_provisioners::all(&workspace.env.surroundings()),
        workspace_name: own.name(),
        workspace: own,
        config,
        variables: BTreeMap::new(),
        given: BTreeMap::new(),
        time: clock::now(),
    };
    let options = Options { mode, ..Options::default() };
    let text = draw_prepared(diags, &prepared, state, &options, resources_only);
    std::mem::swap(&mut prepared.workspace.sources, &mut workspace.sources);
    text
}

fn draw_prepared(
    diags: &mut Diagnostics,
    prepared: &Prepared<'_>,
    state: &State,
    options: &Options,
    resources_only: bool,
) -> Result<String, Reported> {
    let pool = Pool::new(&prepared.launcher);
    let (results, world, stop) =
        (Results::new(&prepared.config), prepared.world(false), Cell::new(false));
    let session = prepared.session(With {
        state,
        pool: &pool,
        results: &results,
        world: &world,
        watch: &Unwatched,
        parallelism: 1,
        stop: &stop,
    });
    dot(&session, diags, options, resources_only)
}
