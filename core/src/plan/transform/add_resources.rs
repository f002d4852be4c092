//! Adds a vertex for each resource that is written in the configuration, with what the state holds
//! of it.

use std::sync::Arc;

use formwork_value::Diagnostics;

use crate::addr::ResourceAddr;
use crate::plan::build::{Inputs, provider_of};
use crate::plan::vertex::{ResourceVertex, Vertex};

pub(in crate::plan) fn add<'c>(
    inputs: Inputs<'c>,
    _: &mut Diagnostics,
    add: &mut dyn FnMut(Vertex<'c>),
) {
    let session = inputs.session;
    for config in session.module().resources.values() {
        let addr = ResourceAddr { module: session.module_addr(), resource: config.name.clone() };
        let prior = session.state.resources.get(&addr).map(Arc::as_ref);
        add(Vertex::Resource(ResourceVertex {
            provider: provider_of(config),
            addr,
            config,
            prior,
        }));
    }
}
