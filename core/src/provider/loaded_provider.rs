//! Schemas and capabilities of a provider. They are requested once. Data derived from a schema is
//! computed on first use.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use formwork_plugin_protocol::Payload;
use formwork_plugin_protocol::contract::TypeSchemas;
use formwork_plugin_protocol::message::schema::{IdentitySchema, IdentitySchemas, ProviderSchema};
use formwork_value::codec::json;
use formwork_value::schema::Block;
use formwork_value::{Path, Schema, Secrets, Type, Value};

use super::identity_type::IdentityType;
use crate::addr::{ProviderAddr, ResourceMode};
use crate::change::ImportKey;
use crate::state::{ObjectState, StoredIdentity};

/// A schema with its derived data.
#[derive(Debug)]
pub struct ResourceType {
    /// The resource mode.
    pub mode: ResourceMode,
    /// The type name.
    pub name: String,
    /// The schema.
    pub schema: Schema,
    /// The type of its values.
    pub ty: Type,
    /// Whether any attribute is sensitive.
    pub has_sensitive: bool,
    /// The identity schema, if its objects have identities.
    pub identity: Option<IdentityType>,
}

impl ResourceType {
    /// Adds the paths that are marked as sensitive in an object, and those that are sensitive in the
    /// schema.
    pub(crate) fn add_secrets(&self, secrets: &Secrets, value: &Value) {
        secrets.add_marked_values(value);
        if self.has_sensitive {
            let (plain, _) = value.clone().split_marks();
            secrets.add_values_at_paths(
                plain.value(),
                &self.schema_block().sensitive_paths(plain.value()),
            );
        }
    }

    /// Returns the content of the schema.
    #[must_use]
    pub fn schema_block(&self) -> &Block {
        &self.schema.block
    }

    /// Returns the schemas against which responses about its objects are checked.
    #[must_use]
    pub fn contract_schemas(&self) -> TypeSchemas<'_> {
        let identity = self.identity.as_ref().map(|identity| &identity.ty);
        TypeSchemas { object: self.schema_block(), identity }
    }

    /// Returns a stored identity for a call about its object, or `None` if it has another version.
    #[must_use]
    pub(crate) fn identity_payload(&self, identity: &StoredIdentity) -> Option<Payload> {
        let form = self.identity.as_ref().filter(|form| form.version == identity.version)?;
        let value = json::decode(&identity.json, &form.ty).ok()?;
        Some(Payload::Value(value.split_marks().0, form.ty.clone()))
    }

    /// Returns the identity of an object in the state, for a call about it.
    #[must_use]
    pub(crate) fn encode_identity(&self, object: &ObjectState) -> Option<Payload> {
        self.identity_payload(object.identity.as_ref()?)
    }

    /// Returns the import key of an object with this planned value: its identity, or an `id` that is
    /// already known.
    #[must_use]
    pub(crate) fn predict_import_key(&self, planned: &Value) -> Option<ImportKey> {
        let identity = self.identity.as_ref().and_then(|form| form.predict_identity(planned));
        if let Some(identity) = identity {
            return Some(ImportKey::Identity(identity));
        }
        match Path::root().attribute("id").find(planned)? {
            Value::String(id) if !id.is_empty() => Some(ImportKey::Id(id.clone())),
            _ => None,
        }
    }
}

/// Schemas and capabilities of a provider, with derived data that is computed on first use.
#[derive(Debug)]
pub struct LoadedProvider {
    addr: ProviderAddr,
    schema: ProviderSchema,
    identities: IdentitySchemas,
    config: Rc<ResourceType>,
    resources: BTreeMap<String, OnceCell<Rc<ResourceType>>>,
    data_sources: BTreeMap<String, OnceCell<Rc<ResourceType>>>,
    ephemeral: BTreeMap<String, OnceCell<Rc<ResourceType>>>,
}

impl LoadedProvider {
    pub(super) fn new(
        addr: ProviderAddr,
        schema: ProviderSchema,
        identities: IdentitySchemas,
    ) -> Self {
        let cells = |names: &BTreeMap<String, Schema>| {
            names.keys().map(|n| (n.clone(), OnceCell::new())).collect()
        };
        Self {
            config: Rc::new(prepare_resource_type(
                ResourceMode::Managed,
                "",
                &schema.provider,
                None,
            )),
            resources: cells(&schema.resources),
            data_sources: cells(&schema.data_sources),
            ephemeral: cells(&schema.ephemeral_resources),
            addr,
            schema,
            identities,
        }
    }

    /// Returns the provider address.
    #[must_use]
    pub fn provider_addr(&self) -> &ProviderAddr {
        &self.addr
    }

    /// Returns the complete provider schema.
    #[must_use]
    pub fn provider_schema(&self) -> &ProviderSchema {
        &self.schema
    }

    /// Returns the identity schemas of the resource types.
    #[must_use]
    pub fn identity_schemas(&self) -> &IdentitySchemas {
        &self.identities
    }

    /// Returns the schema of the provider configuration.
    #[must_use]
    pub fn config_type(&self) -> &Rc<ResourceType> {
        &self.config
    }

    /// Returns a resource type, data source or ephemeral resource by name, or `None` if it does not
    /// exist.
    #[must_use]
    pub fn find_resource_type(&self, mode: ResourceMode, name: &str) -> Option<Rc<ResourceType>> {
        let (cells, schemas) = match mode {
            ResourceMode::Managed => (&self.resources, &self.schema.resources),
            ResourceMode::Data => (&self.data_sources, &self.schema.data_sources),
            ResourceMode::Ephemeral => (&self.ephemeral, &self.schema.ephemeral_resources),
        };
        let schema = schemas.get(name)?;
        // A data source often has the name of a resource type, but only managed objects have
        // identities.
        let identity = self.identities.schemas.get(name).filter(|_| mode == ResourceMode::Managed);
        let prepare = || Rc::new(prepare_resource_type(mode, name, schema, identity));
        Some(cells.get(name)?.get_or_init(prepare).clone())
    }
}

fn prepare_resource_type(
    mode: ResourceMode,
    name: &str,
    schema: &Schema,
    identity: Option<&IdentitySchema>,
) -> ResourceType {
    // Only managed objects outlive a run, so as in Terraform only their schemas have a version.
    let version = if mode == ResourceMode::Managed { schema.version } else { 0 };
    ResourceType {
        mode,
        name: name.to_owned(),
        ty: schema.block.implied_type(),
        has_sensitive: schema.block.has_attribute_where(&|attribute| attribute.sensitive),
        schema: Schema { version, ..schema.clone() },
        identity: identity.map(IdentityType::from_schema),
    }
}
