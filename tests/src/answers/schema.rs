//! Random schemas that Terraform accepts.

use formwork_conformance::generate::Dice;
use formwork_value::schema::{
    Attribute, AttributeKind, Block, NestedAttributes, NestedBlock, Nesting, Role, Schema,
};
use formwork_value::{Str, Type};

/// The number of types that the provider offers.
pub const TYPES: u64 = 24;

/// The attribute with the number of the case.
pub const NAME: &str = "case";

/// The name of a type.
#[must_use]
pub fn type_name(number: u64) -> String {
    format!("answers_t{}", number % TYPES)
}

/// The schema of a type.
#[must_use]
pub fn schema(type_name: &str) -> Schema {
    let mut dice = Dice::new(1, type_name);
    let mut block = Block::default();
    block.attributes.insert(NAME.into(), Attribute::new(Type::String, Role::Required));
    for index in 0..3 + dice.number_below(4) {
        let attribute = attribute(&mut dice, 0, true);
        block.attributes.insert(letter("a", index), attribute);
    }
    for index in 0..dice.number_below(3) {
        block.blocks.insert(letter("b", index), nested_block(&mut dice, 0, false));
    }
    if dice.number_below(3) == 0 {
        let mut secret = Attribute::new(Type::String, Role::Optional);
        secret.write_only = true;
        block.attributes.insert("secret".into(), secret);
    }
    Schema { version: 0, block }
}

fn letter(prefix: &str, index: usize) -> Str {
    format!("{prefix}{index}").into()
}

fn attribute(dice: &mut Dice, depth: usize, may_be_dynamic: bool) -> Attribute {
    let roles = [Role::Required, Role::Optional, Role::OptionalComputed, Role::Computed];
    let role = *dice.pick_one(&roles);
    if depth < 2 && dice.number_below(4) == 0 {
        let nestings = [Nesting::Single, Nesting::List, Nesting::Set, Nesting::Map];
        let count = 1 + dice.number_below(3);
        let attributes = (0..count)
            .map(|index| (letter("n", index), attribute(dice, depth + 1, false)))
            .collect();
        let nested = NestedAttributes { attributes, nesting: *dice.pick_one(&nestings) };
        let kind = AttributeKind::Nested(nested);
        return Attribute { kind, ..Attribute::new(Type::Bool, role) };
    }
    let pair = || Type::object([("x", Type::String), ("y", Type::Number)]);
    let types = [
        Type::String,
        Type::String,
        Type::Number,
        Type::Bool,
        Type::list(Type::String),
        Type::set(Type::String),
        Type::map(Type::Number),
        Type::list(pair()),
        Type::set(pair()),
        Type::map(Type::list(Type::String)),
        pair(),
        Type::tuple(vec![Type::String, Type::Number]),
        Type::Dynamic,
    ];
    let n_types = types.len() - usize::from(!may_be_dynamic);
    Attribute::new(types[dice.number_below(n_types)].clone(), role)
}

/// A type of blocks. In maps of blocks there are no nested attributes: Terraform 1.11 panics over the
/// types of such blocks.
fn nested_block(dice: &mut Dice, depth: usize, in_map: bool) -> NestedBlock {
    let nestings =
        [Nesting::Single, Nesting::Group, Nesting::List, Nesting::List, Nesting::Set, Nesting::Map];
    let nesting = *dice.pick_one(&nestings);
    let in_map = in_map || nesting == Nesting::Map;
    let mut block = Block::default();
    for index in 0..1 + dice.number_below(3) {
        let mut attribute = attribute(dice, 1 + usize::from(in_map), false);
        // A group is there although nothing sets its attributes.
        if nesting == Nesting::Group && attribute.role == Role::Required {
            attribute.role = Role::Optional;
        }
        block.attributes.insert(letter("c", index), attribute);
    }
    if depth == 0 && nesting != Nesting::Group && dice.number_below(3) == 0 {
        block.blocks.insert("d0".into(), nested_block(dice, depth + 1, in_map));
    }
    NestedBlock { nesting, block, min_items: 0, max_items: 0, computed: false }
}
