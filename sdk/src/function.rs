//! A function as its author writes it: a struct of its arguments, and what comes of them.

use formwork_plugin_protocol::message::function::FunctionError;
use formwork_plugin_protocol::message::schema::{FunctionParameter, FunctionSignature};
use formwork_value::{Step, Type, Value};

use crate::{Answer, Field, Problem};

/// A function that configurations call as `provider::NAME::function(…)`. It must give the same result
/// for the same arguments, whenever and wherever it is called.
///
/// The struct is what it takes: each field is a parameter, its doc comment the description. Arguments
/// are known and not null, unless the field is an `Option` or an [`Attr`](crate::Attr).
/// `#[attr(variadic)]` on a last field `Vec<T>` takes any number of further arguments. The first
/// paragraph of the struct's doc comment is the summary of the function, the rest its description.
///
/// ```
/// use formwork_sdk::prelude::*;
///
/// /// Joins texts.
/// ///
/// /// Between any two of them stands the separator.
/// #[derive(Arguments)]
/// struct Joined {
///     /// What stands between them.
///     separator: String,
///     /// The texts.
///     #[attr(variadic)]
///     texts: Vec<String>,
/// }
///
/// impl Function for Joined {
///     type Result = String;
///
///     fn call(self) -> Answer<String> {
///         match self.separator.as_str() {
///             "" => Err(Problem::because("there is nothing to join with").at("separator")),
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
    /// When there is none for these arguments. [`Problem::at`] says which of them is to blame.
    fn call(self) -> Answer<Self::Result>;
}

/// Parameters of a function. Implemented by the derive.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say what arguments there are",
    note = "give the struct #[derive(Arguments)]"
)]
pub trait Arguments: Sized + Send + Sync + 'static {
    /// Adds the parameters to a signature, and says what the function does.
    fn describe(signature: Signature) -> Signature;

    /// Reads the arguments.
    ///
    /// # Errors
    /// When one of them is nothing that its field can hold.
    fn read(given: &Given) -> Answer<Self>;
}

/// A function of any kind.
pub trait AnyFunction: Send + Sync + 'static {
    /// Parameters and result.
    fn signature(&self) -> Signature;

    /// Computes the result.
    ///
    /// # Errors
    /// When there is none for these arguments.
    fn call(&self, given: &Given) -> Answer<Value>;
}

/// A function that has a type.
pub(crate) struct Typed<F>(pub(crate) std::marker::PhantomData<fn() -> F>);

impl<F: Function> AnyFunction for Typed<F> {
    fn signature(&self) -> Signature {
        F::describe(Signature::new(F::Result::ty(), ""))
    }

    fn call(&self, given: &Given) -> Answer<Value> {
        Ok(F::read(given)?.call()?.to_value())
    }
}

/// Signature of a function: parameters and result.
#[derive(Clone, Debug)]
pub struct Signature(pub(crate) FunctionSignature);

impl Signature {
    /// The signature of a function without parameters. The summary is one line.
    #[must_use]
    pub fn new(returns: Type, summary: &str) -> Self {
        let signature = FunctionSignature::new(Vec::new(), returns);
        Self(FunctionSignature { summary: summary.to_owned(), markdown: true, ..signature })
    }

    /// Says what it does, in one line.
    #[must_use]
    pub fn summary(mut self, summary: &str) -> Self {
        summary.clone_into(&mut self.0.summary);
        self
    }

    /// Says that something else should be used.
    #[must_use]
    pub fn deprecated(mut self, instead: &str) -> Self {
        instead.clone_into(&mut self.0.deprecation);
        self
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
    /// A parameter of the field's type, with a description in Markdown. It takes what the field does.
    #[must_use]
    pub fn of<F: Field>(name: &str, description: &str) -> Self {
        let mut parameter = Self::new(name, F::ty(), description);
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
pub struct Given(pub(crate) Vec<Value>);

impl Given {
    /// Reads the argument at a position, from 0.
    ///
    /// # Errors
    /// When there is none, or `T` has no form for it.
    pub fn get<T: Field>(&self, at: usize) -> Answer<T> {
        let Some(value) = self.0.get(at) else {
            return Err(Problem::because(format!("argument {} is missing", at + 1)));
        };
        T::from_value(value).map_err(|refused| Problem::because(refused.reason).of_argument(at))
    }

    /// Reads the arguments from a position on.
    ///
    /// # Errors
    /// When `T` has no form for one of them.
    pub fn rest<T: Field>(&self, from: usize) -> Answer<Vec<T>> {
        (from..self.0.len()).map(|at| self.get(at)).collect()
    }

    /// All of them, variadic ones at the end.
    #[must_use]
    pub fn values(&self) -> &[Value] {
        &self.0
    }
}

/// A problem as the contract's function error. Its argument may be given by the parameter's name.
pub(crate) fn error(signature: &FunctionSignature, problem: &Problem) -> FunctionError {
    let text = match (problem.summary(), problem.detail()) {
        ("", detail) => detail.to_owned(),
        (summary, "") => summary.to_owned(),
        (summary, detail) => format!("{summary}: {detail}"),
    };
    // Hosts end the sentence.
    let text = text.strip_suffix('.').map_or_else(|| text.clone(), str::to_owned);
    let named = || match problem.path().0.first()? {
        Step::Attribute(name) => {
            let all = signature.parameters.iter().chain(&signature.variadic);
            all.into_iter().position(|parameter| parameter.name == name.as_str())
        }
        _ => None,
    };
    let argument = problem.argument().or_else(named).and_then(|at| u64::try_from(at).ok());
    FunctionError { text, argument }
}
