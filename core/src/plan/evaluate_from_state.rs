//! Finds the values of everything as the state has it, to evaluate expressions interactively and to
//! check the result of an apply.
//! Requests only schemas from providers, and decides nothing.

use formwork_value::{Diagnostics, Reported, Value};

use super::PlanOptions;
use super::transform::PlanGraphBuilder;
use super::vertex::{PlanVertex, ResourceVertex};
use crate::eval::expand::check_repetition;
use crate::eval::{Expansion, ModuleResults};
use crate::instance_steps::decode_stored_value;
use crate::provider::ResourceType;
use crate::session::Session;
use crate::shared_graph::SharedVertex;

/// The meaning of a resource that the state does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingResourceMeaning {
    /// It may not have been created yet, so it is unknown.
    Unknown,
    /// The state is that after an apply, so a resource whose `count` or `for_each` is empty has no
    /// instances. Others may have been left out of the apply, and are unknown.
    MayBeEmpty,
}

/// Records values for everything in the configuration. Resources that are not in the state have the
/// meaning `missing`; values that cannot be found because of an error are unknown.
///
/// # Errors
/// When the graph cannot be built. After any other error, which is reported as well, expressions can
/// be evaluated all the same.
pub async fn evaluate_from_state(
    session: &Session<'_>,
    diags: &mut Diagnostics,
    missing: MissingResourceMeaning,
) -> Result<(), Reported> {
    let options = PlanOptions::default();
    let graph = PlanGraphBuilder::new(session, &options).build_frozen(diags).await?;
    let eval_inputs = session.eval_inputs();
    for &id in graph.topological_order() {
        match &graph[id] {
            PlanVertex::SharedVertex(SharedVertex::Value(value)) => {
                let found = session
                    .evaluate_with_functions(diags, |diags| value.visit_value(diags, eval_inputs))
                    .await;
                let found = found.unwrap_or_else(|_| {
                    let modules = session.results.module_instances(&value.node.path);
                    modules.iter().map(|_| Value::dynamic()).collect()
                });
                value.record_values(session.results, found);
            }
            PlanVertex::SharedVertex(SharedVertex::Call(call)) => {
                let found = session
                    .evaluate_with_functions(diags, |diags| call.visit(diags, eval_inputs))
                    .await;
                if let Ok(found) = found {
                    call.record(eval_inputs, found);
                }
            }
            PlanVertex::Resource(resource) => {
                evaluate_resource_from_state(session, resource, missing).await;
            }
            PlanVertex::SharedVertex(_) | PlanVertex::Read(_) | PlanVertex::Orphan(_) => {}
        }
    }
    Ok(())
}

async fn evaluate_resource_from_state(
    session: &Session<'_>,
    vertex: &ResourceVertex<'_>,
    missing: MissingResourceMeaning,
) {
    let name = &vertex.addr.resource;
    let Some(loaded) = session.pool.loaded_provider(&vertex.provider.provider) else { return };
    let ty = loaded.find_resource_type(name.mode(), name.resource_type());
    for module in session.results.module_instances(&vertex.node.path) {
        let known = ty.as_ref().and_then(|ty| record_stored_instances(module, vertex, ty));
        if let Some(results) = module.resource_results(name)
            && known.is_none()
        {
            let empty = match missing {
                MissingResourceMeaning::Unknown => None,
                MissingResourceMeaning::MayBeEmpty => {
                    find_empty_expansion(session, module, vertex).await
                }
            };
            match empty {
                Some(empty) => results.set_expansion(empty),
                None => results.set_placeholder(Value::dynamic()),
            }
        }
    }
}

/// The expansion of a resource, if it has no instances.
async fn find_empty_expansion(
    session: &Session<'_>,
    module: &ModuleResults,
    vertex: &ResourceVertex<'_>,
) -> Option<Expansion> {
    let scope = session.module_scope(module);
    // The plan has reported errors.
    let found = session
        .evaluate_with_functions(&mut Diagnostics::new(), |diags| {
            check_repetition(diags, &scope, &vertex.config.repetition)
        })
        .await;
    found.ok().flatten().filter(|expansion| expansion.is_empty())
}

/// Records the instances that the state has, if it has any.
fn record_stored_instances(
    module: &ModuleResults,
    vertex: &ResourceVertex<'_>,
    ty: &ResourceType,
) -> Option<()> {
    let prior = vertex.prior_state_in_module(module.module_addr())?;
    let results = module.resource_results(&vertex.addr.resource)?;
    let expansion = Expansion::from_state(&vertex.config.repetition, Some(prior));
    results.set_expansion(expansion.clone());
    for key in expansion.keys() {
        let object = prior.instances.get(&key).and_then(|instance| instance.current.as_ref());
        let value = object.and_then(|object| decode_stored_value(ty, object));
        results.set_instance(&key, value.unwrap_or_else(Value::dynamic));
    }
    Some(())
}
