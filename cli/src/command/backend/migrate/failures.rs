//! Messages about states that a migration does not copy.

use std::path::Path;

use formwork_backend::messages as state_messages;
use formwork_core::state::edit::PushRefusal;
use formwork_value::Diagnostic;
use formwork_value::quote::shell_quoted;

use super::compare::StateSummary;
use super::{MigratingState, MigrationBackends};
use crate::messages;

/// A workspace of the former backend, and its workspace in the new one.
#[derive(Clone, Copy)]
pub(super) struct WorkspacePair<'a> {
    pub(super) source: &'a str,
    pub(super) target: &'a str,
}

/// Describes the other end to the error about a state of the former backend.
pub(super) fn unreadable_source_error(
    problem: &Diagnostic,
    backends: &MigrationBackends,
    pair: WorkspacePair<'_>,
    target_state: Option<&StateSummary>,
) -> Diagnostic {
    let WorkspacePair { source, target } = pair;
    let (from, to) = (backends.from.kind(), backends.to.kind());
    let target_state = target_state.map_or_else(|| "nothing".to_owned(), StateSummary::describe);
    // With -reconfigure the former backend is discarded, so its states are not read. Local states in the directory
    // are still read.
    let escape = match from {
        "local" => "move the file away and run the command again",
        _ => "run \"formwork init -reconfigure\"",
    };
    let note = format!(
        "This is the state of the workspace {source:?} in the former backend {from:?}, which is to be migrated. The new backend {to:?} has in {target:?}: {target_state}. To continue with the new backend, {escape}."
    );
    with_note(problem.clone(), &note)
}

/// Describes the other end to the error about a state of the new backend.
pub(super) fn unreadable_target_error(
    problem: &Diagnostic,
    backends: &MigrationBackends,
    pair: WorkspacePair<'_>,
    source_state: &StateSummary,
) -> Diagnostic {
    let WorkspacePair { source, target } = pair;
    let (from, to, source_state) =
        (backends.from.kind(), backends.to.kind(), source_state.describe());
    let note = format!(
        "This is the state of the workspace {target:?} in the new backend {to:?}. The former backend {from:?} has in {source:?}: {source_state}. A migration never replaces what cannot be read. To migrate that state, move the other one away and run the command again."
    );
    with_note(problem.clone(), &note)
}

/// Adds to the error about one of several workspaces that are copied one after the other.
pub(super) fn half_way_error(problem: Diagnostic, source: &str, copied: &[String]) -> Diagnostic {
    if !problem.is_error() {
        return problem;
    }
    let copied: Vec<String> = copied.iter().map(|name| format!("{name:?}")).collect();
    let before = match copied.as_slice() {
        [] => "No state was copied before".to_owned(),
        names => format!("The states of {} are already in the new backend", names.join(", ")),
    };
    let next = match may_pass_by_itself(&problem) {
        true => "Run the command again to migrate the rest.",
        false => {
            "If the reason above does not pass by itself, such as a missing permission or something that a backend does not support, another attempt ends here again: correct it first. Then run the command again to migrate the rest."
        }
    };
    let note = format!(
        "This happened to the workspace {source:?}. {before}, and the former backend is still in force. {next}"
    );
    with_note(problem, &note)
}

/// Whether another attempt is enough, because the reason is another run that ends.
fn may_pass_by_itself(problem: &Diagnostic) -> bool {
    let of_other_runs = [
        state_messages::STATE_IS_LOCKED,
        state_messages::STATE_WAS_CHANGED_BY_ANOTHER_PROGRAM,
        state_messages::STATE_FILE_WAS_REPLACED,
    ];
    of_other_runs.iter().any(|message| problem.code == Some(message.code))
}

/// Refuses a migration of several workspaces, all of which have to stay.
pub(super) fn nothing_to_migrate_error() -> Diagnostic {
    let detail = "The new backend has another state in the place of each one that is to be migrated, and a migration never replaces another state. Nothing was changed. To use the states of the new backend, run init with -reconfigure, without -force-copy.";
    Diagnostic::error(messages::FAILED_TO_WRITE_STATE, detail)
}

pub(super) fn not_migrated_warning(name: &str) -> Diagnostic {
    let detail = format!(
        "The name of the workspace {name:?} is not allowed, so its state stays in the former backend."
    );
    Diagnostic::warning(messages::WORKSPACE_NOT_MIGRATED, detail)
}

pub(super) fn emptied_state_warning(name: &str, location: &str) -> Diagnostic {
    let backup = format!("{}.backup", location.strip_prefix("./").unwrap_or(location));
    let remedy = match Path::new(&backup).is_file() {
        true => format!(
            "If the state was lost, write its backup to the new backend with \"formwork state push {}\", before anything is applied.",
            shell_quoted(&backup)
        ),
        false => "If the state was lost, write a copy of it to the new backend with \"formwork state push FILE\", before anything is applied.".to_owned(),
    };
    let detail = format!(
        "The local state of the workspace {name:?} is an empty file, as Terraform leaves it after a migration, but the new backend has no state either. {remedy}"
    );
    Diagnostic::warning(messages::EMPTY_FILE_NOT_MIGRATED, detail)
}

/// Warns that a state is not migrated because the new backend has another one in its place.
pub(super) fn target_state_kept_warning(
    state: &MigratingState,
    backends: &MigrationBackends,
) -> Diagnostic {
    let MigratingState { source, target, target_state, .. } = state;
    let detail = format!(
        "The state of the workspace {source:?} stays in the former backend: the new {:?} backend has in {target:?} {}.",
        backends.to.kind(),
        target_state.describe()
    );
    Diagnostic::warning(messages::WORKSPACE_NOT_MIGRATED, detail)
}

pub(super) fn aborted_error() -> Diagnostic {
    let detail = "The former backend has several workspaces. Nothing was changed. Use -reconfigure to leave their states where they are. If it asks the same question, answer it with \"no\".";
    Diagnostic::error(messages::MIGRATION_ABORTED, detail)
}

/// Refuses to replace the state in the new backend by one that does not continue it.
pub(super) fn refused_copy_error(refusal: &PushRefusal) -> Diagnostic {
    let detail = format!(
        "{refusal}. The state in the new backend was not changed.\n\nA migration never replaces another state. To keep the one in the new backend, answer the question with \"no\". To replace it, go back to the former configuration and write the state to a file with \"formwork state pull\"; then set up the new backend, answer with \"no\", and run \"formwork state push -force FILE\"."
    );
    Diagnostic::error(messages::FAILED_TO_WRITE_STATE, detail)
}

fn with_note(mut problem: Diagnostic, note: &str) -> Diagnostic {
    problem.detail.push_str(&format!("\n\n{note}"));
    problem
}

#[cfg(test)]
mod tests {
    use formwork_value::diag::Message;

    use super::*;

    #[test]
    fn the_advice_about_a_migration_that_ended_half_way_begins_with_a_lasting_reason() {
        let advice = |message: &'static Message| {
            let problem = Diagnostic::error(message, "The reason.");
            half_way_error(problem, "b", &["a".to_owned()]).detail
        };
        for message in
            [state_messages::STATE_IS_LOCKED, state_messages::STATE_WAS_CHANGED_BY_ANOTHER_PROGRAM]
        {
            let detail = advice(message);
            assert!(detail.ends_with("in force. Run the command again to migrate the rest."));
        }
        for message in [
            state_messages::FAILED_TO_SAVE_STATE,
            state_messages::WORKSPACES_NOT_SUPPORTED,
            messages::FAILED_TO_WRITE_STATE,
        ] {
            let detail = advice(message);
            let (_, next) = detail.split_once("in force. ").unwrap();
            assert!(next.starts_with("If the reason above does not pass by itself"), "{detail}");
        }
    }
}
