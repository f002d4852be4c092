//! Upgrades of stored objects from older versions: old models, and a function from each.

use std::collections::BTreeMap;

use crate::resource::StoredValue;
use crate::{Answer, Identity, Model, Problem, Resource};

/// The older versions of a resource type's schema, each with an upgrade to the newest. An old model is
/// a former struct that derives [`Model`]. Only the names and types of its attributes matter.
///
/// ```
/// use formwork_sdk::prelude::*;
///
/// /// A disk of version 0, with its size as a string such as `10 GB`.
/// #[derive(Model)]
/// struct DiskV0 {
///     #[attr(required)]
///     size: String,
/// }
///
/// /// A disk.
/// #[derive(Model)]
/// struct Disk {
///     #[attr(required)]
///     gigabytes: u64,
///     #[attr(computed, keep)]
///     id: String,
/// }
///
/// struct Disks;
///
/// impl Resource for Disks {
///     type Model = Disk;
///
///     const VERSION: u64 = 1;
///
///     fn upgrades() -> Upgrades<Self> {
///         Upgrades::none().from::<0, DiskV0>(|old| {
///             let gigabytes = old.size.trim_end_matches(" GB").parse().unwrap_or_default();
///             Ok(Disk { gigabytes, id: "none".to_owned() })
///         })
///     }
///
///     async fn create(&self, _: Create<Disk>) -> Answer<DiskComputed> {
///         Ok(DiskComputed { id: "none".to_owned() })
///     }
/// }
/// ```
pub struct Upgrades<R: Resource> {
    ways: UpgradersByVersion<R::Model>,
}

impl<R: Resource> Upgrades<R> {
    /// No older version.
    #[must_use]
    pub fn none() -> Self {
        Self { ways: UpgradersByVersion::none() }
    }

    /// Adds the upgrade from a version, whose objects were of the model `Old`. Attributes that the
    /// stored object lacks are null in it, or empty, zero or false. The version must be older than
    /// that of the resource type, or the provider does not compile.
    ///
    /// The upgrade leads directly to the newest version. Compose functions for an upgrade over
    /// several versions: `|old: V0| from_v1(from_v0(old))`.
    #[must_use]
    pub fn from<const VERSION: u64, Old: Model>(
        mut self,
        upgrade: impl Fn(Old) -> Answer<R::Model> + Send + Sync + 'static,
    ) -> Self {
        // An error of the compiler, because tests may have no object of that version.
        const {
            assert!(
                VERSION < R::VERSION,
                "an upgrade leads from an older version: raise `VERSION` of the resource type above it"
            );
        }
        self.ways.add(VERSION, upgrade);
        self
    }

    /// Upgrades an object of one of these versions to the newest.
    ///
    /// # Errors
    /// When the version of the object has no upgrade, when the object is not of the model of that
    /// version, and when the upgrade fails.
    pub fn upgrade_to_newest(&self, stored: &StoredValue) -> Answer<R::Model> {
        self.ways.upgrade_to_newest(stored, "schema")
    }
}

/// The older versions of a resource type's identity, each with an upgrade to the newest. Only the names
/// and types of the identity attributes of an old model matter.
///
/// ```
/// use formwork_sdk::prelude::*;
///
/// /// The identity of a disk of version 0.
/// #[derive(Model)]
/// struct DiskNumber {
///     #[attr(required)]
///     number: u64,
/// }
///
/// /// A disk.
/// #[derive(Model)]
/// struct Disk {
///     #[attr(required, identity)]
///     name: String,
/// }
///
/// struct Disks;
///
/// impl Resource for Disks {
///     type Model = Disk;
///
///     const IDENTITY_VERSION: u64 = 1;
///
///     fn identity_upgrades() -> IdentityUpgrades<Self> {
///         IdentityUpgrades::none().from::<0, DiskNumber>(|old| {
///             Ok(DiskIdentity { name: format!("disk-{}", old.number) })
///         })
///     }
///
///     async fn create(&self, _: Create<Disk>) -> Answer<DiskComputed> {
///         Ok(DiskComputed {})
///     }
/// }
/// ```
pub struct IdentityUpgrades<R: Resource> {
    ways: UpgradersByVersion<Identity<R::Model>>,
}

impl<R: Resource> IdentityUpgrades<R> {
    /// No older version.
    #[must_use]
    pub fn none() -> Self {
        Self { ways: UpgradersByVersion::none() }
    }

    /// Adds the upgrade from a version, whose identities had the attributes of `Old`. The version
    /// must be older than that of the identity, or the provider does not compile.
    #[must_use]
    pub fn from<const VERSION: u64, Old: Model>(
        mut self,
        upgrade: impl Fn(Old) -> Answer<Identity<R::Model>> + Send + Sync + 'static,
    ) -> Self {
        // An error of the compiler, as for the schema: tests may have no identity of that version.
        const {
            assert!(
                VERSION < R::IDENTITY_VERSION,
                "an upgrade leads from an older version: raise `IDENTITY_VERSION` of the resource \
                 type above it"
            );
        }
        self.ways.add(VERSION, upgrade);
        self
    }

    pub(crate) fn upgrade_to_newest(&self, stored: &StoredValue) -> Answer<Identity<R::Model>> {
        self.ways.upgrade_to_newest(stored, "identity")
    }
}

/// Upgrades to a `T` from its older versions.
struct UpgradersByVersion<T>(BTreeMap<u64, Box<Upgrader<T>>>);

type Upgrader<T> = dyn Fn(&StoredValue) -> Answer<T> + Send + Sync;

impl<T> UpgradersByVersion<T> {
    fn none() -> Self {
        Self(BTreeMap::new())
    }

    fn add<Old: Model>(
        &mut self,
        version: u64,
        upgrade: impl Fn(Old) -> Answer<T> + Send + Sync + 'static,
    ) {
        // The closure hides `Old`, so that one map can hold upgrades from different models.
        self.0.insert(version, Box::new(move |stored| upgrade(stored.to_model()?)));
    }

    /// `kind` names the version: of the schema, or of the identity.
    fn upgrade_to_newest(&self, stored: &StoredValue, kind: &str) -> Answer<T> {
        // No other upgrade can replace it: each reads the model of its own version.
        let Some(upgrader) = self.0.get(&stored.version) else {
            let detail = format!(
                "The object was stored with version {} of its {kind}, and the provider has no \
                 upgrade from that version to the newest. This is a bug in the provider.",
                stored.version
            );
            return Err(Problem::new("Unable to upgrade resource state", detail));
        };
        upgrader(stored)
    }
}

#[cfg(test)]
mod tests;
