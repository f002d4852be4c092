//! `formwork recover`: what an interrupted run left open, and what the user decides about it.

use formwork_core::addr::InstanceAddr;
use formwork_value::{Diagnostic, Diagnostics, Reported};

use super::locked::Locked;
use crate::args::{RecoverForgetArgs, RecoverListArgs, StateArgs};
use crate::env::Env;
use crate::exit::Exit;
use crate::view::{Screen, out, report::Report};
use crate::workspace::Workspace;

/// Lists what is open.
pub(super) async fn list(args: &RecoverListArgs, env: &Env) -> Exit {
    let screen = Screen::of(env);
    let report = Report::new(screen, false, false);
    let mut diags = Diagnostics::new();
    let Ok(mut workspace) = Workspace::open(env, &mut diags) else {
        return report.failed(None, &diags);
    };
    if let Ok(locked) = open(&mut diags, &mut workspace, &args.state).await {
        let mut text = String::new();
        for one in locked.undecided() {
            text.push_str(&screen.wrap(&format!("{}\n\n", one.diagnostic().detail)));
        }
        if text.is_empty() {
            text.push_str("No interrupted run left anything open.\n");
        } else {
            text.push_str("When one is settled: formwork recover forget ADDRESS\n");
        }
        out(&text);
        locked.close(&mut diags).await;
    }
    report.diagnostics(&workspace.sources, &diags);
    if diags.has_errors() { Exit::Failed } else { Exit::Done }
}

/// Takes down that something is settled.
pub(super) async fn forget(args: &RecoverForgetArgs, env: &Env) -> Exit {
    let report = Report::new(Screen::of(env), false, false);
    let mut diags = Diagnostics::new();
    let Ok(mut workspace) = Workspace::open(env, &mut diags) else {
        return report.failed(None, &diags);
    };
    if let Ok(mut locked) = open(&mut diags, &mut workspace, &args.state).await {
        if settle(&mut diags, &mut locked, &args.address).await.is_ok() {
            out(&format!("{} is settled: the next apply may create it.\n", args.address));
        }
        locked.close(&mut diags).await;
    }
    report.diagnostics(&workspace.sources, &diags);
    if diags.has_errors() { Exit::Failed } else { Exit::Done }
}

async fn open(
    diags: &mut Diagnostics,
    workspace: &mut Workspace<'_>,
    args: &StateArgs,
) -> Result<Locked, Reported> {
    let config = workspace.config_for_backend();
    let store = workspace.store(diags, config.as_ref(), &args.place())?;
    Locked::open(diags, store, &args.lock, "recover").await
}

async fn settle(
    diags: &mut Diagnostics,
    locked: &mut Locked,
    address: &str,
) -> Result<(), Reported> {
    let addr: InstanceAddr = address.parse().map_err(|error| {
        let detail = format!("{address:?} is not the address of an instance: {error}");
        diags.error(Diagnostic::error("Error parsing instance address", detail))
    })?;
    if locked.settle(diags, &addr).await? == 0 {
        let detail = format!(
            "No interrupted run left anything open about {addr}. `formwork recover list` shows what is."
        );
        return Err(diags.error(Diagnostic::error("Nothing to settle", detail)));
    }
    Ok(())
}
