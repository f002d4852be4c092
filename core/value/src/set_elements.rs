//! Equality of set elements, and the iteration order of sets. The cost is that of sorting: elements are
//! compared by keys, never pairwise.

use crate::number::Notation;
use crate::quote::quote_like_go;
use crate::value::Set;
use crate::{Marks, Number, Type, Value};

impl Value {
    /// A set of the distinct ones among `items`, in iteration order. Marks on elements move to the
    /// set; every element must have the type `ty`.
    ///
    /// Strings are sorted by bytes, numbers by size, false before true, and everything else by a string
    /// computed from the element. Unknown elements, which are never equal to others, and null are last.
    #[must_use]
    pub fn set(ty: Type, items: Vec<Self>) -> Self {
        let mut marks = Marks::NONE;
        let mut sorted = ElementsByKnownness::default();
        for item in items {
            let item_marks = item.all_marks();
            marks |= item_marks;
            let item = if item_marks.is_empty() { item } else { item.split_marks().0.into_value() };
            match item {
                // All elements have one type, so at most one null exists.
                Self::Null(_) => sorted.null = Some(item),
                Self::Unknown(_) => sorted.unknown.push(item),
                _ => sorted.known.push(item),
            }
        }
        Self::Set(Set::from_ordered(ty, sorted.into_sorted_items())).mark(marks)
    }
}

#[derive(Default)]
struct ElementsByKnownness {
    known: Vec<Value>,
    unknown: Vec<Value>,
    null: Option<Value>,
}

impl ElementsByKnownness {
    fn into_sorted_items(self) -> Vec<Value> {
        let Self { mut known, unknown, null } = self;
        match known.as_slice() {
            // No sort is needed, and no key of a possibly deep element.
            [] | [_] => {}
            // All elements have one type, so the first one is representative.
            [Value::String(_) | Value::Number(_) | Value::Bool(_), ..] => {
                // The sort is stable and the first of equal elements is kept, as in Terraform.
                known.sort_by(compare_primitives);
                known.dedup_by(|next, kept| compare_primitives(next, kept).is_eq());
            }
            _ => known = sort_and_deduplicate(known),
        }
        known.extend(unknown);
        known.extend(null);
        known
    }
}

fn compare_primitives(a: &Value, b: &Value) -> std::cmp::Ordering {
    match (a, b) {
        (Value::String(a), Value::String(b)) => a.cmp(b),
        (Value::Number(a), Value::Number(b)) => a.cmp(b),
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        // The elements of a set have one type, so that no other pair occurs.
        _ => std::cmp::Ordering::Equal,
    }
}

/// Sorts elements that are not primitive, and drops those equal to an earlier one.
fn sort_and_deduplicate(items: Vec<Value>) -> Vec<Value> {
    let mut keyed: Vec<(SortKey, Value)> = items
        .into_iter()
        .map(|item| {
            let mut key = SortKey::default();
            key.push_value(&item);
            (key, item)
        })
        .collect();
    // Exact keys break ties, so that equal elements are neighbours and equal sets have one order.
    keyed.sort_by(|(a, _), (b, _)| {
        a.order.cmp(&b.order).then_with(|| a.exact_key().cmp(b.exact_key()))
    });
    // An element with an unknown part is not equal to any other.
    keyed.dedup_by(|(next, item), (kept, _)| {
        next.order == kept.order && next.exact_key() == kept.exact_key() && item.is_wholly_known()
    });
    keyed.into_iter().map(|(_, item)| item).collect()
}

/// Sort key of an element. Numbers are rounded to ten digits only because Terraform's order is
/// computed that way.
#[derive(Default)]
struct SortKey {
    order: Vec<u8>,
    /// The same with exact numbers, once there is a number for which it makes a difference.
    exact: Option<Vec<u8>>,
}

impl SortKey {
    fn exact_key(&self) -> &[u8] {
        self.exact.as_ref().unwrap_or(&self.order)
    }

    fn push_value(&mut self, value: &Value) {
        match value {
            Value::Unknown(_) => self.push_bytes(b"?"),
            Value::Null(_) => self.push_bytes(b"~"),
            Value::Bool(true) => self.push_bytes(b"T"),
            Value::Bool(false) => self.push_bytes(b"F"),
            Value::Number(number) => self.push_number(number),
            Value::String(text) => self.push_text(text),
            Value::List(list) => self.push_elements([b"[", b"]"], list.items()),
            Value::Set(set) => self.push_elements([b"[", b"]"], set.items()),
            Value::Tuple(tuple) => self.push_elements([b"<", b">"], tuple.items()),
            Value::Object(object) => self.push_elements([b"<", b">"], object.values()),
            Value::Map(map) => {
                self.push_bytes(b"{");
                for (key, item) in map.iter() {
                    self.push_text(key);
                    self.push_bytes(b":");
                    self.push_value(item);
                    self.push_bytes(b";");
                }
                self.push_bytes(b"}");
            }
            // Marks have no influence on the order.
            Value::Marked(marked) => self.push_value(marked.value()),
        }
    }

    fn push_elements(&mut self, [open, close]: [&[u8]; 2], items: &[Value]) {
        self.push_bytes(open);
        for item in items {
            self.push_value(item);
            self.push_bytes(b";");
        }
        self.push_bytes(close);
    }

    fn push_number(&mut self, number: &Number) {
        const SHORT_INTEGER_END: u64 = 10_000_000_000;
        if let Some(short) = number.to_i64().filter(|n| n.unsigned_abs() < SHORT_INTEGER_END)
            // The text of a negative zero has a sign, which the integer has lost.
            && !(short == 0 && number.is_negative())
        {
            return self.push_bytes(short.to_string().as_bytes());
        }
        let rounded = number.to_text(Notation::General, Some(10));
        let exact = match number.to_i64() {
            Some(integer) => integer.to_string(),
            None if number.is_integer() => number.to_text(Notation::Fixed, Some(0)),
            None => number.to_string(),
        };
        // Computed only now, because few sets have numbers of more than ten digits.
        if self.exact.is_none() && rounded != exact {
            self.exact = Some(self.order.clone());
        }
        self.order.extend_from_slice(rounded.as_bytes());
        if let Some(key) = &mut self.exact {
            key.extend_from_slice(exact.as_bytes());
        }
    }

    /// Writes a quoted string. The quotes and escapes separate strings from the text after them.
    fn push_text(&mut self, text: &str) {
        if text.bytes().all(|byte| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\')) {
            self.push_bytes(b"\"");
            self.push_bytes(text.as_bytes());
            return self.push_bytes(b"\"");
        }
        self.push_bytes(quote_like_go(text).as_bytes());
    }

    fn push_bytes(&mut self, bytes: &[u8]) {
        self.order.extend_from_slice(bytes);
        if let Some(exact) = &mut self.exact {
            exact.extend_from_slice(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Value {
        Value::string(text)
    }

    fn number(text: &str) -> Value {
        Value::Number(Number::parse(text).unwrap())
    }

    fn pair(a: &str, b: &str) -> Value {
        Value::object([("a", number(a)), ("b", text(b))])
    }

    #[track_caller]
    fn check(ty: Type, items: Vec<Value>, expected: &[Value]) {
        let set = Value::set(ty, items);
        assert_eq!(set.children(), expected);
    }

    #[test]
    fn strings_are_sorted_by_bytes_and_merged() {
        check(
            Type::String,
            ["b", "a", "Z", "é", "b", "10", "9"].map(text).to_vec(),
            &["10", "9", "Z", "a", "b", "é"].map(text),
        );
    }

    #[test]
    fn numbers_are_sorted_by_value_and_merged_by_their_text() {
        let float = Value::Number(Number::from_f64(4.35).unwrap());
        check(
            Type::Number,
            vec![number("10"), number("4.35"), float, number("9"), number("-1"), number("9.0")],
            &["-1", "4.35", "9", "10"].map(number),
        );
    }

    #[test]
    fn unknown_elements_follow_known_ones_and_never_merge_and_null_is_last() {
        let unknown = Value::unknown(Type::String);
        let null = Value::null(Type::String);
        check(
            Type::String,
            vec![null.clone(), unknown.clone(), text("k"), unknown.clone(), null.clone()],
            &[text("k"), unknown.clone(), unknown, null],
        );
    }

    #[test]
    fn marks_on_elements_move_to_the_set() {
        let secret = Value::object([("a", text("s").mark(Marks::SENSITIVE))]);
        let ty = secret.ty();
        let set = Value::set(ty, vec![secret]);
        assert_eq!(set.marks(), Marks::SENSITIVE);
        assert_eq!(set.children(), [Value::object([("a", text("s"))])]);
    }

    /// The order is the one that Terraform prints for `toset([{a = 10, b = "x"}, …])`.
    #[test]
    fn objects_are_sorted_by_their_text() {
        let ty = pair("1", "").ty();
        check(
            ty,
            vec![
                pair("9", "b"),
                pair("10", "x"),
                pair("9", "a"),
                pair("1e12", "y"),
                pair("9", "b"),
            ],
            &[pair("10", "x"), pair("1e12", "y"), pair("9", "a"), pair("9", "b")],
        );
    }

    #[test]
    fn objects_that_differ_in_the_eleventh_digit_are_distinct() {
        let ty = pair("1", "").ty();
        let items =
            vec![pair("12345678901", ""), pair("12345678902", ""), pair("12345678901.0", "")];
        check(ty, items, &[pair("12345678901", ""), pair("12345678902", "")]);
    }

    #[test]
    fn objects_with_unknown_parts_never_merge() {
        let item = Value::object([("a", Value::unknown(Type::String))]);
        check(item.ty(), vec![item.clone(), item.clone()], &[item.clone(), item]);
    }

    #[test]
    fn a_large_set_of_similar_elements_is_created_quickly() {
        let item = |n: i64| Value::object([("n", Value::int(n % 100)), ("u", text("same"))]);
        // A comparison of each element with each other one would take far too long.
        let items: Vec<Value> = (0..20_000).map(item).collect();
        assert_eq!(Value::set(item(0).ty(), items).children().len(), 100);
        let item = Value::object([("a", Value::unknown(Type::String))]);
        let set = Value::set(item.ty(), vec![item; 20_000]);
        assert_eq!(set.children().len(), 20_000);
    }
}
