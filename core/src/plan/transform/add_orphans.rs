//! Adds a vertex for each managed resource that is only in the state, or of which an object is to come
//! into it. Data sources that are only in the state are dropped by the recorder without a visit.

use formwork_value::Diagnostics;

use crate::addr::ResourceMode;
use crate::plan::transform::TransformInputs;
use crate::plan::vertex::{OrphanResourceVertex, PlanVertex};

pub(in crate::plan) fn add_orphans<'c>(
    inputs: TransformInputs<'c>,
    _: &mut Diagnostics,
    add: &mut dyn FnMut(PlanVertex<'c>),
) {
    let session = inputs.session;
    // Terraform's `import` ignores the objects that no block describes: they are neither upgraded
    // nor read.
    let is_import = inputs.options.adoptions.values().any(|adoption| adoption.all);
    let prior = session.state.resources.iter().filter(|_| !is_import);
    for (addr, prior) in prior {
        let written = session.config.find_resource(&addr.config_addr()).is_some();
        if !written && addr.resource.mode() == ResourceMode::Managed {
            let (addr, provider) = (addr.clone(), prior.provider.clone());
            add(OrphanResourceVertex { addr, provider, prior: Some(prior) }.into());
        }
    }
    for (addr, provider) in inputs.adopted_orphans() {
        let provider = provider.clone();
        add(OrphanResourceVertex { addr, provider, prior: None }.into());
    }
}
