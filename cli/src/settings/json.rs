//! A settings file in JSON, as tools write it. Gives the same items as the other notation.

use serde_json::{Map, Value};

use super::text::{Item, Located, SettingsValue};

/// The blocks whose members are labels.
const LABELLED: [&str; 4] = ["credentials", "credentials_helper", "host", "oci_credentials"];

/// Whether the text of a settings file is JSON. No item of the other notation begins with a brace.
pub(super) fn is_json(text: &str) -> bool {
    text.trim_start().starts_with('{')
}

/// Reads the items of a whole file in JSON.
pub(super) fn parse_items(text: &str) -> Located<Vec<Item>> {
    let members: Map<String, Value> =
        serde_json::from_str(text).map_err(|error| (error.line(), error.to_string()))?;
    let mut items = Vec::new();
    for (name, value) in members {
        if LABELLED.contains(&name.as_str()) {
            for labelled in objects(value) {
                for (label, value) in labelled {
                    items.extend(objects(value).map(|members| {
                        Item::Labelled(name.clone(), label.clone(), items_of(members), 1)
                    }));
                }
            }
        } else {
            items.extend(items_of_member(name, value));
        }
    }
    Ok(items)
}

/// The objects in a value: itself, or the members of a list.
fn objects(value: Value) -> impl Iterator<Item = Map<String, Value>> {
    let values = match value {
        Value::Array(values) => values,
        value => vec![value],
    };
    values.into_iter().filter_map(|value| match value {
        Value::Object(members) => Some(members),
        _ => None,
    })
}

fn items_of(members: Map<String, Value>) -> Vec<Item> {
    members.into_iter().flat_map(|(name, value)| items_of_member(name, value)).collect()
}

fn items_of_member(name: String, value: Value) -> Vec<Item> {
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        _ => None,
    };
    if let Some(text) = text(&value) {
        return vec![Item::Value(name, SettingsValue::Text(text), 1)];
    }
    match value {
        // A list of objects is as many blocks.
        Value::Array(values) if !values.iter().any(Value::is_object) => {
            let texts = values.iter().filter_map(text).collect();
            vec![Item::Value(name, SettingsValue::List(texts), 1)]
        }
        value => {
            objects(value).map(|members| Item::Block(name.clone(), items_of(members), 1)).collect()
        }
    }
}
