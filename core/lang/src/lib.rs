//! The configuration language: source text becomes a tree, the tree is decoded against what a block
//! may hold, expressions are evaluated in a scope.
//!
//! The crate is pure: files, clocks and randomness reach it through traits.

pub mod dynamic;
pub mod functions;
pub mod refs;
pub mod scope;
pub mod stack;
pub mod syntax;
pub mod type_expr;
