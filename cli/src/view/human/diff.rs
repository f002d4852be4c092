//! The difference between two values, with a sign before each line. Unchanged parts are counted, not shown.
//!
//! `compare`, `block` and `free` compare values and return a tree of parts, which `render` writes. The output
//! is that of Terraform.

mod align;
mod change;
mod compare_blocks;
mod compare_untyped;
mod compare_values;
mod element_pairs;
mod node;
mod render;
mod render_text;
mod same_content;

#[cfg(test)]
mod tests;

use formwork_value::schema::Block;
use formwork_value::{Path, Value};

use self::change::{ChangeSide, ValueChange};
use self::render::RenderOptions;
use crate::view::{Paint, Screen};

/// Change of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChangeSign {
    /// The part is added.
    Add,
    /// The part is removed.
    Remove,
    /// The part is changed.
    Change,
    /// The part is unchanged.
    Keep,
}

/// Renders differences for a screen. A parameter `indent` is the column of a name or value; its sign is two
/// columns before it.
#[derive(Clone, Copy)]
pub(crate) struct DiffRenderer<'a> {
    pub(crate) screen: &'a Screen,
    /// Whether to print change signs. They are printed for plans, not for states.
    pub(crate) signs: bool,
    /// Whether unchanged parts are shown too.
    pub(crate) keeps: bool,
    /// The paths whose change forces a replacement.
    pub(crate) forces: &'a [Path],
}

/// A name, with the width of the column of names.
#[derive(Clone, Copy)]
pub(crate) struct AlignedName<'a> {
    pub(crate) text: &'a str,
    pub(crate) width: usize,
}

impl DiffRenderer<'_> {
    /// Renders an object of a resource in braces. The closing brace is at column `indent`.
    pub(crate) fn render_object(
        &self,
        block: &Block,
        before: &Value,
        after: &Value,
        indent: usize,
    ) -> String {
        let node = compare_blocks::compare_blocks(self.change_of(before, after), block);
        self.render(&node, self.options_at(indent))
    }

    /// Renders an output, or an attribute without a schema, if it changes: sign, name and change. The name is
    /// at column `indent`.
    pub(crate) fn render_changed(
        &self,
        name: AlignedName<'_>,
        before: &Value,
        after: &Value,
        indent: usize,
    ) -> String {
        let node = compare_untyped::compare_untyped(&self.change_of(before, after));
        match node.sign {
            ChangeSign::Keep => String::new(),
            _ => self.render_named_member(name, &node, self.options_at(indent)),
        }
    }

    /// Renders an unchanged value without a schema, from the first column.
    pub(crate) fn render_value(&self, value: &Value) -> String {
        let change = ValueChange::new(ChangeSide::of(value), ChangeSide::of(value), &[]);
        let node = compare_values::compare_values(change, &value.ty());
        self.render(&node, RenderOptions { keeps: true, ..self.options_at(0) })
    }

    fn change_of<'v>(&'v self, before: &'v Value, after: &'v Value) -> ValueChange<'v> {
        ValueChange::new(ChangeSide::of(before), ChangeSide::of(after), self.forces)
    }

    fn options_at(&self, indent: usize) -> RenderOptions {
        RenderOptions { indent, keeps: self.keeps, ..RenderOptions::default() }
    }

    /// The sign, painted.
    fn painted_sign(&self, sign: ChangeSign) -> String {
        match sign {
            _ if !self.signs => " ".into(),
            ChangeSign::Add => self.screen.paint(Paint::Green, "+"),
            ChangeSign::Remove => self.screen.paint(Paint::Red, "-"),
            ChangeSign::Change => self.screen.paint(Paint::Yellow, "~"),
            ChangeSign::Keep => " ".into(),
        }
    }

    /// A line with its sign, whose text begins at column `indent`.
    fn line_with_sign(&self, sign: ChangeSign, text: &str, indent: usize) -> String {
        format!("{}{} {text}\n", " ".repeat(indent.saturating_sub(2)), self.painted_sign(sign))
    }
}
