//! Random configurations and stored objects.

use formwork_conformance::generate::Dice;
use formwork_value::schema::{Attribute, AttributeKind, Block, NestedBlock, Nesting, Role};
use formwork_value::{Str, Type, Value};

use super::schema::NAME;

/// The parties that set the attributes of an object.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Setter {
    /// The author.
    Author,
    /// The author and the provider.
    Both,
}

/// The configuration of a case. Another `turn` changes some of it.
#[must_use]
pub fn config(block: &Block, case: u64, turn: u64) -> Value {
    let first = content(block, Setter::Author, &mut Dice::new(case, "config"));
    let changed = content(block, Setter::Author, &mut Dice::new(case, "changed config"));
    mixed(case, turn, first, changed)
}

/// The stored object of a case, with the configuration of its first turn.
#[must_use]
pub fn stored(block: &Block, case: u64) -> Value {
    // The author's part is the same, because each attribute has numbers of its own.
    let first = content(block, Setter::Both, &mut Dice::new(case, "config"));
    mixed(case, 0, first, Value::dynamic())
}

/// Takes some attributes of another object, and names the case.
fn mixed(case: u64, turn: u64, first: Value, second: Value) -> Value {
    let mut dice = Dice::new(case, &format!("turn {turn}"));
    let (Value::Object(first), second) = (first, second) else { return Value::dynamic() };
    let pairs = first.iter().map(|(name, value)| {
        let value = match &second {
            _ if name.as_str() == NAME => Value::string(case.to_string()),
            Value::Object(second) if turn > 0 && dice.number_below(2) == 0 => {
                second.get(name.as_str()).cloned().unwrap_or_else(|| value.clone())
            }
            _ => value.clone(),
        };
        (name.clone(), value)
    });
    Value::object(pairs.collect::<Vec<_>>())
}

fn content(block: &Block, setter: Setter, dice: &mut Dice) -> Value {
    let mut pairs: Vec<(Str, Value)> = Vec::new();
    for (name, attribute) in &block.attributes {
        // Attributes of the provider must not change the numbers that the author's are made of.
        let mut item_dice = Dice::new(dice.next_number(), name.as_str());
        pairs.push((name.clone(), attribute_value(attribute, setter, &mut item_dice)));
    }
    for (name, nested) in &block.blocks {
        let mut item_dice = Dice::new(dice.next_number(), name.as_str());
        pairs.push((name.clone(), block_value(nested, setter, &mut item_dice)));
    }
    Value::object(pairs)
}

fn attribute_value(attribute: &Attribute, setter: Setter, dice: &mut Dice) -> Value {
    let ty = attribute.implied_type();
    let role = attribute.role;
    let by_author = role == Role::Required || (role.is_settable() && dice.number_below(2) == 0);
    let by_provider =
        !by_author && setter == Setter::Both && role.is_computed() && dice.number_below(4) > 0;
    if attribute.write_only && setter == Setter::Both || !(by_author || by_provider) {
        return Value::null(ty);
    }
    match &attribute.kind {
        AttributeKind::Plain(ty) => any(ty, dice),
        AttributeKind::Nested(nested) => {
            let block = Block { attributes: nested.attributes.clone(), ..Block::default() };
            // An object of the provider's own has no part that the author has set, and both are alike.
            let object = block.implied_type();
            match nested.nesting {
                Nesting::Single | Nesting::Group => content(&block, setter, dice),
                Nesting::List => Value::list(object, nested_blocks(&block, setter, dice)),
                Nesting::Set => Value::set(object, nested_blocks(&block, setter, dice)),
                Nesting::Map => Value::map(object, keyed(nested_blocks(&block, setter, dice))),
            }
        }
    }
}

fn block_value(nested: &NestedBlock, setter: Setter, dice: &mut Dice) -> Value {
    match nested.nesting {
        Nesting::Group => content(&nested.block, setter, dice),
        Nesting::Single if dice.number_below(2) == 0 => content(&nested.block, setter, dice),
        Nesting::Single => nested.empty_value(),
        Nesting::List | Nesting::Set => {
            nested.to_list_or_set_value(nested_blocks(&nested.block, setter, dice))
        }
        Nesting::Map => {
            nested.to_keyed_collection_value(keyed(nested_blocks(&nested.block, setter, dice)))
        }
    }
}

fn nested_blocks(block: &Block, setter: Setter, dice: &mut Dice) -> Vec<Value> {
    (0..dice.number_below(3)).map(|_| content(block, setter, dice)).collect()
}

fn keyed(items: Vec<Value>) -> Vec<(Str, Value)> {
    items.into_iter().enumerate().map(|(index, item)| (format!("k{index}").into(), item)).collect()
}

/// A known value of a type.
pub(super) fn any(ty: &Type, dice: &mut Dice) -> Value {
    match ty {
        Type::Bool => Value::Bool(dice.number_below(2) == 0),
        Type::Number => Value::int(i64::try_from(dice.number_below(4)).unwrap_or_default()),
        Type::String | Type::Dynamic => {
            Value::string(*dice.pick_one(&["", "a", "b", "conformance", "e\u{301}", "10.0.0.1"]))
        }
        Type::List(element) => Value::list((**element).clone(), items(element, dice)),
        Type::Set(element) => Value::set((**element).clone(), items(element, dice)),
        Type::Map(element) => Value::map((**element).clone(), keyed(items(element, dice))),
        Type::Tuple(parts) => Value::tuple(parts.iter().map(|part| any(part, dice)).collect()),
        Type::Object(object) => {
            let parts = object.attributes.iter();
            Value::object(parts.map(|(name, ty)| (name.clone(), any(ty, dice))).collect::<Vec<_>>())
        }
    }
}

fn items(ty: &Type, dice: &mut Dice) -> Vec<Value> {
    (0..dice.number_below(3)).map(|_| any(ty, dice)).collect()
}
