//! Values of resources as the state has them.

use formwork_value::{Diagnostics, Value};

use super::resource_vertex::ResourceVertex;
use crate::eval::expand::check_repetition;
use crate::eval::{Expansion, ModuleResults};
use crate::instance_steps::decode_stored_value;
use crate::provider::ResourceType;
use crate::session::Session;

/// The meaning of a resource that the state does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingResourceMeaning {
    /// It may not have been created yet, so it is unknown.
    Unknown,
    /// The state is that after an apply, so a resource whose `count` or `for_each` is empty has no
    /// instances. Others may have been left out of the apply, and are unknown.
    MayBeEmpty,
}

/// The state as a source of values.
#[derive(Clone, Copy)]
pub(crate) struct StoredValues<'s> {
    pub(crate) session: &'s Session<'s>,
    /// The meaning of resources that it does not have.
    pub(crate) missing: MissingResourceMeaning,
}

impl StoredValues<'_> {
    /// Records the values of a resource, by instance of its module.
    pub(super) async fn evaluate_resource(self, vertex: &ResourceVertex<'_>) {
        let session = self.session;
        let name = &vertex.addr.resource;
        let Some(loaded) = session.pool.loaded_provider(&vertex.provider.provider) else { return };
        let ty = loaded.find_resource_type(name.mode(), name.resource_type());
        for module in session.results.module_instances(&vertex.node.path) {
            let known = ty.as_ref().and_then(|ty| record_stored_instances(module, vertex, ty));
            if let Some(results) = module.resource_results(name)
                && known.is_none()
            {
                let empty = match self.missing {
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
}

/// The expansion of a resource, if it has no instances.
async fn find_empty_expansion(
    session: &Session<'_>,
    module: &ModuleResults,
    vertex: &ResourceVertex<'_>,
) -> Option<Expansion> {
    let scope = session.module_scope(module);
    // The plan has reported errors.
    let expansion = session
        .evaluate_with_functions(&mut Diagnostics::new(), |diags| {
            check_repetition(diags, &scope, &vertex.config.repetition)
        })
        .await;
    expansion.ok().flatten().filter(|expansion| expansion.is_empty())
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
