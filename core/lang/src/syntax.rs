//! The syntax tree: files, bodies and expressions as written, every node with its span.
//!
//! Readers of configuration do not walk a [`Body`] directly. They request the expected parts from
//! `content`, so that the native and the JSON syntax share one interface.

mod add_source;
mod clone_tree;
mod enclosing_block;
mod json;
pub mod lex;
mod parse;
#[cfg(test)]
pub(crate) mod print_tree;
#[cfg(test)]
mod tests;

use formwork_value::{Number, Span, Str};

pub use add_source::add_source;
pub use enclosing_block::{enclosing_block_heading, enclosing_context};
pub(crate) use json::json_members_as_attributes;
pub use json::{JsonString, parse_json};
pub use parse::{parse_expression, parse_file, parse_template};

/// Greatest nesting of expressions, templates and blocks. Every recursion over a tree relies on this
/// limit, including the drop of the tree.
pub const MAX_DEPTH: usize = 1_500;

/// A name with its span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ident {
    /// The name.
    pub name: Str,
    /// Source range.
    pub span: Span,
}

/// Content between braces, or of a whole file.
#[derive(Clone, Debug)]
pub struct Body {
    /// Arguments in the order written. Of a duplicate argument, only the first is present.
    pub attributes: Vec<Attribute>,
    /// Blocks in the order written.
    pub blocks: Vec<Block>,
    /// Members of a body in JSON. The schema determines whether each is an argument or blocks, so
    /// `content` decides. Empty in a body of the native syntax.
    pub undecided: Vec<Attribute>,
    /// The whole body, without braces.
    pub span: Span,
    /// Position at which a missing argument is reported: the opening brace, the argument of a block on
    /// one line, or the start of the file.
    pub missing: Span,
}

impl Body {
    /// Creates an empty body.
    #[must_use]
    pub fn empty(span: Span, missing: Span) -> Self {
        Self { attributes: Vec::new(), blocks: Vec::new(), undecided: Vec::new(), span, missing }
    }

    /// Returns whether the body is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let comments_only = self.undecided.iter().all(Attribute::is_json_comment);
        self.attributes.is_empty() && self.blocks.is_empty() && comments_only
    }

    /// Returns everything that is set, without a check against a schema.
    pub fn written_attributes(&self) -> impl Iterator<Item = &Attribute> {
        let members = self.undecided.iter().filter(|member| !member.is_json_comment());
        self.attributes.iter().chain(members)
    }

    /// Returns the attribute with a name, without a check against a schema.
    #[must_use]
    pub fn find_attribute(&self, name: &str) -> Option<&Attribute> {
        self.written_attributes().find(|attr| attr.name.name == name)
    }
}

/// `name = expression`.
#[derive(Clone, Debug)]
pub struct Attribute {
    /// The name.
    pub name: Ident,
    /// The expression.
    pub expr: Expr,
    /// Name, equals sign and expression.
    pub span: Span,
}

impl Attribute {
    /// Returns whether this is a comment of the JSON syntax (`//`).
    #[must_use]
    pub fn is_json_comment(&self) -> bool {
        self.name.name == "//"
    }
}

/// `kind "label" … { body }`.
#[derive(Debug)]
pub struct Block {
    /// The block's type.
    pub kind: Ident,
    /// The labels, whether quoted or bare.
    pub labels: Vec<Ident>,
    /// Content between the braces.
    pub body: Body,
    /// The type and the labels.
    pub header: Span,
    /// The opening brace.
    pub brace: Span,
    /// The whole block, from the type to the closing brace.
    pub span: Span,
}

/// An expression.
#[derive(Debug)]
pub struct Expr {
    /// Kind and operands.
    pub kind: ExprKind,
    /// Source range.
    pub span: Span,
}

impl Expr {
    /// Returns the string, if this is a string without interpolations.
    #[must_use]
    pub fn as_string_literal(&self) -> Option<&Str> {
        match &self.kind {
            ExprKind::Text(text, _) => Some(text),
            ExprKind::Json(json) => json.template.as_string_literal(),
            _ => None,
        }
    }

    /// Returns the name, if this is a single name or a keyword (`true`, `null`).
    #[must_use]
    pub fn as_keyword(&self) -> Option<&str> {
        match &self.kind {
            ExprKind::Variable(ident) => Some(&ident.name),
            ExprKind::Null => Some("null"),
            ExprKind::Bool(true) => Some("true"),
            ExprKind::Bool(false) => Some("false"),
            ExprKind::Json(json) => json.as_keyword(),
            _ => None,
        }
    }
}

/// Kinds of expressions.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A literal quoted string or heredoc: the string with escapes resolved, and its span without the
    /// quotes.
    Text(Str, Span),
    /// A quoted string or heredoc with interpolations or directives.
    Template(Vec<TemplatePart>),
    /// A string that is a single interpolation, `"${expression}"`: the value keeps its type.
    Wrap(Box<Expr>),
    /// The first name of a traversal.
    Variable(Ident),
    /// `on.name`.
    Attribute {
        /// Operand of the attribute access.
        operand: Box<Expr>,
        /// The attribute.
        name: Ident,
    },
    /// `on[key]`, and the legacy form `on.0`.
    Index {
        /// Operand of the index.
        operand: Box<Expr>,
        /// The key.
        key: Box<Expr>,
        /// The brackets and the text between them.
        brackets: Span,
    },
    /// `on[*].a[0]` or `on.*.a`.
    Splat {
        /// Operand of the splat.
        operand: Box<Expr>,
        /// Steps on each element, in order.
        each: Vec<SplatStep>,
        /// The marker, `[*]` or `.*`.
        marker: Span,
    },
    /// `name(args…)`. Boxed to keep the size of other expressions small.
    Call(Box<Call>),
    /// `-a` or `!a`.
    Unary {
        /// The operator.
        op: UnaryOp,
        /// The operand.
        operand: Box<Expr>,
        /// Source range of the operator.
        op_span: Span,
    },
    /// `a + b`.
    Binary {
        /// The operator.
        op: BinaryOp,
        /// The left operand.
        left: Box<Expr>,
        /// The right operand.
        right: Box<Expr>,
        /// Source range of the operator.
        op_span: Span,
    },
    /// `condition ? yes : no`.
    Conditional {
        /// The condition.
        condition: Box<Expr>,
        /// The value if it holds.
        yes: Box<Expr>,
        /// The value if it does not.
        no: Box<Expr>,
    },
    /// `[a, b]`.
    Tuple(Vec<Expr>),
    /// `{ a = b }`.
    Object(Vec<ObjectItem>),
    /// `[for …]` or `{for …}`.
    For(Box<ForExpr>),
    /// `(a)`.
    Parens(Box<Expr>),
    /// A string of a JSON file, which may be a template, a reference, or a literal string.
    Json(Box<JsonString>),
    /// Something that could not be parsed and was reported. Evaluates to an unknown value.
    Invalid,
}

/// A step on each element of a splat.
#[derive(Debug)]
pub enum SplatStep {
    /// `.name`
    Attribute(Ident),
    /// `[key]`
    Index {
        /// The key.
        key: Expr,
        /// The brackets and the text between them. For `.0`, the dot and the number.
        brackets: Span,
    },
    /// Another splat, over each element of the result so far: `[*].a[*].b`.
    Splat {
        /// Steps on each element, in order.
        each: Vec<Self>,
        /// The marker, `[*]` or `.*`.
        marker: Span,
    },
}

/// One piece of a template. Strip markers and heredoc indentation are already applied.
#[derive(Debug)]
pub enum TemplatePart {
    /// Text, escapes resolved.
    Literal(Str, Span),
    /// `${expression}`.
    Interpolation(Expr),
    /// `%{ if … }`.
    If(Box<TemplateIf>),
    /// `%{ for … }`.
    For(Box<TemplateFor>),
}

/// A conditional of a template.
#[derive(Clone, Debug)]
pub struct TemplateIf {
    /// The condition.
    pub condition: Expr,
    /// The parts if it holds.
    pub yes: Vec<TemplatePart>,
    /// The parts if it does not.
    pub no: Vec<TemplatePart>,
    /// From the opening to the closing directive.
    pub span: Span,
}

/// Parts of a template that are rendered for each element of a collection.
#[derive(Clone, Debug)]
pub struct TemplateFor {
    /// Name for the key or index.
    pub key: Option<Ident>,
    /// Name for the element.
    pub value: Ident,
    /// Collection to iterate.
    pub collection: Expr,
    /// The parts repeated.
    pub body: Vec<TemplatePart>,
    /// From the opening to the closing directive.
    pub span: Span,
}

/// A call of a function.
#[derive(Clone, Debug)]
pub struct Call {
    /// The name as written, with `::` where it is qualified.
    pub name: Ident,
    /// The arguments.
    pub args: Vec<Expr>,
    /// Whether the last argument is followed by `...`.
    pub expand: bool,
    /// The parentheses and the text between them.
    pub parens: Span,
}

/// One item of an object expression.
#[derive(Clone, Debug)]
pub struct ObjectItem {
    /// The key. A bare name is an [`ExprKind::Text`]; `(name)` is an expression.
    pub key: Expr,
    /// Whether the key was written as a bare name.
    pub bare: bool,
    /// The value.
    pub value: Expr,
}

/// A `for` expression.
#[derive(Clone, Debug)]
pub struct ForExpr {
    /// Name for the key or index.
    pub key: Option<Ident>,
    /// Name for the element.
    pub value: Ident,
    /// Collection to iterate.
    pub collection: Expr,
    /// The key of each result; present exactly in the `{}` form.
    pub result_key: Option<Expr>,
    /// The value of each result.
    pub result: Expr,
    /// Whether results of equal keys are grouped (`...`).
    pub group: bool,
    /// Filter of the elements.
    pub condition: Option<Expr>,
}

/// An operator with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// `-`
    Negate,
    /// `!`
    Not,
}

/// An operator with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// `||`
    Or,
    /// `&&`
    And,
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `%`
    Modulo,
}
