//! Runs a credential helper, a program of the user, with limits on its time and output.

use std::io::{self, Read as _, Seek as _, Write as _};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use crate::signals::SupervisedChild;

/// Time limit of a helper. It is long enough for a password prompt.
pub(super) const HELPER_TIME_LIMIT: Duration = Duration::from_mins(5);
/// Maximum length of the output of a helper, in bytes.
const MAX_HELPER_ANSWER_SIZE: u64 = 1 << 20;

/// The exit status of a helper, and its standard output if it is a pipe.
pub(super) struct HelperAnswer {
    pub(super) status: ExitStatus,
    pub(super) text: String,
}

/// The reason why a helper returned no output.
#[derive(Debug, thiserror::Error)]
pub(super) enum HelperError {
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The helper exceeded its time limit.
    #[error("it did not respond within {} seconds and was terminated", .0.as_secs())]
    Late(Duration),
}

/// Runs a helper with `input` on its standard input, and terminates it after the time limit.
///
/// # Errors
/// The helper cannot be started, its output cannot be read, or it exceeded the time limit.
pub(super) fn run_helper_program(
    command: &mut Command,
    input: &str,
    limit: Duration,
) -> Result<HelperAnswer, HelperError> {
    // The input is a file instead of a pipe, so a helper that does not read it cannot block the writer.
    let mut input_file = tempfile::tempfile()?;
    input_file.write_all(input.as_bytes())?;
    input_file.rewind()?;
    let mut child = SupervisedChild::start(command.stdin(Stdio::from(input_file)))?;
    let deadline = child.end_after(limit, || false)?;
    let mut text = String::new();
    let read = child
        .stdout()
        .map_or(Ok(0), |out| out.take(MAX_HELPER_ANSWER_SIZE).read_to_string(&mut text));
    // A helper can close its standard output and continue.
    child.wait_for_end();
    let is_late = deadline.forced_end().is_some();
    drop(deadline);
    let status = child.wait()?;
    if is_late {
        return Err(HelperError::Late(limit));
    }
    read?;
    Ok(HelperAnswer { status, text })
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the caller waits for the end of the program")]
mod tests {
    use super::*;

    fn run_in_shell(
        script: &str,
        input: &str,
        limit: Duration,
    ) -> Result<HelperAnswer, HelperError> {
        run_helper_program(
            Command::new("sh").args(["-c", script]).stdout(Stdio::piped()),
            input,
            limit,
        )
    }

    #[test]
    fn a_program_reads_its_input_and_its_answer_is_returned() {
        let answer =
            run_in_shell("read -r line; echo \"$line!\"; exit 3", "given", HELPER_TIME_LIMIT)
                .unwrap();
        assert_eq!((answer.text.as_str(), answer.status.code()), ("given!\n", Some(3)));
    }

    #[test]
    fn a_program_that_does_not_end_is_killed() {
        for script in ["sleep 600", "exec >&-; sleep 600", "trap '' TERM; sleep 600; sleep 600"] {
            let error = run_in_shell(script, "", Duration::from_millis(300)).err().unwrap();
            assert!(matches!(error, HelperError::Late(_)), "{error}");
        }
    }
}
