//! A list resource as its author writes it: finds objects that exist, managed or not.

use async_trait::async_trait;
use formwork_value::Diagnostics;

use crate::stop::Stop;
use crate::{Answer, Draft, Input, Model};

/// A list resource. Its name is that of the resource type whose objects it finds.
#[async_trait]
pub trait List: Send + Sync + 'static {
    /// What the author of a query writes. It has no computed attributes.
    type Config: Model;
    /// The objects: the model of the resource type. It must have an identity.
    type Object: Model;

    /// Checks what the author wrote, beyond what the schema says. Values may be unknown.
    ///
    /// # Errors
    /// When it cannot be so. What is reported without an error returned counts as well.
    fn validate(&self, _diags: &mut Diagnostics, _config: &Draft<Self::Config>) -> Answer<()> {
        Ok(())
    }

    /// Finds objects. What it returns beyond the limit is left out.
    ///
    /// # Errors
    /// When it cannot be found out which there are.
    async fn list(
        &self,
        diags: &mut Diagnostics,
        search: Search<Self::Config>,
    ) -> Answer<Vec<Listed<Self::Object>>>;
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
    /// Whether to hurry.
    pub stop: Stop,
}

/// An object that was found.
pub struct Listed<M: Model> {
    /// What people call it.
    pub name: String,
    /// What is known of it: its identity at least.
    pub object: Draft<M>,
}
