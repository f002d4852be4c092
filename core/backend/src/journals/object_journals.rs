//! Stores the journals of runs as objects next to a state: `STATE.journal/RUN/PART`, each written once. Each
//! backend's file implements the calls of its service.

use std::collections::BTreeMap;
use std::time::Duration;

use formwork_core::state::intent_log::StateAccess;

use super::{AppendOutcome, JournalStore, SharedRun};
use crate::cause::Cause;

/// A service that stores objects by name next to a state, and can create an object only if it does not
/// exist.
#[async_trait::async_trait]
pub(crate) trait ObjectStore: Send + Sync {
    /// The location of the objects with a prefix, for messages. Contains no secrets.
    fn location(&self, prefix: &str) -> String;

    /// Lists the objects with a prefix. The inner error is the reason why this is not permitted,
    /// without a final period.
    async fn list_objects(&self, prefix: &str) -> Result<Result<Vec<ListedObject>, String>, Cause>;

    /// Reads an object. Returns `None` if it does not exist.
    async fn read_object(&self, name: &str) -> Result<Option<Vec<u8>>, Cause>;

    /// Creates an object atomically, unless it exists.
    async fn create_object(&self, name: &str, content: &[u8]) -> Result<CreateOutcome, Cause>;

    /// Deletes an object, if it exists.
    async fn remove_object(&self, name: &str) -> Result<(), Cause>;

    /// Whether the service has reported that it cannot store such objects.
    fn is_known_to_keep_none(&self) -> bool {
        false
    }

    /// The reason why runs of this configuration keep no journals in the service, although it may have those of
    /// others.
    fn reason_against_new_journals(&self) -> Option<String> {
        None
    }

    /// Whether a lock makes runs exclude each other. Without one, only the ages of objects show that a run is
    /// active.
    fn has_lock(&self) -> bool {
        true
    }

    /// Whether the lock can be observed without acquiring it. If not, the ages of objects show readers that a
    /// run is active.
    fn shows_lock(&self) -> bool {
        true
    }

    /// Whether a process holds the lock of the state, if that can be observed.
    async fn is_locked(&self) -> Result<bool, Cause>;
}

/// An object in a listing.
#[derive(Debug)]
pub(crate) struct ListedObject {
    pub(crate) name: String,
    /// Time since it was written, by the clock of the service, if the service reports both times. Used only if
    /// the lock cannot be observed.
    pub(crate) age: Option<Duration>,
}

/// The result of creating an object.
#[derive(Debug)]
pub(crate) enum CreateOutcome {
    /// The object is stored durably.
    Created,
    /// An object with that name exists.
    Exists,
    /// Other requests for the object were in progress at each attempt, so it is not known whether it
    /// exists.
    #[cfg_attr(
        not(feature = "s3"),
        expect(dead_code, reason = "other services repeat the request until it fails")
    )]
    Conflict(Cause),
    /// The service does not support it, or the credentials do not permit it.
    Refused(Cause),
}

/// The journals of the runs that use a state.
pub(crate) struct ObjectJournals<S> {
    store: S,
    /// The prefix of the names of all parts.
    prefix: String,
}

/// The parts of a run in the store.
#[derive(Default)]
struct ListedParts {
    numbers: Vec<u64>,
    /// Time since the latest one was written, if the service reports it.
    age: Option<Duration>,
}

impl<S: ObjectStore> ObjectJournals<S> {
    /// Creates the journals for the state with this name.
    pub(crate) fn new(store: S, state: &str) -> Self {
        Self { store, prefix: format!("{state}.journal/") }
    }

    fn part_name(&self, run: &str, number: u64) -> String {
        // Leading zeros make listings return the parts in order.
        format!("{}{run}/{number:012}", self.prefix)
    }

    /// Returns the parts of each run, or none if listing is not permitted.
    async fn list_parts(&self) -> Result<BTreeMap<String, ListedParts>, Cause> {
        let objects = self.store.list_objects(&self.prefix).await?.unwrap_or_default();
        let mut runs: BTreeMap<String, ListedParts> = BTreeMap::new();
        for ListedObject { name, age } in objects {
            let part = name.strip_prefix(&self.prefix).and_then(|rest| rest.split_once('/'));
            let Some((run, Ok(number))) = part.map(|(run, number)| (run, number.parse())) else {
                continue;
            };
            // Runs name files on this machine, and the list is of another one.
            let is_run = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
            if !run.chars().all(is_run) {
                continue;
            }
            let parts = runs.entry(run.to_owned()).or_default();
            parts.numbers.push(number);
            parts.age = parts.age.into_iter().chain(age).min();
        }
        runs.values_mut().for_each(|parts| parts.numbers.sort_unstable());
        Ok(runs)
    }
}

#[async_trait::async_trait]
impl<S: ObjectStore> JournalStore for ObjectJournals<S> {
    fn store_location(&self) -> String {
        self.store.location(&self.prefix)
    }

    fn lacks_journals(&self) -> bool {
        self.store.is_known_to_keep_none()
    }

    fn needs_heartbeats(&self) -> bool {
        !self.store.has_lock() || !self.store.shows_lock()
    }

    async fn begin_run(&self, run: &str) -> Result<Option<String>, Cause> {
        if let Some(reason) = self.store.reason_against_new_journals() {
            return Ok(Some(reason));
        }
        // Only to check whether it is permitted, before the run relies on this journal.
        Ok(self.store.list_objects(&self.part_name(run, 0)).await?.err())
    }

    async fn read_runs(&self, access: StateAccess) -> Result<Vec<SharedRun>, Cause> {
        let listed = self.list_parts().await?;
        if listed.is_empty() {
            return Ok(Vec::new());
        }
        // A run holds the lock of the state. A reader cannot determine whether that run is active.
        let is_reader = access == StateAccess::ReadOnly;
        let holds_no_lock = is_reader || self.store.reason_against_new_journals().is_some();
        let is_live = holds_no_lock && self.store.shows_lock() && self.store.is_locked().await?;
        // To the holder of the lock, it shows that no other run is active.
        let shows_age = !self.store.has_lock() || (is_reader && !self.store.shows_lock());
        let mut runs = Vec::new();
        for (id, ListedParts { numbers, age }) in listed {
            let mut parts = Vec::new();
            // An active run is not taken over, so its parts are not fetched.
            for number in numbers.iter().filter(|_| !is_live) {
                if let Some(bytes) = self.store.read_object(&self.part_name(&id, *number)).await? {
                    parts.push((*number, bytes));
                }
            }
            let silent_for = age.filter(|_| shows_age);
            runs.push(SharedRun { id, is_live, silent_for, parts });
        }
        Ok(runs)
    }

    async fn append_part(
        &self,
        run: &str,
        number: u64,
        bytes: &[u8],
    ) -> Result<AppendOutcome, Cause> {
        let name = self.part_name(run, number);
        match self.store.create_object(&name, bytes).await? {
            CreateOutcome::Created => Ok(AppendOutcome::Stored),
            // An attempt whose response was lost may have stored it.
            CreateOutcome::Exists => match self.store.read_object(&name).await? {
                Some(stored) if stored == bytes => Ok(AppendOutcome::Stored),
                _ => Ok(AppendOutcome::Occupied),
            },
            // No change was made before the first part, so the run can still use only a journal on
            // this machine.
            CreateOutcome::Refused(cause) if number == 0 => {
                Ok(AppendOutcome::CannotStore(cause.to_string()))
            }
            // After a conflict the writer tries again. A conflict does not mean that the run was
            // taken over.
            CreateOutcome::Conflict(cause) | CreateOutcome::Refused(cause) => Err(cause),
        }
    }

    async fn remove_parts_below(&self, run: &str, number: u64) -> Result<(), Cause> {
        let listed = self.list_parts().await?.remove(run).unwrap_or_default();
        for part in listed.numbers.into_iter().filter(|part| *part < number) {
            self.store.remove_object(&self.part_name(run, part)).await?;
        }
        Ok(())
    }
}
