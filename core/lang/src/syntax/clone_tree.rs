//! Copies of trees, with enough stack for any depth.

use super::{Block, Expr, SplatStep, TemplatePart};
use crate::stack::with_stack;

impl Clone for Expr {
    fn clone(&self) -> Self {
        with_stack(|| Self { kind: self.kind.clone(), span: self.span })
    }
}

impl Clone for Block {
    fn clone(&self) -> Self {
        with_stack(|| Self {
            kind: self.kind.clone(),
            labels: self.labels.clone(),
            body: self.body.clone(),
            header: self.header,
            brace: self.brace,
            span: self.span,
        })
    }
}

impl Clone for SplatStep {
    fn clone(&self) -> Self {
        with_stack(|| match self {
            Self::Attribute(name) => Self::Attribute(name.clone()),
            Self::Index { key, brackets } => Self::Index { key: key.clone(), brackets: *brackets },
            Self::Splat { each, marker } => Self::Splat { each: each.clone(), marker: *marker },
        })
    }
}

impl Clone for TemplatePart {
    fn clone(&self) -> Self {
        with_stack(|| match self {
            Self::Literal(text, span) => Self::Literal(text.clone(), *span),
            Self::Interpolation(expr) => Self::Interpolation(expr.clone()),
            Self::If(choice) => Self::If(choice.clone()),
            Self::For(repeat) => Self::For(repeat.clone()),
        })
    }
}
