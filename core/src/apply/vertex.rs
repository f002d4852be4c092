//! Vertices of the apply graph. Each kind is a file below this one, with its data, its answers and its
//! visit, and a line in the list of [`ApplyVertex`]. A vertex is complete when made.

mod all_changed;
mod destroy;
mod destroy_join;
mod expand;
mod instance;
mod open_ephemeral;
mod resource_destroyed;
mod resource_done;
mod shared;
mod unchanged;

use std::future::ready;

use formwork_value::Diagnostics;

pub(super) use all_changed::AllChangedVertex;
pub(super) use destroy::DestroyVertex;
pub(super) use destroy_join::DestroyJoinVertex;
pub(super) use expand::ExpandVertex;
pub(super) use instance::InstanceVertex;
pub(super) use open_ephemeral::OpenEphemeralVertex;
pub(super) use resource_destroyed::ResourceDestroyedVertex;
pub(super) use resource_done::ResourceDoneVertex;
pub(super) use unchanged::UnchangedVertex;

use super::record::ApplyRecorder;
use super::visit::ApplyContext;
use crate::addr::ConfigResourceAddr;
use crate::change::Change;
use crate::plan::{Plan, PlanMode};
use crate::shared_graph::{SharedVertex, VertexKind, vertex_kinds};
use crate::state::checks::CheckResults;
use crate::state::journal::Journal;

/// Properties of a vertex in an apply, in addition to those of both graphs. A kind answers those
/// that concern it.
pub(crate) trait ApplyVertexKind<'c>: VertexKind<'c> {
    /// The resource that is expanded here.
    fn as_expand(&self) -> Option<&ExpandVertex<'c>> {
        None
    }

    /// The instance that is made or changed here.
    fn as_instance(&self) -> Option<&InstanceVertex<'c>> {
        None
    }

    /// The instance that stays as it is.
    fn as_unchanged(&self) -> Option<&UnchangedVertex<'c>> {
        None
    }

    /// The object that is destroyed here.
    fn as_destroy(&self) -> Option<&DestroyVertex<'c>> {
        None
    }

    /// The resource whose instances are all as planned here.
    fn done_resource(&self) -> Option<&ConfigResourceAddr> {
        None
    }

    /// The resource whose destroyed objects this vertex joins.
    fn destroyed_resource(&self) -> Option<&ConfigResourceAddr> {
        None
    }

    /// The resource of which several objects wait for this.
    fn joined_resource(&self) -> Option<&ConfigResourceAddr> {
        None
    }

    /// Whether it does not wait for its references.
    fn ignores_references(&self, _: PlanMode) -> bool {
        false
    }

    /// Whether it is an operation on an object. Such vertices are counted, and take a permit.
    fn is_operation(&self) -> bool {
        false
    }

    /// Whether it is kept although nothing may need it. Joins, expansions and providers are kept only
    /// for a vertex that needs them.
    fn is_wanted(&self, _: PlanNeeds<'_>) -> bool {
        false
    }

    /// Resets the results of the conditions that its visit evaluates.
    fn reset_check_statuses(&self, _: &mut CheckResults) {}

    /// Whether everything that was found out about its object is in the journal.
    fn is_result_journaled(&self, _: &Journal) -> bool {
        true
    }
}

/// A plan, and what it left open about a vertex.
#[derive(Clone, Copy)]
pub(crate) struct PlanNeeds<'p> {
    pub(crate) plan: &'p Plan,
    /// Whether the vertex is a value that planning could not settle.
    pub(crate) is_unknown: bool,
}

impl PlanNeeds<'_> {
    /// Whether the plan keeps the objects that exist. Objects that a refresh takes in must satisfy
    /// the conditions, and here they do more than warn.
    fn keeps_objects(self) -> bool {
        self.plan.mode != PlanMode::Destroy
    }

    /// Whether the plan is about everything, and keeps it.
    fn is_whole(self) -> bool {
        self.keeps_objects() && self.plan.targets.is_empty()
    }

    /// Whether the plan is about a change for its own sake. An object that is no target itself comes
    /// along where a target needs it.
    fn includes_change(self, change: &Change) -> bool {
        let targets = &self.plan.targets;
        self.plan.mode == PlanMode::Destroy
            || targets.is_empty()
            || targets.iter().any(|target| target.contains(&change.addr))
    }
}

/// Visits of a vertex of the apply graph.
pub(crate) trait ApplyVisit<'c>: ApplyVertexKind<'c> {
    /// Result to be recorded.
    type Outcome;

    /// Visits the vertex.
    fn visit(
        &self,
        _: ApplyContext<'_>,
        _: &mut Diagnostics,
    ) -> impl Future<Output = Option<Self::Outcome>> {
        ready(None)
    }

    /// Records the result.
    fn record(&self, _: &mut ApplyRecorder<'_, '_>, _: Self::Outcome) {}
}

vertex_kinds! {
    /// A vertex of the apply graph.
    enum ApplyVertex<'c>: ApplyVertexKind + ApplyVisit {
        /// A vertex that both graphs have.
        Shared(SharedVertex<'c>),
        /// A resource in the configuration: its instances become known, and those that do not change
        /// have their values.
        Expand(ExpandVertex<'c>),
        /// An ephemeral resource, whose instances are opened here.
        OpenEphemeral(OpenEphemeralVertex<'c>),
        /// An instance that is made or changed, or a data source that is read.
        Instance(InstanceVertex<'c>),
        /// An instance that stays as it is, but has conditions that the plan could not settle.
        Unchanged(UnchangedVertex<'c>),
        /// An object that is destroyed.
        Destroy(DestroyVertex<'c>),
        /// All instances of a resource are as planned.
        ResourceDone(ResourceDoneVertex),
        /// Joins all objects of a resource that are destroyed before their successors are created.
        ResourceDestroyed(ResourceDestroyedVertex),
        /// Everything that changes has changed.
        AllChanged(AllChangedVertex),
        /// Everything that several objects of a resource wait for.
        DestroyJoin(DestroyJoinVertex),
    }
    visit(ApplyContext<'_>) ->
        /// Result of visiting a vertex.
        ApplyVisitOutcome;
    record(&mut ApplyRecorder<'_, '_>) -> ();
    $ with_apply_kind!
}
