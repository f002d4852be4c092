//! String functions. Regular expressions are in `regex`, format verbs in `format`.

pub(super) mod case;
mod format;

use formwork_value::{Str, Type, Value};
use unicode_segmentation::UnicodeSegmentation as _;

use super::{Args, Builtin, CallError};

type FunctionResult = Result<Value, CallError>;

pub(super) fn builtins() -> Vec<Builtin> {
    [
        case_and_order_builtins(),
        trim_builtins(),
        predicate_builtins(),
        split_and_join_builtins(),
        format::builtins(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Functions that change the case or the order of characters.
fn case_and_order_builtins() -> Vec<Builtin> {
    vec![
        builtin_on_string("lower", |args| args.string_result(case::lower(args.text(0)?)))
            .described_as("Converts all letters of a string to lower case.", ["The string."])
            .with_example(r#"lower("HÉLLO")"#, r#""héllo""#),
        builtin_on_string("upper", |args| args.string_result(case::upper(args.text(0)?)))
            .described_as("Converts all letters of a string to upper case.", ["The string."])
            .with_example(r#"upper("straße")"#, r#""STRAßE""#),
        builtin_on_string("title", |args| args.string_result(case::title(args.text(0)?)))
            .described_as("Converts the first letter of each word to upper case.", ["The string."])
            .with_example(r#"title("hello wORLD it's")"#, r#""Hello WORLD It'S""#),
        builtin_on_string("strrev", |args| {
            // By grapheme clusters, so that an accent stays with its letter.
            args.string_result(args.text(0)?.graphemes(true).rev().collect::<String>())
        })
        .described_as("Returns the characters of a string in reverse order.", ["The string."])
        .with_example(r#"strrev("abc")"#, r#""cba""#),
    ]
}

/// The functions that remove characters at the ends of a string.
fn trim_builtins() -> Vec<Builtin> {
    vec![
        builtin_on_string("chomp", chomp)
            .described_as("Removes newline characters at the end of a string.", ["The string."])
            .with_example(r#"chomp("a\r\n\n")"#, r#""a""#),
        builtin_on_string("trimspace", |args| args.string_result(args.text(0)?.trim()))
            .described_as("Removes white space at both ends of a string.", ["The string."])
            .with_example(r#"trimspace("  a\n")"#, r#""a""#),
        builtin_on_two_strings("trim", ["str", "cutset"], trim)
            .described_as(
                "Removes given characters at both ends of a string.",
                ["The string.", "The characters to remove, in any order."],
            )
            .with_example(r#"trim("?!a?!", "!?")"#, r#""a""#),
        builtin_on_two_strings("trimprefix", ["str", "prefix"], |args| {
            let text = args.text(0)?;
            args.string_result(text.strip_prefix(args.text(1)?.as_str()).unwrap_or(text))
        })
        .described_as("Removes a prefix from a string, if present.", ["The string.", "The prefix."])
        .with_example(r#"trimprefix("helloworld", "hello")"#, r#""world""#),
        builtin_on_two_strings("trimsuffix", ["str", "suffix"], |args| {
            let text = args.text(0)?;
            args.string_result(text.strip_suffix(args.text(1)?.as_str()).unwrap_or(text))
        })
        .described_as("Removes a suffix from a string, if present.", ["The string.", "The suffix."])
        .with_example(r#"trimsuffix("helloworld", "world")"#, r#""hello""#),
    ]
}

/// Functions that test a string.
fn predicate_builtins() -> Vec<Builtin> {
    vec![
        Builtin::new("startswith", starts_with)
            .with_param("str", Type::String)
            .last_param_allows_unknown()
            .with_param("prefix", Type::String)
            .with_return_type(Type::Bool)
            .described_as(
                "Returns whether a string begins with a prefix.",
                ["The string.", "The prefix."],
            )
            .with_example(r#"startswith("hello", "he")"#, "true"),
        builtin_on_two_strings("endswith", ["str", "suffix"], |args| {
            Ok(Value::Bool(args.text(0)?.ends_with(args.text(1)?.as_str())))
        })
        .with_return_type(Type::Bool)
        .described_as(
            "Returns whether a string ends with a suffix.",
            ["The string.", "The suffix."],
        )
        .with_example(r#"endswith("hello", "he")"#, "false"),
        builtin_on_two_strings("strcontains", ["str", "substr"], |args| {
            Ok(Value::Bool(args.text(0)?.contains(args.text(1)?.as_str())))
        })
        .with_return_type(Type::Bool)
        .described_as(
            "Returns whether a string contains another.",
            ["The string.", "The string to find."],
        )
        .with_example(r#"strcontains("hello", "ell")"#, "true"),
    ]
}

/// Functions that split and join strings.
fn split_and_join_builtins() -> Vec<Builtin> {
    let strings = || Type::list(Type::String);
    vec![
        Builtin::new("indent", indent)
            .with_param("spaces", Type::Number)
            .with_param("str", Type::String)
            .with_return_type(Type::String)
            .described_as(
                "Adds spaces before each line of a string except the first.",
                ["Number of spaces.", "The string."],
            )
            .with_example(r#"indent(2, "a\nb")"#, "<<EOT\na\n  b\nEOT"),
        Builtin::new("join", join)
            .with_param("separator", Type::String)
            .with_variadic("lists", strings())
            .last_param_allows_unknown()
            .with_return_type(Type::String)
            .described_as(
                "Joins strings with a separator.",
                ["The separator.", "Lists of strings."],
            )
            .with_example(r#"join("-", ["a", "b"], ["c"])"#, r#""a-b-c""#),
        builtin_on_two_strings("split", ["separator", "str"], split)
            .with_return_type(strings())
            .described_as(
                "Splits a string at each separator.",
                ["The separator, which is not part of the result.", "The string."],
            )
            .with_example(r#"split(",", "a,b")"#, "tolist([\n  \"a\",\n  \"b\",\n])"),
        Builtin::new("substr", substr)
            .with_param("str", Type::String)
            .with_param("offset", Type::Number)
            .with_param("length", Type::Number)
            .with_return_type(Type::String)
            .described_as(
                "Returns part of a string, counted in characters.",
                [
                    "The string.",
                    "Start of the part; a negative number counts from the end.",
                    "Maximum number of characters; -1 for the rest of the string.",
                ],
            )
            .with_example(r#"substr("hello", 1, 3)"#, r#""ell""#)
            .with_example(r#"substr("hello", -3, -1)"#, r#""llo""#),
    ]
}

fn builtin_on_string(name: &'static str, body: fn(&Args<'_>) -> FunctionResult) -> Builtin {
    Builtin::new(name, body).with_param("str", Type::String).with_return_type(Type::String)
}

fn builtin_on_two_strings(
    name: &'static str,
    params: [&'static str; 2],
    body: fn(&Args<'_>) -> FunctionResult,
) -> Builtin {
    let [first, second] = params;
    Builtin::new(name, body)
        .with_param(first, Type::String)
        .with_param(second, Type::String)
        .with_return_type(Type::String)
}

fn chomp(args: &Args<'_>) -> FunctionResult {
    args.string_result(args.text(0)?.trim_end_matches(['\r', '\n']))
}

fn trim(args: &Args<'_>) -> FunctionResult {
    let cutset = args.text(1)?;
    args.string_result(args.text(0)?.trim_matches(|char| cutset.contains(char)))
}

/// Returns a known result even for an unknown string, if its known prefix is sufficient.
fn starts_with(args: &Args<'_>) -> FunctionResult {
    let prefix = args.text(1)?;
    let Value::Unknown(unknown) = args.value(0) else {
        return Ok(Value::Bool(args.text(0)?.starts_with(prefix.as_str())));
    };
    // As in Terraform, the known prefix of an unknown string may determine the result, which a `count`
    // can use.
    let known = unknown.refinement().prefix.as_ref().map_or("", Str::as_str);
    Ok(if known.starts_with(prefix.as_str()) {
        Value::Bool(true)
    } else if prefix.starts_with(known) {
        // The known part agrees so far, and the rest decides.
        Value::unknown(Type::Bool)
    } else {
        Value::Bool(false)
    })
}

fn indent(args: &Args<'_>) -> FunctionResult {
    let spaces = usize::try_from(args.integer(0)?)
        .map_err(|_| CallError::new("the number of spaces must not be negative"))?;
    let text = args.text(1)?;
    let n_lines = text.matches('\n').count();
    // Charged before the spaces are created, because their number is an argument.
    args.charge_bytes(n_lines.saturating_mul(spaces))?;
    args.string_result(
        text.replace('\n', &format!("\n{}", " ".repeat(if n_lines > 0 { spaces } else { 0 }))),
    )
}

fn join(args: &Args<'_>) -> FunctionResult {
    let separator = args.text(0)?;
    let lists = args.values_from(1);
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
                return Err(CallError::for_argument(at + 1, reason));
            };
            let separator = if first { "" } else { separator.as_str() };
            args.charge_bytes(separator.len() + text.len())?;
            joined.push_str(separator);
            joined.push_str(text);
            first = false;
        }
    }
    Ok(Value::string(joined))
}

fn split(args: &Args<'_>) -> FunctionResult {
    let (separator, text) = (args.text(0)?, args.text(1)?);
    let parts: Vec<Value> = if separator.is_empty() {
        // Without a separator Go splits between code points, not between grapheme clusters.
        text.chars().map(|char| Value::string(char.encode_utf8(&mut [0; 4]) as &str)).collect()
    } else {
        text.split(separator.as_str()).map(Value::string).collect()
    };
    args.charge_elements(parts.len())?;
    Ok(Value::list(Type::String, parts))
}

/// Counts in grapheme clusters. A negative offset counts from the end, and a negative length means the
/// rest of the string.
fn substr(args: &Args<'_>) -> FunctionResult {
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
    args.string_result(part)
}
