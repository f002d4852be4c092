//! Values as configurations and states in JSON.

use formwork_value::codec::json;
use formwork_value::schema::{Block, NestedBlock, Nesting};
use formwork_value::{Path, Value};
use serde_json::{Map, Value as Json};

/// The content of a block in a configuration, without null attributes.
pub(super) fn block(schema: &Block, value: &Value) -> Json {
    let part = |name: &formwork_value::Str| {
        Path::root().attribute(name.clone()).find(value).filter(|part| !part.is_null()).cloned()
    };
    let mut content = Map::new();
    for name in schema.attributes.keys() {
        content.extend(part(name).map(|part| (name.to_string(), expression(&part))));
    }
    for (name, nested) in &schema.blocks {
        // A block type without blocks is left out: no key would be a missing label.
        let is_single = matches!(nested.nesting, Nesting::Single | Nesting::Group);
        let held = part(name).filter(|part| is_single || !part.children().is_empty());
        content.extend(held.map(|part| (name.to_string(), blocks(nested, &part))));
    }
    Json::Object(content)
}

fn blocks(nested: &NestedBlock, value: &Value) -> Json {
    match (nested.nesting, value) {
        (Nesting::Map, Value::Map(map)) => {
            let labelled =
                map.iter().map(|(key, value)| (key.to_string(), block(&nested.block, value)));
            Json::Object(labelled.collect())
        }
        (Nesting::List | Nesting::Set, collection) => {
            collection.children().iter().map(|value| block(&nested.block, value)).collect()
        }
        (_, value) => block(&nested.block, value),
    }
}

/// An expression: none of the strings has a template in it.
fn expression(value: &Value) -> Json {
    match value {
        Value::Bool(flag) => (*flag).into(),
        Value::Number(number) => number.to_i64().into(),
        Value::String(text) => text.as_str().into(),
        Value::Map(map) => {
            let pairs = map.iter().map(|(key, part)| (key.to_string(), expression(part)));
            Json::Object(pairs.collect())
        }
        Value::Object(object) => {
            let pairs = object.iter().map(|(name, part)| (name.to_string(), expression(part)));
            Json::Object(pairs.collect())
        }
        collection if collection.is_null() => Json::Null,
        collection => collection.children().iter().map(expression).collect(),
    }
}

/// The attributes of an object in a state.
pub(super) fn attributes(schema: &Block, value: &Value) -> Json {
    let text = json::encode(value, &schema.implied_type()).expect("it has the type of its schema");
    serde_json::from_str(&text).expect("JSON")
}
