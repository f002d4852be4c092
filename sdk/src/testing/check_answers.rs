//! Checks of answers: the provider's own errors, and the rules of the contract.

use formwork_plugin_protocol::contract::{
    AnswerToCheck, Call, TypeSchemas, Violation, check_answer,
};
use formwork_plugin_protocol::message::resource::ImportedResource;
use formwork_plugin_protocol::message::{DeferredReason, ProviderDiagnostic};
use formwork_plugin_protocol::{Payload, ProviderExt as _};
use formwork_value::diag::Severity;
use formwork_value::schema::Block;
use formwork_value::{Plain, Type};

use super::Refusal;
use crate::server::Server;

/// Fails with the errors among the provider's diagnostics.
pub(super) fn check_no_errors(diagnostics: &[ProviderDiagnostic]) -> Result<(), Refusal> {
    let errors = diagnostics.iter().filter(|problem| problem.severity == Severity::Error);
    let lines: Vec<_> =
        errors.map(|problem| format!("{}: {}", problem.summary, problem.detail)).collect();
    if lines.is_empty() { Ok(()) } else { Err(Refusal(lines.join("\n"))) }
}

/// Decodes an object by its schema.
pub(super) fn decode_payload(block: &Block, payload: &Payload) -> Result<Plain, Refusal> {
    payload.decode(&block.implied_type()).map_err(|error| Refusal(error.to_string()))
}

/// The type of the identities of a resource type, if it has any.
pub(super) async fn identity_type(
    server: &Server,
    type_name: &str,
) -> Result<Option<Type>, Refusal> {
    let mut offered = server.identity_schemas().await?;
    check_no_errors(&offered.diagnostics)?;
    let schema = offered.schemas.remove(type_name);
    Ok(schema.map(|schema| {
        Type::object(schema.attributes.into_iter().map(|(name, part)| (name, part.ty)))
    }))
}

/// Decodes an object that was imported as `requested_type`, and checks it against the contract.
pub(super) fn checked_imported_object(
    requested_type: &str,
    schemas: TypeSchemas<'_>,
    imported: &ImportedResource,
) -> Result<Plain, Refusal> {
    let call = Call::Import { asked: requested_type, found: &imported.type_name };
    let answer = AnswerToCheck::for_call(call).with_answered_identity(imported.identity.as_ref());
    // Before it is decoded: an object of another type would fail that for no reason.
    check_contract("import", schemas, answer)?;
    let object = decode_payload(schemas.object, &imported.state)?;
    check_contract("import", schemas, answer.with_answered_object(&imported.state, &object))?;
    Ok(object)
}

/// Decodes an object that was upgraded, and checks it against the contract.
pub(super) fn checked_upgraded_object(
    schemas: TypeSchemas<'_>,
    state: &Payload,
) -> Result<Plain, Refusal> {
    let object = decode_payload(schemas.object, state)?;
    let answer = AnswerToCheck::for_call(Call::Upgrade).with_answered_object(state, &object);
    check_contract("upgrade", schemas, answer)?;
    Ok(object)
}

/// Checks that a call was not deferred, which [`super::CLIENT_CAPABILITIES`] do not allow.
pub(super) fn check_not_deferred(
    call: &str,
    schemas: TypeSchemas<'_>,
    deferred: Option<DeferredReason>,
) -> Result<(), Refusal> {
    let answer = AnswerToCheck::for_call(Call::Any).with_disallowed_deferral(deferred.is_some());
    check_contract(call, schemas, answer)
}

/// Checks an answer about objects of a type against the contract.
pub(super) fn check_contract(
    call: &str,
    schemas: TypeSchemas<'_>,
    answer: AnswerToCheck<'_>,
) -> Result<(), Refusal> {
    let violations = check_answer(&answer, &schemas);
    if violations.is_empty() { Ok(()) } else { Err(contract_refusal(call, &violations)) }
}

/// The refusal of an answer that breaks rules of the contract.
pub(super) fn contract_refusal(call: &str, violations: &[Violation]) -> Refusal {
    let lines = violations.iter();
    let lines =
        lines.map(|broken| format!("provider bug in {call}: {broken} (rule {})", broken.rule));
    Refusal(lines.collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests;
