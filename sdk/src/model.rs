//! A struct as a schema and as the value of an object. `#[derive(Model)]` writes the implementations;
//! the functions here are what it calls.

use formwork_value::convert::Refused;
use formwork_value::{Diagnostic, Diagnostics, Path, Reported, Step, Value};

use crate::field::within;
use crate::schema::Shape;
use crate::{Answer, Field};

/// A struct whose fields are the attributes of a schema. To be derived.
pub trait Model: Sized + Send + Sync + 'static {
    /// The schema, and the rules for planning.
    fn shape() -> Shape;

    /// Reads an object.
    ///
    /// # Errors
    /// When the value is not an object, or some attribute is nothing that its field can hold.
    fn from_value(value: &Value) -> Result<Self, Refused>;

    /// Makes an object.
    fn to_value(&self) -> Value;
}

/// The model of something that has no attributes, such as a provider without configuration.
impl Model for () {
    fn shape() -> Shape {
        Shape::new("")
    }

    fn from_value(_: &Value) -> Result<Self, Refused> {
        Ok(())
    }

    fn to_value(&self) -> Value {
        Value::object(std::iter::empty::<(&str, Value)>())
    }
}

/// Reads one attribute of an object; one that is missing is null.
///
/// # Errors
/// When the field cannot hold it.
pub fn part<T: Field>(object: &Value, name: &str) -> Result<T, Refused> {
    let value = match object {
        Value::Object(object) => object.get(name).cloned(),
        _ => None,
    };
    let value = value.unwrap_or_else(|| Value::null(T::ty()));
    T::from_value(&value).map_err(|why| within(Step::Attribute(name.into()), why))
}

/// Asks a typed function about a change of one attribute. What has no form in the type counts as a
/// change.
pub fn decide<T: Field>(prior: &Value, planned: &Value, ask: fn(&T, &T) -> bool) -> bool {
    match (T::from_value(prior), T::from_value(planned)) {
        (Ok(prior), Ok(planned)) => ask(&prior, &planned),
        _ => true,
    }
}

/// Reads an object, reporting why if it cannot be read.
pub(crate) fn read<M: Model>(diags: &mut Diagnostics, value: &Value) -> Answer<M> {
    M::from_value(value).map_err(|refused| report(diags, &refused.path, &refused.reason))
}

fn report(diags: &mut Diagnostics, path: &Path, reason: &str) -> Reported {
    let place = path.to_string();
    let place = place.trim_start_matches('.');
    let detail = format!("Inappropriate value for `{place}`: {reason}.");
    diags.error(Diagnostic::error("Incorrect attribute value", detail).path(path.clone()))
}
