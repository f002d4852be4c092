//! Checks of a state file that is about to become another state: no interrupted run may have results that
//! the file lacks, because their objects would be created a second time. A
//! [`StateSession`](crate::StateSession) takes over such results itself and needs no check.

use std::path::Path;

use formwork_backend::encryption::{StateCipher, encrypt_intent_log};
use formwork_backend::local::StateFilePaths;
use formwork_core::state::file::StateFile;
use formwork_core::state::recover::JournaledPlace;
use formwork_value::{Diagnostic, Diagnostics, Reported};

use crate::messages;

/// Checks that no run has results that a state file lacks. Call it before the file is read.
///
/// ```
/// use formwork_operation::journal_checks::check_no_unfinished_run;
/// use formwork_value::Diagnostics;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let directory = tempfile::tempdir().unwrap();
/// let path = directory.path().join("terraform.tfstate");
/// // There is no journal beside the file.
/// assert!(check_no_unfinished_run(&mut Diagnostics::new(), &path).await.is_ok());
/// # }
/// ```
///
/// # Errors
/// Returns an error if an interrupted or active run has left a journal next to the file.
pub async fn check_no_unfinished_run(diags: &mut Diagnostics, path: &Path) -> Result<(), Reported> {
    // Only the existence of a journal counts, not its content: the state may be encrypted, and the key is
    // set up later.
    if !StateFilePaths::from_state_path(path).intent_log().has_unfinished_run().await {
        return Ok(());
    }
    let detail = format!(
        "An interrupted or active run has results that {} does not have yet, so its objects would be created again. Run `formwork apply -refresh-only` in the directory of that state first. It takes over the results. Nothing was changed.",
        path.display()
    );
    Err(diags.error(Diagnostic::error(messages::STATE_LACKS_RESULTS_OF_RUN, detail)))
}

/// Checks that no interrupted run on a state with another name has results that a state file lacks.
/// This is the case if the file was moved or copied after that run.
///
/// ```
/// use formwork_backend::encryption::StateCipher;
/// use formwork_core::state::file::StateFile;
/// use formwork_operation::journal_checks::check_no_misplaced_journals;
/// use formwork_value::Diagnostics;
///
/// let directory = tempfile::tempdir().unwrap();
/// let (path, cipher) = (directory.path().join("copy.tfstate"), StateCipher::default());
/// let (mut diags, file) = (Diagnostics::new(), StateFile::new_empty());
/// assert!(check_no_misplaced_journals(&mut diags, &path, &file, &cipher).is_ok());
/// ```
///
/// # Errors
/// Returns an error if such a run has results.
pub fn check_no_misplaced_journals(
    diags: &mut Diagnostics,
    path: &Path,
    file: &StateFile,
    cipher: &StateCipher,
) -> Result<(), Reported> {
    let intents = StateFilePaths::from_state_path(path).intent_log();
    let misplaced = encrypt_intent_log(intents, cipher).misplaced_journals(file);
    // A journal whose lineage is lost may belong to any other state.
    let Some(journals) = misplaced.iter().find(|journals| journals.is_of_lineage) else {
        return Ok(());
    };
    let (state_path, directory) = (path.display(), journals.directory.display());
    let missing_results = format!(
        "Its journal in {directory} has results or operations of unknown outcome that {state_path} lacks, so objects would be created again."
    );
    let detail = match &journals.place {
        JournaledPlace::File { path: other_path, .. } => {
            let other_path = other_path.display();
            format!(
                "A run on the state file {other_path} was interrupted. {missing_results} If {state_path} is that file under a new name, rename it back. Then run `formwork apply -refresh-only` for {other_path}. It takes over the results. `formwork recover list` shows the operations. Nothing was changed."
            )
        }
        JournaledPlace::Remote => format!(
            "{state_path} is a copy of a remote state, and a run on that state was interrupted. {missing_results} Run `formwork apply -refresh-only` with the backend of that state first. It takes over the results. `formwork recover list` shows the operations. Nothing was changed."
        ),
    };
    Err(diags.error(Diagnostic::error(messages::STATE_LACKS_RESULTS_OF_RUN, detail)))
}
