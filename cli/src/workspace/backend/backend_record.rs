//! The record of the initialized backend: `terraform.tfstate` in the data directory. Formwork and Terraform
//! use the same format, so each can use a backend that the other one initialized.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use formwork_backend::kind::BackendKind as _;
use formwork_backend::kinds::find_backend_kind;
use formwork_core::config::StateBackendBlock as Block;
use formwork_core::disk::{MAX_SMALL_FILE_LEN, parse_json_object};
use formwork_core::version::LANGUAGE_VERSION;
use formwork_value::codec::json;
use formwork_value::schema::Block as Schema;
use formwork_value::{Str, Value};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::config::{BackendConfig, StateStoreConfig};
use crate::data_dir::DataDir;

/// The name of the file in the data directory.
pub(super) const RECORD_FILE_NAME: &str = "terraform.tfstate";

/// The format version of the file, that of old state files.
const FORMAT_VERSION: u64 = 3;

/// The document of the file.
#[derive(Serialize, Deserialize)]
struct RecordDocument {
    version: u64,
    /// OpenTofu does not write a version.
    #[serde(default)]
    terraform_version: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    backend: Option<InitializedBackend>,
    /// A state store of a provider, as Terraform 1.15 writes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    state_store: Option<InitializedBackend>,
}

/// The initialized backend.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct InitializedBackend {
    /// The type of the backend.
    #[serde(rename = "type")]
    pub(crate) kind: String,
    /// The provider, if the backend is a state store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) provider: Option<InitializedStoreProvider>,
    pub(super) config: Box<RawValue>,
    /// The hash of the block, which shows whether it has changed. The recorded arguments can include options
    /// of `init`.
    pub(super) hash: u64,
    /// The source of the program of the provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) provider_supply_mode: Option<String>,
}

/// The provider of an initialized state store.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct InitializedStoreProvider {
    /// The version, if the provider was installed.
    version: Option<String>,
    /// The provider address.
    pub(crate) source: String,
    config: Box<RawValue>,
}

/// Decodes the values of arguments. `None` if the schema does not contain one of them.
fn decode_values(text: &RawValue, schema: &Schema) -> Option<Value> {
    let plain = json::decode_untyped(text.get().as_bytes()).ok()?;
    // A different version may have written arguments that are unknown here. They must not be set.
    let Value::Object(object) = &plain else { return None };
    let is_known = |name: &Str| {
        schema.attributes.contains_key(name.as_str()) || schema.blocks.contains_key(name.as_str())
    };
    if object.iter().any(|(name, value)| !is_known(name) && !value.is_null()) {
        return None;
    }
    let known_values = object.iter().filter(|(name, _)| is_known(name));
    let known_values: Vec<(Str, Value)> =
        known_values.map(|(name, value)| (name.clone(), value.clone())).collect();
    schema.coerce(&Value::object(known_values)).ok()
}

fn encode_values(values: &Value) -> io::Result<Box<RawValue>> {
    Ok(RawValue::from_string(json::encode_untyped(values).map_err(io::Error::other)?)?)
}

impl InitializedBackend {
    pub(super) fn path(data: &DataDir) -> PathBuf {
        data.path().join(RECORD_FILE_NAME)
    }

    /// Reads the record in a data directory.
    pub(super) fn load(data: &DataDir) -> io::Result<Option<Self>> {
        let text = data
            .open()?
            .map(|data| data.read(RECORD_FILE_NAME, MAX_SMALL_FILE_LEN))
            .transpose()?
            .flatten();
        text.map_or(Ok(None), |text| Self::parse(&text))
    }

    /// Parses a record. An empty file counts as missing.
    ///
    /// # Errors
    /// The document is not a valid record.
    pub(crate) fn parse(text: &[u8]) -> io::Result<Option<Self>> {
        if text.trim_ascii().is_empty() {
            return Ok(None);
        }
        let RecordDocument { backend, state_store, .. } = parse_json_object(text)?;
        match (backend, state_store) {
            (Some(_), Some(_)) => {
                Err(io::Error::other("it has both a \"backend\" and a \"state_store\""))
            }
            (None, Some(store)) if store.provider.is_none() => {
                Err(io::Error::other("its \"state_store\" has no provider"))
            }
            (backend, state_store) => Ok(backend.or(state_store)),
        }
    }

    /// Creates the record of a backend with its arguments.
    ///
    /// # Errors
    /// An argument cannot be encoded as JSON.
    pub(crate) fn for_config(config: &BackendConfig) -> io::Result<Self> {
        let provider = config.state_store().map(|StateStoreConfig { kind, origin }| {
            let (version, source) = (origin.version.clone(), kind.addr().to_string());
            Ok::<_, io::Error>(InitializedStoreProvider {
                version,
                source,
                config: encode_values(kind.config())?,
            })
        });
        Ok(Self {
            kind: config.kind().to_owned(),
            provider: provider.transpose()?,
            config: encode_values(config.values())?,
            hash: config.hash(),
            provider_supply_mode: config.state_store().map(|store| store.origin.supply.to_owned()),
        })
    }

    /// Whether the backend is supported.
    pub(crate) fn is_supported(&self) -> bool {
        self.provider.is_some() || find_backend_kind(&self.kind).is_some()
    }

    /// Whether the block has the same backend type and provider.
    pub(super) fn is_same_backend(&self, block: &Block) -> bool {
        let source = block.provider_of_state_store().map(ToString::to_string);
        self.kind == *block.kind
            && self.provider.as_ref().map(|provider| &provider.source) == source.as_ref()
    }

    /// Whether the record or the block is a state store, and they are not the same one.
    pub(super) fn is_other_store(&self, block: &Block) -> bool {
        (self.provider.is_some() || block.provider.is_some()) && !self.is_same_backend(block)
    }

    /// Describes the backend for messages.
    pub(crate) fn describe(&self) -> String {
        match &self.provider {
            None => format!("backend {:?}", self.kind),
            Some(provider) => {
                format!("state store {:?} of provider {}", self.kind, provider.source)
            }
        }
    }

    /// Returns the built-in backend with its arguments. `None` if the backend or one of its recorded arguments
    /// is not supported.
    pub(super) fn builtin_backend_config(&self) -> Option<BackendConfig> {
        if self.provider.is_some() {
            return None;
        }
        let kind = find_backend_kind(&self.kind)?;
        Some(BackendConfig::of_builtin(kind, decode_values(&self.config, &kind.schema())?))
    }

    /// Returns the state store of a running provider with its arguments. `None` if the record is for a
    /// different store, or contains arguments that the provider does not support.
    pub(super) fn state_store_config(&self, store: &StateStoreConfig) -> Option<BackendConfig> {
        let provider = self.provider.as_ref()?;
        if self.kind != store.kind.name() || provider.source != store.kind.addr().to_string() {
            return None;
        }
        let config = decode_values(&provider.config, store.kind.config_schema())?;
        let values = decode_values(&self.config, &store.kind.schema())?;
        let kind = Arc::new(store.kind.with_provider_config(config));
        let store = StateStoreConfig { kind, origin: store.origin.clone() };
        Some(BackendConfig::of_provider(store, values, None))
    }

    /// Returns the recorded configuration for a block, if the block has not changed.
    pub(super) fn config_if_unchanged(&self, block: &BackendConfig) -> Option<BackendConfig> {
        let config = match block.state_store() {
            Some(store) => self.state_store_config(store),
            None => self.builtin_backend_config().filter(|config| config.kind() == block.kind()),
        };
        config.filter(|config| self.hash == block.hash() || config == block)
    }
}

/// Writes the record of a block with its initialized configuration.
pub(super) fn write_record(
    data: &DataDir,
    block: &BackendConfig,
    config: &BackendConfig,
) -> io::Result<()> {
    let merged_and_block =
        InitializedBackend { hash: block.hash(), ..InitializedBackend::for_config(config)? };
    let (backend, state_store) = if config.state_store().is_some() {
        (None, Some(merged_and_block))
    } else {
        (Some(merged_and_block), None)
    };
    let document = RecordDocument {
        version: FORMAT_VERSION,
        terraform_version: LANGUAGE_VERSION.to_string(),
        backend,
        state_store,
    };
    // The document is first converted to a value, so that the arguments are formatted like the rest.
    let document = serde_json::to_value(&document)?;
    data.open_or_create()?.replace(RECORD_FILE_NAME, &serde_json::to_vec_pretty(&document)?, 0o600)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The file that Terraform 1.15 writes for a state store.
    const STORE: &str = r#"{
        "version": 3, "terraform_version": "1.15.0",
        "state_store": {
            "type": "acme_store",
            "provider": {
                "version": "1.2.3", "source": "registry.terraform.io/acme/acme",
                "config": { "region": null }
            },
            "config": { "directory": "f" }, "hash": 12, "provider_supply_mode": "managed_by_terraform"
        }
    }"#;

    #[test]
    fn a_state_store_is_read_from_the_file_of_terraform() {
        let store = InitializedBackend::parse(STORE.as_bytes()).unwrap().unwrap();
        assert!(store.is_supported() && store.builtin_backend_config().is_none());
        let described = "state store \"acme_store\" of provider registry.terraform.io/acme/acme";
        assert_eq!(store.describe(), described);
        // A saved plan contains only the record.
        let text = serde_json::to_string(&store).unwrap();
        let reparsed: InitializedBackend = serde_json::from_str(&text).unwrap();
        assert_eq!((reparsed.describe(), reparsed.hash), (store.describe(), 12));
    }

    #[test]
    fn a_file_with_two_locations_or_a_store_without_provider_is_refused() {
        let store_and_backend = STORE.replace(
            "\"state_store\"",
            "\"backend\": {\"type\": \"local\", \"config\": {}, \"hash\": 1}, \"state_store\"",
        );
        let bare = r#"{"version":3,"state_store":{"type":"x","config":{},"hash":1}}"#;
        for (text, expected) in
            [(store_and_backend.as_str(), "has both"), (bare, "has no provider")]
        {
            let error = InitializedBackend::parse(text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
