//! Finds the parts of a value that the paths in `sensitive_attributes` lead to, without a schema. Where a path
//! could lead to two parts, the part around both is found.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use formwork_value::codec::type_json;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::state::file::layout::StepJson;

/// The maximum number of steps of a path. A longer path is cut and represents the enclosing part.
const MAX_PATH_STEPS: usize = 200;

/// The most levels of a value that are searched: those of steps, and a wrapper with the type at each.
const MAX_SEARCH_DEPTH: usize = 2 * MAX_PATH_STEPS;

/// A step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
enum SensitivePathStep {
    Member(String),
    Element(usize),
}

/// Finds the parts of a value, in the order of its text, each with its JSON pointer. `None` if a path has an
/// invalid step.
pub(super) fn find_sensitive_parts<'t>(
    text: &'t str,
    paths: &[Vec<StepJson>],
) -> Option<Vec<(String, &'t str)>> {
    let paths =
        paths.iter().map(|steps| steps.iter().take(MAX_PATH_STEPS).map(read_step).collect());
    let paths: Vec<Vec<SensitivePathStep>> = paths.collect::<Option<_>>()?;
    let mut search = PartSearch { pointer: String::new(), level: 0, parts: Vec::new() };
    search.search_value(text, paths.iter().map(Vec::as_slice).collect());
    Some(search.parts)
}

/// Reads a step of a path in `sensitive_attributes`.
fn read_step(step: &StepJson) -> Option<SensitivePathStep> {
    let value = match step.kind.as_str() {
        "index" => step.value.get("value"),
        _ => Some(&step.value),
    };
    match value {
        Some(serde_json::Value::String(name)) => Some(SensitivePathStep::Member(name.clone())),
        Some(serde_json::Value::Number(number)) => {
            let at = number.as_u64().or_else(|| number.as_f64().map(|at| at as u64));
            at.and_then(|at| usize::try_from(at).ok()).map(SensitivePathStep::Element)
        }
        _ => None,
    }
}

/// Finds the parts of a value that paths lead to.
struct PartSearch<'t> {
    /// The JSON pointer of the current part.
    pointer: String,
    /// The number of its steps.
    level: usize,
    parts: Vec<(String, &'t str)>,
}

impl<'t> PartSearch<'t> {
    fn search_value(&mut self, text: &'t str, paths: Vec<&[SensitivePathStep]>) {
        if paths.is_empty() || text == "null" {
            return;
        }
        let is_end = self.level >= MAX_SEARCH_DEPTH || paths.iter().any(|path| path.is_empty());
        let entered = !is_end
            && match text.as_bytes().first() {
                Some(b'{') => self.search_object(text, &paths),
                Some(b'[') => self.search_list(text, &paths),
                _ => false,
            };
        // A path that cannot be followed further ends at a set, or at an unknown format.
        // More is sealed then, never less.
        if !entered {
            self.parts.push((self.pointer.clone(), text));
        }
    }

    fn search_object(&mut self, text: &'t str, paths: &[&[SensitivePathStep]]) -> bool {
        let Ok(OrderedMembers(members)) = serde_json::from_str::<OrderedMembers<'t>>(text) else {
            return false;
        };
        let mut names: BTreeMap<&str, Vec<&[SensitivePathStep]>> = BTreeMap::new();
        let mut has_index = false;
        for path in paths {
            match path.split_first() {
                Some((SensitivePathStep::Member(name), rest)) => {
                    names.entry(name).or_default().push(rest);
                }
                _ => has_index = true,
            }
        }
        // A value whose type is not in the schema is stored with its type. A map may look the same.
        let is_wrapper = !self.pointer.is_empty() && is_typed_value(&members);
        let is_ambiguous = names.contains_key("value") || names.contains_key("type");
        if is_wrapper && !is_ambiguous {
            for (name, member) in members.into_iter().filter(|(name, _)| name == "value") {
                self.search_below(&name, |search| {
                    search.search_value(member.get(), paths.to_vec());
                });
            }
            return true;
        }
        if is_wrapper || has_index {
            return false;
        }
        for (name, member) in members {
            if let Some(paths) = names.get(&*name) {
                self.search_below(&name, |search| search.search_value(member.get(), paths.clone()));
            }
        }
        true
    }

    fn search_list(&mut self, text: &'t str, paths: &[&[SensitivePathStep]]) -> bool {
        let Ok(elements) = serde_json::from_str::<Vec<&'t RawValue>>(text) else { return false };
        let mut indexes: BTreeMap<usize, Vec<&[SensitivePathStep]>> = BTreeMap::new();
        for path in paths {
            match path.split_first() {
                Some((SensitivePathStep::Element(at), rest)) => {
                    indexes.entry(*at).or_default().push(rest);
                }
                _ => return false,
            }
        }
        for (at, paths) in indexes {
            if let Some(element) = elements.get(at) {
                self.search_below(&at.to_string(), |search| {
                    search.search_value(element.get(), paths);
                });
            }
        }
        true
    }

    /// Visits a part below the current one.
    fn search_below(&mut self, name: &str, visit: impl FnOnce(&mut Self)) {
        let length = self.pointer.len();
        add_pointer_step(&mut self.pointer, name);
        self.level += 1;
        visit(self);
        self.level -= 1;
        self.pointer.truncate(length);
    }
}

/// Adds a step to a JSON pointer.
pub(super) fn add_pointer_step(pointer: &mut String, name: &str) {
    pointer.push('/');
    pointer.push_str(&name.replace('~', "~0").replace('/', "~1"));
}

/// Whether the text of an object is a value with its type, as values are written whose type is not in the
/// schema. More text may follow it.
pub(super) fn begins_with_typed_value(text: &str) -> bool {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<OrderedMembers<'_>>();
    values.next().is_some_and(|members| members.is_ok_and(|it| is_typed_value(&it.0)))
}

/// Whether members are those of a value with its type.
fn is_typed_value(members: &[(Cow<'_, str>, &RawValue)]) -> bool {
    let member = |name: &str| members.iter().find(|(other, _)| other == name);
    let ty = member("type").map(|(_, ty)| type_json::decode(ty.get().as_bytes()));
    members.len() == 2 && member("value").is_some() && ty.is_some_and(|ty| ty.is_ok())
}

/// The members of an object, in source order.
struct OrderedMembers<'t>(Vec<(Cow<'t, str>, &'t RawValue)>);

impl<'de> Deserialize<'de> for OrderedMembers<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = OrderedMembers<'de>;

            fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
                to.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(name) = from.next_key::<String>()? {
                    members.push((Cow::Owned(name), from.next_value()?));
                }
                Ok(OrderedMembers(members))
            }
        }
        from.deserialize_map(Read)
    }
}
