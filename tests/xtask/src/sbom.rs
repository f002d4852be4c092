//! The bill of materials of the program: every package that is linked into it, in CycloneDX 1.6.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::Failure;
use crate::source::Source;

/// The document.
pub(crate) fn of(source: &Source) -> Result<String, Failure> {
    let packages = source.metadata["packages"].as_array().ok_or("cargo lists no packages")?;
    let packages: BTreeMap<&str, &Value> =
        packages.iter().filter_map(|package| Some((package["id"].as_str()?, package))).collect();
    let root = packages.iter().find(|(_, package)| package["name"] == "formwork");
    let (root, _) = root.ok_or("cargo lists no package formwork")?;
    let edges = edges(&source.metadata);
    let linked = reachable(root, &edges);
    let checksums = checksums(&std::fs::read_to_string(source.root.join("Cargo.lock"))?);
    let reference = |id: &str| packages.get(id).map_or_else(String::new, |package| purl(package));
    let components: BTreeMap<String, Value> = linked
        .iter()
        .filter(|id| *id != root)
        .filter_map(|id| packages.get(id))
        .map(|package| (purl(package), component(package, &checksums)))
        .collect();
    let dependencies: BTreeMap<String, Value> = linked
        .iter()
        .map(|id| {
            let dependencies: BTreeSet<String> =
                edges.get(id).into_iter().flatten().map(|id| reference(id)).collect();
            (reference(id), json!({"ref": reference(id), "dependsOn": dependencies}))
        })
        .collect();
    let time = OffsetDateTime::from_unix_timestamp(source.epoch.try_into()?)?.format(&Rfc3339)?;
    let document = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "timestamp": time,
            "component": {
                "type": "application",
                "bom-ref": reference(root),
                "name": "formwork",
                "version": source.version,
                "licenses": [{"expression": "MIT OR Apache-2.0"}],
                "purl": reference(root),
            },
        },
        "components": components.into_values().collect::<Vec<_>>(),
        "dependencies": dependencies.into_values().collect::<Vec<_>>(),
    });
    Ok(format!("{document:#}\n"))
}

/// The packages that each package is linked with, without those that only build it or test it.
fn edges(metadata: &Value) -> BTreeMap<&str, BTreeSet<&str>> {
    let nodes = metadata["resolve"]["nodes"].as_array().into_iter().flatten();
    let linked = |dependency: &&Value| {
        let mut kinds = dependency["dep_kinds"].as_array().into_iter().flatten();
        kinds.any(|kind| kind["kind"].is_null())
    };
    nodes
        .filter_map(|node| {
            let dependencies = node["deps"].as_array()?.iter().filter(linked);
            Some((node["id"].as_str()?, dependencies.filter_map(|it| it["pkg"].as_str()).collect()))
        })
        .collect()
}

fn reachable<'m>(root: &'m str, edges: &BTreeMap<&'m str, BTreeSet<&'m str>>) -> BTreeSet<&'m str> {
    let mut nodes = BTreeSet::new();
    let mut open = vec![root];
    while let Some(id) = open.pop() {
        if nodes.insert(id) {
            open.extend(edges.get(id).into_iter().flatten());
        }
    }
    nodes
}

fn purl(package: &Value) -> String {
    let text = |name: &str| package[name].as_str().unwrap_or_default();
    format!("pkg:cargo/{}@{}", text("name"), text("version"))
}

fn component(package: &Value, checksums: &BTreeMap<(String, String), String>) -> Value {
    let text = |name: &str| package[name].as_str().unwrap_or_default().to_owned();
    let mut component = json!({
        "type": "library",
        "bom-ref": purl(package),
        "name": text("name"),
        "version": text("version"),
        "purl": purl(package),
    });
    if let Some(checksum) = checksums.get(&(text("name"), text("version"))) {
        component["hashes"] = json!([{"alg": "SHA-256", "content": checksum}]);
    }
    // Old packages separate licences by a slash.
    let license = text("license").replace('/', " OR ");
    if !license.is_empty() {
        component["licenses"] = json!([{"expression": license}]);
    }
    component
}

/// The checksums in a lock file, by name and version.
fn checksums(lock: &str) -> BTreeMap<(String, String), String> {
    let field = |package: &str, name: &str| {
        let line = package.lines().find_map(|line| line.strip_prefix(name));
        line.map(|text| text.trim_matches(['=', ' ', '"']).to_owned())
    };
    let packages = lock.split("[[package]]").skip(1);
    packages
        .filter_map(|package| {
            let id = (field(package, "name ")?, field(package, "version ")?);
            Some((id, field(package, "checksum ")?))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_read_by_name_and_version() {
        let lock = "[[package]]\nname = \"a\"\nversion = \"1.0.0\"\nchecksum = \"ff\"\n\n[[package]]\nname = \"b\"\nversion = \"2.0.0\"\n";
        let read = checksums(lock);
        assert_eq!(read.get(&("a".into(), "1.0.0".into())), Some(&"ff".to_owned()));
        assert_eq!(read.len(), 1);
    }

    #[test]
    fn build_and_test_dependencies_are_not_linked() {
        let kinds = |kind: Value| json!([{ "kind": kind }]);
        let metadata = json!({"resolve": {"nodes": [{"id": "a", "deps": [
            {"pkg": "b", "dep_kinds": kinds(Value::Null)},
            {"pkg": "c", "dep_kinds": kinds("build".into())},
        ]}]}});
        assert_eq!(reachable("a", &edges(&metadata)), ["a", "b"].into());
    }
}
