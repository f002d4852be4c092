//! Printing of numbers. The language itself only uses [`Display`](std::fmt::Display). The other
//! notations are those of its formatting functions.

use std::fmt::{Display, Formatter, Result, Write as _};

use super::decimal::Decimal;
use super::float::{Magnitude, count_to_i64, exponent_to_usize};
use super::{Number, NumberRepr};

/// A way to write a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notation {
    /// `1234.5`: all digits before the point. The count is the number of digits after it.
    Fixed,
    /// `1.2345e+03`: the count is the number of digits after the point.
    Exponent,
    /// `Exponent` for very small and very large numbers, otherwise `Fixed`; the count is the number of
    /// significant digits.
    General,
}

impl Number {
    /// Writes the number with a count of digits, or with the fewest that read back to it; an infinity
    /// is `+Inf` or `-Inf`.
    #[must_use]
    pub fn to_text(&self, notation: Notation, count: Option<u16>) -> String {
        let float = self.to_float();
        let mut text = String::new();
        if float.negative {
            text.push('-');
        }
        let mut decimal = match &float.magnitude {
            Magnitude::Infinite => return if float.negative { "-Inf" } else { "+Inf" }.to_owned(),
            Magnitude::Zero => Decimal { digits: Vec::new(), point: 0 },
            Magnitude::Finite { mantissa, exponent } => match count {
                // Rounding the shortest digits would round twice.
                Some(_) => Decimal::exact_digits(mantissa, *exponent),
                None => Decimal::shortest_digits(mantissa, *exponent, float.precision),
            },
        };
        let n_digits = count_to_i64(decimal.digits.len());
        let point = decimal.point;
        match (notation, count.map(i64::from)) {
            (Notation::Fixed, count) => {
                if let Some(count) = count {
                    decimal.round_to_digits(point.saturating_add(count));
                }
                decimal.write_fixed(&mut text, count.unwrap_or((n_digits - point).max(0)));
            }
            (Notation::Exponent, count) => {
                if let Some(count) = count {
                    decimal.round_to_digits(count + 1);
                }
                decimal.write_scientific(&mut text, count.unwrap_or((n_digits - 1).max(0)));
            }
            (Notation::General, count) => decimal.write_general(&mut text, count),
        }
        text
    }
}

impl Decimal {
    fn digit(&self, at: i64) -> char {
        let at = usize::try_from(at).ok();
        at.and_then(|at| self.digits.get(at)).map_or('0', |&digit| char::from(digit))
    }

    fn write_fixed(&self, text: &mut String, n_behind: i64) {
        text.reserve(exponent_to_usize(self.point.max(1) + n_behind + 1));
        if self.point > 0 {
            text.extend((0..self.point).map(|at| self.digit(at)));
        } else {
            text.push('0');
        }
        if n_behind > 0 {
            text.push('.');
            text.extend((0..n_behind).map(|at| self.digit(self.point + at)));
        }
    }

    fn write_scientific(&self, text: &mut String, n_behind: i64) {
        text.push(self.digit(0));
        if n_behind > 0 {
            text.push('.');
            text.extend((1..=n_behind).map(|at| self.digit(at)));
        }
        let exponent = if self.digits.is_empty() { 0 } else { self.point - 1 };
        let sign = if exponent < 0 { '-' } else { '+' };
        // Writing to a string cannot fail.
        let _infallible = write!(text, "e{sign}{:02}", exponent.unsigned_abs());
    }

    fn write_general(&mut self, text: &mut String, count: Option<i64>) {
        // Below and above these exponents the other notation is shorter; the odd bounds are
        // Terraform's.
        const MIN_FIXED_EXPONENT: i64 = -4;
        const SHORTEST_FIXED_EXPONENT_LIMIT: i64 = 6;
        let count = count.map(|count| count.max(1));
        if let Some(count) = count {
            self.round_to_digits(count);
        }
        let n_digits = count_to_i64(self.digits.len());
        let limit = match count {
            None => SHORTEST_FIXED_EXPONENT_LIMIT,
            Some(count) if count > n_digits && n_digits >= self.point => n_digits,
            Some(count) => count,
        };
        let exponent = self.point - 1;
        if !self.digits.is_empty() && (exponent < MIN_FIXED_EXPONENT || exponent >= limit) {
            self.write_scientific(text, count.map_or(n_digits, |count| count.min(n_digits)) - 1);
        } else {
            self.write_fixed(text, (n_digits - self.point).max(0));
        }
    }
}

/// Prints all digits, never an exponent, with the fewest digits that read back to the same number at
/// its precision; infinities as `+Inf` and `-Inf`.
impl Display for Number {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match &self.0 {
            NumberRepr::Int { value, .. } => Display::fmt(value, f),
            NumberRepr::Big(_) => f.pad(&self.to_text(Notation::Fixed, None)),
        }
    }
}
