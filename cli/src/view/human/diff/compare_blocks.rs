//! Comparison of blocks by their schema.

use formwork_value::schema::{AttributeKind, Block, NestedBlock, Nesting};
use formwork_value::{Str, Type};

use super::ChangeSign;
use super::change::{UnknownAfter, ValueChange};
use super::compare_values::{
    compare_attributes, known_member_names, map_sign, sensitive_node, unknown_node, write_only_node,
};
use super::element_pairs::set_element_pairs;
use super::node::{BlockNodes, DiffNode, NodeForm};

/// Compares two blocks.
pub(super) fn compare_blocks<'v>(change: ValueChange<'v>, schema: &'v Block) -> DiffNode<'v> {
    if let Some(node) = sensitive_node(&change, |inner| compare_blocks(inner, schema)) {
        let NodeForm::Sensitive { inner, before, after } = node.form else { return node };
        return DiffNode { form: NodeForm::SensitiveBlock { inner, before, after }, ..node };
    }
    let unknown = UnknownAfter::Members(&schema.attributes);
    if let Some(node) = unknown_node(&change, unknown, |before| compare_blocks(before, schema)) {
        return node;
    }
    let modern = change.modern || is_modern_schema(schema);
    let change = ValueChange { modern, ..change };
    let mut attributes = compare_attributes(&change, &schema.attributes);
    let sign = change.outer_sign().with_parts(attributes.iter().map(|(_, node)| node));
    let (mut blocks, mut sign) = (Vec::new(), sign);
    for (name, nested) in &schema.blocks {
        let part = change.member(name);
        let (block_nodes, part_sign) = compare_nested_blocks(&part, nested);
        if part_sign == ChangeSign::Keep && part.is_empty() && !part.is_unknown() {
            continue;
        }
        sign = sign.with_part(part_sign);
        let is_single = matches!(nested.nesting, Nesting::Single | Nesting::Group);
        blocks.push(BlockNodes {
            name,
            forces: part.forces_replacement(),
            sensitive: (part.before.sensitive, part.after.sensitive),
            unknown: part.is_unknown() && !is_single,
            blocks: block_nodes,
        });
    }
    let hidden = schema.attributes.iter().filter(|(_, attribute)| attribute.write_only);
    attributes.extend(hidden.map(|(name, _)| (name, write_only_node(&change, sign))));
    attributes.sort_by_key(|(name, _)| *name);
    DiffNode {
        form: NodeForm::Block { attributes, blocks },
        sign,
        forces: change.forces_replacement(),
    }
}

/// The blocks of one type, each with its label, and their change.
type NestedBlocksDiff<'v> = (Vec<(Option<&'v Str>, DiffNode<'v>)>, ChangeSign);

fn compare_nested_blocks<'v>(
    change: &ValueChange<'v>,
    nested: &'v NestedBlock,
) -> NestedBlocksDiff<'v> {
    let schema = &nested.block;
    let (compared, sign): (Vec<_>, ChangeSign) = match nested.nesting {
        Nesting::Single | Nesting::Group => {
            let node = compare_blocks(change.clone(), schema);
            let sign = node.sign;
            return (vec![(None, node)], sign);
        }
        Nesting::Map => {
            let blocks = known_member_names(change)
                .map(|key| (Some(key), compare_blocks(change.member(key), schema)))
                .collect();
            (blocks, map_sign(change))
        }
        Nesting::List => {
            let len = change.before.elements().len().max(change.after.elements().len());
            let blocks =
                (0..len).map(|index| (None, compare_blocks(change.element(index, index), schema)));
            (blocks.collect(), change.outer_sign())
        }
        Nesting::Set => {
            let pairs = set_element_pairs(change).into_iter();
            let blocks = pairs
                .map(|(before, after)| {
                    (None, compare_blocks(change.element(before, after), schema))
                })
                .collect();
            (blocks, change.outer_sign())
        }
    };
    let sign = sign.with_parts(compared.iter().map(|(_, node)| node));
    (compared, sign)
}

/// Whether a schema cannot be from the legacy SDK.
fn is_modern_schema(block: &Block) -> bool {
    let (mut blocks, mut attributes) = (block.blocks.values(), block.attributes.values());
    blocks.any(|nested| matches!(nested.nesting, Nesting::Map | Nesting::Group))
        || attributes.any(|attribute| match &attribute.kind {
            AttributeKind::Nested(_) => true,
            AttributeKind::Plain(ty) => {
                let element = ty.element().and_then(Type::element);
                ty.has_dynamic()
                    || matches!(ty, Type::Tuple(_) | Type::Object(_))
                    || element.is_some_and(|element| !element.is_primitive())
            }
        })
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use formwork_value::schema::{Attribute, Role};
    use formwork_value::{Path, Value};

    use super::*;
    use crate::view::Screen;
    use crate::view::human::diff::DiffRenderer;

    const SCREEN: Screen = Screen { color: false, width: 78, erases: false };

    fn leaf() -> Block {
        let mut block = Block::default();
        for (name, role) in [("a", Role::Optional), ("c", Role::Computed)] {
            block.attributes.insert(name.into(), Attribute::new(Type::String, role));
        }
        block
    }

    fn with(mut block: Block, name: &str, nesting: Nesting, inner: Block) -> Block {
        let nested =
            NestedBlock { nesting, block: inner, min_items: 0, max_items: 0, computed: false };
        block.blocks.insert(name.into(), nested);
        block
    }

    fn check(block: &Block, [before, after]: [&Value; 2], forces: &[Path], expected: &Expect) {
        let differ = DiffRenderer { screen: &SCREEN, signs: true, keeps: false, forces };
        let text = differ.render_object(block, before, after, 0);
        let lines = text.lines().skip(1).filter(|line| *line != "}");
        let lines = lines.map(|line| format!("{}\n", line.strip_prefix("  ").unwrap_or(line)));
        expected.assert_eq(&lines.collect::<String>());
    }

    fn object(a: &str, c: Value) -> Value {
        Value::object([("a", Value::string(a)), ("c", c)])
    }

    /// An object with a value instead of its blocks.
    fn owner(name: &str, blocks: Value) -> Value {
        Value::object([("a", Value::string("x")), ("c", Value::string("y")), (name, blocks)])
    }

    #[test]
    fn blocks_of_unknown_number_have_a_separate_line() {
        let null = Value::null(Type::Dynamic);
        for nesting in [Nesting::List, Nesting::Set] {
            let schema = with(leaf(), "many", nesting, with(leaf(), "in", nesting, leaf()));
            let ty = schema.blocks["many"].implied_type();
            let after = owner("many", Value::unknown(ty.clone()));
            check(
                &schema,
                [&null, &after],
                &[],
                &expect![[r#"
                    + a = "x"
                    + c = "y"

                    + many (known after apply)
                "#]],
            );
            let block = Value::object([
                ("a", Value::string("made")),
                ("c", Value::string("")),
                ("in", schema.blocks["many"].block.blocks["in"].empty_value()),
            ]);
            let blocks_value = schema.blocks["many"].to_list_or_set_value(vec![block]);
            check(
                &schema,
                [&owner("many", blocks_value), &after],
                &[Path::root().attribute("many")],
                &expect![[r#"
                      # (2 unchanged attributes hidden)

                    ~ many (known after apply) # forces replacement
                    - many { # forces replacement
                        - a = "made" -> null
                          # (1 unchanged attribute hidden)
                      }
                "#]],
            );
            let none = schema.blocks["many"].empty_value();
            check(
                &schema,
                [&owner("many", none), &after],
                &[],
                &expect![[r#"
                      # (2 unchanged attributes hidden)

                    ~ many (known after apply)
                "#]],
            );
        }
    }

    #[test]
    fn a_single_unknown_block_shows_its_prior_value() {
        let inner = with(leaf(), "in", Nesting::List, leaf());
        let schema = with(leaf(), "one", Nesting::Single, inner);
        let after = owner("one", Value::unknown(schema.blocks["one"].implied_type()));
        check(
            &schema,
            [&Value::null(Type::Dynamic), &after],
            &[],
            &expect![[r#"
                + a = "x"
                + c = "y"

                + one (known after apply)
            "#]],
        );
        let deep = schema.blocks["one"].block.blocks["in"]
            .to_list_or_set_value(vec![object("deep", Value::string("z"))]);
        let before = Value::object([
            ("a", Value::string("was")),
            ("c", Value::null(Type::String)),
            ("in", deep),
        ]);
        check(
            &schema,
            [&owner("one", before), &after],
            &[],
            &expect![[r#"
                  # (2 unchanged attributes hidden)

                ~ one {
                    ~ a = "was" -> (known after apply)
                    + c = (known after apply)

                    - in {
                        - a = "deep"
                        - c = "z"
                      }
                  } -> (known after apply)
            "#]],
        );
    }

    #[test]
    fn an_empty_string_is_treated_as_null_if_the_schema_may_be_legacy() {
        let empty = object("", Value::null(Type::String));
        let null = object("x", Value::string("y"));
        let null = null.with_children(vec![Value::null(Type::String), Value::string("y")]);
        let values = [&null, &empty];
        check(
            &leaf(),
            values,
            &[],
            &expect![[r#"
                - c = "y" -> null
                  # (1 unchanged attribute hidden)
            "#]],
        );
        let modern = with(leaf(), "keyed", Nesting::Map, leaf());
        check(
            &modern,
            values,
            &[],
            &expect![[r#"
                + a = ""
                - c = "y" -> null
            "#]],
        );
    }

    #[test]
    fn a_block_in_a_list_shows_the_argument_that_forces_a_replacement() {
        let schema = with(leaf(), "many", Nesting::List, leaf());
        let object_with_blocks = |a: &str| {
            let blocks = vec![object("same", Value::string("y")), object(a, Value::string("y"))];
            owner("many", schema.blocks["many"].to_list_or_set_value(blocks))
        };
        check(
            &schema,
            [&object_with_blocks("old"), &object_with_blocks("new")],
            &[Path::root().attribute("many").index(1).attribute("a")],
            &expect![[r#"
                  # (2 unchanged attributes hidden)

                ~ many {
                    ~ a = "old" -> "new" # forces replacement
                      # (1 unchanged attribute hidden)
                  }

                  # (1 unchanged block hidden)
            "#]],
        );
    }
}
