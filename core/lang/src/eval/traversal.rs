//! Names and the steps after them. A chain `a.b[i].c` is resolved as a whole, so that the scope can read
//! one instance without building all of them.

use formwork_value::{Diagnostic, Reported, Span, Value};

use super::{Evaluator, ForFrames, access, value_bound_by_for};
use crate::scope::ScopeStep;
use crate::syntax::{Expr, ExprKind, Ident};

impl Evaluator<'_> {
    /// Evaluates a name, or attribute and index steps after any expression.
    pub(super) fn evaluate_traversal(
        &mut self,
        expr: &Expr,
        frames: ForFrames<'_>,
    ) -> Result<Value, Reported> {
        let mut links = Vec::new();
        let mut base = expr;
        while let ExprKind::Attribute { operand, .. } | ExprKind::Index { operand, .. } = &base.kind
        {
            links.push(base);
            base = operand;
        }
        links.reverse();
        let ExprKind::Variable(root) = &base.kind else {
            // The steps are evaluated even if the base fails, because their errors are independent of
            // it.
            let value = self.evaluate_expr(base, frames);
            let steps = self.evaluate_step_keys(&links, frames);
            return self.follow_steps(value?, &links, &steps?, frames);
        };
        let steps = self.evaluate_step_keys(&links, frames)?;
        if let Some(value) = value_bound_by_for(frames, &root.name) {
            return self.follow_steps(value.clone(), &links, &steps, frames);
        }
        let (value, n_resolved) = self.scope.resolve(self.diags, root, &steps)?;
        // A scope is code of the embedder: one that returns too many steps must not cause a panic.
        let n_resolved = n_resolved.min(links.len());
        let rest = links.get(n_resolved..).unwrap_or(&[]);
        self.follow_steps(value, rest, steps.get(n_resolved..).unwrap_or(&[]), frames)
    }

    fn evaluate_step_keys(
        &mut self,
        links: &[&Expr],
        frames: ForFrames<'_>,
    ) -> Result<Vec<ScopeStep>, Reported> {
        let mut steps = Vec::with_capacity(links.len());
        for link in links {
            match &link.kind {
                ExprKind::Attribute { name, .. } => steps.push(ScopeStep::Attribute(name.clone())),
                ExprKind::Index { key, brackets, .. } => {
                    steps.push(ScopeStep::Index(self.evaluate_expr(key, frames)?, *brackets));
                }
                _ => {}
            }
        }
        Ok(steps)
    }

    fn follow_steps(
        &mut self,
        mut value: Value,
        links: &[&Expr],
        steps: &[ScopeStep],
        frames: ForFrames<'_>,
    ) -> Result<Value, Reported> {
        for (link, step) in links.iter().zip(steps) {
            let (part, span) = match step {
                ScopeStep::Attribute(name) => {
                    (access::access_attribute(&value, &name.name), attribute_step_span(link, name))
                }
                ScopeStep::Index(key, brackets) => (access::access_index(&value, key), *brackets),
            };
            value = part.map_err(|part| {
                self.report_error(
                    Diagnostic::from(part).at(span).with_source_context(link.span),
                    link,
                    frames,
                )
            })?;
        }
        Ok(value)
    }
}

/// The dot and the name of an attribute step.
fn attribute_step_span(link: &Expr, name: &Ident) -> Span {
    match &link.kind {
        ExprKind::Attribute { operand, .. } if operand.span.source == name.span.source => Span {
            start: operand.span.end.clamp(name.span.start.saturating_sub(1), name.span.start),
            ..name.span
        },
        _ => name.span,
    }
}
