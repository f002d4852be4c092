//! Imports existing objects.

use std::iter;

use formwork_core::addr::{InstanceAddr, ResourceAddr, ResourceMode, Target};
use formwork_core::change::ImportKey;
use formwork_core::config::Config;
use formwork_core::eval::Results;
use formwork_core::moved;
use formwork_core::plan::{AdoptionSource, Plan, PlanMode, PlanOptions};
use formwork_core::state::State;
use formwork_value::{Diagnostic, Diagnostics, Reported};

use crate::messages;
use crate::observer::EngineEventForwarder;
use crate::operation::Operation;
use crate::plan::PlanInputs;
use crate::state_session::StateSession;
use crate::state_session::refuse_if_other_object_at_addr;

/// Reads the address of an instance of a managed resource.
///
/// # Errors
/// Returns an error if the string is not such an address.
pub fn parse_managed_instance_addr(
    diags: &mut Diagnostics,
    text: &str,
) -> Result<InstanceAddr, Reported> {
    let addr: InstanceAddr = text.parse().map_err(|error| {
        let detail = format!("{text:?} is not the address of a resource instance: {error}");
        diags.error(Diagnostic::error(messages::INVALID_ADDRESS, detail))
    })?;
    if addr.resource.mode() != ResourceMode::Managed {
        let summary = messages::IMPORT_INTO_DATA_RESOURCE;
        let detail = format!("{addr} does not name an instance of a managed resource.");
        return Err(diags.error(Diagnostic::error(summary, detail)));
    }
    Ok(addr)
}

impl Operation<'_> {
    /// Finds the object that a key identifies, adds it to the state under an address, and stores the
    /// state. As in Terraform, the whole configuration is evaluated, and its data sources are read.
    ///
    /// ```
    /// use formwork_operation::import::parse_managed_instance_addr;
    /// use formwork_operation::prelude::*;
    ///
    /// async fn import_web_server(
    ///     diags: &mut Diagnostics,
    ///     operation: &Operation<'_>,
    ///     session: &mut StateSession,
    /// ) -> Result<(), Reported> {
    ///     let addr = parse_managed_instance_addr(diags, "aws_instance.web")?;
    ///     operation.import(diags, session, &addr, ImportKey::Id("i-0abc".into())).await
    /// }
    /// ```
    ///
    /// # Errors
    /// Returns an error if the address has an object already or has no block, if the provider finds
    /// no object, or if the state cannot be written.
    pub async fn import(
        &self,
        diags: &mut Diagnostics,
        session: &mut StateSession,
        addr: &InstanceAddr,
        import_key: ImportKey,
    ) -> Result<(), Reported> {
        session.store.cipher().check_identity_decrypts(diags)?;
        session.refuse_if_journals_are_misplaced(diags)?;
        // An operation of an interrupted run may be open under a former address. The import settles
        // it.
        session.follow_moves_of_unresolved(self.inputs.config);
        let adoption = AdoptionSource { import_key, all: true, unwritten: None };
        self.run_with_graceful_cancel(
            self.import_without_storing_state(diags, session, addr, adoption),
        )
        .await?;
        session.mark_decided(addr, "imported by the user");
        session.write_state_or_errored_file(diags).await
    }

    /// Finds one or several objects and adds them to the state, which is not stored yet.
    ///
    /// # Errors
    /// Returns an error if an address has an object already or has no block, or if the provider
    /// finds no object.
    pub(crate) async fn import_without_storing_state(
        &self,
        diags: &mut Diagnostics,
        session: &mut StateSession,
        addr: &InstanceAddr,
        adoption: AdoptionSource,
    ) -> Result<(), Reported> {
        if is_taken_now_or_after_moves(self.inputs.config, &session.file.state, addr) {
            // Without the object in the state, the operation of an interrupted run would still be open.
            let open_operations =
                session.unresolved_needing_decision().filter(|operation| operation.addr == *addr);
            for operation in open_operations {
                refuse_if_other_object_at_addr(diags, &session.file.state, operation)?;
            }
            let detail = format!(
                "Formwork is already managing a remote object for {addr}. To import to this address you must first remove the existing object from the state."
            );
            let summary = messages::RESOURCE_ALREADY_MANAGED_BY_FORMWORK;
            return Err(diags.error(Diagnostic::error(summary, detail)));
        }
        // As in Terraform, `import` evaluates the whole configuration and reads its data sources.
        let is_import = adoption.all;
        let options = PlanOptions {
            // Without a refresh, this plan proposes no change and reads no stored object: an import
            // only adds objects.
            mode: PlanMode::RefreshOnly,
            skip_refresh: true,
            targets: if is_import { vec![] } else { vec![Target::Instance(addr.clone())] },
            adoptions: [(addr.clone(), adoption)].into(),
            ..PlanOptions::default()
        };
        let inputs = PlanInputs {
            results: &Results::new(self.inputs.config),
            state: &session.file.state,
            options: &options,
            watch: &EngineEventForwarder(self.observer),
        };
        let plan = self.make_plan(diags, inputs).await?;
        diags.fail_if_errors()?;
        let resource = plan.prior.resources.get(&addr.resource_addr());
        let object = plan.prior.current_object(addr);
        let (Some(resource), Some(object)) = (resource, object) else {
            let detail = format!("The run was interrupted before {addr} was found.");
            return Err(diags.error(Diagnostic::error(messages::EXECUTION_HALTED, detail)));
        };
        // Further objects that the id matches have their own addresses, which were free until now.
        let numbered_addrs = (1..).map(|number| addr.with_numbered_resource_name(number));
        let imported = numbered_addrs.map_while(|addr| {
            let object = plan.prior.current_object(&addr)?;
            session.file.state.current_object(&addr).is_none().then_some((addr, object))
        });
        let imported: Vec<_> = iter::once((addr.clone(), object)).chain(imported).collect();
        for (addr, object) in imported {
            let stored_resource =
                session.file.state.resource_or_insert(addr.resource_addr(), &resource.provider);
            stored_resource.instances.or_default(&addr.key).current = Some(object.clone());
        }
        take_outputs_and_data(&mut session.file.state, &plan, is_import);
        Ok(())
    }
}

/// Copies the outputs of a plan to the state, and for an import also the data sources that it has
/// read.
fn take_outputs_and_data(state: &mut State, plan: &Plan, is_import: bool) {
    // An output may refer to the imported object.
    state.outputs.clone_from(&plan.prior.outputs);
    if is_import {
        let unknown = plan.unknown_outputs_with_nulls();
        state.outputs.extend(unknown.map(|(name, output)| (name.clone(), output)));
        let is_data = |addr: &ResourceAddr| addr.resource.mode() == ResourceMode::Data;
        // This plan read all data sources, so those that are not among the results do not exist any
        // more.
        state.resources.retain(|addr, _| !is_data(addr));
        let read_resources = plan.prior.resources.iter().filter(|(addr, _)| is_data(addr));
        state
            .resources
            .extend(read_resources.map(|(addr, resource)| (addr.clone(), resource.clone())));
    }
}

/// Whether an object is at an address, or moves there with the next plan.
pub(crate) fn is_taken_now_or_after_moves(
    config: &Config,
    state: &State,
    addr: &InstanceAddr,
) -> bool {
    state.current_object(addr).is_some()
        || moved::state_after_moves(config, state).current_object(addr).is_some()
}

/// Checks that the resource to import has a block.
///
/// # Errors
/// Returns an error if the resource has no block.
pub fn check_resource_block_exists(
    diags: &mut Diagnostics,
    config: &Config,
    addr: &InstanceAddr,
) -> Result<(), Reported> {
    let Some(node) = config.find_node(&addr.module.path()) else {
        let detail = format!(
            "{} is not defined in the configuration. Please add configuration for this module before importing into it.",
            addr.module
        );
        return Err(diags.error(Diagnostic::error(messages::IMPORT_TO_NON_EXISTENT_MODULE, detail)));
    };
    if !node.module.resources.contains_key(&addr.resource) {
        let module = match addr.module.is_root() {
            true => "the root module".to_owned(),
            false => addr.module.to_string(),
        };
        let detail = format!(
            "Before importing this resource, please create its configuration in {module}. For example:\n\nresource {:?} {:?} {{\n  # (resource arguments)\n}}",
            addr.resource.resource_type(),
            addr.resource.name(),
        );
        let summary =
            messages::NO_BLOCK_TO_IMPORT_INTO.with(&[&format_args!("{:?}", addr.to_string())]);
        return Err(diags.error(Diagnostic::error(summary, detail)));
    }
    Ok(())
}
