//! Tolerance for providers of the old SDK, which cannot tell an absent block from an empty one.
//! Changes only how nested blocks are held, never what is in an attribute.

use formwork_value::schema::{Block, NestedBlock, Nesting};
use formwork_value::{Plain, Value};

/// Returns the object with nested blocks held as the rules want it: collections that are null become
/// empty, unknown ones become one block of unknowns, and a group that is null becomes empty.
///
/// Blocks that hold dynamic attributes are left alone: the old SDK has none.
#[must_use]
pub fn normalise(block: &Block, value: &Plain) -> Plain {
    in_block(block, value.value()).split_marks().0
}

fn in_block(block: &Block, value: &Value) -> Value {
    let Value::Object(object) = value else { return value.clone() };
    let items = object.iter().map(|(name, part)| match block.blocks.get(name) {
        Some(nested) if !nested.block.implied_type().has_dynamic() => in_nested(nested, part),
        _ => part.clone(),
    });
    value.with_children(items.collect())
}

fn in_nested(nested: &NestedBlock, value: &Value) -> Value {
    match (nested.nesting, value) {
        (Nesting::Map, _) => value.clone(),
        (Nesting::Single | Nesting::Group, Value::Unknown(_)) => unknown_block(&nested.block),
        (Nesting::Single, Value::Null(_)) => value.clone(),
        (_, Value::Null(_)) => nested.empty_value(),
        (Nesting::List | Nesting::Set, Value::Unknown(_)) => {
            nested.collection(vec![unknown_block(&nested.block)])
        }
        (Nesting::Single | Nesting::Group, _) => in_block(&nested.block, value),
        (Nesting::List | Nesting::Set, _) => {
            let blocks = value.children().iter().map(|element| in_block(&nested.block, element));
            value.with_children(blocks.collect())
        }
    }
}

/// A block of which everything is unknown but that it exists.
fn unknown_block(block: &Block) -> Value {
    let attributes = block
        .attributes
        .iter()
        .map(|(name, attr)| (name.clone(), Value::unknown(attr.implied_type())));
    let blocks = block.blocks.iter().map(|(name, nested)| {
        let stub = match nested.nesting {
            Nesting::Single | Nesting::Group => unknown_block(&nested.block),
            Nesting::List | Nesting::Set => nested.collection(vec![unknown_block(&nested.block)]),
            Nesting::Map => nested.empty_value(),
        };
        (name.clone(), stub)
    });
    Value::object(attributes.chain(blocks))
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::{block, brief, four, raw, with, with_unknown};
    use super::*;

    #[test]
    fn blocks_are_held_as_the_rules_want_them() {
        let of = |nesting| with(block(four()), "b", nesting, block(four()));
        let unknown = "{id:? name:? note:? size:?}";
        for (nesting, absent, stub) in [
            (Nesting::List, "[]", format!("{{b:[{unknown}]}}")),
            (Nesting::Set, "[]", format!("{{b:[{unknown}]}}")),
            (Nesting::Group, "{}", format!("{{b:{unknown}}}")),
        ] {
            let schema = of(nesting);
            let null = raw(&schema, "{}");
            let empty = format!("{{\"b\":{absent}}}");
            assert_eq!(normalise(&schema, &null), raw(&schema, &empty));
            assert_eq!(brief(&normalise(&schema, &with_unknown(&null, "b"))), stub);
        }
        let single = of(Nesting::Single);
        let null = raw(&single, "{}");
        assert_eq!(normalise(&single, &null), null);
        let deep = with(block(vec![]), "o", Nesting::List, of(Nesting::List));
        let given = raw(&deep, r#"{"o":[{"name":"a"}]}"#);
        assert_eq!(normalise(&deep, &given), raw(&deep, r#"{"o":[{"name":"a","b":[]}]}"#));
    }
}
