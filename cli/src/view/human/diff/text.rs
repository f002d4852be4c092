//! Texts of several lines, and texts that hold JSON.

use formwork_value::codec::json::decode_simple;
use formwork_value::{Path, Value};

use super::align::{Edit, align, folded, runs};
use super::{Differ, Sign};
use crate::view::shown;

/// Number of unchanged lines shown next to a difference.
const CONTEXT: usize = 3;

/// The value that a text of JSON holds, if it is worth showing as one: an object or an array that
/// is not empty.
pub(super) fn json(text: &str) -> Option<Value> {
    text.trim_start().starts_with(['{', '[']).then_some(())?;
    let value = decode_simple(text.as_bytes()).ok()?;
    (!value.children().is_empty()).then_some(value)
}

/// The lines of a text as they may be shown.
pub(super) fn lines(text: &str) -> impl Iterator<Item = String> {
    text.strip_suffix('\n').unwrap_or(text).split('\n').map(shown::line)
}

impl Differ<'_> {
    /// Change of a text, if both hold JSON or one has several lines.
    pub(super) fn texts(&self, (old, new): (&str, &str), path: &Path, at: usize) -> Option<String> {
        let (note, end) = (self.note(path), " ".repeat(at));
        let free = Differ { free: true, ..*self };
        if let (Some(before), Some(after)) = (json(old), json(new)) {
            if before == after {
                let value = free.whole(Sign::Keep, &after, "", at + 4);
                let margin = " ".repeat(at + 4);
                return Some(format!(
                    "jsonencode( # only white space changes{note}\n{margin}{value}\n{end})"
                ));
            }
            let change = free.change((&before, &after), &Path::root(), at + 4);
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
            text.split('\n').map(shown::line).collect()
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
