//! Arbitrary-precision numbers of the language: whole numbers in a machine word, everything else a
//! binary float with its own precision (512 bits when parsed, 53 from a float, 64 from an integer).
//! `ops` handles unknown and marked values.

mod decimal;
mod float;
mod print_number;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::cmp::Ordering;
use std::sync::Arc;

use dashu_int::UBig;
use dashu_int::ops::BitTest as _;

use decimal::{Decimal, TEXT_PRECISION};
use float::{Float, Magnitude};
pub use print_number::Notation;

/// The precision of numbers that come from machine integers.
const INTEGER_PRECISION: u32 = 64;

/// More digits, in any base, than a number can have.
const MAX_INTEGER_DIGITS: usize = 1 << 19;

/// A number: an integer in a machine word, or a binary float of any size with its own precision.
///
/// The order is that of the decimal strings of the numbers, and is consistent with `==`. Operators of
/// the language use [`Number::compare`].
#[derive(Clone, Debug)]
pub struct Number(NumberRepr);

/// Every number has one representation: `Int` if it is a whole number of at most `precision` bits
/// that fits and is not a negative zero.
#[derive(Clone, Debug)]
enum NumberRepr {
    Int { value: i64, precision: u32 },
    Big(Arc<Float>),
}

impl Number {
    /// An infinity.
    #[must_use]
    pub fn infinity(negative: bool) -> Self {
        Self::from(Float::infinite(negative, TEXT_PRECISION))
    }

    /// Returns the number as an index, if it is a whole number that fits.
    #[must_use]
    pub fn to_usize(&self) -> Option<usize> {
        self.to_i64().and_then(|number| usize::try_from(number).ok())
    }

    /// Returns the number as an `i64`, if it can be represented exactly.
    #[must_use]
    pub fn to_i64(&self) -> Option<i64> {
        match &self.0 {
            NumberRepr::Int { value, .. } => Some(*value),
            NumberRepr::Big(float) => float_to_i64(float),
        }
    }

    /// Returns the nearest `f64`, which is infinite if the number is too large.
    #[must_use]
    pub fn to_f64(&self) -> f64 {
        match &self.0 {
            // Every conversion of the language rounds to nearest, as this cast does.
            NumberRepr::Int { value, .. } => *value as f64,
            NumberRepr::Big(float) => float.to_f64(),
        }
    }

    /// Returns the number as an `f64`, if it can be represented exactly, including infinities.
    #[must_use]
    pub fn to_f64_exact(&self) -> Option<f64> {
        let nearest = self.to_f64();
        let back = Self::from_f64(nearest)?;
        (self.compare(&back) == Ordering::Equal).then_some(nearest)
    }

    /// Creates a number of precision 53 from a float. Returns `None` for NaN.
    #[must_use]
    pub fn from_f64(number: f64) -> Option<Self> {
        Float::from_f64(number).map(Self::from)
    }

    /// Parses a decimal string like the language does, at 512 bits: digits, fraction, exponent, `Inf`.
    /// Returns `None` if it is not a number, or has more than about 157,000 digits.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if let Some(value) = parse_short_integer(text) {
            return Some(Self(NumberRepr::Int { value, precision: TEXT_PRECISION }));
        }
        decimal::parse_decimal(text).map(Self::from)
    }

    /// The number as [`Number::parse`] reads its decimal text; `None` if it has the precision of such
    /// numbers already.
    #[must_use]
    pub fn with_text_precision(&self) -> Option<Self> {
        match &self.0 {
            NumberRepr::Int { precision: TEXT_PRECISION, .. } => None,
            NumberRepr::Int { value, .. } => {
                Some(Self(NumberRepr::Int { value: *value, precision: TEXT_PRECISION }))
            }
            NumberRepr::Big(float) if float.precision == TEXT_PRECISION => None,
            NumberRepr::Big(_) => Self::parse(&self.to_string()),
        }
    }

    /// Reads a whole number in a base from 2 to 62, with an optional sign. Letters count as digits:
    /// of any case up to base 36, lower case before upper case above it. `None` also for a number
    /// larger than [`Number::parse`] takes.
    #[must_use]
    pub fn parse_integer(text: &str, base: u8) -> Option<Self> {
        if !(2..=62).contains(&base) {
            return None;
        }
        let (negative, digits) = match text.as_bytes() {
            [b'-', rest @ ..] => (true, rest),
            [b'+', rest @ ..] => (false, rest),
            rest => (false, rest),
        };
        if digits.is_empty() {
            return None;
        }
        let digits = digits.iter().map(|&byte| {
            let digit = match byte {
                b'0'..=b'9' => byte - b'0',
                b'a'..=b'z' => byte - b'a' + 10,
                b'A'..=b'Z' if base <= 36 => byte - b'A' + 10,
                b'A'..=b'Z' => byte - b'A' + 36,
                _ => return None,
            };
            (digit < base).then_some(u64::from(digit))
        });
        let digits = digits.collect::<Option<Vec<_>>>()?;
        if digits.len() > MAX_INTEGER_DIGITS {
            return None;
        }
        let magnitude = UBig::from_digits(u64::from(base), &digits).ok()?;
        let bits = u32::try_from(magnitude.bit_len()).unwrap_or(u32::MAX);
        // An integer of Go has no negative zero.
        let negative = negative && !magnitude.is_zero();
        let number =
            Self::from(Float::from_integer(negative, magnitude, bits.max(INTEGER_PRECISION)));
        (!number.is_infinite()).then_some(number)
    }

    /// Whether it is a whole number.
    #[must_use]
    pub fn is_integer(&self) -> bool {
        match &self.0 {
            NumberRepr::Int { .. } => true,
            NumberRepr::Big(float) => float.is_integer(),
        }
    }

    /// Whether it is an infinity.
    #[must_use]
    pub fn is_infinite(&self) -> bool {
        matches!(&self.0, NumberRepr::Big(float) if float.magnitude == Magnitude::Infinite)
    }

    /// Whether it is a zero of either sign.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        match &self.0 {
            NumberRepr::Int { value, .. } => *value == 0,
            NumberRepr::Big(float) => float.magnitude == Magnitude::Zero,
        }
    }

    /// Returns whether the number has a minus sign, as negative zero does.
    #[must_use]
    pub fn is_negative(&self) -> bool {
        match &self.0 {
            NumberRepr::Int { value, .. } => *value < 0,
            NumberRepr::Big(float) => float.negative,
        }
    }

    /// Returns the sum, or `None` for infinities of opposite sign.
    #[must_use]
    #[inline]
    pub fn add(&self, other: &Self) -> Option<Self> {
        if let Some((a, b, precision)) = self.both_as_i64(other)
            && let Some(value) = a.checked_add(b)
        {
            return Some(Self(NumberRepr::Int { value, precision }));
        }
        self.to_float().add(&other.to_float()).map(Self::from)
    }

    /// Returns the difference, or `None` for infinities of the same sign.
    #[must_use]
    #[inline]
    pub fn subtract(&self, other: &Self) -> Option<Self> {
        if let Some((a, b, precision)) = self.both_as_i64(other)
            && let Some(value) = a.checked_sub(b)
        {
            return Some(Self(NumberRepr::Int { value, precision }));
        }
        self.to_float().add(&other.to_float().into_owned().negated()).map(Self::from)
    }

    /// The product; `None` for zero times infinity.
    #[must_use]
    #[inline]
    pub fn multiply(&self, other: &Self) -> Option<Self> {
        if let Some((a, b, precision)) = self.both_as_i64(other)
            && let Some(value) = a.checked_mul(b)
            // A zero may need a sign: `0 * -1` is a negative zero in Terraform.
            && value != 0
        {
            return Some(Self(NumberRepr::Int { value, precision }));
        }
        let (a, b) = (self.to_float(), other.to_float());
        // Terraform multiplies at 512 bits and then keeps no more bits than the wider operand has,
        // or than the product needs.
        let product = a.multiply(&b, TEXT_PRECISION)?;
        let needed = match &product.magnitude {
            Magnitude::Finite { mantissa, .. } => u32::try_from(mantissa.bit_len()).unwrap_or(0),
            _ => 0,
        };
        let precision = a.precision.max(b.precision).max(needed);
        Some(Self::from(Float { precision, ..product }))
    }

    /// Returns the quotient, which is infinite for a division by zero, or `None` for zero by zero or
    /// infinity by infinity.
    #[must_use]
    pub fn divide(&self, other: &Self) -> Option<Self> {
        if let Some((a, b, precision)) = self.both_as_i64(other)
            // As for products: a zero divided by a negative number is a negative zero.
            && a != 0
            && a.checked_rem(b) == Some(0)
        {
            return Some(Self(NumberRepr::Int { value: a / b, precision }));
        }
        let (a, b) = (self.to_float(), other.to_float());
        a.divide(&b, a.precision.max(b.precision)).map(Self::from)
    }

    /// Remainder of the division to a whole number, with the sign of the dividend. For a zero divisor,
    /// it is the dividend. Returns `None` if either is infinite.
    #[must_use]
    pub fn remainder(&self, other: &Self) -> Option<Self> {
        if other.is_zero() {
            return Some(self.clone());
        }
        if let (NumberRepr::Int { precision, .. }, Some((a, b, _))) =
            (&self.0, self.both_as_i64(other))
            && let Some(value) = a.checked_rem(b)
        {
            return Some(Self(NumberRepr::Int { value, precision: *precision }));
        }
        let (a, b) = (self.to_float(), other.to_float());
        let quotient = a.divide(&b, a.precision.max(b.precision))?;
        let (whole, _) = quotient.whole_part_and_has_fraction()?;
        // Every step is rounded to the dividend's precision, as in Terraform.
        let whole = Float::from_integer(quotient.negative, whole, a.precision);
        let product = b.multiply(&whole, a.precision)?;
        a.add(&product.negated()).map(Self::from)
    }

    /// Returns the number with the opposite sign. Zero becomes a negative zero.
    #[must_use]
    pub fn negate(&self) -> Self {
        match self.0 {
            // Neither has its negative in a machine word: zero becomes a negative zero.
            NumberRepr::Int { value, precision } if value != 0 && value != i64::MIN => {
                Self(NumberRepr::Int { value: -value, precision })
            }
            _ => Self::from(self.to_float().into_owned().negated()),
        }
    }

    /// The number without its sign.
    #[must_use]
    pub fn abs(&self) -> Self {
        if self.is_negative() { self.negate() } else { self.clone() }
    }

    /// Returns the greatest whole number not above this one. Infinities are not changed.
    #[must_use]
    pub fn floor(&self) -> Self {
        self.round_to_integer(true)
    }

    /// Returns the least whole number not below this one. Infinities are not changed.
    #[must_use]
    pub fn ceil(&self) -> Self {
        self.round_to_integer(false)
    }

    fn round_to_integer(&self, down: bool) -> Self {
        let NumberRepr::Big(float) = &self.0 else { return self.clone() };
        let Some((mut whole, fraction)) = float.whole_part_and_has_fraction() else {
            return self.clone();
        };
        if fraction && float.negative == down {
            whole += 1u8;
        }
        // A negative zero is not a result.
        let negative = float.negative && !whole.is_zero();
        Self::from(Float::from_integer(negative, whole, float.precision))
    }

    /// Compares the exact values, as `<` and `>` do. Two numbers with the same printed form are equal
    /// under `==`, but may differ here if they have different precisions.
    #[must_use]
    pub fn compare(&self, other: &Self) -> Ordering {
        match (&self.0, &other.0) {
            (NumberRepr::Int { value: a, .. }, NumberRepr::Int { value: b, .. }) => a.cmp(b),
            _ => self.to_float().compare(&other.to_float()),
        }
    }

    /// Both numbers as machine words and the precision of their results, if arithmetic on words gives
    /// what arithmetic on floats would: the precision must hold any word.
    fn both_as_i64(&self, other: &Self) -> Option<(i64, i64, u32)> {
        match (&self.0, &other.0) {
            (
                NumberRepr::Int { value: a, precision: p },
                NumberRepr::Int { value: b, precision: q },
            ) if *p >= INTEGER_PRECISION && *q >= INTEGER_PRECISION => Some((*a, *b, *p.max(q))),
            _ => None,
        }
    }

    fn to_float(&self) -> Cow<'_, Float> {
        match &self.0 {
            NumberRepr::Int { value, precision } => {
                let magnitude = UBig::from(value.unsigned_abs());
                Cow::Owned(Float::from_integer(*value < 0, magnitude, *precision))
            }
            NumberRepr::Big(float) => Cow::Borrowed(float),
        }
    }

    /// Returns the digits that represent the number in comparisons of fractions, or `None` for whole
    /// numbers and infinities.
    fn shortest_fraction_digits(&self) -> Option<Decimal> {
        match &self.0 {
            NumberRepr::Big(float) => match &float.magnitude {
                Magnitude::Finite { mantissa, exponent } if *exponent < 0 => {
                    Some(Decimal::shortest_digits(mantissa, *exponent, float.precision))
                }
                _ => None,
            },
            NumberRepr::Int { .. } => None,
        }
    }
}

/// Fast path for a short whole number in the usual form.
fn parse_short_integer(text: &str) -> Option<i64> {
    const MAX_SHORT_INTEGER_DIGITS: usize = 18;
    let (negative, digits) = match text.as_bytes() {
        [b'-', rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    if digits.is_empty()
        || digits.len() > MAX_SHORT_INTEGER_DIGITS
        || !digits.iter().all(u8::is_ascii_digit)
    {
        return None;
    }
    let value = digits.iter().fold(0, |value, digit| value * 10 + i64::from(digit - b'0'));
    match (negative, value) {
        // A negative zero is not the integer zero.
        (true, 0) => None,
        (true, value) => Some(-value),
        (false, value) => Some(value),
    }
}

fn float_to_i64(float: &Float) -> Option<i64> {
    // Such a float is not an `i64`, and its expansion could take half a million bits.
    if matches!(&float.magnitude, Magnitude::Finite { exponent, .. } if *exponent > 63) {
        return None;
    }
    let (whole, fraction) = float.whole_part_and_has_fraction()?;
    let magnitude = i128::from(u64::try_from(&whole).ok()?);
    let value = i64::try_from(if float.negative { -magnitude } else { magnitude }).ok()?;
    (!fraction).then_some(value)
}

impl From<Float> for Number {
    fn from(float: Float) -> Self {
        let precision = float.precision;
        // A word whose bits exceed the precision would be rounded by arithmetic on floats.
        let fits = |value: i64| 64 - value.unsigned_abs().leading_zeros() <= precision;
        let negative_zero = float.negative && float.magnitude == Magnitude::Zero;
        match float_to_i64(&float) {
            Some(value) if fits(value) && !negative_zero => {
                Self(NumberRepr::Int { value, precision })
            }
            _ => Self(NumberRepr::Big(Arc::new(float))),
        }
    }
}

impl From<i64> for Number {
    fn from(value: i64) -> Self {
        Self(NumberRepr::Int { value, precision: INTEGER_PRECISION })
    }
}

impl From<usize> for Number {
    fn from(value: usize) -> Self {
        Self::from(value as u64)
    }
}

impl From<u64> for Number {
    fn from(value: u64) -> Self {
        match i64::try_from(value) {
            Ok(value) => Self::from(value),
            Err(_) => Self::from(Float::from_integer(false, UBig::from(value), INTEGER_PRECISION)),
        }
    }
}

/// Equality of the language: whole numbers by value, others by their shortest decimal string.
impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Number {}

impl std::hash::Hash for Number {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        // Equal numbers must have the same hash in any form.
        if let Some(value) = self.to_i64() {
            return value.hash(state);
        }
        self.is_negative().hash(state);
        match (self.shortest_fraction_digits(), &self.0) {
            (Some(decimal), _) => decimal.hash(state),
            (None, NumberRepr::Big(float)) => match &float.magnitude {
                Magnitude::Finite { mantissa, exponent } => (mantissa, exponent).hash(state),
                Magnitude::Zero | Magnitude::Infinite => {}
            },
            (None, NumberRepr::Int { .. }) => {}
        }
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Self) -> Ordering {
        if let (NumberRepr::Int { value: a, .. }, NumberRepr::Int { value: b, .. }) =
            (&self.0, &other.0)
        {
            return a.cmp(b);
        }
        let (a, b) = (self.to_float(), other.to_float());
        // A fraction's text lies on the same side of every whole number as the fraction itself, so
        // only two fractions that nearly agree need their strings.
        if self.is_integer() || other.is_integer() || !a.may_differ_by_rounding(&b) {
            return a.compare(&b);
        }
        // Equal floats of one precision have equal strings, which do not need to be computed.
        if a.precision == b.precision && a.compare(&b) == Ordering::Equal {
            return Ordering::Equal;
        }
        let (Some(a_text), Some(b_text)) =
            (self.shortest_fraction_digits(), other.shortest_fraction_digits())
        else {
            return a.compare(&b);
        };
        let order = a_text.point.cmp(&b_text.point).then_with(|| a_text.digits.cmp(&b_text.digits));
        // The digits are those of the magnitudes, and of two negative numbers the larger one is
        // less.
        if a.negative { order.reverse() } else { order }
    }
}
