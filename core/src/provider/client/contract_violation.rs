//! Diagnostics for invalid responses of a provider, with the address of the request.

use formwork_plugin_protocol::contract::{AnswerToCheck, Call, Rule, check_answer};
use formwork_plugin_protocol::message::{DeferredReason, ProviderDiagnostic};
use formwork_plugin_protocol::{Failure, Payload};
use formwork_value::codec::DecodeError;
use formwork_value::diag::{Blame, Message};
use formwork_value::{Diagnostic, Diagnostics, Plain, Reported};

use super::{CallContext, ContractViolation, ProviderClient};
use crate::messages;
use crate::provider::ResourceType;
use crate::provider::provider_diagnostics::{call_failure_diagnostic, report_provider_diagnostics};

/// The context of a response: its call, resource type and subject.
#[derive(Clone, Copy)]
pub(crate) struct ResponseContext<'a> {
    pub(crate) call: &'a str,
    pub(crate) ty: &'a ResourceType,
    pub(crate) about: CallContext<'a>,
}

impl ProviderClient {
    /// Reports the diagnostics of the provider about an address.
    ///
    /// # Errors
    /// Returns an error if the diagnostics contain one.
    pub fn report_provider_diagnostics(
        &self,
        diags: &mut Diagnostics,
        mut diagnostics: Vec<ProviderDiagnostic>,
        about: CallContext<'_>,
    ) -> Result<(), Reported> {
        if diagnostics.is_empty() {
            return Ok(());
        }
        // Providers quote values of the configuration, sensitive ones included.
        for diagnostic in &mut diagnostics {
            diagnostic.summary = self.mask_secrets(std::mem::take(&mut diagnostic.summary));
            diagnostic.detail = self.mask_secrets(std::mem::take(&mut diagnostic.detail));
        }
        report_provider_diagnostics(diags, diagnostics, &about.addr.to_string(), about.block)
    }

    /// Reports that a call failed.
    pub fn report_failure(
        &self,
        diags: &mut Diagnostics,
        call: &str,
        failure: &Failure,
        about: CallContext<'_>,
    ) -> Reported {
        let addr = about.addr.to_string();
        diags.error(
            call_failure_diagnostic(self.addr(), call, Some(&addr), failure).at_opt(about.block),
        )
    }

    /// Decodes the object in a response, and warns about strings that are not valid UTF-8.
    ///
    /// # Errors
    /// Returns an error if the response cannot be decoded by the schema.
    pub(super) fn decode_object(
        &self,
        diags: &mut Diagnostics,
        payload: &Payload,
        context: ResponseContext<'_>,
    ) -> Result<Plain, Reported> {
        let ResponseContext { call, ty, about } = context;
        match payload.decode_lossy(&ty.ty) {
            Ok((value, replaced)) => {
                if replaced {
                    self.warn_of_invalid_utf8(diags, call, about);
                }
                // From here on, messages of the provider are also redacted with these values.
                ty.add_secrets(&self.calls.secrets, value.value());
                Ok(value)
            }
            Err(error) => Err(self.report_undecodable(diags, call, &error, about)),
        }
    }

    /// Warns that strings in a response were not valid UTF-8.
    pub fn warn_of_invalid_utf8(
        &self,
        diags: &mut Diagnostics,
        call: &str,
        about: CallContext<'_>,
    ) {
        let detail = format!(
            "A string in the response of provider {} to {call} for {} is not valid UTF-8. Each invalid byte was replaced with U+FFFD. This is a bug in the provider, which should be reported in the provider's own issue tracker.",
            self.addr(),
            about.addr
        );
        let warning = Diagnostic::warning(messages::PROVIDER_STRING_NOT_UTF8, detail);
        diags.warn(warning.at_opt(about.block).about(about.addr.to_string()));
    }

    /// Reports that a response could not be decoded by the schema.
    pub fn report_undecodable(
        &self,
        diags: &mut Diagnostics,
        call: &str,
        error: &DecodeError,
        about: CallContext<'_>,
    ) -> Reported {
        self.report_violation(
            diags,
            ContractViolation {
                summary: messages::PROVIDER_PRODUCED_INVALID_OBJECT,
                rule: Rule::ObjectType,
                call,
                problem: &error.to_string(),
            },
            about,
        )
    }

    /// Checks a response, and reports each violated rule. Most are reported with `summary`.
    ///
    /// # Errors
    /// Returns an error if a rule is violated.
    pub(crate) fn check_response_rules(
        &self,
        diags: &mut Diagnostics,
        summary: &'static Message,
        exchange: &AnswerToCheck<'_>,
        context: ResponseContext<'_>,
    ) -> Result<(), Reported> {
        let ResponseContext { call, ty, about } = context;
        let mut result = Ok(());
        for violation in check_answer(exchange, &ty.contract_schemas()) {
            let rule = violation.rule;
            let summary = summary_of_rule(rule).unwrap_or(summary);
            let problem = &violation.to_string();
            let violation = ContractViolation { summary, rule, call, problem };
            result = Err(self.report_violation(diags, violation, about));
        }
        result
    }

    /// Reports that the provider violated the contract.
    pub fn report_violation(
        &self,
        diags: &mut Diagnostics,
        violation: ContractViolation<'_>,
        about: CallContext<'_>,
    ) -> Reported {
        let ContractViolation { summary, rule, call, .. } = violation;
        // After the words that provider tests search for.
        let detail = format!(
            "{}.\n\nThis is a bug in the provider, which broke the rule {rule} of the contract in its answer to {call}; please report it to its authors.",
            self.describe_violation(violation, about),
        );
        let addr = about.addr.to_string();
        diags.error(
            Diagnostic::error(summary, detail)
                .blamed_on(Blame::Provider)
                .about(addr)
                .at_opt(about.block),
        )
    }

    /// Describes an error in a response, in the words that provider tests search for.
    fn describe_violation(
        &self,
        violation: ContractViolation<'_>,
        about: CallContext<'_>,
    ) -> String {
        let ContractViolation { summary, call, problem, .. } = violation;
        let source = self.addr().to_string();
        let provider = format!("provider[\"{source}\"]");
        let addr = about.addr;
        match call {
            "PlanResourceChange"
                if summary == messages::PROVIDER_PRODUCED_INCONSISTENT_FINAL_PLAN =>
            {
                format!(
                    "When expanding the plan for {addr} to include new values learned so far during apply, provider {source:?} produced an invalid new value for {problem}"
                )
            }
            "PlanResourceChange" => {
                let colon = if problem.starts_with(['.', '[']) { "" } else { ": " };
                format!("Provider {source:?} planned an invalid value for {addr}{colon}{problem}")
            }
            "ApplyResourceChange" if summary == messages::PROVIDER_PRODUCED_INCONSISTENT_RESULT => {
                format!(
                    "When applying changes to {addr}, provider {provider:?} produced an unexpected new value: {problem}"
                )
            }
            _ => format!("Provider {provider:?} produced an invalid value for {addr}: {problem}"),
        }
    }

    /// Checks that a call was not deferred, because no call of the engine allows it.
    ///
    /// # Errors
    /// Returns an error if the call was deferred.
    pub(super) fn check_not_deferred(
        &self,
        diags: &mut Diagnostics,
        deferred: Option<DeferredReason>,
        context: ResponseContext<'_>,
    ) -> Result<(), Reported> {
        let exchange =
            AnswerToCheck::for_call(Call::Any).with_disallowed_deferral(deferred.is_some());
        self.check_response_rules(
            diags,
            messages::PROVIDER_PRODUCED_INVALID_OBJECT,
            &exchange,
            context,
        )
    }
}

/// Returns the summary of a rule that has its own, for the responses to all calls.
fn summary_of_rule(rule: Rule) -> Option<&'static Message> {
    match rule {
        Rule::NotDeferred => Some(messages::PROVIDER_DEFERRED_CHANGES),
        Rule::ObjectPresent => Some(messages::PROVIDER_PRODUCED_INVALID_OBJECT),
        _ => None,
    }
}
