//! Names of modules and of the instances of modules and resources.

use std::sync::Arc;

use formwork_value::Str;

/// Which instance of a repeated resource or module.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum InstanceKey {
    /// Not repeated.
    #[default]
    None,
    /// By `count`.
    Int(u64),
    /// By `for_each`.
    Str(Str),
}

/// A module as written: the names of the calls from the root down. Empty for the root.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModulePath(pub Arc<Vec<Str>>);

/// An instance of a module: calls with their keys from the root down. Empty for the root.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModuleAddr(pub Arc<Vec<ModuleStep>>);

/// One step of a [`ModuleAddr`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModuleStep {
    /// The name of the call.
    pub name: Str,
    /// Which instance of it.
    pub key: InstanceKey,
}

impl ModulePath {
    /// The root module.
    #[must_use]
    pub fn root() -> Self {
        Self::default()
    }

    /// Whether this is the root module.
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }
}

impl ModuleAddr {
    /// The root module.
    #[must_use]
    pub fn root() -> Self {
        Self::default()
    }

    /// Whether this is the root module.
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The module without instance keys.
    #[must_use]
    pub fn path(&self) -> ModulePath {
        ModulePath(Arc::new(self.0.iter().map(|step| step.name.clone()).collect()))
    }
}
