//! Removes attributes from stored JSON that a schema no longer declares, and keeps all other bytes.

use super::DecodeError;
use super::parse::{JsonNode, JsonNodeKind};
use crate::{Str, Type};

/// Removes attributes that `ty` does not have from the JSON of a stored object. Returns `None` when
/// there are none, so that the caller can continue with the original bytes.
///
/// Attributes are removed from objects, and from objects inside lists, sets and maps. A value that is
/// wrapped with its type is not changed, and neither is a value that does not fit the type.
///
/// # Errors
/// Returns an error if the text is not JSON.
pub fn strip_removed_attributes(text: &[u8], ty: &Type) -> Result<Option<Vec<u8>>, DecodeError> {
    let node = super::parse_json_tree(text)?;
    let mut cuts = Vec::new();
    find_removed_ranges(&node, ty, &mut cuts);
    if cuts.is_empty() {
        return Ok(None);
    }
    // The rest is copied byte for byte, because a provider may compare it with its own output.
    let mut out = Vec::with_capacity(text.len());
    let mut copied = 0;
    for cut in cuts {
        out.extend_from_slice(&text[copied..cut.start]);
        copied = cut.end;
    }
    out.extend_from_slice(&text[copied..]);
    Ok(Some(out))
}

/// Finds the ranges to remove, in order and without overlaps.
fn find_removed_ranges(node: &JsonNode<'_>, ty: &Type, cuts: &mut Vec<std::ops::Range<usize>>) {
    match (&node.kind, ty) {
        (JsonNodeKind::Array(items), Type::List(element) | Type::Set(element)) => {
            items.iter().for_each(|item| find_removed_ranges(item, element, cuts));
        }
        (JsonNodeKind::Object(members), Type::Map(element)) => {
            members.iter().for_each(|member| find_removed_ranges(&member.value, element, cuts));
        }
        (JsonNodeKind::Object(members), Type::Object(shape)) => {
            let mut n_kept = 0;
            for (at, member) in members.iter().enumerate() {
                if let Some(ty) = shape.attributes.get(&Str::new(&member.name)) {
                    n_kept += 1;
                    find_removed_ranges(&member.value, ty, cuts);
                    continue;
                }
                // One comma is removed with the member: the one before it if a kept member precedes it,
                // otherwise the one after it.
                let before = at.checked_sub(1).map(|before| members[before].value.range.end);
                let after = members.get(at + 1).map(|after| after.name_range.start);
                let member_range = member.name_range.start..member.value.range.end;
                cuts.push(match (before, after) {
                    (Some(before), _) if n_kept > 0 => before..member_range.end,
                    (_, Some(after)) => member_range.start..after,
                    _ => member_range,
                });
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, want: Option<&str>) {
        let inner = Type::object([("x", Type::String)]);
        let ty = Type::object([
            ("a", Type::String),
            ("b", Type::list(inner.clone())),
            ("c", Type::map(inner)),
            ("d", Type::Dynamic),
        ]);
        let stripped = strip_removed_attributes(text.as_bytes(), &ty).unwrap();
        assert_eq!(
            stripped.map(|text| String::from_utf8(text).unwrap()).as_deref(),
            want,
            "{text}"
        );
    }

    #[test]
    fn removed_attributes_are_stripped_and_the_rest_is_unchanged() {
        check(r#"{"a": "1", "b": [{"x": "2"}]}"#, None);
        check(r#"{"gone":1}"#, Some("{}"));
        check(r#"{ "gone": 1, "a": "1" }"#, Some(r#"{ "a": "1" }"#));
        check(r#"{ "a": 1.50, "gone": [1] }"#, Some(r#"{ "a": 1.50 }"#));
        check(r#"{"u":1,"v":2,"a":"1","w":3,"y":4}"#, Some(r#"{"a":"1"}"#));
        check(r#"{"b":[{"x":"1","gone":{}},{"gone":0}]}"#, Some(r#"{"b":[{"x":"1"},{}]}"#));
        check(r#"{"c":{"k":{"gone":0,"x":null}}}"#, Some(r#"{"c":{"k":{"x":null}}}"#));
        check(r#"{"d":{"value":{"gone":1},"type":["object",{}]}}"#, None);
        check(r#"{"b":{"gone":1}}"#, None);
    }
}
