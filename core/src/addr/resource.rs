//! Names of resources, their instances and their objects.

use std::sync::Arc;

use formwork_value::Str;

use super::{InstanceKey, ModuleAddr, ModulePath};

/// The mode of a resource block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ResourceMode {
    // The order of the variants is that of lists: data resources come before managed ones.
    /// `data`: read, never changed.
    Data,
    /// `ephemeral`: open while needed, never stored.
    Ephemeral,
    /// `resource`: created, updated and destroyed.
    Managed,
}

/// A resource within its module.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ResourceName(pub Arc<(ResourceMode, Str, Str)>);

impl ResourceName {
    /// Creates a name.
    #[must_use]
    pub fn new(mode: ResourceMode, kind: impl Into<Str>, name: impl Into<Str>) -> Self {
        Self(Arc::new((mode, kind.into(), name.into())))
    }

    /// The mode of the block.
    #[must_use]
    pub fn mode(&self) -> ResourceMode {
        self.0.0
    }

    /// The resource type.
    #[must_use]
    pub fn resource_type(&self) -> &Str {
        &self.0.1
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &Str {
        &self.0.2
    }
}

/// A resource as written, in a module as written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConfigResourceAddr {
    /// The module.
    pub module: ModulePath,
    /// The resource.
    pub resource: ResourceName,
}

/// A resource in an instance of a module.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ResourceAddr {
    /// The module instance.
    pub module: ModuleAddr,
    /// The resource.
    pub resource: ResourceName,
}

/// An instance of a resource.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InstanceAddr {
    /// The module instance.
    pub module: ModuleAddr,
    /// The resource.
    pub resource: ResourceName,
    /// The instance key.
    pub key: InstanceKey,
}

/// Names an object that was replaced and is still to be destroyed: eight hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeposedKey(pub Str);

impl ResourceAddr {
    /// The instance of the resource with this key.
    #[must_use]
    pub fn instance_addr(&self, key: InstanceKey) -> InstanceAddr {
        InstanceAddr { module: self.module.clone(), resource: self.resource.clone(), key }
    }

    /// The resource as written.
    #[must_use]
    pub fn config_addr(&self) -> ConfigResourceAddr {
        ConfigResourceAddr { module: self.module.path(), resource: self.resource.clone() }
    }
}

impl InstanceAddr {
    /// The address that an object gets which was found by the same id as the object of this one: that
    /// of a resource whose name has a number more.
    #[must_use]
    pub fn with_numbered_resource_name(&self, number: usize) -> Self {
        let (mode, kind) = (self.resource.mode(), self.resource.resource_type().clone());
        let name = format!("{}-{number}", self.resource.name());
        Self { resource: ResourceName::new(mode, kind, name), ..self.clone() }
    }

    /// The resource it is an instance of.
    #[must_use]
    pub fn resource_addr(&self) -> ResourceAddr {
        ResourceAddr { module: self.module.clone(), resource: self.resource.clone() }
    }
}
