//! Prints trees compactly, for snapshots in tests.

use std::fmt::Write as _;

use super::{Body, Expr, ExprKind, SplatStep, TemplateFor, TemplateIf, TemplatePart};

/// Prints a body, with one line for each argument and block.
pub(crate) fn print_body(body: &Body) -> String {
    let mut out = String::new();
    write_body(&mut out, body, 0);
    out
}

fn write_body(out: &mut String, body: &Body, depth: usize) {
    let pad = "  ".repeat(depth);
    for attr in &body.attributes {
        writeln!(out, "{pad}{} = {}", attr.name.name, print_expr(&attr.expr)).unwrap();
    }
    for block in &body.blocks {
        let labels: String =
            block.labels.iter().map(|label| format!(" {:?}", label.name)).collect();
        writeln!(out, "{pad}{}{labels}", block.kind.name).unwrap();
        write_body(out, &block.body, depth + 1);
    }
}

/// Prints an expression as an S-expression.
pub(crate) fn print_expr(tree: &Expr) -> String {
    match &tree.kind {
        ExprKind::Null => "null".to_owned(),
        ExprKind::Bool(value) => value.to_string(),
        ExprKind::Number(number) => number.to_string(),
        ExprKind::Text(text, _) => format!("{text:?}"),
        ExprKind::Template(template) => format!("(template {})", print_template_parts(template)),
        ExprKind::Wrap(inner) => format!("(wrap {})", print_expr(inner)),
        ExprKind::Variable(name) => name.name.to_string(),
        ExprKind::Attribute { operand, name } => {
            format!("(. {} {})", print_expr(operand), name.name)
        }
        ExprKind::Index { operand, key, .. } => {
            format!("([] {} {})", print_expr(operand), print_expr(key))
        }
        ExprKind::Splat { operand, each, .. } => {
            format!("(splat {}{})", print_expr(operand), print_splat_steps(each))
        }
        ExprKind::Call(call) => {
            let dots = if call.expand { " ..." } else { "" };
            format!("({}{}{dots})", call.name.name, print_exprs(&call.args))
        }
        ExprKind::Unary { op, operand, .. } => format!("({op:?} {})", print_expr(operand)),
        ExprKind::Binary { op, left, right, .. } => {
            format!("({op:?} {} {})", print_expr(left), print_expr(right))
        }
        ExprKind::Conditional { condition, yes, no } => {
            format!("(? {} {} {})", print_expr(condition), print_expr(yes), print_expr(no))
        }
        ExprKind::Tuple(items) => format!("(tuple{})", print_exprs(items)),
        ExprKind::Object(items) => {
            let items: String = items
                .iter()
                .map(|item| {
                    let sign = if item.bare { "=" } else { ":" };
                    format!(" {}{sign}{}", print_expr(&item.key), print_expr(&item.value))
                })
                .collect();
            format!("(object{items})")
        }
        ExprKind::For(tree) => {
            let key = tree.key.as_ref().map(|key| format!("{} ", key.name)).unwrap_or_default();
            let result_key = tree
                .result_key
                .as_ref()
                .map(|key| format!(" key={}", print_expr(key)))
                .unwrap_or_default();
            let group = if tree.group { " group" } else { "" };
            let condition = tree
                .condition
                .as_ref()
                .map(|test| format!(" if={}", print_expr(test)))
                .unwrap_or_default();
            let (collection, result) = (print_expr(&tree.collection), print_expr(&tree.result));
            format!(
                "(for {key}{} {collection}{result_key} {result}{group}{condition})",
                tree.value.name
            )
        }
        ExprKind::Parens(inner) => format!("(parens {})", print_expr(inner)),
        ExprKind::Json(json) => format!("(json {})", print_expr(&json.template)),
        ExprKind::Invalid => "INVALID".to_owned(),
    }
}

fn print_exprs(exprs: &[Expr]) -> String {
    exprs.iter().map(|tree| format!(" {}", print_expr(tree))).collect()
}

fn print_splat_steps(each: &[SplatStep]) -> String {
    each.iter()
        .map(|step| match step {
            SplatStep::Attribute(name) => format!(" .{}", name.name),
            SplatStep::Index { key, .. } => format!(" [{}]", print_expr(key)),
            SplatStep::Splat { each, .. } => format!(" (splat{})", print_splat_steps(each)),
        })
        .collect()
}

fn print_template_parts(parts: &[TemplatePart]) -> String {
    let parts: Vec<String> = parts
        .iter()
        .map(|part| match part {
            TemplatePart::Literal(text, _) => format!("{text:?}"),
            TemplatePart::Interpolation(tree) => format!("${{{}}}", print_expr(tree)),
            TemplatePart::If(choice) => {
                let TemplateIf { condition, yes, no, .. } = &**choice;
                format!(
                    "%if {} {} else {}",
                    print_expr(condition),
                    print_template_arm(yes),
                    print_template_arm(no)
                )
            }
            TemplatePart::For(repeat) => {
                let TemplateFor { key, value, collection, body, .. } = &**repeat;
                let key = key.as_ref().map(|key| format!("{} ", key.name)).unwrap_or_default();
                format!(
                    "%for {key}{} {} {}",
                    value.name,
                    print_expr(collection),
                    print_template_arm(body)
                )
            }
        })
        .collect();
    parts.join(" ")
}

fn print_template_arm(list: &[TemplatePart]) -> String {
    match list {
        [TemplatePart::Literal(text, _)] => format!("{text:?}"),
        _ => format!("(template {})", print_template_parts(list)),
    }
}
