//! One call of the sound provider, which a fault reads and changes.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use formwork_conformance::message::Msg;
use formwork_conformance::offer::{Kind, Offer, OfferedType};
use formwork_conformance::rpc::Rpc;
use formwork_value::codec::msgpack;
use formwork_value::{Path, Value};

/// The continuation of a call after its fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Continuation {
    /// The call continues.
    Proceed,
    /// Ends the process.
    Exit,
    /// Never answers.
    Hang,
    /// Continues after this many milliseconds.
    Wait(u64),
    /// Waits briefly for StopProvider, and after it for this many milliseconds more.
    OutlastStop(u64),
}

/// The calls of the process so far, the current one included.
#[derive(Clone, Debug, Default)]
pub struct History {
    counts: BTreeMap<Rpc, u64>,
    applied: BTreeSet<Bytes>,
    /// Whether the current call repeats an earlier apply.
    pub is_repeated_apply: bool,
}

impl History {
    /// Counts a call.
    pub fn note(&mut self, rpc: Rpc, request: Option<&Msg>) {
        *self.counts.entry(rpc).or_default() += 1;
        if rpc == Rpc::ApplyResourceChange {
            let request = request.map(Msg::encode).unwrap_or_default();
            self.is_repeated_apply = !self.applied.insert(request);
        }
    }

    /// Returns the number of calls of this kind.
    #[must_use]
    pub fn count(&self, rpc: Rpc) -> u64 {
        self.counts.get(&rpc).copied().unwrap_or_default()
    }

    /// Returns the number of all calls.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.counts.values().sum()
    }
}

/// A call and its answer.
#[derive(Debug)]
pub struct Exchange {
    /// The call.
    pub rpc: Rpc,
    /// The messages of the request.
    pub requests: Vec<Msg>,
    /// The schema of the provider.
    pub offer: Offer,
    /// The calls so far.
    pub history: History,
    /// The number of calls that run now.
    pub in_flight: u64,
    /// The answers or the gRPC status; `None` until the provider has answered.
    pub answers: Option<Result<Vec<Msg>, (i32, String)>>,
    /// Whether the request is not a valid message.
    pub is_garbled: bool,
}

/// Returns an attribute of an object.
#[must_use]
pub(super) fn get(value: &Value, name: &str) -> Option<Value> {
    Path::root().attribute(name).find(value).cloned()
}

/// Returns the object with another attribute.
#[must_use]
pub(super) fn set(value: &Value, name: &str, part: Value) -> Value {
    let path = Path::root().attribute(name);
    value.replace_at(&path, |_| part.clone()).unwrap_or_else(|| value.clone())
}

impl Exchange {
    /// A call without an answer.
    #[must_use]
    pub fn new(
        rpc: Rpc,
        requests: Vec<Msg>,
        offer: Offer,
        history: History,
        in_flight: u64,
    ) -> Self {
        Self { rpc, requests, offer, history, in_flight, answers: None, is_garbled: false }
    }

    /// Whether it is this call.
    #[must_use]
    pub fn is(&self, rpc: Rpc) -> bool {
        self.rpc == rpc
    }

    /// Whether it is this call about this type.
    #[must_use]
    pub fn is_of(&self, rpc: Rpc, name: &str) -> bool {
        self.rpc == rpc && self.request().get_text(1) == name
    }

    /// Returns the first message of the request.
    #[must_use]
    pub fn request(&self) -> Msg {
        self.requests.first().cloned().unwrap_or_default()
    }

    fn offered(&self) -> Option<OfferedType> {
        let name = self.request().get_text(1);
        let kind = match self.rpc {
            Rpc::ReadDataSource | Rpc::ValidateDataResourceConfig => Kind::DataSource,
            Rpc::OpenEphemeralResource | Rpc::ValidateEphemeralResourceConfig => Kind::Ephemeral,
            Rpc::ListResource | Rpc::ValidateListResourceConfig => Kind::List,
            Rpc::PlanAction | Rpc::InvokeAction | Rpc::ValidateActionConfig => Kind::Action,
            Rpc::ConfigureProvider | Rpc::ValidateProviderConfig => {
                return self.offer.usable_types_of_kind(Kind::Provider).next().cloned();
            }
            Rpc::MoveResourceState => {
                let name = self.request().get_text(5);
                return self
                    .offer
                    .usable_types_of_kind(Kind::Resource)
                    .find(|it| it.name == name)
                    .cloned();
            }
            _ => Kind::Resource,
        };
        self.offer.usable_types_of_kind(kind).find(|it| it.name == name).cloned()
    }

    /// Returns a value of the request, by its field.
    #[must_use]
    pub fn requested_value(&self, field: u32) -> Option<Value> {
        let dynamic = self.request().get_msg(field)?;
        msgpack::decode(&dynamic.get_bytes(1), &self.offered()?.ty()).ok()
    }

    /// Returns the configuration of a request to validate.
    #[must_use]
    pub fn config(&self) -> Option<Value> {
        self.requested_value(if self.is(Rpc::ValidateProviderConfig) { 1 } else { 2 })
    }

    /// Whether the call is_validation a configuration.
    #[must_use]
    pub fn is_validation(&self) -> bool {
        self.rpc.name().starts_with("Validate")
    }

    /// Returns the first message of the answer.
    pub fn answer(&mut self) -> Option<&mut Msg> {
        self.answers.as_mut()?.as_mut().ok()?.first_mut()
    }

    /// Changes the first message of the answer.
    pub fn change(&mut self, change: impl FnOnce(Msg) -> Msg) {
        if let Some(answer) = self.answer() {
            *answer = change(std::mem::take(answer));
        }
    }

    /// Answers with this message alone.
    pub fn reply(&mut self, answer: Msg) {
        self.answers = Some(Ok(vec![answer]));
    }

    /// Answers with a gRPC status.
    pub fn refuse(&mut self, code: i32, message: &str) {
        self.answers = Some(Err((code, message.to_owned())));
    }

    /// Changes a value of the answer, by its field. A value that no longer fits the schema is sent as
    /// what it is.
    pub fn edit(&mut self, field: u32, edit: impl FnOnce(&Value) -> Value) {
        let Some(ty) = self.offered().map(|it| it.ty()) else { return };
        let Some(answer) = self.answer() else { return };
        let Some(dynamic) = answer.get_msg(field) else { return };
        let Ok(value) = msgpack::decode(&dynamic.get_bytes(1), &ty) else { return };
        if value.is_null() {
            return;
        }
        let value = edit(&value);
        let encoded =
            msgpack::encode(&value, &ty).or_else(|_| msgpack::encode(&value, &value.ty()));
        let dynamic = Msg::new().with_bytes(1, encoded.unwrap_or_default());
        *answer = std::mem::take(answer).replace_field(field, dynamic.encode());
    }

    /// Sets an attribute of a value of the answer.
    pub fn put(&mut self, field: u32, name: &str, part: Value) {
        self.edit(field, |value| set(value, name, part));
    }

    /// Adds a diagnostic: severity, summary and the attribute, if there is one.
    pub fn diagnose(&mut self, severity: u64, summary: &str, attribute: &str) {
        let Some(field) = self.rpc.diagnostics_field() else { return };
        let mut diagnostic =
            Msg::new().with_nonzero_int(1, severity).with_text(2, summary).with_text(3, "Detail.");
        if !attribute.is_empty() {
            let step = Msg::new().with_text(1, attribute);
            diagnostic = diagnostic.with_message(4, &Msg::new().with_message(1, &step));
        }
        self.change(|answer| answer.with_message(field, &diagnostic));
    }

    /// Drops the diagnostics of the answer.
    pub fn silence(&mut self) {
        let Some(field) = self.rpc.diagnostics_field() else { return };
        self.change(|answer| answer.without_field(field));
    }
}
