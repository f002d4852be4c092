//! Requests plans of objects from a provider, and checks its responses against the contract. Each phase
//! interprets the response itself.

use bytes::Bytes;
use formwork_plugin_protocol::contract::conform;
use formwork_plugin_protocol::contract::ignore_changes::IgnoredChanges;
use formwork_plugin_protocol::contract::propose::proposed_new;
use formwork_plugin_protocol::contract::requires_replace::paths_requiring_replace;
use formwork_plugin_protocol::contract::{AnswerToCheck, Call, Violation, check_answer};
use formwork_value::diag::Message;
use formwork_value::{Diagnostics, Path, Plain, Reported};

use crate::config::IgnoreChanges;
use crate::messages;
use crate::provider::{
    CallContext, ChangeValues, ContractViolation, PlannedObject, ProviderClient, ResourceType,
};
use crate::state::ObjectState;

/// Summary of the diagnostics for contract violations, and the call of the response.
#[derive(Clone, Copy)]
pub(crate) struct ViolationSummary<'a> {
    pub(crate) summary: &'static Message,
    pub(crate) call: &'a str,
}

/// The response to a plan violates the contract.
pub(crate) const INVALID_PLAN_SUMMARY: ViolationSummary<'_> = ViolationSummary {
    summary: messages::PROVIDER_PRODUCED_INVALID_PLAN,
    call: "PlanResourceChange",
};

/// Prior object of a change.
#[derive(Clone, Copy)]
pub(crate) struct PriorObject<'a> {
    /// The value of the object, or null if none exists.
    pub(crate) value: &'a Plain,
    /// The object in the state, with its additional data.
    pub(crate) object: Option<&'a ObjectState>,
}

/// The provider and the object of a request, and the sensitive paths that messages must not show.
#[derive(Clone, Copy)]
pub(crate) struct ChangeRequest<'a> {
    pub(crate) client: &'a ProviderClient,
    pub(crate) ty: &'a ResourceType,
    pub(crate) about: CallContext<'a>,
    /// Paths that the configuration or the state marks as sensitive.
    pub(crate) secrets: &'a [Path],
}

impl ChangeRequest<'_> {
    /// Requests the planned object for a configuration.
    ///
    /// # Errors
    /// Returns an error if the call fails, or if the response violates the contract.
    pub(crate) async fn plan_change(
        self,
        diags: &mut Diagnostics,
        prior: PriorObject<'_>,
        config: &Plain,
        ignored: &IgnoreChanges,
    ) -> Result<PlannedObject, Reported> {
        let PriorObject { value: before, object } = prior;
        let block = self.ty.schema_block();
        let ignored = to_ignored_changes(ignored);
        let config = match &ignored {
            // Terraform replaces ignored attributes in the configuration before the provider sees
            // it, so a provider cannot plan a change for them.
            Some(ignored) => &ignored.apply_to_config(block, before, config),
            None => config,
        };
        let proposed = proposed_new(block, before, config);
        let private = object.map_or_else(Bytes::new, |object| object.private.clone());
        let identity = object.and_then(|object| self.ty.encode_identity(object));
        let (private, identity) = (&private, identity.as_ref());
        let values = ChangeValues { prior: before, proposed: &proposed, config, private, identity };
        // The paths have a separate rule, which `replace_paths` checks.
        let requires_replace = &[];
        let contract_call = |planned: &PlannedObject| {
            let legacy = planned.legacy;
            Call::Plan { prior: before, config, requires_replace, legacy }
        };
        let mut planned = self.request_plan(diags, values, contract_call).await?;
        if planned.legacy {
            // The legacy type system returns unknown and null blocks, which are kept.
            if let Some(ignored) = &ignored {
                // A provider of the legacy SDK may plan a change of an ignored attribute anyway.
                // Terraform resets it again.
                planned.value = ignored.apply_to_planned(before, &planned.value);
            }
        }
        Ok(planned)
    }

    /// Requests the new object of a replacement, as if no object existed before. `private` is the
    /// private data of the response that required the replacement.
    ///
    /// # Errors
    /// Returns an error if the call fails, or if the response violates the contract.
    pub(crate) async fn plan_replacement(
        self,
        diags: &mut Diagnostics,
        config: &Plain,
        private: &Bytes,
    ) -> Result<PlannedObject, Reported> {
        let block = self.ty.schema_block();
        // The provider must not carry over computed values of the old object, such as its id.
        let null = conform::default_destroy_plan(block);
        let proposed = proposed_new(block, &null, config);
        let values =
            ChangeValues { prior: &null, proposed: &proposed, config, private, identity: None };
        self.request_plan(diags, values, |_| Call::PlanReplacement).await
    }

    /// Requests a plan, and checks it as the response to `call`.
    async fn request_plan<'a>(
        self,
        diags: &mut Diagnostics,
        values: ChangeValues<'_>,
        call: impl FnOnce(&PlannedObject) -> Call<'a>,
    ) -> Result<PlannedObject, Reported> {
        let planned = self.client.plan_object(diags, self.ty, values, self.about).await?;
        self.check_contract(diags, INVALID_PLAN_SUMMARY, call(&planned), &planned.value)?;
        Ok(planned)
    }

    /// Checks an object in the response to a call, and reports each violated rule, without secrets.
    ///
    /// # Errors
    /// Returns an error if a rule is violated.
    pub(crate) fn check_contract(
        self,
        diags: &mut Diagnostics,
        reported_as: ViolationSummary<'_>,
        call: Call<'_>,
        object: &Plain,
    ) -> Result<(), Reported> {
        let violations = check_answer(
            &AnswerToCheck::for_call(call).with_object_of_unchecked_type(object),
            &self.ty.contract_schemas(),
        );
        self.report_violations(diags, reported_as, violations, object)
    }

    /// Returns the paths whose changes require a replacement.
    ///
    /// # Errors
    /// Returns an error if the provider returned paths that do not exist.
    pub(crate) fn paths_requiring_replace(
        self,
        diags: &mut Diagnostics,
        before: &Plain,
        planned: &PlannedObject,
    ) -> Result<Vec<Path>, Reported> {
        let PlannedObject { value, requires_replace: paths, .. } = planned;
        self.check_contract(
            diags,
            INVALID_PLAN_SUMMARY,
            Call::Replace { prior: before, paths },
            value,
        )?;
        Ok(paths_requiring_replace(self.ty.schema_block(), before, value, paths))
    }

    /// Reports each contract violation in the response to a call, without secrets.
    ///
    /// # Errors
    /// Returns an error if a rule is violated.
    pub(crate) fn report_violations(
        self,
        diags: &mut Diagnostics,
        reported_as: ViolationSummary<'_>,
        violations: Vec<Violation>,
        answer: &Plain,
    ) -> Result<(), Reported> {
        let ViolationSummary { summary, call } = reported_as;
        if violations.is_empty() {
            return Ok(());
        }
        // A violation quotes values. The response does not have the marks of the configuration, so both
        // sources of sensitivity are needed.
        let mut secrets = self.ty.schema_block().sensitive_paths(answer.value());
        secrets.extend_from_slice(self.secrets);
        let mut result = Ok(());
        for violation in violations {
            let rule = violation.rule;
            let problem = &violation.without_secrets(&secrets).to_string();
            let violation = ContractViolation { summary, rule, call, problem };
            result = Err(self.client.report_violation(diags, violation, self.about));
        }
        result
    }
}

/// Returns the ignored part of the configuration, if any.
fn to_ignored_changes(ignored: &IgnoreChanges) -> Option<IgnoredChanges> {
    match ignored {
        IgnoreChanges::Nothing => None,
        IgnoreChanges::All => Some(IgnoredChanges::All),
        IgnoreChanges::These(paths) => {
            Some(IgnoredChanges::Paths(paths.iter().filter_map(|path| path.to_path()).collect()))
        }
    }
}
