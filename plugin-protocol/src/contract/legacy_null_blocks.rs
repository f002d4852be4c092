//! Normalisation of objects read from providers of the legacy SDK, which cannot distinguish an absent
//! block from an empty one. Applies to objects that were read, never to planned or applied ones: there,
//! null and unknown blocks are kept as the provider returned them.

use formwork_value::schema::{Block, NestedBlock, Nesting};
use formwork_value::{Plain, Value};

/// Replaces null nested blocks of an object that was read: a list or set that is null becomes empty, a
/// group that is null becomes the empty group. Attributes are unchanged.
///
/// Blocks with dynamic attributes are unchanged: the legacy SDK has none.
#[must_use]
pub fn replace_null_blocks(block: &Block, object: Plain) -> Plain {
    match replace_null_blocks_in_object(block, object.value()) {
        Some(normal) => normal.split_marks().0,
        None => object,
    }
}

/// Returns the normalised object, or `None` if it is in normal form already.
fn replace_null_blocks_in_object(block: &Block, value: &Value) -> Option<Value> {
    let Value::Object(object) = value else { return None };
    if block.blocks.is_empty() {
        return None;
    }
    let parts = object.iter().map(|(name, part)| {
        let nested = block.blocks.get(name)?;
        let has_dynamic = nested.block.implied_type().has_dynamic();
        if has_dynamic { None } else { replace_null_nested_block(nested, part) }
    });
    with_changed_children(value, parts.collect())
}

fn replace_null_nested_block(nested: &NestedBlock, value: &Value) -> Option<Value> {
    match (nested.nesting, value) {
        // Unknown parts are kept, the legacy SDK has no maps of blocks, and null is the usual form
        // of an absent single block.
        (_, Value::Unknown(_)) | (Nesting::Map, _) | (Nesting::Single, Value::Null(_)) => None,
        (_, Value::Null(_)) => Some(nested.empty_value()),
        (Nesting::Single | Nesting::Group, _) => {
            replace_null_blocks_in_object(&nested.block, value)
        }
        (Nesting::List | Nesting::Set, _) => {
            let elements = value.children();
            let parts = elements
                .iter()
                .map(|element| replace_null_blocks_in_object(&nested.block, element));
            with_changed_children(value, parts.collect())
        }
    }
}

/// Puts the parts that changed into a value.
fn with_changed_children(value: &Value, parts: Vec<Option<Value>>) -> Option<Value> {
    if parts.iter().all(Option::is_none) {
        return None;
    }
    let old_parts = value.children().iter();
    let new_parts = parts
        .into_iter()
        .zip(old_parts)
        .map(|(new_part, old_part)| new_part.unwrap_or_else(|| old_part.clone()));
    Some(value.with_children(new_parts.collect()))
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::{
        attributes_block, attributes_of_each_role, block_value_missing_blocks_null,
        with_nested_block, with_unknown_attribute,
    };
    use super::*;

    #[test]
    fn null_blocks_of_an_object_that_was_read_become_empty_ones() {
        let of = |nesting| {
            with_nested_block(
                attributes_block(attributes_of_each_role()),
                "b",
                nesting,
                attributes_block(attributes_of_each_role()),
            )
        };
        for (nesting, empty) in
            [(Nesting::List, "[]"), (Nesting::Set, "[]"), (Nesting::Group, "{}")]
        {
            let schema = of(nesting);
            let expected = block_value_missing_blocks_null(&schema, &format!("{{\"b\":{empty}}}"));
            assert_eq!(
                replace_null_blocks(&schema, block_value_missing_blocks_null(&schema, "{}")),
                expected,
                "{nesting:?}"
            );
            assert_eq!(replace_null_blocks(&schema, expected.clone()), expected, "{nesting:?}");
        }
        let single = of(Nesting::Single);
        let null = block_value_missing_blocks_null(&single, "{}");
        assert_eq!(replace_null_blocks(&single, null.clone()), null);
        let deep =
            with_nested_block(attributes_block(vec![]), "o", Nesting::List, of(Nesting::List));
        let object = block_value_missing_blocks_null(&deep, r#"{"o":[{"name":"a"}]}"#);
        assert_eq!(
            replace_null_blocks(&deep, object),
            block_value_missing_blocks_null(&deep, r#"{"o":[{"name":"a","b":[]}]}"#)
        );
    }

    #[test]
    fn unknown_blocks_are_unchanged() {
        for nesting in [Nesting::List, Nesting::Set, Nesting::Group, Nesting::Single] {
            let schema = with_nested_block(
                attributes_block(attributes_of_each_role()),
                "b",
                nesting,
                attributes_block(attributes_of_each_role()),
            );
            let unknown =
                with_unknown_attribute(&block_value_missing_blocks_null(&schema, "{}"), "b");
            assert_eq!(replace_null_blocks(&schema, unknown.clone()), unknown, "{nesting:?}");
        }
    }
}
