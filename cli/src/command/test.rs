//! `formwork test`: runs the test files of the configuration.

mod left_states;
mod observer;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use formwork_core::addr::ProviderAddr;
use formwork_core::config::inputs::GivenVariable;
use formwork_core::config::parsed_test_file::TestFile;
use formwork_core::config::test_files;
use formwork_core::eval::HostValues;
use formwork_core::provider::CallWatch;
use formwork_core::session::DEFAULT_PARALLELISM;
use formwork_core::version::VersionConstraints;
use formwork_operation::CancellationToken;
use formwork_operation::launcher::Launcher;
use formwork_operation::test::{
    AllTestStatesDirectory, TestFileResult, TestInputs, TestModule, TestStatus, run_tests,
};
use formwork_value::diag::{Blame, Sources};
use formwork_value::{Diagnostic, Diagnostics, Reported, Str};

use self::left_states::find_left_states;
use self::observer::Observer;
use super::interrupt::InterruptibleTests;
use super::variable_inputs::{test_dir_values, variable_values};
use super::{encryption, interrupt};
use crate::clock;
use crate::command_line::{VariableArgs, example};
use crate::env::Env;
use crate::exit::Exit;
use crate::messages;
use crate::view::operation_report::OperationReport;
use crate::view::{Screen, junit};
use crate::workspace::Workspace;

/// The directory for the states of runs, below the data directory.
const STATES_DIR_NAME: &str = "test-states";

/// Run the tests of the configuration: files whose names end in .tftest.hcl or .tftest.json.
#[derive(Debug, clap::Args)]
#[command(after_help = example(
    "-filter=tests/network.tftest.hcl",
    "Run one test file."
))]
pub(crate) struct TestArgs {
    /// Run only this test file. May be given several times.
    #[arg(long, value_name = "FILE")]
    pub(crate) filter: Vec<String>,
    /// The test directory, below the configuration directory. Default: tests.
    #[arg(long, value_name = "DIR")]
    pub(crate) test_directory: Option<PathBuf>,
    /// Print events as JSON, one per line.
    #[arg(long)]
    pub(crate) json: bool,
    /// Also write the results to this file as JUnit XML.
    #[arg(long, value_name = "FILE")]
    pub(crate) junit_xml: Option<PathBuf>,
    /// Print the plan or the state of each run.
    #[arg(long)]
    pub(crate) verbose: bool,
    #[command(flatten)]
    pub(crate) variables: VariableArgs,
}

/// The loaded tests of a configuration.
struct LoadedTests {
    test_files: Vec<TestFile>,
    module: TestModule,
    run_modules: BTreeMap<(String, Str), TestModule>,
    launcher: Launcher,
}

/// Runs the command.
pub(super) async fn run(args: &TestArgs, env: &Env) -> Exit {
    let screen = Screen::of(env);
    let report = OperationReport::new(screen, args.json, env.compact_warnings);
    let mut diags = Diagnostics::new();
    let Ok(mut workspace) = Workspace::open(env, &mut diags) else {
        return report.report_failure(None, &diags);
    };
    let loaded = load_tests(&mut diags, &mut workspace, args);
    let variables = given_variables(&mut diags, &mut workspace, args);
    let (Ok(loaded), Ok(variables)) = (loaded, variables) else {
        return report.report_failure(Some(&workspace.sources), &diags);
    };
    // Checked before the first object is created, whose state could not be stored otherwise.
    let Ok(left_states) = find_left_states_or_report(&mut diags, &workspace) else {
        return report.report_failure(Some(&workspace.sources), &diags);
    };
    report.report_diagnostics(&workspace.sources, &std::mem::take(&mut diags));
    let observer = Observer::new(&report, args.verbose);
    observer.start(&loaded.test_files);
    warn_of_left_objects(&observer, &left_states);
    let Some(results) = run_loaded_tests(&mut workspace, &loaded, &variables, &observer).await
    else {
        return Exit::Failed;
    };
    loaded.launcher.shutdown(&mut diags).await;
    observer.end(&results);
    if let Some(path) = &args.junit_xml {
        let _ = write_junit(&mut diags, path, &junit::junit_document(&workspace.sources, &results));
    }
    report.report_diagnostics(&workspace.sources, &diags);
    let failed = overall_status(&results) > TestStatus::Pass;
    if failed || diags.has_errors() { Exit::Failed } else { Exit::Done }
}

/// Runs the tests. Returns `None` if a second interrupt ended them.
async fn run_loaded_tests(
    workspace: &mut Workspace<'_>,
    loaded: &LoadedTests,
    variables: &GivenVariables,
    observer: &Observer<'_>,
) -> Option<Vec<TestFileResult>> {
    let environment = workspace.env.provisioner_environment();
    let provisioners = formwork_provisioners::provisioners(&environment);
    let cleanup_provisioners = formwork_provisioners::provisioners(&environment);
    let host = HostValues { plan_time: Some(clock::current_time()), ..workspace.host_values() };
    let (states, cancellation) =
        (workspace.data.path().join(STATES_DIR_NAME), CancellationToken::new());
    let (cipher, data, calls) = (workspace.state_cipher(), &workspace.data, CallWatch::default());
    let open_data = || data.open_or_create();
    let inputs = TestInputs {
        test_files: &loaded.test_files,
        module: &loaded.module,
        run_modules: &loaded.run_modules,
        variables: &variables.variables,
        dir_variables: &variables.of_dir,
        launcher: &loaded.launcher,
        provisioners: &provisioners,
        cleanup_provisioners: &cleanup_provisioners,
        calls: &calls,
        host: &host,
        states: AllTestStatesDirectory { path: &states, open_parent: &open_data },
        cipher: &cipher,
        parallelism: DEFAULT_PARALLELISM,
        observer,
        cancellation: &cancellation,
    };
    let interruptible = InterruptibleTests {
        report: observer.operation_report(),
        calls: &calls,
        launcher: &loaded.launcher,
        reminder_delay: workspace.env.plugin_reminder_delay,
        cancellation: &cancellation,
    };
    let work = run_tests(inputs, &mut workspace.sources);
    let results = interrupt::run_tests_until_interrupted(work, interruptible).await;
    if results.is_none() {
        observer.report_interrupted(&states);
    }
    results
}

/// Finds the states that earlier tests left. States without objects are removed.
fn find_left_states_or_report(
    diags: &mut Diagnostics,
    workspace: &Workspace<'_>,
) -> Result<Vec<String>, Reported> {
    find_left_states(&workspace.data, &workspace.state_cipher()).map_err(|error| {
        let path = workspace.data.path().join(STATES_DIR_NAME);
        let detail = format!("{} cannot be opened: {error}.", path.display());
        let problem = Diagnostic::error(messages::TEST_STATE_CANNOT_BE_KEPT, detail);
        diags.error(problem.blamed_on(Blame::Environment))
    })
}

/// Warns of states that earlier tests left.
fn warn_of_left_objects(observer: &Observer<'_>, names: &[String]) {
    if names.is_empty() {
        return;
    }
    let detail = format!(
        "States of earlier tests have objects that were not destroyed:\n  {}\n\nSee docs/testing.md, \"Objects that cannot be destroyed\".",
        names.join("\n  ")
    );
    let mut diags = Diagnostics::new();
    diags.warn(Diagnostic::warning(messages::TEST_OBJECTS_ARE_LEFT, detail));
    observer.operation_report().report_diagnostics(&Sources::new(), &diags);
}

/// The given variable values, in ascending precedence.
struct GivenVariables {
    /// The variables for all test files.
    variables: Vec<GivenVariable>,
    /// The variables for the test files in the test directory.
    of_dir: Vec<GivenVariable>,
}

fn given_variables(
    diags: &mut Diagnostics,
    workspace: &mut Workspace<'_>,
    args: &TestArgs,
) -> Result<GivenVariables, Reported> {
    let values = variable_values(diags, workspace, &args.variables.sources);
    let directory =
        args.test_directory.as_deref().unwrap_or(Path::new(test_files::DEFAULT_TEST_DIR));
    let of_dir = test_dir_values(diags, workspace, directory);
    Ok(GivenVariables { variables: values?, of_dir: of_dir? })
}

/// Reads the configuration, the test files and the modules of their runs, and finds the providers.
fn load_tests(
    diags: &mut Diagnostics,
    workspace: &mut Workspace<'_>,
    args: &TestArgs,
) -> Result<LoadedTests, Reported> {
    let tests = args.test_directory.as_deref();
    if let Some(path) = &args.junit_xml {
        check_junit_path(diags, path)?;
    }
    let (config, dangling) = workspace.config_with_reference_errors(diags)?;
    config.check_required_versions(diags)?;
    encryption::load_encryption(diags, workspace, &config.root, &args.variables.sources)?;
    let mut test_files = workspace.read_tests(diags, tests)?;
    let run_modules = load_run_modules(diags, workspace, tests, &test_files)?;
    keep_filtered_tests(diags, &mut test_files, &args.filter);
    let mut required = config.provider_requirements();
    for module in run_modules.values() {
        add_requirements(&mut required, module.config.provider_requirements());
    }
    let launcher = workspace.make_launcher(diags, &required)?.prefer_cached_schemas();
    let module = TestModule { config, dangling };
    Ok(LoadedTests { test_files, module, run_modules, launcher })
}

/// Loads the modules of runs that do not test the root module.
fn load_run_modules(
    diags: &mut Diagnostics,
    workspace: &mut Workspace<'_>,
    tests: Option<&Path>,
    test_files: &[TestFile],
) -> Result<BTreeMap<(String, Str), TestModule>, Reported> {
    let loaded = workspace.load_test_run_modules(
        diags,
        tests,
        formwork_core::config::Config::load_unvalidated,
    )?;
    let mut modules = BTreeMap::new();
    for test in loaded {
        let Some(test_file) = test_files.iter().find(|test_file| test_file.file == test.path)
        else {
            continue;
        };
        for run in test.runs {
            let (config, dangling) = run.config;
            config.check_required_versions(diags)?;
            modules.insert((test_file.path.clone(), run.name), TestModule { config, dangling });
        }
    }
    Ok(modules)
}

/// Keeps the test files that `-filter` names. Warns of names that do not match a file.
fn keep_filtered_tests(
    diags: &mut Diagnostics,
    test_files: &mut Vec<TestFile>,
    filters: &[String],
) {
    if filters.is_empty() {
        return;
    }
    let clean = |name: &String| name.strip_prefix("./").unwrap_or(name).to_owned();
    let names: Vec<String> = filters.iter().map(clean).collect();
    for name in
        names.iter().filter(|name| !test_files.iter().any(|test_file| test_file.path == **name))
    {
        let detail = format!(
            "The option -filter names {name:?}, which is not a test file. Specify the path relative to the configuration directory, such as tests/main.tftest.hcl."
        );
        diags.warn(Diagnostic::warning(messages::FILTER_MATCHES_NO_TEST_FILE, detail));
    }
    test_files.retain(|test_file| names.contains(&test_file.path));
}

fn add_requirements(
    required: &mut BTreeMap<ProviderAddr, VersionConstraints>,
    additional: BTreeMap<ProviderAddr, VersionConstraints>,
) {
    for (addr, constraints) in additional {
        required.entry(addr).or_insert(constraints);
    }
}

/// Checks the path of the JUnit file before the first run.
fn check_junit_path(diags: &mut Diagnostics, path: &Path) -> Result<(), Reported> {
    let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty());
    if directory.is_none_or(Path::is_dir) {
        return Ok(());
    }
    let detail = format!(
        "The option -junit-xml names {}, and its directory does not exist. Create the directory, or choose another file.",
        path.display()
    );
    Err(diags.error(Diagnostic::error(messages::JUNIT_FILE_CANNOT_BE_WRITTEN, detail)))
}

fn write_junit(diags: &mut Diagnostics, path: &Path, text: &str) -> Result<(), Reported> {
    std::fs::write(path, text).map_err(|error| {
        let detail = format!("{} cannot be written: {error}.", path.display());
        let problem = Diagnostic::error(messages::JUNIT_FILE_CANNOT_BE_WRITTEN, detail);
        diags.error(problem.blamed_on(Blame::Environment))
    })
}

/// The overall status of several test files.
pub(super) fn overall_status(results: &[TestFileResult]) -> TestStatus {
    results.iter().map(|test_file| test_file.status).max().unwrap_or(TestStatus::Pass)
}
