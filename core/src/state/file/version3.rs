//! States of version 3, which Terraform 0.7 to 0.11 wrote: translated to version 4 as Terraform does. The
//! attributes keep their flat form until the provider upgrades them. Names are checked by the reader of
//! version 4.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json as document};

use super::layout::null_as_default;
use super::{FileError, json};
use crate::disk::parse_json_object;
use crate::messages;

/// The version of the format.
pub(super) const FORMAT_VERSION_3: u64 = 3;

/// The version of Terraform in files that have none.
const UNKNOWN_TERRAFORM_VERSION: &str = "0.0.0";

#[derive(Deserialize)]
struct Version3File<'t> {
    #[serde(default, deserialize_with = "null_as_default")]
    terraform_version: String,
    #[serde(default, deserialize_with = "null_as_default")]
    serial: i64,
    #[serde(default, deserialize_with = "null_as_default")]
    lineage: String,
    #[serde(default, borrow, deserialize_with = "null_as_default")]
    modules: Vec<Version3Module<'t>>,
}

#[derive(Deserialize)]
struct Version3Module<'t> {
    #[serde(default, deserialize_with = "null_as_default")]
    path: Vec<String>,
    #[serde(default, borrow, deserialize_with = "null_as_default")]
    outputs: BTreeMap<String, Version3Output<'t>>,
    /// Resources by `TYPE.NAME`, with an optional prefix `data.` and an optional suffix `.INDEX`.
    #[serde(default, deserialize_with = "null_as_default")]
    resources: BTreeMap<String, Version3Instance>,
}

#[derive(Deserialize)]
struct Version3Output<'t> {
    #[serde(default, deserialize_with = "null_as_default")]
    sensitive: bool,
    #[serde(default, borrow)]
    value: Option<&'t RawValue>,
}

/// An instance: the format calls it a resource.
#[derive(Deserialize)]
struct Version3Instance {
    #[serde(default, deserialize_with = "null_as_default")]
    provider: String,
    #[serde(default)]
    primary: Option<Version3Object>,
    #[serde(default, deserialize_with = "null_as_default")]
    deposed: Vec<Version3Object>,
}

#[derive(Deserialize)]
struct Version3Object {
    #[serde(default, deserialize_with = "null_as_default")]
    id: String,
    #[serde(default, deserialize_with = "null_as_default")]
    attributes: BTreeMap<String, Option<String>>,
    #[serde(default, deserialize_with = "null_as_default")]
    meta: BTreeMap<String, Value>,
    #[serde(default, deserialize_with = "null_as_default")]
    tainted: bool,
}

#[derive(Serialize)]
struct Version4File<'t> {
    version: u64,
    terraform_version: &'t str,
    serial: u64,
    lineage: &'t str,
    outputs: BTreeMap<&'t str, Version4Output<'t>>,
    resources: Vec<Version4Resource>,
}

#[derive(Serialize)]
struct Version4Output<'t> {
    value: &'t RawValue,
    #[serde(rename = "type")]
    ty: Value,
    sensitive: bool,
}

#[derive(Serialize)]
struct Version4Resource {
    module: String,
    mode: &'static str,
    #[serde(rename = "type")]
    kind: String,
    name: String,
    provider: String,
    instances: Vec<Version4Object>,
}

#[derive(Serialize)]
struct Version4Object {
    index_key: Option<i64>,
    status: &'static str,
    deposed: String,
    schema_version: u64,
    attributes_flat: BTreeMap<String, String>,
    private: String,
}

/// Translates a file of version 3 to version 4.
///
/// # Errors
/// When a part of the file has an invalid format.
pub(super) fn upgrade_from_version_3(text: &[u8]) -> Result<Vec<u8>, FileError> {
    let old: Version3File<'_> = parse_json_object(text).map_err(|error| FileError::Invalid {
        summary: messages::INVALID_STATE_FILE_FORMAT,
        detail: format!("The content does not have the expected form: {error}"),
        line: Some(error.line()),
    })?;
    translate_file(&old).map_err(|reason| FileError::Invalid {
        summary: messages::STATE_FORMAT_UPGRADE_FAILED,
        detail: format!("Error upgrading state file format from version 3 to version 4: {reason}."),
        line: None,
    })
}

fn translate_file(old: &Version3File<'_>) -> Result<Vec<u8>, String> {
    let Ok(serial) = u64::try_from(old.serial) else {
        return Err("state has serial less than zero, which is invalid".into());
    };
    let mut new = Version4File {
        version: 4,
        terraform_version: match &*old.terraform_version {
            "" => UNKNOWN_TERRAFORM_VERSION,
            version => version,
        },
        serial,
        lineage: &old.lineage,
        outputs: BTreeMap::new(),
        resources: Vec::new(),
    };
    for module in &old.modules {
        let Some(("root", calls)) = module.path.split_first().map(|(root, calls)| (&**root, calls))
        else {
            return Err(format!("state contains invalid module path {:?}", module.path));
        };
        new.resources.extend(translate_resources(calls, &module.resources)?);
        // Terraform 0.11 keeps the outputs of called modules, too. They are evaluated again.
        if calls.is_empty() {
            for (name, output) in &module.outputs {
                let value = output.value.unwrap_or(RawValue::NULL);
                let ty =
                    output_type(value).map_err(|reason| format!("output {name:?}: {reason}"))?;
                new.outputs.insert(name, Version4Output { value, ty, sensitive: output.sensitive });
            }
        }
    }
    serde_json::to_vec(&new).map_err(|error| error.to_string())
}

/// The resources of a module, grouped from its instances.
fn translate_resources(
    calls: &[String],
    instances: &BTreeMap<String, Version3Instance>,
) -> Result<Vec<Version4Resource>, String> {
    let steps: Vec<String> = calls.iter().map(|name| format!("module.{name}")).collect();
    let module = steps.join(".");
    let mut translated: BTreeMap<(&str, String, String), Version4Resource> = BTreeMap::new();
    for (text, old) in instances {
        let Version3Address { mode, kind, name, index } = Version3Address::read(text)?;
        let key = (mode, kind.to_owned(), name.to_owned());
        let resource = match translated.entry(key) {
            std::collections::btree_map::Entry::Occupied(entry) => entry.into_mut(),
            std::collections::btree_map::Entry::Vacant(entry) => entry.insert(Version4Resource {
                module: module.clone(),
                mode,
                kind: kind.to_owned(),
                name: name.to_owned(),
                // Each instance may name another one. That of the first instance is used, as in Terraform.
                provider: translate_provider(&module, kind, &old.provider)
                    .map_err(|reason| format!("{reason} for {text}"))?,
                instances: Vec::new(),
            }),
        };
        // Deposed objects may have no current object, if the creation of their successor failed.
        let primary = old.primary.iter().map(|object| (String::new(), object));
        // Keys of deposed objects are new in version 4.
        let deposed = old.deposed.iter().zip(1..).map(|(object, n)| (format!("{n:08x}"), object));
        for (deposed, old) in primary.chain(deposed) {
            let object = translate_object(old)
                .map_err(|reason| format!("failed to migrate {text}: {reason}"))?;
            resource.instances.push(Version4Object { index_key: index, deposed, ..object });
        }
    }
    Ok(translated.into_values().collect())
}

/// The address of an instance in its module.
struct Version3Address<'t> {
    mode: &'static str,
    kind: &'t str,
    name: &'t str,
    index: Option<i64>,
}

impl<'t> Version3Address<'t> {
    fn read(text: &'t str) -> Result<Self, String> {
        let wrong = || format!("invalid internal resource address format: {text}");
        let parts: Vec<&str> = text.split('.').collect();
        let (mode, parts) = match &*parts {
            ["data", rest @ ..] if rest.len() > 1 => ("data", rest),
            parts => ("managed", parts),
        };
        let (kind, name, index) = match *parts {
            [kind, name] => (kind, name, None),
            [kind, name, index] => (kind, name, Some(index)),
            _ => return Err(wrong()),
        };
        let index = index.map(|index| {
            index
                .parse()
                .map_err(|error| format!("error parsing resource address {text:?}: {error}"))
        });
        Ok(Self { mode, kind, name, index: index.transpose()? })
    }
}

/// The address of a provider configuration, as states of version 4 have it from before Terraform 0.13.
fn translate_provider(module: &str, kind: &str, old: &str) -> Result<String, String> {
    if old.contains("${") {
        return Err(format!(
            "invalid provider config reference {old:?}: the alias seems to be a template, which Terraform 0.11 did not evaluate. Rename the alias and apply that with Terraform 0.11 first. That reference is used"
        ));
    }
    // Later releases of Terraform 0.11 name the module, too.
    if old.contains("provider.") {
        return Ok(old.to_owned());
    }
    let implied = || kind.split('_').next().unwrap_or(kind);
    let config = if old.is_empty() { implied() } else { old };
    let dot = if module.is_empty() { "" } else { "." };
    Ok(format!("{module}{dot}provider.{config}"))
}

fn translate_object(old: &Version3Object) -> Result<Version4Object, String> {
    let text =
        |(path, text): (&String, &Option<String>)| (path.clone(), text.clone().unwrap_or_default());
    let mut attributes_flat: BTreeMap<_, _> = old.attributes.iter().map(text).collect();
    // Written by hand, an object may have only the first of the two.
    if !old.id.is_empty() && attributes_flat.get("id").is_none_or(String::is_empty) {
        attributes_flat.insert("id".into(), old.id.clone());
    }
    let mut meta = old.meta.clone();
    // The SDK of that time stored the schema version in the private data.
    let schema_version = match meta.get("schema_version") {
        Some(Value::String(text)) => text.parse().ok(),
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
        Some(Value::Number(number)) => number.as_f64().map(|number| number as u64),
        _ => None,
    };
    if schema_version.is_some() {
        meta.remove("schema_version");
    }
    let private = if meta.is_empty() {
        Vec::new()
    } else {
        let text = serde_json::to_string(&meta).map_err(|error| error.to_string())?;
        json::compact_json(&text)
            .map_err(|json::NestedTooDeep| "its \"meta\" is nested too deep".to_owned())?
    };
    Ok(Version4Object {
        index_key: None,
        status: if old.tainted { "tainted" } else { "" },
        deposed: String::new(),
        schema_version: schema_version.unwrap_or_default(),
        attributes_flat,
        private: BASE64_STANDARD.encode(private),
    })
}

/// The type of an output. The type in the file contains no more information than the value.
fn output_type(value: &RawValue) -> Result<Value, String> {
    let value = serde_json::from_str(value.get()).map_err(|error| error.to_string())?;
    Ok(as_collection_type(&implied_type(&value), &value))
}

fn implied_type(value: &Value) -> Value {
    match value {
        Value::Null => document!("dynamic"),
        Value::Bool(_) => document!("bool"),
        Value::Number(_) => document!("number"),
        Value::String(_) => document!("string"),
        Value::Array(items) => {
            document!(["tuple", items.iter().map(implied_type).collect::<Vec<_>>()])
        }
        Value::Object(members) => {
            let types = members.iter().map(|(name, value)| (name.clone(), implied_type(value)));
            document!(["object", types.collect::<serde_json::Map<_, _>>()])
        }
    }
}

/// The type as a list or map if all elements have one type: Terraform 0.11 had no other types.
fn as_collection_type(ty: &Value, value: &Value) -> Value {
    // Types of nested tuples are not changed: Terraform compares the elements before it simplifies them.
    let (kind, elements): (_, Vec<&Value>) = match value {
        Value::Array(items) => ("list", items.iter().collect()),
        Value::Object(members) => ("map", members.values().collect()),
        _ => return ty.clone(),
    };
    let Some((first, rest)) = elements.split_first() else { return ty.clone() };
    let element = implied_type(first);
    if rest.iter().any(|other| implied_type(other) != element) {
        return ty.clone();
    }
    document!([kind, as_collection_type(&element, first)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::file::StateFile;

    const VERSION_3_STATE: &[u8] = include_bytes!("golden/version3.json");

    /// A file with these resources.
    fn version_3_file(resources: &str) -> String {
        format!(
            r#"{{"version": 3, "modules": [{{"path": ["root"], "resources": {{{resources}}}}}]}}"#
        )
    }

    fn upgrade_error(text: &str) -> String {
        StateFile::parse(text.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn resources_outputs_and_private_data_are_translated() {
        let read = StateFile::parse(VERSION_3_STATE).unwrap();
        assert_eq!(StateFile::read_header(VERSION_3_STATE).unwrap().serial, 4);
        assert_eq!(StateFile::read_providers(VERSION_3_STATE).unwrap().len(), 1);
        let written = std::str::from_utf8(include_bytes!("golden/version3.tfstate")).unwrap();
        assert_eq!(std::str::from_utf8(&read.to_bytes()).unwrap(), written);
        // The flat form is not changed afterwards.
        assert_eq!(StateFile::parse(&read.to_bytes()).unwrap().state, read.state);
    }

    #[test]
    fn invalid_parts_are_named() {
        let table = [
            (r#"{"version": 3, "serial": -1}"#.to_owned(), "serial less than zero"),
            (r#"{"version": 3, "modules": [{"path": ["m"]}]}"#.to_owned(), r#"path ["m"]"#),
            (r#"{"version": 3, "modules": [{"path": []}]}"#.to_owned(), "path []"),
            (r#"{"version": 3, "modules": 1}"#.to_owned(), "line 1: The content does not have"),
            (version_3_file(r#""a": {}"#), "address format: a"),
            (version_3_file(r#""data.a.b.0.c": {}"#), "address format: data.a.b.0.c"),
            (version_3_file(r#""a.b.x": {}"#), r#"resource address "a.b.x": invalid digit"#),
            (version_3_file(r#""a.b": {"provider": "a.${b}"}"#), "Rename the alias"),
            (
                version_3_file(r#""a.b": {"provider": "a.b.c", "primary": {}}"#),
                "provider configuration",
            ),
            (version_3_file(r#""a.\u001b[1m": {"primary": {}}"#), "resource name"),
            (version_3_file(r#""a.b.-1": {"primary": {}}"#), "instance key -1"),
        ];
        for (text, expected) in table {
            let message = upgrade_error(&text);
            assert!(message.contains(expected), "{text}: {message}");
        }
    }

    #[test]
    fn an_output_is_a_collection_if_its_elements_have_one_type() {
        let ty = |text: &str| {
            let value = RawValue::from_string(text.to_owned()).unwrap();
            output_type(&value).unwrap().to_string()
        };
        assert_eq!(ty("1"), r#""number""#);
        assert_eq!(ty("null"), r#""dynamic""#);
        assert_eq!(ty("[]"), r#"["tuple",[]]"#);
        assert_eq!(ty(r#"[["a"],["b"]]"#), r#"["list",["list","string"]]"#);
        assert_eq!(
            ty(r#"[["a"],["b","c"]]"#),
            r#"["tuple",[["tuple",["string"]],["tuple",["string","string"]]]]"#
        );
        assert_eq!(ty(r#"{"a":true}"#), r#"["map","bool"]"#);
    }
}
