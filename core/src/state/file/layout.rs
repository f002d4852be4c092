//! Layout of the members of the state file, as far as they are read. Members not named here are
//! passed over.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::disk::deserialize_objects;

#[derive(Deserialize)]
pub(super) struct FileJson<'t> {
    pub(super) version: u64,
    #[serde(default, deserialize_with = "null_as_default")]
    pub(super) terraform_version: String,
    #[serde(default, deserialize_with = "null_as_default")]
    pub(super) serial: u64,
    #[serde(default, deserialize_with = "null_as_default")]
    pub(super) lineage: String,
    #[serde(default, borrow, deserialize_with = "null_as_default")]
    pub(super) outputs: BTreeMap<String, OutputJson<'t>>,
    #[serde(default, borrow, deserialize_with = "deserialize_objects")]
    pub(super) resources: Vec<ResourceJson<'t>>,
    #[serde(default, borrow)]
    pub(super) check_results: Option<&'t RawValue>,
}

#[derive(Deserialize)]
pub(super) struct HeaderJson {
    pub(super) version: u64,
    #[serde(default, deserialize_with = "null_as_default")]
    pub(super) serial: u64,
    #[serde(default, deserialize_with = "null_as_default")]
    pub(super) lineage: String,
}

/// Part of the file that names the providers of its objects.
#[derive(Deserialize)]
pub(super) struct ProvidersJson {
    #[serde(default, deserialize_with = "null_as_default")]
    pub(super) version: u64,
    #[serde(default, deserialize_with = "deserialize_objects")]
    pub(super) resources: Vec<ResourceProviderJson>,
}

#[derive(Deserialize)]
pub(super) struct ResourceProviderJson {
    #[serde(default, deserialize_with = "null_as_default")]
    pub(super) provider: String,
}

#[derive(Deserialize)]
pub(super) struct OutputJson<'t> {
    #[serde(borrow)]
    pub(super) value: &'t RawValue,
    #[serde(borrow, rename = "type")]
    pub(super) ty: &'t RawValue,
    #[serde(default, deserialize_with = "null_as_default")]
    pub(super) sensitive: bool,
}

#[derive(Deserialize)]
pub(super) struct ResourceJson<'t> {
    #[serde(default, deserialize_with = "null_as_default")]
    pub(super) module: String,
    #[serde(borrow)]
    pub(super) mode: Cow<'t, str>,
    #[serde(borrow, rename = "type")]
    pub(super) kind: Cow<'t, str>,
    #[serde(borrow)]
    pub(super) name: Cow<'t, str>,
    #[serde(default, deserialize_with = "null_as_default")]
    pub(super) provider: String,
    #[serde(default, borrow, deserialize_with = "deserialize_objects")]
    pub(super) instances: Vec<InstanceJson<'t>>,
}

#[derive(Deserialize)]
pub(super) struct InstanceJson<'t> {
    #[serde(default, borrow)]
    pub(super) index_key: Option<&'t RawValue>,
    #[serde(default, deserialize_with = "null_as_default")]
    pub(super) status: String,
    #[serde(default, deserialize_with = "null_as_default")]
    pub(super) deposed: String,
    #[serde(default, deserialize_with = "null_as_default")]
    pub(super) schema_version: u64,
    #[serde(default, borrow)]
    pub(super) attributes: Option<&'t RawValue>,
    #[serde(default, borrow)]
    pub(super) attributes_flat: Option<BTreeMap<Cow<'t, str>, Option<Cow<'t, str>>>>,
    #[serde(default, borrow)]
    pub(super) sensitive_attributes: Option<&'t RawValue>,
    #[serde(default, deserialize_with = "null_as_default")]
    pub(super) identity_schema_version: u64,
    #[serde(default, borrow)]
    pub(super) identity: Option<&'t RawValue>,
    #[serde(default, deserialize_with = "null_as_default")]
    pub(super) private: String,
    /// Read one list at a time: for deep graphs the lists are most of the file.
    #[serde(default, borrow)]
    pub(super) dependencies: Option<&'t RawValue>,
    #[serde(default, deserialize_with = "null_as_default")]
    pub(super) create_before_destroy: bool,
}

#[derive(Deserialize)]
pub(super) struct StepJson {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) value: serde_json::Value,
}

/// Reads null like an absent member, as Terraform does.
pub(super) fn null_as_default<'de, D, T>(from: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::deserialize(from)?.unwrap_or_default())
}
