//! Adds a vertex for each variable, local value and output.

use formwork_value::Diagnostics;

use crate::eval::vertex::{NamedValue, ValueVertex};
use crate::plan::build::Inputs;
use crate::plan::vertex::Vertex;

pub(in crate::plan) fn add<'c>(
    inputs: Inputs<'c>,
    _: &mut Diagnostics,
    add: &mut dyn FnMut(Vertex<'c>),
) {
    for node in &inputs.session.config.nodes {
        let module = &*node.module;
        let variables = module.variables.values().map(NamedValue::Variable);
        let locals = module.locals.values().map(NamedValue::Local);
        let outputs = module.outputs.values().map(NamedValue::Output);
        let checks = module.checks.values().map(NamedValue::Check);
        for value in variables.chain(locals).chain(outputs).chain(checks) {
            add(Vertex::Value(ValueVertex { node, value }));
        }
    }
}
