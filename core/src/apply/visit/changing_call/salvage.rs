//! Makes the most of the answer to a changing call. The object is recorded before errors are looked
//! at: a failed create may still have made something, and forgetting it would orphan it.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::mem::take;

use bytes::Bytes;
use formwork_plugin_protocol::contract::{self, AnswerToCheck, Rule, Violation, check_answer};
use formwork_plugin_protocol::message::resource::ApplyResponse;
use formwork_plugin_protocol::{Failure, Payload};
use formwork_value::quote::shell_quoted;
use formwork_value::{Diagnostic, Diagnostics, Path, Plain, Reported, Str, Type, Value, codec};

use super::ChangeCall;
use crate::instance_steps::{ViolationSummary, unknown_to_null, unmark_value};
use crate::messages;
use crate::provider::{
    ChangeValues, ContractViolation, ObjectInResponse, ResponseContext, round_numbers_as_stored,
    truncate_text,
};
use crate::state::StoredIdentity;
use crate::state::journal::ProviderAnswer;

/// The most messages of an answer that are written to the journal.
const MAX_JOURNALED_MESSAGES: usize = 100;
/// The most bytes of each.
const MAX_JOURNALED_MESSAGE_LEN: usize = 1 << 10;

const APPLY_CALL_NAME: &str = "ApplyResourceChange";
const INVALID_OBJECT_SUMMARY: ViolationSummary<'_> =
    ViolationSummary { summary: messages::PROVIDER_PRODUCED_INVALID_OBJECT, call: APPLY_CALL_NAME };
const INVALID_RESPONSE_SUMMARY: ViolationSummary<'_> =
    ViolationSummary { summary: messages::PROVIDER_RETURNED_INVALID_RESULT, call: APPLY_CALL_NAME };

/// Takes down an answer as it came, before anything of it is decoded. A value that never left this
/// process is encoded for that.
/// Messages are stored without sensitive values.
pub(super) fn to_journaled_answer(
    answer: &Result<ApplyResponse, Failure>,
    masked: impl Fn(String) -> String,
) -> ProviderAnswer {
    match answer {
        Ok(response) => ProviderAnswer {
            state: payload_bytes(&response.state).into(),
            private: response.private.clone().into(),
            identity: response.identity.as_ref().map(payload_bytes).unwrap_or_default().into(),
            messages: response
                .diagnostics
                .iter()
                // The journal is read whole by the next command, so a provider with millions of
                // diagnostics must not make it grow without bound.
                .take(MAX_JOURNALED_MESSAGES)
                .map(|diagnostic| {
                    truncate_text(masked(diagnostic.summary.clone()), MAX_JOURNALED_MESSAGE_LEN)
                })
                .collect(),
            ..ProviderAnswer::default()
        },
        Err(failure) => {
            ProviderAnswer { messages: vec![failure.to_string()], ..ProviderAnswer::default() }
        }
    }
}

fn payload_bytes(payload: &Payload) -> Bytes {
    match payload.encode() {
        Ok(Payload::Msgpack(bytes) | Payload::Json(bytes)) => bytes,
        // Recovery reads empty bytes as "no usable answer". An operation without a result stays open
        // in any case, so nothing depends on them.
        Ok(Payload::Value(..) | Payload::Absent) | Err(_) => Bytes::new(),
    }
}

/// Result of a changing call.
pub(in crate::apply) struct SalvagedResult {
    /// Whether everything went well.
    pub(in crate::apply) result: Result<(), Reported>,
    /// Object that exists now.
    pub(in crate::apply) after_call: ObjectAfterCall,
}

/// Object that exists after a call.
pub(in crate::apply) enum ObjectAfterCall {
    /// The object is unchanged as far as is known; or there is none, as before.
    Unchanged,
    /// The effect of the call is unknown: it stays open in the journal.
    Unknown,
    /// Object of the answer.
    FromAnswer(ReturnedObject),
    /// Object that the provider returned on a second read: it matches the plan.
    FromRead(ReturnedObject),
}

/// Object as the provider returns it.
pub(in crate::apply) struct ReturnedObject {
    /// The object; null if there is none.
    pub(in crate::apply) value: Plain,
    /// The provider's private bytes.
    pub(in crate::apply) private: Bytes,
    /// Identity of the object.
    pub(in crate::apply) identity: Option<StoredIdentity>,
}

impl SalvagedResult {
    /// Nothing changed.
    fn unchanged(reported: Reported) -> Self {
        Self { result: Err(reported), after_call: ObjectAfterCall::Unchanged }
    }

    /// The effect of the call is unknown.
    fn unknown(reported: Reported) -> Self {
        Self { result: Err(reported), after_call: ObjectAfterCall::Unknown }
    }
}

/// A decoded response, whether it reports errors, and the rules that it breaks.
struct CheckedResponse {
    response: ApplyResponse,
    value: Plain,
    result: Result<(), Reported>,
    violations: Vec<Violation>,
}

impl ChangeCall<'_> {
    /// Decodes an answer and compares it with the plan.
    pub(super) fn salvage_answer(
        self,
        diags: &mut Diagnostics,
        answer: Result<ApplyResponse, Failure>,
    ) -> SalvagedResult {
        let Self { client, about, values, .. } = self;
        let mut response = match answer {
            Ok(response) => response,
            Err(failure) => {
                let reported = client.report_failure(diags, APPLY_CALL_NAME, &failure, about);
                // Only a request that never left, or a status that only a handler chooses, proves
                // that nothing changed. A lost connection proves nothing: the provider may have
                // finished its work before it died.
                return match failure.has_changed_nothing() {
                    true => SalvagedResult::unchanged(reported),
                    false => SalvagedResult::unknown(reported),
                };
            }
        };
        // An error does not end the processing here. The protocol lets a provider return a partly
        // created object beside an error, and Terraform stores it as tainted.
        let result =
            client.report_provider_diagnostics(diags, take(&mut response.diagnostics), about);
        let value = match response.state.decode_lossy(&self.ty.ty) {
            Ok((value, replaced)) => {
                if replaced {
                    client.warn_of_invalid_utf8(diags, APPLY_CALL_NAME, about);
                }
                round_numbers_as_stored(value)
            }
            Err(error) => {
                let reported = client.report_undecodable(diags, APPLY_CALL_NAME, &error, about);
                return self.salvage_undecodable(diags, response, reported);
            }
        };
        let call =
            contract::Call::Apply { planned: values.proposed, legacy: response.legacy_type_system };
        let exchange = AnswerToCheck::for_call(call).with_answered_object(&response.state, &value);
        let violations = check_answer(&exchange, &self.ty.contract_schemas());
        // Providers encode a null even when they report an error. An absent object proves nothing.
        let (absent, violations) =
            partition_violations(violations, |rule| rule == Rule::ObjectPresent);
        if let Err(reported) =
            self.change_request().report_violations(diags, INVALID_OBJECT_SUMMARY, absent, &value)
        {
            return SalvagedResult::unknown(reported);
        }
        if value.value().is_null() && !values.proposed.value().is_null() {
            // A null although an object was planned: with an error it means that nothing was
            // created, and without one the contract is violated.
            return self.salvage_null_answer(diags, result);
        }
        self.salvage_object(diags, CheckedResponse { response, value, result, violations })
    }

    /// A null answer to a call that should have returned an object.
    fn salvage_null_answer(
        self,
        diags: &mut Diagnostics,
        result: Result<(), Reported>,
    ) -> SalvagedResult {
        let is_creation = self.values.prior.value().is_null();
        match result {
            Err(reported) => {
                if is_creation {
                    self.explain_null_object(diags);
                }
                SalvagedResult::unchanged(reported)
            }
            Ok(()) => {
                let problem = "Root object was present, but now absent, and no error explains it";
                let violation = ContractViolation {
                    summary: messages::PROVIDER_PRODUCED_INCONSISTENT_RESULT,
                    rule: Rule::ResultExistence,
                    call: APPLY_CALL_NAME,
                    problem,
                };
                let reported = self.client.report_violation(diags, violation, self.about);
                match is_creation {
                    true => {
                        self.explain_null_object(diags);
                        SalvagedResult::unchanged(reported)
                    }
                    // The object that was to be updated can be read.
                    false => SalvagedResult::unknown(reported),
                }
            }
        }
    }

    /// Adds to the last error that the provider reported a null object, and the command for a user
    /// who knows better.
    fn explain_null_object(self, diags: &mut Diagnostics) {
        let Some(last) = diags.iter().rposition(Diagnostic::is_error) else { return };
        let addr = self.about.addr;
        let note = format!(
            "The provider returned null for {addr}: nothing was created. If an object exists nevertheless, add it to the state:\n  formwork import {} ID",
            shell_quoted(&addr.to_string())
        );
        let at = Cell::new(0);
        diags.map_from_position(last, |error| match at.replace(at.get() + 1) {
            0 if error.detail.is_empty() => Diagnostic { detail: note.clone(), ..error },
            0 => Diagnostic { detail: format!("{}\n\n{note}", error.detail), ..error },
            _ => error,
        });
    }

    fn salvage_object(self, diags: &mut Diagnostics, checked: CheckedResponse) -> SalvagedResult {
        let CheckedResponse { response, value, result, violations } = checked;
        let answered = ObjectInResponse {
            payload: &response.state,
            value: &value,
            private: &response.private,
        };
        let size = self.client.check_object_size(diags, answered, self.response_context());
        if let Err(reported) = size {
            return self.salvage_too_large(diags, response, value, reported);
        }
        let (change_request, block) = (self.change_request(), self.ty.schema_block());
        // Write-only values are never stored, and an object in the state is wholly known.
        // Violations of both are reported, and the rest is kept.
        let (written, violations) =
            partition_violations(violations, |rule| rule == Rule::WriteOnlyNull);
        let received_only =
            change_request.report_violations(diags, INVALID_OBJECT_SUMMARY, written, &value);
        let is_form = |rule| matches!(rule, Rule::ObjectKnown | Rule::ObjectType);
        let (form, content) = partition_violations(violations, is_form);
        let known = change_request.report_violations(diags, INVALID_RESPONSE_SUMMARY, form, &value);
        // A state must be wholly known, or a later run could not read it. Dropping the unknown
        // parts keeps the id, which is what counts.
        let value = match (&received_only, &known) {
            (Ok(()), Ok(())) => value,
            _ => unmark_value(&unknown_to_null(&block.with_null_write_only(value.value()))),
        };
        let result = result.and(received_only).and(known);
        // The comparison with the plan is skipped after an error: a partly created object differs
        // from the plan as a matter of course, and Terraform reports no inconsistency then.
        let result = result.and_then(|()| self.report_plan_violations(diags, &value, content));
        match result {
            // A null beside an error means that nothing was done (protocol, apply phase): the prior
            // object is kept. If it was destroyed after all, the next refresh detects that.
            Err(reported) if value.value().is_null() => SalvagedResult::unchanged(reported),
            Err(reported) => {
                let identity = self.decode_identity(diags, response.identity);
                self.salvage_with_errors(
                    ReturnedObject { value, private: response.private, identity },
                    reported,
                )
            }
            Ok(()) => {
                let identity = self.decode_identity(diags, response.identity);
                let seen = ReturnedObject { value, private: response.private, identity };
                SalvagedResult { result, after_call: ObjectAfterCall::FromAnswer(seen) }
            }
        }
    }

    /// Keeps an object that is too large without its oversized parts: it exists, and must not be
    /// forgotten.
    fn salvage_too_large(
        self,
        diags: &mut Diagnostics,
        response: ApplyResponse,
        value: Plain,
        reported: Reported,
    ) -> SalvagedResult {
        let (value, large) =
            self.client.remove_large_attributes(self.ty, self.values.proposed, &value);
        let names: Vec<&str> = large.iter().map(Str::as_str).collect();
        let addr = self.about.addr;
        let remainder = match names.as_slice() {
            [] => "without its private data".to_owned(),
            names => format!("without its private data and the answer for: {}", names.join(", ")),
        };
        let identity = self.decode_identity(diags, response.identity);
        let value = self.ty.schema_block().with_null_write_only(value.value());
        let value = unmark_value(&unknown_to_null(&value));
        // Private data beyond the limit could never be sent, so those of the plan stay.
        let seen = ReturnedObject { value, private: self.values.private.clone(), identity };
        let salvaged = self.salvage_with_errors(seen, reported);
        if matches!(salvaged.after_call, ObjectAfterCall::FromAnswer(_)) {
            let detail = format!("{addr} exists. The state has the object {remainder}.");
            let warning = Diagnostic::warning(messages::OBJECT_IS_STORED_INCOMPLETELY, detail);
            diags.warn(warning.at_opt(self.about.block).about(addr.to_string()));
        }
        salvaged
    }

    /// Keeps the readable parts of an answer that does not decode as a whole.
    fn salvage_undecodable(
        self,
        diags: &mut Diagnostics,
        response: ApplyResponse,
        reported: Reported,
    ) -> SalvagedResult {
        // MessagePack of an object is a map, so attributes before and after the malformed one can
        // often be read. Losing all of them would orphan the object.
        let Some(value) = self.object_from_readable_parts(&response.state) else {
            return SalvagedResult::unknown(reported);
        };
        let identity = self.decode_identity(diags, response.identity);
        let value = unmark_value(&self.ty.schema_block().with_null_write_only(value.value()));
        self.salvage_with_errors(
            ReturnedObject { value, private: response.private, identity },
            reported,
        )
    }

    /// Keeps the object of an answer with errors, if it can be found again by it.
    fn salvage_with_errors(self, seen: ReturnedObject, reported: Reported) -> SalvagedResult {
        // A new object without its id would be replaced by the next run, and the real one
        // forgotten.
        let ReturnedObject { value, private, identity } = seen;
        let ChangeValues { prior, proposed: planned, .. } = self.values;
        if prior.value().is_null()
            // The state has the id of an existing object already. A new object without an id must
            // not be stored as created: the next run would replace it, and the real one would never
            // be destroyed.
            && identity.is_none()
            && !can_be_found_again(planned.value(), value.value())
        {
            return SalvagedResult::unknown(reported);
        }
        // Providers reset the id on failure, as `d.SetId("")` in the legacy SDK does. Taken
        // literally that would forget an object that still exists.
        let value = keep_prior_id(prior.value(), value);
        let seen = ReturnedObject { value, private, identity };
        SalvagedResult { result: Err(reported), after_call: ObjectAfterCall::FromAnswer(seen) }
    }

    /// Builds an object from an invalid answer: every attribute that can be read, and the planned values
    /// for the others.
    fn object_from_readable_parts(self, answer: &Payload) -> Option<Plain> {
        // Returns nothing if the answer adds nothing to the plan: then the object could not be
        // found.
        let Type::Object(shape) = &self.ty.ty else { return None };
        let ChangeValues { prior, proposed: planned, .. } = self.values;
        // The answer to a destruction with an unreadable object does not show whether the
        // object is destroyed.
        if planned.value().is_null() {
            return None;
        }
        let read: BTreeMap<Str, Value> =
            answer.salvage_attributes(&self.ty.ty).into_iter().collect();
        let part = |of: &Plain, name: &Str| {
            let part = Path::root().attribute(name.clone()).find(of.value()).cloned();
            part.filter(Value::is_wholly_known)
        };
        let is_new = |(name, value): (&Str, &Value)| {
            value.is_wholly_known() && !value.is_null() && part(planned, name).is_none()
        };
        if prior.value().is_null() && !read.iter().any(is_new) {
            return None;
        }
        // What the answer lacks is mostly as planned, and what the plan left open as before.
        let parts = shape.attributes.iter().map(|(name, ty)| {
            let value = read.get(name).cloned().or_else(|| part(planned, name));
            let value = value.or_else(|| part(prior, name));
            (name.clone(), value.unwrap_or_else(|| Value::null(ty.clone())))
        });
        let object = Value::object(parts.collect::<Vec<_>>());
        Some(unmark_value(&unknown_to_null(&object)))
    }

    fn response_context(&self) -> ResponseContext<'_> {
        ResponseContext { call: APPLY_CALL_NAME, ty: self.ty, about: self.about }
    }

    /// Whether messages must not show the id of the object.
    pub(super) fn has_sensitive_id(self) -> bool {
        let id = Path::root().attribute("id");
        let of_schema = self.ty.schema_block().attribute_at(&id);
        self.secrets.contains(&id) || of_schema.is_some_and(|(attribute, _)| attribute.sensitive)
    }

    /// The id of an object that exists now, for a message; empty without one.
    pub(super) fn describe_existing_id(self, after_call: &ObjectAfterCall) -> String {
        let (ObjectAfterCall::FromAnswer(seen) | ObjectAfterCall::FromRead(seen)) = after_call
        else {
            return String::new();
        };
        let value = seen.value.value();
        let id = id_attribute(value).filter(|id| is_known_id(id) && !self.has_sensitive_id());
        match id.map(codec::json::encode_untyped) {
            Some(Ok(id)) => format!(", which has the id {},", self.client.mask_secrets(id)),
            _ => String::new(),
        }
    }

    /// The identity in an answer. One that cannot be read is reported, and the object is kept without.
    fn decode_identity(
        self,
        diags: &mut Diagnostics,
        payload: Option<Payload>,
    ) -> Option<StoredIdentity> {
        self.client.decode_identity(diags, payload, self.response_context()).ok().flatten()
    }

    /// Reports each way in which an object differs from its plan.
    fn report_plan_violations(
        self,
        diags: &mut Diagnostics,
        value: &Plain,
        violations: Vec<Violation>,
    ) -> Result<(), Reported> {
        let (standing, violations) =
            partition_violations(violations, |rule| rule == Rule::DestroyedNull);
        self.change_request().report_violations(
            diags,
            INVALID_RESPONSE_SUMMARY,
            standing,
            value,
        )?;
        let inconsistent = ViolationSummary {
            summary: messages::PROVIDER_PRODUCED_INCONSISTENT_RESULT,
            call: APPLY_CALL_NAME,
        };
        self.change_request().report_violations(diags, inconsistent, violations, value)
    }
}

/// Those violations that break certain rules, and the others.
fn partition_violations(
    violations: Vec<Violation>,
    wanted: impl Fn(Rule) -> bool,
) -> (Vec<Violation>, Vec<Violation>) {
    violations.into_iter().partition(|violation| wanted(violation.rule))
}

/// The attribute that names the real object, in almost all resource types.
fn id_attribute(object: &Value) -> Option<&Value> {
    Path::root().attribute("id").find(object)
}

fn is_known_id(value: &Value) -> bool {
    let is_empty = matches!(value, Value::String(text) if text.is_empty());
    value.is_wholly_known() && !value.is_null() && !is_empty
}

/// Whether an object created with errors can be found again: it has the id that the plan left open.
/// Without such an id the attributes must do: one that the plan left open, or those of the plan, if it
/// left nothing open.
fn can_be_found_again(planned: &Value, created: &Value) -> bool {
    if id_attribute(planned).is_some_and(Value::is_unknown) {
        return id_attribute(created).is_some_and(is_known_id);
    }
    if id_attribute(planned).is_some_and(is_known_id) {
        return true;
    }
    let Value::Object(planned) = planned else { return true };
    let mut open = planned.iter().filter(|(_, value)| !value.is_wholly_known()).peekable();
    let is_set = |name: &Str| {
        let value = Path::root().attribute(name.clone()).find(created);
        value.is_some_and(|value| value.is_wholly_known() && !value.is_null())
    };
    open.peek().is_none() || open.any(|(name, _)| is_set(name))
}

/// An existing object keeps its id if an answer with errors has none.
fn keep_prior_id(prior: &Value, value: Plain) -> Plain {
    let lost = id_attribute(value.value()).is_some_and(|id| !is_known_id(id));
    let prior_id = id_attribute(prior).filter(|id| lost && is_known_id(id)).cloned();
    let Some(prior_id) = prior_id else { return value };
    match value.value().replace_at(&Path::root().attribute("id"), |_| prior_id.clone()) {
        Some(object) => unmark_value(&object),
        None => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object<const N: usize>(parts: [(&str, Value); N]) -> Value {
        Value::object(parts.map(|(name, value)| (Str::from(name), value)))
    }

    fn text(text: &str) -> Value {
        Value::string(text)
    }

    fn null() -> Value {
        Value::null(Type::String)
    }

    fn open() -> Value {
        Value::unknown(Type::String)
    }

    #[test]
    fn a_new_object_can_be_found_by_an_id_that_was_unknown_when_planned() {
        let planned = object([("id", open()), ("name", text("a")), ("arn", open())]);
        let created = |id| object([("id", id), ("name", text("a")), ("arn", text("arn:a"))]);
        assert!(can_be_found_again(&planned, &created(text("a-1"))));
        for none in [null(), open(), text("")] {
            assert!(!can_be_found_again(&planned, &created(none)));
        }
    }

    #[test]
    fn a_new_object_without_an_id_can_be_found_by_its_other_attributes() {
        let planned = object([("arn", open()), ("name", text("a"))]);
        let created = |arn| object([("arn", arn), ("name", text("a"))]);
        assert!(can_be_found_again(&planned, &created(text("arn:a"))));
        assert!(!can_be_found_again(&planned, &created(null())));
        // The plan has no unknown attributes, so it identifies the object as well.
        assert!(can_be_found_again(&object([("name", text("a"))]), &object([("name", text("a"))])));
        // An id of the configuration is known before.
        let chosen = object([("id", text("mine")), ("arn", open())]);
        assert!(can_be_found_again(&chosen, &object([("id", text("mine")), ("arn", null())])));
    }

    #[test]
    fn an_existing_object_keeps_its_id() {
        let prior = object([("id", text("a-1")), ("name", text("a"))]);
        let answer = |id| unmark_value(&object([("id", id), ("name", text("b"))]));
        assert_eq!(keep_prior_id(&prior, answer(null())), answer(text("a-1")));
        assert_eq!(keep_prior_id(&prior, answer(text("a-2"))), answer(text("a-2")));
        let nothing = Value::null(prior.ty());
        assert_eq!(keep_prior_id(&nothing, answer(null())), answer(null()));
    }
}
