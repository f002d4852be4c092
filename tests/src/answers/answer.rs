//! Answers: sound ones, and what becomes of them when some parts are changed by chance.

use formwork_conformance::generate::Dice;
use formwork_value::schema::Block;
use formwork_value::{Path, Str, Type, Value};

use super::input::any;

/// A sound plan: unset attributes are unknown or chosen, if the provider may.
#[must_use]
pub fn planned(
    block: &Block,
    prior: &Value,
    proposed: &Value,
    config: &Value,
    dice: &mut Dice,
) -> Value {
    let Value::Object(object) = proposed else { return proposed.clone() };
    let is_new = prior.is_null();
    let pairs = object.iter().map(|(name, value)| {
        let attribute = block.attributes.get(name);
        let is_free = attribute.is_some_and(|attribute| attribute.role.is_computed())
            && Path::root().attribute(name.clone()).find(config).is_none_or(Value::is_null);
        let value = match attribute {
            Some(attribute) if is_free => match (is_new, dice.number_below(4)) {
                (true, 0) => any(&attribute.implied_type(), dice),
                (true, 1) => Value::unknown_not_null(attribute.implied_type()),
                (true, _) | (false, 0) => Value::unknown(attribute.implied_type()),
                (false, _) => value.clone(),
            },
            _ => value.clone(),
        };
        (name.clone(), value)
    });
    Value::object(pairs.collect::<Vec<_>>())
}

/// The object with everything in it known.
#[must_use]
pub fn filled(value: &Value, dice: &mut Dice) -> Value {
    if value.is_unknown() {
        return any(&value.ty(), dice);
    }
    let children = value.children().iter().map(|child| filled(child, dice)).collect();
    with_children(value, children)
}

/// A sound answer, or one with parts that are changed.
#[must_use]
pub fn answer(sound: &Value, ty: &Type, dice: &mut Dice) -> Value {
    let n_changes = *dice.pick_one(&[0, 1, 1, 1, 2]);
    (0..n_changes).fold(sound.clone(), |value, _| changed(&value, ty, true, dice))
}

/// Paths that force replacement: often none, and some that lead nowhere.
#[must_use]
pub fn replace_paths(block: &Block, dice: &mut Dice) -> Vec<Path> {
    let root = Path::root();
    match dice.number_below(8) {
        0 => vec![root.attribute("nowhere")],
        1 => block.attributes.keys().map(|name| root.attribute(name.clone())).collect(),
        2 => {
            let names: Vec<&Str> = block.attributes.keys().collect();
            let name = (*dice.pick_one(&names)).clone();
            vec![root.attribute(name.clone()), root.attribute(name).index(9)]
        }
        _ => Vec::new(),
    }
}

/// The value with one part changed. The whole is changed seldom: little is left to be judged then.
fn changed(value: &Value, ty: &Type, is_whole: bool, dice: &mut Dice) -> Value {
    let children = value.children();
    let stays = if is_whole { dice.number_below(20) == 0 } else { dice.number_below(3) == 0 };
    if children.is_empty() || stays {
        return other_value(value, ty, dice);
    }
    let index = dice.number_below(children.len());
    let parts = children.iter().enumerate().map(|(i, child)| {
        let child_ty =
            if child.ty() == Type::Dynamic { Type::Dynamic } else { part_type(ty, value, i) };
        if i == index { changed(child, &child_ty, false, dice) } else { child.clone() }
    });
    with_children(value, parts.collect())
}

/// The type of a part of a value of a type.
fn part_type(ty: &Type, value: &Value, index: usize) -> Type {
    match (ty, value) {
        (Type::List(element) | Type::Set(element) | Type::Map(element), _) => (**element).clone(),
        (Type::Tuple(parts), _) => parts.get(index).cloned().unwrap_or(Type::Dynamic),
        (Type::Object(object), Value::Object(pairs)) => {
            let name = pairs.names().get(index);
            name.and_then(|name| object.attributes.get(name)).cloned().unwrap_or(Type::Dynamic)
        }
        _ => Type::Dynamic,
    }
}

fn with_children(value: &Value, children: Vec<Value>) -> Value {
    match value {
        Value::List(list) => Value::list(list.element_type().clone(), children),
        Value::Set(set) => Value::set(set.element_type().clone(), children),
        Value::Map(map) => {
            Value::map(map.element_type().clone(), map.keys().iter().cloned().zip(children))
        }
        Value::Tuple(_) => Value::tuple(children),
        Value::Object(object) => Value::object(object.names().iter().cloned().zip(children)),
        other_value => other_value.clone(),
    }
}

/// Another value instead of this one.
fn other_value(value: &Value, ty: &Type, dice: &mut Dice) -> Value {
    match dice.number_below(6) {
        0 => return Value::null(ty.clone()),
        1 => return Value::unknown(ty.clone()),
        2 => return Value::unknown_not_null(ty.clone()),
        _ => {}
    }
    let own_type = |kind: &Type| if *ty == Type::Dynamic { value.ty() } else { kind.clone() };
    match value {
        Value::Bool(flag) => Value::Bool(!flag),
        Value::Number(_) => Value::int(99),
        Value::String(text) => Value::string(format!("{text}x")),
        Value::List(list) => {
            let mut items = list.items().to_vec();
            resize(&mut items, list.element_type(), dice);
            Value::list(list.element_type().clone(), items)
        }
        Value::Set(set) => {
            let mut items = set.items().to_vec();
            resize(&mut items, set.element_type(), dice);
            Value::set(set.element_type().clone(), items)
        }
        Value::Map(map) => {
            let mut items: Vec<(Str, Value)> =
                map.iter().map(|(key, value)| (key.clone(), value.clone())).collect();
            if items.pop().is_none() || dice.number_below(2) == 0 {
                items.push(("new".into(), any(map.element_type(), dice)));
            }
            Value::map(map.element_type().clone(), items)
        }
        _ => any(&own_type(ty), dice),
    }
}

fn resize(items: &mut Vec<Value>, ty: &Type, dice: &mut Dice) {
    if dice.number_below(2) == 0 || items.pop().is_none() {
        items.push(any(ty, dice));
    }
}
