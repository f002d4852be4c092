//! Names of providers and of their configurations.

use std::sync::Arc;

use formwork_value::Str;

use super::ModulePath;

/// Where a provider comes from: `registry.terraform.io/hashicorp/random`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProviderAddr(pub Arc<(Str, Str, Str)>);

impl ProviderAddr {
    /// The host of addresses that name none.
    pub const DEFAULT_HOST: &str = "registry.terraform.io";

    /// Makes an address of its parts, already normalised.
    #[must_use]
    pub fn new(host: impl Into<Str>, namespace: impl Into<Str>, kind: impl Into<Str>) -> Self {
        Self(Arc::new((host.into(), namespace.into(), kind.into())))
    }

    /// The host.
    #[must_use]
    pub fn host(&self) -> &Str {
        &self.0.0
    }

    /// The namespace.
    #[must_use]
    pub fn namespace(&self) -> &Str {
        &self.0.1
    }

    /// The provider's type: its name.
    #[must_use]
    pub fn kind(&self) -> &Str {
        &self.0.2
    }

    /// The provider that is part of the engine.
    #[must_use]
    pub fn builtin() -> Self {
        Self::new("terraform.io", "builtin", "terraform")
    }

    /// Whether it is part of the engine.
    #[must_use]
    pub fn is_builtin(&self) -> bool {
        self.host() == "terraform.io" && self.namespace() == "builtin"
    }
}

/// A provider as a module names it: `aws`, `aws.west`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocalProvider {
    /// The local name.
    pub name: Str,
    /// The alias, if any.
    pub alias: Option<Str>,
}

/// One configuration of a provider.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProviderConfigAddr {
    /// The module that holds the configuration.
    pub module: ModulePath,
    /// The provider.
    pub provider: ProviderAddr,
    /// The alias, if any.
    pub alias: Option<Str>,
}
