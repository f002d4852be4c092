//! Ways from older forms of a stored object to that of today: old models, and a function from each.

use std::collections::BTreeMap;

use crate::resource::Stored;
use crate::{Answer, Model, Problem, Resource};

/// The older versions of a resource type's stored form, each with a way to the newest. An old model is
/// what [`Model`](crate::Model) was derived for at the time; of its attributes only names and types
/// count.
///
/// ```
/// use formwork_sdk::prelude::*;
///
/// /// A disk as version 0 stored it, its size a text such as `10 GB`.
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
    ways: BTreeMap<u64, Box<Way<R::Model>>>,
}

type Way<M> = dyn Fn(&Stored) -> Answer<M> + Send + Sync;

impl<R: Resource> Upgrades<R> {
    /// No older version.
    #[must_use]
    pub fn none() -> Self {
        Self { ways: BTreeMap::new() }
    }

    /// Adds the way from a version, whose objects were of the model `Old`. What the stored object
    /// lacks is absent in it, or empty, zero or false. The version must be older than that of the
    /// resource type, or the provider does not build.
    ///
    /// The way leads to the newest version at once. One over several versions is made of functions:
    /// `|old: V0| from_v1(from_v0(old))`.
    #[must_use]
    pub fn from<const VERSION: u64, Old: Model>(
        mut self,
        upgrade: impl Fn(Old) -> Answer<R::Model> + Send + Sync + 'static,
    ) -> Self {
        const {
            assert!(
                VERSION < R::VERSION,
                "an upgrade leads from an older version: raise `VERSION` of the resource type above it"
            );
        }
        let way = move |stored: &Stored| upgrade(stored.read::<Old>()?);
        self.ways.insert(VERSION, Box::new(way));
        self
    }

    /// Brings an object of one of these versions to the newest.
    ///
    /// # Errors
    /// When there is no way from its version, when it is not of the model of that version, and when
    /// the way fails.
    pub fn upgrade(&self, stored: &Stored) -> Answer<R::Model> {
        let Some(way) = self.ways.get(&stored.version) else {
            let detail = format!(
                "The object was stored with version {} of its schema, and the provider knows no way \
                 from that version to the newest. This is a bug in the provider.",
                stored.version
            );
            return Err(Problem::new("Unable to upgrade resource state", detail));
        };
        way(stored)
    }
}

#[cfg(test)]
mod tests;
