//! Functions on text. Patterns live in `regex`, verbs in `format`.

pub(super) mod case;
mod format;

use formwork_value::{Str, Type, Value};
use unicode_segmentation::UnicodeSegmentation as _;

use super::{Args, Builtin, CallError};

type Outcome = Result<Value, CallError>;

pub(super) fn list() -> Vec<Builtin> {
    [cases(), trims(), questions(), parts(), format::list()].into_iter().flatten().collect()
}

/// Other letters, another order.
fn cases() -> Vec<Builtin> {
    vec![
        of_text("lower", |args| args.string(case::lower(args.text(0)?)))
            .does("Makes all letters of a text small.", ["The text."])
            .example(r#"lower("HÉLLO")"#, r#""héllo""#),
        of_text("upper", |args| args.string(case::upper(args.text(0)?)))
            .does("Makes all letters of a text capital.", ["The text."])
            .example(r#"upper("straße")"#, r#""STRAßE""#),
        of_text("title", |args| args.string(case::title(args.text(0)?)))
            .does("Makes the first letter of every word of a text capital.", ["The text."])
            .example(r#"title("hello wORLD it's")"#, r#""Hello WORLD It'S""#),
        of_text("strrev", |args| {
            args.string(args.text(0)?.graphemes(true).rev().collect::<String>())
        })
        .does("Returns the characters of a text from the last to the first.", ["The text."])
        .example(r#"strrev("abc")"#, r#""cba""#),
    ]
}

/// The functions that remove characters at the ends of a string.
fn trims() -> Vec<Builtin> {
    vec![
        of_text("chomp", chomp)
            .does("Removes all line ends at the end of a text.", ["The text."])
            .example(r#"chomp("a\r\n\n")"#, r#""a""#),
        of_text("trimspace", |args| args.string(args.text(0)?.trim()))
            .does("Removes white space at both ends of a text.", ["The text."])
            .example(r#"trimspace("  a\n")"#, r#""a""#),
        of_two("trim", ["str", "cutset"], trim)
            .does(
                "Removes certain characters at both ends of a text.",
                ["The text.", "The characters to remove, in any order."],
            )
            .example(r#"trim("?!a?!", "!?")"#, r#""a""#),
        of_two("trimprefix", ["str", "prefix"], |args| {
            let text = args.text(0)?;
            args.string(text.strip_prefix(args.text(1)?.as_str()).unwrap_or(text))
        })
        .does("Removes a prefix from a text that has it.", ["The text.", "The prefix."])
        .example(r#"trimprefix("helloworld", "hello")"#, r#""world""#),
        of_two("trimsuffix", ["str", "suffix"], |args| {
            let text = args.text(0)?;
            args.string(text.strip_suffix(args.text(1)?.as_str()).unwrap_or(text))
        })
        .does("Removes a suffix from a text that has it.", ["The text.", "The suffix."])
        .example(r#"trimsuffix("helloworld", "world")"#, r#""hello""#),
    ]
}

/// Questions about a string.
fn questions() -> Vec<Builtin> {
    vec![
        Builtin::new("startswith", starts_with)
            .takes("str", Type::String)
            .or_unknown()
            .takes("prefix", Type::String)
            .returns(Type::Bool)
            .does(
                "Says whether a text begins with another.",
                ["The text.", "What it may begin with."],
            )
            .example(r#"startswith("hello", "he")"#, "true"),
        of_two("endswith", ["str", "suffix"], |args| {
            Ok(Value::Bool(args.text(0)?.ends_with(args.text(1)?.as_str())))
        })
        .returns(Type::Bool)
        .does("Says whether a text ends with another.", ["The text.", "What it may end with."])
        .example(r#"endswith("hello", "he")"#, "false"),
        of_two("strcontains", ["str", "substr"], |args| {
            Ok(Value::Bool(args.text(0)?.contains(args.text(1)?.as_str())))
        })
        .returns(Type::Bool)
        .does("Says whether a text contains another.", ["The text.", "What it may contain."])
        .example(r#"strcontains("hello", "ell")"#, "true"),
    ]
}

/// Strings that become parts, and the other way round.
fn parts() -> Vec<Builtin> {
    let strings = || Type::list(Type::String);
    vec![
        Builtin::new("indent", indent)
            .takes("spaces", Type::Number)
            .takes("str", Type::String)
            .returns(Type::String)
            .does(
                "Puts spaces before every line of a text but the first.",
                ["How many spaces.", "The text."],
            )
            .example(r#"indent(2, "a\nb")"#, "<<EOT\na\n  b\nEOT"),
        Builtin::new("join", join)
            .takes("separator", Type::String)
            .takes_rest("lists", strings())
            .or_unknown()
            .returns(Type::String)
            .does(
                "Joins texts to one, with a separator between them.",
                ["What comes between two texts.", "Lists of texts, one after the other."],
            )
            .example(r#"join("-", ["a", "b"], ["c"])"#, r#""a-b-c""#),
        of_two("split", ["separator", "str"], split)
            .returns(strings())
            .does(
                "Divides a text wherever a separator occurs.",
                ["What divides, which is in no part.", "The text."],
            )
            .example(r#"split(",", "a,b")"#, "tolist([\n  \"a\",\n  \"b\",\n])"),
        Builtin::new("substr", substr)
            .takes("str", Type::String)
            .takes("offset", Type::Number)
            .takes("length", Type::Number)
            .returns(Type::String)
            .does(
                "Returns part of a text, counted in characters.",
                [
                    "The text.",
                    "Where the part begins; a negative number counts from the end.",
                    "How many characters at most; -1 for all that follow.",
                ],
            )
            .example(r#"substr("hello", 1, 3)"#, r#""ell""#)
            .example(r#"substr("hello", -3, -1)"#, r#""llo""#),
    ]
}

fn of_text(name: &'static str, body: fn(&Args<'_>) -> Outcome) -> Builtin {
    Builtin::new(name, body).takes("str", Type::String).returns(Type::String)
}

fn of_two(
    name: &'static str,
    params: [&'static str; 2],
    body: fn(&Args<'_>) -> Outcome,
) -> Builtin {
    let [first, second] = params;
    Builtin::new(name, body)
        .takes(first, Type::String)
        .takes(second, Type::String)
        .returns(Type::String)
}

fn chomp(args: &Args<'_>) -> Outcome {
    args.string(args.text(0)?.trim_end_matches(['\r', '\n']))
}

fn trim(args: &Args<'_>) -> Outcome {
    let cutset = args.text(1)?;
    args.string(args.text(0)?.trim_matches(|char| cutset.contains(char)))
}

/// Answers for an unknown text too, if enough of its beginning is known.
fn starts_with(args: &Args<'_>) -> Outcome {
    let prefix = args.text(1)?;
    let Value::Unknown(unknown) = args.value(0) else {
        return Ok(Value::Bool(args.text(0)?.starts_with(prefix.as_str())));
    };
    let known = unknown.refinement().prefix.as_ref().map_or("", Str::as_str);
    Ok(if known.starts_with(prefix.as_str()) {
        Value::Bool(true)
    } else if prefix.starts_with(known) {
        Value::unknown(Type::Bool)
    } else {
        Value::Bool(false)
    })
}

fn indent(args: &Args<'_>) -> Outcome {
    let spaces = usize::try_from(args.integer(0)?)
        .map_err(|_| CallError::new("the number of spaces must not be negative"))?;
    let text = args.text(1)?;
    let n_lines = text.matches('\n').count();
    args.pay_bytes(n_lines.saturating_mul(spaces))?;
    args.string(
        text.replace('\n', &format!("\n{}", " ".repeat(if n_lines > 0 { spaces } else { 0 }))),
    )
}

fn join(args: &Args<'_>) -> Outcome {
    let separator = args.text(0)?;
    let lists = args.rest(1);
    if lists.is_empty() {
        return Err(CallError::new("it needs at least one list"));
    }
    if lists.iter().any(|list| !list.is_wholly_known()) {
        return Ok(Value::unknown(Type::String));
    }
    let mut joined = String::new();
    let mut first = true;
    for (at, list) in lists.iter().enumerate() {
        for (position, item) in list.children().iter().enumerate() {
            let Value::String(text) = item else {
                let reason =
                    format!("its element {position} is null, which cannot be part of a string");
                return Err(CallError::argument(at + 1, reason));
            };
            let separator = if first { "" } else { separator.as_str() };
            args.pay_bytes(separator.len() + text.len())?;
            joined.push_str(separator);
            joined.push_str(text);
            first = false;
        }
    }
    Ok(Value::string(joined))
}

fn split(args: &Args<'_>) -> Outcome {
    let (separator, text) = (args.text(0)?, args.text(1)?);
    let parts: Vec<Value> = if separator.is_empty() {
        text.chars().map(|char| Value::string(char.encode_utf8(&mut [0; 4]) as &str)).collect()
    } else {
        text.split(separator.as_str()).map(Value::string).collect()
    };
    args.pay_elements(parts.len())?;
    Ok(Value::list(Type::String, parts))
}

/// Counts in grapheme clusters. A negative offset counts from the end, a negative length means all
/// that is left.
fn substr(args: &Args<'_>) -> Outcome {
    let text = args.text(0)?;
    let (offset, length) = (args.integer(1)?, args.integer(2)?);
    let clusters = text.graphemes(true);
    let skip = if offset < 0 {
        // An offset before the start means the start.
        i64::try_from(clusters.clone().count()).unwrap_or(i64::MAX).saturating_add(offset).max(0)
    } else {
        offset
    };
    let rest = clusters.skip(usize::try_from(skip).unwrap_or(usize::MAX));
    let part: String = match usize::try_from(length) {
        // Terraform never reaches the length 0 when it counts from the end, so it takes the whole
        // rest.
        Ok(0) if offset < 0 => rest.collect(),
        Ok(length) => rest.take(length).collect(),
        Err(_) => rest.collect(),
    };
    args.string(part)
}
