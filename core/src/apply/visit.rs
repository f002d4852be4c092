//! Selects the function that visits each kind of vertex, in one match.

mod call;
mod destroy;
mod expand;
mod instance;
mod open;
mod provision;
mod unchanged;

use std::sync::Arc;

use formwork_value::{Diagnostics, Value};

use super::vertex::Vertex;
use crate::addr::{DeposedKey, InstanceKey, ModuleAddr};
use crate::ephemeral::EphemeralResources;
use crate::eval::Expansion;
use crate::instance::point_at_parts;
use crate::plan::Plan;
use crate::session::Session;
use crate::shared_graph::SharedOutcome;
use crate::state::Object;
use crate::state::journal::Journal;

/// Data that every visit may read.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub(super) session: &'a Session<'a>,
    pub(super) plan: &'a Plan,
    pub(super) journal: &'a Journal,
    /// The ephemeral resources that are open.
    pub(super) ephemeral_resources: &'a EphemeralResources<'a>,
}

/// Result of a visit.
pub(super) enum ApplyOutcome {
    /// Nothing to record.
    Nothing,
    /// Result of visiting a shared vertex.
    SharedVertex(SharedOutcome),
    /// The instances of a resource, for each instance of its module.
    Expanded(Vec<Expanded>),
    /// An object was made or changed, or an attempt left something behind.
    Made {
        /// The object; `None` if nothing is there.
        object: Option<Arc<Object>>,
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
        left: Option<Arc<Object>>,
    },
}

/// The instances of a resource in an instance of its module, with the values of those that do not
/// change.
pub(super) struct Expanded {
    pub(super) module: ModuleAddr,
    pub(super) expansion: Expansion,
    pub(super) settled: Vec<(InstanceKey, Value)>,
}

/// Visits a vertex. `object` is the object to be destroyed, as it is recorded now.
pub(super) async fn visit(
    view: View<'_>,
    object: Option<Arc<Object>>,
    vertex: &Vertex<'_>,
) -> (Diagnostics, ApplyOutcome) {
    let mut diags = Diagnostics::new();
    let session = view.session;
    let came = match vertex {
        Vertex::SharedVertex(shared) => {
            let inputs = session.eval_inputs();
            ApplyOutcome::SharedVertex(
                shared.visit(&mut diags, session, inputs, view.ephemeral_resources).await,
            )
        }
        Vertex::Expand(expand) => {
            let find = |diags: &mut Diagnostics| expand::visit(view, diags, expand);
            session.settled(&mut diags, find).await.unwrap_or(ApplyOutcome::Nothing)
        }
        Vertex::Open(open) => open::visit(view, &mut diags, open).await,
        Vertex::Instance(instance) => {
            // Much larger than what the other vertices need, which are many.
            let came = Box::pin(instance::visit(view, &mut diags, instance)).await;
            point_at_parts(&mut diags, &instance.config.body, instance.config.span);
            came.unwrap_or(ApplyOutcome::Nothing)
        }
        Vertex::Unchanged(instance) => {
            // A failure is in `diags`; there is nothing to record either way.
            let _ = unchanged::visit(view, &mut diags, instance).await;
            ApplyOutcome::Nothing
        }
        Vertex::Destroy(destroy) => {
            let came = Box::pin(destroy::visit(view, object, &mut diags, destroy)).await;
            came.unwrap_or(ApplyOutcome::Nothing)
        }
        Vertex::Done(_) | Vertex::Gone(_) | Vertex::Free(_) | Vertex::Changed => {
            ApplyOutcome::Nothing
        }
    };
    (diags, came)
}
