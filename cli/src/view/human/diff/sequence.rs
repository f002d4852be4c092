//! Lists, tuples and sets that change.

use formwork_value::{Path, Value};

use super::align::{Edit, align, folded, runs};
use super::{Differ, Sign};
use crate::view::human::value_set::ValueSet;

/// Number of unchanged elements shown next to a difference.
const CONTEXT: usize = 1;

impl Differ<'_> {
    fn item(&self, sign: Sign, text: &str, at: usize) -> String {
        self.line(sign, &format!("{text},"), at)
    }

    fn whole_item(&self, sign: Sign, item: &Value, at: usize) -> String {
        self.item(sign, &self.whole(sign, item, "", at), at)
    }

    pub(super) fn sets(&self, (old, new): (&[Value], &[Value]), path: &Path, at: usize) -> String {
        let inner = at + 4;
        let mut text = format!("[{}\n", self.note(path));
        let (before, after) = (ValueSet::of(old), ValueSet::of(new));
        let gone = old.iter().filter(|item| !after.holds(item));
        let come = new.iter().filter(|item| !before.holds(item));
        text.extend(gone.map(|item| self.whole_item(Sign::Remove, item, inner)));
        text.extend(come.map(|item| self.whole_item(Sign::Add, item, inner)));
        let n_kept = old.iter().filter(|item| after.holds(item)).count();
        text.push_str(&self.hidden(n_kept, "element", at + 2));
        text.push_str(&format!("{}]", " ".repeat(at)));
        text
    }

    pub(super) fn lists(&self, (old, new): (&[Value], &[Value]), path: &Path, at: usize) -> String {
        let (edits, by_place) = edits(old, new);
        let runs: Vec<&[Edit]> = runs(&edits).collect();
        let mut text = format!("[{}\n", self.note(path));
        for (number, run) in runs.iter().enumerate() {
            if let [Edit::Keep(..), ..] = run {
                let hidden = folded(run.len(), CONTEXT, (number == 0, number + 1 == runs.len()));
                for (place, edit) in run.iter().enumerate() {
                    if place == hidden.start {
                        text.push_str(&self.hidden(hidden.len(), "element", at + 2));
                    }
                    if let Edit::Keep(_, after) = edit
                        && !hidden.contains(&place)
                    {
                        text.push_str(&self.whole_item(Sign::Keep, &new[*after], at + 4));
                    }
                }
            } else {
                text.push_str(&self.replaced(run, (old, new), (path, by_place), at + 4));
            }
        }
        text.push_str(&format!("{}]", " ".repeat(at)));
        text
    }

    /// A run of elements that go and come. Each that goes is taken to have become the next that comes if
    /// both are objects, or if the elements are compared place by place.
    fn replaced(
        &self,
        run: &[Edit],
        (old, new): (&[Value], &[Value]),
        (path, by_place): (&Path, bool),
        at: usize,
    ) -> String {
        let mut gone = run.iter().filter_map(|edit| match edit {
            Edit::Remove(place) => Some(&old[*place]),
            _ => None,
        });
        let come = run.iter().filter_map(|edit| match edit {
            Edit::Add(place) => Some((*place, &new[*place])),
            _ => None,
        });
        let mut come = come.peekable();
        let mut text = String::new();
        for before in gone.by_ref() {
            match come.next_if(|(_, after)| by_place || is_object(before) && is_object(after)) {
                Some((place, after)) => {
                    let sign = match self.free {
                        true => Sign::of_free(Some(before), Some(after)),
                        false => Sign::between(before, after),
                    };
                    let change = self.changed(sign, (before, after), &path.index(place), at);
                    text.push_str(&self.item(sign, &change, at));
                }
                None => text.push_str(&self.whole_item(Sign::Remove, before, at)),
            }
        }
        text.extend(come.map(|(_, item)| self.whole_item(Sign::Add, item, at)));
        text
    }
}

fn is_object(value: &Value) -> bool {
    matches!(value.peek(), Value::Object(_) | Value::Map(_))
}

/// The edits of a list. As in Terraform, one that keeps its length and has an element that goes is
/// compared place by place.
fn edits(old: &[Value], new: &[Value]) -> (Vec<Edit>, bool) {
    let after = ValueSet::of(new);
    if old.len() != new.len() || old.iter().all(|item| after.holds(item)) {
        return (align(old, new), false);
    }
    let pairs = old.iter().zip(new).enumerate();
    let edits = pairs.flat_map(|(at, (before, after))| match before == after {
        true => vec![Edit::Keep(at, at)],
        false => vec![Edit::Remove(at), Edit::Add(at)],
    });
    (edits.collect(), true)
}
