//! Builds the command of a `local-exec` block, without starting it.

use std::path::PathBuf;

use formwork_core::provisioner::ProvisionerError;
use formwork_value::Value;
use formwork_value::quote::quote_like_go;

use crate::messages;

/// A command to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Command {
    /// The command as written.
    pub(super) text: String,
    /// The program and its arguments, the last of which is the command. Never empty.
    pub(super) words: Vec<String>,
    /// Environment variables, in addition to those of this process.
    pub(super) environment: Vec<(String, String)>,
    /// The working directory, if it differs from that of this process.
    pub(super) directory: Option<PathBuf>,
    /// Whether the command is omitted from the output.
    pub(super) quiet: bool,
}

/// The default interpreter: the system's shell.
const DEFAULT_INTERPRETER: [&str; 2] =
    if cfg!(windows) { ["cmd", "/C"] } else { ["/bin/sh", "-c"] };

impl Command {
    /// Reads a block that conforms to the schema.
    ///
    /// # Errors
    /// The command is empty or null.
    pub(super) fn from_config(config: &Value) -> Result<Self, ProvisionerError> {
        let attribute = |name: &str| match config {
            Value::Object(object) => object.get(name).cloned(),
            _ => None,
        };
        let Some(command) =
            attribute("command").as_ref().and_then(string_from_value).filter(|c| !c.is_empty())
        else {
            return Err(ProvisionerError {
                summary: messages::INVALID_LOCAL_EXEC_COMMAND.into(),
                detail: "The command must be a non-empty string.".to_owned(),
                bare: "The command must be a non-empty string.".to_owned(),
            });
        };
        let mut words: Vec<String> = match attribute("interpreter") {
            Some(Value::List(list)) => list.items().iter().filter_map(string_from_value).collect(),
            _ => Vec::new(),
        };
        if words.is_empty() {
            words.extend(DEFAULT_INTERPRETER.map(str::to_owned));
        }
        words.push(command.clone());
        let environment = match attribute("environment") {
            Some(Value::Map(map)) => map
                .iter()
                .filter_map(|(name, value)| Some((name.to_string(), string_from_value(value)?)))
                .collect(),
            _ => Vec::new(),
        };
        Ok(Self {
            text: command,
            words,
            environment,
            directory: attribute("working_dir")
                .as_ref()
                .and_then(string_from_value)
                .map(PathBuf::from),
            quiet: matches!(attribute("quiet"), Some(Value::Bool(true))),
        })
    }

    /// Returns the line that is printed before the command starts.
    pub(super) fn announcement(&self) -> String {
        if self.quiet {
            return "local-exec: Executing: Suppressed by quiet=true".to_owned();
        }
        let words: Vec<String> = self.words.iter().map(|word| quote_like_go(word)).collect();
        format!("Executing: [{}]", words.join(" "))
    }
}

fn string_from_value(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.to_string()),
        _ => None,
    }
}
