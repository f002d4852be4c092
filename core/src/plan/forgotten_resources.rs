//! Evaluates `removed` blocks: finds the resources that are only taken out of the state, and checks
//! that none of them is still in the configuration. Pure.

use std::collections::BTreeSet;
use std::sync::Arc;

use formwork_value::{Diagnostic, Diagnostics, Reported};

use crate::addr::{ConfigResourceAddr, ModulePath, ResourceAddr};
use crate::config::{Config, RemovedBlock};
use crate::messages;

/// The resources that are not destroyed where they are no longer written.
#[derive(Debug, Default)]
pub(crate) struct ForgottenResources {
    modules: BTreeSet<ModulePath>,
    resources: BTreeSet<ConfigResourceAddr>,
}

impl ForgottenResources {
    /// Collects the blocks of all modules.
    pub(crate) fn from_config(config: &Config) -> Self {
        let mut forgotten = Self::default();
        for (module, removed) in removed_blocks(config).filter(|(_, removed)| !removed.destroy) {
            match &removed.resource {
                Some(name) => {
                    let resource = name.clone();
                    forgotten.resources.insert(ConfigResourceAddr { module, resource });
                }
                None => drop(forgotten.modules.insert(module)),
            }
        }
        forgotten
    }

    /// Whether the objects of a resource are only taken out of the state.
    pub(crate) fn contains(&self, addr: &ResourceAddr) -> bool {
        if self.modules.is_empty() && self.resources.is_empty() {
            return false;
        }
        let addr = addr.config_addr();
        let mut above = addr.module.0.to_vec();
        // A `removed` block of a module covers every module in it.
        while !above.is_empty() {
            if self.modules.contains(&ModulePath(Arc::new(above.clone()))) {
                return true;
            }
            above.pop();
        }
        self.resources.contains(&addr)
    }
}

/// Reports `removed` blocks whose object is still in the configuration.
///
/// # Errors
/// When there is any.
pub(crate) fn check_removed_blocks(
    diags: &mut Diagnostics,
    config: &Config,
) -> Result<(), Reported> {
    for (module, removed) in removed_blocks(config) {
        let (subject, name, span) = match &removed.resource {
            Some(name) => {
                let addr = ConfigResourceAddr { module, resource: name.clone() };
                let Some(resource) = config.find_resource(&addr) else { continue };
                ("resource", addr.to_string(), resource.span)
            }
            None => {
                let call = config.find_node(&module).and_then(|node| config.call_of_module(node));
                let Some((_, call)) = call else { continue };
                ("module", module.to_string(), call.site.span)
            }
        };
        let detail = format!(
            "A `removed` block says that {name} is no longer written, but it is written here. Take \
             out the one or the other."
        );
        let summary = messages::REMOVED_STILL_EXISTS.with(&[&subject]);
        let _ = diags.error(Diagnostic::error(summary, detail).at(span));
    }
    diags.fail_if_errors()
}

/// All blocks, each with the module it is about as the root sees it.
fn removed_blocks(config: &Config) -> impl Iterator<Item = (ModulePath, &RemovedBlock)> {
    config.nodes.iter().flat_map(|node| {
        node.module.removed.iter().map(|removed| {
            let steps = node.path.0.iter().chain(removed.module.0.iter()).cloned();
            (ModulePath(Arc::new(steps.collect())), removed)
        })
    })
}
