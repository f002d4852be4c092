//! Functions: a struct of arguments, and the function that computes the result.

use formwork_plugin_protocol::message::function::FunctionError;
use formwork_plugin_protocol::message::schema::{FunctionParameter, FunctionSignature};
use formwork_value::{Step, Type, Value};

use crate::{Answer, Field, Problem};

/// A function that configurations call as `provider::NAME::function(…)`. It must return the same result
/// for the same arguments on every call.
///
/// The struct has the arguments: each field is a parameter, its doc comment the description. Arguments
/// are known and not null, unless the field is an `Option` or an [`Attr`](crate::Attr).
/// `#[attr(variadic)]` on a last field `Vec<T>` takes any number of further arguments. The first
/// paragraph of the struct's doc comment is the summary of the function, the rest its description.
///
/// ```
/// use formwork_sdk::prelude::*;
///
/// /// Joins strings.
/// ///
/// /// The separator is inserted between any two of them.
/// #[derive(Arguments)]
/// struct Joined {
///     /// The separator.
///     separator: String,
///     /// The strings.
///     #[attr(variadic)]
///     texts: Vec<String>,
/// }
///
/// impl Function for Joined {
///     type Result = String;
///
///     fn call(self) -> Answer<String> {
///         match self.separator.as_str() {
///             "" => Err(Problem::from_detail("there is nothing to join with").at("separator")),
///             separator => Ok(self.texts.join(separator)),
///         }
///     }
/// }
///
/// let provider = ProviderDef::new("registry.terraform.io/acme/text").function::<Joined>("joined");
/// ```
pub trait Function: Arguments {
    /// Result: any attribute type.
    type Result: Field;

    /// Computes the result.
    ///
    /// # Errors
    /// When these arguments have no result. [`Problem::at`] names the argument at fault.
    fn call(self) -> Answer<Self::Result>;
}

/// Parameters of a function. Implemented by the derive.
///
/// See [`Function`] for an example.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not derive `Arguments`",
    note = "give the struct #[derive(Arguments)]"
)]
pub trait Arguments: Sized + Send + Sync + 'static {
    /// Adds the parameters and the description to a signature.
    fn add_to_signature(signature: Signature) -> Signature;

    /// Reads the arguments.
    ///
    /// # Errors
    /// When a field cannot represent its argument.
    fn from_given_arguments(arguments: &GivenArguments) -> Answer<Self>;
}

/// A function of any kind.
///
/// ```
/// use formwork_sdk::function::{AnyFunction, GivenArguments, Parameter, Signature};
/// use formwork_sdk::prelude::*;
/// use formwork_sdk::testing::{call_function, wait};
/// use formwork_sdk::value::{Type, Value};
///
/// struct Repeat;
///
/// impl AnyFunction for Repeat {
///     fn signature(&self) -> Signature {
///         Signature::new(Type::String, "Repeats a string.")
///             .parameter(Parameter::new("text", Type::String, "The string."))
///             .parameter(Parameter::of_field_type::<u8>("times", "Number of repetitions."))
///     }
///
///     fn call(&self, arguments: &GivenArguments) -> Answer<Value> {
///         let text: String = arguments.get(0)?;
///         let times: u8 = arguments.get(1)?;
///         Ok(Value::string(text.repeat(times.into())))
///     }
/// }
///
/// let provider =
///     ProviderDef::new("registry.terraform.io/acme/text").any_function("repeat", Repeat);
/// let arguments = vec![Value::string("ab"), Value::int(2)];
/// assert_eq!(wait(call_function(provider, "repeat", arguments)), Ok(Value::string("abab")));
/// ```
pub trait AnyFunction: Send + Sync + 'static {
    /// Parameters and result.
    fn signature(&self) -> Signature;

    /// Computes the result.
    ///
    /// # Errors
    /// When these arguments have no result.
    fn call(&self, arguments: &GivenArguments) -> Answer<Value>;
}

/// A typed function.
pub(crate) struct TypedFunction<F>(pub(crate) std::marker::PhantomData<fn() -> F>);

impl<F: Function> AnyFunction for TypedFunction<F> {
    fn signature(&self) -> Signature {
        F::add_to_signature(Signature::new(F::Result::ty(), ""))
    }

    fn call(&self, arguments: &GivenArguments) -> Answer<Value> {
        Ok(F::from_given_arguments(arguments)?.call()?.to_value())
    }
}

/// Signature of a function: parameters and result.
///
/// ```
/// use formwork_sdk::function::{Parameter, Signature};
/// use formwork_sdk::value::Type;
///
/// let signature = Signature::new(Type::String, "Joins strings.")
///     .parameter(Parameter::new("separator", Type::String, "The separator."))
///     .variadic(Parameter::new("texts", Type::String, "The strings."));
/// ```
#[derive(Clone, Debug)]
pub struct Signature(pub(crate) FunctionSignature);

impl Signature {
    /// The signature of a function without parameters. The summary is one line.
    #[must_use]
    pub fn new(returns: Type, summary: &str) -> Self {
        let signature = FunctionSignature::new(Vec::new(), returns);
        Self(FunctionSignature { summary: summary.to_owned(), markdown: true, ..signature })
    }

    /// Sets the summary of the function, in one line.
    #[must_use]
    pub fn summarize(mut self, summary: &str) -> Self {
        summary.clone_into(&mut self.0.summary);
        self
    }

    /// Marks the function as deprecated, with its replacement.
    #[must_use]
    pub fn deprecated(mut self, instead: &str) -> Self {
        instead.clone_into(&mut self.0.deprecation);
        self
    }

    /// Sets the description, in Markdown.
    #[must_use]
    pub fn describe(mut self, description: &str) -> Self {
        description.clone_into(&mut self.0.description);
        self
    }

    /// Adds a parameter after the existing ones.
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

/// A parameter of a function. By default its arguments are known and not null.
///
/// ```
/// use formwork_sdk::function::Parameter;
/// use formwork_sdk::value::Type;
///
/// let separator = Parameter::new("separator", Type::String, "The separator.").accept_null();
/// // The same, with the properties of the field.
/// let separator = Parameter::of_field_type::<Option<String>>("separator", "The separator.");
/// ```
#[derive(Clone, Debug)]
pub struct Parameter(FunctionParameter);

impl Parameter {
    /// A parameter with the type of a field, with a description in Markdown. It accepts the same
    /// values as the field.
    #[must_use]
    pub fn of_field_type<F: Field>(name: &str, description: &str) -> Self {
        let mut parameter = Self::new(name, F::ty(), description);
        // A host calls no function with an argument that its parameter does not accept: it reports
        // null as an error, and takes the result for unknown if the argument is.
        (parameter.0.allow_null, parameter.0.allow_unknown) = (F::NULLABLE, F::HOLDS_UNKNOWN);
        parameter
    }

    /// A parameter of a type, with a description in Markdown.
    #[must_use]
    pub fn new(name: &str, ty: Type, description: &str) -> Self {
        let parameter = FunctionParameter::new(name, ty);
        let description = description.to_owned();
        Self(FunctionParameter { description, markdown: true, ..parameter })
    }

    /// Accepts null as well.
    #[must_use]
    pub fn accept_null(mut self) -> Self {
        self.0.allow_null = true;
        self
    }

    /// Accepts unknown values as well.
    #[must_use]
    pub fn accept_unknown(mut self) -> Self {
        self.0.allow_unknown = true;
        self
    }
}

/// The arguments of a call, with the types of the signature.
///
/// See [`AnyFunction`] for an example.
#[derive(Clone, Debug)]
pub struct GivenArguments(pub(crate) Vec<Value>);

impl GivenArguments {
    /// Reads the argument at a position, from 0.
    ///
    /// # Errors
    /// When it is absent, or `T` cannot represent it.
    pub fn get<T: Field>(&self, index: usize) -> Answer<T> {
        let Some(value) = self.0.get(index) else {
            // Authors count arguments from 1.
            return Err(Problem::from_detail(format!("argument {} is missing", index + 1)));
        };
        T::from_value(value).map_err(|error| Problem::from_detail(error.reason).of_argument(index))
    }

    /// Reads the arguments from a position on.
    ///
    /// # Errors
    /// When `T` cannot represent one of them.
    pub fn get_all_from<T: Field>(&self, from: usize) -> Answer<Vec<T>> {
        (from..self.0.len()).map(|index| self.get(index)).collect()
    }

    /// All arguments, variadic ones at the end.
    #[must_use]
    pub fn values(&self) -> &[Value] {
        &self.0
    }
}

/// A problem as the contract's function error. Its argument may be identified by the parameter's
/// name.
pub(crate) fn to_function_error(signature: &FunctionSignature, problem: &Problem) -> FunctionError {
    let text = match (problem.summary(), problem.detail()) {
        ("", detail) => detail.to_owned(),
        (summary, "") => summary.to_owned(),
        (summary, detail) => format!("{summary}: {detail}"),
    };
    // The host adds the final period.
    let text = text.strip_suffix('.').map_or_else(|| text.clone(), str::to_owned);
    let index_of_name = || match problem.path().0.first()? {
        Step::Attribute(name) => {
            let parameters = signature.parameters.iter().chain(&signature.variadic);
            parameters.into_iter().position(|parameter| parameter.name == name.as_str())
        }
        _ => None,
    };
    let argument =
        problem.argument_index().or_else(index_of_name).and_then(|index| u64::try_from(index).ok());
    FunctionError { text, argument }
}
