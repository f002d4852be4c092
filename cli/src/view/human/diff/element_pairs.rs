//! Pairs of elements of lists and sets: the indexes before and after of each element that is shown. The
//! missing index of a removed or added element is past the end of the other list.

use formwork_value::Value;

use super::align::{Edit, align};
use super::change::ValueChange;
use super::same_content::{ElementPositions, is_same_content};

/// The indexes of an element before and after.
pub(super) type ElementPair = (usize, usize);

/// A value that is compared by its content.
struct ComparedByContent<'v>(&'v Value);

impl PartialEq for ComparedByContent<'_> {
    fn eq(&self, other: &Self) -> bool {
        is_same_content(Some(self.0), Some(other.0))
    }
}

/// Pairs the elements of a list.
pub(super) fn list_element_pairs(
    change: &ValueChange<'_>,
    is_object: impl Fn(&Value) -> bool,
) -> Vec<ElementPair> {
    let (old, new) = (change.before.elements(), change.after.elements());
    let [before, after] =
        [old, new].map(|items| items.iter().map(ComparedByContent).collect::<Vec<_>>());
    let positions = ElementPositions::of(new.iter().enumerate());
    if old.len() == new.len() && !old.iter().all(|item| positions.contains(item)) {
        return (0..old.len()).map(|index| (index, index)).collect();
    }
    let is_object = |item: &ComparedByContent<'_>| is_object(item.0);
    pair_edits(&align(&before, &after), &before, &after, is_object)
}

/// Pairs each removed object with the next added one, if no unchanged element is between them.
fn pair_edits<T>(
    edits: &[Edit],
    old: &[T],
    new: &[T],
    is_object: impl Fn(&T) -> bool,
) -> Vec<ElementPair> {
    let mut pairs = Vec::new();
    for run in edits.chunk_by(|a, b| matches!(a, Edit::Keep(..)) == matches!(b, Edit::Keep(..))) {
        let mut come = run.iter().filter_map(|edit| match edit {
            Edit::Add(index) => Some(*index),
            _ => None,
        });
        let mut come = come.by_ref().peekable();
        for edit in run {
            match edit {
                Edit::Keep(before, after) => pairs.push((*before, *after)),
                Edit::Remove(before) if is_object(&old[*before]) => {
                    let after = come.next_if(|after| is_object(&new[*after]));
                    pairs.push((*before, after.unwrap_or(new.len())));
                }
                Edit::Remove(before) => pairs.push((*before, new.len())),
                Edit::Add(_) => {}
            }
        }
        pairs.extend(come.map(|after| (old.len(), after)));
    }
    pairs
}

/// Pairs the equal elements of a set.
pub(super) fn set_element_pairs(change: &ValueChange<'_>) -> Vec<ElementPair> {
    let (old, new) = (change.before.elements(), change.after.elements());
    let known_items = new.iter().enumerate().filter(|(_, item)| !item.is_unknown());
    let mut positions = ElementPositions::of(known_items);
    let old_items = old.iter().enumerate();
    let mut pairs: Vec<ElementPair> = old_items
        .map(|(before, item)| (before, positions.take(item).unwrap_or(new.len())))
        .collect();
    let unknown = new.iter().enumerate().filter(|(_, item)| item.is_unknown());
    let mut come: Vec<usize> = positions.remaining();
    come.extend(unknown.map(|(index, _)| index));
    come.sort_unstable();
    pairs.extend(come.into_iter().map(|after| (old.len(), after)));
    pairs
}

#[cfg(test)]
mod tests {
    use super::super::change::ChangeSide;
    use super::super::same_content::is_object_or_map_value;
    use super::*;

    fn tuple(items: &[Value]) -> Value {
        Value::tuple(items.to_vec())
    }

    fn check(old: &[Value], new: &[Value], expected: &[ElementPair]) {
        let (old, new) = (tuple(old), tuple(new));
        let change = ValueChange::new(ChangeSide::of(&old), ChangeSide::of(&new), &[]);
        assert_eq!(list_element_pairs(&change, is_object_or_map_value), expected);
    }

    #[test]
    fn a_removed_object_is_paired_with_the_next_added_one() {
        let object = |n: i64| Value::object([("n", Value::int(n))]);
        let (a, b, c) = (object(1), object(2), object(3));
        check(
            &[a.clone(), b.clone()],
            &[c.clone(), b.clone(), a.clone()],
            &[(0, 0), (1, 1), (2, 2)],
        );
        check(&[a, b.clone()], &[c.clone(), Value::int(1), b], &[(0, 0), (2, 1), (1, 2)]);
        check(&[c], &[Value::int(1), Value::int(2)], &[(0, 2), (1, 0), (1, 1)]);
    }

    #[test]
    fn an_unknown_element_of_a_set_is_equal_to_no_other() {
        let (a, b) = (Value::string("a"), Value::string("b"));
        let unknown = Value::unknown(formwork_value::Type::String);
        let (old, new) = (tuple(&[a.clone(), b]), tuple(&[unknown, a]));
        let change = ValueChange::new(ChangeSide::of(&old), ChangeSide::of(&new), &[]);
        assert_eq!(set_element_pairs(&change), [(0, 1), (1, 2), (2, 0)]);
    }
}
