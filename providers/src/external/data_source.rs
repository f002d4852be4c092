//! The data source `external`: a program that gets a JSON object of strings on its standard input and
//! answers with another one. No shell is involved.

use std::collections::BTreeMap;
use std::io;
use std::path::Path as FilePath;
use std::process::Output;

use formwork_sdk::prelude::*;

use crate::child::{child_command, run_child_with_input};

/// Result of a program that speaks JSON.
#[derive(Model)]
pub(super) struct ExternalModel {
    /// The program and its arguments. No shell reads them, so nothing needs to be escaped.
    #[attr(required, length = 1..)]
    program: Vec<Option<String>>,
    /// The working directory of the program. Default: the current directory.
    #[attr(optional)]
    working_dir: Option<String>,
    /// Query for the program: a JSON object on its standard input. Null values are left out.
    #[attr(optional)]
    query: Option<BTreeMap<String, Option<String>>>,
    /// Answer of the program: a JSON object on its standard output.
    #[attr(computed)]
    result: BTreeMap<String, String>,
    /// Always `-`.
    #[attr(computed)]
    id: String,
}

/// The data source.
pub(super) struct ExternalDataSource;

impl DataSource for ExternalDataSource {
    type Model = ExternalModel;

    async fn read(&self, call: ReadData<ExternalModel>) -> Answer<ExternalModelComputed> {
        let config = call.config;
        let mut words_of_command = config.program.iter().flatten().filter(|word| !word.is_empty());
        let Some(program) = words_of_command.next() else {
            let detail = "`program` has no element that names the program to run.";
            return Err(program_attribute_problem("External Program Missing", detail));
        };
        let mut query = config.query.unwrap_or_default();
        query.retain(|_, value| value.is_some());
        let query = serde_json::json!(query).to_string();
        let directory = config.working_dir.filter(|directory| !directory.is_empty());

        let mut command = child_command(program);
        command.args(words_of_command);
        if let Some(directory) = &directory {
            command.current_dir(directory);
        }
        let output = match run_child_with_input(command, query.as_bytes()).await {
            Ok(output) => output,
            Err(error) => return Err(not_started_problem(program, directory.as_ref(), &error)),
        };
        if !output.status.success() {
            return Err(exit_problem(program, &output));
        }
        let result = parse_program_output(&output.stdout).map_err(|error| {
            let detail = format!(
                "The program must print a JSON object whose values are strings.\n\n\
                 Program: {program}\nResult Error: {error}"
            );
            program_attribute_problem("Unexpected External Program Results", detail)
        })?;
        Ok(ExternalModelComputed { result, id: "-".to_owned() })
    }
}

/// The answer; a value that is null is an empty text.
fn parse_program_output(answer: &[u8]) -> Result<BTreeMap<String, String>, serde_json::Error> {
    let answer: Option<BTreeMap<String, Option<String>>> = serde_json::from_slice(answer)?;
    let texts = answer.unwrap_or_default().into_iter();
    Ok(texts.map(|(key, text)| (key, text.unwrap_or_default())).collect())
}

fn not_started_problem(program: &str, directory: Option<&String>, error: &io::Error) -> Problem {
    if let Some(directory) = directory
        && !FilePath::new(directory).is_dir()
    {
        let detail = format!("`working_dir` is {directory:?}, which is not a directory.");
        return program_attribute_problem("External Program Execution Failed", detail);
    }
    let detail = format!(
        "The program cannot be started. It must be in a directory of PATH or be given with its \
         path, for example \"${{path.module}}/{program}\", and must be executable.\n\nProgram: \
         {program}\nError: {error}"
    );
    program_attribute_problem("External Program Lookup Failed", detail)
}

fn exit_problem(program: &str, output: &Output) -> Problem {
    let message = String::from_utf8_lossy(&output.stderr);
    let message = match &*message {
        "" => "The program printed nothing to its standard error.".to_owned(),
        message => format!("Error Message: {message}"),
    };
    let detail =
        format!("The program failed.\n\nProgram: {program}\n{message}\nState: {}", output.status);
    program_attribute_problem("External Program Execution Failed", detail)
}

fn program_attribute_problem(summary: &str, detail: impl Into<String>) -> Problem {
    Problem::new(summary, detail).at("program")
}

#[cfg(test)]
mod tests {
    use formwork_sdk::testing::{Refusal, read_data, strings};
    use formwork_sdk::value::{Path, Type, Value};

    use super::super::provider;

    type Set = (&'static str, Value);

    fn shell(script: &str) -> Set {
        let command = ["sh", "-c", script].map(Value::string);
        ("program", Value::list(Type::String, command.to_vec()))
    }

    async fn ask(config: impl IntoIterator<Item = Set>) -> Result<Value, Refusal> {
        let answer = read_data(provider(), "external", config).await?;
        Ok(Path::root().attribute("result").find(&answer).unwrap().clone())
    }

    #[tokio::test]
    async fn a_program_receives_the_query_and_returns_the_result() {
        let echo = ask([shell("cat"), ("query", strings([("a", "1 \"<&>\""), ("b", "")]))]).await;
        assert_eq!(echo, Ok(strings([("a", "1 \"<&>\""), ("b", "")])));
        assert_eq!(ask([shell("cat")]).await, Ok(strings([])));
        assert_eq!(ask([shell("echo '{\"a\": null}'")]).await, Ok(strings([("a", "")])));
        assert_eq!(ask([shell("echo null")]).await, Ok(strings([])));
    }

    #[tokio::test]
    async fn an_unread_query_and_a_long_answer_do_not_block() {
        let query = || {
            let long = "x".repeat(1 << 20);
            ("query", Value::map(Type::String, [("long", Value::string(&long))]))
        };
        assert_eq!(ask([shell("echo '{}'"), query()]).await, Ok(strings([])));
        let loud = "yes error | head -c 1000000 >&2; cat";
        assert!(ask([shell(loud), query()]).await.is_ok());
    }

    #[tokio::test]
    async fn it_runs_in_the_configured_directory() {
        let directory = tempfile::tempdir().unwrap();
        let name = directory.path().canonicalize().unwrap();
        let name = name.to_str().unwrap();
        let working_dir = ("working_dir", Value::string(name));
        let result = ask([shell("printf '{\"at\":\"%s\"}' \"$(pwd -P)\""), working_dir]).await;
        assert_eq!(result, Ok(strings([("at", name)])));
    }

    #[tokio::test]
    async fn null_and_empty_values_are_omitted_from_the_program_and_the_query() {
        let command = vec![Value::string(""), Value::string("cat"), Value::null(Type::String)];
        let query = [("a", Value::null(Type::String)), ("b", Value::string("x"))];
        let program = ("program", Value::list(Type::String, command));
        let query = ("query", Value::map(Type::String, query));
        assert_eq!(ask([program, query]).await, Ok(strings([("b", "x")])));
    }

    #[tokio::test]
    async fn a_program_without_a_valid_result_is_refused() {
        let list = |command: Vec<Value>| ("program", Value::list(Type::String, command));
        let table = [
            (vec![list(vec![])], "`program` must"),
            (vec![list(vec![Value::string("")])], "External Program Missing"),
            (
                vec![list(vec![Value::string("./no-such-program")])],
                "External Program Lookup Failed",
            ),
            (vec![shell("cat"), ("working_dir", Value::string("no/such"))], "is not a directory"),
            (vec![shell("echo why >&2; exit 3")], "Error Message: why\n\nState: exit status: 3"),
            (vec![shell("exit 1")], "printed nothing"),
            (vec![shell("echo '{\"a\": 1}'")], "Unexpected External Program Results"),
            (vec![shell("echo '[]'")], "Unexpected External Program Results"),
            (vec![shell("true")], "Unexpected External Program Results"),
        ];
        for (config, expected) in table {
            let refusal = ask(config).await.unwrap_err();
            assert!(refusal.0.contains(expected), "{expected}: {refusal:?}");
        }
    }
}
