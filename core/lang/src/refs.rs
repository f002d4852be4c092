//! Which names an expression mentions, found without evaluating it.

use formwork_value::{Number, Span, Str};

use crate::syntax::{Body, Expr, Ident};

/// A mention of a name, with the steps behind it up to the first that is not a constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Traversal {
    /// The first name.
    pub root: Ident,
    /// The constant steps behind it.
    pub steps: Vec<TraversalStep>,
    /// The whole of what is described here.
    pub span: Span,
}

/// One constant step of a [`Traversal`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TraversalStep {
    /// `.name`
    Attribute(Ident),
    /// `["key"]`
    Key(Str, Span),
    /// `[0]` or `.0`
    Index(Number, Span),
    /// `[*]` or `.*`; always the last step reported.
    Splat(Span),
}

/// Returns every name mentioned in an expression, in order, without those bound by `for` inside it.
#[must_use]
pub fn of_expr(expr: &Expr) -> Vec<Traversal> {
    let _ = expr;
    todo!()
}

/// Returns every name mentioned anywhere in a body, nested blocks and `dynamic` blocks included,
/// without those bound by `for` or by a `dynamic` block's iterator.
#[must_use]
pub fn of_body(body: &Body) -> Vec<Traversal> {
    let _ = body;
    todo!()
}

/// Reads an expression as a traversal of constant steps, as `depends_on` and the like require it;
/// `None` if it is anything else.
#[must_use]
pub fn as_traversal(expr: &Expr) -> Option<Traversal> {
    let _ = expr;
    todo!()
}
