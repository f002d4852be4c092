//! Gives a journal the group and mode of its state: a state that a group shares can be taken over by a
//! member of the group only with its journals.

use std::fs::File;
use std::io;
use std::path::Path;

use crate::disk::FileAccess;

/// Refuses a journal directory that is a link: a checkout may contain one, and it can lead to any directory of
/// this machine. The state itself may be a link; its journals are beside its target.
pub(crate) fn refuse_linked_dir(directory: &Path) -> io::Result<()> {
    match directory.is_symlink() {
        true => Err(io::Error::other("their directory is a symbolic link, which is not followed")),
        false => Ok(()),
    }
}

/// Copies the group and mode of the state, if it exists, to a directory and a file in it.
pub(super) fn copy_access_of_state(state: &Path, directory: &Path, file: &File) {
    // Failures are ignored: both are usable by their owner.
    let Ok(about) = state.metadata() else { return };
    let access = FileAccess::of(&about);
    // A planted link would grant access to a foreign directory, and is refused.
    drop(access.to_dir_access().apply_to_dir(directory).and_then(|()| access.apply_to_file(file)));
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt as _;

    use crate::state::file::StateFile;
    use crate::state::intent_log::{IntentLog as _, LocalIntentLog};
    use crate::state::journal::RunHeader;

    use super::*;

    #[tokio::test]
    async fn a_journal_has_the_permissions_of_its_state() {
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o7777;
        for (of_state, of_dir, of_journal) in [
            (None, 0o700, 0o600),
            (Some(0o600), 0o700, 0o600),
            (Some(0o660), 0o770, 0o660),
            (Some(0o640), 0o750, 0o640),
            (Some(0o666), 0o777, 0o666),
        ] {
            let directory = tempfile::tempdir().unwrap();
            let state = directory.path().join("terraform.tfstate");
            if let Some(of_state) = of_state {
                std::fs::write(&state, "").unwrap();
                std::fs::set_permissions(&state, Permissions::from_mode(of_state)).unwrap();
            }
            let journals = directory.path().join("journals");
            let intents = LocalIntentLog::in_dir(journals.clone()).with_state_file(state);
            let base = StateFile::new_empty();
            let begin = RunHeader { operation: "test", base: &base, read_from: None };
            let journal = intents.begin_run(begin).await.unwrap();
            let file = journal.path().to_owned();
            assert_eq!((mode(&journals), mode(&file)), (of_dir, of_journal), "{of_state:?}");
        }
    }
}
