//! Decimal strings of binary floats: the parser, and the fewest digits that parse to the same float at
//! its precision. The results equal those of Go's `math/big`, because provider values and state files
//! are compared as such strings.

use dashu_int::UBig;
use dashu_int::ops::BitTest as _;

use super::float::{
    Float, MAX_EXPONENT, Magnitude, UnroundedMagnitude, count_to_i64, exponent_to_usize,
};

/// The precision of numbers read from text.
pub(super) const TEXT_PRECISION: u32 = 512;

/// More decimal digits than any finite number has before or after the point.
const MAX_DECIMAL_DIGITS: i64 = MAX_EXPONENT / 3;

/// A fraction of more binary digits than this has more than 17 decimal ones.
const MAX_SHORT_FRACTION_BITS: i64 = 25;

/// Parses a decimal string as documented for [`super::Number::parse`].
pub(super) fn parse_decimal(text: &str) -> Option<Float> {
    let (negative, digits) = match text.as_bytes() {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    };
    if matches!(digits, b"Inf" | b"inf") {
        return Some(Float::infinite(negative, TEXT_PRECISION));
    }
    let scanned = ScannedNumber::new(digits)?;
    // No number has so many digits before and after its point, and parsing them would take long.
    if count_to_i64(scanned.digits.len()) > 2 * MAX_DECIMAL_DIGITS {
        return None;
    }
    let mantissa = match scanned.digits.is_empty() {
        true => UBig::ZERO,
        false => UBig::from_str_radix(&scanned.digits, 10).ok()?,
    };
    if mantissa.is_zero() {
        return Some(Float::from_integer(negative, mantissa, TEXT_PRECISION));
    }
    let float = decimal_to_float(mantissa, scanned.tens, scanned.twos, TEXT_PRECISION)?;
    matches!(float.magnitude, Magnitude::Finite { .. }).then_some(Float { negative, ..float })
}

/// The parts of a number's text: `digits × 10^tens × 2^twos`.
struct ScannedNumber {
    digits: String,
    tens: i64,
    twos: i64,
}

impl ScannedNumber {
    fn new(text: &[u8]) -> Option<Self> {
        let n_whole = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (whole, mut rest) = text.split_at(n_whole);
        let mut fraction: &[u8] = &[];
        if let [b'.', after_point @ ..] = rest {
            let n_fraction = after_point.iter().take_while(|byte| byte.is_ascii_digit()).count();
            (fraction, rest) = after_point.split_at(n_fraction);
        }
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let (tens, twos) = match rest {
            [] => (0, 0),
            [b'e' | b'E', exponent @ ..] => (scan_exponent(exponent)?, 0),
            // A binary exponent is not part of any other number syntax, but Terraform reads one
            // here.
            [b'p' | b'P', exponent @ ..] => (0, scan_exponent(exponent)?),
            _ => return None,
        };
        let digits = whole.iter().chain(fraction).map(|&byte| char::from(byte));
        // Leading zeros would count towards the limit of digits.
        let digits: String = digits.skip_while(|&digit| digit == '0').collect();
        Some(Self { digits, tens: tens - count_to_i64(fraction.len()), twos })
    }
}

fn scan_exponent(text: &[u8]) -> Option<i64> {
    let digits = text.strip_prefix(b"-").or(text.strip_prefix(b"+")).unwrap_or(text);
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    // An exponent that is too long saturates. The size of the number is checked later.
    let magnitude = digits.iter().fold(0i64, |sum, digit| {
        (sum.saturating_mul(10)).saturating_add(i64::from(digit - b'0')).min(i64::MAX / 4)
    });
    Some(if text.starts_with(b"-") { -magnitude } else { magnitude })
}

/// `mantissa × 10^tens × 2^twos` at a precision; `None` when it is far outside the range of numbers.
fn decimal_to_float(mantissa: UBig, tens: i64, twos: i64, precision: u32) -> Option<Float> {
    let size = count_to_i64(mantissa.bit_len());
    let top = twos.saturating_add(tens.saturating_mul(3)).saturating_add(size);
    // Checked before anything is computed: `1e999999999` must not become a number of a billion digits.
    if top.abs() > 2 * MAX_EXPONENT || tens.abs() > MAX_DECIMAL_DIGITS.saturating_add(size) {
        return None;
    }
    let parts = UnroundedMagnitude { mantissa, exponent: tens + twos, sticky: false };
    if tens == 0 {
        return Some(Float::round_magnitude(false, parts, precision));
    }
    // The digits take part unrounded, the power of five with 64 guard bits, as in Terraform.
    let mantissa = Float::round_magnitude(false, parts, u32::MAX);
    let power = power_of_five(tens.unsigned_abs(), precision + 64);
    if tens < 0 { mantissa.divide(&power, precision) } else { mantissa.multiply(&power, precision) }
}

fn power_of_five(exponent: u64, precision: u32) -> Float {
    // Go looks up powers to this exponent exactly; the steps beyond are rounded, so they must
    // agree.
    const MAX_EXACT_POWER: u64 = 27;
    let first = exponent.min(MAX_EXACT_POWER);
    let start = UBig::from(5u8).pow(exponent_to_usize(i64::try_from(first).unwrap_or(0)));
    let mut product = Float::from_integer(false, start, precision);
    let mut remaining = exponent - first;
    let mut factor = Float::from_integer(false, UBig::from(5u8), precision + 64);
    while remaining > 0 {
        if remaining & 1 == 1 {
            product = product.multiply(&factor, precision).unwrap_or(product);
        }
        factor = factor.multiply(&factor, precision + 64).unwrap_or(factor);
        remaining >>= 1;
    }
    product
}

/// Decimal digits of a magnitude: `0.d₁d₂d₃… × 10^point`, without zeros at either end.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Decimal {
    pub(super) digits: Vec<u8>,
    pub(super) point: i64,
}

impl Decimal {
    fn new(digits: String, below: i64) -> Self {
        let mut digits = digits.into_bytes();
        let point = below + count_to_i64(digits.len());
        digits.truncate(digits.iter().rposition(|&digit| digit != b'0').map_or(0, |at| at + 1));
        Self { digits, point }
    }

    /// All digits of the exact value.
    pub(super) fn exact_digits(mantissa: &UBig, exponent: i64) -> Self {
        if exponent >= 0 {
            return Self::new((mantissa << exponent_to_usize(exponent)).to_string(), 0);
        }
        let scaled = mantissa * UBig::from(5u8).pow(exponent_to_usize(-exponent));
        Self::new(scaled.to_string(), exponent)
    }

    /// The fewest digits that read back to the same float at the precision.
    pub(super) fn shortest_digits(mantissa: &UBig, exponent: i64, precision: u32) -> Self {
        if (-MAX_SHORT_FRACTION_BITS..0).contains(&exponent) {
            // Strings of up to 15 digits are further apart than any number's neighbours.
            let exact = Self::exact_digits(mantissa, exponent);
            if exact.digits.len() <= 15 {
                return exact;
            }
        }
        Self::try_shortest_via_f64(mantissa, exponent, precision)
            .unwrap_or_else(|| ShortestSearch::new(mantissa, exponent, precision).into_decimal())
    }

    /// Most fractions are short decimals. If the shortest text of the nearest `f64` reads back to
    /// the float, no other text of that length can, because the interval around the float that
    /// reads back to it is narrower than the distance of such strings.
    fn try_shortest_via_f64(mantissa: &UBig, exponent: i64, precision: u32) -> Option<Self> {
        let parts = UnroundedMagnitude { mantissa: mantissa.clone(), exponent, sticky: false };
        let float = Float::round_magnitude(false, parts, precision.max(f64::MANTISSA_DIGITS));
        let nearest = float.to_f64();
        // Just above a power of two the interval is not symmetric, and Terraform's text there is
        // not always the shortest: those take the long way. So do floats that may lie halfway
        // between two strings of the shortest length, where the two roundings differ.
        let halfway = precision == f64::MANTISSA_DIGITS && exponent >= -MAX_SHORT_FRACTION_BITS;
        if !nearest.is_normal() || mantissa.is_one() || halfway {
            return None;
        }
        let text = format!("{nearest:e}");
        let (digits, tens) = text.split_once('e')?;
        let digits: String = digits.chars().filter(|&digit| digit != '.').collect();
        let point = tens.parse::<i64>().ok()? + 1;
        if precision != f64::MANTISSA_DIGITS {
            let number = UBig::from(digits.parse::<u64>().ok()?);
            let read = decimal_to_float(number, point - count_to_i64(digits.len()), 0, precision)?;
            if read.magnitude != float.magnitude {
                return None;
            }
        }
        Some(Self::new(digits.clone(), point - count_to_i64(digits.len())))
    }

    /// Keeps the first `n` digits, rounding half to even.
    pub(super) fn round_to_digits(&mut self, n: i64) {
        let Ok(n) = usize::try_from(n) else {
            self.digits.clear();
            self.point = 0;
            return;
        };
        if n >= self.digits.len() {
            return;
        }
        let up = match self.digits[n] {
            b'5' if n + 1 == self.digits.len() => n > 0 && self.digits[n - 1] % 2 == 1,
            digit => digit >= b'5',
        };
        if up { self.round_up_at(n) } else { self.round_down_at(n) }
    }

    fn round_up_at(&mut self, n: usize) {
        self.digits.truncate(n);
        while self.digits.last() == Some(&b'9') {
            self.digits.pop();
        }
        match self.digits.last_mut() {
            Some(digit) => *digit += 1,
            // All digits were nines, so the number gets one more before its point.
            None => {
                self.digits.push(b'1');
                self.point += 1;
            }
        }
    }

    fn round_down_at(&mut self, n: usize) {
        self.digits.truncate(n);
        while self.digits.last() == Some(&b'0') {
            self.digits.pop();
        }
        if self.digits.is_empty() {
            self.point = 0;
        }
    }
}

/// The search for the shortest digits: the value and the two ends of the interval that reads back to
/// it, cut off just below the size of that interval.
struct ShortestSearch {
    value: Decimal,
    lower: TruncatedDecimal,
    upper: TruncatedDecimal,
    /// Whether the ends themselves read back to the value.
    inclusive: bool,
}

/// A decimal that may have been cut off.
struct TruncatedDecimal {
    decimal: Decimal,
    /// Whether something that is not zero was cut off.
    more: bool,
}

impl TruncatedDecimal {
    fn digit(&self, at: usize) -> u8 {
        self.decimal.digits.get(at).copied().unwrap_or(b'0')
    }

    fn len(&self) -> usize {
        if self.more { usize::MAX } else { self.decimal.digits.len() }
    }
}

impl ShortestSearch {
    fn new(mantissa: &UBig, exponent: i64, precision: u32) -> Self {
        // One bit more than the precision: the last bit is worth half the distance to a neighbour.
        let shift = (precision as usize + 1).saturating_sub(mantissa.bit_len());
        let value = mantissa << shift;
        let exponent = exponent - count_to_i64(shift);
        let inclusive = !value.bit(1);
        // Two digits below the half distance decide; one tenth of it is enough for both.
        let below = (exponent as f64 * std::f64::consts::LOG10_2).floor() as i64 - 2;
        let cut = |number: &UBig| to_truncated_decimal(number, exponent, below);
        let one = UBig::ONE;
        let mut exact = cut(&value);
        if exact.more {
            // A digit of no weight keeps rounding from taking a cut-off five for an exact half.
            let zeros = exponent_to_usize(exact.decimal.point - below) - exact.decimal.digits.len();
            exact.decimal.digits.extend(std::iter::repeat_n(b'0', zeros));
            exact.decimal.digits.push(b'1');
        }
        let (lower, upper) = (cut(&(&value - &one)), cut(&(&value + &one)));
        Self { value: exact.decimal, lower, upper, inclusive }
    }

    fn into_decimal(self) -> Decimal {
        let Self { mut value, lower, upper, inclusive } = self;
        for at in 0..value.digits.len() {
            let (digit, low, high) = (value.digits[at], lower.digit(at), upper.digit(at));
            let down = low != digit || inclusive && at + 1 == lower.len();
            let up = digit != high && (inclusive || digit + 1 < high || at + 1 < upper.len());
            match (down, up) {
                (true, true) => value.round_to_digits(count_to_i64(at + 1)),
                (true, false) => value.round_down_at(at + 1),
                (false, true) => value.round_up_at(at + 1),
                (false, false) => continue,
            }
            break;
        }
        value
    }
}

/// `number × 2^exponent` in decimal, cut off below `10^below`.
fn to_truncated_decimal(number: &UBig, exponent: i64, below: i64) -> TruncatedDecimal {
    let five = UBig::from(5u8);
    let (scaled, shift, divisor) = if below < 0 {
        (number * five.pow(exponent_to_usize(-below)), exponent - below, None)
    } else {
        (number.clone(), exponent - below, Some(five.pow(exponent_to_usize(below))))
    };
    let scaled = if shift > 0 { scaled << exponent_to_usize(shift) } else { scaled };
    let (scaled, more) = match divisor {
        None => (scaled, false),
        Some(divisor) => {
            let quotient = &scaled / &divisor;
            let more = &quotient * &divisor != scaled;
            (quotient, more)
        }
    };
    let right = exponent_to_usize(-shift);
    let more = more || scaled.trailing_zeros().is_some_and(|zeros| zeros < right);
    TruncatedDecimal { decimal: Decimal::new((scaled >> right).to_string(), below), more }
}

#[cfg(test)]
pub(super) fn shortest_digits_slowly(mantissa: &UBig, exponent: i64, precision: u32) -> Decimal {
    ShortestSearch::new(mantissa, exponent, precision).into_decimal()
}
