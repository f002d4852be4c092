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
        reason: &str,
    ) -> Vec<UnresolvedOperation> {
        self.recovery
            .as_mut()
            .map(|recovery| recovery.mark_decided(addr, reason))
            .unwrap_or_default()
    }

    /// Planned values of objects that interrupted runs may have created. If several such objects
    /// now have the same address, only the user can determine the right one.
    pub fn interrupted_creations(&self) -> BTreeMap<InstanceAddr, Value> {
        let Some(recovery) = &self.recovery else { return BTreeMap::new() };
        let is_only_operation = |operation: &&UnresolvedOperation| {
            recovery.original_addresses(operation.current_addr()).len() == 1
        };
        let operations = recovery.unresolved.iter().filter(is_only_operation);
        operations
            .filter_map(|operation| {
                Some((operation.current_addr().clone(), operation.planned_value_to_find()?.clone()))
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
            let reason = match search {
                InterruptedSearchResult::Found => "the provider found the object",
                InterruptedSearchResult::NotCreated => "the provider found no such object",
            };
            if self.mark_decided(addr, reason).is_empty() {
                continue;
            }
            let consequence = match search {
                InterruptedSearchResult::Found => "It matches the plan, and was added to the state",
                InterruptedSearchResult::NotCreated => {
                    "The object was not created, so this plan creates it"
                }
            };
            let detail = format!(
                "{addr} was being created when a run was interrupted. When queried, {reason}. {consequence}."
            );
            let summary = messages::INTERRUPTED_OPERATION_WAS_RESOLVED;
            diags.warn(Diagnostic::warning(summary, detail).about(addr.to_string()));
        }
    }
}
