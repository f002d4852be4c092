//! Runs test files: each run plans or applies a module, and its assertions are evaluated on the result.
//! At the end of a file, all objects that its runs have created are destroyed.
//!
//! `formwork_core::config::test_files` reads the test files, and the observer prints the output.

mod cleanup;
mod expected_failures;
mod provider_configs;
mod run;
mod run_overrides;
mod states;
#[cfg(test)]
mod tests;
mod variables;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use formwork_backend::encryption::StateCipher;
use formwork_core::config::Config;
use formwork_core::config::inputs::GivenVariable;
use formwork_core::config::parsed_test_file::{TestFile, TestRun};
use formwork_core::disk::Dir;
use formwork_core::eval::{HostValues, TestValues};
use formwork_core::plan::Plan;
use formwork_core::provider::{CallWatch, ProviderLauncher, ProviderPool};
use formwork_core::provisioner::ProvisionerSet;
use formwork_core::state::State;
use formwork_value::diag::Sources;
use formwork_value::{Diagnostics, Str};
use time::OffsetDateTime;
use tokio_util::sync::CancellationToken;

use self::states::TestStates;

/// A module that a run uses, with the errors in its references.
///
/// See [`TestInputs`] for an example.
pub struct TestModule {
    /// The module as a root module.
    pub config: Config,
    /// Errors in the module's references, which each run reports.
    pub dangling: Diagnostics,
}

/// The directory that holds the states of the runs until all objects are destroyed. It is created when it
/// is needed, and removed if it is empty in the end.
///
/// See [`TestInputs`] for an example.
#[derive(Clone, Copy)]
pub struct AllTestStatesDirectory<'a> {
    /// Its path, for messages and for the state files in it.
    pub path: &'a Path,
    /// Opens the parent directory, and creates it if it is missing.
    pub open_parent: &'a dyn Fn() -> io::Result<Dir>,
}

/// Inputs for testing a module.
///
/// ```
/// use std::collections::BTreeMap;
/// use std::path::Path;
///
/// # use formwork_backend::encryption::StateCipher;
/// use formwork_core::config::files::FilesOnDisk;
/// use formwork_core::config::module_dirs::LocalModuleDirs;
/// use formwork_core::config::test_files::{TestDirs, read_test_files};
/// use formwork_core::config::{Config, ConfigSource};
/// # use formwork_core::disk::Dir;
/// # use formwork_core::eval::HostValues;
/// # use formwork_core::provider::CallWatch;
/// # use formwork_core::provisioner::ProvisionerSet;
/// use formwork_operation::test::{
///     AllTestStatesDirectory, TestEvent, TestInputs, TestModule, TestObserver, TestStatus, run_tests,
/// };
/// # use formwork_operation::CancellationToken;
/// # use formwork_operation::launcher::{Launcher, LauncherSettings};
/// # use formwork_value::Diagnostics;
/// # use formwork_value::diag::Sources;
///
/// struct Quiet;
///
/// impl TestObserver for Quiet {
///     fn on_event(&self, _: &Sources, _: &TestEvent<'_>) {}
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// # let directory = tempfile::tempdir().unwrap();
/// # let dir = directory.path();
/// std::fs::write(dir.join("main.tf"), "output \"o\" {\n  value = 1\n}\n").unwrap();
/// let assert = "  assert {\n    condition     = output.o == 1\n    error_message = \"no\"\n  }\n";
/// std::fs::write(dir.join("a.tftest.hcl"), format!("run \"a\" {{\n{assert}}}\n")).unwrap();
/// let (mut diags, mut sources) = (Diagnostics::new(), Sources::new());
/// let from = ConfigSource { files: &FilesOnDisk, dir, directories: &LocalModuleDirs };
/// let (config, dangling) = Config::load_unvalidated(&mut diags, &mut sources, from).unwrap();
/// let directories = TestDirs { module: dir, tests: Path::new("tests") };
/// let test_files = read_test_files(&mut diags, &mut sources, &FilesOnDisk, directories).unwrap();
/// let launcher = Launcher::new(LauncherSettings::default(), BTreeMap::new());
/// let (states, open_parent) = (dir.join("states"), || Dir::open(dir));
/// let inputs = TestInputs {
///     test_files: &test_files,
///     module: &TestModule { config, dangling },
///     run_modules: &BTreeMap::new(),
///     variables: &[],
///     dir_variables: &[],
///     launcher: &launcher,
///     provisioners: &ProvisionerSet::default(),
///     cleanup_provisioners: &ProvisionerSet::default(),
///     calls: &CallWatch::default(),
///     host: &HostValues::for_dir("/work", || time::OffsetDateTime::UNIX_EPOCH),
///     states: AllTestStatesDirectory { path: &states, open_parent: &open_parent },
///     cipher: &StateCipher::default(),
///     parallelism: 10,
///     observer: &Quiet,
///     cancellation: &CancellationToken::new(),
/// };
/// let results = run_tests(inputs, &mut sources).await;
/// assert_eq!(results[0].status, TestStatus::Pass);
/// # }
/// ```
#[derive(Clone, Copy)]
pub struct TestInputs<'a> {
    /// The test files to run, in order.
    pub test_files: &'a [TestFile],
    /// The module under test.
    pub module: &'a TestModule,
    /// The modules of the runs that use another module, by the path of the test file and the name of the
    /// run.
    pub run_modules: &'a BTreeMap<(String, Str), TestModule>,
    /// Variable values for all test files, in ascending precedence.
    pub variables: &'a [GivenVariable],
    /// Variable values for the test files in the test directory, which override the others.
    pub dir_variables: &'a [GivenVariable],
    /// Starts the providers.
    pub launcher: &'a dyn ProviderLauncher,
    /// The provisioners for the runs. The cancellation requests them to stop.
    pub provisioners: &'a ProvisionerSet,
    /// The provisioners for the cleanup, which continues after the cancellation.
    pub cleanup_provisioners: &'a ProvisionerSet,
    /// Recorder of the calls to providers.
    pub calls: &'a CallWatch,
    /// Access of expressions to the file system, the clock and other external inputs.
    pub host: &'a HostValues,
    /// The directory for the states of the runs.
    pub states: AllTestStatesDirectory<'a>,
    /// The cipher of the states.
    pub cipher: &'a StateCipher,
    /// Maximum number of concurrent calls.
    pub parallelism: usize,
    /// Observer of the runs.
    pub observer: &'a dyn TestObserver,
    /// After the cancellation, no further run begins, and the current one ends after the changes in
    /// progress. The objects that it created are still destroyed.
    pub cancellation: &'a CancellationToken,
}

/// The status of a run or of a test file. Later variants are worse.
///
/// ```
/// use formwork_operation::test::TestStatus;
///
/// assert!(TestStatus::Fail > TestStatus::Pass);
/// assert_eq!(TestStatus::Skip.json_name(), "skip");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum TestStatus {
    /// The run was skipped, because an earlier run has failed or the user has interrupted the
    /// tests.
    #[default]
    Skip,
    /// Everything holds.
    Pass,
    /// An assertion does not hold.
    Fail,
    /// The run could not be executed as written.
    Error,
}

impl TestStatus {
    /// The name of the status in machine-readable output.
    #[must_use]
    pub fn json_name(self) -> &'static str {
        match self {
            Self::Skip => "skip",
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Error => "error",
        }
    }
}

/// The result of a run.
///
/// ```
/// use formwork_operation::test::{RunResult, TestStatus};
///
/// let skipped = RunResult::with_status_only("a".into(), TestStatus::Skip);
/// assert!(skipped.diags.is_empty() && skipped.timing.is_none());
/// ```
#[derive(Debug)]
pub struct RunResult {
    /// The name of the run.
    pub name: Str,
    /// The status of the run.
    pub status: TestStatus,
    /// Problems in the order in which they were found.
    pub diags: Diagnostics,
    /// The number of assertions.
    pub n_asserts: usize,
    /// The start time of the run and its duration. `None` if it was not executed.
    pub timing: Option<(OffsetDateTime, Duration)>,
}

impl RunResult {
    /// The result of a run that was not executed.
    #[must_use]
    pub fn with_status_only(name: Str, status: TestStatus) -> Self {
        Self { name, status, diags: Diagnostics::new(), n_asserts: 0, timing: None }
    }
}

/// The result of a test file.
///
/// ```
/// use formwork_operation::test::{RunResult, TestFileResult, TestStatus};
///
/// fn n_failed(result: &TestFileResult) -> usize {
///     result.runs.iter().filter(|run| run.status == TestStatus::Fail).count()
/// }
///
/// let run = RunResult::with_status_only("a".into(), TestStatus::Fail);
/// let result = TestFileResult { runs: vec![run], ..TestFileResult::default() };
/// assert_eq!(n_failed(&result), 1);
/// ```
#[derive(Debug, Default)]
pub struct TestFileResult {
    /// The path of the file.
    pub path: String,
    /// The status of the file, including the cleanup.
    pub status: TestStatus,
    /// The results of the runs, in order.
    pub runs: Vec<RunResult>,
}

/// An object that the cleanup could not destroy.
///
/// ```
/// use formwork_operation::test::LeftoverObject;
///
/// fn describe(left: &LeftoverObject) -> String {
///     match &left.deposed {
///         Some(key) => format!("{} (deposed object {key})", left.instance),
///         None => left.instance.clone(),
///     }
/// }
///
/// let left = LeftoverObject { instance: "terraform_data.a".to_owned(), deposed: None };
/// assert_eq!(describe(&left), "terraform_data.a");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftoverObject {
    /// The address of the instance.
    pub instance: String,
    /// The key of the deposed object. `None` for the current one.
    pub deposed: Option<String>,
}

/// The plan or state of a run, for display.
///
/// ```
/// use formwork_core::state::State;
/// use formwork_operation::test::ShownPlanOrStateRef;
///
/// fn count(shown: &ShownPlanOrStateRef<'_>) -> usize {
///     match shown {
///         ShownPlanOrStateRef::Plan(plan) => plan.changes.len(),
///         ShownPlanOrStateRef::State(state) => state.resources.len(),
///     }
/// }
///
/// assert_eq!(count(&ShownPlanOrStateRef::State(&State::default())), 0);
/// ```
pub enum ShownPlanOrStateRef<'a> {
    /// A plan was created.
    Plan(&'a Plan),
    /// A plan was applied, with this state as the result.
    State(&'a State),
}

/// A run of a test file.
///
/// See [`TestObserver`] for an example.
#[derive(Clone, Copy)]
pub struct RunOfTestFile<'a> {
    /// The test file.
    pub test_file: &'a TestFile,
    /// The run.
    pub run: &'a TestRun,
}

/// An event of the tests.
///
/// See [`TestObserver`] for an example.
pub enum TestEvent<'a> {
    /// A test file begins.
    TestFileStarted(&'a TestFile),
    /// The runs of a test file have ended, and the cleanup begins.
    TestFileTearDown(&'a TestFile),
    /// A test file has ended.
    TestFileDone(&'a TestFile, TestStatus),
    /// Problems of a test file that do not belong to a run.
    TestFileProblems(&'a TestFile, &'a Diagnostics),
    /// A run begins.
    RunStarted(RunOfTestFile<'a>),
    /// A run is still in progress after this time.
    RunProgress(RunOfTestFile<'a>, Duration),
    /// The cleanup after a run begins, or is still in progress after this time.
    RunTearDown(RunOfTestFile<'a>, Duration),
    /// A run has ended.
    RunDone {
        /// The run.
        run: RunOfTestFile<'a>,
        /// The result of the run.
        result: &'a RunResult,
        /// The plan or state of the run, if there is one, with the providers whose schemas define
        /// how values are displayed.
        work: Option<(ShownPlanOrStateRef<'a>, &'a ProviderPool<'a>)>,
    },
    /// The cleanup after a run had problems.
    CleanupFailed {
        /// The run.
        run: RunOfTestFile<'a>,
        /// The problems.
        diags: &'a Diagnostics,
        /// The objects that remain.
        left: &'a [LeftoverObject],
        /// The state file of these objects.
        state: Option<PathBuf>,
        /// Whether a destroy with this state file can be run in the configuration directory: the
        /// configuration has no backend, and the run has neither a module nor provider configurations of
        /// its own.
        can_destroy: bool,
    },
}

/// Observes tests.
///
/// ```
/// use formwork_operation::test::{TestEvent, TestObserver};
/// use formwork_value::diag::Sources;
///
/// /// Prints the result of each run.
/// struct Report;
///
/// impl TestObserver for Report {
///     fn on_event(&self, _: &Sources, event: &TestEvent<'_>) {
///         if let TestEvent::RunDone { run, result, .. } = event {
///             println!("{}: {} {}", run.test_file.path, result.name, result.status.json_name());
///         }
///     }
/// }
/// ```
pub trait TestObserver {
    /// Receives an event. Must return quickly.
    fn on_event(&self, sources: &Sources, event: &TestEvent<'_>);
}

/// Runs test files, one after the other.
///
/// If the future is dropped, the states of the current file remain in the directory for states.
pub async fn run_tests(inputs: TestInputs<'_>, sources: &mut Sources) -> Vec<TestFileResult> {
    let mut results = Vec::new();
    for test_file in inputs.test_files {
        let mut runner = TestFileRunner {
            inputs,
            test_file,
            values: TestValues {
                declared: test_file.runs.iter().map(|run| run.name.clone()).collect(),
                ..TestValues::default()
            },
            states: TestStates::new(inputs, test_file),
        };
        // Sequentially, because runs of different files may create objects with the same names.
        results.push(runner.run(sources).await);
        runner.states.remove_states_directory_if_empty();
    }
    results
}

/// Runs one test file.
struct TestFileRunner<'a> {
    inputs: TestInputs<'a>,
    test_file: &'a TestFile,
    /// The outputs of the completed runs.
    values: TestValues,
    states: TestStates<'a>,
}

impl TestFileRunner<'_> {
    async fn run(&mut self, sources: &mut Sources) -> TestFileResult {
        let (test_file, inputs) = (self.test_file, self.inputs);
        let report =
            |sources: &Sources, event: TestEvent<'_>| inputs.observer.on_event(sources, &event);
        report(sources, TestEvent::TestFileStarted(test_file));
        let mut result =
            TestFileResult { path: test_file.path.clone(), ..TestFileResult::default() };
        // As in Terraform, a file without runs has nothing that could be skipped.
        if test_file.runs.is_empty() {
            result.status = TestStatus::Pass;
        }
        for run in &test_file.runs {
            // A failed assertion does not affect the runs after it. A run that could not be executed may
            // have left a state that they do not expect.
            let is_skipped =
                result.status == TestStatus::Error || inputs.cancellation.is_cancelled();
            let run_result = match is_skipped {
                true => self.report_skipped(sources, run),
                false => self.run_and_report(sources, run).await,
            };
            result.status = result.status.max(run_result.status);
            result.runs.push(run_result);
        }
        report(sources, TestEvent::TestFileTearDown(test_file));
        // After an interrupt too: objects that remain cost money.
        if self.clean_up(sources).await.is_err() {
            result.status = TestStatus::Error;
        }
        report(sources, TestEvent::TestFileDone(test_file, result.status));
        let mut problems = Diagnostics::new();
        // An override of the file may be intended for one of its runs.
        let run_configs = test_file.runs.iter().map(|run| &self.module_of_run(run).config);
        let configs: Vec<&Config> = run_configs.chain([&inputs.module.config]).collect();
        for overrides in
            test_file.mocks.iter().map(|mock| &mock.overrides).chain([&test_file.overrides])
        {
            run_overrides::warn_of_unmatched_overrides(&mut problems, &configs, overrides);
        }
        if !problems.is_empty() {
            report(sources, TestEvent::TestFileProblems(test_file, &problems));
        }
        result
    }

    fn report_skipped(&self, sources: &Sources, run: &TestRun) -> RunResult {
        let result = RunResult::with_status_only(run.name.clone(), TestStatus::Skip);
        let run = RunOfTestFile { test_file: self.test_file, run };
        self.inputs
            .observer
            .on_event(sources, &TestEvent::RunDone { run, result: &result, work: None });
        result
    }
}
