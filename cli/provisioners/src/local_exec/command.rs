//! Builds the command of a `local-exec` block. Starts nothing.

use std::path::PathBuf;

use formwork_core::provisioner::ProvisionerError;
use formwork_value::Value;
use formwork_value::quote::quote_like_go;

use crate::messages;

/// A command to start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Command {
    /// The command as written.
    pub(super) text: String,
    /// The program and its arguments, the command among them; never empty.
    pub(super) words: Vec<String>,
    /// Variables beyond those this process has.
    pub(super) environment: Vec<(String, String)>,
    /// The folder it runs in, if it is another one.
    pub(super) folder: Option<PathBuf>,
    /// Whether the command is not to be shown.
    pub(super) quiet: bool,
}

/// The shell that takes a command when no other interpreter is named.
const DEFAULT_INTERPRETER: [&str; 2] =
    if cfg!(windows) { ["cmd", "/C"] } else { ["/bin/sh", "-c"] };

impl Command {
    /// Reads a block that fits the schema.
    ///
    /// # Errors
    /// When there is no command in it.
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
            folder: attribute("working_dir")
                .as_ref()
                .and_then(string_from_value)
                .map(PathBuf::from),
            quiet: matches!(attribute("quiet"), Some(Value::Bool(true))),
        })
    }

    /// Line that is printed before the command starts.
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
