//! Finds the values of everything as the state has it, to evaluate expressions interactively.
//! Requests only schemas from providers, and decides nothing.

use formwork_value::{Diagnostics, Reported, Value};

use super::vertex::{ResourceVertex, Vertex};
use super::{Options, build};
use crate::eval::{Expansion, ModuleResults};
use crate::instance::stored_value;
use crate::provider::ResourceType;
use crate::session::Session;
use crate::shared_graph::SharedVertex;

/// Records values for everything in the configuration. Objects that are not in the state are
/// unknown, and so are values that cannot be found because of an error.
///
/// # Errors
/// When the graph cannot be built. After any other error, which is reported as well, expressions can
/// be evaluated all the same.
pub async fn inspect(session: &Session<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
    let options = Options::default();
    let graph = build::graph(diags, session, &options).await?;
    let eval_inputs = session.eval_inputs();
    for &id in graph.order() {
        match &graph[id] {
            Vertex::SharedVertex(SharedVertex::Value(value)) => {
                let found = session.settled(diags, |diags| value.visit(diags, eval_inputs)).await;
                let found = found.unwrap_or_else(|_| {
                    let modules = session.results.module_instances(&value.node.path);
                    modules.iter().map(|_| Value::dynamic()).collect()
                });
                value.record(session.results, found);
            }
            Vertex::SharedVertex(SharedVertex::Call(call)) => {
                let found = session.settled(diags, |diags| call.visit(diags, eval_inputs)).await;
                if let Ok(found) = found {
                    call.record(eval_inputs, found);
                }
            }
            Vertex::Resource(resource) => inspect_resource(session, resource),
            Vertex::SharedVertex(_) | Vertex::Read(_) | Vertex::Orphan(_) => {}
        }
    }
    Ok(())
}

fn inspect_resource(session: &Session<'_>, vertex: &ResourceVertex<'_>) {
    let name = &vertex.addr.resource;
    let Some(loaded) = session.pool.loaded(&vertex.provider.provider) else { return };
    let ty = loaded.find(name.mode(), name.kind());
    for module in session.results.module_instances(&vertex.node.path) {
        let known = ty.as_ref().and_then(|ty| stored(module, vertex, ty));
        if let Some(results) = module.resource(name)
            && known.is_none()
        {
            results.set_placeholder(Value::dynamic());
        }
    }
}

/// Records the instances that the state has, if it has any.
fn stored(module: &ModuleResults, vertex: &ResourceVertex<'_>, ty: &ResourceType) -> Option<()> {
    let prior = vertex.prior_in(module.addr())?;
    let results = module.resource(&vertex.addr.resource)?;
    let expansion = Expansion::recorded(&vertex.config.repetition, Some(prior));
    results.expand(expansion.clone());
    for key in expansion.keys() {
        let object = prior.instances.get(&key).and_then(|instance| instance.current.as_ref());
        let value = object.and_then(|object| stored_value(ty, object));
        results.set(&key, value.unwrap_or_else(Value::dynamic));
    }
    Some(())
}
