//! Arguments of a block that conforms to its schema. An empty string counts as absent, as in
//! Terraform.

use std::path::{Path, PathBuf};

use formwork_value::Value;

/// The value of a block.
#[derive(Clone, Copy)]
pub(crate) struct ConfigBlock<'a>(pub(crate) &'a Value);

impl<'a> ConfigBlock<'a> {
    fn attribute(self, name: &str) -> Option<&'a Value> {
        match self.0 {
            Value::Object(object) => object.get(name).filter(|value| !value.is_null()),
            _ => None,
        }
    }

    /// Whether the argument is set, including to an unknown value.
    pub(crate) fn is_set(self, name: &str) -> bool {
        self.attribute(name).is_some()
    }

    /// Returns a string argument, even if it is empty.
    pub(crate) fn string_even_if_empty(self, name: &str) -> Option<&'a str> {
        self.attribute(name).and_then(string_value)
    }

    /// Returns a string argument, unless it is empty.
    pub(crate) fn string(self, name: &str) -> Option<String> {
        self.string_even_if_empty(name).filter(|text| !text.is_empty()).map(str::to_owned)
    }

    /// Returns a Boolean argument.
    pub(crate) fn boolean(self, name: &str) -> Option<bool> {
        match self.attribute(name)? {
            Value::Bool(flag) => Some(*flag),
            _ => None,
        }
    }

    /// Returns a port number. `None` if the argument is not set or is 0.
    ///
    /// # Errors
    /// The number is not a valid port.
    pub(crate) fn port(self, name: &str) -> Result<Option<u16>, String> {
        let Some(Value::Number(number)) = self.attribute(name) else { return Ok(None) };
        match number.to_usize().and_then(|number| u16::try_from(number).ok()) {
            Some(port) => Ok((port != 0).then_some(port)),
            None => Err(format!("{name} must be a whole number from 0 to 65535")),
        }
    }

    /// Returns a list of strings, with `None` for each null element.
    pub(crate) fn strings(self, name: &str) -> Option<Vec<Option<&'a str>>> {
        match self.attribute(name)? {
            Value::List(list) => Some(list.items().iter().map(string_value).collect()),
            _ => None,
        }
    }
}

fn string_value(value: &Value) -> Option<&str> {
    match value {
        Value::String(text) => Some(text.as_str()),
        _ => None,
    }
}

/// Replaces `~` at the start of a path by the home directory.
pub(crate) fn expand_home(path: &str, home: Option<&Path>) -> PathBuf {
    match (path.strip_prefix('~'), home) {
        (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => {
            home.join(rest.trim_start_matches('/'))
        }
        _ => PathBuf::from(path),
    }
}
