//! Journals that belong to the state of a session, but are in the directory of another location: the state
//! was moved or copied after an interrupted run, or its remote address has changed. Otherwise the objects of
//! that run would be created a second time.

use std::path::Path;

use formwork_core::state::recover::{JournaledPlace, MisplacedJournals};
use formwork_value::diag::Blame;
use formwork_value::quote::shell_word;
use formwork_value::{Diagnostic, Diagnostics, Reported};

use super::StateSession;
use crate::messages;

/// Maximum number of listed addresses of open operations.
const MAX_LISTED_OPERATIONS: usize = 20;

impl StateSession {
    /// Stops a command that changes only the state while an interrupted run on a state with another name or address
    /// has results or open operations of this state. A state that has a journal of its own, too, is only warned
    /// about: otherwise two states that both have a journal would keep each other from being recovered.
    ///
    /// # Errors
    /// Returns an error if such a run exists, and this state has no journal of its own.
    pub fn refuse_if_journals_are_misplaced(
        &self,
        diags: &mut Diagnostics,
    ) -> Result<(), Reported> {
        self.check_misplaced_journals(diags, self.recovery.is_none())
    }

    /// Stops a command that may create objects while such a run exists, also if this state has a journal of its own.
    ///
    /// # Errors
    /// Returns an error if such a run exists.
    pub(crate) fn refuse_creation_if_journals_are_misplaced(
        &self,
        diags: &mut Diagnostics,
    ) -> Result<(), Reported> {
        self.check_misplaced_journals(diags, true)
    }

    fn check_misplaced_journals(
        &self,
        diags: &mut Diagnostics,
        is_refused: bool,
    ) -> Result<(), Reported> {
        for journals in self.misplaced_journals() {
            // A journal of an unknown state must not prevent changes to all states in the directory.
            if !is_refused || !journals.is_of_lineage {
                self.add_misplaced_journals_warning(diags, &journals);
                continue;
            }
            let detail =
                format!("{} Nothing was changed.", self.describe_misplaced_journals(&journals));
            let problem = Diagnostic::error(messages::JOURNAL_IS_UNDER_ANOTHER_NAME, detail);
            let _ = diags.error(problem.blamed_on(Blame::Environment));
        }
        diags.fail_if_errors()
    }

    /// Warns about such a run.
    pub fn warn_of_misplaced_journals(&self, diags: &mut Diagnostics) {
        for journals in self.misplaced_journals() {
            self.add_misplaced_journals_warning(diags, &journals);
        }
    }

    /// Warns about the journals in one directory.
    fn add_misplaced_journals_warning(
        &self,
        diags: &mut Diagnostics,
        journals: &MisplacedJournals,
    ) {
        let detail = self.describe_misplaced_journals(journals);
        let warning = Diagnostic::warning(messages::JOURNAL_IS_UNDER_ANOTHER_NAME, detail);
        diags.warn(warning.blamed_on(Blame::Environment));
    }

    fn misplaced_journals(&self) -> Vec<MisplacedJournals> {
        match self.found {
            true => self.intents.misplaced_journals(&self.file),
            false => Vec::new(),
        }
    }

    fn describe_misplaced_journals(&self, journals: &MisplacedJournals) -> String {
        let own_path = match self.store.file_read_instead() {
            Some(path) => display_without_dot_slash(path),
            None => display_without_dot_slash(Path::new(&self.store.location())),
        };
        let directory = display_without_dot_slash(&journals.directory);
        let (run, remedy) = match &journals.place {
            JournaledPlace::File { path, exists } => {
                let other_path = display_without_dot_slash(path);
                (
                    format!("on the state file {other_path}"),
                    remedy_for_file(&own_path, &other_path, *exists),
                )
            }
            JournaledPlace::Remote => (
                "that accessed its state with another backend configuration".to_owned(),
                remedy_for_remote_place(journals),
            ),
        };
        let relation = match journals.is_of_lineage {
            true => "it belongs to",
            false => "its beginning cannot be read, so it may belong to",
        };
        let own = match &self.recovery {
            Some(_) => format!(
                " The state also has a journal of its own, in {}. `formwork apply -refresh-only` for this state takes over the results of that one, and changes no object.",
                display_without_dot_slash(&journals.own_dir)
            ),
            None => String::new(),
        };
        format!(
            "{directory} has the journal of an interrupted run {run}, and {relation} the state in {own_path}. {} Objects that the run created would be created a second time.{own}\n\n{remedy}\n\nMove the directory of the journal away only if {own_path} already has all objects of that run, or if they do not exist any more.",
            describe_results_and_operations(journals)
        )
    }
}

/// The remedy if the journal belongs to a state file.
fn remedy_for_file(own_path: &str, other_path: &str, exists: bool) -> String {
    let option = shell_word(&format!("-state={other_path}"));
    if exists {
        format!(
            "{other_path} exists too. Run this command for it, with {option}, to take over the journal. To settle open operations, run:\n  formwork recover list {option}"
        )
    } else {
        format!(
            "{other_path} does not exist any more. If {own_path} is that file, rename it back to {other_path}, and run this command for that file, with {option} unless it is the default state file. To settle open operations after that, run:\n  formwork recover list {option}"
        )
    }
}

/// The remedy if the journal belongs to a remote state, whose address is not known any more.
fn remedy_for_remote_place(journals: &MisplacedJournals) -> String {
    let journal_dir = display_without_dot_slash(&journals.directory);
    let own_dir = display_without_dot_slash(&journals.own_dir);
    format!(
        "If this is the same state, now accessed with another address or login, move the files in {journal_dir} to the directory {own_dir}, and run this command again to take over the journal. To settle open operations after that, run:\n  formwork recover list\n\nIf this state is a copy of the state of another workspace or backend, and that run used the original, run this command there first."
    )
}

/// Describes the objects that the state lacks.
fn describe_results_and_operations(journals: &MisplacedJournals) -> String {
    let results = match journals.n_results {
        0 => None,
        1 => Some("1 result".to_owned()),
        count => Some(format!("{count} results")),
    };
    let listed = journals.open.iter().take(MAX_LISTED_OPERATIONS).map(ToString::to_string);
    let mut listed: Vec<String> = listed.collect();
    if journals.open.len() > listed.len() {
        listed.push(format!("{} more", journals.open.len() - listed.len()));
    }
    let open = (!listed.is_empty())
        .then(|| format!("operations of unknown outcome: {}", listed.join(", ")));
    match (results, open) {
        (Some(results), Some(open)) => {
            format!("It has {results} that this state lacks, and {open}.")
        }
        (Some(results), None) => format!("It has {results} that this state lacks."),
        (None, Some(open)) => format!("It has {open}."),
        (None, None) => "Part of it cannot be read.".to_owned(),
    }
}

/// A path without a leading `./`, for use as the value of an option.
fn display_without_dot_slash(path: &Path) -> String {
    path.strip_prefix(".").unwrap_or(path).display().to_string()
}
