//! `formwork validate`: checks the configuration against the provider schemas.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use formwork_core::config::Config;
use formwork_value::diag::{Severity, Sources};
use formwork_value::{Diagnostics, Reported};

use super::config_errors::{self, ConfigErrorContext};
use crate::command_line::{VariableArgs, example, path_if_given, path_or_empty};
use crate::env::Env;
use crate::exit::Exit;
use crate::view::json::diagnostic;
use crate::view::json::json_builder::Json;
use crate::view::{Paint, Screen, operation_report::OperationReport, print_data, print_out};
use crate::workspace::{OverrideWarningCondition, Workspace};

/// Check whether the configuration is valid.
#[derive(Debug, clap::Args)]
#[command(after_help = example("-json", "Check the configuration, for an editor."))]
pub(crate) struct ValidateArgs {
    /// Print the result as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Do not validate test files (.tftest.hcl and .tftest.json).
    #[arg(long)]
    pub(crate) no_tests: bool,
    /// The test directory, below the configuration directory. Default: tests.
    #[arg(long, value_name = "DIR")]
    pub(crate) test_directory: Option<PathBuf>,
    /// The configuration directory. Default: the working directory.
    #[arg(value_name = "DIR", value_parser = path_or_empty())]
    pub(crate) directory: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) variables: VariableArgs,
}

/// Runs the command.
pub(super) async fn run(args: &ValidateArgs, env: &Env) -> Exit {
    let screen = Screen::of(env);
    let report = OperationReport::new(screen, false, env.compact_warnings);
    let mut diags = Diagnostics::new();
    let workspace = Workspace::open(env, &mut diags);
    let Ok(mut workspace) = workspace else {
        if args.json {
            print_data(&format!("{}\n", validation_document(&Sources::new(), &diags).to_pretty()));
            return Exit::Failed;
        }
        return report.report_failure(None, &diags);
    };
    let directory = path_if_given(args.directory.as_ref());
    if let Some(directory) = directory {
        workspace.config_dir = directory.to_owned();
    }
    let mut tests = Diagnostics::new();
    if !args.no_tests {
        workspace.check_tests(&mut tests, args.test_directory.as_deref());
    }
    // Reading a missing directory reports it.
    if workspace.has_config_or_warn(&mut diags)
        || directory.is_some_and(|directory| !directory.is_dir())
    {
        // All results are in `diags`.
        let _ = check_config(&mut diags, &mut workspace, !tests.has_errors()).await;
        if !args.no_tests && !tests.has_errors() {
            let _ =
                check_test_run_modules(&mut diags, &mut workspace, args.test_directory.as_deref())
                    .await;
        }
    }
    workspace.warn_of_overrides(&mut diags, OverrideWarningCondition::Always);
    let _ = diags.append(tests);
    if args.json {
        print_data(&format!("{}\n", validation_document(&workspace.sources, &diags).to_pretty()));
    } else {
        report.report_diagnostics(&workspace.sources, &diags);
        if !diags.has_errors() {
            let success = screen.paint(Paint::BoldGreen, "Success!");
            let but = if diags.is_empty() {
                ""
            } else {
                ", but there were some validation warnings as shown above"
            };
            print_out(&format!("{success} The configuration is valid{but}.\n\n"));
        }
    }
    if diags.has_errors() { Exit::Failed } else { Exit::Done }
}

/// Checks the configuration. If the test files have errors, it is only read.
async fn check_config(
    diags: &mut Diagnostics,
    workspace: &mut Workspace<'_>,
    tests_are_sound: bool,
) -> Result<(), Reported> {
    let (config, dangling) = workspace.config_with_reference_errors(diags)?;
    config.check_required_versions(diags)?;
    if !tests_are_sound {
        return Ok(());
    }
    config_errors::report_config_errors(
        diags,
        workspace,
        &config,
        ConfigErrorContext { dangling, fills: None },
    )
    .await
}

/// Checks each module that runs of test files use.
async fn check_test_run_modules(
    diags: &mut Diagnostics,
    workspace: &mut Workspace<'_>,
    tests: Option<&Path>,
) -> Result<(), Reported> {
    let loaded = workspace.load_test_run_modules(diags, tests, Config::load_unvalidated)?;
    let mut checked = BTreeSet::new();
    let mut result = Ok(());
    for run in loaded.into_iter().flat_map(|test| test.runs) {
        let (config, dangling) = run.config;
        if checked.insert(config.root_node().module.dir.clone()) {
            let context = ConfigErrorContext { dangling, fills: None };
            // The errors of all modules are reported.
            let version_check = match config.check_required_versions(diags) {
                Ok(()) => {
                    config_errors::report_config_errors(diags, workspace, &config, context).await
                }
                Err(reported) => Err(reported),
            };
            result = result.and(version_check);
        }
    }
    result
}

fn validation_document(sources: &Sources, diags: &Diagnostics) -> Json {
    let count = |severity: Severity| {
        let n = diags.iter().filter(|diagnostic| diagnostic.severity == severity).count();
        Json::Int(i64::try_from(n).unwrap_or(i64::MAX))
    };
    let list = diags.iter().map(|d| diagnostic::diagnostic_to_json(sources, d));
    Json::object([
        ("format_version", Json::text("1.0")),
        ("valid", Json::Bool(!diags.has_errors())),
        ("error_count", count(Severity::Error)),
        ("warning_count", count(Severity::Warning)),
        ("diagnostics", Json::Array(list.collect())),
    ])
}
