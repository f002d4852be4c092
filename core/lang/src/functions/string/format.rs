//! `format` and `formatlist`: strings with verbs similar to printf.

use crate::value_kind::ValueKind;
use formwork_value::codec::json;
use formwork_value::number::Notation;
use formwork_value::{Number, Type, Value, convert};
use unicode_segmentation::UnicodeSegmentation as _;

use crate::functions::{Args, Builtin, CallError};
use crate::unknown_string::unknown_string_with_prefix;

type FunctionResult = Result<Value, CallError>;

/// The greatest width and precision of a verb.
const MAX_VERB_WIDTH: u16 = 10_000;

pub(super) fn builtins() -> Vec<Builtin> {
    vec![
        Builtin::new("format", format)
            .with_param("format", Type::String)
            .with_variadic("args", Type::Dynamic)
            .last_param_allows_null()
            .last_param_allows_unknown()
            .with_return_type(Type::String)
            .described_as(
                "Formats values by the verbs in a string.",
                [
                    "The format string, with verbs such as `%s`, `%05.2f` or `%#v`.",
                    "The values, one for each verb.",
                ],
            )
            .with_example(r#"format("%s-%03d|%5.1f|%q", "a", 7, 2.25, "b")"#, r#""a-007|  2.2|\"b\"""#),
        Builtin::new("formatlist", format_list)
            .with_param("format", Type::String)
            .with_variadic("args", Type::Dynamic)
            .last_param_allows_null()
            .last_param_allows_unknown()
            .with_return_type(Type::list(Type::String))
            .described_as(
                "Applies `format` to each element of the lists among the values.",
                [
                    "The format string, with verbs such as `%s`, `%05.2f` or `%#v`.",
                    "The values: lists of equal length, and others that are the same for each element.",
                ],
            )
            .with_example(
                r#"formatlist("%s-%s", "a", ["b", "c"])"#,
                "tolist([\n  \"a-b\",\n  \"a-c\",\n])",
            ),
    ]
}

fn format(args: &Args<'_>) -> FunctionResult {
    let form = args.text(0)?;
    if args.values_from(1).iter().any(|arg| !arg.is_wholly_known()) {
        // The text before the first verb does not depend on the arguments.
        let start = form.split('%').next().unwrap_or("");
        return Ok(unknown_string_with_prefix(start));
    }
    let values: Vec<&Value> = args.values_from(1).iter().collect();
    let text = render_format(args, form, &values)?;
    Ok(Value::string(text))
}

/// Formats once for each element of the arguments that are sequences, which must be equally long.
fn format_list(args: &Args<'_>) -> FunctionResult {
    let form = args.text(0)?;
    let sequence = |arg: &Value| ValueKind::of(arg).is_sequence();
    let mut length = None;
    for (at, arg) in args.values_from(1).iter().enumerate() {
        // A single value is the same in each row, and a null is reported by the verb that takes it.
        if !sequence(arg) || arg.is_null() {
            continue;
        }
        // Unknown elements of a set may be equal.
        let range = arg.known_facts();
        if range.max_length.is_some_and(|most| most != range.min_length) || arg.is_unknown() {
            return Ok(Value::unknown(args.ty.clone()));
        }
        let n = arg.children().len();
        if *length.get_or_insert(n) != n {
            let reason =
                format!("it has {n} elements, but a list before it has {}", length.unwrap_or(0));
            return Err(CallError::for_argument(at + 1, reason));
        }
    }
    let n_rows = length.unwrap_or(1);
    args.charge_elements(n_rows)?;
    let mut rows = Vec::with_capacity(n_rows);
    for row in 0..n_rows {
        let values: Vec<&Value> = args
            .values_from(1)
            .iter()
            .map(|arg| if sequence(arg) { arg.children().get(row).unwrap_or(arg) } else { arg })
            .collect();
        // An unknown row does not affect the others.
        if values.iter().any(|value| !value.is_wholly_known()) {
            rows.push(Value::unknown(Type::String));
            continue;
        }
        let text = render_format(args, form, &values).map_err(|error| CallError {
            argument: None,
            reason: format!("in the row {row}: {}", error.reason),
            ..error
        })?;
        rows.push(Value::string(text));
    }
    Ok(Value::list(Type::String, rows))
}

/// One `%…` in a format string.
#[derive(Default)]
struct FormatVerb<'f> {
    /// As written, for messages.
    written: &'f str,
    letter: char,
    plus: bool,
    minus: bool,
    sharp: bool,
    space: bool,
    zero: bool,
    width: Option<u16>,
    precision: Option<u16>,
    /// Explicit argument number, from 1.
    argument: Option<usize>,
}

fn render_format(args: &Args<'_>, form: &str, values: &[&Value]) -> Result<String, CallError> {
    let mut out = String::new();
    let mut rest = form;
    let mut next = 0;
    let mut used = 0;
    while let Some((literal, after_percent)) = rest.split_once('%') {
        out.push_str(literal);
        let offset = form.len() - after_percent.len() - 1;
        let (verb, after_verb) = parse_verb(after_percent)?;
        rest = after_verb;
        if verb.written == "%" {
            out.push('%');
            continue;
        }
        let at = verb.argument.map_or(next, |argument| argument - 1);
        // As in Go, a verb without an index takes the argument after that of the previous verb.
        next = at + 1;
        used = used.max(next);
        let value = values.get(at).ok_or_else(|| {
            CallError::new(format!(
                "%{} needs the argument {}, but there are only {}",
                verb.written,
                at + 1,
                values.len()
            ))
        })?;
        let text = verb.format_value(value).map_err(|reason| {
            CallError::new(format!(
                "unsupported value for \"%{}\" at {offset}: {reason}",
                verb.written
            ))
        })?;
        // Charged for each verb, because a width can expand a short string to a long one.
        args.charge_bytes(text.len())?;
        out.push_str(&text);
    }
    out.push_str(rest);
    args.charge_bytes(form.len())?;
    // Terraform treats arguments that no verb uses as a mistake.
    if used < values.len() {
        let reason =
            format!("the format string uses only {used} of the {} arguments", values.len());
        return Err(CallError::for_argument(used + 1, reason));
    }
    Ok(out)
}

fn parse_verb(text: &str) -> Result<(FormatVerb<'_>, &str), CallError> {
    let broken = || CallError::new("a % at the end of the format string has no verb");
    let mut verb = FormatVerb::default();
    let mut rest = text;
    loop {
        let flag = match rest.as_bytes().first() {
            Some(b'+') => &mut verb.plus,
            Some(b'-') => &mut verb.minus,
            Some(b'#') => &mut verb.sharp,
            Some(b' ') => &mut verb.space,
            Some(b'0') => &mut verb.zero,
            _ => break,
        };
        *flag = true;
        rest = rest.get(1..).unwrap_or("");
    }
    if let Some(after_width) = read_digits(rest, &mut verb.width)? {
        rest = after_width;
    }
    if let Some(after_dot) = rest.strip_prefix('.') {
        verb.precision = Some(0);
        rest = read_digits(after_dot, &mut verb.precision)?.unwrap_or(after_dot);
    }
    if let Some(after_bracket) = rest.strip_prefix('[') {
        let (index, after_index) = after_bracket.split_once(']').ok_or_else(broken)?;
        let index: usize = index.parse().ok().filter(|index| *index > 0).ok_or_else(|| {
            CallError::new(format!(
                "%[{index}] does not refer to an argument; the first one is %[1]"
            ))
        })?;
        verb.argument = Some(index);
        rest = after_index;
    }
    verb.letter = rest.chars().next().ok_or_else(broken)?;
    let after_verb = rest.get(verb.letter.len_utf8()..).unwrap_or("");
    verb.written = text.get(..text.len() - after_verb.len()).unwrap_or(text);
    Ok((verb, after_verb))
}

/// Parses digits at the start of a string. Returns them with the rest, or `None` without digits.
fn read_digits<'f>(text: &'f str, into: &mut Option<u16>) -> Result<Option<&'f str>, CallError> {
    let n = text.bytes().take_while(u8::is_ascii_digit).count();
    if n == 0 {
        return Ok(None);
    }
    let (digits, after_digits) = text.split_at(n);
    let value = digits.parse().ok().filter(|width| *width <= MAX_VERB_WIDTH);
    *into = Some(value.ok_or_else(|| {
        CallError::new(format!("the width {digits} is more than the limit of {MAX_VERB_WIDTH}"))
    })?);
    Ok(Some(after_digits))
}

impl FormatVerb<'_> {
    fn format_value(&self, value: &Value) -> Result<String, String> {
        // Only `%v` can print null.
        if value.is_null() && self.letter != 'v' {
            return Err("it is null".into());
        }
        match self.letter {
            'v' => self.format_any(value),
            't' => match convert_or_reason(value, &Type::Bool)? {
                Value::Bool(bool) => Ok(bool.to_string()),
                _ => Err("bool required".into()),
            },
            's' | 'q' => match convert_or_reason(value, &Type::String)? {
                Value::String(text) => self.format_text(&text, self.letter == 'q'),
                _ => Err("string required".into()),
            },
            'd' | 'b' | 'o' | 'x' | 'X' | 'e' | 'E' | 'f' | 'g' | 'G' => {
                match convert_or_reason(value, &Type::Number)? {
                    Value::Number(number) => self.format_number(&number),
                    _ => Err("number required".into()),
                }
            }
            other => Err(format!("the verb {other:?} does not exist")),
        }
    }

    /// Formats a value in its default form, by its type.
    fn format_any(&self, value: &Value) -> Result<String, String> {
        if self.sharp {
            return self.pad(json::encode_untyped(value).map_err(|error| error.to_string())?);
        }
        match value {
            Value::String(text) => self.format_text(text, false),
            Value::Number(number) => {
                FormatVerb { letter: 'g', ..self.copy() }.format_number(number)
            }
            Value::Bool(bool) => self.pad(bool.to_string()),
            _ => self.pad(json::encode_untyped(value).map_err(|error| error.to_string())?),
        }
    }

    fn copy(&self) -> Self {
        FormatVerb { ..*self }
    }

    fn format_text(&self, text: &str, quote: bool) -> Result<String, String> {
        let truncated: String = match self.precision {
            Some(n) => text.graphemes(true).take(usize::from(n)).collect(),
            None => text.to_owned(),
        };
        // In Terraform, `%q` quotes as JSON does.
        if quote {
            let quoted = json::encode_untyped(&Value::string(truncated))
                .map_err(|error| error.to_string())?;
            return self.pad(quoted);
        }
        self.pad(truncated)
    }

    fn pad(&self, text: String) -> Result<String, String> {
        // As in Terraform, a width counts grapheme clusters.
        let n = text.graphemes(true).count();
        let fill = usize::from(self.width.unwrap_or(0)).saturating_sub(n);
        let padding = if self.zero && !self.minus { "0" } else { " " }.repeat(fill);
        Ok(if self.minus { text + &padding } else { padding + &text })
    }

    fn format_number(&self, number: &Number) -> Result<String, String> {
        let text = match self.letter {
            'd' | 'b' | 'o' | 'x' | 'X' => self.format_integer(number)?,
            'e' | 'E' => number.to_text(Notation::Exponent, Some(self.precision.unwrap_or(6))),
            'f' => number.to_text(Notation::Fixed, Some(self.precision.unwrap_or(6))),
            _ => number.to_text(Notation::General, self.precision),
        };
        let text = if matches!(self.letter, 'E' | 'G') { text.to_uppercase() } else { text };
        let (sign, digits) = match text.strip_prefix('-') {
            Some(digits) => ("-", digits),
            None if self.plus => ("+", text.trim_start_matches('+')),
            None if self.space => (" ", text.as_str()),
            None => ("", text.as_str()),
        };
        let n = sign.chars().count() + digits.chars().count();
        let fill = usize::from(self.width.unwrap_or(0)).saturating_sub(n);
        let is_integer = matches!(self.letter, 'd' | 'b' | 'o' | 'x' | 'X');
        // The precision determines the number of digits of an integer, so the zero flag is ignored.
        let zeros = self.zero && !self.minus && !(is_integer && self.precision.is_some());
        Ok(if self.minus {
            format!("{sign}{digits}{}", " ".repeat(fill))
        } else if zeros {
            format!("{sign}{}{digits}", "0".repeat(fill))
        } else {
            format!("{}{sign}{digits}", " ".repeat(fill))
        })
    }

    fn format_integer(&self, number: &Number) -> Result<String, String> {
        if !number.is_integer() || number.is_infinite() {
            return Err("it must be a whole number".into());
        }
        let (prefix, digits) = match self.letter {
            'd' => ("", number.abs().to_string()),
            'b' => ("0b", integer_in_base(number, 2)?),
            'o' => ("0", integer_in_base(number, 8)?),
            'x' => ("0x", integer_in_base(number, 16)?),
            _ => ("0X", integer_in_base(number, 16)?.to_uppercase()),
        };
        // An integer has no negative zero.
        let sign = if number.is_negative() && !number.is_zero() { "-" } else { "" };
        let prefix = if self.sharp { prefix } else { "" };
        let fill = usize::from(self.precision.unwrap_or(0)).saturating_sub(digits.len());
        Ok(format!("{sign}{prefix}{}{digits}", "0".repeat(fill)))
    }
}

fn integer_in_base(number: &Number, base: u8) -> Result<String, String> {
    // The sign is written separately, before the prefix of the base.
    let digits = number.abs().to_string();
    let whole = digits
        .parse::<dashu_int::UBig>()
        .map_err(|_| format!("{digits} cannot be written in base {base}"))?;
    Ok(whole.in_radix(base).to_string())
}

fn convert_or_reason(value: &Value, ty: &Type) -> Result<Value, String> {
    convert::convert(value, ty).map_err(|refused| refused.reason)
}
