//! Multi-line strings, and strings that contain JSON.

use formwork_value::Value;
use formwork_value::codec::json::decode_untyped;

use super::align::{Edit, EditRunPosition, align, hidden_range, split_runs};
use super::change::{ChangeSide, ValueChange};
use super::node::{DiffNode, NodeForm, ValueSides};
use super::render::RenderOptions;
use super::{ChangeSign, DiffRenderer, compare_untyped};
use crate::view::sanitize;

/// Number of unchanged lines shown next to a difference.
const CONTEXT_LINES: usize = 3;

/// Maximum nesting of JSON strings that are rendered as values.
const MAX_NESTED_JSON_LEVELS: usize = 100;

/// Parses a JSON string at this margin, if it is an object or an array.
fn parse_json(text: &str, indent: usize) -> Option<Value> {
    text.starts_with(['{', '[']).then_some(())?;
    let value = decode_untyped(text.as_bytes()).ok()?;
    // A string in the value may contain JSON again, so the limit includes the outer levels.
    (indent / 4 + usize::from(value.depth()) <= MAX_NESTED_JSON_LEVELS).then_some(value)
}

/// The sanitized lines of a string.
fn display_lines(text: &str) -> impl Iterator<Item = String> {
    text.strip_suffix('\n').unwrap_or(text).split('\n').map(sanitize_one_line)
}

/// Sanitizes one of several lines. A carriage return at its end is part of the line break.
fn sanitize_one_line(line: &str) -> String {
    match line.strip_suffix('\r') {
        Some(line) => format!("{}\r", sanitize::sanitize_line(line)),
        None => sanitize::sanitize_line(line),
    }
}

impl DiffRenderer<'_> {
    /// Renders a string before and after, if one contains JSON or has several lines.
    pub(super) fn render_long_or_json_string(
        &self,
        node: &DiffNode<'_>,
        sides: ValueSides<'_>,
        options: RenderOptions,
    ) -> Option<String> {
        let indent = options.indent;
        let [old, new] = [sides.before, sides.after].map(|value| match value {
            Some(Value::String(text)) => Some(text.as_str()),
            _ => None,
        });
        let (note, null) =
            (self.replacement_note(node.forces, options), self.removal_suffix(node.sign, options));
        let margin = " ".repeat(indent);
        let text = match node.sign {
            ChangeSign::Add | ChangeSign::Keep => new,
            ChangeSign::Remove => old,
            ChangeSign::Change => return self.render_changed_text(node, old, new, options),
        }?;
        if let Some(value) = parse_json(text, indent) {
            let sides = ValueSides {
                before: (node.sign != ChangeSign::Add).then_some(&value),
                after: (node.sign != ChangeSign::Remove).then_some(&value),
            };
            return Some(self.render_encoded_json(node, sides, options));
        }
        let all_lines = |text| {
            display_lines(text).map(|line| format!("{margin}    {line}\n")).collect::<String>()
        };
        text.contains('\n').then(|| format!("<<-EOT{note}\n{}{margin}EOT{null}", all_lines(text)))
    }

    /// Renders the change of a string, if one side contains JSON or has several lines.
    fn render_changed_text(
        &self,
        node: &DiffNode<'_>,
        old: Option<&str>,
        new: Option<&str>,
        options: RenderOptions,
    ) -> Option<String> {
        let indent = options.indent;
        let [before, after] = [old, new].map(|text| text.and_then(|text| parse_json(text, indent)));
        if before.is_some() && after.is_some() {
            let sides = ValueSides { before: before.as_ref(), after: after.as_ref() };
            return Some(self.render_encoded_json(node, sides, options));
        }
        if before.is_some() || after.is_some() {
            let [old, new] = [old, new].map(|text| text.map(Value::string));
            let part = |before, after, sign| DiffNode {
                form: NodeForm::Scalar(ValueSides { before, after }),
                sign,
                forces: false,
            };
            let removed = Box::new(part(old.as_ref(), None, ChangeSign::Remove));
            let created = Box::new(part(None, new.as_ref(), ChangeSign::Add));
            let form = NodeForm::TypeChange(removed, created);
            let change = DiffNode { form, sign: node.sign, forces: node.forces };
            return Some(self.render(&change, options));
        }
        let (old, new) = (old.unwrap_or("null"), new.unwrap_or("null"));
        if !old.contains('\n') && !new.contains('\n') {
            return None;
        }
        let same_end = old.ends_with('\n') == new.ends_with('\n');
        let split = |text: &str| -> Vec<String> {
            // If only one string ends in a line break, that is shown as an added or removed empty line.
            let text = if same_end { text.strip_suffix('\n').unwrap_or(text) } else { text };
            text.split('\n').map(sanitize_one_line).collect()
        };
        let lines = self.changed_lines(&split(old), &split(new), indent);
        let note = self.replacement_note(node.forces, options);
        Some(format!("<<-EOT{note}\n{lines}{}EOT", " ".repeat(indent)))
    }

    /// The call that encodes JSON, around the change of the encoded value.
    fn render_encoded_json(
        &self,
        node: &DiffNode<'_>,
        sides: ValueSides<'_>,
        options: RenderOptions,
    ) -> String {
        let indent = options.indent;
        let change = ValueChange::new(
            ChangeSide::part_of(sides.before, node.sign != ChangeSign::Add),
            ChangeSide::part_of(sides.after, node.sign != ChangeSign::Remove),
            &[],
        );
        let value = compare_untyped::compare_untyped(&change);
        let mut part = RenderOptions { indent: indent + 4, omits_null: true, ..options.of_part() };
        let is_layout = value.sign == ChangeSign::Keep && node.sign == ChangeSign::Change;
        let (mut layout, mut note) = (String::new(), self.replacement_note(node.forces, options));
        if is_layout {
            part.keeps = true;
            let verb = if node.forces { " force replacement" } else { "" };
            layout = format!(" # whitespace changes{verb}");
            note.clear();
        }
        let text = self.render(&value, part);
        if !text.contains('\n') {
            return format!("jsonencode({text}){layout}{note}");
        }
        let sign = if node.sign == ChangeSign::Change && !is_layout {
            ChangeSign::Change
        } else {
            ChangeSign::Keep
        };
        let line = self.line_with_sign(sign, &format!("{text}{note}"), indent + 4);
        let null = self.removal_suffix(node.sign, options);
        format!("jsonencode({layout}\n{line}{}){null}", " ".repeat(indent))
    }

    fn changed_lines(&self, old: &[String], new: &[String], indent: usize) -> String {
        let edits = align(old, new);
        let runs: Vec<&[Edit]> = split_runs(&edits).collect();
        let mut text = String::new();
        for (number, run) in runs.iter().enumerate() {
            let hidden = match run {
                [Edit::Keep(..), ..] => {
                    let ends =
                        EditRunPosition { first: number == 0, last: number + 1 == runs.len() };
                    hidden_range(run.len(), CONTEXT_LINES, ends)
                }
                _ => 0..0,
            };
            // The note about a single hidden line would take a line itself.
            let hidden = if hidden.len() < 2 { 0..0 } else { hidden };
            for (index, edit) in run.iter().enumerate() {
                if index == hidden.start {
                    text.push_str(&self.hidden_count_line(hidden.len(), "line", indent + 4));
                }
                if hidden.contains(&index) {
                    continue;
                }
                text.push_str(&match edit {
                    Edit::Keep(before, _) => {
                        self.line_with_sign(ChangeSign::Keep, &old[*before], indent + 4)
                    }
                    Edit::Remove(before) => {
                        self.line_with_sign(ChangeSign::Remove, &old[*before], indent + 4)
                    }
                    Edit::Add(after) => {
                        self.line_with_sign(ChangeSign::Add, &new[*after], indent + 4)
                    }
                });
            }
        }
        text
    }
}
