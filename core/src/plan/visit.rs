//! Selects the visit function of each vertex, in one match.

mod data;
mod destroy;
mod generated;
mod import;
mod interrupted;
mod managed;
mod prior;
mod read;
mod resource;
mod triggers;

use std::collections::BTreeSet;

use formwork_value::diag::Severity;
use formwork_value::{Diagnostics, Reported, Value};
use futures_util::StreamExt as _;

use super::dependencies::DependencyClosures;
use super::excluded_from_destroy::ExcludedFromDestroy;
use super::forgotten::Forgotten;
use super::outcome::PlanOutcome;
use super::planned_resources::PlannedResources;
use super::prefetch::PrefetchedObjects;
use super::validate::ValidatedConfigs;
use super::vertex::Vertex;
use super::{Mode, Options, ReplaceOrders};
use crate::addr::{InstanceAddr, ResourceAddr};
use crate::config::Resource;
use crate::ephemeral::EphemeralResources;
use crate::eval::vertex::EvalInputs;
use crate::instance::{InstanceConfig, ResourceClient};
use crate::moved::Moves;
use crate::progress::Counter;
use crate::session::Session;

pub(crate) use prior::Prior;

/// Runs futures concurrently, up to the parallelism of the session, and returns their results in
/// the order given: the results must not depend on timing. A slow one holds up no other.
async fn side_by_side<F: Future>(
    view: View<'_>,
    pieces: impl IntoIterator<Item = F>,
) -> Vec<F::Output> {
    let pieces = pieces.into_iter().enumerate();
    let pieces = pieces.map(|(at, piece)| async move { (at, piece.await) });
    let pieces = futures_util::stream::iter(pieces);
    // With no place at all nothing would ever start.
    let mut done: Vec<_> = pieces.buffer_unordered(view.session.parallelism.max(1)).collect().await;
    done.sort_unstable_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, outcome)| outcome).collect()
}

/// Results computed from the finished graph, before any visit.
pub(crate) struct GraphFacts<'m> {
    pub(crate) orders: ReplaceOrders,
    pub(crate) closures: DependencyClosures,
    /// Resources that are destroyed with a target, without being one.
    pub(crate) dragged: BTreeSet<ResourceAddr>,
    /// Resources left alone because something is excluded.
    pub(crate) excluded_from_destroy: ExcludedFromDestroy,
    /// Objects that have another address than before.
    pub(crate) moves: &'m Moves,
    /// Resources that are forgotten, not destroyed, when they leave the configuration.
    pub(crate) forgotten: Forgotten,
    /// Configurations that need not be shown to their providers again.
    pub(crate) accepted: ValidatedConfigs,
}

/// Inputs of every visit.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pub(crate) session: &'a Session<'a>,
    pub(crate) options: &'a Options,
    pub(crate) settled: &'a GraphFacts<'a>,
    /// The ephemeral resources that are open.
    pub(crate) ephemeral_resources: &'a EphemeralResources<'a>,
    /// Objects that were read ahead.
    pub(crate) ahead: &'a PrefetchedObjects,
    /// Planned results of the resources visited so far.
    pub(crate) planned_resources: &'a PlannedResources,
    pub(crate) counter: &'a Counter<'a>,
}

impl<'a> View<'a> {
    /// An instance that is in the configuration. In a plan that changes nothing, a failed condition
    /// of it stops nothing.
    pub(crate) fn written<'w>(
        self,
        config: &'w Resource,
        addr: &'w InstanceAddr,
    ) -> InstanceConfig<'w>
    where
        'a: 'w,
    {
        InstanceConfig { session: self.session, config, addr, failure: self.failure() }
    }

    /// Asks whether the provider accepts a configuration, unless it is known to.
    pub(crate) async fn validate(
        self,
        diags: &mut Diagnostics,
        client: ResourceClient<'_>,
        config: &Value,
        written: InstanceConfig<'_>,
    ) -> Result<(), Reported> {
        if self.settled.accepted.take(written.addr, config) {
            return Ok(());
        }
        client.handle.validate(diags, client.ty, config, written.about()).await
    }

    fn failure(self) -> Severity {
        match self.options.mode {
            Mode::RefreshOnly => Severity::Warning,
            // A failed condition must not stand in the way of a destruction.
            Mode::Normal if self.options.before_destroy => Severity::Warning,
            Mode::Normal | Mode::Destroy => Severity::Error,
        }
    }

    fn eval_inputs(self) -> EvalInputs<'a> {
        EvalInputs { failure: self.failure(), ..self.session.eval_inputs() }
    }
}

/// Visits a vertex.
pub(crate) async fn visit(view: View<'_>, vertex: &Vertex<'_>) -> (Diagnostics, PlanOutcome) {
    let mut diags = Diagnostics::new();
    let found = match vertex {
        Vertex::SharedVertex(shared) => {
            let (session, inputs) = (view.session, view.eval_inputs());
            PlanOutcome::SharedVertex(
                shared.visit(&mut diags, session, inputs, view.ephemeral_resources).await,
            )
        }
        Vertex::Resource(resource) => {
            PlanOutcome::Resources(resource::visit(view, &mut diags, resource).await)
        }
        Vertex::Read(read) => PlanOutcome::Objects(read::visit(view, read).await),
        Vertex::Orphan(orphan) => {
            PlanOutcome::Resources(vec![destroy::visit_orphan(view, &mut diags, orphan).await])
        }
    };
    (diags, found)
}
