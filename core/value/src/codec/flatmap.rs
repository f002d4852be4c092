//! Objects in the format before Terraform 0.12: one map of strings with paths as keys. The format is
//! only read, not written.

use std::collections::{BTreeMap, BTreeSet};

use crate::convert::convert;
use crate::{Type, Value};

/// Maximum nesting of values. States in this format were far below it.
const MAX_FLATMAP_DEPTH: usize = 32;

/// Reads an object of the type. Missing attributes are null, and undeclared ones are ignored.
///
/// # Errors
/// Returns an error if a string does not fit its type, or if a collection declares more elements than it
/// has.
pub fn decode(texts: &BTreeMap<String, String>, ty: &Type) -> Result<Value, String> {
    FlatmapReader { texts }.read_value("", ty, 0)
}

struct FlatmapReader<'t> {
    texts: &'t BTreeMap<String, String>,
}

impl FlatmapReader<'_> {
    fn read_value(&self, key: &str, ty: &Type, depth: usize) -> Result<Value, String> {
        if depth > MAX_FLATMAP_DEPTH {
            return Err(format!("`{key}` is nested deeper than {MAX_FLATMAP_DEPTH} levels"));
        }
        let below =
            |name: &str| if key.is_empty() { name.to_owned() } else { format!("{key}.{name}") };
        let element = |name: String, ty: &Type| self.read_value(&below(&name), ty, depth + 1);
        match ty {
            Type::Object(object) => {
                let parts = object
                    .attributes
                    .iter()
                    .map(|(name, ty)| Ok((name.clone(), element(name.as_str().to_owned(), ty)?)));
                Ok(Value::object(parts.collect::<Result<Vec<_>, String>>()?))
            }
            Type::List(element_ty) => {
                // An empty collection has the count 0. One without a count was null.
                let Some(count) = self.declared_element_count(&below("#"))? else {
                    return Ok(Value::null(ty.clone()));
                };
                let items = (0..count).map(|at| element(at.to_string(), element_ty));
                Ok(Value::list((**element_ty).clone(), items.collect::<Result<_, _>>()?))
            }
            Type::Set(element_ty) => {
                if self.declared_element_count(&below("#"))?.is_none() {
                    return Ok(Value::null(ty.clone()));
                }
                // The keys of elements are hashes of their content, in no order.
                let items =
                    self.child_names(&below("")).into_iter().map(|name| element(name, element_ty));
                Ok(Value::set((**element_ty).clone(), items.collect::<Result<_, _>>()?))
            }
            Type::Map(element_ty) => {
                if self.declared_element_count(&below("%"))?.is_none() {
                    return Ok(Value::null(ty.clone()));
                }
                let prefix = below("");
                // A key may contain dots, so the rest of the path is one key.
                // The count is beside the elements, under a key that no element has.
                let keys =
                    self.key_suffixes_after(&prefix).filter(|key| *key != "%").map(str::to_owned);
                let pairs = keys.map(|key| Ok((key.clone(), element(key, element_ty)?)));
                let pairs = pairs.collect::<Result<Vec<_>, String>>()?;
                Ok(Value::map((**element_ty).clone(), pairs))
            }
            _ => match self.texts.get(key) {
                Some(text) => convert(&Value::string(text), ty)
                    .map_err(|error| format!("`{key}` is {text:?}: {}", error.reason)),
                None => Ok(Value::null(ty.clone())),
            },
        }
    }

    /// Returns the declared number of elements of a collection, or `None` if the collection does not
    /// exist.
    fn declared_element_count(&self, key: &str) -> Result<Option<usize>, String> {
        let Some(text) = self.texts.get(key) else { return Ok(None) };
        match text.parse() {
            // Every element has at least one string, so a larger number is invalid and costs
            // nothing.
            Ok(count) if count <= self.texts.len() => Ok(Some(count)),
            Ok(count) => Err(format!("`{key}` is {count}, but the number of elements differs")),
            Err(error) => {
                Err(format!("`{key}` is {text:?}, which is not an element count: {error}"))
            }
        }
    }

    /// Returns the rest of each key after `prefix`.
    fn key_suffixes_after(&self, prefix: &str) -> impl Iterator<Item = &str> {
        // The map is sorted, so keys with the same prefix are adjacent.
        let from = self.texts.range(prefix.to_owned()..);
        from.map_while(move |(key, _)| key.strip_prefix(prefix))
    }

    /// Returns the next steps after `prefix` in the keys.
    fn child_names(&self, prefix: &str) -> BTreeSet<String> {
        let names =
            self.key_suffixes_after(prefix).map(|rest| rest.split('.').next().unwrap_or(rest));
        names.filter(|name| *name != "#").map(str::to_owned).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::codec::json;
    use expect_test::expect;

    use super::*;

    fn read(ty: &Type, texts: &[(&str, &str)]) -> String {
        let texts = texts.iter().map(|(key, text)| ((*key).to_owned(), (*text).to_owned()));
        match decode(&texts.collect(), ty) {
            Ok(value) => json::encode(&value, ty).unwrap(),
            Err(error) => error,
        }
    }

    fn machine() -> Type {
        let disk = Type::object([("size", Type::Number), ("fast", Type::Bool)]);
        Type::object([
            ("name", Type::String),
            ("zone", Type::String),
            ("tags", Type::map(Type::String)),
            ("ports", Type::set(Type::Number)),
            ("disks", Type::list(disk.clone())),
            ("links", Type::set(disk)),
        ])
    }

    #[test]
    fn keys_are_paths_and_counts_give_the_lengths() {
        let value = read(
            &machine(),
            &[
                ("name", "m"),
                // Not an attribute of the type, as from an older schema.
                ("gone", "x"),
                ("tags.%", "2"),
                ("tags.a", "1"),
                ("tags.a.b", "2"),
                ("ports.#", "2"),
                ("ports.1234", "22"),
                ("ports.99", "80"),
                ("disks.#", "1"),
                ("disks.0.size", "10"),
                ("disks.0.fast", "true"),
                ("links.#", "1"),
                ("links.77.size", "5"),
            ],
        );
        expect![[r#"{"disks":[{"fast":true,"size":10}],"links":[{"fast":null,"size":5}],"name":"m","ports":[22,80],"tags":{"a":"1","a.b":"2"},"zone":null}"#]]
        .assert_eq(&value);
    }

    #[test]
    fn mismatched_values_are_refused_with_their_key() {
        let table = [
            (("disks.#", "many"), "`disks.#` is \"many\", which is not an element count"),
            // Without a limit, this count would allocate gigabytes.
            (("disks.#", "4000000000"), "but the number of elements differs"),
            (("ports.#", "x"), "`ports.#` is \"x\""),
        ];
        for (text, expected) in table {
            let message = read(&machine(), &[text]);
            assert!(message.contains(expected), "{expected}: {message}");
        }
        let message = read(&machine(), &[("ports.#", "1"), ("ports.1", "http")]);
        assert!(message.starts_with("`ports.1` is \"http\": "), "{message}");
    }
}
