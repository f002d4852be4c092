//! `formwork import`: imports an existing object into the state.

use std::path::{Path, PathBuf};

use clap::ArgAction;
use formwork_core::change::ImportKey;
use formwork_core::provider::ProviderPool;
use formwork_operation::import::parse_managed_instance_addr;
use formwork_operation::{CancellationToken, Operation, StateSession};
use formwork_value::{Diagnostics, Reported};

use super::interrupt::run_until_interrupted;
use super::operation::{ImportBlockTarget, PrepareOptions, PreparedConfig, may_ask_user};
use super::run_observer::RunObserver;
use super::state_session;
use crate::command_line::{
    DEFAULT_PARALLELISM_ARG, StateArgs, VariableArgs, example, parse_parallelism,
};
use crate::env::Env;
use crate::exit::Exit;
use crate::view::human::import_report::ImportReport;
use crate::view::operation_report::OperationReport;
use crate::view::{Paint, Screen, print_out};
use crate::workspace::Workspace;

/// Import an existing object into the state.
#[derive(Debug, clap::Args)]
#[command(after_help = example(
    "aws_instance.web i-0abc",
    "Bring an existing instance under management."
))]
pub(crate) struct ImportArgs {
    /// Address of the instance to import the object to.
    #[arg(value_name = "ADDR")]
    pub(crate) address: String,
    /// ID by which the provider finds the object.
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// The configuration directory. Default: the working directory.
    #[arg(long, value_name = "DIR")]
    pub(crate) config: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) finding: ObjectSearchArgs,
    #[command(flatten)]
    pub(crate) state: StateArgs,
}

/// Search for an object.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct ObjectSearchArgs {
    #[command(flatten)]
    pub(crate) variables: VariableArgs,
    /// Do not ask for missing values.
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "true", action = ArgAction::Set, value_name = "BOOL")]
    pub(crate) input: bool,
    /// Maximum number of concurrent operations; 0 selects the default.
    #[arg(long, value_name = "N", default_value = DEFAULT_PARALLELISM_ARG, allow_negative_numbers = true)]
    pub(crate) parallelism: i64,
    /// Accepted for compatibility. Has no effect.
    #[arg(long)]
    pub(crate) ignore_remote_version: bool,
}

/// Runs the command.
pub(super) async fn run(args: &ImportArgs, env: &Env) -> Exit {
    let taking = ImportCommand {
        finding: &args.finding,
        state: &args.state,
        address: &args.address,
        config: args.config.as_deref(),
        operation: "import",
        must_be_written: true,
    };
    let result = taking
        .run(env, async |diags, operations, session| {
            let addr = parse_managed_instance_addr(diags, &args.address)?;
            let key = ImportKey::Id(args.id.as_str().into());
            operations.import.import(diags, session, &addr, key).await
        })
        .await;
    if result == Exit::Done {
        let screen = Screen::of(env);
        let title = screen.paint(Paint::Green, "Import successful!");
        print_out(&format!(
            "\n{title}\n\nThe resources that were imported are shown above. These resources are now in\nyour Formwork state and will henceforth be managed by Formwork.\n\n"
        ));
    }
    result
}

/// A command that adds an object to the state.
#[derive(Clone, Copy)]
pub(super) struct ImportCommand<'a> {
    pub(super) finding: &'a ObjectSearchArgs,
    pub(super) state: &'a StateArgs,
    /// Address to import to, as given by the user.
    pub(super) address: &'a str,
    /// The configuration directory, if it is not the working directory.
    pub(super) config: Option<&'a Path>,
    /// Name of the operation, as in the lock.
    pub(super) operation: &'static str,
    /// Whether a resource block is required.
    pub(super) must_be_written: bool,
}

impl ImportCommand<'_> {
    /// Prepares the operation, runs it and stores the result.
    pub(super) async fn run(
        &self,
        env: &Env,
        work: impl AsyncFnOnce(
            &mut Diagnostics,
            &ImportOperations<'_>,
            &mut StateSession,
        ) -> Result<(), Reported>,
    ) -> Exit {
        let Self { finding, state, config, operation, must_be_written, .. } = *self;
        let screen = Screen::of(env);
        let report = OperationReport::new(screen, false, env.compact_warnings);
        let mut diags = Diagnostics::new();
        // If no block is required, a wrong address is reported later.
        let fills = match must_be_written {
            true => match parse_managed_instance_addr(&mut diags, self.address) {
                Ok(addr) => Some(addr),
                Err(_) => return report.report_failure(None, &diags),
            },
            false => self.address.parse().ok(),
        };
        let fills = fills.as_ref().map(|addr| ImportBlockTarget { addr, must_be_written });
        let state_paths = state.state_paths();
        let preparing = PrepareOptions {
            sources: &finding.variables.sources,
            state_paths: &state_paths,
            needs_config: must_be_written,
            generate: false,
            ask: may_ask_user(env, finding.input).then_some(&screen),
            fills,
        };
        let Ok(mut workspace) = Workspace::open(env, &mut diags) else {
            return report.report_failure(None, &diags);
        };
        if let Some(directory) = config {
            workspace.config_dir = directory.to_owned();
        }
        let prepared = match PreparedConfig::prepare(&mut diags, workspace, &preparing).await {
            Ok(prepared) => prepared,
            Err((workspace, _)) => return report.report_failure(Some(&workspace.sources), &diags),
        };
        let store = prepared
            .workspace
            .open_state(&mut diags, prepared.config.backend(), &state_paths)
            .await;
        let Ok(store) = store else {
            return report.report_failure(Some(&prepared.workspace.sources), &diags);
        };
        let locked =
            state_session::open_locked_state(&mut diags, store, &state.lock, operation).await;
        let Ok(mut locked) = locked else {
            return report.report_failure(Some(&prepared.workspace.sources), &diags);
        };
        locked.follow_moves_of_unresolved(&prepared.config);
        let pool = ProviderPool::new(&prepared.launcher);
        let cancellation = CancellationToken::new();
        let importing = ImportReport { screen, observer: report.observer() };
        let sources = &prepared.workspace.sources;
        let import = RunObserver { watch: &importing, ..RunObserver::new(&report, sources) };
        let search = RunObserver::new(&report, sources);
        let operation = |observer| {
            let operation = prepared.operation(&pool).with_cancellation(cancellation.clone());
            operation
                .with_parallelism(parse_parallelism(finding.parallelism))
                .with_observer(observer)
        };
        let operations =
            ImportOperations { import: operation(&import), search: operation(&search) };
        let work = work(&mut diags, &operations, &mut locked);
        let Some(outcome) = run_until_interrupted(work, &pool, &prepared, &cancellation).await
        else {
            return Exit::Failed;
        };
        prepared.launcher.shutdown(&mut diags).await;
        locked.unlock(&mut diags).await;
        report.report_diagnostics(&prepared.workspace.sources, &diags);
        if outcome.is_err() || diags.has_errors() { Exit::Failed } else { Exit::Done }
    }
}

/// The operations of a command that adds an object to the state. They differ in their output.
pub(super) struct ImportOperations<'a> {
    /// Reports the import as such.
    pub(super) import: Operation<'a>,
    /// Reports as a plan does.
    pub(super) search: Operation<'a>,
}
