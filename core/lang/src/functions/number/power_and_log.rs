//! Powers and logarithms of floats. Intermediate roundings are visible in the results, and in those
//! of `ceil` and `floor`, so the steps are Terraform's. Fractional powers may differ from
//! Terraform's in the last bit, as those do themselves between processors.

/// A power, multiplied out for whole exponents.
pub(super) fn pow(base: f64, exponent: f64) -> f64 {
    // Go takes the root for these exponents, which rounds only once.
    if exponent.abs() == 0.5 && base >= 0.0 {
        let root = base.sqrt();
        return if exponent > 0.0 { root } else { 1.0 / root };
    }
    // Every implementation agrees on these results, because nothing is rounded on the way to them.
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
        // Fractions around zero keep the error of the exponential function small.
        if fraction > 0.5 {
            fraction -= 1.0;
            whole += 1.0;
        }
        result = (fraction * ln(base)).exp();
    }
    let mut shift = 0_i64;
    let (mut factor, mut factor_shift) = split_fraction_exponent(base);
    // The exponent is below 2^63, so it is exact here.
    let mut bits = whole as u64;
    while bits != 0 {
        // The result certainly overflows or underflows, because the exponent of a float has eleven bits.
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
    multiply_by_power_of_two(result, shift)
}

/// Splits a float into a fraction of at least a half and below one, and a power of two.
fn split_fraction_exponent(number: f64) -> (f64, i64) {
    // A subnormal float has no hidden bit, so it is made a normal one first.
    let scaled = if number.abs() < f64::MIN_POSITIVE { number * 2_f64.powi(52) } else { number };
    let offset = if number.abs() < f64::MIN_POSITIVE { -52 } else { 0 };
    let bits = scaled.to_bits();
    let exponent = ((bits >> 52) & 0x7ff).cast_signed() - 1022;
    (f64::from_bits((bits & !(0x7ff << 52)) | (1022 << 52)), exponent + offset)
}

/// Multiplies by a power of two, in steps that do not overflow on the way.
fn multiply_by_power_of_two(number: f64, shift: i64) -> f64 {
    // Beyond these bounds the result is zero or infinite anyway.
    let mut shift = shift.clamp(-5_000, 5_000);
    let mut number = number;
    while shift != 0 {
        let step = shift.clamp(-1_000, 1_000);
        number *= 2_f64.powi(i32::try_from(step).unwrap_or(0));
        shift -= step;
    }
    number
}

/// The natural logarithm, by a polynomial in s = f / (2 + f) where the number is (1 + f) times a power
/// of two and 1 + f lies around one.
pub(super) fn ln(number: f64) -> f64 {
    const LN2_HIGH: f64 = 6.931_471_803_691_238e-1;
    const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    const LN_ODD_COEFFICIENTS: [f64; 4] = [
        6.666_666_666_666_735e-1,
        2.857_142_874_366_239e-1,
        1.818_357_216_161_805e-1,
        1.479_819_860_511_658_6e-1,
    ];
    const LN_EVEN_COEFFICIENTS: [f64; 3] =
        [3.999_999_999_940_942e-1, 2.222_219_843_214_978_4e-1, 1.531_383_769_920_937_3e-1];
    if number <= 0.0 || !number.is_finite() {
        return number.ln();
    }
    let (mut fraction, mut shift) = split_fraction_exponent(number);
    if fraction < std::f64::consts::FRAC_1_SQRT_2 {
        fraction *= 2.0;
        shift -= 1;
    }
    let f = fraction - 1.0;
    // The exponent of a float is far below 2^53, so it is exact.
    let k = shift as f64;
    let s = f / (2.0 + f);
    let s2 = s * s;
    let s4 = s2 * s2;
    let odd = s2
        * (LN_ODD_COEFFICIENTS[0]
            + s4 * (LN_ODD_COEFFICIENTS[1]
                + s4 * (LN_ODD_COEFFICIENTS[2] + s4 * LN_ODD_COEFFICIENTS[3])));
    let even = s4
        * (LN_EVEN_COEFFICIENTS[0] + s4 * (LN_EVEN_COEFFICIENTS[1] + s4 * LN_EVEN_COEFFICIENTS[2]));
    let rest = odd + even;
    let half_square = 0.5 * f * f;
    // The high part of the constant has so few bits that its product with `k` is exact.
    k * LN2_HIGH - ((half_square - (s * (half_square + rest) + k * LN2_LOW)) - f)
}

#[cfg(test)]
mod tests {
    use super::{ln, pow};

    #[test]
    fn whole_powers_are_multiplied_out() {
        assert_eq!(pow(2.0, 64.0), 18_446_744_073_709_551_616.0);
        assert_eq!(pow(10.0, -2.0), 0.01);
        assert_eq!(pow(-2.0, 3.0), -8.0);
        assert_eq!(pow(2.0, 1024.0), f64::INFINITY);
        assert!(pow(-1.0, 0.5).is_nan());
        assert_eq!(pow(4.0, 0.5), 2.0);
    }

    #[test]
    fn logarithms_agree_with_floating_point() {
        for number in [1e-300, 0.1, 0.5, 1.0, 2.0, 3.0, 10.0, 1e10, 1e300, 5e-324] {
            assert!((ln(number) - number.ln()).abs() <= number.ln().abs() * 1e-15, "{number}");
        }
        assert!(ln(-1.0).is_nan());
        assert_eq!(ln(0.0), f64::NEG_INFINITY);
        assert_eq!(ln(f64::INFINITY), f64::INFINITY);
    }
}
