//! Collects the references in an expression without evaluating it.

mod content;

use std::collections::HashMap;

use formwork_value::Str;

pub use content::{ContentReferences, find_spans_outside_schema, references_of_content};

use crate::dynamic::DynamicBlock;
use crate::stack::with_stack;
use crate::syntax::{
    Block, Body, Expr, ExprKind, ForExpr, ObjectItem, SplatStep, TemplateFor, TemplatePart,
};
pub use crate::traversal::{Traversal, TraversalStep, as_traversal, find_null_or_bool_key};
use crate::traversal::{split_steps, to_constant_step};

/// Returns every reference in an expression, in order, without the names bound by `for` inside it.
#[must_use]
pub fn traversals_of_expr(expr: &Expr) -> Vec<Traversal> {
    let mut finder = ReferenceFinder::default();
    finder.visit_expr(expr);
    finder.traversals
}

/// Returns every reference in a body, including nested blocks and `dynamic` blocks, without the names
/// bound by `for` or by the iterator of a `dynamic` block.
#[must_use]
pub fn traversals_of_body(body: &Body) -> Vec<Traversal> {
    let mut finder = ReferenceFinder::default();
    finder.visit_body(body);
    finder.traversals
}

#[derive(Default)]
struct ReferenceFinder {
    traversals: Vec<Traversal>,
    /// References in the `for_each` and `labels` of `dynamic` blocks of a known type.
    repetitions: Vec<Traversal>,
    /// Locally bound names, with the number of nested bindings.
    bound: HashMap<Str, usize>,
}

impl ReferenceFinder {
    fn with_bound_names(&mut self, names: &[&Str], visit: impl FnOnce(&mut Self)) {
        for name in names {
            // Counted, because an inner `for` may bind the name again, and its end must not free
            // the name.
            *self.bound.entry((*name).clone()).or_default() += 1;
        }
        visit(self);
        for name in names {
            if let Some(count) = self.bound.get_mut(*name) {
                *count -= 1;
            }
        }
    }

    fn is_bound(&self, name: &Str) -> bool {
        self.bound.get(name).is_some_and(|count| *count > 0)
    }

    fn visit_expr(&mut self, expr: &Expr) {
        with_stack(|| self.visit_expr_kind(expr));
    }

    fn visit_expr_kind(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Null
            | ExprKind::Bool(_)
            | ExprKind::Number(_)
            | ExprKind::Text(..)
            | ExprKind::Invalid => {}
            ExprKind::Variable(_)
            | ExprKind::Attribute { .. }
            | ExprKind::Index { .. }
            | ExprKind::Splat { .. } => self.add_reference(expr),
            ExprKind::Template(parts) => self.visit_template_parts(parts),
            ExprKind::Wrap(inner) | ExprKind::Parens(inner) => self.visit_expr(inner),
            ExprKind::Json(json) => self.visit_expr(&json.template),
            ExprKind::Call(call) => call.args.iter().for_each(|arg| self.visit_expr(arg)),
            ExprKind::Unary { operand, .. } => self.visit_expr(operand),
            ExprKind::Binary { left, right, .. } => {
                self.visit_expr(left);
                self.visit_expr(right);
            }
            ExprKind::Conditional { condition, yes, no } => {
                self.visit_expr(condition);
                self.visit_expr(yes);
                self.visit_expr(no);
            }
            ExprKind::Tuple(items) => items.iter().for_each(|item| self.visit_expr(item)),
            ExprKind::Object(items) => {
                for item in items {
                    self.visit_expr(&item.key);
                    self.visit_expr(&item.value);
                }
            }
            ExprKind::For(for_expr) => self.visit_for_expr(for_expr),
        }
    }

    fn add_reference(&mut self, expr: &Expr) {
        let (base, links) = split_steps(expr);
        match &base.kind {
            ExprKind::Variable(root) if self.is_bound(&root.name) => {}
            ExprKind::Variable(root) => {
                let mut steps = Vec::new();
                let mut span = base.span;
                for link in &links {
                    let Some(step) = to_constant_step(link) else { break };
                    let is_last = matches!(step, TraversalStep::Splat(_));
                    span = if let TraversalStep::Splat(marker) = step {
                        span.to(marker)
                    } else {
                        link.span
                    };
                    steps.push(step);
                    if is_last {
                        break;
                    }
                }
                self.traversals.push(Traversal { root: root.clone(), steps, span });
            }
            _ => self.visit_expr(base),
        }
        // Keys are separate expressions: `a[b.c]` contains two references.
        for link in links {
            match &link.kind {
                ExprKind::Index { key, .. } => self.visit_expr(key),
                ExprKind::Splat { each, .. } => self.visit_splat_steps(each),
                _ => {}
            }
        }
    }

    fn visit_splat_steps(&mut self, steps: &[SplatStep]) {
        for step in steps {
            match step {
                SplatStep::Attribute(_) => {}
                SplatStep::Index { key, .. } => self.visit_expr(key),
                SplatStep::Splat { each, .. } => with_stack(|| self.visit_splat_steps(each)),
            }
        }
    }

    fn visit_for_expr(&mut self, for_expr: &ForExpr) {
        // The names are bound only in the results: the collection is evaluated outside.
        self.visit_expr(&for_expr.collection);
        let names: Vec<&Str> =
            for_expr.key.iter().chain([&for_expr.value]).map(|ident| &ident.name).collect();
        self.with_bound_names(&names, |finder| {
            let results = for_expr.result_key.iter().chain([&for_expr.result]);
            results.chain(&for_expr.condition).for_each(|expr| finder.visit_expr(expr));
        });
    }

    fn visit_template_parts(&mut self, parts: &[TemplatePart]) {
        for part in parts {
            match part {
                TemplatePart::Literal(..) => {}
                TemplatePart::Interpolation(expr) => self.visit_expr(expr),
                TemplatePart::If(choice) => {
                    self.visit_expr(&choice.condition);
                    with_stack(|| self.visit_template_parts(&choice.yes));
                    with_stack(|| self.visit_template_parts(&choice.no));
                }
                TemplatePart::For(repeat) => {
                    let TemplateFor { key, value, collection, body, .. } = &**repeat;
                    self.visit_expr(collection);
                    let names: Vec<&Str> =
                        key.iter().chain([value]).map(|ident| &ident.name).collect();
                    self.with_bound_names(&names, |finder| {
                        with_stack(|| finder.visit_template_parts(body));
                    });
                }
            }
        }
    }

    /// Visits a body in the order in which it is written.
    fn visit_body(&mut self, body: &Body) {
        let mut attributes = body.attributes.iter().peekable();
        let mut blocks = body.blocks.iter().peekable();
        loop {
            let attribute_next = match (attributes.peek(), blocks.peek()) {
                (Some(attr), Some(block)) => attr.span.start < block.span.start,
                (next, _) => next.is_some(),
            };
            if attribute_next {
                attributes.next().into_iter().for_each(|attr| self.visit_expr(&attr.expr));
            } else if let Some(block) = blocks.next() {
                with_stack(|| self.visit_block(block));
            } else {
                break;
            }
        }
        self.visit_json_members(
            body.undecided.iter().map(|member| (member.name.name.as_str(), &member.expr)),
        );
    }

    /// Visits the members of an object that may be a body. For the references in them it only matters
    /// whether they are comments or `dynamic` blocks.
    fn visit_json_members<'e>(&mut self, members: impl Iterator<Item = (&'e str, &'e Expr)>) {
        for (name, expr) in members {
            match name {
                // A comment in the JSON syntax, which is never evaluated.
                "//" => {}
                // The same key may also be an ordinary attribute, and its references are also found.
                "dynamic" => for_each_object(expr, &mut |kinds| {
                    for (kind, expr) in json_object_members(kinds) {
                        for_each_object(expr, &mut |items| {
                            self.visit_json_dynamic_block(kind, items);
                        });
                    }
                }),
                _ => self.visit_json_member(expr),
            }
        }
    }

    fn visit_json_member(&mut self, expr: &Expr) {
        with_stack(|| match &expr.kind {
            ExprKind::Object(items) => {
                items.iter().for_each(|item| self.visit_expr(&item.key));
                self.visit_json_members(json_object_members(items));
            }
            ExprKind::Tuple(items) => items.iter().for_each(|item| self.visit_json_member(item)),
            _ => self.visit_expr(expr),
        });
    }

    /// Visits a `dynamic` block for blocks of a type.
    fn visit_json_dynamic_block(&mut self, kind: &str, items: &[ObjectItem]) {
        let part =
            |name: &str| json_object_members(items).find(|item| item.0 == name).map(|item| item.1);
        part("for_each").into_iter().for_each(|for_each| self.visit_expr(for_each));
        let iterator = Str::new(part("iterator").and_then(Expr::as_keyword).unwrap_or(kind));
        self.with_bound_names(&[&iterator], |finder| {
            let parts = part("labels").into_iter().chain(part("content"));
            parts.for_each(|part| finder.visit_json_member(part));
        });
    }

    fn visit_block(&mut self, block: &Block) {
        let Some(dynamic) = DynamicBlock::of(block) else { return self.visit_body(&block.body) };
        // The iterator is not bound here: it refers to an element of this collection.
        if let Some(for_each) = dynamic.for_each {
            self.visit_expr(for_each);
        }
        let iterator = dynamic.iterator_name();
        self.with_bound_names(&[&iterator], |finder| {
            if let Some(labels) = dynamic.labels {
                finder.visit_expr(labels);
            }
            if let Some(content) = dynamic.content {
                finder.visit_body(&content.body);
            }
        });
    }
}

/// Returns the members of a JSON object, by name.
fn json_object_members(items: &[ObjectItem]) -> impl Iterator<Item = (&str, &Expr)> {
    items.iter().filter_map(|item| match &item.key.kind {
        ExprKind::Json(json) => Some((json.text.as_str(), &item.value)),
        _ => None,
    })
}

/// Visits an object, or each one in an array.
fn for_each_object<'e>(expr: &'e Expr, visit: &mut impl FnMut(&'e [ObjectItem])) {
    match &expr.kind {
        ExprKind::Object(items) => visit(items),
        ExprKind::Tuple(items) => {
            for item in items {
                if let ExprKind::Object(items) = &item.kind {
                    visit(items);
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests;
