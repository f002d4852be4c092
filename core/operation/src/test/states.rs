//! The states of the runs of a test file. Each is a file with a journal like any other state, so that
//! nothing is lost when the program ends early or an object cannot be destroyed.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::rc::Rc;

use formwork_backend::OpenState;
use formwork_backend::encryption::StateCipher;
use formwork_backend::local::StateFilePaths;
use formwork_core::addr::ResourceMode;
use formwork_core::config::Config;
use formwork_core::config::inputs::ResolvedVariable;
use formwork_core::config::parsed_test_file::{TestFile, TestRun};
use formwork_core::disk::{Dir, Durability};
use formwork_core::provider::Mocks;
use formwork_core::state::State;
use formwork_value::diag::Blame;
use formwork_value::{Diagnostic, Diagnostics, Reported, Str};

use super::{AllTestStatesDirectory, TestInputs};
use crate::messages;
use crate::state_session::{SessionOptions, StateSession};

/// The name of a state file within its directory.
const STATE_FILE_NAME: &str = "terraform.tfstate";

/// The configuration of a run, with its variable values.
pub(super) struct RunConfig {
    /// The configuration, with the provider configurations of the test file.
    pub(super) config: Config,
    /// The variable values.
    pub(super) variables: BTreeMap<Str, ResolvedVariable>,
    /// The mocks and overrides.
    pub(super) mocks: Mocks,
}

/// A state that runs share.
pub(super) struct TestState {
    /// The open state.
    pub(super) session: StateSession,
    /// The directory of the state.
    directory: SingleTestStateDir,
    /// The position of the last run that applied changes to it, with its configuration.
    pub(super) last: Option<(usize, Rc<RunConfig>)>,
}

/// The directory of a state, created by this process.
struct SingleTestStateDir {
    dir: Dir,
    /// The parent directory, which is needed to remove this one.
    states: Dir,
}

/// The states of a test file, by key.
pub(super) struct TestStates<'a> {
    /// The directory for the states of all test files.
    directory: AllTestStatesDirectory<'a>,
    /// The parent directory of the states, once a state was created.
    parent: Option<Dir>,
    /// The name of the test file.
    name: String,
    cipher: StateCipher,
    pub(super) open: BTreeMap<String, TestState>,
}

/// Whether a state has objects to destroy. Data sources are only read.
pub(super) fn has_objects_to_destroy(state: &State) -> bool {
    let managed =
        state.resources.iter().filter(|(addr, _)| addr.resource.mode() == ResourceMode::Managed);
    let mut instances = managed.flat_map(|(_, resource)| resource.instances.values());
    instances.any(|instance| instance.current.is_some() || !instance.deposed.is_empty())
}

impl TestState {
    /// The path of the state file.
    pub(super) fn state_file_path(&self) -> PathBuf {
        self.directory.dir.path().join(STATE_FILE_NAME)
    }
}

impl<'a> TestStates<'a> {
    pub(super) fn new(tests: TestInputs<'a>, test_file: &TestFile) -> Self {
        Self {
            directory: tests.states,
            parent: None,
            name: test_file.name.clone(),
            cipher: tests.cipher.clone(),
            open: BTreeMap::new(),
        }
    }

    /// Returns the state of a run, which is opened if no earlier run has opened it.
    pub(super) async fn state_of_run(
        &mut self,
        diags: &mut Diagnostics,
        run: &TestRun,
    ) -> Result<&mut TestState, Reported> {
        let key = run.state_key();
        if !self.open.contains_key(&key) {
            let state = self.open_new_state(diags).await?;
            self.open.insert(key.clone(), state);
        }
        Ok(self.open.get_mut(&key).expect("it was opened above"))
    }

    async fn open_new_state(&mut self, diags: &mut Diagnostics) -> Result<TestState, Reported> {
        let directory = self.create_state_dir().map_err(|error| {
            let detail = format!(
                "{} cannot be created: {error}. It holds the states of test runs until their objects are destroyed.",
                self.directory.path.display()
            );
            let problem = Diagnostic::error(messages::TEST_STATE_CANNOT_BE_KEPT, detail);
            diags.error(problem.blamed_on(Blame::Environment))
        })?;
        // A state whose objects are destroyed within minutes needs no backup. Syncing to the disk would
        // take most of the time of a test.
        let files = StateFilePaths {
            backup: None,
            durability: Durability::ProcessEnd,
            ..StateFilePaths::from_state_path(directory.dir.path().join(STATE_FILE_NAME))
        };
        let options = SessionOptions::new("test", directory.dir.path());
        // The state of a test has the same secrets as any other.
        let mut state = OpenState::from(files);
        state.set_cipher(self.cipher.clone());
        let session = StateSession::open(diags, state, &options).await?;
        Ok(TestState { session, directory, last: None })
    }

    /// Creates a separate directory for a state: another process may run the same tests, and an
    /// earlier one may have left objects.
    fn create_state_dir(&mut self) -> io::Result<SingleTestStateDir> {
        // Created late, so that tests that plan nothing leave no files.
        let parent = self.parent.insert((self.directory.open_parent)()?);
        // A checkout can contain a link to any directory of this machine.
        let states =
            parent.open_or_create_subdir(self.directory.path.file_name().unwrap_or_default())?;
        let dir = states.create_unique_subdir(&format!("{}-", self.name))?;
        Ok(SingleTestStateDir { dir, states })
    }

    /// Releases the states, and removes those without objects.
    pub(super) async fn close_and_remove_empty_states(&mut self, diags: &mut Diagnostics) {
        // Moved out, because releasing a lock consumes the session.
        for (_, state) in std::mem::take(&mut self.open) {
            // A state without objects is useless: no command could do anything with it.
            let is_empty = !has_objects_to_destroy(&state.session.file.state);
            let TestState { session, directory, .. } = state;
            session.unlock(diags).await;
            if is_empty && let Some(name) = directory.dir.path().file_name() {
                // It contains nothing of value any more.
                drop(directory.states.remove(name));
            }
        }
    }

    /// Removes the directory for states, if it is empty.
    pub(super) fn remove_states_directory_if_empty(&self) {
        let name = self.directory.path.file_name().unwrap_or_default();
        if let Some(parent) = &self.parent {
            drop(parent.remove_empty_subdir(name));
        }
    }
}
