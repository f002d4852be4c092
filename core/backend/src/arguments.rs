//! The argument values of a backend, and its other inputs: the working directory and the environment
//! variables.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use formwork_core::disk::{MAX_SMALL_FILE_LEN, read_text};
use formwork_value::schema::{Attribute, Block, Role};
use formwork_value::{Str, Type, Value};

use crate::config_error::ConfigError;

/// Inputs of backends besides their arguments.
///
/// See [`BackendArguments`] for an example.
#[derive(Clone, Debug, Default)]
pub struct BackendEnvironment {
    /// The working directory, which relative paths start from.
    pub root: PathBuf,
    /// The environment variables.
    pub variables: BTreeMap<String, String>,
}

/// The argument values of a backend.
///
/// ```
/// use formwork_backend::kind::{BackendArguments, BackendEnvironment};
/// use formwork_value::Value;
///
/// let variables = [("REGION".to_owned(), "eu-1".to_owned())].into();
/// let environment = BackendEnvironment { root: "work".into(), variables };
/// let values = Value::object([("bucket", Value::string("states"))]);
/// let arguments = BackendArguments { values: &values, environment: &environment };
/// assert_eq!(arguments.string("bucket").as_deref(), Some("states"));
/// assert_eq!(arguments.string_or_variable("region", &["REGION"]).as_deref(), Some("eu-1"));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct BackendArguments<'a> {
    /// An object with the attributes of the schema. Absent arguments are null.
    pub values: &'a Value,
    /// The other inputs.
    pub environment: &'a BackendEnvironment,
}

/// An argument that a backend cannot do without, and that no environment variable replaces.
///
/// ```
/// use formwork_backend::kinds::find_backend_kind;
///
/// let kind = find_backend_kind("consul").unwrap();
/// assert_eq!(kind.required_arguments()[0].name, "path");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequiredArgument {
    /// The name.
    pub name: &'static str,
    /// Description for a question.
    pub about: &'static str,
}

impl<'a> BackendArguments<'a> {
    /// Returns the value of an argument, or `None` if it is null.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<&'a Value> {
        match self.values {
            Value::Object(object) => object.get(name).filter(|value| !value.is_null()),
            _ => None,
        }
    }

    /// Returns the string of an argument, or `None` if it is not set. An empty string counts as
    /// set.
    #[must_use]
    pub fn string(&self, name: &str) -> Option<String> {
        match self.value(name)? {
            Value::String(text) => Some(text.to_string()),
            _ => None,
        }
    }

    /// Checks that required arguments are set. An empty string counts as none.
    ///
    /// # Errors
    /// With the names of all that are not.
    pub fn check_required(&self, required: &[RequiredArgument]) -> Result<(), ConfigError> {
        let is_missing = |name: &str| self.string(name).is_none_or(|text| text.is_empty());
        let missing = required.iter().filter(|argument| is_missing(argument.name));
        let missing: Vec<String> = missing.map(|argument| format!("{:?}", argument.name)).collect();
        match missing.as_slice() {
            [] => Ok(()),
            [name] => {
                Err(ConfigError::new(format!("the attribute {name} is required by the backend")))
            }
            [names @ .., last] => Err(ConfigError::new(format!(
                "the attributes {} and {last} are required by the backend",
                names.join(", ")
            ))),
        }
    }

    /// The boolean of an argument, `None` if it is not set.
    #[must_use]
    pub fn bool(&self, name: &str) -> Option<bool> {
        match self.value(name)? {
            Value::Bool(truth) => Some(*truth),
            _ => None,
        }
    }

    /// Returns an environment variable, or `None` if it is not set or empty.
    #[must_use]
    pub fn read_env_variable(&self, name: &str) -> Option<String> {
        self.environment.variables.get(name).filter(|text| !text.is_empty()).cloned()
    }

    /// Returns the string of an argument, or otherwise of the first environment variable that is
    /// set.
    #[must_use]
    pub fn string_or_variable(&self, name: &str, variables: &[&str]) -> Option<String> {
        self.string(name).or_else(|| variables.iter().find_map(|name| self.read_env_variable(name)))
    }

    /// Returns the boolean of an argument, otherwise of an environment variable, otherwise `false`.
    ///
    /// # Errors
    /// Returns an error if the variable has another value than `true` or `false`.
    pub fn bool_or_variable(&self, name: &str, variable: &str) -> Result<bool, ConfigError> {
        if let Some(truth) = self.bool(name) {
            return Ok(truth);
        }
        match self.read_env_variable(variable).as_deref() {
            None | Some("false" | "0") => Ok(false),
            Some("true" | "1") => Ok(true),
            Some(other) => {
                Err(ConfigError::new(format!("{variable} is {other:?}, not true or false")))
            }
        }
    }

    /// Returns the whole number of an argument, otherwise of an environment variable, otherwise the
    /// default.
    ///
    /// # Errors
    /// Returns an error if the number is negative, too large or not whole.
    pub fn u32_or_variable(
        &self,
        name: &str,
        variable: &str,
        default: u32,
    ) -> Result<u32, ConfigError> {
        let text = match self.value(name) {
            // The string is parsed like that of a variable, so that fractions and large numbers are
            // refused in the same way.
            Some(Value::Number(number)) => Some(number.to_string()),
            _ => self.read_env_variable(variable),
        };
        let Some(text) = text else { return Ok(default) };
        text.parse().map_err(|_| {
            ConfigError::new(format!("invalid {name}: {text:?} is not a whole number from 0"))
        })
    }

    /// The working directory.
    #[must_use]
    pub fn working_directory(&self) -> &'a Path {
        &self.environment.root
    }

    /// Reads a text file that an argument or variable names. The path may come from a checkout, so pipes
    /// and endless files are refused.
    ///
    /// # Errors
    /// Returns an error if the file is missing, not a regular file, larger than
    /// [`MAX_SMALL_FILE_LEN`] or not UTF-8.
    pub fn read_text(&self, path: impl AsRef<Path>) -> io::Result<String> {
        read_text(&self.working_directory().join(path), MAX_SMALL_FILE_LEN)
    }
}

/// Creates a schema of optional attributes.
pub(crate) fn optional_attributes_block(attributes: &[(&str, Type)]) -> Block {
    let attributes = attributes.iter().map(|(name, ty)| {
        let name: Str = (*name).into();
        (name, Attribute::new(ty.clone(), Role::Optional))
    });
    Block { attributes: attributes.collect(), ..Block::default() }
}
