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
        let edits = align(old, new);
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
                text.push_str(&self.replaced(run, (old, new), path, at + 4));
            }
        }
        text.push_str(&format!("{}]", " ".repeat(at)));
        text
    }

    /// A run of elements that go and come. As many as go come: then each is taken to have changed,
    /// if it has parts to compare or is not known yet. In a value without a type of its own each that
    /// goes is taken to have become one that comes, as far as there are any.
    fn replaced(
        &self,
        run: &[Edit],
        (old, new): (&[Value], &[Value]),
        path: &Path,
        at: usize,
    ) -> String {
        let gone = || {
            let places = run.iter().filter_map(|edit| match edit {
                Edit::Remove(place) => Some(*place),
                _ => None,
            });
            places.map(|place| &old[place])
        };
        let come = || {
            let places = run.iter().filter_map(|edit| match edit {
                Edit::Add(place) => Some(*place),
                _ => None,
            });
            places.map(|place| (place, &new[place]))
        };
        if self.free {
            let n_changed = gone().count().min(come().count());
            let changed = gone().zip(come()).map(|(before, (place, after))| {
                let path = path.index(place);
                self.item(Sign::Change, &self.changed(Sign::Change, (before, after), &path, at), at)
            });
            let gone = gone().skip(n_changed).map(|item| self.whole_item(Sign::Remove, item, at));
            let come = come().skip(n_changed).map(|(_, item)| self.whole_item(Sign::Add, item, at));
            return changed.chain(gone).chain(come).collect();
        }
        let changed = gone().count() == come().count()
            && gone().zip(come()).all(|(before, (_, after))| {
                after.is_unknown() || self.parts((before, after), path, at).is_some()
            });
        if changed {
            let pairs = gone().zip(come()).map(|(before, (place, after))| {
                let change = self.change((before, after), &path.index(place), at);
                self.item(Sign::Change, &change, at)
            });
            return pairs.collect();
        }
        let gone = gone().map(|item| self.whole_item(Sign::Remove, item, at));
        let come = come().map(|(_, item)| self.whole_item(Sign::Add, item, at));
        gone.chain(come).collect()
    }
}
