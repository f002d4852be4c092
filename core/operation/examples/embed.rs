//! Embeds the engine: plans and applies the configuration in a folder, with one provider program.
//!
//! `embed FOLDER PROVIDER PROGRAM`, for example `embed . hashicorp/random terraform-provider-random`.

#![expect(clippy::print_stdout, reason = "a program of its own, with its own output")]
#![expect(clippy::disallowed_methods, reason = "the clock is asked where the program begins")]

use std::path::Path;
use std::process::ExitCode;

use formwork_backend::local::StateFilePaths;
use formwork_core::addr::ProviderAddr;
use formwork_core::change::Action;
use formwork_core::config::files::FilesOnDisk;
use formwork_core::config::inputs::{self, UnsetVariableTreatment};
use formwork_core::config::module_folders::LocalModuleFolders;
use formwork_core::config::{Config, ConfigSource};
use formwork_core::eval::HostValues;
use formwork_core::event::Event;
use formwork_core::plan::PlanOptions;
use formwork_core::provider::ProviderPool;
use formwork_operation::launcher::{Launcher, LauncherSettings, ProviderProgram};
use formwork_operation::{
    Operation, OperationEvent, OperationInputs, OperationObserver, PlanSource, SessionOptions,
    StateSession,
};
use formwork_value::diag::Sources;
use formwork_value::{Diagnostics, Reported};

struct Progress;

impl OperationObserver for Progress {
    fn on_event(&self, event: &OperationEvent<'_>) {
        if let OperationEvent::Engine(Event::ChangeDone { addr, action, .. }) = event {
            println!("{addr}: {action:?} done");
        }
    }
}

async fn run(diags: &mut Diagnostics, folder: &Path, launcher: &Launcher) -> Result<(), Reported> {
    let mut sources = Sources::new();
    let config_source =
        ConfigSource { files: &FilesOnDisk, dir: folder, folders: &LocalModuleFolders };
    let config = Config::load(diags, &mut sources, config_source)?;
    let variables = inputs::resolve_variables(
        diags,
        &mut sources,
        &config.root,
        Vec::new(),
        UnsetVariableTreatment::Error,
    )?;
    let pool = ProviderPool::new(launcher);
    let inputs =
        OperationInputs { config: &config, sources: &sources, variables: &variables, pool: &pool };
    let host = HostValues::for_folder(&folder.to_string_lossy(), time::OffsetDateTime::now_utc);
    let operation = Operation::new(inputs, host).with_observer(&Progress);

    let state = StateFilePaths::from_state_path(folder.join("terraform.tfstate")).into();
    let options = SessionOptions::new("apply", folder);
    let mut session = StateSession::open(diags, state, &options).await?;
    let planned = operation.plan(diags, &mut session, PlanOptions::default()).await;
    let applied = match planned {
        Ok(outcome) => {
            let changes = outcome.plan.changes.values();
            println!(
                "{} changes planned",
                changes.filter(|one| one.action != Action::NoOp).count()
            );
            let plan = PlanSource::Made(Box::new(outcome));
            operation.apply(diags, &mut session, plan).await.map(drop)
        }
        Err(reported) => Err(reported),
    };
    // Also after a failure, because the lock would stay otherwise.
    session.unlock(diags).await;
    applied.and_then(|()| diags.fail_if_errors())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, provider, program] = &arguments[..] else { return ExitCode::from(2) };
    let Ok(provider) = provider.parse::<ProviderAddr>() else { return ExitCode::from(2) };
    let program =
        ProviderProgram::File { path: program.into(), arg0: None, package: None, identity: None };
    let launcher = Launcher::new(LauncherSettings::default(), [(provider, program)].into());
    let mut diags = Diagnostics::new();
    let result = run(&mut diags, Path::new(folder), &launcher).await;
    launcher.shutdown(&mut diags).await;
    diags.iter().for_each(|one| println!("{:?}: {}. {}", one.severity, one.summary, one.detail));
    if result.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
