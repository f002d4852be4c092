//! Holds two JSON documents against each other and lists where they differ, after taking out what
//! may differ. Pure.

use serde_json::Value;

/// Appends a line to `lines` for each path at which the documents differ.
pub(crate) fn differences(
    path: &str,
    terraform: &Value,
    formwork: &Value,
    lines: &mut Vec<String>,
) {
    match (terraform, formwork) {
        (Value::Object(theirs), Value::Object(ours)) => {
            for (key, value) in theirs {
                match ours.get(key) {
                    Some(our_value) => {
                        differences(&format!("{path}.{key}"), value, our_value, lines);
                    }
                    None => lines.push(format!("{path}.{key}: missing, should be {value}")),
                }
            }
            for (key, value) in ours {
                if !theirs.contains_key(key) {
                    lines.push(format!("{path}.{key}: should not be there, is {value}"));
                }
            }
        }
        (Value::Array(theirs), Value::Array(ours)) if theirs.len() == ours.len() => {
            for (index, (value, our_value)) in theirs.iter().zip(ours).enumerate() {
                differences(&format!("{path}[{index}]"), value, our_value, lines);
            }
        }
        _ if terraform != formwork => {
            lines.push(format!("{path}: should be {terraform}, is {formwork}"));
        }
        _ => {}
    }
}

/// Removes from Formwork's diagnostics the values that Terraform does not show: it evaluates everything
/// once before variables and objects are known, and errors of that pass are shown without values;
/// errors found without evaluation are shown without any.
/// Both lists are in order, each element a diagnostic with its `values`.
pub(crate) fn forgive_more_values(theirs: &[Value], ours: &mut [Value]) {
    for (their, our) in theirs.iter().zip(ours) {
        let (Some(visible), Some(Value::Array(values))) =
            (their["values"].as_array(), our.get_mut("values"))
        else {
            continue;
        };
        values.retain(|value| {
            let name = value["traversal"].as_str().unwrap_or_default();
            let comes_late = name.starts_with("var.") || name.starts_with("self.");
            !(visible.is_empty() || comes_late) || visible.contains(value)
        });
    }
}

/// Removes the parts of the JSON view of a plan or a state that have to differ: the name of the
/// writing program, and the time.
pub(crate) fn scrub_view(view: &mut Value) {
    let Value::Object(fields) = view else { return };
    fields.remove("terraform_version");
    fields.remove("timestamp");
    if let Some(prior) = fields.get_mut("prior_state") {
        scrub_view(prior);
    }
    // They are a set; Terraform lists them in no particular order.
    if let Some(Value::Array(relevant)) = fields.get_mut("relevant_attributes") {
        relevant.sort_by_key(Value::to_string);
    }
    sort_checks(fields.get_mut("checks"), "address");
    for name in ["values", "planned_values"] {
        if let Some(values) = fields.get_mut(name) {
            sort_modules(&mut values["root_module"]);
        }
    }
}

/// Puts the modules within a module in order: Terraform lists them as its maps have them.
fn sort_modules(module: &mut Value) {
    let Some(Value::Array(children)) = module.get_mut("child_modules") else { return };
    children.sort_by_key(|child| child["address"].to_string());
    children.iter_mut().for_each(sort_modules);
}

fn sort_checks(results: Option<&mut Value>, by: &str) {
    let Some(Value::Array(results)) = results else { return };
    results.sort_by_key(|result| result[by].to_string());
    for result in results.iter_mut() {
        for objects in ["objects", "instances"] {
            if let Some(Value::Array(objects)) = result.get_mut(objects) {
                objects.sort_by_key(Value::to_string);
            }
        }
    }
    // Each program explains the failed read of a data source in its own words.
    results.iter_mut().for_each(|result| shorten(result, "Unable to find remote state"));
}

/// Truncates every string after its beginning.
fn shorten(value: &mut Value, beginning: &str) {
    match value {
        Value::String(text) if text.starts_with(beginning) => text.truncate(beginning.len()),
        Value::Array(elements) => {
            elements.iter_mut().for_each(|element| shorten(element, beginning));
        }
        Value::Object(fields) => {
            fields.values_mut().for_each(|element| shorten(element, beginning));
        }
        _ => {}
    }
}

/// Removes the parts of a state file that have to differ: the name of the writing program, the
/// number of writes, and the random ids.
pub(crate) fn scrub_state(state: &mut Value) {
    if let Value::Object(fields) = state {
        for name in ["terraform_version", "serial", "lineage"] {
            fields.remove(name);
        }
        // They are a map; Terraform writes them in no particular order.
        sort_checks(fields.get_mut("check_results"), "config_addr");
    }
    scrub_identities(state);
    scrub_ids(state);
}

/// Terraform 1.11 does not support identities: it reads a state that has them and leaves them out of its
/// own.
fn scrub_identities(state: &mut Value) {
    let resources = state.get_mut("resources").and_then(Value::as_array_mut);
    for resource in resources.into_iter().flatten() {
        let instances = resource.get_mut("instances").and_then(Value::as_array_mut);
        for instance in instances.into_iter().flatten().filter_map(Value::as_object_mut) {
            instance.remove("identity");
            instance.remove("identity_schema_version");
        }
    }
}

pub(crate) fn scrub_ids(value: &mut Value) {
    match value {
        Value::String(text) => *text = scrub_uuids(text),
        Value::Array(elements) => elements.iter_mut().for_each(scrub_ids),
        Value::Object(fields) => {
            // The paths are a set; Terraform writes them in no particular order.
            if let Some(Value::Array(paths)) = fields.get_mut("sensitive_attributes") {
                paths.sort_by_key(Value::to_string);
            }
            fields.values_mut().for_each(scrub_ids);
        }
        _ => {}
    }
}

/// Replaces every id of the usual form, wherever in the text it is.
fn scrub_uuids(text: &str) -> String {
    const LENGTH: usize = 36;
    let mut scrubbed = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if rest.get(..LENGTH).is_some_and(is_uuid) {
            scrubbed.push_str("some uuid");
            rest = &rest[LENGTH..];
        } else {
            scrubbed.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    scrubbed
}

fn is_uuid(text: &str) -> bool {
    let groups: Vec<&str> = text.split('-').collect();
    groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12])
        && groups.concat().chars().all(|character| character.is_ascii_hexdigit())
}

#[test]
fn differences_are_found_at_every_depth() {
    let theirs = serde_json::json!({"a": [1, {"b": null}], "only": 1});
    let ours = serde_json::json!({"a": [1, {"b": false}], "more": 2});
    let mut lines = Vec::new();
    differences("", &theirs, &ours, &mut lines);
    assert_eq!(
        lines,
        [
            ".a[1].b: should be null, is false",
            ".only: missing, should be 1",
            ".more: should not be there, is 2",
        ]
    );
}
