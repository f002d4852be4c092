//! JSON documents that are objects. Derived deserializers of structs also accept an array of the fields in
//! their order, so `[4]` would be an empty state, and all of its objects would be created a second time.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// A value that is decoded only from an object.
struct JsonObject<T>(T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for JsonObject<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ObjectVisitor<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
            type Value = JsonObject<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<Self::Value, A::Error> {
                T::deserialize(MapAccessDeserializer::new(members)).map(JsonObject)
            }
        }

        deserializer.deserialize_map(ObjectVisitor(PhantomData))
    }
}

/// Reads a document that is an object.
///
/// # Errors
/// When the document is not JSON or not an object, or a member has the wrong type.
pub fn parse_json_object<'t, T: Deserialize<'t>>(text: &'t [u8]) -> serde_json::Result<T> {
    serde_json::from_slice::<JsonObject<T>>(text).map(|JsonObject(value)| value)
}

/// Reads a list of objects; null is an empty one. For `deserialize_with`.
///
/// # Errors
/// When the value is not a list, or an element is not an object.
pub fn deserialize_objects<'de, D, T>(from: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    let objects = Option::<Vec<JsonObject<T>>>::deserialize(from)?.unwrap_or_default();
    Ok(objects.into_iter().map(|JsonObject(value)| value).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Eq, Deserialize)]
    struct Document<'t> {
        version: u64,
        #[serde(default)]
        name: &'t str,
        #[serde(default, borrow, deserialize_with = "deserialize_objects")]
        parts: Vec<Part<'t>>,
    }

    #[derive(Debug, PartialEq, Eq, Deserialize)]
    struct Part<'t> {
        name: &'t str,
    }

    #[test]
    fn a_list_is_not_an_object() {
        let read = |text| parse_json_object::<Document<'_>>(text);
        let document = read(br#" {"version": 4, "name": "x", "parts": [{"name": "a"}], "z": [1]}"#);
        let parts = vec![Part { name: "a" }];
        assert_eq!(document.unwrap(), Document { version: 4, name: "x", parts });
        let document = read(br#"{"version": 4, "parts": null}"#).unwrap();
        assert_eq!(document, Document { version: 4, name: "", parts: Vec::new() });
        for (text, expected) in [
            ("[4]", "invalid type: sequence, expected an object at line 1 column 0"),
            ("4", "invalid type: integer `4`, expected an object at line 1 column 1"),
            (r#"{"version": 4, "parts": [["a"]]}"#, "invalid type: sequence, expected an object"),
            (r#"{"version": 4} 5"#, "trailing characters"),
            (r#"{"version": true}"#, "invalid type: boolean `true`, expected u64"),
        ] {
            let error = read(text.as_bytes()).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{text}: {error}");
        }
    }
}
