//! Strings of several lines, and strings that hold JSON.

use formwork_value::codec::json::decode_simple;
use formwork_value::{Path, Value};

use super::align::{Edit, align, folded, runs};
use super::{Differ, Sign};
use crate::view::sanitize;

/// Number of unchanged lines shown next to a difference.
const CONTEXT: usize = 3;

/// The value that a text of JSON holds, if it is an object or an array.
pub(super) fn json(text: &str) -> Option<Value> {
    text.starts_with(['{', '[']).then_some(())?;
    decode_simple(text.as_bytes()).ok()
}

/// The call that gives a JSON text, around the value rendered. As in Terraform, a note is behind the call
/// if that is on one line.
pub(super) fn encoded(value: &str, note: &str, at: usize) -> String {
    if value.contains('\n') {
        format!("jsonencode({note}\n{}{value}\n{})", " ".repeat(at + 4), " ".repeat(at))
    } else {
        format!("jsonencode({value}){note}")
    }
}

/// The lines of a string as they may be shown.
pub(super) fn lines(text: &str) -> impl Iterator<Item = String> {
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
    /// Change of a string, if both hold JSON or one has several lines.
    pub(super) fn texts(&self, (old, new): (&str, &str), path: &Path, at: usize) -> Option<String> {
        let (note, end) = (self.note(path), " ".repeat(at));
        let free = Differ { free: true, ..*self };
        if let (Some(before), Some(after)) = (json(old), json(new)) {
            if before == after {
                let value = free.whole(Sign::Keep, &after, "", at + 4);
                let verb = if note.is_empty() { "" } else { " force replacement" };
                let note = format!(" # whitespace changes{verb}");
                return Some(encoded(&value, &note, at));
            }
            let change = free.change((&before, &after), &Path::root(), at + 4);
            if !change.contains('\n') {
                return Some(encoded(&change, &note, at));
            }
            let line = self.line(Sign::Change, &change, at + 4);
            return Some(format!("jsonencode({note}\n{line}{end})"));
        }
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
        Some(format!("<<-EOT{note}\n{lines}{end}EOT"))
    }

    fn changed_lines(&self, old: &[String], new: &[String], at: usize) -> String {
        let edits = align(old, new);
        let runs: Vec<&[Edit]> = runs(&edits).collect();
        let mut text = String::new();
        for (number, run) in runs.iter().enumerate() {
            let hidden = match run {
                [Edit::Keep(..), ..] => {
                    folded(run.len(), CONTEXT, (number == 0, number + 1 == runs.len()))
                }
                _ => 0..0,
            };
            // Saying that one line is left out takes a line.
            let hidden = if hidden.len() < 2 { 0..0 } else { hidden };
            for (place, edit) in run.iter().enumerate() {
                if place == hidden.start {
                    text.push_str(&self.hidden(hidden.len(), "line", at + 2));
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
