//! Adds two vertices for each called module: one where its instances become known, and one where
//! everything in it is done.

use formwork_value::Diagnostics;

use crate::eval::call::CallVertex;
use crate::plan::build::Inputs;
use crate::plan::vertex::Vertex;

pub(in crate::plan) fn add<'c>(
    inputs: Inputs<'c>,
    _: &mut Diagnostics,
    add: &mut dyn FnMut(Vertex<'c>),
) {
    let config = inputs.session.config;
    for call in config.nodes.iter().filter_map(|node| CallVertex::of(config, node)) {
        add(Vertex::Call(call));
        add(Vertex::Closed(call.node));
    }
}
