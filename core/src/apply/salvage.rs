//! Makes the most of the answer to a changing call. The object is recorded before errors are looked
//! at: a failed create may still have made something, and forgetting it would orphan it.

use std::collections::BTreeMap;

use bytes::Bytes;
use formwork_plugin_protocol::contract::conform;
use formwork_plugin_protocol::message::resource::ApplyResponse;
use formwork_plugin_protocol::{Failure, Payload};
use formwork_value::diag::Blame;
use formwork_value::{Diagnostic, Diagnostics, Path, Plain, Reported, Str, Type, Value};

use crate::provider::{About, Breach, Handle, ResourceType, StoredIdentity};
use crate::state::journal::{Answer, JournalError};

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
pub(super) struct Salvaged {
    /// The object as it is now: null if there is none.
    pub(super) value: Plain,
    /// The provider's private bytes.
    pub(super) private: Bytes,
    /// Whether everything went well.
    pub(super) result: Result<(), Reported>,
    /// Whether the object is as it was before the call, as far as anybody knows.
    pub(super) untouched: bool,
    /// Whether nobody knows what the call did: it stays open in the journal.
    pub(super) in_doubt: bool,
    /// Whether the object is as it was to be, although the call failed.
    pub(super) sound: bool,
    /// What identifies the object, if the provider said so.
    pub(super) identity: Option<StoredIdentity>,
}

impl Salvaged {
    /// An object as the provider has it after a call that brought no answer.
    pub(super) fn found(self, prior: &Plain, seen: Seen) -> Self {
        let untouched = !seen.value.value().is_null() && seen.value == *prior;
        Self {
            untouched,
            value: seen.value,
            private: seen.private,
            identity: seen.identity,
            in_doubt: false,
            sound: true,
            ..self
        }
    }
}

/// What there is, as the provider says.
pub(super) struct Seen {
    /// The object; null if there is none.
    pub(super) value: Plain,
    /// The provider's private bytes.
    pub(super) private: Bytes,
    /// What identifies it.
    pub(super) identity: Option<StoredIdentity>,
}

/// What was asked for.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) prior: &'a Plain,
    pub(super) planned: &'a Plain,
}

/// Decodes an answer and holds it against what was planned.
pub(super) fn salvage(
    diags: &mut Diagnostics,
    (handle, ty): (&Handle, &ResourceType),
    asked: Asked<'_>,
    answer: Result<ApplyResponse, Failure>,
    about: About<'_>,
) -> Salvaged {
    let call = "ApplyResourceChange";
    let untouched = |reported: Reported, in_doubt: bool| Salvaged {
        value: asked.prior.clone(),
        private: Bytes::new(),
        result: Err(reported),
        untouched: true,
        in_doubt,
        sound: false,
        identity: None,
    };
    let in_doubt = |reported: Reported| untouched(reported, true);
    let response = match answer {
        Ok(response) => response,
        Err(failure) => return in_doubt(handle.failed(diags, call, &failure, about)),
    };
    let said = handle.said(diags, response.diagnostics, about);
    let value = match response.state.decode(&ty.ty) {
        Ok(value) => value,
        Err(error) => {
            let reported = handle.undecodable(diags, call, &error, about);
            let Some(value) = pieces(ty, asked, &response.state) else { return in_doubt(reported) };
            let identity = identity_in(diags, handle, ty, response.identity, about);
            let (value, _) =
                without_write_only(&mut Diagnostics::new(), (handle, ty), value, about);
            let (private, result) = (response.private, Err(reported));
            return Salvaged {
                value,
                private,
                identity,
                result,
                untouched: false,
                in_doubt: false,
                sound: false,
            };
        }
    };
    if value.value().is_null() && !asked.planned.value().is_null() {
        return match said {
            // That is how a provider refuses: nothing was made, or the object is as it was.
            Err(reported) => untouched(reported, false),
            Ok(()) => {
                let summary = "Provider produced inconsistent result after apply";
                let problem = "there is no object, and no error that would explain it";
                in_doubt(handle.invalid(diags, Breach { summary, call, problem }, about))
            }
        };
    }
    let (value, received_only) = without_write_only(diags, (handle, ty), value, about);
    let (value, known) = nulls_for_unknowns(diags, handle, value, about);
    let result = said.and(received_only).and(known);
    let result = match result {
        Ok(()) => {
            let legacy = response.legacy_type_system;
            hold_against_plan(diags, (handle, ty), asked.planned, (&value, legacy), about)
        }
        Err(reported) => Err(reported),
    };
    match result {
        // A null beside an error means that nothing was done (protocol, apply phase): what there was
        // is not forgotten. If it is gone after all, the next refresh finds out.
        Err(reported) if value.value().is_null() => untouched(reported, false),
        result => {
            let identity = identity_in(diags, handle, ty, response.identity, about);
            let private = response.private;
            Salvaged {
                value,
                private,
                identity,
                result,
                untouched: false,
                in_doubt: false,
                sound: false,
            }
        }
    }
}

/// Puts an object together from an answer that is not quite one: every attribute that can be read,
/// and for the others what they were to be. Nothing if none of it tells anything about the object that
/// the plan did not: then nobody could find it.
fn pieces(ty: &ResourceType, asked: Asked<'_>, answer: &Payload) -> Option<Plain> {
    let Type::Object(shape) = &ty.ty else { return None };
    if asked.planned.value().is_null() {
        return None;
    }
    let read: BTreeMap<Str, Value> = answer.salvage(&ty.ty).into_iter().collect();
    let part = |of: &Plain, name: &Str| {
        let found = Path::root().attribute(name.clone()).find(of.value()).cloned();
        found.filter(Value::is_wholly_known)
    };
    let is_new = |(name, value): (&Str, &Value)| {
        value.is_wholly_known() && !value.is_null() && part(asked.planned, name).is_none()
    };
    if asked.prior.value().is_null() && !read.iter().any(is_new) {
        return None;
    }
    let parts = shape.attributes.iter().map(|(name, ty)| {
        let value = read.get(name).cloned().or_else(|| part(asked.planned, name));
        let value = value.or_else(|| part(asked.prior, name));
        (name.clone(), value.unwrap_or_else(|| Value::null(ty.clone())))
    });
    let whole = Value::object(parts.collect::<Vec<_>>());
    Some(without_unknowns(&whole).split_marks().0)
}

/// The identity in an answer. One that cannot be read is reported, and the object is kept without.
fn identity_in(
    diags: &mut Diagnostics,
    handle: &Handle,
    ty: &ResourceType,
    came: Option<Payload>,
    about: About<'_>,
) -> Option<StoredIdentity> {
    handle.identity(diags, (ty, "ApplyResourceChange"), came, about).ok().flatten()
}

/// What a provider may only receive is never stored. It is reported, and the rest is kept.
fn without_write_only(
    diags: &mut Diagnostics,
    (handle, ty): (&Handle, &ResourceType),
    value: Plain,
    about: About<'_>,
) -> (Plain, Result<(), Reported>) {
    let mut result = Ok(());
    let (summary, call) = ("Provider produced invalid object", "ApplyResourceChange");
    for finding in conform::write_only_findings(ty.block(), &value) {
        let problem = finding.to_string();
        result = Err(handle.invalid(diags, Breach { summary, call, problem: &problem }, about));
    }
    if result.is_ok() {
        return (value, result);
    }
    (ty.block().without_write_only(value.value()).split_marks().0, result)
}

/// An object in the state is wholly known. Unknowns are reported and stored as nulls.
fn nulls_for_unknowns(
    diags: &mut Diagnostics,
    handle: &Handle,
    value: Plain,
    about: About<'_>,
) -> (Plain, Result<(), Reported>) {
    let mut result = Ok(());
    let (summary, call) =
        ("Provider returned invalid result object after apply", "ApplyResourceChange");
    for finding in conform::unknown_findings(&value) {
        let problem = format!("{finding}, but after applying every value must be known");
        result = Err(handle.invalid(diags, Breach { summary, call, problem: &problem }, about));
    }
    if result.is_ok() {
        return (value, result);
    }
    (without_unknowns(value.value()).split_marks().0, result)
}

/// The value with null for whatever is unknown.
pub(super) fn without_unknowns(value: &Value) -> Value {
    match value {
        Value::Unknown(unknown) => Value::null(unknown.ty().clone()),
        value if value.is_wholly_known() => value.clone(),
        value => value.with_children(value.children().iter().map(without_unknowns).collect()),
    }
}

fn hold_against_plan(
    diags: &mut Diagnostics,
    (handle, ty): (&Handle, &ResourceType),
    planned: &Plain,
    (value, legacy): (&Plain, bool),
    about: About<'_>,
) -> Result<(), Reported> {
    let call = "ApplyResourceChange";
    if planned.value().is_null() {
        if value.value().is_null() {
            return Ok(());
        }
        let summary = "Provider returned invalid result object after apply";
        let problem = "an object that is to be destroyed is still there";
        return Err(handle.invalid(diags, Breach { summary, call, problem }, about));
    }
    if legacy && !value.value().is_null() {
        return Ok(());
    }
    let mut result = Ok(());
    for problem in conform::assert_object_compatible(ty.block(), planned, value) {
        let summary = "Provider produced inconsistent result after apply";
        result = Err(handle.invalid(
            diags,
            Breach { summary, call, problem: &problem.to_string() },
            about,
        ));
    }
    result
}

/// Reports that an operation could not be announced, so that it was not started.
pub(super) fn not_durable(
    diags: &mut Diagnostics,
    why: &JournalError,
    about: About<'_>,
) -> Reported {
    let detail = format!(
        "The change of {} was not started, because it could not be written to the journal first: {why}",
        about.addr
    );
    diags.error(
        Diagnostic::error("Journal cannot be written", detail)
            .blame(Blame::Environment)
            .about(about.addr.to_string()),
    )
}
