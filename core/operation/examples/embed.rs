//! Embeds the engine: plans and applies the configuration in a directory, with one provider
//! program.
//!
//! `embed DIR PROVIDER PROGRAM`, for example `embed . hashicorp/random terraform-provider-random`.

#![expect(clippy::print_stdout, reason = "a separate program with its own output")]

use std::path::Path;
use std::process::ExitCode;

use formwork_operation::prelude::*;

struct Progress;

impl OperationObserver for Progress {
    fn on_event(&self, event: &OperationEvent<'_>) {
        if let OperationEvent::Planned { plan, .. } = event {
            let changes = plan.changes.values().filter(|change| change.action != Action::NoOp);
            println!("{} changes planned", changes.count());
        } else if let OperationEvent::Engine(Event::ChangeDone { addr, action, .. }) = event {
            println!("{addr}: {action:?} done");
        }
    }
}

async fn run(diags: &mut Diagnostics, dir: &Path, launcher: &Launcher) -> Result<(), Reported> {
    let mut sources = Sources::new();
    let loaded = LoadedConfig::load(diags, &mut sources, dir, Vec::new())?;
    let pool = ProviderPool::new(launcher);
    let operation = loaded.operation(&sources, &pool).with_observer(&Progress);
    // The state is locked from here on, so that no other run changes the same objects.
    let mut session = loaded.open_local_session(diags, "apply").await?;
    let plan = PlanSource::New(PlanOptions::default());
    let applied = operation.apply(diags, &mut session, plan).await;
    // Unlock after a failure too. Otherwise the lock would remain.
    session.unlock(diags).await;
    applied.and_then(|_| diags.fail_if_errors())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [directory, provider, program] = &arguments[..] else { return ExitCode::from(2) };
    let Ok(provider) = provider.parse::<ProviderAddr>() else { return ExitCode::from(2) };
    let programs = [(provider, ProviderProgram::from_path(program))].into();
    let launcher = Launcher::new(LauncherSettings::default(), programs);
    let mut diags = Diagnostics::new();
    let result = run(&mut diags, Path::new(directory), &launcher).await;
    // Shut down after a failure too. Otherwise the provider processes would keep running.
    launcher.shutdown(&mut diags).await;
    diags.iter().for_each(|it| println!("{:?}: {}. {}", it.severity, it.summary, it.detail));
    if result.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
