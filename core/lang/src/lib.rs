//! The configuration language: parses source text to a tree, decodes the tree against schemas, and
//! evaluates expressions in a scope.
//!
//! The crate is pure: files, clocks and randomness are provided through traits.

pub mod attributes_as_blocks;
pub mod content;
pub mod decode;
pub mod dynamic;
pub mod eval;
pub mod format;
pub mod functions;
pub mod limits;
pub mod messages;
pub mod print_value;
pub mod refs;
pub mod scope;
pub mod stack;
pub mod suggest;
pub mod syntax;
#[cfg(test)]
pub(crate) mod testing;
mod traversal;
pub mod type_expr;
mod unknown_string;
mod value_kind;
pub mod write_expression;
