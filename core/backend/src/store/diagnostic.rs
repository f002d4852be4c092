//! Messages about failures of stores: the summary, and the remedy.

use formwork_value::Diagnostic;
use formwork_value::diag::{Blame, Message, to_sentence};
use formwork_value::quote::shell_word;

use super::{LockEnd, StoreError, StoreOperation};
use crate::lock::LockInfo;
use crate::messages;
use crate::provider_store_error::ProviderStoreError;

impl StoreError {
    /// Describes the failure and its remedy.
    #[must_use]
    pub fn diagnostic(&self) -> Diagnostic {
        if let Self::Unusable { location, error, is_file, copy } = self {
            let mut diagnostic = match is_file {
                true => error.diagnostic(location),
                false => error.remote_state_diagnostic(location),
            };
            if let Some(copy) = copy {
                diagnostic.detail.push_str(&format!("\n\n{copy}"));
            }
            return diagnostic;
        }
        if let Self::Conflict(conflict) = self {
            return conflict.diagnostic();
        }
        let (summary, mut remedy) = self.summary_and_remedy();
        let mut blame = Blame::Environment;
        if let Some(error) = self.provider_error() {
            blame = error.blame();
            if let Some(causal_remedy) = error.remedy() {
                remedy = format!("{remedy}\n\n{causal_remedy}");
            }
        }
        Diagnostic::error(summary, format!("{}\n\n{remedy}", to_sentence(self))).blamed_on(blame)
    }

    /// The provider failure that caused the error, if there is one.
    fn provider_error(&self) -> Option<&ProviderStoreError> {
        match self {
            Self::Failed { cause, .. } => cause.downcast_ref(),
            _ => None,
        }
    }

    fn summary_and_remedy(&self) -> (&'static Message, String) {
        match self {
            Self::Unusable { .. } | Self::Conflict(_) => (messages::FAILED_TO_READ_STATE, String::new()),
            Self::Held { holder, ends, .. } => {
                (messages::STATE_IS_LOCKED, describe_held_lock(holder.as_deref(), *ends))
            }
            Self::LockRefused { .. } => (
                messages::STATE_IS_LOCKED,
                "If another run holds the lock, wait until it has ended, or use -lock-timeout to \
                 wait for it. If its holder does not run any more, run:\n  formwork force-unlock ID"
                    .to_owned(),
            ),
            Self::NoWorkspace { .. } => (
                messages::WORKSPACES_NOT_SUPPORTED,
                "This backend supports only the workspace \"default\". Unset \
                 TF_WORKSPACE, or run:\n  formwork workspace select default"
                    .to_owned(),
            ),
            Self::NotLocked { holder, .. } => {
                let about = holder.as_deref().map(LockInfo::describe).unwrap_or_default();
                let remedy = match holder {
                    Some(_) => "Use the ID of this lock, if its holder does not run any more.",
                    None => "The state may not be locked any more. Run the command that needs it.",
                };
                (messages::FAILED_TO_UNLOCK_STATE, format!("{about}{remedy} Nothing was changed."))
            }
            Self::Emptied { location, evidence, copy } => (
                messages::STATE_FILE_IS_EMPTY,
                format!(
                    "A state file never becomes empty by itself: it was truncated, perhaps when \
                     another program was killed while writing it. Continuing would create everything \
                     a second time. Restore it from a copy. Nothing was changed.\n\n{}Only if none \
                     of its objects exist any more, delete {location} and {}, and run the command \
                     again.",
                    copy.as_ref().map(|copy| format!("{copy} ")).unwrap_or_default(),
                    evidence.join(" and ")
                ),
            ),
            Self::OtherLineage { .. } => (
                messages::STATE_BELONGS_TO_ANOTHER_LINEAGE,
                "The two have different origins, so one would overwrite the objects of the other. The stored \
                 state was not changed. If this run has changed real objects, their results are in \
                 its journal, and the next command describes how to keep both."
                    .to_owned(),
            ),
            Self::Changed { .. } => (
                messages::STATE_WAS_CHANGED_BY_ANOTHER_PROGRAM,
                "Another run wrote it in the meantime, perhaps with -lock=false. Nothing was \
                 overwritten. Run the command again: if this one has changed real objects, their \
                 results are in its journal and are taken over."
                    .to_owned(),
            ),
            Self::Replaced { .. } => (
                messages::STATE_FILE_WAS_REPLACED,
                "The lock does not cover the current file, so another run may be using it. \
                 Nothing was overwritten. Run the command again: if this one has changed real \
                 objects, their results are in its journal and are taken over."
                    .to_owned(),
            ),
            Self::NotEncryptable { .. } => (
                messages::FAILED_TO_ENCRYPT_STATE,
                "Nothing was changed. Correct the key provider or its arguments in the `encryption` \
                 block or TF_ENCRYPTION."
                    .to_owned(),
            ),
            Self::NotPersistent { .. } => (
                messages::STATE_WOULD_NOT_BE_KEPT,
                "Without a state, Formwork would not know the created objects. Specify a regular file, with \
                 the backend's `path` or -state-out."
                    .to_owned(),
            ),
            Self::Failed { operation, remedy, .. } => {
                let (summary, default_remedy) = operation.summary_and_remedy();
                (summary, remedy.clone().unwrap_or_else(|| default_remedy.to_owned()))
            }
        }
    }
}

impl StoreOperation {
    fn summary_and_remedy(self) -> (&'static Message, &'static str) {
        match self {
            Self::Lock => (
                messages::ERROR_ACQUIRING_STATE_LOCK,
                "The state must be writable before anything is changed. Check the location, the \
                 credentials for it and its permissions, or choose another location.",
            ),
            Self::Unlock => (
                messages::ERROR_RELEASING_STATE_LOCK,
                "The lock may still be held. When no run uses the state, `formwork force-unlock` \
                 with the ID that the next command prints releases it.",
            ),
            Self::Read => (
                messages::FAILED_TO_READ_STATE,
                "Check the location, the credentials for it and its permissions. Nothing was changed.",
            ),
            Self::Write => (
                messages::FAILED_TO_SAVE_STATE,
                "The previous state still exists. If this command has changed real \
                 objects, its journal holds the results, unless another error says that it could not \
                 be written: then only this output has the ids of the latest objects, so keep it. \
                 Correct the cause, then run the command again: it takes over what a journal holds.",
            ),
            Self::Overwrite => (
                messages::FAILED_TO_SAVE_STATE,
                "The file is a mount point, which no other file can replace, so the state \
                 was written into it and may be truncated now. The complete state is next to it, in the \
                 file whose name has `.next` in it. Free space or correct the permissions, copy that \
                 file over the state, then run any command.",
            ),
            Self::Open => (
                messages::FAILED_TO_REACH_BACKEND,
                "Check the address, the credentials and the network. Nothing was changed.",
            ),
            Self::List => (
                messages::FAILED_TO_LIST_WORKSPACES,
                "Check the location, the credentials for it and its permissions.",
            ),
            Self::Create | Self::Delete => (
                messages::FAILED_TO_CHANGE_WORKSPACES,
                "Check the location, the credentials for it and its permissions.",
            ),
        }
    }
}

fn describe_held_lock(holder: Option<&LockInfo>, ends: LockEnd) -> String {
    let about = holder.map(LockInfo::describe).unwrap_or_default();
    let end = match ends {
        LockEnd::WithProcess => "The lock ends with the process that holds it.".to_owned(),
        LockEnd::WithConnection { exclusive_reason } => {
            let reason = exclusive_reason.map(|reason| format!(" {reason}")).unwrap_or_default();
            format!("The lock ends with the connection of the process that holds it.{reason}")
        }
        LockEnd::ByForce => {
            let id = holder.map_or_else(|| "ID".to_owned(), |holder| shell_word(&holder.id));
            format!("If its holder does not run any more, run:\n  formwork force-unlock {id}")
        }
    };
    format!(
        "{about}The lock prevents two runs from changing the state at the same time. Wait until the other run has \
         ended, or use -lock-timeout to wait for it. {end}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_of_a_lock_is_one_argument_of_the_unlock_command() {
        for (id, word) in
            [("0f1e-2", "0f1e-2"), ("x; id $(id)", "'x; id $(id)'"), ("a'b", r"'a'\''b'")]
        {
            let holder = LockInfo { id: id.to_owned(), ..LockInfo::default() };
            let text = describe_held_lock(Some(&holder), LockEnd::ByForce);
            assert!(text.ends_with(&format!("\n  formwork force-unlock {word}")), "{text}");
        }
    }
}
