//! Makes the most of the answer to a changing call. The object is recorded before errors are looked
//! at: a failed create may still have made something, and forgetting it would orphan it.

use std::collections::BTreeMap;

use bytes::Bytes;
use formwork_plugin_protocol::contract::conform::{self, assert_object_compatible};
use formwork_plugin_protocol::message::resource::ApplyResponse;
use formwork_plugin_protocol::{Failure, Payload};
use formwork_value::{Diagnostics, Path, Plain, Reported, Str, Type, Value};

use super::Call;
use crate::phase::{plain, without_unknowns};
use crate::provider::{Ask, Breach, StoredIdentity};
use crate::state::journal::Answer;

const CALL: &str = "ApplyResourceChange";
const INVALID: &str = "Provider returned invalid result object after apply";
const INCONSISTENT: &str = "Provider produced inconsistent result after apply";

/// Takes down an answer as it came, before anything of it is decoded. A value that never left this
/// process is encoded for that.
pub(super) fn taken_down(answer: &Result<ApplyResponse, Failure>) -> Answer {
    match answer {
        Ok(response) => Answer {
            state: bytes_of(&response.state).into(),
            private: response.private.clone().into(),
            identity: response.identity.as_ref().map(bytes_of).unwrap_or_default().into(),
            messages: response.diagnostics.iter().map(|said| said.summary.clone()).collect(),
        },
        Err(failure) => Answer { messages: vec![failure.to_string()], ..Answer::default() },
    }
}

fn bytes_of(payload: &Payload) -> Bytes {
    match payload.encode() {
        Ok(Payload::Msgpack(bytes) | Payload::Json(bytes)) => bytes,
        Ok(Payload::Value(..) | Payload::Absent) | Err(_) => Bytes::new(),
    }
}

/// What a changing call left behind.
pub(in crate::apply) struct Salvaged {
    /// Whether everything went well.
    pub(in crate::apply) result: Result<(), Reported>,
    /// What there is now.
    pub(in crate::apply) left: Left,
}

/// What there is after a call.
pub(in crate::apply) enum Left {
    /// The object is as it was before, as far as anybody knows; or there is none, as before.
    AsBefore,
    /// Nobody knows what the call did: it stays open in the journal.
    InDoubt,
    /// What the answer says.
    Answered(Seen),
    /// What the provider said when it was asked once more: this is as it was to be.
    Found(Seen),
}

/// What there is, as the provider says.
pub(in crate::apply) struct Seen {
    /// The object; null if there is none.
    pub(in crate::apply) value: Plain,
    /// The provider's private bytes.
    pub(in crate::apply) private: Bytes,
    /// What identifies it.
    pub(in crate::apply) identity: Option<StoredIdentity>,
}

impl Call<'_> {
    /// Decodes an answer and holds it against what was planned.
    pub(super) fn salvage(
        self,
        diags: &mut Diagnostics,
        answer: Result<ApplyResponse, Failure>,
    ) -> Salvaged {
        let Self { handle, ty, about, ask, .. } = self;
        let in_doubt = |reported| Salvaged { result: Err(reported), left: Left::InDoubt };
        let as_before = |reported| Salvaged { result: Err(reported), left: Left::AsBefore };
        let response = match answer {
            Ok(response) => response,
            Err(failure) => return in_doubt(handle.failed(diags, CALL, &failure, about)),
        };
        let said = handle.said(diags, response.diagnostics, about);
        let value = match response.state.decode(&ty.ty) {
            Ok(value) => value,
            Err(error) => {
                let reported = handle.undecodable(diags, CALL, &error, about);
                let Some(value) = self.pieces(&response.state) else { return in_doubt(reported) };
                let identity = self.identity(diags, response.identity);
                let (value, _) = self.without_write_only(&mut Diagnostics::new(), value);
                let seen = Seen { value, private: response.private, identity };
                return Salvaged { result: Err(reported), left: Left::Answered(seen) };
            }
        };
        if value.value().is_null() && !ask.proposed.value().is_null() {
            return match said {
                // That is how a provider refuses: nothing was made, or the object is as it was.
                Err(reported) => as_before(reported),
                Ok(()) => {
                    let problem = "there is no object, and no error that would explain it";
                    let breach = Breach { summary: INCONSISTENT, call: CALL, problem };
                    in_doubt(handle.invalid(diags, breach, about))
                }
            };
        }
        let (value, received_only) = self.without_write_only(diags, value);
        let (value, known) = self.nulls_for_unknowns(diags, value);
        let result = said.and(received_only).and(known);
        let result = result
            .and_then(|()| self.hold_against_plan(diags, &value, response.legacy_type_system));
        match result {
            // A null beside an error means that nothing was done (protocol, apply phase): what there
            // was is not forgotten. If it is gone after all, the next refresh finds out.
            Err(reported) if value.value().is_null() => as_before(reported),
            result => {
                let identity = self.identity(diags, response.identity);
                let seen = Seen { value, private: response.private, identity };
                Salvaged { result, left: Left::Answered(seen) }
            }
        }
    }

    /// Puts an object together from an answer that is not quite one: every attribute that can be read,
    /// and for the others what they were to be. Nothing if none of it tells anything about the object
    /// that the plan did not: then nobody could find it.
    fn pieces(self, answer: &Payload) -> Option<Plain> {
        let Type::Object(shape) = &self.ty.ty else { return None };
        let Ask { prior, proposed: planned, .. } = self.ask;
        if planned.value().is_null() {
            return None;
        }
        let read: BTreeMap<Str, Value> = answer.salvage(&self.ty.ty).into_iter().collect();
        let part = |of: &Plain, name: &Str| {
            let found = Path::root().attribute(name.clone()).find(of.value()).cloned();
            found.filter(Value::is_wholly_known)
        };
        let is_new = |(name, value): (&Str, &Value)| {
            value.is_wholly_known() && !value.is_null() && part(planned, name).is_none()
        };
        if prior.value().is_null() && !read.iter().any(is_new) {
            return None;
        }
        let parts = shape.attributes.iter().map(|(name, ty)| {
            let value = read.get(name).cloned().or_else(|| part(planned, name));
            let value = value.or_else(|| part(prior, name));
            (name.clone(), value.unwrap_or_else(|| Value::null(ty.clone())))
        });
        let whole = Value::object(parts.collect::<Vec<_>>());
        Some(plain(&without_unknowns(&whole)))
    }

    /// The identity in an answer. One that cannot be read is reported, and the object is kept without.
    fn identity(self, diags: &mut Diagnostics, came: Option<Payload>) -> Option<StoredIdentity> {
        self.handle.identity(diags, (self.ty, CALL), came, self.about).ok().flatten()
    }

    /// What a provider may only receive is never stored. It is reported, and the rest is kept.
    fn without_write_only(
        self,
        diags: &mut Diagnostics,
        value: Plain,
    ) -> (Plain, Result<(), Reported>) {
        let block = self.ty.block();
        let findings = conform::write_only_findings(block, &value);
        let breach = ("Provider produced invalid object", CALL);
        let result = self.asking().broken(diags, breach, findings, &value);
        match result {
            Ok(()) => (value, result),
            Err(_) => (plain(&block.without_write_only(value.value())), result),
        }
    }

    /// An object in the state is wholly known. Unknowns are reported and stored as nulls.
    fn nulls_for_unknowns(
        self,
        diags: &mut Diagnostics,
        value: Plain,
    ) -> (Plain, Result<(), Reported>) {
        let mut findings = conform::unknown_findings(&value);
        for finding in &mut findings {
            finding.message.push_str(", but after applying every value must be known");
        }
        let result = self.asking().broken(diags, (INVALID, CALL), findings, &value);
        match result {
            Ok(()) => (value, result),
            Err(_) => (plain(&without_unknowns(value.value())), result),
        }
    }

    fn hold_against_plan(
        self,
        diags: &mut Diagnostics,
        value: &Plain,
        legacy: bool,
    ) -> Result<(), Reported> {
        let planned = self.ask.proposed;
        match (planned.value().is_null(), value.value().is_null()) {
            (true, true) => Ok(()),
            (true, false) => {
                let problem = "an object that is to be destroyed is still there";
                let breach = Breach { summary: INVALID, call: CALL, problem };
                Err(self.handle.invalid(diags, breach, self.about))
            }
            (false, false) if legacy => Ok(()),
            (false, _) => {
                let findings = assert_object_compatible(self.ty.block(), planned, value);
                self.asking().broken(diags, (INCONSISTENT, CALL), findings, value)
            }
        }
    }
}
