//! Functions on numbers. Powers and logarithms are floats of 53 bits, everything else is exact.

use crate::print::with_article;
use formwork_value::{Number, Type, Value};

use super::{Args, Builtin, CallError};

type Outcome = Result<Value, CallError>;

pub(super) fn list() -> Vec<Builtin> {
    vec![
        of_number("abs", |args| Ok(Value::Number(args.number(0)?.abs())))
            .example("abs(-12.5)", "12.5"),
        of_number("ceil", |args| Ok(Value::Number(args.number(0)?.ceil())))
            .example("ceil(5.1)", "6"),
        of_number("floor", |args| Ok(Value::Number(args.number(0)?.floor())))
            .example("floor(-5.1)", "-6"),
        of_number("signum", |args| Ok(Value::int(args.integer(0)?.signum())))
            .example("signum(-13)", "-1"),
        of_two("log", ["num", "base"], |args| float(args, |number, base| number.ln() / base.ln()))
            .example("log(16, 2)", "4"),
        of_two("pow", ["num", "power"], |args| float(args, pow)).example("pow(3, 2)", "9"),
        Builtin::new("max", |args| extreme(args, |a, b| a > b))
            .takes_rest("numbers", Type::Number)
            .or_dynamic()
            .returns(Type::Number)
            .example("max(5, 12, 9)", "12"),
        Builtin::new("min", |args| extreme(args, |a, b| a < b))
            .takes_rest("numbers", Type::Number)
            .or_dynamic()
            .returns(Type::Number)
            .example("min(5, 12, 9)", "5"),
        Builtin::new("parseint", parse_int)
            .takes("number", Type::Dynamic)
            .takes("base", Type::Number)
            .returns_by(parse_int_type)
            .example(r#"parseint("FF", 16)"#, "255"),
    ]
}

fn of_number(name: &'static str, body: fn(&Args<'_>) -> Outcome) -> Builtin {
    Builtin::new(name, body).takes("num", Type::Number).or_dynamic().returns(Type::Number)
}

fn of_two(
    name: &'static str,
    params: [&'static str; 2],
    body: fn(&Args<'_>) -> Outcome,
) -> Builtin {
    let [first, second] = params;
    Builtin::new(name, body)
        .takes(first, Type::Number)
        .takes(second, Type::Number)
        .returns(Type::Number)
}

fn float(args: &Args<'_>, op: fn(f64, f64) -> f64) -> Outcome {
    let result = op(args.number(0)?.to_f64(), args.number(1)?.to_f64());
    Number::from_f64(result)
        .map(Value::Number)
        .ok_or_else(|| CallError::new("the result is not a number"))
}

fn extreme(args: &Args<'_>, better: fn(&Number, &Number) -> bool) -> Outcome {
    if args.values.is_empty() {
        return Err(CallError::new("it needs at least one number"));
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

fn parse_int_type(args: &[Value]) -> Result<Type, CallError> {
    match args.first().map(Value::ty) {
        Some(Type::String | Type::Dynamic) => Ok(Type::Number),
        Some(ty) => Err(CallError::argument(
            0,
            format!("it must be a string, this is {}", with_article(&ty)),
        )),
        None => Ok(Type::Number),
    }
}

fn parse_int(args: &Args<'_>) -> Outcome {
    let text = args.text(0)?;
    let base = args
        .number(1)?
        .to_i64()
        .and_then(|base| u8::try_from(base).ok())
        .filter(|base| (2..=62).contains(base))
        .ok_or_else(|| CallError::argument(1, "it must be a whole number between 2 and 62"))?;
    // The digits become a number in quadratic time; the limit is far beyond any use.
    if text.len() > 20_000 {
        return Err(CallError::argument(0, "it has more than 20000 digits"));
    }
    Number::parse_integer(text, base).map(Value::Number).ok_or_else(|| {
        CallError::argument(0, format!("{:?} is not a whole number in base {base}", text.as_str()))
    })
}

/// A power of floats, multiplied out for whole exponents. The roundings on the way are part of the
/// result that authors see, so the order of multiplications matters.
fn pow(base: f64, exponent: f64) -> f64 {
    if exponent.abs() == 0.5 && base >= 0.0 {
        let root = base.sqrt();
        return if exponent > 0.0 { root } else { 1.0 / root };
    }
    let special = exponent == 0.0
        || base == 1.0
        || base == 0.0
        || !base.is_finite()
        || !exponent.is_finite()
        || (base < 0.0 && exponent.fract() != 0.0)
        || exponent.abs() >= 9.2e18;
    if special {
        return base.powf(exponent);
    }
    let mut whole = exponent.abs().trunc();
    let mut fraction = exponent.abs().fract();
    let mut result = 1.0_f64;
    if fraction != 0.0 {
        if fraction > 0.5 {
            fraction -= 1.0;
            whole += 1.0;
        }
        result = (fraction * base.ln()).exp();
    }
    let mut shift = 0_i64;
    let (mut factor, mut factor_shift) = split(base);
    // The exponent is below 2^63, so it is exact here.
    let mut bits = whole as u64;
    while bits != 0 {
        if factor_shift.abs() > 1 << 12 {
            shift += factor_shift;
            break;
        }
        if bits & 1 == 1 {
            result *= factor;
            shift += factor_shift;
        }
        factor *= factor;
        factor_shift <<= 1;
        if factor < 0.5 {
            factor += factor;
            factor_shift -= 1;
        }
        bits >>= 1;
    }
    if exponent < 0.0 {
        result = 1.0 / result;
        shift = -shift;
    }
    scale(result, shift)
}

/// Splits a float into a fraction of at least a half and below one, and a power of two.
fn split(number: f64) -> (f64, i64) {
    let scaled = if number.abs() < f64::MIN_POSITIVE { number * 2_f64.powi(52) } else { number };
    let offset = if number.abs() < f64::MIN_POSITIVE { -52 } else { 0 };
    let bits = scaled.to_bits();
    let exponent = ((bits >> 52) & 0x7ff).cast_signed() - 1022;
    (f64::from_bits((bits & !(0x7ff << 52)) | (1022 << 52)), exponent + offset)
}

/// Multiplies by a power of two, in steps that do not overflow on the way.
fn scale(number: f64, shift: i64) -> f64 {
    let mut shift = shift.clamp(-5_000, 5_000);
    let mut number = number;
    while shift != 0 {
        let step = shift.clamp(-1_000, 1_000);
        number *= 2_f64.powi(i32::try_from(step).unwrap_or(0));
        shift -= step;
    }
    number
}

#[cfg(test)]
mod tests {
    use super::pow;

    #[test]
    fn whole_powers_are_multiplied_out() {
        assert_eq!(pow(2.0, 64.0), 18_446_744_073_709_551_616.0);
        assert_eq!(pow(10.0, -2.0), 0.01);
        assert_eq!(pow(-2.0, 3.0), -8.0);
        assert_eq!(pow(2.0, 1024.0), f64::INFINITY);
        assert!(pow(-1.0, 0.5).is_nan());
        assert_eq!(pow(4.0, 0.5), 2.0);
    }
}
