//! Binary floats of any precision, rounded to the nearest value and on a tie to the even one. The fast
//! path for machine words and decimal strings are elsewhere.

use std::cmp::Ordering;

use dashu_int::UBig;
use dashu_int::ops::{BitTest as _, DivRem as _};

/// The largest size of a number, as a power of two: about 157,000 decimal digits. Larger results become
/// infinite, smaller ones zero. The limit bounds the cost of printing all digits of a number.
pub(super) const MAX_EXPONENT: i64 = 1 << 19;

/// A binary float: `± mantissa × 2^exponent`, with the precision in bits that its results inherit.
#[derive(Clone, Debug)]
pub(super) struct Float {
    pub(super) negative: bool,
    pub(super) precision: u32,
    pub(super) magnitude: Magnitude,
}

/// The absolute value of a [`Float`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Magnitude {
    Zero,
    /// The mantissa is odd, so equal magnitudes have equal parts.
    Finite {
        mantissa: UBig,
        exponent: i64,
    },
    Infinite,
}

impl Float {
    pub(super) fn from_integer(negative: bool, magnitude: UBig, precision: u32) -> Self {
        Self::round_magnitude(
            negative,
            UnroundedMagnitude { mantissa: magnitude, exponent: 0, sticky: false },
            precision,
        )
    }

    pub(super) fn infinite(negative: bool, precision: u32) -> Self {
        Self { negative, precision, magnitude: Magnitude::Infinite }
    }

    fn zero(negative: bool, precision: u32) -> Self {
        Self { negative, precision, magnitude: Magnitude::Zero }
    }

    /// Decodes a float; `None` for NaN.
    pub(super) fn from_f64(number: f64) -> Option<Self> {
        const F64_FRACTION_BITS: i64 = 52;
        let negative = number.is_sign_negative();
        if number.is_nan() {
            return None;
        }
        if number.is_infinite() {
            return Some(Self::infinite(negative, f64::MANTISSA_DIGITS));
        }
        let bits = number.to_bits();
        let fraction = bits & ((1 << F64_FRACTION_BITS) - 1);
        let biased = i64::try_from((bits >> F64_FRACTION_BITS) & 0x7ff).unwrap_or(0);
        let (mantissa, exponent) = match biased {
            // A subnormal float has no hidden bit, and the exponent of the smallest normal one.
            0 => (fraction, 1 - 1075),
            _ => (fraction | 1 << F64_FRACTION_BITS, biased - 1075),
        };
        let parts = UnroundedMagnitude { mantissa: UBig::from(mantissa), exponent, sticky: false };
        Some(Self::round_magnitude(negative, parts, f64::MANTISSA_DIGITS))
    }

    /// Rounds an exact (or, with `sticky`, truncated) magnitude to a precision.
    pub(super) fn round_magnitude(
        negative: bool,
        parts: UnroundedMagnitude,
        precision: u32,
    ) -> Self {
        let UnroundedMagnitude { mut mantissa, mut exponent, sticky } = parts;
        let excess = mantissa.bit_len().saturating_sub(precision as usize);
        if excess > 0 {
            let half = mantissa.bit(excess - 1);
            let rest = sticky || mantissa.trailing_zeros().is_some_and(|zeros| zeros < excess - 1);
            mantissa >>= excess;
            if half && (rest || mantissa.bit(0)) {
                mantissa += 1u8;
            }
            exponent = exponent.saturating_add(count_to_i64(excess));
        }
        let Some(zeros) = mantissa.trailing_zeros() else { return Self::zero(negative, precision) };
        // The mantissa is kept odd, so that equal numbers have equal parts, which `==` and `Hash`
        // use.
        mantissa >>= zeros;
        exponent = exponent.saturating_add(count_to_i64(zeros));
        let top = exponent.saturating_add(count_to_i64(mantissa.bit_len()));
        if top > MAX_EXPONENT {
            Self::infinite(negative, precision)
        } else if top < -MAX_EXPONENT {
            Self::zero(negative, precision)
        } else {
            Self { negative, precision, magnitude: Magnitude::Finite { mantissa, exponent } }
        }
    }

    pub(super) fn negated(mut self) -> Self {
        self.negative = !self.negative;
        self
    }

    /// The sum, at the wider precision; `None` for infinities of opposite sign.
    pub(super) fn add(&self, other: &Self) -> Option<Self> {
        use Magnitude::{Finite, Infinite, Zero};
        let precision = self.precision.max(other.precision);
        let sum = match (&self.magnitude, &other.magnitude) {
            (Infinite, Infinite) if self.negative != other.negative => return None,
            (Infinite, _) => Self::infinite(self.negative, precision),
            (_, Infinite) => Self::infinite(other.negative, precision),
            // As in Go, a sum of zeros is negative only if both are.
            (Zero, Zero) => Self::zero(self.negative && other.negative, precision),
            (Finite { .. }, Zero) => Self { precision, ..self.clone() },
            (Zero, Finite { .. }) => Self { precision, ..other.clone() },
            (Finite { mantissa: a, exponent: ea }, Finite { mantissa: b, exponent: eb }) => {
                // Exponents are bounded, so the shift makes at most a megabit.
                let exponent = *ea.min(eb);
                let (a, b) =
                    (a << exponent_to_usize(ea - exponent), b << exponent_to_usize(eb - exponent));
                let (negative, mantissa) = match (self.negative == other.negative, a.cmp(&b)) {
                    (true, _) => (self.negative, a + b),
                    // A difference of zero is the positive zero.
                    (false, Ordering::Equal) => (false, UBig::ZERO),
                    (false, Ordering::Greater) => (self.negative, a - b),
                    (false, Ordering::Less) => (other.negative, b - a),
                };
                Self::round_magnitude(
                    negative,
                    UnroundedMagnitude { mantissa, exponent, sticky: false },
                    precision,
                )
            }
        };
        Some(sum)
    }

    /// The product rounded to `precision`; `None` for zero times infinity.
    pub(super) fn multiply(&self, other: &Self, precision: u32) -> Option<Self> {
        use Magnitude::{Finite, Infinite, Zero};
        let negative = self.negative != other.negative;
        match (&self.magnitude, &other.magnitude) {
            (Zero, Infinite) | (Infinite, Zero) => None,
            (Infinite, _) | (_, Infinite) => Some(Self::infinite(negative, precision)),
            (Zero, _) | (_, Zero) => Some(Self::zero(negative, precision)),
            (Finite { mantissa: a, exponent: ea }, Finite { mantissa: b, exponent: eb }) => {
                let parts =
                    UnroundedMagnitude { mantissa: a * b, exponent: ea + eb, sticky: false };
                Some(Self::round_magnitude(negative, parts, precision))
            }
        }
    }

    /// The quotient rounded to `precision`; `None` for zero or infinity by itself.
    pub(super) fn divide(&self, other: &Self, precision: u32) -> Option<Self> {
        use Magnitude::{Finite, Infinite, Zero};
        let negative = self.negative != other.negative;
        match (&self.magnitude, &other.magnitude) {
            (Zero, Zero) | (Infinite, Infinite) => None,
            // As in Go's `big.Float`, a division by zero has a result.
            (Infinite, _) | (_, Zero) => Some(Self::infinite(negative, precision)),
            (Zero, _) | (_, Infinite) => Some(Self::zero(negative, precision)),
            (Finite { mantissa: a, exponent: ea }, Finite { mantissa: b, exponent: eb }) => {
                // Two bits more than the precision, so that rounding sees the half and a remainder.
                let shift = (precision as usize + 2 + b.bit_len()).saturating_sub(a.bit_len());
                let (mantissa, remainder) = (a << shift).div_rem(b);
                let exponent = ea - eb - count_to_i64(shift);
                let parts = UnroundedMagnitude { mantissa, exponent, sticky: !remainder.is_zero() };
                Some(Self::round_magnitude(negative, parts, precision))
            }
        }
    }

    /// The whole part of the magnitude, and whether there is a fraction; `None` for an infinity.
    pub(super) fn whole_part_and_has_fraction(&self) -> Option<(UBig, bool)> {
        match &self.magnitude {
            Magnitude::Zero => Some((UBig::ZERO, false)),
            Magnitude::Infinite => None,
            Magnitude::Finite { mantissa, exponent } if *exponent >= 0 => {
                Some((mantissa << exponent_to_usize(*exponent), false))
            }
            Magnitude::Finite { mantissa, exponent } => {
                Some((mantissa >> exponent_to_usize(-exponent), true))
            }
        }
    }

    pub(super) fn is_integer(&self) -> bool {
        match self.magnitude {
            Magnitude::Zero => true,
            Magnitude::Infinite => false,
            Magnitude::Finite { exponent, .. } => exponent >= 0,
        }
    }

    /// The position of the highest bit: the magnitude lies in `[2^(top-1), 2^top)`.
    fn bits_before_point(&self) -> Option<i64> {
        match &self.magnitude {
            Magnitude::Finite { mantissa, exponent } => {
                Some(exponent + count_to_i64(mantissa.bit_len()))
            }
            _ => None,
        }
    }

    /// Compares the exact values; both zeros are equal.
    pub(super) fn compare(&self, other: &Self) -> Ordering {
        match (self.signum(), other.signum()) {
            (0, 0) => Ordering::Equal,
            (a, b) if a != b => a.cmp(&b),
            (1, _) => self.compare_magnitude(other),
            _ => other.compare_magnitude(self),
        }
    }

    fn signum(&self) -> i8 {
        match (&self.magnitude, self.negative) {
            (Magnitude::Zero, _) => 0,
            (_, false) => 1,
            (_, true) => -1,
        }
    }

    fn compare_magnitude(&self, other: &Self) -> Ordering {
        use Magnitude::{Finite, Infinite};
        match (&self.magnitude, &other.magnitude) {
            (Infinite, Infinite) => Ordering::Equal,
            (Infinite, _) => Ordering::Greater,
            (_, Infinite) => Ordering::Less,
            (Finite { mantissa: a, exponent: ea }, Finite { mantissa: b, exponent: eb }) => {
                // Most numbers differ in size, and shifting one to the other's exponent costs
                // memory.
                self.bits_before_point().cmp(&other.bits_before_point()).then_with(|| {
                    let exponent = *ea.min(eb);
                    (a << exponent_to_usize(ea - exponent))
                        .cmp(&(b << exponent_to_usize(eb - exponent)))
                })
            }
            _ => self.bits_before_point().cmp(&other.bits_before_point()),
        }
    }

    /// Whether the two are so close that rounding to their precisions may have made the difference.
    pub(super) fn may_differ_by_rounding(&self, other: &Self) -> bool {
        // 53 bits are the least precision there is; 40 leave room for the rounding of text.
        const MIN_COMMON_LEADING_BITS: i64 = 40;
        if self
            .bits_before_point()
            .zip(other.bits_before_point())
            .is_none_or(|(a, b)| a.abs_diff(b) > 1)
        {
            return false;
        }
        let difference = self.add(&other.clone().negated());
        match (
            self.bits_before_point(),
            difference.map(|difference| difference.bits_before_point()),
        ) {
            (Some(_), Some(None)) => true,
            (Some(precision), Some(Some(difference))) => {
                difference < precision - MIN_COMMON_LEADING_BITS
            }
            _ => false,
        }
    }

    /// The nearest `f64`; ties to even, too large ones infinite.
    pub(super) fn to_f64(&self) -> f64 {
        let magnitude = match &self.magnitude {
            Magnitude::Zero => 0.0,
            Magnitude::Infinite => f64::INFINITY,
            Magnitude::Finite { mantissa, exponent } => nearest_f64_of_binary(mantissa, *exponent),
        };
        if self.negative { -magnitude } else { magnitude }
    }
}

/// A magnitude before rounding.
pub(super) struct UnroundedMagnitude {
    pub(super) mantissa: UBig,
    pub(super) exponent: i64,
    /// Whether something smaller than the last bit was cut off; the mantissa must then be longer than
    /// the precision it is rounded to.
    pub(super) sticky: bool,
}

fn nearest_f64_of_binary(mantissa: &UBig, exponent: i64) -> f64 {
    let top = exponent + count_to_i64(mantissa.bit_len());
    if top > 1024 {
        return f64::INFINITY;
    }
    // Below the normal range every halving costs a bit of precision.
    let bits = (top + 1074).min(53);
    let precision = match u32::try_from(bits) {
        // Between half of the smallest float and all of it: only exactly half rounds to zero.
        Ok(0) if !mantissa.is_one() => return f64::from_bits(1),
        Ok(0) | Err(_) => return 0.0,
        Ok(precision) => precision,
    };
    let parts = UnroundedMagnitude { mantissa: mantissa.clone(), exponent, sticky: false };
    match Float::round_magnitude(false, parts, precision).magnitude {
        Magnitude::Finite { mantissa, exponent } if exponent < 1024 => {
            mantissa.to_f64().value() * power_of_two(exponent)
        }
        _ => f64::INFINITY,
    }
}

/// `2^exponent` for an exponent in the range of floats, exactly.
fn power_of_two(exponent: i64) -> f64 {
    let bits = if exponent >= -1022 { (exponent + 1023) << 52 } else { 1 << (exponent + 1074) };
    f64::from_bits(u64::try_from(bits).unwrap_or(0))
}

/// A count of bits or digits as a signed number; no mantissa is long enough to overflow it.
pub(super) fn count_to_i64(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// A distance between exponents, which are bounded by [`MAX_EXPONENT`] plus a mantissa's length.
pub(super) fn exponent_to_usize(bits: i64) -> usize {
    usize::try_from(bits).unwrap_or(0)
}
