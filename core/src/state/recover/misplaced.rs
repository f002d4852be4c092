//! Finds journals that match a state, but belong to another location by their directory name: the state was
//! moved or copied after the run was interrupted, or its remote location has another address now.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{JournalContent, read_interrupted_journals, recover_journals};
use crate::addr::InstanceAddr;
use crate::state::file::StateFile;
use crate::state::journal::RecordSeal;
use crate::state::journal::record::{self, JournalLog};

/// The length of the hash of a remote location in the name of its journal directory.
const REMOTE_DIR_NAME_LEN: usize = 16;

/// Journals that match a state, in the directory of another location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MisplacedJournals {
    /// The directory of the journals.
    pub directory: PathBuf,
    /// The journal directory of the state.
    pub own_dir: PathBuf,
    /// The location that they belong to by the name of the directory.
    pub place: JournaledPlace,
    /// Whether a journal has the lineage of the state. The lineage of the others is lost.
    pub is_of_lineage: bool,
    /// The number of results that the state lacks.
    pub n_results: usize,
    /// The addresses of operations that only the user can decide.
    pub open: Vec<InstanceAddr>,
}

/// A location of a state, derived from the name of its journal directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JournaledPlace {
    /// A state file.
    File {
        /// The path of the state file.
        path: PathBuf,
        /// Whether it exists.
        exists: bool,
    },
    /// A remote location, of which the directory name contains only a hash.
    Remote,
}

/// A search for journals that match a state, but belong to another location.
pub(in crate::state) struct MisplacedSearch<'a> {
    /// The journal directory of the state.
    pub(in crate::state) own_dir: &'a Path,
    /// Opens the values of the journals.
    pub(in crate::state) seal: Option<&'a Arc<dyn RecordSeal>>,
    /// The state.
    pub(in crate::state) state: &'a StateFile,
    /// The ids of runs whose journals are found elsewhere.
    pub(in crate::state) known_runs: &'a BTreeSet<String>,
}

impl MisplacedSearch<'_> {
    /// Finds the journals beside the journal directory of the state with results or operations which the state
    /// lacks. A journal matches the state if it has its lineage. A journal without a lineage matches it if the
    /// state file of that journal does not exist any more.
    ///
    /// A remote state is not a file that could have been renamed, so for it only the directories of other
    /// remote locations are read.
    pub(in crate::state) fn find(&self) -> Vec<MisplacedJournals> {
        let Some(parent) = self.own_dir.parent() else { return Vec::new() };
        // The path of a file without a directory has an empty parent, which cannot be read.
        let listed = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
        let entries = listed.read_dir().into_iter().flatten().flatten();
        let mut names: Vec<String> =
            entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        let own_name = self.own_dir.file_name().and_then(|name| name.to_str());
        let own_dir = own_name.and_then(|name| JournalDir::from_name(parent, name));
        let is_remote = own_dir.is_some_and(|dir| dir.place == JournaledPlace::Remote);
        let directories = names.iter().filter_map(|name| JournalDir::from_name(parent, name));
        let others = directories.filter(|candidate| {
            candidate.directory != self.own_dir
                && (!is_remote || candidate.place == JournaledPlace::Remote)
        });
        others.filter_map(|candidate| candidate.find_lacking(self)).collect()
    }

    /// Whether a journal is found elsewhere.
    fn is_known(&self, journal: &JournalContent) -> bool {
        journal.journal.run_id().is_some_and(|run| self.known_runs.contains(&run))
    }
}

/// The journal directory of a state.
struct JournalDir {
    directory: PathBuf,
    place: JournaledPlace,
}

impl JournalDir {
    /// Parses the name of a journal directory; `None` if the name is of another directory.
    fn from_name(parent: &Path, name: &str) -> Option<Self> {
        let state = name.strip_prefix('.')?.strip_suffix(".journal")?;
        let directory = parent.join(name);
        // The journals of a remote state are in a directory named after a hash of the location.
        let is_hash = |text: &str| {
            text.len() == REMOTE_DIR_NAME_LEN && text.bytes().all(|byte| byte.is_ascii_hexdigit())
        };
        if state.strip_prefix("state-").is_some_and(is_hash) {
            return Some(Self { directory, place: JournaledPlace::Remote });
        }
        // A state file with a dot before its name has the same directory as one without.
        let (plain, hidden) = (parent.join(state), parent.join(format!(".{state}")));
        let path = if hidden.is_file() && !plain.is_file() { hidden } else { plain };
        let exists = path.is_file();
        Some(Self { directory, place: JournaledPlace::File { path, exists } })
    }

    /// The journals in this directory that match a state and contain results or operations that it lacks.
    fn find_lacking(self, search: &MisplacedSearch<'_>) -> Option<MisplacedJournals> {
        let MisplacedSearch { own_dir, seal, state, .. } = *search;
        // A directory that cannot be read may be of another user, and need not match this state.
        let journals = read_interrupted_journals(&self.directory).ok()?.into_iter();
        let journals = journals
            .filter(|journal| self.may_belong_to(journal, state) && !search.is_known(journal));
        let journals: Vec<JournalContent> =
            journals.map(|journal| JournalContent { seal: seal.cloned(), ..journal }).collect();
        if journals.is_empty() {
            return None;
        }
        let is_of_lineage = journals.iter().any(|journal| lineage_of_journal(journal).is_some());
        let Self { directory, place } = self;
        let mut misplaced = MisplacedJournals {
            directory,
            own_dir: own_dir.to_owned(),
            place,
            is_of_lineage,
            n_results: 0,
            open: Vec::new(),
        };
        // Records that cannot be read may be of objects that exist.
        let Ok(recovery) = recover_journals(journals, Some(state.clone())) else {
            return Some(misplaced);
        };
        misplaced.n_results = recovery.runs.iter().map(|run| run.n_replayed).sum();
        let open = recovery.unresolved.iter().filter(|operation| operation.needs_decision());
        misplaced.open = open.map(|operation| operation.addr.clone()).collect();
        let mut damages = recovery.runs.iter().filter_map(|run| run.damage.as_ref());
        let is_lacking = misplaced.n_results > 0
            || !misplaced.open.is_empty()
            || damages.any(|damage| damage.hides_creation);
        is_lacking.then_some(misplaced)
    }

    /// Whether a journal may belong to a state.
    fn may_belong_to(&self, journal: &JournalContent, state: &StateFile) -> bool {
        match lineage_of_journal(journal) {
            Some(lineage) => lineage == state.lineage,
            // A remote location may be that of any other state.
            None => matches!(self.place, JournaledPlace::File { exists: false, .. }),
        }
    }
}

/// The lineage of the state of a journal; `None` if it is lost.
fn lineage_of_journal(journal: &JournalContent) -> Option<String> {
    let log = record::scan_journal(&journal.bytes).ok();
    let begin = log.as_ref().and_then(JournalLog::run_begin);
    begin.map(|begin| begin.lineage.to_string()).filter(|lineage| !lineage.is_empty())
}
