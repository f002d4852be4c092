//! Makes many calls that mostly fail from a call that works: each argument in turn is replaced by
//! values that a function may not expect. Terraform knows the right result.

use formwork_lang::syntax::{Expr, ExprKind, parse_expression};
use formwork_value::Diagnostics;
use formwork_value::diag::Sources;

/// Replacements of an argument; `local` names are those of the prelude, and unknown.
const STRANGE: [&str; 20] = [
    "null",
    "true",
    "-1",
    "1.5",
    "99999999999999999999",
    r#""""#,
    r#""é👩‍👩‍👧x""#,
    "[]",
    "{}",
    "[null]",
    "[[\"a\"], 1]",
    "{ a = 1, b = null }",
    r#"toset(["b", "a"])"#,
    "tomap({ k = [1] })",
    "local.text",
    "local.number",
    "local.texts",
    "local.table",
    "local.anything",
    r#"[local.text, "a"]"#,
];

/// The variants of a call: strange and sensitive arguments, one too few, one too many.
pub(crate) fn arguments(call: &str) -> Vec<String> {
    let mut sources = Sources::new();
    let source = sources.add("call", call);
    let parsed = parse_expression(&mut Diagnostics::new(), &sources, source);
    let Ok(Expr { kind: ExprKind::Call(parsed), .. }) = parsed else {
        panic!("not a call: {call}");
    };
    let name = parsed.name.name.as_str();
    let given: Vec<&str> = parsed.args.iter().map(|arg| sources.text_of_span(arg.span)).collect();
    let with = |at: usize, other: &str| {
        let mut args = given.clone();
        args[at] = other;
        format!("{name}({})", args.join(", "))
    };
    let mut variants = Vec::new();
    for (at, arg) in given.iter().enumerate() {
        variants.extend(STRANGE.iter().map(|other| with(at, other)));
        variants.push(with(at, &format!("sensitive({arg})")));
    }
    variants.push(format!("{name}({})", [given.as_slice(), &["null"]].concat().join(", ")));
    if let Some((_, fewer)) = given.split_last() {
        variants.push(format!("{name}({})", fewer.join(", ")));
        variants.push(format!("{name}([{}]...)", given.join(", ")));
    }
    variants
}
