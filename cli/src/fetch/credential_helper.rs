//! Programs of the user that keep credentials: one run of one, with limits.

use std::io::{self, Read as _, Seek as _, Write as _};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use crate::signals::SupervisedChild;

/// The time that a program has. It may ask for a password.
pub(super) const HELPER_TIME_LIMIT: Duration = Duration::from_mins(5);
/// The longest answer of a program.
const MAX_HELPER_ANSWER_SIZE: u64 = 1 << 20;

/// The end of a program, and its stdout if that is a pipe.
pub(super) struct HelperAnswer {
    pub(super) status: ExitStatus,
    pub(super) text: String,
}

/// The reason why a program gave no answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum HelperError {
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It took longer than its limit.
    #[error("it gave no answer within {} seconds and was ended", .0.as_secs())]
    Late(Duration),
}

/// Runs a program with this text on its stdin. It is ended after the limit.
///
/// # Errors
/// When it cannot be started or read, or is ended.
pub(super) fn run_helper_program(
    command: &mut Command,
    input: &str,
    limit: Duration,
) -> Result<HelperAnswer, HelperError> {
    // A file and no pipe: a program that does not read its stdin cannot block the writer.
    let mut given = tempfile::tempfile()?;
    given.write_all(input.as_bytes())?;
    given.rewind()?;
    let mut child = SupervisedChild::start(command.stdin(Stdio::from(given)))?;
    let deadline = child.end_after(limit, || false)?;
    let mut text = String::new();
    let read = child
        .stdout()
        .map_or(Ok(0), |out| out.take(MAX_HELPER_ANSWER_SIZE).read_to_string(&mut text));
    // A program may close its stdout and go on.
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
#[expect(clippy::disallowed_methods, reason = "the program is waited for")]
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
    fn a_program_that_is_never_done_is_ended() {
        for script in ["sleep 600", "exec >&-; sleep 600", "trap '' TERM; sleep 600; sleep 600"] {
            let error = run_in_shell(script, "", Duration::from_millis(300)).err().unwrap();
            assert!(matches!(error, HelperError::Late(_)), "{error}");
        }
    }
}
