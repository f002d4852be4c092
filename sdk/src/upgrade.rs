//! Ways from older forms of a stored object to that of today: old models, and a function from each.

use formwork_value::{Diagnostic, Diagnostics};

use crate::resource::Stored;
use crate::{Answer, Model};

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
/// #[async_trait]
/// impl Resource for Disks {
///     type Model = Disk;
///
///     const VERSION: u64 = 1;
///
///     fn upgrades() -> Upgrades<Disk> {
///         Upgrades::none().from(0, |_, old: DiskV0| {
///             let gigabytes = old.size.trim_end_matches(" GB").parse().unwrap_or_default();
///             Ok(Disk { gigabytes, id: "none".to_owned() })
///         })
///     }
///
///     async fn create(&self, _: &mut Diagnostics, _: Create<Disk>) -> Answer<DiskComputed> {
///         Ok(DiskComputed { id: "none".to_owned() })
///     }
/// }
/// ```
pub struct Upgrades<M> {
    ways: Vec<(u64, Box<Way<M>>)>,
}

type Way<M> = dyn Fn(&mut Diagnostics, &Stored) -> Answer<M> + Send + Sync;

impl<M: Model> Upgrades<M> {
    /// No older version.
    #[must_use]
    pub fn none() -> Self {
        Self { ways: Vec::new() }
    }

    /// Adds the way from a version, whose objects were of the model `Old`. What the stored object
    /// lacks is absent in it, or empty, zero or false.
    ///
    /// The way leads to the newest version at once. One over several versions is made of functions:
    /// `|diags, old: V0| from_v1(diags, from_v0(old))`.
    #[must_use]
    pub fn from<Old: Model>(
        mut self,
        version: u64,
        upgrade: impl Fn(&mut Diagnostics, Old) -> Answer<M> + Send + Sync + 'static,
    ) -> Self {
        let way = move |diags: &mut Diagnostics, stored: &Stored| {
            let old = stored.read::<Old>(diags)?;
            upgrade(diags, old)
        };
        self.ways.push((version, Box::new(way)));
        self
    }

    /// Brings an object of one of these versions to the newest.
    ///
    /// # Errors
    /// When there is no way from its version, when it is not of the model of that version, and when
    /// the way fails.
    pub fn upgrade(&self, diags: &mut Diagnostics, stored: &Stored) -> Answer<M> {
        match self.ways.iter().find(|(version, _)| *version == stored.version) {
            Some((_, way)) => way(diags, stored),
            None => {
                let detail = format!(
                    "The object was stored with version {} of its schema, and the provider knows no \
                     way from that version to the newest. This is a bug in the provider.",
                    stored.version
                );
                Err(diags.error(Diagnostic::error("Unable to upgrade resource state", detail)))
            }
        }
    }
}

#[cfg(test)]
mod tests;
