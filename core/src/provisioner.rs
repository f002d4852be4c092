//! Provisioners, which run after the creation or before the destruction of an object: their trait, and
//! the set of available ones. Their implementations are elsewhere, because they start programs.

mod connection;

use std::collections::BTreeMap;
use std::fmt::{Debug, Formatter};

use formwork_value::diag::Summary;
use formwork_value::schema::Block;
use formwork_value::{Plain, Value};

pub use connection::connection_schema;

/// Receives each line of output when it is printed.
pub type OutputSink<'a> = &'a dyn Fn(&str);

/// One run of a provisioner.
#[derive(Clone, Copy, Debug)]
pub struct ProvisionerTask<'a> {
    /// The configuration of the block, by its schema.
    pub config: &'a Plain,
    /// The connection to the remote machine, if configured, by the schema [`connection`].
    pub connection: Option<&'a Plain>,
}

/// One kind of provisioner.
#[async_trait::async_trait(?Send)]
pub trait Provisioner {
    /// Returns the schema of its block.
    fn schema(&self) -> &Block;

    /// Validates a block that fits the schema. Values may be unknown.
    ///
    /// # Errors
    /// Returns an error if arguments are inconsistent.
    fn check_config(&self, config: &Value) -> Result<(), ProvisionerError> {
        let _ = config;
        Ok(())
    }

    /// Runs the provisioner, and reports each line of output when it is printed. It returns when
    /// everything that it started has ended. If the future is dropped before, everything is stopped
    /// immediately.
    ///
    /// # Errors
    /// Returns an error if the provisioner failed or was interrupted.
    async fn run_task(
        &self,
        task: ProvisionerTask<'_>,
        output: OutputSink<'_>,
    ) -> Result<(), ProvisionerError>;

    /// Requests running work to stop.
    fn request_stop(&self);
}

/// The failure of a provisioner.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{summary}: {detail}")]
pub struct ProvisionerError {
    /// Summary of the problem, for a diagnostic.
    pub summary: Summary,
    /// Detail of the problem, which may contain parts of the configuration and of the output.
    pub detail: String,
    /// Detail without secrets, used if the configuration contains some.
    pub bare: String,
}

/// The available provisioners, by kind.
#[derive(Default)]
pub struct ProvisionerSet(BTreeMap<&'static str, Box<dyn Provisioner>>);

impl ProvisionerSet {
    /// Creates a set of provisioners.
    #[must_use]
    pub fn from_kinds<const N: usize>(all: [(&'static str, Box<dyn Provisioner>); N]) -> Self {
        Self(all.into())
    }

    /// Returns the provisioner of a kind.
    #[must_use]
    pub fn find_provisioner(&self, kind: &str) -> Option<&dyn Provisioner> {
        self.0.get(kind).map(|provisioner| &**provisioner)
    }

    /// Returns the available kinds, sorted.
    pub fn kinds(&self) -> impl Iterator<Item = &'static str> {
        self.0.keys().copied()
    }

    /// Requests all running work to stop.
    pub fn stop_all(&self) {
        self.0.values().for_each(|provisioner| provisioner.request_stop());
    }
}

impl Debug for ProvisionerSet {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}
