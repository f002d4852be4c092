//! Strings of several lines, and strings that hold JSON.

use formwork_value::Value;
use formwork_value::codec::json::decode_simple;

use super::align::{Edit, RunEnds, align, folded, runs};
use super::change::{Change, Side};
use super::node::{Form, Node, Sides};
use super::render::Options;
use super::{Differ, Sign, free};
use crate::view::sanitize;

/// Number of unchanged lines shown next to a difference.
const CONTEXT: usize = 3;

/// The most levels down to which a text of JSON is shown as the value that it holds.
const MAX_LEVELS: usize = 100;

/// The value that a text of JSON at this margin holds, if it is an object or an array.
fn json(text: &str, at: usize) -> Option<Value> {
    text.starts_with(['{', '[']).then_some(())?;
    let value = decode_simple(text.as_bytes()).ok()?;
    // A string in the value may hold JSON again, so the levels of one text do not limit all.
    (at / 4 + usize::from(value.depth()) <= MAX_LEVELS).then_some(value)
}

/// The lines of a string as they may be shown.
fn lines(text: &str) -> impl Iterator<Item = String> {
    text.strip_suffix('\n').unwrap_or(text).split('\n').map(shown_line)
}

/// One of several lines. A carriage return at its end belongs to the line break.
fn shown_line(line: &str) -> String {
    match line.strip_suffix('\r') {
        Some(line) => format!("{}\r", sanitize::line(line)),
        None => sanitize::line(line),
    }
}

impl Differ<'_> {
    /// Renders a string before and after, if one holds JSON or has several lines.
    pub(super) fn text(
        &self,
        node: &Node<'_>,
        sides: Sides<'_>,
        options: Options,
    ) -> Option<String> {
        let at = options.at;
        let [old, new] = [sides.before, sides.after].map(|value| match value {
            Some(Value::String(text)) => Some(text.as_str()),
            _ => None,
        });
        let (note, null) = (self.note(node.forces, options), self.null(node.sign, options));
        let margin = " ".repeat(at);
        let text = match node.sign {
            Sign::Add | Sign::Keep => new,
            Sign::Remove => old,
            Sign::Change => return self.changed_text(node, old, new, options),
        }?;
        if let Some(value) = json(text, at) {
            let sides = Sides {
                before: (node.sign != Sign::Add).then_some(&value),
                after: (node.sign != Sign::Remove).then_some(&value),
            };
            return Some(self.encoded(node, sides, options));
        }
        let all =
            |text| lines(text).map(|line| format!("{margin}    {line}\n")).collect::<String>();
        text.contains('\n').then(|| format!("<<-EOT{note}\n{}{margin}EOT{null}", all(text)))
    }

    /// Renders the change of a string, if one holds JSON or has several lines.
    fn changed_text(
        &self,
        node: &Node<'_>,
        old: Option<&str>,
        new: Option<&str>,
        options: Options,
    ) -> Option<String> {
        let at = options.at;
        let [before, after] = [old, new].map(|text| text.and_then(|text| json(text, at)));
        if before.is_some() && after.is_some() {
            let sides = Sides { before: before.as_ref(), after: after.as_ref() };
            return Some(self.encoded(node, sides, options));
        }
        if before.is_some() || after.is_some() {
            let [old, new] = [old, new].map(|text| text.map(Value::string));
            let part = |before, after, sign| Node {
                form: Form::Scalar(Sides { before, after }),
                sign,
                forces: false,
            };
            let removed = Box::new(part(old.as_ref(), None, Sign::Remove));
            let created = Box::new(part(None, new.as_ref(), Sign::Add));
            let form = Form::TypeChange(removed, created);
            let change = Node { form, sign: node.sign, forces: node.forces };
            return Some(self.render(&change, options));
        }
        let (old, new) = (old.unwrap_or("null"), new.unwrap_or("null"));
        if !old.contains('\n') && !new.contains('\n') {
            return None;
        }
        let same_end = old.ends_with('\n') == new.ends_with('\n');
        let split = |text: &str| -> Vec<String> {
            // If only one text ends in a line break, that is shown as an empty line that comes or
            // goes.
            let text = if same_end { text.strip_suffix('\n').unwrap_or(text) } else { text };
            text.split('\n').map(shown_line).collect()
        };
        let lines = self.changed_lines(&split(old), &split(new), at);
        let note = self.note(node.forces, options);
        Some(format!("<<-EOT{note}\n{lines}{}EOT", " ".repeat(at)))
    }

    /// The call that encodes JSON, around the change of the encoded value.
    fn encoded(&self, node: &Node<'_>, sides: Sides<'_>, options: Options) -> String {
        let at = options.at;
        let change = Change::new(
            Side::part_of(sides.before, node.sign != Sign::Add),
            Side::part_of(sides.after, node.sign != Sign::Remove),
            &[],
        );
        let value = free::compare(&change);
        let mut part = Options { at: at + 4, omits_null: true, ..options.of_part() };
        let is_layout = value.sign == Sign::Keep && node.sign == Sign::Change;
        let (mut layout, mut note) = (String::new(), self.note(node.forces, options));
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
        let sign = if node.sign == Sign::Change && !is_layout { Sign::Change } else { Sign::Keep };
        let line = self.line(sign, &format!("{text}{note}"), at + 4);
        let null = self.null(node.sign, options);
        format!("jsonencode({layout}\n{line}{}){null}", " ".repeat(at))
    }

    fn changed_lines(&self, old: &[String], new: &[String], at: usize) -> String {
        let edits = align(old, new);
        let runs: Vec<&[Edit]> = runs(&edits).collect();
        let mut text = String::new();
        for (number, run) in runs.iter().enumerate() {
            let hidden = match run {
                [Edit::Keep(..), ..] => {
                    let ends = RunEnds { first: number == 0, last: number + 1 == runs.len() };
                    folded(run.len(), CONTEXT, ends)
                }
                _ => 0..0,
            };
            // Saying that one line is left out takes a line.
            let hidden = if hidden.len() < 2 { 0..0 } else { hidden };
            for (place, edit) in run.iter().enumerate() {
                if place == hidden.start {
                    text.push_str(&self.hidden(hidden.len(), "line", at + 4));
                }
                if hidden.contains(&place) {
                    continue;
                }
                text.push_str(&match edit {
                    Edit::Keep(before, _) => self.line(Sign::Keep, &old[*before], at + 4),
                    Edit::Remove(before) => self.line(Sign::Remove, &old[*before], at + 4),
                    Edit::Add(after) => self.line(Sign::Add, &new[*after], at + 4),
                });
            }
        }
        text
    }
}
