//! Selects the function that visits each kind of vertex, in one match.

mod changing_call;
mod destroy;
mod expand;
mod instance;
mod open_ephemeral;
mod provision;
mod unchanged;

use std::sync::Arc;

use formwork_value::{Diagnostics, Value};

use super::vertex::ApplyVertex;
use crate::addr::{DeposedKey, InstanceKey, ModuleAddr};
use crate::ephemeral::EphemeralResources;
use crate::eval::Expansion;
use crate::instance_steps::point_diagnostics_at_parts;
use crate::plan::Plan;
use crate::session::Session;
use crate::shared_graph::SharedVisitOutcome;
use crate::state::ObjectState;
use crate::state::journal::Journal;

/// Data that every visit may read.
#[derive(Clone, Copy)]
pub(super) struct ApplyContext<'a> {
    pub(super) session: &'a Session<'a>,
    pub(super) plan: &'a Plan,
    pub(super) journal: &'a Journal,
    /// The ephemeral resources that are open.
    pub(super) ephemeral_resources: &'a EphemeralResources<'a>,
}

/// Result of a visit.
pub(super) enum ApplyVisitOutcome {
    /// Nothing to record.
    Nothing,
    /// Result of visiting a shared vertex.
    SharedVertex(SharedVisitOutcome),
    /// The instances of a resource, for each instance of its module.
    Expanded(Vec<ExpandedResource>),
    /// An object was made or changed, or an attempt left something behind.
    Made {
        /// The object; `None` if nothing is there.
        object: Option<Arc<ObjectState>>,
        /// Value that references to the instance see, if all went well.
        value: Option<Value>,
        /// Under which key the object before is deposed, if a new one was made first.
        deposes: Option<DeposedKey>,
        /// Whether the provider was asked to change anything.
        changed: bool,
    },
    /// An object was destroyed, or was to be and still exists.
    Destroyed {
        /// Object that still exists, if any.
        left: Option<Arc<ObjectState>>,
    },
}

/// The instances of a resource in an instance of its module, with the values of those that do not
/// change.
pub(super) struct ExpandedResource {
    pub(super) module: ModuleAddr,
    pub(super) expansion: Expansion,
    pub(super) settled: Vec<(InstanceKey, Value)>,
}

/// Visits a vertex. `object` is the object to be destroyed, as it is recorded now.
pub(super) async fn visit_vertex(
    view: ApplyContext<'_>,
    object: Option<Arc<ObjectState>>,
    vertex: &ApplyVertex<'_>,
) -> (Diagnostics, ApplyVisitOutcome) {
    let mut diags = Diagnostics::new();
    let session = view.session;
    let came = match vertex {
        ApplyVertex::SharedVertex(shared) => {
            let inputs = session.eval_inputs();
            ApplyVisitOutcome::SharedVertex(
                shared.visit_vertex(&mut diags, session, inputs, view.ephemeral_resources).await,
            )
        }
        ApplyVertex::Expand(expand) => {
            let find = |diags: &mut Diagnostics| expand::visit_expand(view, diags, expand);
            session
                .evaluate_with_functions(&mut diags, find)
                .await
                .unwrap_or(ApplyVisitOutcome::Nothing)
        }
        ApplyVertex::Open(open) => {
            open_ephemeral::visit_open_ephemeral(view, &mut diags, open).await
        }
        ApplyVertex::Instance(instance) => {
            // Much larger than what the other vertices need, which are many.
            let came = Box::pin(instance::visit_instance(view, &mut diags, instance)).await;
            point_diagnostics_at_parts(&mut diags, &instance.config.body, instance.config.span);
            came.unwrap_or(ApplyVisitOutcome::Nothing)
        }
        ApplyVertex::Unchanged(instance) => {
            // A failure is in `diags`; there is nothing to record either way.
            let _ = unchanged::visit_unchanged(view, &mut diags, instance).await;
            ApplyVisitOutcome::Nothing
        }
        ApplyVertex::Destroy(destroy) => {
            let came = Box::pin(destroy::visit_destroy(view, object, &mut diags, destroy)).await;
            came.unwrap_or(ApplyVisitOutcome::Nothing)
        }
        ApplyVertex::ResourceDone(_)
        | ApplyVertex::ResourceGone(_)
        | ApplyVertex::DestroyJoin(_)
        | ApplyVertex::AllChanged => ApplyVisitOutcome::Nothing,
    };
    (diags, came)
}
