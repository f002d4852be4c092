//! Facts visible from outside: the objects that exist, the objects of a state, and files
//! that are torn.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::config::ExpectedObject;

/// The objects that really exist, by id.
pub(crate) type RealObjects = BTreeMap<String, Value>;

/// Reads the objects that really exist.
pub(crate) fn read_real_objects(directory: &Path) -> RealObjects {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut objects = BTreeMap::new();
    for entry in entries {
        let file = entry.file_name().to_string_lossy().into_owned();
        let Some(id) = file.strip_suffix(".object") else { continue };
        let text = fs::read_to_string(entry.path()).unwrap_or_default();
        objects.insert(id.to_owned(), serde_json::from_str(&text).unwrap_or_default());
    }
    objects
}

/// Objects of a state: the ids of all, and those that are deposed.
#[derive(Default)]
pub(crate) struct Known {
    pub(crate) ids: BTreeSet<String>,
    pub(crate) deposed: BTreeSet<String>,
}

/// Reads a state.
pub(crate) fn read_state_objects(state: &str) -> Known {
    let state: Value = serde_json::from_str(state).unwrap_or_default();
    let resources = state["resources"].as_array().into_iter().flatten();
    let instances =
        resources.flat_map(|resource| resource["instances"].as_array().into_iter().flatten());
    let mut known = Known::default();
    for instance in instances {
        let Some(id) = instance["attributes"]["id"].as_str() else { continue };
        known.ids.insert(id.to_owned());
        if instance["deposed"].is_string() {
            known.deposed.insert(id.to_owned());
        }
    }
    known
}

/// The expected objects that are missing or different, by the objects that exist and are known.
pub(crate) fn unfulfilled(
    expected: &[ExpectedObject],
    objects: &RealObjects,
    known: &Known,
) -> Vec<String> {
    let of_name = |name: &str| {
        let mut all =
            objects.iter().filter(|(id, object)| object["name"] == name && known.ids.contains(*id));
        (all.next(), all.next().is_some())
    };
    let mut mismatches = Vec::new();
    for ExpectedObject { addr, name, traits, link } in expected {
        let (Some((id, object)), is_double) = of_name(name) else {
            mismatches.push(format!("{addr} is not there"));
            continue;
        };
        let link = link.as_ref().map(|link| of_name(link).0.map(|(id, _)| id.as_str()));
        let is_right = !is_double
            && object["size"] == traits.size
            && object["kind"] == format!("k{}", traits.kind)
            && link.is_none_or(|link| object["link"].as_str() == link);
        if !is_right {
            mismatches.push(format!(
                "{addr} should have {traits:?} and the link {link:?}, {id} is {object}"
            ));
        }
    }
    let is_expected = |name: &Value| expected.iter().any(|object| *name == object.name);
    let unexpected = objects
        .iter()
        .filter(|(id, object)| known.ids.contains(*id) && !is_expected(&object["name"]));
    mismatches.extend(unexpected.map(|(id, _)| format!("{id} is not wanted")));
    mismatches.extend(known.deposed.iter().map(|id| format!("{id} is deposed")));
    mismatches
}

/// Number of state files that exist and hold no state: empty, or cut off.
pub(crate) fn count_torn_files(directory: &Path) -> usize {
    let names = ["terraform.tfstate", "terraform.tfstate.backup"];
    let is_torn = |name: &&&str| match fs::read(directory.join(name)) {
        Ok(bytes) => serde_json::from_slice::<Value>(&bytes).is_err(),
        Err(_) => false,
    };
    names.iter().filter(is_torn).count()
}
