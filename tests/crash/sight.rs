//! What can be seen from outside: the objects that exist, the objects that a state knows of, and files
//! that are not whole.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::Value;

/// The objects that really exist: name by id.
pub(crate) fn world(folder: &Path) -> BTreeMap<String, String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found = BTreeMap::new();
    for entry in entries {
        let file = entry.file_name().to_string_lossy().into_owned();
        let Some(id) = file.strip_suffix(".object") else { continue };
        let text = fs::read_to_string(entry.path()).unwrap_or_default();
        let name = serde_json::from_str::<Value>(&text).ok();
        let name = name.and_then(|object| Some(object["name"].as_str()?.to_owned()));
        found.insert(id.to_owned(), name.unwrap_or_default());
    }
    found
}

/// The ids of the objects in a state.
pub(crate) fn ids(state: &str) -> BTreeSet<String> {
    let state: Value = serde_json::from_str(state).unwrap_or_default();
    let resources = state["resources"].as_array().into_iter().flatten();
    let instances =
        resources.flat_map(|resource| resource["instances"].as_array().into_iter().flatten());
    let ids = instances.filter_map(|instance| instance["attributes"]["id"].as_str());
    ids.map(str::to_owned).collect()
}

/// How many of the files that hold a state are there and are no state: empty, or cut off.
pub(crate) fn torn(folder: &Path) -> usize {
    let names = ["terraform.tfstate", "terraform.tfstate.backup"];
    let is_torn = |name: &&&str| match fs::read(folder.join(name)) {
        Ok(bytes) => serde_json::from_slice::<Value>(&bytes).is_err(),
        Err(_) => false,
    };
    names.iter().filter(is_torn).count()
}
