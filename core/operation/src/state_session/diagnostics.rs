//! Diagnostics of a state session: operations that only the user can settle, and a state that could not
//! be stored.

use std::path::Path;

use formwork_backend::StoreError;
use formwork_backend::encryption::StateCipher;
use formwork_core::config::Config;
use formwork_core::state::State;
use formwork_core::state::file::StateFile;
use formwork_core::state::journal::JournalError;
use formwork_core::state::recover::{Recovery, UnresolvedOperation, recover_journals};
use formwork_value::diag::Blame;
use formwork_value::quote::shell_quoted;
use formwork_value::{Diagnostic, Diagnostics, Reported};

use crate::errored_state_report;
use crate::messages;

/// Reports an operation of unknown outcome, with the commands that settle it.
pub(super) fn decision_needed_error(
    operation: &UnresolvedOperation,
    state: &State,
    consequence: &str,
) -> Diagnostic {
    let remedy = remedy_if_other_object_at_addr(operation, state).unwrap_or_else(|| {
        let commands = decision_commands(&shell_quoted(&operation.addr.to_string()));
        format!("To settle it, run one of these:\n{commands}")
    });
    let description = operation.describe_operation("the commands are below");
    let detail = format!("{description}\n\n{consequence}. {remedy}");
    Diagnostic::error(messages::INTERRUPTED_OPERATION_NEEDS_DECISION, detail)
        .blamed_on(Blame::Environment)
        .about(operation.addr.to_string())
}

/// The commands by which a user settles the open operation at an address.
#[must_use]
pub fn decision_commands(addr: &str) -> String {
    let rows = [
        (format!("adopt {addr} ID"), "the object exists: add it to the state"),
        (format!("forget {addr}"), "it does not exist, or should not be managed any more"),
        (format!("retry {addr}"), "the operation had no effect: repeat it with the next apply"),
    ];
    let width = rows.iter().map(|(command, _)| command.chars().count()).max().unwrap_or_default();
    let rows =
        rows.map(|(command, effect)| format!("  formwork recover {command:width$}    {effect}"));
    rows.join("\n")
}

/// The commands for an operation whose address now has another object: `adopt` and `retry` do not
/// apply. Returns `None` if the address is free.
#[must_use]
pub fn remedy_if_other_object_at_addr(
    operation: &UnresolvedOperation,
    state: &State,
) -> Option<String> {
    let other_id = operation.other_object_in_place(state)?;
    // Both objects have the same resource type, so they have the same sensitive attributes.
    let other_id = other_id.shown_id().filter(|_| !operation.has_sensitive_id());
    let other_id = other_id.map(|id| format!(", with the id {id:?}")).unwrap_or_default();
    let id = operation.shown_object_id().unwrap_or_else(|| "ID".to_owned());
    Some(format!(
        "The state now has another object at {}{other_id}, and keeps it. To also keep the object of the interrupted run, write a `resource` block with a different name for it, and run both of these commands. If it does not exist any more, run only the first one:\n  formwork recover forget {}\n  formwork import {}.NAME {}",
        operation.addr,
        shell_quoted(&operation.addr.to_string()),
        operation.addr.resource.resource_type(),
        shell_quoted(&id)
    ))
}

/// Points at the block of the instance, if it is in the configuration.
pub(super) fn point_at_instance_block(
    diagnostic: Diagnostic,
    config: &Config,
    operation: &UnresolvedOperation,
) -> Diagnostic {
    let block = config.find_resource(&operation.current_addr().resource_addr().config_addr());
    diagnostic.at_opt(block.map(|block| block.span))
}

/// Whether the results of a run are in the journal, besides the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResultsInJournal {
    /// The journal has the results.
    Yes,
    /// No journal has the results.
    No,
}

/// A copy of a state that could not be stored.
pub(super) struct ErroredStateCopy<'a> {
    pub(super) path: &'a Path,
    /// The former copy by an earlier run, if there was one.
    pub(super) former: Option<&'a Path>,
    pub(super) in_journal: ResultsInJournal,
}

/// Describes the use of the copy of a state that could not be stored.
pub(super) fn state_saved_aside_warning(
    error: &StoreError,
    copy: &ErroredStateCopy<'_>,
) -> Diagnostic {
    let has_state_changed = matches!(
        error,
        StoreError::Changed { .. } | StoreError::OtherLineage { .. } | StoreError::Replaced { .. }
    );
    let path = copy.path.display();
    let remedy = match (has_state_changed, copy.in_journal) {
        (true, ResultsInJournal::Yes) => {
            "Do not replace the stored state with it. The stored state has changed since then, and its new objects would be lost. The journal has the results of this run. The next command takes them over, except where the state has another object at the same address. `formwork recover list` shows how to keep these."
        }
        (true, ResultsInJournal::No) => {
            "Do not replace the stored state with it. The stored state has changed since then, and its new objects would be lost. Run this command again. It changes only the state, and keeps no journal."
        }
        (false, ResultsInJournal::No) => {
            "Run this command again when the state can be written. It changes only the state, and keeps no journal. Or run `formwork state push errored.tfstate`."
        }
        (false, ResultsInJournal::Yes) => {
            "It is an emergency copy. The journal has the results of this run, and the next command takes them over. Only if the journal is lost, run `formwork state push errored.tfstate`."
        }
    };
    let former_copy = copy.former.map(|former_copy| {
        format!(
            " The previous errored.tfstate has other objects and was renamed to {}.",
            former_copy.display()
        )
    });
    let former_copy = former_copy.unwrap_or_default();
    let detail = format!("The state of this run was written to {path}. {remedy}{former_copy}");
    Diagnostic::warning(messages::STATE_SAVED_ASIDE, detail)
}

/// Checks that the state has no other object at the address of an operation.
///
/// # Errors
/// Returns an error if it has one.
pub(crate) fn refuse_if_other_object_at_addr(
    diags: &mut Diagnostics,
    state: &State,
    operation: &UnresolvedOperation,
) -> Result<(), Reported> {
    let Some(remedy) = remedy_if_other_object_at_addr(operation, state) else { return Ok(()) };
    Err(diags.error(Diagnostic::error(messages::ANOTHER_OBJECT_IS_MANAGED_HERE, remedy)))
}

/// Reports that the state cannot be used, and a file that may contain it.
pub(super) fn report_unusable_state(
    diags: &mut Diagnostics,
    directory: &Path,
    cipher: &StateCipher,
    error: Diagnostic,
) -> Reported {
    errored_state_report::hint_for_unusable_state(directory, cipher)
        .into_iter()
        .for_each(|hint| diags.warn(hint));
    diags.error(error)
}

/// Continues with the stored state if the journals in a shared store cannot be read, for example for lack
/// of permissions: a plan is useful without them, and changes nothing.
///
/// # Errors
/// Returns an error if the journals on this machine cannot be read.
pub(super) fn continue_without_shared_journals(
    diags: &mut Diagnostics,
    error: &JournalError,
    stored: Option<StateFile>,
) -> Result<Recovery, Box<Diagnostic>> {
    if !matches!(error, JournalError::Copy(_)) {
        return Err(Box::new(error.diagnostic()));
    }
    diags.warn(error.to_warning());
    recover_journals(Vec::new(), stored).map_err(|error| Box::new(error.diagnostic()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journal_is_mentioned_only_if_the_run_has_one() {
        let changed = StoreError::Changed { stored: 2, read: 1 };
        let unencrypted =
            StoreError::NotEncryptable { location: "s".to_owned(), reason: String::new() };
        for error in [changed, unencrypted] {
            for (in_journal, expected) in [
                (ResultsInJournal::Yes, "journal has the results of this run"),
                (ResultsInJournal::No, "keeps no journal"),
            ] {
                let copy = ErroredStateCopy {
                    path: Path::new("errored.tfstate"),
                    former: None,
                    in_journal,
                };
                let detail = state_saved_aside_warning(&error, &copy).detail;
                assert!(detail.contains(expected), "{detail}");
                let is_taken_into_state = detail.contains("takes them over");
                assert_eq!(is_taken_into_state, in_journal == ResultsInJournal::Yes, "{detail}");
            }
        }
    }
}
