//! Numbers: arithmetic and text, compared with tables made with Terraform, and their laws.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use proptest::prelude::*;

use super::*;

/// Reads an operand of the table: decimal text, `i7` for an integer made by a function, or `pow2^-3`
/// for the result of floating-point arithmetic.
fn operand(text: &str) -> Number {
    if let Some(integer) = text.strip_prefix('i') {
        return Number::from(integer.parse::<i64>().unwrap());
    }
    if let Some((base, exponent)) = text.strip_prefix("pow").and_then(|text| text.split_once('^')) {
        let float = base.parse::<f64>().unwrap().powf(exponent.parse::<f64>().unwrap());
        return Number::from_f64(float).unwrap();
    }
    number(text)
}

fn number(text: &str) -> Number {
    Number::parse(text).unwrap_or_else(|| panic!("`{text}` is not a number"))
}

fn apply(a: &Number, operator: &str, b: &Number) -> Option<Number> {
    match operator {
        "+" => a.add(b),
        "-" => a.subtract(b),
        "*" => a.multiply(b),
        "/" => a.divide(b),
        "%" => a.remainder(b),
        other => panic!("no operator `{other}`"),
    }
}

fn check_table(table: &str) {
    for line in table.lines().filter(|line| !line.is_empty()) {
        let (expression, expected) = line.split_once(" = ").unwrap();
        let mut words = expression.split(' ');
        let mut result = Some(operand(words.next().unwrap()));
        while let (Some(operator), Some(next)) = (words.next(), words.next()) {
            result = result.and_then(|result| apply(&result, operator, &operand(next)));
        }
        let text = result.map_or("error".to_owned(), |result| result.to_string());
        assert_eq!(text, expected, "{line}");
    }
}

#[test]
fn arithmetic_agrees_with_terraform() {
    check_table(include_str!("tests/arithmetic.txt"));
}

#[test]
fn prints_the_shortest_text_that_reads_back() {
    let long_third = format!("0.{}5", "3".repeat(154));
    let cases = [
        ("0", "0"),
        ("-0", "-0"),
        ("-0.0e7", "-0"),
        ("007", "7"),
        ("+5", "5"),
        (".5", "0.5"),
        ("5.", "5"),
        ("12.50", "12.5"),
        ("1e3", "1000"),
        ("1E-20", "0.00000000000000000001"),
        // Go's `big.Float` reads a `p` as the exponent of two.
        ("1p3", "8"),
        ("Inf", "+Inf"),
        ("-inf", "-Inf"),
        ("123456789.125", "123456789.125"),
        ("9223372036854775807", "9223372036854775807"),
        ("9223372036854775808", "9223372036854775808"),
        ("-9223372036854775808", "-9223372036854775808"),
        ("3.14159265358979323846264338327950288", "3.14159265358979323846264338327950288"),
        (long_third.as_str(), long_third.as_str()),
    ];
    for (text, expected) in cases {
        assert_eq!(number(text).to_string(), expected, "{text}");
    }
    assert_eq!(number("1e400").to_string(), format!("1{}", "0".repeat(400)));
}

#[test]
fn refuses_invalid_numbers() {
    for text in [
        "", ".", "-", "+", "e5", "1e", "1e+", " 1", "1 ", "0x1F", "1_000", "infinity", "nan",
        "--1", "1.2.3", "1e1.5", "½", "INF",
    ] {
        assert!(Number::parse(text).is_none(), "{text}");
    }
}

#[test]
fn refuses_numbers_out_of_range_immediately() {
    for text in ["1e400000000", "1e-400000000", "1e99999999999999999999", "9e157826", "1p600000"] {
        assert!(Number::parse(text).is_none(), "{text}");
    }
    assert!(Number::parse(&"9".repeat(1_000_000)).is_none());
    assert!(Number::parse_integer(&"9".repeat(1_000_000), 10).is_none());
    // Zero stays zero at any exponent, so it needs no limit.
    assert!(Number::parse("0e99999999999999999999").is_some());
    let large = number("1e100000");
    assert_eq!(large.to_string().len(), 100_001);
    let square = large.multiply(&large).unwrap();
    assert_eq!(square.to_string(), "+Inf");
    let small = number("1e-100000");
    assert!(small.multiply(&small).unwrap().is_zero());
}

#[test]
fn precision_shows_in_the_text_of_results() {
    let one = Number::from(1i64);
    let three = Number::from(3i64);
    // Go's `SetInt64` gives whole numbers 64 bits of precision, and a quotient gets no more.
    assert_eq!(one.divide(&three).unwrap().to_string(), "0.33333333333333333334");
    // Floats bring 53 bits along, so the result is that of a division of floats.
    let float = Number::from_f64(3.0).unwrap();
    assert_eq!(Number::from_f64(1.0).unwrap().divide(&float).unwrap().to_string(), {
        (1.0f64 / 3.0).to_string()
    });
    assert_eq!(Number::from_f64(2f64.powi(64)).unwrap().to_string(), "18446744073709550000");
    // A sum has the higher precision of its operands, here the 512 bits of a number from text.
    let next = Number::from_f64(2f64.powi(64)).unwrap().add(&number("1")).unwrap();
    assert_eq!(next.to_string(), "18446744073709551617");
    let tiny = Number::from_f64(2f64.powi(-44)).unwrap();
    assert_eq!(tiny.to_string(), "0.00000000000005684341886080801");
}

#[test]
fn fractions_compare_by_text_and_whole_numbers_by_value() {
    let float = |float| Number::from_f64(float).unwrap();
    assert_eq!(float(4.35), number("4.35"));
    assert_ne!(float(4.35).compare(&number("4.35")), Ordering::Equal);
    assert_ne!(number("4.3512345678901234567"), float(4.351_234_567_890_123));
    assert_ne!(float(f64::from(0.1f32)), number("0.1"));
    assert_eq!(number("-0"), Number::from(0i64));
    assert_eq!(number("1.0"), Number::from(1i64));
    assert_ne!(number("1"), number("-1"));
    assert_eq!(float(2f64.powi(60)), number("1152921504606846976"));
    assert_eq!(Number::infinity(false), number("Inf"));
    assert_ne!(Number::infinity(false), Number::infinity(true));
}

#[test]
fn rounds_to_whole_numbers_in_both_directions() {
    let cases = [
        ("1.5", "1", "2"),
        ("-1.5", "-2", "-1"),
        ("-0.5", "-1", "0"),
        ("7", "7", "7"),
        ("1e30", "1000000000000000000000000000000", "1000000000000000000000000000000"),
        ("-Inf", "-Inf", "-Inf"),
    ];
    for (text, floor, ceil) in cases {
        assert_eq!(number(text).floor().to_string(), floor, "floor({text})");
        assert_eq!(number(text).ceil().to_string(), ceil, "ceil({text})");
    }
}

#[test]
fn reads_whole_numbers_in_any_base() {
    let cases = [
        ("ff", 16, Some("255")),
        ("FF", 16, Some("255")),
        ("-101", 2, Some("-5")),
        ("+7", 8, Some("7")),
        // As in Go, upper and lower case are different digits above base 36 only.
        ("z", 62, Some("35")),
        ("Z", 62, Some("61")),
        ("-0", 10, Some("0")),
        ("8", 8, None),
        ("", 10, None),
        ("1.5", 10, None),
        ("1", 63, None),
        ("123456789012345678901234567890", 10, Some("123456789012345678901234567890")),
    ];
    for (text, base, expected) in cases {
        let number = Number::parse_integer(text, base).map(|number| number.to_string());
        assert_eq!(number.as_deref(), expected, "{text} in base {base}");
    }
}

#[test]
fn writes_the_notations_of_the_formatting_functions() {
    use Notation::{Exponent, Fixed, General};
    let cases = [
        ("1234567", General, None, "1.234567e+06"),
        ("123456", General, None, "123456"),
        ("12345678901234567890123", General, None, "1.2345678901234567890123e+22"),
        ("0.0001", General, None, "0.0001"),
        ("0.00001", General, None, "1e-05"),
        ("1e30", General, None, "1e+30"),
        ("1234567", General, Some(3), "1.23e+06"),
        ("1234567", General, Some(10), "1234567"),
        ("100", General, Some(3), "100"),
        ("0.95", General, Some(1), "0.9"),
        ("-0", General, None, "-0"),
        ("2.5", Fixed, Some(3), "2.500"),
        // As in Go, an exact half is rounded to the even digit.
        ("0.5", Fixed, Some(0), "0"),
        ("1.5", Fixed, Some(0), "2"),
        ("2.5", Fixed, Some(0), "2"),
        ("0.001", Fixed, Some(2), "0.00"),
        ("0.05", Fixed, Some(0), "0"),
        ("0.05", Fixed, Some(1), "0.1"),
        ("99.96", Fixed, Some(1), "100.0"),
        ("12345", Exponent, Some(2), "1.23e+04"),
        ("12345", Exponent, Some(6), "1.234500e+04"),
        ("0", Exponent, Some(6), "0.000000e+00"),
        ("-Inf", Fixed, Some(2), "-Inf"),
    ];
    for (text, notation, count, expected) in cases {
        assert_eq!(
            number(text).to_text(notation, count),
            expected,
            "{text} {notation:?} {count:?}"
        );
    }
}

#[test]
fn converts_to_machine_numbers_only_when_they_fit() {
    assert_eq!(number("9223372036854775808").to_i64(), None);
    assert_eq!(number("-9223372036854775808").to_i64(), Some(i64::MIN));
    assert_eq!(number("0.5").to_i64(), None);
    assert_eq!(Number::from_f64(2f64.powi(60)).unwrap().to_i64(), Some(1 << 60));
    assert_eq!(Number::from(u64::MAX).to_string(), "18446744073709551615");
    assert_eq!(number("-1").to_usize(), None);
    assert_eq!(number("0.1").to_f64().to_bits(), 0.1f64.to_bits());
    assert_eq!(number("0.1").to_f64_exact(), None);
    assert_eq!(number("0.5").to_f64_exact(), Some(0.5));
    assert_eq!(number("1e400").to_f64(), f64::INFINITY);
    assert_eq!(number("5e-324").to_f64().to_bits(), 1);
    // Less than half of the smallest float.
    assert_eq!(number("2e-324").to_f64().to_bits(), 0);
    assert_eq!(number("-Inf").to_f64_exact(), Some(f64::NEG_INFINITY));
    assert!(Number::from_f64(f64::NAN).is_none());
}

#[test]
fn a_number_takes_two_words() {
    assert!(size_of::<Number>() <= 16, "{}", size_of::<Number>());
}

fn hash(number: &Number) -> u64 {
    let mut hasher = DefaultHasher::new();
    number.hash(&mut hasher);
    hasher.finish()
}

/// Numbers of all precisions, many of them near each other.
fn any_number() -> impl Strategy<Value = Number> {
    let text = prop_oneof![
        "-?[0-9]{1,40}",
        "-?[0-9]{1,5}\\.[0-9]{1,30}",
        "-?[0-9]{1,3}e-?[0-9]{1,2}",
        "-?0\\.[0-9]{150,200}",
        "-?3\\.14[0-9]{0,2}",
    ];
    prop_oneof![
        any::<i64>().prop_map(Number::from),
        (-20i64..20).prop_map(Number::from),
        any::<f64>().prop_filter_map("not NaN", Number::from_f64),
        (-400i32..400).prop_filter_map("not NaN", |n| Number::from_f64(f64::from(n) / 100.0)),
        text.prop_map(|text| number(&text)),
        (any::<i64>(), 1..i64::MAX).prop_map(|(a, b)| Number::from(a).divide(&b.into()).unwrap()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn text_reads_back_to_an_equal_number(number in any_number()) {
        let text = number.to_string();
        let back = Number::parse(&text).unwrap();
        // A whole number wider than its precision prints rounded, as in Terraform.
        if !number.is_integer() || text.len() <= 15 {
            prop_assert_eq!(&back, &number);
            prop_assert_eq!(hash(&back), hash(&number));
        }
        prop_assert_eq!(back.to_string(), text);
    }

    #[test]
    fn the_order_is_total(mut numbers in prop::collection::vec(any_number(), 3)) {
        numbers.sort();
        let [a, b, c] = &numbers[..] else { unreachable!() };
        prop_assert!(a <= b && b <= c && a <= c);
        prop_assert_eq!(a.cmp(b), b.cmp(a).reverse());
        prop_assert_eq!(a == b, hash(a) == hash(b));
        if a == c {
            prop_assert!(a == b && b == c);
        }
    }

    #[test]
    fn words_and_floats_compute_alike(a in any::<i64>(), b in -1000i64..1000) {
        let (wide_a, wide_b) = (number(&a.to_string()), number(&b.to_string()));
        for (a, b) in [(a, b), (b, a)] {
            let (x, y) = (i128::from(a), i128::from(b));
            let (a, b) = (Number::from(a), Number::from(b));
            prop_assert_eq!(a.add(&b).unwrap().to_string(), (x + y).to_string());
            prop_assert_eq!(a.subtract(&b).unwrap().to_string(), (x - y).to_string());
            prop_assert_eq!(a.multiply(&b).unwrap(), number(&(x * y).to_string()));
            if y != 0 {
                prop_assert_eq!(a.remainder(&b).unwrap(), Number::from((x % y) as i64));
            }
            prop_assert_eq!(a.compare(&b), x.cmp(&y));
        }
        prop_assert_eq!(&wide_a.add(&wide_b).unwrap(), &Number::from(a).add(&b.into()).unwrap());
    }

    #[test]
    fn floats_survive(float in any::<f64>().prop_filter("not NaN", |float| !float.is_nan())) {
        let number = Number::from_f64(float).unwrap();
        prop_assert_eq!(number.to_f64_exact().unwrap().to_bits(), float.to_bits());
    }

    #[test]
    fn floats_print_as_their_shortest_text(
        // No power of two: for these Go's `big.Float` has another shortest text than Rust.
        mantissa in (1u64 << 52) + 1..1 << 53,
        exponent in -400i32..-80,
    ) {
        let float = mantissa as f64 * 2f64.powi(exponent);
        prop_assert_eq!(Number::from_f64(float).unwrap().to_string(), float.to_string());
    }

    #[test]
    fn the_short_way_to_digits_agrees_with_the_long_way(number in any_number()) {
        let NumberRepr::Big(float) = &number.0 else { return Ok(()) };
        let Magnitude::Finite { mantissa, exponent } = &float.magnitude else { return Ok(()) };
        let short = Decimal::shortest_digits(mantissa, *exponent, float.precision);
        let long = decimal::shortest_digits_slowly(mantissa, *exponent, float.precision);
        prop_assert_eq!(short, long);
    }
}
