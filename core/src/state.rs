//! The state: resources, their instances, their objects, and the root outputs.
//!
//! Attributes stay encoded until a caller decodes them with the provider schema. Reading and
//! writing the file is in `file`; the backends that store it are in a crate above this one.

mod attributes;
pub mod checks;
pub mod edit;
pub mod file;
pub mod intent_log;
pub mod journal;
pub mod merge;
pub mod operator;
pub mod recover;

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use formwork_value::codec::EncodeError;
use formwork_value::{Known, Path, Str, Type, Value};

pub use self::attributes::ObjectAttributes;

use crate::addr::{ConfigResourceAddr, DeposedKey, InstanceKey, ProviderConfigAddr, ResourceAddr};
use crate::small_map::SmallMap;

/// A whole state.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// Root output values.
    pub outputs: BTreeMap<Str, OutputValue>,
    /// Resources. Copies of a state share those that do not differ.
    pub resources: BTreeMap<ResourceAddr, Arc<ResourceState>>,
}

/// A stored output value.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputValue {
    /// The value.
    pub value: Known,
    /// Whether it must not be shown.
    pub sensitive: bool,
}

/// A resource in the state.
#[derive(Clone, Debug, PartialEq)]
pub struct ResourceState {
    /// The provider configuration that owns it.
    pub provider: ProviderConfigAddr,
    /// The instances of the resource; none is empty.
    pub instances: SmallMap<InstanceKey, InstanceState>,
}

/// An instance in the state: at least one object.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InstanceState {
    /// The object in use.
    pub current: Option<Arc<ObjectState>>,
    /// Replaced objects still to be destroyed.
    pub deposed: BTreeMap<DeposedKey, Arc<ObjectState>>,
}

/// A real object as stored.
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectState {
    /// Whether it may be used.
    pub status: ObjectStatus,
    /// Version of the schema the attributes follow.
    pub schema_version: u64,
    /// The attributes, encoded.
    pub attributes: ObjectAttributes,
    /// Paths that are sensitive by marks of the configuration.
    pub sensitive: Arc<Vec<Path>>,
    /// The provider's private bytes.
    pub private: Bytes,
    /// The resources that it depends on, transitively.
    pub dependencies: Arc<Vec<ConfigResourceAddr>>,
    /// Whether a replacement is created first.
    pub create_before_destroy: bool,
    /// Identity of the object.
    pub identity: Option<StoredIdentity>,
}

/// An identity as a state has it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StoredIdentity {
    /// Version of the schema that it follows.
    pub version: u64,
    /// The identity as JSON.
    pub json: Bytes,
}

/// Whether an object may be used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ObjectStatus {
    /// The object may be used.
    #[default]
    Ready,
    /// The object is incomplete and must be replaced.
    Tainted,
}

impl ObjectState {
    /// Encodes the attributes of an object. Marks are removed; `sensitive` lists their paths.
    ///
    /// # Errors
    /// When the value does not conform to the type.
    pub fn encode_attributes(
        value: &Known,
        ty: &Type,
    ) -> Result<(ObjectAttributes, Arc<Vec<Path>>), EncodeError> {
        let (plain, marks) = value.value().clone().split_marks();
        let json = formwork_value::codec::json::encode(plain.value(), ty)?;
        let sensitive = marks.0.into_iter().map(|(path, _)| path).collect();
        Ok((ObjectAttributes::Json(json.into()), Arc::new(sensitive)))
    }

    /// Whether the attribute `id` is sensitive, so that messages must not show it.
    #[must_use]
    pub fn has_sensitive_id(&self) -> bool {
        let id = Path::root().attribute("id");
        self.sensitive.iter().any(|path| id.0.starts_with(&path.0))
    }

    /// The attribute `id` for a message: `None` if it is not a string, or sensitive.
    #[must_use]
    pub fn shown_id(&self) -> Option<String> {
        self.attributes.id_attribute().filter(|_| !self.has_sensitive_id())
    }

    /// Whether both probably describe one real object: by the identity, otherwise by the
    /// attribute `id`, otherwise by all attributes.
    #[must_use]
    pub fn is_same_real_object(&self, other: &Self) -> bool {
        self.has_same_id(other).unwrap_or_else(|| self.attributes == other.attributes)
    }

    /// Whether both certainly describe different real objects: by the identity, otherwise by the
    /// attribute `id`.
    #[must_use]
    pub fn is_other_real_object(&self, other: &Self) -> bool {
        self.has_same_id(other) == Some(false)
    }

    /// Whether both have the same identity, otherwise the same `id`; `None` if one of them has neither.
    fn has_same_id(&self, other: &Self) -> Option<bool> {
        let id = |object: &Self| {
            let attributes = object.attributes.to_json_value();
            attributes.get("id").filter(|id| !id.is_null()).cloned()
        };
        match (&self.identity, &other.identity) {
            (Some(id), Some(theirs)) => Some(id == theirs),
            // One may have been stored by a provider version without identities.
            _ => Some(id(self)? == id(other)?),
        }
    }
}

impl ResourceState {
    /// All objects, including deposed ones.
    pub fn all_objects(&self) -> impl Iterator<Item = &Arc<ObjectState>> {
        let instances = self.instances.values();
        instances.flat_map(|instance| instance.current.iter().chain(instance.deposed.values()))
    }
}

impl State {
    /// Whether nothing is in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.outputs.is_empty() && self.resources.is_empty()
    }

    /// The current object of an instance.
    #[must_use]
    pub fn current_object(&self, addr: &crate::addr::InstanceAddr) -> Option<&Arc<ObjectState>> {
        self.resources.get(&addr.resource_addr())?.instances.get(&addr.key)?.current.as_ref()
    }

    /// An object of an instance: the current one, or a deposed one.
    #[must_use]
    pub fn find_object(
        &self,
        addr: &crate::addr::InstanceAddr,
        deposed: Option<&DeposedKey>,
    ) -> Option<&Arc<ObjectState>> {
        let instance = self.resources.get(&addr.resource_addr())?.instances.get(&addr.key)?;
        match deposed {
            Some(key) => instance.deposed.get(key),
            None => instance.current.as_ref(),
        }
    }

    /// A resource to be changed; one that belongs to the provider and has no instance yet, if there
    /// was none.
    pub fn resource_or_insert(
        &mut self,
        addr: ResourceAddr,
        provider: &ProviderConfigAddr,
    ) -> &mut ResourceState {
        let resource = self.resources.entry(addr).or_insert_with(|| {
            let provider = provider.clone();
            Arc::new(ResourceState { provider, instances: SmallMap::default() })
        });
        // Copies of the state may share it, and must not change.
        Arc::make_mut(resource)
    }

    /// The instance for changes, if it exists.
    pub fn instance_mut(&mut self, addr: &crate::addr::InstanceAddr) -> Option<&mut InstanceState> {
        let resource = self.resources.get_mut(&addr.resource_addr())?;
        Arc::make_mut(resource).instances.get_mut(&addr.key)
    }

    /// Removes an object, with the entries that it leaves empty.
    pub fn remove_object(
        &mut self,
        addr: &crate::addr::InstanceAddr,
        deposed: Option<&DeposedKey>,
    ) {
        let resource = addr.resource_addr();
        let Some(state) = self.resources.get_mut(&resource) else { return };
        let state = Arc::make_mut(state);
        if let Some(instance) = state.instances.get_mut(&addr.key) {
            match deposed {
                Some(key) => drop(instance.deposed.remove(key)),
                None => instance.current = None,
            }
            // No instance is without an object, and no resource without an instance.
            if instance.current.is_none() && instance.deposed.is_empty() {
                state.instances.remove(&addr.key);
            }
        }
        if state.instances.is_empty() {
            self.resources.remove(&resource);
        }
    }

    /// The value of an output.
    #[must_use]
    pub fn output_value(&self, name: &str) -> Option<&Value> {
        self.outputs.get(name).map(|output| output.value.value())
    }
}
