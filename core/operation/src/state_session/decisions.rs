//! Decisions about the open operations of a session, made by the user or by querying the provider.

use std::collections::BTreeMap;

use formwork_core::addr::InstanceAddr;
use formwork_core::plan::{InterruptedSearchResult, Plan};
use formwork_core::state::recover::UnresolvedOperation;
use formwork_value::{Diagnostic, Diagnostics, Value};

use super::StateSession;
use crate::messages;

impl StateSession {
    /// Records a decision about an instance, which is stored with the state. Returns the operations
    /// that were open.
    pub(crate) fn mark_decided(
        &mut self,
        addr: &InstanceAddr,
        how: &str,
    ) -> Vec<UnresolvedOperation> {
        self.recovery.as_mut().map(|recovery| recovery.mark_decided(addr, how)).unwrap_or_default()
    }

    /// Planned values of objects that interrupted runs may have created. If several such objects
    /// now have the same address, only the user can determine the right one.
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

    /// The reason why no decision about an instance is possible.
    pub fn no_single_open_operation_error(&self, addr: &InstanceAddr) -> Diagnostic {
        let origins = self.recovery.iter().flat_map(|recovery| recovery.original_addresses(addr));
        let origins: String = origins.map(|origin| format!("\n  {origin}")).collect();
        if origins.is_empty() {
            let detail = format!(
                "No interrupted run left an operation open at {addr}. `formwork recover list` lists the open operations."
            );
            return Diagnostic::error(messages::NOTHING_TO_SETTLE, detail);
        }
        let detail = format!(
            "Interrupted runs left several operations open whose address is now {addr}. Use the former address of the operation you mean:{origins}"
        );
        Diagnostic::error(messages::SEVERAL_OPERATIONS_ARE_OPEN, detail)
    }

    /// Takes over the findings of a plan about objects that interrupted runs may have created.
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
                InterruptedSearchResult::Found => "It matches the plan, and was added to the state",
                InterruptedSearchResult::NotCreated => {
                    "The object was not created, so this plan creates it"
                }
            };
            let detail = format!(
                "{addr} was being created when a run was interrupted. When queried, {how}. {then}."
            );
            let summary = messages::INTERRUPTED_OPERATION_WAS_RESOLVED;
            diags.warn(Diagnostic::warning(summary, detail).about(addr.to_string()));
        }
    }
}
