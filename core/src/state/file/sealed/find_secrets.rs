//! Finds the values of a state file that must not be readable: those that `sensitive_attributes` leads to,
//! sensitive outputs, private bytes of providers, and copies of them elsewhere. Needs no schema.

use std::borrow::Cow;
use std::collections::BTreeMap;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use formwork_value::{Marks, Secrets, Value};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::visit_scalars::visit_scalars;
use super::{SealError, not_a_state_error, paths, position_in_text};
use crate::disk::parse_json_object;
use crate::messages;
use crate::state::file::layout::StepJson;
use crate::state::file::{FileError, json};

/// The fewest bytes of a string whose copies are secrets. Shorter ones occur in any text.
const MIN_COPIED_SECRET_LEN: usize = 6;

/// The private bytes that the SDKs store without a secret: the schema version and the timeouts.
const HARMLESS_PRIVATE_KEYS: [&str; 2] = ["schema_version", "e2bfb730-ecaa-11e6-8f88-34363bc7c4c0"];

/// The parts of a state file that are sealed, and the names of the objects that contain them.
#[derive(Deserialize)]
pub(super) struct FileJson<'t> {
    #[serde(default, borrow)]
    pub(super) encryption_version: Option<&'t RawValue>,
    #[serde(default)]
    pub(super) lineage: String,
    #[serde(default)]
    pub(super) recipients: Vec<String>,
    #[serde(default, borrow)]
    outputs: BTreeMap<String, OutputJson<'t>>,
    #[serde(default, borrow)]
    resources: Vec<ResourceJson<'t>>,
    /// The messages of failed checks may contain copies of secrets.
    #[serde(default, borrow)]
    check_results: Option<&'t RawValue>,
}

#[derive(Deserialize)]
struct OutputJson<'t> {
    #[serde(borrow)]
    value: &'t RawValue,
    #[serde(borrow, rename = "type")]
    ty: &'t RawValue,
    #[serde(default)]
    sensitive: bool,
}

#[derive(Deserialize)]
struct ResourceJson<'t> {
    #[serde(default)]
    module: String,
    mode: String,
    #[serde(rename = "type")]
    kind: String,
    name: String,
    #[serde(default, borrow)]
    instances: Vec<InstanceJson<'t>>,
}

#[derive(Deserialize)]
pub(super) struct InstanceJson<'t> {
    #[serde(default)]
    index_key: Option<serde_json::Value>,
    #[serde(default)]
    deposed: String,
    #[serde(default, borrow)]
    pub(super) attributes: Option<&'t RawValue>,
    #[serde(default, borrow)]
    attributes_flat: Option<&'t RawValue>,
    #[serde(default, borrow, deserialize_with = "deserialize_null_as_raw")]
    pub(super) sensitive_attributes: Option<&'t RawValue>,
    #[serde(default, borrow)]
    private: Option<&'t RawValue>,
    #[serde(default, borrow)]
    identity: Option<&'t RawValue>,
}

/// Reads a member that is null like any other, so that it has a position.
fn deserialize_null_as_raw<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(from).map(Some)
}

/// A value that must not be readable.
pub(super) struct SecretValue<'t> {
    /// The address of its object or output.
    pub(super) address: String,
    /// The JSON pointer in the attributes, or the name of another member.
    pub(super) path: String,
    /// The value in the text of the file.
    pub(super) text: &'t str,
    pub(super) kind: SecretKind<'t>,
    /// Whether the file marks it as sensitive. Other secrets are copies of those.
    pub(super) listed: bool,
}

/// The kind of a secret.
#[derive(Clone, Copy)]
pub(super) enum SecretKind<'t> {
    /// A part of an object.
    ObjectPart,
    /// The value of an output, with its type.
    Output(&'t str),
}

impl<'t> FileJson<'t> {
    pub(super) fn parse(text: &'t str) -> Result<Self, SealError> {
        let file: Self = parse_json_object(text.as_bytes()).map_err(|error| {
            SealError::File(FileError::Invalid {
                summary: messages::INVALID_STATE_FILE_FORMAT,
                detail: format!("The content does not have the expected form: {error}"),
                line: Some(error.line()),
            })
        })?;
        file.check_nesting()?;
        Ok(file)
    }

    /// Checks that all parts can be searched: the search calls itself for each level.
    fn check_nesting(&self) -> Result<(), SealError> {
        let fail = |subject: &str| Err(not_a_state_error(&format!("{subject} is nested too deep")));
        let is_too_deep = |text: &RawValue| json::is_too_deep(text.get());
        for (name, output) in &self.outputs {
            if is_too_deep(output.value) || is_too_deep(output.ty) {
                return fail(&format!("output.{name}"));
            }
        }
        for (address, instance) in self.all_instances() {
            let parts = [instance.attributes, instance.attributes_flat, instance.identity];
            if parts.into_iter().flatten().any(is_too_deep) {
                return fail(&address);
            }
        }
        if self.check_results.is_some_and(is_too_deep) {
            return fail("check_results");
        }
        Ok(())
    }
}

impl<'t> SecretValue<'t> {
    /// A part of an object that the file does not mark.
    fn of_unmarked_copy(address: &str, path: String, text: &'t str) -> Self {
        let (address, kind) = (address.to_owned(), SecretKind::ObjectPart);
        Self { address, path, text, kind, listed: false }
    }

    /// The position, for messages.
    pub(super) fn describe_location(&self) -> String {
        format_span(&self.address, &self.path)
    }
}

/// Formats a position for messages.
pub(super) fn format_span(address: &str, path: &str) -> String {
    format!("{address}{}{path}", if path.starts_with('/') || path.is_empty() { "" } else { " " })
}

/// The values that the file marks as sensitive, and the private data.
///
/// # Errors
/// When a part of the file has an invalid format.
pub(super) fn marked_secrets<'t>(file: &FileJson<'t>) -> Result<Vec<SecretValue<'t>>, SealError> {
    let mut secrets = Vec::new();
    for (name, output) in file.outputs.iter().filter(|(_, output)| output.sensitive) {
        secrets.push(output.output_secret(name, true));
    }
    for (address, instance) in file.all_instances() {
        for (path, text) in instance.marked_parts(&address)? {
            let (address, kind) = (address.clone(), SecretKind::ObjectPart);
            secrets.push(SecretValue { address, path, text, kind, listed: true });
        }
        let private =
            instance.private.map(RawValue::get).filter(|text| !is_harmless_private_data(text));
        secrets.extend(private.map(|text| {
            let (path, kind) = ("private".to_owned(), SecretKind::ObjectPart);
            SecretValue { address, path, text, kind, listed: true }
        }));
    }
    Ok(secrets)
}

/// The strings and numbers that are `wanted` outside of the listed values. An output is one value.
///
/// # Errors
/// When a part of the file has an invalid format.
pub(super) fn unmarked_values<'t>(
    file: &FileJson<'t>,
    wanted: &dyn Fn(&str) -> bool,
) -> Result<Vec<SecretValue<'t>>, SealError> {
    let mut secrets = Vec::new();
    for (name, output) in file.outputs.iter().filter(|(_, output)| !output.sensitive) {
        let mut has_one = output.ty.get() == "null";
        visit_scalars(output.value.get(), true, &mut |_, leaf| has_one |= wanted(leaf));
        secrets.extend(has_one.then(|| output.output_secret(name, false)));
    }
    for (address, instance) in file.all_instances() {
        let mut add = |prefix: &str, parts: Vec<(String, &'t str)>| {
            secrets.extend(parts.into_iter().map(|(pointer, text)| {
                SecretValue::of_unmarked_copy(&address, format!("{prefix}{pointer}"), text)
            }));
        };
        if let Some(attributes) = instance.attributes {
            add("", unmarked_parts(attributes.get(), &instance.marked_parts(&address)?, wanted));
        }
        let others =
            [("attributes_flat", instance.attributes_flat), ("identity", instance.identity)];
        for (name, text) in others {
            if let Some(text) = text {
                add(name, unmarked_parts(text.get(), &[], wanted));
            }
        }
    }
    if let Some(results) = file.check_results {
        let parts = unmarked_parts(results.get(), &[], wanted);
        let secret =
            |(pointer, text)| SecretValue::of_unmarked_copy("check_results", pointer, text);
        secrets.extend(parts.into_iter().map(secret));
    }
    Ok(secrets)
}

/// The strings and numbers of a part that are `wanted` outside of the `spared` ones, with their JSON pointers.
fn unmarked_parts<'t>(
    text: &'t str,
    spared: &[(String, &str)],
    wanted: &dyn Fn(&str) -> bool,
) -> Vec<(String, &'t str)> {
    let spared: Vec<_> = spared.iter().map(|(_, part)| position_in_text(text, part)).collect();
    let mut secret_parts = Vec::new();
    visit_scalars(text, false, &mut |path, leaf| {
        let at = position_in_text(text, leaf).start;
        // The listed parts are in the order of the text.
        let before = spared.partition_point(|part| part.end <= at);
        if !spared.get(before).is_some_and(|part| part.contains(&at)) && wanted(leaf) {
            secret_parts.push((path.json_pointer(), leaf));
        }
    });
    secret_parts
}

/// The strings and numbers of values, to find copies of them in others.
pub(super) fn secret_contents(values: &[SecretValue<'_>]) -> Secrets {
    let secrets = Secrets::default();
    for value in values.iter().filter(|value| value.path != "private") {
        visit_scalars(value.text, true, &mut |_, leaf| {
            let content = scalar_content(leaf);
            if content.len() < MIN_COPIED_SECRET_LEN {
                return;
            }
            let encoded = BASE64_STANDARD.encode(content.as_bytes());
            for form in [&*content, encoded.trim_end_matches('=')] {
                secrets.add_marked_values(&Value::string(form).mark(Marks::SENSITIVE));
            }
        });
    }
    secrets
}

/// The content of a string, or the digits of a number.
pub(super) fn scalar_content(leaf: &str) -> Cow<'_, str> {
    match leaf.starts_with('"') {
        true => serde_json::from_str::<String>(leaf).map_or(Cow::Borrowed(leaf), Cow::Owned),
        false => Cow::Borrowed(leaf),
    }
}

impl<'t> OutputJson<'t> {
    fn output_secret(&self, name: &str, listed: bool) -> SecretValue<'t> {
        let (address, path) = (format!("output.{name}"), "value".to_owned());
        let (text, kind) = (self.value.get(), SecretKind::Output(self.ty.get()));
        SecretValue { address, path, text, kind, listed }
    }
}

impl<'t> FileJson<'t> {
    /// The objects with their addresses.
    pub(super) fn all_instances(&self) -> impl Iterator<Item = (String, &InstanceJson<'t>)> {
        self.resources.iter().flat_map(|resource| {
            resource
                .instances
                .iter()
                .map(|instance| (resource.instance_address(instance), instance))
        })
    }
}

impl<'t> InstanceJson<'t> {
    /// The parts of the attributes that `sensitive_attributes` leads to, with their JSON pointers.
    fn marked_parts(&self, address: &str) -> Result<Vec<(String, &'t str)>, SealError> {
        let Some(attributes) = self.attributes.map(RawValue::get) else { return Ok(Vec::new()) };
        let paths = self.sensitive_attributes.map_or("null", RawValue::get);
        let paths = serde_json::from_str::<Option<Vec<Vec<StepJson>>>>(paths).ok();
        let parts = paths
            .and_then(|paths| paths::find_sensitive_parts(attributes, &paths.unwrap_or_default()));
        parts.ok_or_else(|| {
            not_a_state_error(&format!("{address} has an invalid path in \"sensitive_attributes\""))
        })
    }
}

impl ResourceJson<'_> {
    fn instance_address(&self, instance: &InstanceJson<'_>) -> String {
        let Self { module, mode, kind, name, .. } = self;
        let dot = if module.is_empty() { "" } else { "." };
        let data = if mode == "data" { "data." } else { "" };
        let key = instance.index_key.as_ref().filter(|key| !key.is_null());
        let key = key.map(|key| format!("[{key}]")).unwrap_or_default();
        let deposed = match instance.deposed.as_str() {
            "" => String::new(),
            key => format!(" (deposed object {key})"),
        };
        format!("{module}{dot}{data}{kind}.{name}{key}{deposed}")
    }
}

/// Whether private bytes, as JSON, are none or only those that SDKs store without a secret.
fn is_harmless_private_data(text: &str) -> bool {
    let Ok(Some(text)) = serde_json::from_str::<Option<Cow<'_, str>>>(text) else {
        return text == "null";
    };
    let Ok(bytes) = BASE64_STANDARD.decode(&*text) else { return false };
    let is_known = |name: &String| HARMLESS_PRIVATE_KEYS.contains(&name.as_str());
    match serde_json::from_slice(&bytes) {
        Ok(serde_json::Value::Null) => true,
        Ok(serde_json::Value::Object(object)) => object.keys().all(is_known),
        _ => bytes.is_empty(),
    }
}
