//! Programs that tests hold our results to, such as `openssl`. Not part of any provider.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// Runs a program that gets `input`; returns its output. `None`, with a prominent message, when
/// this machine has no such program.
///
/// # Panics
/// When the program fails: our result is wrong.
pub(crate) fn run_test_program(
    directory: &Path,
    words_of_command: &[&str],
    input: &str,
) -> Option<String> {
    let (program, arguments) = words_of_command.split_first()?;
    let mut command = build_command(program);
    command.args(arguments).current_dir(directory);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let Ok(mut child) = command.spawn() else {
        println!("NOT TESTED: there is no `{program}` on this machine");
        return None;
    };
    child.stdin.take()?.write_all(input.as_bytes()).expect("the program reads its input");
    let output = child.wait_with_output().expect("the program can be waited for");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words_of_command:?}: {text}{errors}\n{input}");
    Some(text)
}

#[expect(clippy::disallowed_methods, reason = "tests compare with other programs")]
fn build_command(program: &str) -> Command {
    Command::new(program)
}
