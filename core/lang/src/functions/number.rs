//! Functions on numbers. Powers and logarithms are floats of 53 bits, everything else is exact.

use crate::print_value::type_with_article;
mod power_and_log;

use formwork_value::{Number, Type, Value};
use power_and_log::{ln, pow};

use super::{Args, Builtin, CallError};

type FunctionResult = Result<Value, CallError>;

pub(super) fn builtins() -> Vec<Builtin> {
    vec![
        builtin_on_number("abs", |args| Ok(Value::Number(args.number(0)?.abs())))
            .described_as("Returns the absolute value of a number.", ["The number."])
            .with_example("abs(-12.5)", "12.5"),
        builtin_on_number("ceil", |args| Ok(Value::Number(args.number(0)?.ceil())))
            .described_as("Rounds a number up to a whole number.", ["The number."])
            .with_example("ceil(5.1)", "6"),
        builtin_on_number("floor", |args| Ok(Value::Number(args.number(0)?.floor())))
            .described_as("Rounds a number down to a whole number.", ["The number."])
            .with_example("floor(-5.1)", "-6"),
        builtin_on_number("signum", |args| Ok(Value::int(args.integer(0)?.signum())))
            .described_as("Returns the sign of a number: -1, 0 or 1.", ["The whole number."])
            .with_example("signum(-13)", "-1"),
        builtin_on_two_numbers("log", ["num", "base"], |args| {
            compute_in_floats(args, |number, base| ln(number) / ln(base))
        })
        .described_as("Returns the logarithm of a number.", ["The number.", "The base."])
        .with_example("log(16, 2)", "4"),
        builtin_on_two_numbers("pow", ["num", "power"], |args| compute_in_floats(args, pow))
            .described_as("Raises a number to a power.", ["The number.", "The power."])
            .with_example("pow(3, 2)", "9"),
        Builtin::new("max", |args| min_or_max(args, |a, b| a > b))
            .with_variadic("numbers", Type::Number)
            .last_param_allows_dynamic()
            .with_return_type(Type::Number)
            .described_as("Returns the maximum of numbers.", ["The numbers, at least one."])
            .with_example("max(5, 12, 9)", "12"),
        Builtin::new("min", |args| min_or_max(args, |a, b| a < b))
            .with_variadic("numbers", Type::Number)
            .last_param_allows_dynamic()
            .with_return_type(Type::Number)
            .described_as("Returns the minimum of numbers.", ["The numbers, at least one."])
            .with_example("min(5, 12, 9)", "5"),
        Builtin::new("parseint", parse_int)
            .with_param("number", Type::Dynamic)
            .with_param("base", Type::Number)
            .with_return_type_fn(parse_int_return_type)
            .described_as(
                "Parses a whole number in any base from 2 to 62.",
                ["The digits, in a string.", "The base."],
            )
            .with_example(r#"parseint("FF", 16)"#, "255"),
    ]
}

fn builtin_on_number(name: &'static str, body: fn(&Args<'_>) -> FunctionResult) -> Builtin {
    Builtin::new(name, body)
        .with_param("num", Type::Number)
        .last_param_allows_dynamic()
        .with_return_type(Type::Number)
}

fn builtin_on_two_numbers(
    name: &'static str,
    params: [&'static str; 2],
    body: fn(&Args<'_>) -> FunctionResult,
) -> Builtin {
    let [first, second] = params;
    Builtin::new(name, body)
        .with_param(first, Type::Number)
        .with_param(second, Type::Number)
        .with_return_type(Type::Number)
}

fn compute_in_floats(args: &Args<'_>, op: fn(f64, f64) -> f64) -> FunctionResult {
    let float = |at: usize| {
        let number = args.number(at)?;
        let float = number.to_f64();
        // A finite number that becomes infinite would make the result wrong without a message.
        if float.is_infinite() && !number.is_infinite() {
            return Err(CallError::new("a number is too large for a calculation with floats"));
        }
        Ok(float)
    };
    let result = op(float(0)?, float(1)?);
    Number::from_f64(result)
        .map(Value::Number)
        .ok_or_else(|| CallError::new("the result is not a number"))
}

fn min_or_max(args: &Args<'_>, better: fn(&Number, &Number) -> bool) -> FunctionResult {
    if args.values.is_empty() {
        return Err(CallError::new("must pass at least one number"));
    }
    let mut best = args.number(0)?;
    for at in 1..args.values.len() {
        let number = args.number(at)?;
        if better(number, best) {
            best = number;
        }
    }
    Ok(Value::Number(best.clone()))
}

fn parse_int_return_type(args: &[Value]) -> Result<Type, CallError> {
    match args.first().map(Value::ty) {
        Some(Type::String | Type::Dynamic) => Ok(Type::Number),
        Some(ty) => Err(CallError::for_argument(
            0,
            format!("it must be a string, this is {}", type_with_article(&ty)),
        )),
        None => Ok(Type::Number),
    }
}

fn parse_int(args: &Args<'_>) -> FunctionResult {
    let text = args.text(0)?;
    let base = args
        .number(1)?
        .to_i64()
        .and_then(|base| u8::try_from(base).ok())
        .filter(|base| (2..=62).contains(base))
        .ok_or_else(|| {
            CallError::for_argument(1, "base must be a whole number between 2 and 62 inclusive")
        })?;
    // The conversion of digits takes quadratic time. The limit is far above any practical use.
    if text.len() > 20_000 {
        return Err(CallError::for_argument(0, "it has more than 20000 digits"));
    }
    Number::parse_integer(text, base).map(Value::Number).ok_or_else(|| {
        CallError::for_argument(
            0,
            format!("cannot parse {:?} as a base {base} integer", text.as_str()),
        )
    })
}
