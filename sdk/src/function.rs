//! A function as its author writes it: a signature, and a body that is asked for a value and nothing
//! else.

use formwork_plugin_protocol::message::function::FunctionError;
use formwork_plugin_protocol::message::schema::{FunctionParameter, FunctionSignature};
use formwork_value::{Type, Value};

use crate::Field;

/// A function that configurations call as `provider::NAME::function(…)`.
///
/// It must give the same result for the same arguments, whenever and wherever it is called.
pub trait Function: Send + Sync + 'static {
    /// What it takes and returns.
    fn signature(&self) -> Signature;

    /// Computes the result.
    ///
    /// # Errors
    /// When there is none for these arguments.
    fn call(&self, arguments: &Arguments) -> Result<Value, Refusal>;
}

/// What a function takes and returns.
#[derive(Clone, Debug)]
pub struct Signature(pub(crate) FunctionSignature);

impl Signature {
    /// The signature of a function without parameters. The summary is one line.
    #[must_use]
    pub fn new(returns: Type, summary: &str) -> Self {
        Self(FunctionSignature {
            parameters: Vec::new(),
            variadic: None,
            returns,
            summary: summary.to_owned(),
            description: String::new(),
            markdown: true,
            deprecation: String::new(),
        })
    }

    /// Says more about it, in Markdown.
    #[must_use]
    pub fn describe(mut self, description: &str) -> Self {
        description.clone_into(&mut self.0.description);
        self
    }

    /// Adds a parameter behind those that are there.
    #[must_use]
    pub fn parameter(mut self, parameter: Parameter) -> Self {
        self.0.parameters.push(parameter.0);
        self
    }

    /// Takes any number of further arguments.
    #[must_use]
    pub fn variadic(mut self, parameter: Parameter) -> Self {
        self.0.variadic = Some(parameter.0);
        self
    }
}

/// A parameter of a function. Unless it says otherwise, its arguments are known and not null.
#[derive(Clone, Debug)]
pub struct Parameter(FunctionParameter);

impl Parameter {
    /// A parameter of a type, with a description in Markdown.
    #[must_use]
    pub fn new(name: &str, ty: Type, description: &str) -> Self {
        Self(FunctionParameter {
            name: name.to_owned(),
            ty,
            allow_null: false,
            allow_unknown: false,
            description: description.to_owned(),
            markdown: true,
        })
    }

    /// Takes null as well.
    #[must_use]
    pub fn or_null(mut self) -> Self {
        self.0.allow_null = true;
        self
    }

    /// Takes what is not known yet as well.
    #[must_use]
    pub fn or_unknown(mut self) -> Self {
        self.0.allow_unknown = true;
        self
    }
}

/// The arguments of a call, of the types that the signature says.
#[derive(Clone, Debug)]
pub struct Arguments(pub(crate) Vec<Value>);

impl Arguments {
    /// Reads the argument at a position, from 0.
    ///
    /// # Errors
    /// When there is none, or `T` has no form for it.
    pub fn get<T: Field>(&self, at: usize) -> Result<T, Refusal> {
        let Some(value) = self.0.get(at) else {
            return Err(Refusal::new(format!("argument {} is missing", at + 1)));
        };
        T::from_value(value).map_err(|refused| Refusal::of_argument(at, refused.reason))
    }

    /// All of them, variadic ones at the end.
    #[must_use]
    pub fn values(&self) -> &[Value] {
        &self.0
    }
}

/// Why a call has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal(pub(crate) FunctionError);

impl Refusal {
    /// A refusal that blames no argument.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(FunctionError { text: text.into(), argument: None })
    }

    /// A refusal that blames the argument at a position, from 0.
    #[must_use]
    pub fn of_argument(at: usize, text: impl Into<String>) -> Self {
        Self(FunctionError { text: text.into(), argument: u64::try_from(at).ok() })
    }

    /// What is wrong.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0.text
    }
}
