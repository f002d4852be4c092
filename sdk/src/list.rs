//! A list resource as its author writes it: finds objects that exist, managed or not.

use std::future::Future;

use crate::call::Call;
use crate::resource::Validate;
use crate::resource::calls::calls;
use crate::{Answer, Draft, Input, Model};

/// A list resource. Its name is that of the resource type whose objects it finds.
pub trait List: Send + Sync + 'static {
    /// What the author of a query writes. It has no computed attributes.
    type Model: Model;
    /// The objects: the model of the resource type. It must have an identity.
    type Object: Model;

    /// Checks what the author wrote, beyond what the schema says. Values may be unknown.
    ///
    /// # Errors
    /// When it cannot be so. `call.report(…)` says so too, and goes on.
    fn validate(&self, _call: Validate<Self::Model>) -> Answer<()> {
        Ok(())
    }

    /// Finds objects. What it returns beyond the limit is left out.
    ///
    /// # Errors
    /// When it cannot be found out which there are.
    fn list(
        &self,
        call: Search<Self::Model>,
    ) -> impl Future<Output = Answer<Vec<Listed<Self::Object>>>> + Send;
}

/// Asks for objects.
#[non_exhaustive]
pub struct Search<M: Model> {
    /// What the author wrote, wholly known and with defaults.
    pub config: Input<M>,
    /// How many objects are wanted at most.
    pub limit: usize,
    /// Whether whole objects are wanted, or only what identifies them.
    pub whole: bool,
    /// The rest, for those who take the values out.
    pub call: Call,
}

calls!(Search);

/// An object that was found.
pub struct Listed<M: Model> {
    /// What people call it.
    pub name: String,
    /// What is known of it: its identity at least.
    pub object: Draft<M>,
}
