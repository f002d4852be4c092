//! Adds a vertex for each variable, local value and output.

use formwork_value::Diagnostics;

use crate::eval::vertex::ValueVertex;
use crate::plan::build::Inputs;
use crate::plan::vertex::Vertex;

pub(in crate::plan) fn add<'c>(
    inputs: Inputs<'c>,
    _: &mut Diagnostics,
    add: &mut dyn FnMut(Vertex<'c>),
) {
    let module = inputs.session.module();
    module.variables.values().for_each(|v| add(Vertex::Value(ValueVertex::Variable(v))));
    module.locals.values().for_each(|local| add(Vertex::Value(ValueVertex::Local(local))));
    module.outputs.values().for_each(|output| add(Vertex::Value(ValueVertex::Output(output))));
}
