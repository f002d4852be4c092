//! Adds a vertex for each managed resource that is only in the state, or of which an object is to come
//! into it. Data sources that are only in the state are dropped by the recorder without a visit.

use formwork_value::Diagnostics;

use crate::addr::Mode;
use crate::plan::transform::Inputs;
use crate::plan::vertex::{OrphanVertex, Vertex};

pub(in crate::plan) fn add<'c>(
    inputs: Inputs<'c>,
    _: &mut Diagnostics,
    add: &mut dyn FnMut(Vertex<'c>),
) {
    let session = inputs.session;
    // Terraform's `import` leaves the objects alone that no block describes: they are neither upgraded
    // nor read.
    let is_import = inputs.options.adoptions.values().any(|adoption| adoption.all);
    let prior = session.state.resources.iter().filter(|_| !is_import);
    for (addr, prior) in prior {
        let written = session.config.resource(&addr.config()).is_some();
        if !written && addr.resource.mode() == Mode::Managed {
            let (addr, provider) = (addr.clone(), prior.provider.clone());
            add(Vertex::Orphan(OrphanVertex { addr, provider, prior: Some(prior) }));
        }
    }
    for (addr, provider) in inputs.adopted_orphans() {
        add(Vertex::Orphan(OrphanVertex { addr, provider: provider.clone(), prior: None }));
    }
}
