//! Provisioners, which run when an object is made or is about to be destroyed: the contract, and
//! the set of those available. Their implementations are elsewhere, because they start programs.

mod connection;

use std::collections::BTreeMap;
use std::fmt::{Debug, Formatter};

use formwork_value::diag::Summary;
use formwork_value::schema::Block;
use formwork_value::{Plain, Value};

pub use connection::connection_schema;

/// Takes each line of output as it comes.
pub type OutputSink<'a> = &'a dyn Fn(&str);

/// One run of a provisioner.
#[derive(Clone, Copy, Debug)]
pub struct ProvisionerTask<'a> {
    /// Configuration of the block, after its schema.
    pub config: &'a Plain,
    /// Way to reach the machine behind the object, if given: after [`connection`].
    pub connection: Option<&'a Plain>,
}

/// One kind of provisioner.
#[async_trait::async_trait(?Send)]
pub trait Provisioner {
    /// Schema of its block.
    fn schema(&self) -> &Block;

    /// Checks a block that fits the schema, before anything is done. Values may be unknown yet.
    ///
    /// # Errors
    /// When arguments do not go together.
    fn check_config(&self, config: &Value) -> Result<(), ProvisionerError> {
        let _ = config;
        Ok(())
    }

    /// Does the work, and reports each line of output as it comes. Ends when everything it started
    /// has ended; when it is dropped before, that is ended at once.
    ///
    /// # Errors
    /// When the work could not be done, or was cut short.
    async fn run_task(
        &self,
        task: ProvisionerTask<'_>,
        tell: OutputSink<'_>,
    ) -> Result<(), ProvisionerError>;

    /// Asks work that is under way to end soon.
    fn request_stop(&self);
}

/// Why work could not be done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{summary}: {detail}")]
pub struct ProvisionerError {
    /// Summary of the problem, for a diagnostic.
    pub summary: Summary,
    /// Detail of the problem; it may hold parts of the configuration and of the output.
    pub detail: String,
    /// Detail that can be reported when these are secret.
    pub bare: String,
}

/// The provisioners that are there, by kind.
#[derive(Default)]
pub struct ProvisionerSet(BTreeMap<&'static str, Box<dyn Provisioner>>);

impl ProvisionerSet {
    /// A set of these.
    #[must_use]
    pub fn from_kinds<const N: usize>(all: [(&'static str, Box<dyn Provisioner>); N]) -> Self {
        Self(all.into())
    }

    /// The one of this kind.
    #[must_use]
    pub fn find_provisioner(&self, kind: &str) -> Option<&dyn Provisioner> {
        self.0.get(kind).map(|provisioner| &**provisioner)
    }

    /// The kinds there are, in order.
    pub fn kinds(&self) -> impl Iterator<Item = &'static str> {
        self.0.keys().copied()
    }

    /// Asks all work that is under way to end soon.
    pub fn stop_all(&self) {
        self.0.values().for_each(|provisioner| provisioner.request_stop());
    }
}

impl Debug for ProvisionerSet {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}
