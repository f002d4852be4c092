//! The same items from a settings file in JSON, as programs write it.

use serde_json::{Map, Value};

use super::{Item, Located, SettingsValue};

/// The names of blocks with a label, which is a key in JSON.
const LABELLED_BLOCKS: [&str; 4] = ["host", "credentials", "credentials_helper", "oci_credentials"];

/// The order of installation methods matters, and an object in JSON has none. Terraform refuses it, too.
const ORDERED_BLOCK: &str = "provider_installation";

/// Reads the items of a whole file.
pub(super) fn parse_items(text: &str) -> Located<Vec<Item>> {
    let document: Map<String, Value> =
        serde_json::from_str(text).map_err(|error| (error.line(), error.to_string()))?;
    let mut items = Vec::new();
    for (name, value) in document {
        let line = line_of_name(text, &name);
        if name == ORDERED_BLOCK {
            let reason = "cannot be written in JSON, because the order of its blocks matters: put it into a file in the other syntax, such as a .tfrc file in the folder of settings";
            return Err((line, format!("{name} {reason}")));
        }
        if !LABELLED_BLOCKS.contains(&name.as_str()) {
            items.push(match value {
                Value::Object(members) => Item::Block(name, arguments(members, line), line),
                other => Item::Value(name, argument(other, line), line),
            });
            continue;
        }
        let not_a_block = || Item::Value(name.clone(), SettingsValue::List(Vec::new()), line);
        let Some(labels) = block_objects(value) else {
            items.push(not_a_block());
            continue;
        };
        for (label, value) in labels.into_iter().flatten() {
            items.push(match block_objects(value) {
                Some(content) => {
                    let content = content.into_iter().flat_map(|members| arguments(members, line));
                    Item::Labelled(name.clone(), label, content.collect(), line)
                }
                None => not_a_block(),
            });
        }
    }
    Ok(items)
}

/// The objects that stand for blocks: one, or a list of them. `None` for another value.
fn block_objects(value: Value) -> Option<Vec<Map<String, Value>>> {
    match value {
        Value::Object(members) => Some(vec![members]),
        Value::Array(elements) => {
            let objects: Option<Vec<_>> = elements.into_iter().map(block_objects).collect();
            Some(objects?.into_iter().flatten().collect())
        }
        _ => None,
    }
}

fn arguments(members: Map<String, Value>, line: usize) -> Vec<Item> {
    let members = members.into_iter();
    members.map(|(name, value)| Item::Value(name, argument(value, line), line)).collect()
}

fn argument(value: Value, line: usize) -> SettingsValue {
    match value {
        Value::String(text) => SettingsValue::Text(text),
        Value::Object(members) => SettingsValue::Block(arguments(members, line)),
        Value::Array(elements) => {
            let text = |element: Value| match element {
                Value::String(text) => text,
                other => other.to_string(),
            };
            SettingsValue::List(elements.into_iter().map(text).collect())
        }
        other => SettingsValue::Text(other.to_string()),
    }
}

/// The line in which a member is, as far as its name tells it.
fn line_of_name(text: &str, name: &str) -> usize {
    let before = text.split_once(&format!("\"{name}\"")).map_or("", |(before, _)| before);
    before.matches('\n').count() + 1
}
