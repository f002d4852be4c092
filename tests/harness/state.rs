//! Reads a state file as far as tests need it, independently of the code under test.

use serde_json::Value;

use super::Workdir;

/// One object in a state.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Instance {
    /// `bad_thing.a`, or with a key.
    pub(crate) addr: String,
    /// Its attribute `id`.
    pub(crate) id: String,
    /// Whether it is to be replaced.
    pub(crate) tainted: bool,
    /// Whether it only waits for its end.
    pub(crate) deposed: bool,
}

/// The managed objects in the directory's state, by address; none if there is no state.
pub(crate) fn instances(workdir: &Workdir) -> Vec<Instance> {
    instances_in(&workdir.read("terraform.tfstate"))
}

/// The managed objects in the text of a state, by address; none if it is empty.
pub(crate) fn instances_in(text: &str) -> Vec<Instance> {
    if text.is_empty() {
        return Vec::new();
    }
    let state: Value = serde_json::from_str(text).expect("the state is JSON");
    let mut instances = Vec::new();
    for resource in state["resources"].as_array().into_iter().flatten() {
        if resource["mode"] != "managed" {
            continue;
        }
        for instance in resource["instances"].as_array().into_iter().flatten() {
            instances.push(read(resource, instance));
        }
    }
    instances.sort();
    instances
}

fn read(resource: &Value, instance: &Value) -> Instance {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let key = match &instance["index_key"] {
        Value::Null => String::new(),
        key => format!("[{key}]"),
    };
    Instance {
        addr: format!("{}.{}{key}", text(&resource["type"]), text(&resource["name"])),
        id: text(&instance["attributes"]["id"]),
        tainted: instance["status"] == "tainted",
        deposed: !instance["deposed"].is_null(),
    }
}
