//! Decisions about the open operations of a session: those of the user, and those that a search of the
//! provider made.

use std::collections::BTreeMap;

use formwork_core::addr::InstanceAddr;
use formwork_core::plan::{InterruptedSearchResult, Plan};
use formwork_core::state::recover::UnresolvedOperation;
use formwork_value::{Diagnostic, Diagnostics, Value};

use super::StateSession;
use crate::messages;

impl StateSession {
    /// Records a decision about an instance, to be kept with the state. Returns the operations that
    /// were open.
    pub(crate) fn mark_decided(
        &mut self,
        addr: &InstanceAddr,
        how: &str,
    ) -> Vec<UnresolvedOperation> {
        self.recovery.as_mut().map(|recovery| recovery.mark_decided(addr, how)).unwrap_or_default()
    }

    /// Planned values of objects that interrupted runs may have made. If several have come to one
    /// address, only the user can tell the right one.
    pub fn interrupted_creations(&self) -> BTreeMap<InstanceAddr, Value> {
        let Some(recovery) = &self.recovery else { return BTreeMap::new() };
        let is_alone =
            |one: &&UnresolvedOperation| recovery.original_addresses(one.current_addr()).len() == 1;
        let open = recovery.unresolved.iter().filter(is_alone);
        open.filter_map(|one| {
            Some((one.current_addr().clone(), one.planned_value_to_find()?.clone()))
        })
        .collect()
    }

    /// Reason why nothing can be decided about an instance.
    pub fn no_single_open_operation_error(&self, addr: &InstanceAddr) -> Diagnostic {
        let origins = self.recovery.iter().flat_map(|recovery| recovery.original_addresses(addr));
        let origins: String = origins.map(|origin| format!("\n  {origin}")).collect();
        if origins.is_empty() {
            let detail = format!(
                "No interrupted run left anything open about {addr}. `formwork recover list` shows what is."
            );
            return Diagnostic::error(messages::NOTHING_TO_SETTLE, detail);
        }
        let detail = format!(
            "Interrupted runs left several things open that are {addr} by now. Use the former address of the right one:{origins}"
        );
        Diagnostic::error(messages::SEVERAL_OPERATIONS_ARE_OPEN, detail)
    }

    /// Takes over the findings of a plan about objects that interrupted runs may have made.
    pub fn settle_by_search_results(&mut self, diags: &mut Diagnostics, plan: &Plan) {
        for (addr, search) in &plan.searches {
            let how = match search {
                InterruptedSearchResult::Found => "the provider found the object",
                InterruptedSearchResult::NotCreated => "the provider found no such object",
            };
            if self.mark_decided(addr, how).is_empty() {
                continue;
            }
            let then = match search {
                InterruptedSearchResult::Found => {
                    "It is as it was to be, and belongs to the state from now on"
                }
                InterruptedSearchResult::NotCreated => {
                    "So it was not made, and is made by this plan"
                }
            };
            let detail = format!(
                "{addr} was being created when a run was interrupted. Asked for it, {how}. {then}."
            );
            let summary = messages::INTERRUPTED_OPERATION_WAS_RESOLVED;
            diags.warn(Diagnostic::warning(summary, detail).about(addr.to_string()));
        }
    }
}
