//! Makes many calls that mostly fail from a call that works: each argument in turn is replaced by
//! values that a function may not expect. Terraform determines the expected result.

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
    let args_of_call: Vec<&str> =
        parsed.args.iter().map(|arg| sources.text_of_span(arg.span)).collect();
    let with = |index: usize, replacement: &str| {
        let mut args = args_of_call.clone();
        args[index] = replacement;
        format!("{name}({})", args.join(", "))
    };
    let mut variants = Vec::new();
    for (index, arg) in args_of_call.iter().enumerate() {
        variants.extend(STRANGE.iter().map(|replacement| with(index, replacement)));
        variants.push(with(index, &format!("sensitive({arg})")));
    }
    variants.push(format!("{name}({})", [args_of_call.as_slice(), &["null"]].concat().join(", ")));
    if let Some((_, all_but_last)) = args_of_call.split_last() {
        variants.push(format!("{name}({})", all_but_last.join(", ")));
        variants.push(format!("{name}([{}]...)", args_of_call.join(", ")));
    }
    variants
}
