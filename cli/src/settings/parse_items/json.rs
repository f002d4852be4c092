//! Parser of CLI configuration files in JSON syntax. Members are read in order, including repeated ones, as in
//! Terraform.

use std::fmt;

use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::{ResultWithLine, SettingsItem, SettingsValue};

/// A JSON value.
enum JsonValue {
    Null,
    /// A string, or the string form of a number or Boolean.
    Text(String),
    List(Vec<Self>),
    Object(Vec<(String, Self)>),
}

impl<'de> Deserialize<'de> for JsonValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ValueVisitor;

        impl<'de> Visitor<'de> for ValueVisitor {
            type Value = JsonValue;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value")
            }

            fn visit_unit<E>(self) -> Result<JsonValue, E> {
                Ok(JsonValue::Null)
            }

            fn visit_bool<E>(self, value: bool) -> Result<JsonValue, E> {
                Ok(JsonValue::Text(value.to_string()))
            }

            fn visit_i64<E>(self, value: i64) -> Result<JsonValue, E> {
                Ok(JsonValue::Text(value.to_string()))
            }

            fn visit_u64<E>(self, value: u64) -> Result<JsonValue, E> {
                Ok(JsonValue::Text(value.to_string()))
            }

            fn visit_f64<E>(self, value: f64) -> Result<JsonValue, E> {
                Ok(JsonValue::Text(value.to_string()))
            }

            fn visit_str<E>(self, value: &str) -> Result<JsonValue, E> {
                Ok(JsonValue::Text(value.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<JsonValue, A::Error> {
                let mut elements = Vec::new();
                while let Some(element) = list.next_element()? {
                    elements.push(element);
                }
                Ok(JsonValue::List(elements))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<JsonValue, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = object.next_entry()? {
                    members.push(member);
                }
                Ok(JsonValue::Object(members))
            }
        }

        deserializer.deserialize_any(ValueVisitor)
    }
}

/// Parses a file.
pub(super) fn parse_items(text: &str) -> ResultWithLine<Vec<SettingsItem>> {
    let document: JsonValue = serde_json::from_str(text).map_err(|error| {
        let reason = error.to_string();
        // The line is reported separately.
        let (reason, _) = reason.split_once(" at line ").unwrap_or((&reason, ""));
        (error.line(), reason.to_owned())
    })?;
    let JsonValue::Object(members) = document else { return Ok(Vec::new()) };
    let items = members.into_iter().flat_map(|(name, value)| {
        let line = line_of_name(text, &name);
        items_of_member(name, value, line)
    });
    Ok(items.collect())
}

/// Returns the items of a member. A list of objects is a list of blocks.
fn items_of_member(name: String, value: JsonValue, line: usize) -> Vec<SettingsItem> {
    match value {
        JsonValue::Null => Vec::new(),
        JsonValue::Text(text) => vec![SettingsItem::Value(name, SettingsValue::Text(text), line)],
        JsonValue::Object(members) => {
            vec![SettingsItem::Block(name, items_of_object(members, line), line)]
        }
        JsonValue::List(elements)
            if !elements.is_empty()
                && elements.iter().all(|element| matches!(element, JsonValue::Object(_))) =>
        {
            let blocks = elements.into_iter();
            blocks.flat_map(|element| items_of_member(name.clone(), element, line)).collect()
        }
        JsonValue::List(elements) => {
            let texts = elements.into_iter().filter_map(|element| match element {
                JsonValue::Text(text) => Some(text),
                _ => None,
            });
            vec![SettingsItem::Value(name, SettingsValue::List(texts.collect()), line)]
        }
    }
}

fn items_of_object(members: Vec<(String, JsonValue)>, line: usize) -> Vec<SettingsItem> {
    members.into_iter().flat_map(|(name, value)| items_of_member(name, value, line)).collect()
}

/// Returns the line of a member, which is found by its name.
fn line_of_name(text: &str, name: &str) -> usize {
    let quoted = format!("\"{name}\"");
    let mut occurrences = text.match_indices(&quoted);
    let occurrence =
        occurrences.find(|(index, _)| text[index + quoted.len()..].trim_start().starts_with(':'));
    text[..occurrence.map_or(0, |(index, _)| index)].matches('\n').count() + 1
}
