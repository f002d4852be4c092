//! `local_command`, as a data source and as an ephemeral resource: a program, and its output. No shell
//! is involved.

use std::path::Path as FilePath;
use std::process::Output;

use formwork_sdk::prelude::*;

use crate::child::{child_command, run_child_with_input};

/// Runs a program on this machine, with the environment of the run. It runs whenever the data are
/// read, usually during planning, so it should have no side effects.
#[derive(Model)]
pub(super) struct CommandModel {
    /// The program: its path, or a name that is found in a directory of `PATH`.
    #[attr(required, length = 1..)]
    command: String,
    /// The arguments of the program. Those that are null are left out.
    #[attr(optional)]
    arguments: Option<Vec<Option<String>>>,
    /// Standard input of the program.
    #[attr(optional)]
    stdin: Option<String>,
    /// The working directory of the program. Default: the current directory.
    #[attr(optional)]
    working_directory: Option<String>,
    /// Whether to accept exit codes other than 0. Default: false.
    #[attr(optional)]
    allow_non_zero_exit_code: Option<bool>,
    /// The exit code.
    #[attr(computed)]
    exit_code: i64,
    /// Standard output of the program as a string. Bytes that are not UTF-8 become the replacement
    /// character.
    #[attr(computed)]
    stdout: Option<String>,
    /// Standard error of the program as a string.
    #[attr(computed)]
    stderr: Option<String>,
}

/// The data source.
pub(super) struct LocalCommandDataSource;

impl DataSource for LocalCommandDataSource {
    type Model = CommandModel;

    async fn read(&self, call: ReadData<CommandModel>) -> Answer<CommandModelComputed> {
        call.config.run_command().await
    }
}

/// The ephemeral resource type.
pub(super) struct EphemeralCommand;

impl Ephemeral for EphemeralCommand {
    type Model = CommandModel;

    async fn open(&self, call: Open<CommandModel>) -> Answer<CommandModelComputed> {
        call.config.run_command().await
    }
}

impl CommandModelInput {
    async fn run_command(&self) -> Answer<CommandModelComputed> {
        let mut program = child_command(&self.command);
        program.args(self.arguments.iter().flatten().flatten());
        let directory = self.working_directory.as_ref().filter(|directory| !directory.is_empty());
        if let Some(directory) = directory {
            program.current_dir(directory);
        }
        let input = self.stdin.as_deref().unwrap_or_default();
        let output = run_child_with_input(program, input.as_bytes()).await.map_err(|error| {
            if directory.is_some_and(|directory| !FilePath::new(directory).is_dir()) {
                let detail =
                    format!("{:?} is not a directory.", directory.cloned().unwrap_or_default());
                return Problem::new("Command Execution Failed", detail).at("working_directory");
            }
            let detail = format!(
                "{:?} cannot be started: {error}. It must be in a directory of PATH or be given \
                 with its path, for example \"${{path.module}}/{}\", and must be executable.",
                self.command, self.command
            );
            Problem::new("Command Lookup Failed", detail).at("command")
        })?;
        let is_allowed = self.allow_non_zero_exit_code == Some(true);
        match output.status.code() {
            Some(code) if code == 0 || is_allowed => Ok(CommandModelComputed {
                exit_code: i64::from(code),
                stdout: output_text(&output.stdout),
                stderr: output_text(&output.stderr),
            }),
            _ => Err(self.exit_problem(&output)),
        }
    }

    fn exit_problem(&self, output: &Output) -> Problem {
        let message = output_text(&output.stderr).unwrap_or_else(|| "nothing".to_owned());
        let detail = format!(
            "The command failed. If that is expected, set `allow_non_zero_exit_code`.\n\n\
             Command: {}\nStandard error: {message}\nState: {}",
            self.command, output.status
        );
        Problem::new("Command Execution Failed", detail).at("command")
    }
}

/// The output; null if there is none.
fn output_text(bytes: &[u8]) -> Option<String> {
    (!bytes.is_empty()).then(|| String::from_utf8_lossy(bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use formwork_sdk::testing::{Refusal, TestEphemeral, read_data};
    use formwork_sdk::value::{Path, Type, Value};

    use super::super::provider;

    type Set = (&'static str, Value);

    fn shell(script: &str) -> Vec<Set> {
        let command = ["-c", script].map(Value::string).to_vec();
        let arguments = [command, vec![Value::null(Type::String)]].concat();
        vec![("command", Value::string("sh")), ("arguments", Value::list(Type::String, arguments))]
    }

    async fn run(config: Vec<Set>) -> Result<Value, Refusal> {
        read_data(provider(), "local_command", config).await
    }

    fn get(object: &Value, name: &str) -> Value {
        Path::root().attribute(name).find(object).unwrap().clone()
    }

    #[tokio::test]
    async fn a_command_runs_in_its_directory_and_returns_its_output() {
        let directory = tempfile::tempdir().unwrap();
        let name = directory.path().canonicalize().unwrap();
        let name = name.to_str().unwrap();
        let more =
            vec![("stdin", Value::string("in ")), ("working_directory", Value::string(name))];
        let output = run([shell("cat; pwd -P"), more.clone()].concat()).await.unwrap();
        assert_eq!(get(&output, "stdout"), Value::string(format!("in {name}\n")));
        assert_eq!(get(&output, "stderr"), Value::null(Type::String));
        assert_eq!(get(&output, "exit_code"), Value::int(0));
        let mut passing = TestEphemeral::new(provider(), "local_command").await.unwrap();
        let opened = passing.open(&[shell("cat; pwd -P"), more].concat()).await.unwrap();
        assert_eq!(get(&opened, "stdout"), get(&output, "stdout"));
    }

    #[tokio::test]
    async fn a_nonzero_exit_status_is_an_error_unless_it_is_allowed() {
        let config = shell("echo why >&2; exit 3");
        let refusal = run(config.clone()).await.unwrap_err();
        assert!(refusal.0.contains("Standard error: why"), "{refusal:?}");
        let allowed = ("allow_non_zero_exit_code", Value::Bool(true));
        let output = run([config, vec![allowed]].concat()).await.unwrap();
        assert_eq!(get(&output, "exit_code"), Value::int(3));
        assert_eq!(get(&output, "stderr"), Value::string("why\n"));
        assert_eq!(get(&output, "stdout"), Value::null(Type::String));
    }

    #[tokio::test]
    async fn commands_that_cannot_run_are_refused() {
        let nowhere = ("working_directory", Value::string("no/such"));
        let table = [
            (vec![("command", Value::string("./no-such-program"))], "Command Lookup Failed"),
            ([shell("true"), vec![nowhere]].concat(), "\"no/such\" is not a directory"),
            (shell("kill -9 $$"), "signal: 9"),
        ];
        for (config, expected) in table {
            let refusal = run(config).await.unwrap_err();
            assert!(refusal.0.contains(expected), "{expected}: {refusal:?}");
        }
    }
}
