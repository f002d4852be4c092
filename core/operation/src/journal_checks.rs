//! Checks of a state file whose content is to become another state: no interrupted run has results that it
//! lacks, because their objects would be created a second time. A [`StateSession`](crate::StateSession)
//! takes such results over itself, so it needs no check.

use std::path::Path;

use formwork_backend::encryption::{StateCipher, encrypt_intent_log};
use formwork_backend::local::StateFilePaths;
use formwork_core::state::file::StateFile;
use formwork_core::state::recover::JournaledPlace;
use formwork_value::{Diagnostic, Diagnostics, Reported};

use crate::messages;

/// Checks that no run has results which a state file lacks, to be called before the file is read.
///
/// ```
/// use formwork_operation::journal_checks::check_no_unfinished_run;
/// use formwork_value::Diagnostics;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("terraform.tfstate");
/// // There is no journal beside the file.
/// assert!(check_no_unfinished_run(&mut Diagnostics::new(), &path).await.is_ok());
/// # }
/// ```
///
/// # Errors
/// When a run that was cut off, or that goes on, has left a journal beside the file.
pub async fn check_no_unfinished_run(diags: &mut Diagnostics, path: &Path) -> Result<(), Reported> {
    // Whether there is a journal at all, not its content: the state may be encrypted, and the key is set up
    // later.
    if !StateFilePaths::from_state_path(path).intent_log().has_unfinished_run().await {
        return Ok(());
    }
    let detail = format!(
        "A run that was cut off, or that goes on, has results that {} does not have yet, so its objects would be created again. Run `formwork apply -refresh-only` in the folder of that state first: it takes them over. Nothing was changed.",
        path.display()
    );
    Err(diags.error(Diagnostic::error(messages::STATE_LACKS_RESULTS_OF_RUN, detail)))
}

/// Checks that no interrupted run on a state of another name has results which a state lacks that was
/// read from a file: the file was moved or copied after that run.
///
/// ```
/// use formwork_backend::encryption::StateCipher;
/// use formwork_core::state::file::StateFile;
/// use formwork_operation::journal_checks::check_no_misplaced_journals;
/// use formwork_value::Diagnostics;
///
/// let folder = tempfile::tempdir().unwrap();
/// let (path, cipher) = (folder.path().join("copy.tfstate"), StateCipher::default());
/// let (mut diags, file) = (Diagnostics::new(), StateFile::new_empty());
/// assert!(check_no_misplaced_journals(&mut diags, &path, &file, &cipher).is_ok());
/// ```
///
/// # Errors
/// When a run has some.
pub fn check_no_misplaced_journals(
    diags: &mut Diagnostics,
    path: &Path,
    file: &StateFile,
    cipher: &StateCipher,
) -> Result<(), Reported> {
    let intents = StateFilePaths::from_state_path(path).intent_log();
    let found = encrypt_intent_log(intents, cipher).misplaced_journals(file);
    // One whose lineage is lost may be of any other state.
    let Some(journals) = found.iter().find(|journals| journals.is_of_lineage) else {
        return Ok(());
    };
    let (ours, folder) = (path.display(), journals.folder.display());
    let lacks = format!(
        "Its journal in {folder} has results or operations of unknown outcome that {ours} lacks, so objects would be created again."
    );
    let detail = match &journals.place {
        JournaledPlace::File { path: theirs, .. } => {
            let theirs = theirs.display();
            format!(
                "A run on the state file {theirs} was cut off. {lacks} If {ours} is that file under a new name, rename it back. Then run `formwork apply -refresh-only` for {theirs}: it takes over the results. `formwork recover list` shows the operations. Nothing was changed."
            )
        }
        JournaledPlace::Remote => format!(
            "A run on a remote state, of which {ours} is a copy, was cut off. {lacks} Run `formwork apply -refresh-only` with the backend of that state first: it takes over the results. `formwork recover list` shows the operations. Nothing was changed."
        ),
    };
    Err(diags.error(Diagnostic::error(messages::STATE_LACKS_RESULTS_OF_RUN, detail)))
}
