//! The journals of runs as objects beside a state: `STATE.journal/RUN/PART`, each written once. The calls of a
//! service are in the file of its backend.

use std::collections::BTreeMap;
use std::time::Duration;

use formwork_core::state::intent_log::StateAccess;

use super::{AppendOutcome, JournalStore, SharedRun};
use crate::cause::Cause;

/// A service that keeps objects by name beside a state, and makes one only if there is none of its name.
#[async_trait::async_trait]
pub(crate) trait ObjectStore: Send + Sync {
    /// The location of the objects whose names begin with a prefix, as messages have it. Holds no secrets.
    fn location(&self, prefix: &str) -> String;

    /// Lists the objects whose names begin with a prefix. The inner error is the reason why that is not
    /// permitted, without a final period.
    async fn list_objects(&self, prefix: &str) -> Result<Result<Vec<ListedObject>, String>, Cause>;

    /// Reads an object; `None` if there is none.
    async fn read_object(&self, name: &str) -> Result<Option<Vec<u8>>, Cause>;

    /// Makes an object in one step, unless there is one.
    async fn create_object(&self, name: &str, content: &[u8]) -> Result<CreateOutcome, Cause>;

    /// Removes an object, if there is one.
    async fn remove_object(&self, name: &str) -> Result<(), Cause>;

    /// Whether the service has answered that it keeps no such objects at all.
    fn is_known_to_keep_none(&self) -> bool {
        false
    }

    /// Whether runs exclude each other by a lock. Where they do not, only the ages of objects show that a run
    /// goes on.
    fn has_lock(&self) -> bool {
        true
    }

    /// Whether the lock can be seen without taking it. Where it cannot, the ages of objects show to readers that
    /// a run goes on.
    fn shows_lock(&self) -> bool {
        true
    }

    /// Whether a process holds the lock of the state, if that can be seen.
    async fn is_locked(&self) -> Result<bool, Cause>;
}

/// An object as a listing names it.
#[derive(Debug)]
pub(crate) struct ListedObject {
    pub(crate) name: String,
    /// Time since it was written, by the clock of the service, if that names both times. Of use only where no lock
    /// is seen.
    pub(crate) age: Option<Duration>,
}

/// The outcome of making an object.
#[derive(Debug)]
pub(crate) enum CreateOutcome {
    /// It is stored durably.
    Created,
    /// There is one of that name.
    Exists,
    /// Other requests for the object were under way at each attempt, so whether there is one is not known.
    #[cfg_attr(
        not(feature = "s3"),
        expect(dead_code, reason = "others repeat the request until it fails")
    )]
    Conflict(Cause),
    /// The service cannot do it, or the credentials do not permit it.
    Refused(Cause),
}

/// The journals of the runs that work with a state.
pub(crate) struct ObjectJournals<S> {
    store: S,
    /// The beginning of the names of all parts.
    prefix: String,
}

/// The parts of a run in the store.
#[derive(Default)]
struct ListedParts {
    numbers: Vec<u64>,
    /// Time since the latest one was written, if the service says so.
    age: Option<Duration>,
}

impl<S: ObjectStore> ObjectJournals<S> {
    /// The journals beside the state of a name.
    pub(crate) fn new(store: S, state: &str) -> Self {
        Self { store, prefix: format!("{state}.journal/") }
    }

    fn part_name(&self, run: &str, number: u64) -> String {
        // With leading zeros a listing shows the parts in their order.
        format!("{}{run}/{number:012}", self.prefix)
    }

    /// The parts of each run; nothing if listing is not permitted.
    async fn list_parts(&self) -> Result<BTreeMap<String, ListedParts>, Cause> {
        let objects = self.store.list_objects(&self.prefix).await?.unwrap_or_default();
        let mut runs: BTreeMap<String, ListedParts> = BTreeMap::new();
        for ListedObject { name, age } in objects {
            let part = name.strip_prefix(&self.prefix).and_then(|rest| rest.split_once('/'));
            let Some((run, Ok(number))) = part.map(|(run, number)| (run, number.parse())) else {
                continue;
            };
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

    fn needs_signs_of_life(&self) -> bool {
        !self.store.has_lock() || !self.store.shows_lock()
    }

    async fn begin_run(&self, run: &str) -> Result<Option<String>, Cause> {
        // Only to learn whether it is permitted, before the run relies on this journal.
        Ok(self.store.list_objects(&self.part_name(run, 0)).await?.err())
    }

    async fn read_runs(&self, access: StateAccess) -> Result<Vec<SharedRun>, Cause> {
        let listed = self.list_parts().await?;
        if listed.is_empty() {
            return Ok(Vec::new());
        }
        // A run holds the lock of the state; of a reader it is not known whether that run goes on.
        let is_reader = access == StateAccess::ReadOnly;
        let is_live = is_reader && self.store.shows_lock() && self.store.is_locked().await?;
        // To the holder of the lock, it shows that no other run goes on.
        let shows_age = !self.store.has_lock() || (is_reader && !self.store.shows_lock());
        let mut runs = Vec::new();
        for (id, ListedParts { numbers, age }) in listed {
            let mut parts = Vec::new();
            // A run that goes on is left alone, so its parts are not fetched.
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
            // An attempt whose answer was lost may have stored it.
            CreateOutcome::Exists => match self.store.read_object(&name).await? {
                Some(stored) if stored == bytes => Ok(AppendOutcome::Stored),
                _ => Ok(AppendOutcome::Occupied),
            },
            // Nothing was changed before the first part, so the run can still do with a journal of
            // this machine.
            CreateOutcome::Refused(cause) if number == 0 => {
                Ok(AppendOutcome::CannotStore(cause.to_string()))
            }
            // After a conflict the writer tries again: it does not say that the run was taken over.
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
