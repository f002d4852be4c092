//! Does what a plan says, and decides nothing. Every changing call is announced in the journal
//! before it leaves, and its answer is kept before it is looked at.

mod build;
mod order;
mod progress;
mod record;
mod salvage;
mod vertex;
mod visit;

use formwork_value::{Diagnostics, Reported};

pub use record::{Applied, Tally};
pub use salvage::Raw;

use crate::addr::{DeposedKey, InstanceAddr};
use crate::change::Action;
use crate::plan::{Plan, report_cycles};
use crate::session::Session;
use crate::state::Object;

/// A changing call that is about to leave.
#[derive(Clone, Debug)]
pub struct Intent<'a> {
    /// The instance.
    pub addr: &'a InstanceAddr,
    /// The provider configuration that does it.
    pub provider: &'a crate::addr::ProviderConfigAddr,
    /// Set if it is about a deposed object.
    pub deposed: Option<&'a DeposedKey>,
    /// Set if the current object is deposed under this key by the change.
    pub deposes: Option<&'a DeposedKey>,
    /// What is done.
    pub action: Action,
    /// The object before; `None` if there is none.
    pub prior: Option<&'a Object>,
    /// The planned object as the provider will see it; null to destroy.
    pub planned: &'a formwork_value::Value,
}

/// Names an announced call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Op(pub u64);

/// Why the journal could not be written, in words with a remedy.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{0}")]
pub struct NotDurable(pub String);

/// Where calls are announced and answers kept.
#[async_trait::async_trait(?Send)]
pub trait Journal {
    /// Announces a call. When this returns, the announcement is durable.
    ///
    /// # Errors
    /// When it could not be made durable; then the call must not be made.
    async fn announce(&self, intent: Intent<'_>) -> Result<Op, NotDurable>;

    /// Keeps the answer to a call, as it came.
    ///
    /// # Errors
    /// When it could not be written.
    async fn keep(&self, op: Op, raw: &Raw) -> Result<(), NotDurable>;

    /// Keeps what the answer means for the state: the object as it is now, `None` if it is gone.
    /// When this returns, it is durable.
    ///
    /// # Errors
    /// When it could not be made durable.
    async fn settle(&self, op: Op, object: Option<&Object>) -> Result<(), NotDurable>;
}

/// Applies a plan. What was done is in the result also when errors were reported.
///
/// # Errors
/// When nothing could be started: the graph has a cycle, or a provider could not be loaded.
pub async fn apply(
    session: &Session<'_>,
    diags: &mut Diagnostics,
    plan: &Plan,
    journal: &dyn Journal,
) -> Result<Applied, Reported> {
    let draft = build::draft(diags, session, plan)?;
    session.pool.load(diags, build::providers(&draft)).await?;
    session.pool.next_phase();
    let graph = match draft.freeze() {
        Ok(graph) => graph,
        Err(cyclic) => return Err(report_cycles(diags, session.sources, &cyclic)),
    };
    Ok(record::run(session, diags, plan, journal, &graph).await)
}
