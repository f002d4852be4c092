//! Regular expression functions. `translate_re2` parses the syntax of patterns.

mod char_class;
mod translate_re2;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fmt::{self, Display};
use std::rc::Rc;

use formwork_value::{Str, Type, Value};
use regex_automata::meta;
use regex_automata::util::captures::Captures;
use regex_automata::util::syntax;

use super::{Args, Builtin, CallError};

type FunctionResult = Result<Value, CallError>;

/// Memory limit of a compiled pattern. A class such as `\pL` takes some 20 KB for each occurrence,
/// and the syntax allows a thousand repetitions.
const MAX_COMPILED_PATTERN_BYTES: usize = 64 << 20;
/// Limits of the cache of compiled patterns: their number, and their memory together.
const MAX_CACHED_PATTERNS: usize = 64;
const MAX_CACHED_PATTERN_BYTES: usize = 128 << 20;
/// Number of pattern bytes that are compiled in one step.
const PATTERN_BYTES_PER_STEP: usize = 64;

pub(super) fn builtins() -> Vec<Builtin> {
    vec![
        Builtin::new("regex", regex)
            .with_param("pattern", Type::String)
            .with_param("string", Type::String)
            .may_return_null()
            .with_return_type_fn(regex_return_type)
            .described_as(
                "Returns the first match of a pattern, or its groups; no match is an error.",
                ["The pattern, in the syntax of RE2.", "The string to search."],
            )
            .with_example(r#"regex("[a-z]+", "53453453.345345aaabbbccc23454")"#, r#""aaabbbccc""#)
            .with_example(r#"regex("(\\d+)-(\\d+)", "2019-02")"#, "[\n  \"2019\",\n  \"02\",\n]"),
        Builtin::new("regexall", regex_all)
            .with_param("pattern", Type::String)
            .with_param("string", Type::String)
            .with_return_type_fn(|args| regex_return_type(args).map(Type::list))
            .described_as(
                "Returns all matches of a pattern, or the groups of each.",
                ["The pattern, in the syntax of RE2.", "The string to search."],
            )
            .with_example(r#"regexall("a.", "abac")"#, "tolist([\n  \"ab\",\n  \"ac\",\n])"),
        Builtin::new("replace", replace)
            .with_param("str", Type::String)
            .with_param("substr", Type::String)
            .with_param("replace", Type::String)
            .with_return_type(Type::String)
            .described_as(
                "Replaces every occurrence of a string or pattern.",
                [
                    "The string to search.",
                    "The string to replace, or a pattern between slashes.",
                    "The replacement; `$1` and `${name}` refer to groups of the pattern.",
                ],
            )
            .with_example(r#"replace("1 + 2", "+", "-")"#, r#""1 - 2""#)
            .with_example(r#"replace("hello", "/l+/", "[$0]")"#, r#""he[ll]o""#),
    ]
}

/// A compiled pattern.
struct CompiledPattern {
    regex: meta::Regex,
    /// Memory size.
    bytes: usize,
    /// Steps of the compilation that no call was charged for yet.
    owed: Cell<usize>,
    /// The names of the groups, from the first.
    groups: Vec<Option<Str>>,
}

thread_local! {
    // Patterns are mostly the same constant for every element of a `for`.
    static PATTERN_CACHE: RefCell<HashMap<String, Rc<CompiledPattern>>> = RefCell::new(HashMap::new());
}

/// The error of a pattern.
enum PatternError {
    /// The compiled pattern exceeds [`MAX_COMPILED_PATTERN_BYTES`]. The attempt is also charged.
    TooLarge,
    /// The string is not a valid pattern.
    NoPattern(String),
}

impl Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge => f.write_str("it becomes too large"),
            Self::NoPattern(reason) => f.write_str(reason),
        }
    }
}

/// Returns the compiled pattern of a call. The call is charged for the compilation unless an earlier one
/// was.
fn compile_and_charge(
    args: &Args<'_>,
    pattern: &str,
) -> Result<Result<Rc<CompiledPattern>, PatternError>, CallError> {
    let compiled = compile_cached(pattern);
    match &compiled {
        Ok(compiled) => {
            args.ctx.budget.charge_steps(compiled.owed.get())?;
            // A pattern of the cache was compiled once, so that only its first use pays.
            compiled.owed.set(0);
        }
        Err(PatternError::TooLarge) => {
            // Such a pattern was compiled up to the limit before it was refused.
            args.ctx.budget.charge_steps(MAX_COMPILED_PATTERN_BYTES / PATTERN_BYTES_PER_STEP)?;
        }
        Err(PatternError::NoPattern(_)) => {}
    }
    Ok(compiled)
}

fn compile_cached(pattern: &str) -> Result<Rc<CompiledPattern>, PatternError> {
    if let Some(compiled) = PATTERN_CACHE.with_borrow(|cache| cache.get(pattern).cloned()) {
        return Ok(compiled);
    }
    let compiled = Rc::new(compile_pattern(pattern)?);
    PATTERN_CACHE.with_borrow_mut(|cache| {
        let bytes: usize = cache.values().map(|entry| entry.bytes).sum();
        if cache.len() >= MAX_CACHED_PATTERNS || bytes + compiled.bytes > MAX_CACHED_PATTERN_BYTES {
            // Clearing the whole cache needs no usage order, and configurations rarely have more
            // patterns than fit.
            cache.clear();
        }
        cache.insert(pattern.to_owned(), compiled.clone());
    });
    Ok(compiled)
}

fn compile_pattern(pattern: &str) -> Result<CompiledPattern, PatternError> {
    let translated = translate_re2::translate_pattern(pattern).map_err(PatternError::NoPattern)?;
    let regex = meta::Builder::new()
        // Word boundaries between bytes are harmless: matches of nothing still keep to characters.
        .syntax(syntax::Config::new().utf8(false))
        .configure(
            meta::Config::new().utf8_empty(true).nfa_size_limit(Some(MAX_COMPILED_PATTERN_BYTES)),
        )
        .build(&translated.pattern)
        .map_err(|error| match error.size_limit() {
            Some(_) => PatternError::TooLarge,
            None => PatternError::NoPattern(error.to_string()),
        })?;
    let bytes = regex.memory_usage();
    let owed = Cell::new(bytes / PATTERN_BYTES_PER_STEP);
    Ok(CompiledPattern { regex, bytes, owed, groups: translated.groups })
}

/// The type of one match: the text itself, or its groups.
fn regex_return_type(args: &[Value]) -> Result<Type, CallError> {
    let Some(Value::String(pattern)) = args.first() else { return Ok(Type::Dynamic) };
    let compiled = match compile_cached(pattern) {
        Ok(compiled) => compiled,
        // The call itself refuses it, and pays.
        Err(PatternError::TooLarge) => return Ok(Type::Dynamic),
        Err(reason) => {
            return Err(CallError::for_argument(0, format!("invalid regexp pattern: {reason}")));
        }
    };
    let groups = &compiled.groups;
    if groups.is_empty() {
        return Ok(Type::String);
    }
    let names: Vec<&Str> = groups.iter().flatten().collect();
    if names.is_empty() {
        return Ok(Type::tuple(vec![Type::String; groups.len()]));
    }
    // Terraform returns either an object or a tuple, and a mixture is neither.
    if names.len() < groups.len() {
        return Err(CallError::for_argument(0, "either all groups of it must have names or none"));
    }
    Ok(Type::object(names.into_iter().map(|name| (name.clone(), Type::String))))
}

fn captures_to_value(compiled: &CompiledPattern, captures: &Captures, text: &str) -> Value {
    let part =
        |group: usize| match captures.get_group(group).and_then(|span| text.get(span.range())) {
            Some(part) => Value::string(part),
            // A group that does not participate in the match is null, as in Terraform.
            None => Value::null(Type::String),
        };
    // Either all groups have names or none, so the first one decides.
    match compiled.groups.first() {
        None => part(0),
        Some(None) => Value::tuple((1..=compiled.groups.len()).map(part).collect()),
        Some(Some(_)) => Value::object(
            compiled
                .groups
                .iter()
                .enumerate()
                .filter_map(|(at, name)| Some((name.clone()?, part(at + 1)))),
        ),
    }
}

fn compile_pattern_argument(args: &Args<'_>) -> Result<Rc<CompiledPattern>, CallError> {
    compile_and_charge(args, args.text(0)?)?
        .map_err(|reason| CallError::for_argument(0, format!("invalid regexp pattern: {reason}")))
}

fn regex(args: &Args<'_>) -> FunctionResult {
    let compiled = compile_pattern_argument(args)?;
    let text = args.text(1)?;
    let mut captures = compiled.regex.create_captures();
    compiled.regex.captures(text.as_str(), &mut captures);
    if !captures.is_match() {
        return Err(CallError::new("pattern did not match any part of the given string"));
    }
    args.charge_elements(compiled.groups.len())?;
    Ok(captures_to_value(&compiled, &captures, text))
}

fn regex_all(args: &Args<'_>) -> FunctionResult {
    let compiled = compile_pattern_argument(args)?;
    let text = args.text(1)?;
    let mut matches = Vec::new();
    for captures in compiled.regex.captures_iter(text.as_str()) {
        // Charged for each match, because their number is known only at the end.
        args.charge_elements(compiled.groups.len() + 1)?;
        matches.push(captures_to_value(&compiled, &captures, text));
    }
    let element = args.ty.element().cloned().unwrap_or(Type::String);
    Ok(Value::list(element, matches))
}

fn replace(args: &Args<'_>) -> FunctionResult {
    let (text, wanted, instead) = (args.text(0)?, args.text(1)?, args.text(2)?);
    let pattern = wanted.strip_prefix('/').and_then(|rest| rest.strip_suffix('/'));
    if let Some(pattern) = pattern {
        return replace_pattern(args, pattern);
    }
    // An empty string occurs before each character and at the end, as in Go's `strings.Replace`.
    let n = if wanted.is_empty() {
        text.chars().count() + 1
    } else {
        text.matches(wanted.as_str()).count()
    };
    // Charged before the string grows, because both strings may be large.
    args.charge_bytes(n.saturating_mul(instead.len()))?;
    args.string_result(text.replace(wanted.as_str(), instead))
}

fn replace_pattern(args: &Args<'_>, pattern: &str) -> FunctionResult {
    let (text, instead) = (args.text(0)?, args.text(2)?);
    let compiled = compile_and_charge(args, pattern)?
        .map_err(|reason| CallError::new(format!("error parsing regexp: {reason}")))?;
    let parts = parse_replacement(instead, &compiled.groups);
    let mut out = String::new();
    let mut done = 0;
    for captures in compiled.regex.captures_iter(text.as_str()) {
        let Some(span) = captures.get_match() else { continue };
        let before = out.len();
        out.push_str(text.get(done..span.start()).unwrap_or(""));
        for part in &parts {
            match part {
                ReplacementPart::Text(literal) => out.push_str(literal),
                ReplacementPart::Group(group) => {
                    let span = captures.get_group(*group);
                    out.push_str(span.and_then(|span| text.get(span.range())).unwrap_or(""));
                }
            }
        }
        // Charged for each match, so that an evaluation ends soon after its budget is exhausted.
        args.charge_bytes(out.len() - before)?;
        done = span.end();
    }
    out.push_str(text.get(done..).unwrap_or(""));
    args.string_result(out)
}

/// A piece of a replacement.
#[derive(Debug, PartialEq)]
enum ReplacementPart<'r> {
    Text(&'r str),
    Group(usize),
}

/// Parses a replacement: `$1`, `$name` and `${name}` represent groups, and `$$` a dollar sign. A name is
/// as long as possible. A group that does not exist is empty.
fn parse_replacement<'r>(text: &'r str, groups: &[Option<Str>]) -> Vec<ReplacementPart<'r>> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((literal, after_dollar)) = rest.split_once('$') {
        parts.push(ReplacementPart::Text(literal));
        let end = after_dollar
            .find(|char: char| !(char.is_alphanumeric() || char == '_'))
            .unwrap_or(after_dollar.len());
        let (name, next) =
            match after_dollar.strip_prefix('{').and_then(|inner| inner.split_once('}')) {
                Some((name, next)) if is_group_name(name) => (name, next),
                _ if after_dollar.starts_with('$') => {
                    parts.push(ReplacementPart::Text("$"));
                    rest = after_dollar.get(1..).unwrap_or("");
                    continue;
                }
                _ if end == 0 => {
                    parts.push(ReplacementPart::Text("$"));
                    rest = after_dollar;
                    continue;
                }
                _ => after_dollar.split_at(end),
            };
        if let Some(group) = group_index(name, groups) {
            parts.push(ReplacementPart::Group(group));
        }
        rest = next;
    }
    parts.push(ReplacementPart::Text(rest));
    parts
}

fn is_group_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|char| char.is_alphanumeric() || char == '_')
}

fn group_index(name: &str, groups: &[Option<Str>]) -> Option<usize> {
    if name.bytes().all(|byte| byte.is_ascii_digit()) {
        // A name of digits is always a number: `$1x` is a name, and `${1}x` is the way out.
        return name.parse().ok().filter(|group| *group <= groups.len());
    }
    groups.iter().position(|group| group.as_deref() == Some(name)).map(|at| at + 1)
}
