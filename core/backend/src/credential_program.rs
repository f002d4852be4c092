//! Programs that return credentials: run once, with a limit on time and output.

use std::io;
use std::process::{Output, Stdio};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::Command;

use crate::cause::Cause;

/// Maximum run time.
const MAX_PROGRAM_RUN_TIME: Duration = Duration::from_secs(60);

/// Maximum number of bytes that are read from each output stream: 16 MiB.
const MAX_PROGRAM_OUTPUT_LEN: u64 = 16 << 20;

/// A program with its arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CredentialProgram {
    /// The name or path.
    pub(crate) name: String,
    /// The arguments.
    pub(crate) arguments: Vec<String>,
    /// Environment variables, besides those of this process.
    pub(crate) variables: Vec<(String, String)>,
}

impl CredentialProgram {
    /// Runs the program and returns its output.
    ///
    /// # Errors
    /// Returns an error if the program cannot be run, takes too long or fails.
    pub(crate) async fn run_for_output(&self) -> Result<Vec<u8>, Cause> {
        let Self { name, arguments, variables } = self;
        #[expect(
            clippy::disallowed_methods,
            reason = "not a plugin; it is killed with this future"
        )]
        let mut command = Command::new(name);
        command.args(arguments).envs(variables.iter().map(|(name, value)| (name, value)));
        // A program that prompts for input fails immediately instead of waiting for it.
        command.stdin(Stdio::null()).kill_on_drop(true);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let run = tokio::time::timeout(MAX_PROGRAM_RUN_TIME, run_to_end(command)).await;
        let seconds = MAX_PROGRAM_RUN_TIME.as_secs();
        let run = run.map_err(|_| format!("the program {name:?} ran for {seconds} seconds"))?;
        let output = run.map_err(|error| format!("the program {name:?} cannot be run: {error}"))?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        let stderr = String::from_utf8_lossy(&output.stderr);
        // Programs print pages of help or a trace on a failure, and the cause comes first.
        let stderr = stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        let stderr = stderr.chars().take(500).collect::<String>();
        Err(format!("the program {name:?} failed ({}): {stderr}", output.status).into())
    }
}

/// Runs a program to completion. A program that prints more than the limit is killed.
async fn run_to_end(mut command: Command) -> io::Result<Output> {
    let mut child = command.spawn()?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let (stdout, stderr) =
        tokio::try_join!(read_output_up_to_limit(stdout), read_output_up_to_limit(stderr))?;
    Ok(Output { status: child.wait().await?, stdout, stderr })
}

async fn read_output_up_to_limit(stream: Option<impl AsyncRead + Unpin>) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let Some(stream) = stream else { return Ok(bytes) };
    stream.take(MAX_PROGRAM_OUTPUT_LEN + 1).read_to_end(&mut bytes).await?;
    match bytes.len() as u64 > MAX_PROGRAM_OUTPUT_LEN {
        true => Err(io::Error::other(format!(
            "it printed more than {} MiB",
            MAX_PROGRAM_OUTPUT_LEN >> 20
        ))),
        false => Ok(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_program_returns_its_output_or_the_reason_of_its_failure() {
        let sh = |script: &str| CredentialProgram {
            name: "sh".to_owned(),
            arguments: vec!["-c".to_owned(), script.to_owned()],
            variables: vec![("SEEN".to_owned(), "x".to_owned())],
        };
        assert_eq!(sh("printf $SEEN").run_for_output().await.unwrap(), b"x");
        let failed =
            sh("echo no  login >&2; exit 3").run_for_output().await.unwrap_err().to_string();
        assert!(failed.ends_with("): no login") && failed.contains('3'), "{failed}");
        let endless = sh("cat /dev/zero").run_for_output().await.unwrap_err().to_string();
        assert!(endless.ends_with("it printed more than 16 MiB"), "{endless}");
        let missing =
            CredentialProgram { name: "/none/such".to_owned(), ..CredentialProgram::default() };
        assert!(missing.run_for_output().await.unwrap_err().to_string().contains("cannot be run"));
    }
}
