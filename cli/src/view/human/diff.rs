//! The difference between two values, with a sign before each line. Parts that do not change are
//! counted, not shown.
//!
//! `compare`, `block` and `free` compare values and return a tree of parts, which `render` writes.
//! The text is that of Terraform.

mod align;
mod block;
mod change;
mod compare;
mod content;
mod free;
mod node;
mod render;
mod sequence;
mod text;

#[cfg(test)]
mod tests;

use formwork_value::schema::Block;
use formwork_value::{Path, Value};

use self::change::{Change, Side};
use self::render::Options;
use crate::view::{Paint, Screen};

/// Change of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    /// It comes.
    Add,
    /// It goes.
    Remove,
    /// It changes.
    Change,
    /// It stays.
    Keep,
}

/// Renders differences onto a screen. A place `at` is the column where a name or value stands; its
/// sign is two columns before that.
#[derive(Clone, Copy)]
pub(crate) struct Differ<'a> {
    pub(crate) screen: &'a Screen,
    /// Whether the values are those of a plan. A state that is shown has no signs.
    pub(crate) signs: bool,
    /// Whether parts that stay are shown too.
    pub(crate) keeps: bool,
    /// The paths whose change forces a replacement.
    pub(crate) forces: &'a [Path],
}

/// A name, with the width of the column of names.
#[derive(Clone, Copy)]
pub(crate) struct Name<'a> {
    pub(crate) text: &'a str,
    pub(crate) width: usize,
}

impl Differ<'_> {
    /// Renders an object of a resource between braces, of which the second stands at `at`.
    pub(crate) fn object(&self, block: &Block, before: &Value, after: &Value, at: usize) -> String {
        let node = block::compare(self.change_of(before, after), block);
        self.render(&node, self.options(at))
    }

    /// One output, or one attribute without a schema, if it changes: its name, the sign before it,
    /// and its change. The name stands at `at`.
    pub(crate) fn changed(
        &self,
        name: Name<'_>,
        before: &Value,
        after: &Value,
        at: usize,
    ) -> String {
        let node = free::compare(&self.change_of(before, after));
        match node.sign {
            Sign::Keep => String::new(),
            _ => self.named(name, &node, self.options(at)),
        }
    }

    /// A value of its own type that stays, from the first column on.
    pub(crate) fn shown(&self, value: &Value) -> String {
        let change = Change::new(Side::of(value), Side::of(value), &[]);
        let node = compare::by_type(change, &value.ty());
        self.render(&node, Options { keeps: true, ..self.options(0) })
    }

    fn change_of<'v>(&'v self, before: &'v Value, after: &'v Value) -> Change<'v> {
        Change::new(Side::of(before), Side::of(after), self.forces)
    }

    fn options(&self, at: usize) -> Options {
        Options { at, keeps: self.keeps, ..Options::default() }
    }

    /// The sign, painted.
    fn sign(&self, sign: Sign) -> String {
        match sign {
            _ if !self.signs => " ".into(),
            Sign::Add => self.screen.paint(Paint::Green, "+"),
            Sign::Remove => self.screen.paint(Paint::Red, "-"),
            Sign::Change => self.screen.paint(Paint::Yellow, "~"),
            Sign::Keep => " ".into(),
        }
    }

    /// A line whose text stands at `at`, with its sign.
    fn line(&self, sign: Sign, text: &str, at: usize) -> String {
        format!("{}{} {text}\n", " ".repeat(at.saturating_sub(2)), self.sign(sign))
    }
}
