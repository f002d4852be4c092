//! Traversals: a name followed by constant steps, as written.

use formwork_value::{Diagnostics, Number, Path, Span, Step, Str};

use crate::syntax::{Expr, ExprKind, Ident};

/// A reference to a name, with the steps after it up to the first that is not constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Traversal {
    /// The first name.
    pub root: Ident,
    /// The constant steps after the name.
    pub steps: Vec<TraversalStep>,
    /// The whole traversal.
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

impl Traversal {
    /// Converts the traversal to a path in which the first name is also an attribute. Returns `None` if
    /// it ends in a splat.
    #[must_use]
    pub fn to_path(&self) -> Option<Path> {
        let root = Some(Step::Attribute(self.root.name.clone()));
        let steps = self.steps.iter().map(TraversalStep::to_step);
        std::iter::once(root).chain(steps).collect::<Option<_>>().map(Path)
    }
}

impl TraversalStep {
    /// Converts the step to a path step. Returns `None` for a splat, which leads to many values.
    #[must_use]
    pub fn to_step(&self) -> Option<Step> {
        match self {
            Self::Attribute(name) => Some(Step::Attribute(name.name.clone())),
            Self::Key(key, _) => Some(Step::Key(key.clone())),
            Self::Index(at, _) => Some(Step::Index(at.clone())),
            Self::Splat(_) => None,
        }
    }
}

/// Reads an expression as a traversal of constant steps, as required by arguments such as `depends_on`.
/// Returns `None` for any other expression. `null`, `true` and `false` count as names here, because a
/// provider is called null.
#[must_use]
pub fn as_traversal(expr: &Expr) -> Option<Traversal> {
    if let ExprKind::Json(json) = &expr.kind {
        // In JSON, an argument such as `depends_on` contains references as plain strings.
        return as_traversal(
            &json.parse_unquoted_expression(&mut Diagnostics::new(), expr.span).ok()?,
        );
    }
    let (base, links) = split_steps(expr);
    let root = Ident { name: base.as_keyword()?.into(), span: base.span };
    let steps = links.iter().map(|link| to_constant_step(link)).collect::<Option<Vec<_>>>()?;
    // A splat includes all steps after it, so it can only be the last.
    let constant = !matches!(steps.last(), Some(TraversalStep::Splat(_)));
    constant.then(|| Traversal { root, steps, span: expr.span })
}

/// Returns the span of the first key that is `null`, `true` or `false`, if an expression would otherwise
/// be a traversal of constant steps: they are constants, but not valid keys.
#[must_use]
pub fn find_null_or_bool_key(expr: &Expr) -> Option<Span> {
    let (base, links) = split_steps(expr);
    base.as_keyword()?;
    let unusable = |link: &&Expr| match &link.kind {
        ExprKind::Index { key, brackets, .. } => {
            matches!(key.kind, ExprKind::Null | ExprKind::Bool(_)).then_some(*brackets)
        }
        _ => None,
    };
    let constant =
        links.iter().all(|link| unusable(link).is_some() || to_constant_step(link).is_some());
    links.iter().find_map(unusable).filter(|_| constant)
}

/// Splits an expression into its base and the expressions that each add a step, the innermost first.
pub(crate) fn split_steps(expr: &Expr) -> (&Expr, Vec<&Expr>) {
    let mut links = Vec::new();
    let mut base = expr;
    while let ExprKind::Attribute { operand, .. }
    | ExprKind::Index { operand, .. }
    | ExprKind::Splat { operand, .. } = &base.kind
    {
        links.push(base);
        base = operand;
    }
    links.reverse();
    (base, links)
}

/// Returns the step that an expression of a chain adds, or `None` if it is not constant.
pub(crate) fn to_constant_step(link: &Expr) -> Option<TraversalStep> {
    match &link.kind {
        ExprKind::Attribute { name, .. } => Some(TraversalStep::Attribute(name.clone())),
        ExprKind::Splat { marker, .. } => Some(TraversalStep::Splat(*marker)),
        ExprKind::Index { key, brackets, .. } => match (&key.kind, key.as_string_literal()) {
            (ExprKind::Number(number), _) => Some(TraversalStep::Index(number.clone(), *brackets)),
            (_, Some(text)) => Some(TraversalStep::Key(text.clone(), *brackets)),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::as_traversal;
    use crate::testing::{parse_valid_file, print_traversal};

    fn traversal(text: &str, expected: &Expect) {
        let (body, _) = parse_valid_file(&format!("x = {text}"));
        let traversal = as_traversal(&body.attributes[0].expr);
        expected.assert_eq(
            &traversal.map_or("none".to_owned(), |traversal| print_traversal(&traversal)),
        );
    }

    #[test]
    fn only_constant_steps_make_a_traversal() {
        traversal("a.b[0].c", &expect!["a.b[0].c"]);
        traversal("a[\"x\"]", &expect![[r#"a["x"]"#]]);
        traversal("a", &expect!["a"]);
        traversal("null.other", &expect!["null.other"]);
        traversal("a[b]", &expect!["none"]);
        traversal("a[*].b", &expect!["none"]);
        traversal("(a.b)", &expect!["none"]);
        traversal("f(a)", &expect!["none"]);
        traversal("\"${a}\"", &expect!["none"]);
    }
}
