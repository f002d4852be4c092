//! The functions: one for each kind of argument, result and error.

use std::sync::atomic::{AtomicI64, Ordering};

use formwork_sdk::function::{AnyFunction, GivenArguments, Parameter, Signature};
use formwork_sdk::prelude::*;
use formwork_sdk::value::{Type, Value};

/// A function under its name.
pub(crate) struct NamedFunction {
    pub(crate) name: &'static str,
    signature: fn() -> Signature,
    body: fn(&GivenArguments) -> Answer<Value>,
}

impl AnyFunction for NamedFunction {
    fn signature(&self) -> Signature {
        (self.signature)()
    }

    fn call(&self, given: &GivenArguments) -> Answer<Value> {
        (self.body)(given)
    }
}

/// All of them.
pub(crate) fn all_functions() -> impl Iterator<Item = NamedFunction> {
    of_texts().into_iter().chain(of_anything()).chain(odd_functions())
}

fn of_texts() -> Vec<NamedFunction> {
    vec![
        NamedFunction {
            name: "greeting",
            signature: || {
                Signature::new(Type::String, "Greets somebody.")
                    .describe("Says *hello* to whom the argument names.")
                    .parameter(text("name"))
            },
            body: |given| Ok(Value::string(format!("Hello, {}", given.get::<String>(0)?))),
        },
        NamedFunction {
            name: "joined",
            signature: || {
                Signature::new(Type::String, "Joins texts.")
                    .parameter(text("separator"))
                    .variadic(text("parts"))
            },
            body: |given| {
                let separator: String = given.get(0)?;
                Ok(Value::string(given.get_all_from::<String>(1)?.join(&separator)))
            },
        },
    ]
}

fn of_anything() -> Vec<NamedFunction> {
    vec![
        NamedFunction {
            name: "kind",
            signature: || {
                let any = Parameter::new("value", Type::Dynamic, "Anything.");
                Signature::new(Type::String, "Says what it was given.")
                    .parameter(any.accept_null().accept_unknown())
            },
            body: |given| {
                Ok(Value::string(match given.values().first() {
                    Some(Value::Null(_)) => "null".to_owned(),
                    Some(Value::Unknown(_)) => "unknown".to_owned(),
                    Some(value) => value.ty().to_string(),
                    None => "nothing".to_owned(),
                }))
            },
        },
        NamedFunction {
            name: "same",
            signature: || {
                Signature::new(Type::Dynamic, "Returns what it was given.")
                    .parameter(Parameter::new("value", Type::Dynamic, "Anything."))
            },
            body: |given| given.get(0),
        },
        NamedFunction {
            name: "object",
            signature: || {
                let ty = Type::object([("name", Type::String), ("length", Type::Number)]);
                Signature::new(ty, "Describes a text.").parameter(text("text"))
            },
            body: |given| {
                let text: String = given.get(0)?;
                let length = i64::try_from(text.len()).unwrap_or_default();
                Ok(Value::object([("name", Value::string(text)), ("length", Value::int(length))]))
            },
        },
        NamedFunction {
            name: "total",
            signature: || {
                let numbers = Type::list(Type::Number);
                Signature::new(Type::Number, "Adds up.").parameter(Parameter::new(
                    "numbers",
                    numbers,
                    "Whole numbers.",
                ))
            },
            body: |given| Ok(Value::int(given.get::<Vec<i64>>(0)?.iter().sum())),
        },
    ]
}

fn odd_functions() -> Vec<NamedFunction> {
    vec![
        NamedFunction {
            name: "refuse",
            signature: || {
                Signature::new(Type::String, "Has no result.").variadic(text("arguments"))
            },
            body: |given| {
                Err(match given.values().len() {
                    0 => Problem::from_detail("there is none at all"),
                    n => Problem::from_detail("this one is not good").of_argument(n - 1),
                })
            },
        },
        NamedFunction {
            name: "nothing",
            signature: || Signature::new(Type::String, "Returns null."),
            body: |_| Ok(Value::null(Type::String)),
        },
        NamedFunction {
            name: "fickle",
            signature: || {
                Signature::new(Type::String, "Breaks the rule that results are always the same.")
            },
            body: |_| {
                static TURN: AtomicI64 = AtomicI64::new(0);
                let turn = TURN.fetch_add(1, Ordering::Relaxed);
                Ok(Value::string(format!("{turn} of {}", std::process::id())))
            },
        },
    ]
}

fn text(name: &str) -> Parameter {
    Parameter::new(name, Type::String, "A text.")
}
