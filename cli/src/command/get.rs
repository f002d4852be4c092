//! `formwork get`: installs the modules that the configuration calls.

use std::path::PathBuf;

use formwork_value::{Diagnostic, Diagnostics};

use crate::command_line::example;
use crate::env::Env;
use crate::exit::Exit;
use crate::view::{Screen, operation_report::OperationReport};
use crate::workspace::{ModuleInstallOptions, Workspace};

/// Install the modules that the configuration calls.
#[derive(Debug, clap::Args)]
#[command(after_help = example(
    "-update",
    "Install the newest modules that the constraints allow."
))]
pub(crate) struct GetArgs {
    /// Reinstall everything, in the newest versions that the configuration allows.
    #[arg(long)]
    pub(crate) update: bool,
    /// The test directory, whose modules are installed too. Default: tests.
    #[arg(long, value_name = "DIR")]
    pub(crate) test_directory: Option<PathBuf>,
}

/// Runs the command.
pub(super) fn run(args: &GetArgs, env: &Env) -> Exit {
    let report = OperationReport::new(Screen::of(env), false, env.compact_warnings);
    let mut diags = Diagnostics::new();
    let Ok(mut workspace) = Workspace::open(env, &mut diags) else {
        return report.report_failure(None, &diags);
    };
    let tests = args.test_directory.as_deref();
    let options = ModuleInstallOptions { upgrade: args.update, keeps_lock: false, tests };
    // Modules are not fetched for invalid files.
    workspace.check_tests(&mut diags, tests);
    let result = diags
        .fail_if_errors()
        .and_then(|()| workspace.install_modules(&mut diags, options, &report));
    if result.is_ok() {
        warn_of_mismatched_calls(&mut diags, &mut workspace);
    }
    report.report_diagnostics(&workspace.sources, &diags);
    if result.is_ok() && !diags.has_errors() { Exit::Done } else { Exit::Failed }
}

/// Warns of calls that do not match their modules. As in Terraform, they are errors only in commands that use
/// the configuration.
fn warn_of_mismatched_calls(diags: &mut Diagnostics, workspace: &mut Workspace<'_>) {
    let mut warnings = Diagnostics::new();
    // The configuration is not used further.
    drop(workspace.read_config_requirements(&mut warnings));
    let reported: Vec<(String, String)> = diags
        .iter()
        .map(|diagnostic| (diagnostic.summary.clone(), diagnostic.detail.clone()))
        .collect();
    // Warnings that were reported during installation are not repeated.
    let is_new = |diagnostic: &Diagnostic| {
        !reported
            .iter()
            .any(|(summary, detail)| *summary == diagnostic.summary && *detail == diagnostic.detail)
    };
    warnings.into_iter().filter(is_new).for_each(|problem| diags.warn(problem));
}
