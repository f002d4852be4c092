//! Prints trees compactly, for snapshots in tests.

use std::fmt::Write as _;

use super::{Body, Expr, ExprKind, SplatStep, TemplateFor, TemplateIf, TemplatePart};

/// Prints a body: a line for each argument and block.
pub(crate) fn body(body: &Body) -> String {
    let mut out = String::new();
    write_body(&mut out, body, 0);
    out
}

fn write_body(out: &mut String, body: &Body, depth: usize) {
    let pad = "  ".repeat(depth);
    for attr in &body.attributes {
        writeln!(out, "{pad}{} = {}", attr.name.name, expr(&attr.expr)).unwrap();
    }
    for block in &body.blocks {
        let labels: String =
            block.labels.iter().map(|label| format!(" {:?}", label.name)).collect();
        writeln!(out, "{pad}{}{labels}", block.kind.name).unwrap();
        write_body(out, &block.body, depth + 1);
    }
}

/// Prints an expression as an S-expression.
pub(crate) fn expr(tree: &Expr) -> String {
    match &tree.kind {
        ExprKind::Null => "null".to_owned(),
        ExprKind::Bool(value) => value.to_string(),
        ExprKind::Number(number) => number.to_string(),
        ExprKind::Text(text, _) => format!("{text:?}"),
        ExprKind::Template(template) => format!("(template {})", parts(template)),
        ExprKind::Wrap(inner) => format!("(wrap {})", expr(inner)),
        ExprKind::Variable(name) => name.name.to_string(),
        ExprKind::Attribute { on, name } => format!("(. {} {})", expr(on), name.name),
        ExprKind::Index { on, key, .. } => format!("([] {} {})", expr(on), expr(key)),
        ExprKind::Splat { on, each, .. } => format!("(splat {}{})", expr(on), steps(each)),
        ExprKind::Call(call) => {
            let dots = if call.expand { " ..." } else { "" };
            format!("({}{}{dots})", call.name.name, all(&call.args))
        }
        ExprKind::Unary { op, operand, .. } => format!("({op:?} {})", expr(operand)),
        ExprKind::Binary { op, left, right, .. } => {
            format!("({op:?} {} {})", expr(left), expr(right))
        }
        ExprKind::Conditional { condition, yes, no } => {
            format!("(? {} {} {})", expr(condition), expr(yes), expr(no))
        }
        ExprKind::Tuple(items) => format!("(tuple{})", all(items)),
        ExprKind::Object(items) => {
            let items: String = items
                .iter()
                .map(|item| {
                    let sign = if item.bare { "=" } else { ":" };
                    format!(" {}{sign}{}", expr(&item.key), expr(&item.value))
                })
                .collect();
            format!("(object{items})")
        }
        ExprKind::For(tree) => {
            let key = tree.key.as_ref().map(|key| format!("{} ", key.name)).unwrap_or_default();
            let result_key = tree
                .result_key
                .as_ref()
                .map(|key| format!(" key={}", expr(key)))
                .unwrap_or_default();
            let group = if tree.group { " group" } else { "" };
            let condition = tree
                .condition
                .as_ref()
                .map(|test| format!(" if={}", expr(test)))
                .unwrap_or_default();
            let (collection, result) = (expr(&tree.collection), expr(&tree.result));
            format!(
                "(for {key}{} {collection}{result_key} {result}{group}{condition})",
                tree.value.name
            )
        }
        ExprKind::Parens(inner) => format!("(parens {})", expr(inner)),
        ExprKind::Json(json) => format!("(json {})", expr(&json.template)),
        ExprKind::Invalid => "INVALID".to_owned(),
    }
}

fn all(exprs: &[Expr]) -> String {
    exprs.iter().map(|tree| format!(" {}", expr(tree))).collect()
}

fn steps(each: &[SplatStep]) -> String {
    each.iter()
        .map(|step| match step {
            SplatStep::Attribute(name) => format!(" .{}", name.name),
            SplatStep::Index { key, .. } => format!(" [{}]", expr(key)),
            SplatStep::Splat { each, .. } => format!(" (splat{})", steps(each)),
        })
        .collect()
}

fn parts(parts: &[TemplatePart]) -> String {
    let parts: Vec<String> = parts
        .iter()
        .map(|part| match part {
            TemplatePart::Literal(text, _) => format!("{text:?}"),
            TemplatePart::Interpolation(tree) => format!("${{{}}}", expr(tree)),
            TemplatePart::If(choice) => {
                let TemplateIf { condition, yes, no, .. } = &**choice;
                format!("%if {} {} else {}", expr(condition), arm(yes), arm(no))
            }
            TemplatePart::For(repeat) => {
                let TemplateFor { key, value, collection, body, .. } = &**repeat;
                let key = key.as_ref().map(|key| format!("{} ", key.name)).unwrap_or_default();
                format!("%for {key}{} {} {}", value.name, expr(collection), arm(body))
            }
        })
        .collect();
    parts.join(" ")
}

fn arm(list: &[TemplatePart]) -> String {
    match list {
        [TemplatePart::Literal(text, _)] => format!("{text:?}"),
        _ => format!("(template {})", parts(list)),
    }
}
