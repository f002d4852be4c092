//! Inputs of visits, and their steps. The visit of each kind of vertex is in the file of the kind.

mod data;
pub(super) mod destroy;
mod find_created_object;
mod generate_config;
pub(super) mod import;
mod managed;
pub(super) mod refresh;
pub(super) mod resource;
mod triggers;

use formwork_value::diag::Severity;
use formwork_value::{Diagnostics, Reported, Value};
use futures_util::StreamExt as _;

use super::graph_analysis::GraphAnalysis;
use super::planned_resources::PlannedResources;
use super::prefetch::PrefetchedObjects;
use super::validated_configs::ValidatedConfigs;
use super::{PlanMode, PlanOptions};
use crate::addr::InstanceAddr;
use crate::config::Resource;
use crate::ephemeral::EphemeralResources;
use crate::eval::vertex::EvalInputs;
use crate::instance_steps::{InstanceConfig, ResourceClient};
use crate::progress::InstanceCounter;
use crate::session::Session;

/// Runs futures concurrently, up to the parallelism of the session, and returns their results in
/// the order given: the results must not depend on timing. A slow one holds up no other.
pub(super) async fn run_concurrently<F: Future>(
    view: PlanContext<'_>,
    pieces: impl IntoIterator<Item = F>,
) -> Vec<F::Output> {
    let pieces = pieces.into_iter().enumerate();
    let pieces = pieces.map(|(at, piece)| async move { (at, piece.await) });
    let pieces = futures_util::stream::iter(pieces);
    // With a limit of zero nothing would ever start.
    let mut done: Vec<_> = pieces.buffer_unordered(view.session.parallelism.max(1)).collect().await;
    done.sort_unstable_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, outcome)| outcome).collect()
}

/// Inputs of every visit.
#[derive(Clone, Copy)]
pub(crate) struct PlanContext<'a> {
    pub(crate) session: &'a Session<'a>,
    pub(crate) options: &'a PlanOptions,
    pub(crate) analysis: &'a GraphAnalysis<'a>,
    /// Configurations that need not be shown to their providers again.
    pub(crate) accepted: &'a ValidatedConfigs,
    /// The ephemeral resources that are open.
    pub(crate) ephemeral_resources: &'a EphemeralResources<'a>,
    /// Objects that were read ahead.
    pub(crate) prefetched: &'a PrefetchedObjects,
    /// Planned results of the resources visited so far.
    pub(crate) planned_resources: &'a PlannedResources,
    pub(crate) counter: &'a InstanceCounter<'a>,
}

impl<'a> PlanContext<'a> {
    /// An instance that is in the configuration. In a plan that changes nothing, a failed condition
    /// of it stops nothing.
    pub(crate) fn instance_config<'w>(
        self,
        config: &'w Resource,
        addr: &'w InstanceAddr,
    ) -> InstanceConfig<'w>
    where
        'a: 'w,
    {
        InstanceConfig {
            session: self.session,
            config,
            addr,
            failure: self.condition_failure_severity(),
        }
    }

    /// Asks whether the provider accepts a configuration, unless it is known to.
    pub(crate) async fn validate_instance(
        self,
        diags: &mut Diagnostics,
        resource_client: ResourceClient<'_>,
        config: &Value,
        written: InstanceConfig<'_>,
    ) -> Result<(), Reported> {
        if self.accepted.was_accepted(written.addr, config) {
            return Ok(());
        }
        resource_client
            .client
            .validate_resource_config(diags, resource_client.ty, config, written.call_context())
            .await
    }

    fn condition_failure_severity(self) -> Severity {
        match self.options.mode {
            PlanMode::RefreshOnly => Severity::Warning,
            // A failed condition must not prevent a destruction.
            PlanMode::Normal if self.options.before_destroy => Severity::Warning,
            PlanMode::Normal | PlanMode::Destroy => Severity::Error,
        }
    }

    pub(super) fn eval_inputs(self) -> EvalInputs<'a> {
        EvalInputs { failure: self.condition_failure_severity(), ..self.session.eval_inputs() }
    }
}
