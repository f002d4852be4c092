//! Tests of test files with the library only, and the built-in provider.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;

use formwork_backend::encryption::StateCipher;
use formwork_core::config::files::FilesOnDisk;
use formwork_core::config::module_dirs::LocalModuleDirs;
use formwork_core::config::test_files::{self, TestDirs};
use formwork_core::config::{Config, ConfigSource};
use formwork_core::disk::Dir;
use formwork_core::eval::HostValues;
use formwork_core::provider::CallWatch;
use formwork_core::provisioner::ProvisionerSet;
use formwork_value::Diagnostics;
use formwork_value::diag::Sources;
use time::OffsetDateTime;
use tokio_util::sync::CancellationToken;

use super::{
    AllTestStatesDirectory, TestEvent, TestFileResult, TestInputs, TestModule, TestObserver,
    TestStatus, run_tests,
};
use crate::launcher::{Launcher, LauncherSettings};

const MODULE: &str = r#"
variable "n" {
  default = "d"
}
resource "terraform_data" "x" {
  input = var.n
  lifecycle {
    prevent_destroy = false
  }
}
output "o" {
  value = terraform_data.x.output
}
"#;

/// The moment at which the tests are cancelled.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CancelMoment {
    Never,
    BeforeAll,
    WithFirstRun,
}

/// Records the objects that remained.
struct LeftoverRecorder {
    objects: RefCell<Vec<String>>,
    moment: CancelMoment,
    cancellation: CancellationToken,
}

impl TestObserver for LeftoverRecorder {
    fn on_event(&self, _: &Sources, event: &TestEvent<'_>) {
        if matches!(event, TestEvent::RunStarted(_)) && self.moment == CancelMoment::WithFirstRun {
            self.cancellation.cancel();
        }
        if let TestEvent::CleanupFailed { left: leftovers, state, .. } = event {
            let leftovers = leftovers.iter().map(|object| object.instance.clone());
            self.objects.borrow_mut().extend(leftovers);
            assert!(state.as_ref().is_some_and(|path| path.exists()));
        }
    }
}

/// Runs a test file on a module.
async fn run(
    module: &str,
    tests: &str,
    moment: CancelMoment,
) -> (Vec<TestFileResult>, Vec<String>, bool) {
    let directory = tempfile::tempdir().unwrap();
    let (results, leftovers) = run_in_dir(directory.path(), module, tests, moment).await;
    (results, leftovers, directory.path().join("states").exists())
}

/// Runs a test file on a module, after writing both to a directory.
async fn run_in_dir(
    directory: &Path,
    module: &str,
    tests: &str,
    moment: CancelMoment,
) -> (Vec<TestFileResult>, Vec<String>) {
    std::fs::write(directory.join("main.tf"), module).unwrap();
    std::fs::write(directory.join("a.tftest.hcl"), tests).unwrap();
    let (mut diags, mut sources) = (Diagnostics::new(), Sources::new());
    let config_source =
        ConfigSource { files: &FilesOnDisk, dir: directory, directories: &LocalModuleDirs };
    let (config, dangling) =
        Config::load_unvalidated(&mut diags, &mut sources, config_source).unwrap();
    let directories = TestDirs { module: directory, tests: Path::new("tests") };
    let test_files =
        test_files::read_test_files(&mut diags, &mut sources, &FilesOnDisk, directories).unwrap();
    let launcher = Launcher::new(LauncherSettings::default(), BTreeMap::new());
    let (states, cancellation) = (directory.join("states"), CancellationToken::new());
    let observer = LeftoverRecorder {
        objects: RefCell::default(),
        moment,
        cancellation: cancellation.clone(),
    };
    let open_dir = || Dir::open(directory);
    if moment == CancelMoment::BeforeAll {
        cancellation.cancel();
    }
    let inputs = TestInputs {
        test_files: &test_files,
        module: &TestModule { config, dangling },
        run_modules: &BTreeMap::new(),
        variables: &[],
        dir_variables: &[],
        launcher: &launcher,
        provisioners: &ProvisionerSet::default(),
        cleanup_provisioners: &ProvisionerSet::default(),
        calls: &CallWatch::default(),
        host: &HostValues::for_dir("/work", || OffsetDateTime::UNIX_EPOCH),
        states: AllTestStatesDirectory { path: &states, open_parent: &open_dir },
        cipher: &StateCipher::default(),
        parallelism: 10,
        observer: &observer,
        cancellation: &cancellation,
    };
    let results = run_tests(inputs, &mut sources).await;
    (results, observer.objects.into_inner())
}

fn statuses(results: &[TestFileResult]) -> Vec<TestStatus> {
    results.iter().flat_map(|test_file| &test_file.runs).map(|run| run.status).collect()
}

const RUNS: &str = r#"
run "one" {
  assert {
    condition     = output.o == "d"
    error_message = "no"
  }
}
run "two" {
  command = plan
  variables {
    n = "${run.one.o}e"
  }
  assert {
    condition     = terraform_data.x.input == "wrong"
    error_message = "no"
  }
}
run "three" {
  command = plan
  variables {
    n = var.nowhere
  }
}
run "four" {}
"#;

#[tokio::test]
async fn runs_pass_fail_and_end_the_file_without_leftovers() {
    let (results, leftovers, states) = run(MODULE, RUNS, CancelMoment::Never).await;
    let found_statuses = statuses(&results);
    assert_eq!(
        found_statuses,
        [TestStatus::Pass, TestStatus::Fail, TestStatus::Error, TestStatus::Skip]
    );
    assert_eq!(results[0].status, TestStatus::Error);
    assert!(leftovers.is_empty() && !states);
}

#[tokio::test]
async fn no_run_starts_after_the_tests_are_cancelled() {
    let (results, leftovers, states) = run(MODULE, RUNS, CancelMoment::BeforeAll).await;
    assert_eq!(statuses(&results), [TestStatus::Skip; 4]);
    assert!(leftovers.is_empty() && !states);
}

#[tokio::test]
async fn a_run_that_is_cancelled_while_it_plans_changes_nothing() {
    let (results, leftovers, states) = run(MODULE, RUNS, CancelMoment::WithFirstRun).await;
    let skipped = [TestStatus::Skip; 3];
    assert_eq!(statuses(&results), [&[TestStatus::Error][..], &skipped].concat());
    let problems = &results[0].runs[0].diags;
    assert!(problems.iter().any(|problem| problem.summary == "execution halted"), "{problems:?}");
    assert!(leftovers.is_empty() && !states);
}

#[tokio::test]
async fn the_state_of_objects_that_cannot_be_destroyed_is_kept() {
    let module = MODULE.replace("prevent_destroy = false", "prevent_destroy = true");
    let (results, leftovers, states) = run(&module, "run \"a\" {}\n", CancelMoment::Never).await;
    assert_eq!(statuses(&results), [TestStatus::Pass]);
    assert_eq!(results[0].status, TestStatus::Error);
    assert_eq!(leftovers, ["terraform_data.x"]);
    assert!(states);
}

#[tokio::test]
async fn no_state_is_stored_through_a_link_in_a_checkout() {
    let (directory, victim) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::os::unix::fs::symlink(victim.path(), directory.path().join("states")).unwrap();
    let (results, leftovers) =
        run_in_dir(directory.path(), MODULE, "run \"a\" {}\n", CancelMoment::Never).await;
    assert_eq!(statuses(&results), [TestStatus::Error]);
    let reported = format!("{:?}", results[0].runs[0].diags);
    assert!(reported.contains("states is a symbolic link to"), "{reported}");
    assert!(leftovers.is_empty() && directory.path().join("states").is_symlink());
    assert_eq!(victim.path().read_dir().unwrap().count(), 0);
}
