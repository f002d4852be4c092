//! Inputs of visits, and the steps that several kinds of vertices have in common. The visit of each kind
//! is in the file of the kind.

pub(super) mod changing_call;
pub(super) mod provision;

use std::cell::RefCell;
use std::sync::Arc;

use formwork_value::{Diagnostic, Diagnostics, Reported, Value};

use crate::addr::{DeposedKey, InstanceAddr, InstanceKey, ModuleAddr};
use crate::ephemeral::EphemeralResources;
use crate::eval::{Expansion, ModuleScope};
use crate::messages;
use crate::plan::Plan;
use crate::session::Session;
use crate::state::journal::Journal;
use crate::state::{ObjectState, State};

/// Data that every visit may read.
#[derive(Clone, Copy)]
pub(crate) struct ApplyContext<'a> {
    pub(super) session: &'a Session<'a>,
    pub(super) plan: &'a Plan,
    pub(super) journal: &'a Journal,
    /// The ephemeral resources that are open.
    pub(super) ephemeral_resources: &'a EphemeralResources<'a>,
    pub(super) recorded: RecordedState<'a>,
}

/// The state with the results that are recorded so far, for reading.
#[derive(Clone, Copy)]
pub(super) struct RecordedState<'a>(&'a RefCell<State>);

impl<'a> RecordedState<'a> {
    pub(super) fn new(state: &'a RefCell<State>) -> Self {
        Self(state)
    }

    /// Returns an object as it is recorded now.
    pub(super) fn find_object(
        self,
        addr: &InstanceAddr,
        deposed: Option<&DeposedKey>,
    ) -> Option<Arc<ObjectState>> {
        // The borrow ends here, before the visit waits for anything.
        self.0.borrow().find_object(addr, deposed).cloned()
    }
}

/// The instances of a resource in an instance of its module, with the values of those that do not
/// change.
pub(crate) struct ExpandedResource {
    pub(super) module: ModuleAddr,
    pub(super) expansion: Expansion,
    pub(super) known_values: Vec<(InstanceKey, Value)>,
}

impl<'a> ApplyContext<'a> {
    /// Meaning of names within an instance.
    ///
    /// # Errors
    /// Returns an error if the module instance no longer exists.
    pub(super) fn instance_scope(
        self,
        diags: &mut Diagnostics,
        addr: &InstanceAddr,
    ) -> Result<ModuleScope<'a>, Reported> {
        let Some(module) = self.session.results.module_instance(&addr.module) else {
            return Err(diags.error(missing_module_instance_error(addr)));
        };
        // Without an expansion, `count` and `each` have no values.
        let expansion = module.resource_results(&addr.resource);
        let data =
            expansion.and_then(|results| Some(results.expansion()?.repetition_data(&addr.key)));
        Ok(self.session.module_scope(module).with_repetition(data.unwrap_or_default()))
    }
}

/// A module that had an instance while planning and has none now: its repetition is not the same.
fn missing_module_instance_error(addr: &InstanceAddr) -> Diagnostic {
    let detail = format!(
        "The plan has {addr}, but now {} is not among the instances of its module. Its count or for_each must not change between planning and applying.",
        addr.module
    );
    Diagnostic::error(messages::MODULE_INSTANCE_DOES_NOT_EXIST, detail).about(addr.to_string())
}
