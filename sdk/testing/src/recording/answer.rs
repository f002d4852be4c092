//! Answers of a provider, encoded for a record and decoded from it.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use formwork_plugin_protocol::message::ProviderDiagnostic;
use formwork_plugin_protocol::message::action::{ActionEvent, PlanActionResponse};
use formwork_plugin_protocol::message::configure::DiagnosticsResponse;
use formwork_plugin_protocol::message::ephemeral::{OpenResponse, RenewResponse};
use formwork_plugin_protocol::message::function::{CallResponse, FunctionError};
use formwork_plugin_protocol::message::list::ListEvent;
use formwork_plugin_protocol::message::read_data::ReadDataResponse;
use formwork_plugin_protocol::message::resource::{
    ApplyResponse, ImportResponse, ImportedResource, MoveResponse, PlanResponse, ReadResponse,
    UpgradeIdentityResponse, UpgradeResponse,
};
use formwork_plugin_protocol::provider::StreamedResponse;
use formwork_plugin_protocol::{Failure, Method, Payload, Response};
use futures_util::stream;
use futures_util::{StreamExt as _, TryStreamExt as _};
use serde_json::{Value as Json, json};

use super::value_json::{
    OfferedSchemas, PayloadSchema, RecordedRequestOrAnswer, decode_bytes_from_text_or_hex,
    decode_deferral_reason, decode_diagnostics, decode_path, encode_bytes_as_text_or_hex,
    encode_path,
};

/// An answer that can be recorded. `of` is the name of the type.
trait RecordedAnswer: Sized {
    /// Encodes it.
    fn encode(&self, page: &mut RecordedRequestOrAnswer<'_>, of: &str);

    /// Decodes it.
    fn decode(offer: &OfferedSchemas, of: &str, json: &Json) -> Result<Self, String>;
}

/// Decodes the answer to a call of a method.
pub(super) fn decode_answer(
    offer: &OfferedSchemas,
    method: Method,
    of: &str,
    json: &Json,
) -> Result<Response, String> {
    /// Calls of one kind: each is decoded as its answer type.
    macro_rules! decode_as {
        ($($method:ident),*; $($streamed:ident),*) => {
            match method {
                $(Method::$method => RecordedAnswer::decode(offer, of, json).map(Response::$method),)*
                $(Method::$streamed => RecordedAnswer::decode(offer, of, json)
                    .map(|events: Vec<_>| Response::$streamed(event_stream(events))),)*
                // The provider itself describes what it offers, and a record does not.
                _ => Err("no such answer is recorded".to_owned()),
            }
        };
    }
    decode_as!(
        ValidateProviderConfig, ConfigureProvider, ValidateResourceConfig,
        ValidateDataResourceConfig, ValidateEphemeralResourceConfig, ValidateActionConfig,
        ValidateListResourceConfig, UpgradeResourceState, UpgradeResourceIdentity, ReadResource,
        PlanResourceChange, ApplyResourceChange, ImportResourceState, MoveResourceState,
        ReadDataSource, OpenEphemeralResource, RenewEphemeralResource, CloseEphemeralResource,
        CallFunction, PlanAction;
        ListResource, InvokeAction
    )
}

/// Encodes an answer. A stream is read as a whole.
pub(super) async fn encode_answer(
    page: &mut RecordedRequestOrAnswer<'_>,
    of: &str,
    answer: Response,
) -> Result<(), Failure> {
    match &answer {
        Response::ValidateProviderConfig(it)
        | Response::ConfigureProvider(it)
        | Response::ValidateResourceConfig(it)
        | Response::ValidateDataResourceConfig(it)
        | Response::ValidateEphemeralResourceConfig(it)
        | Response::ValidateActionConfig(it)
        | Response::ValidateListResourceConfig(it)
        | Response::CloseEphemeralResource(it) => it.encode(page, of),
        Response::UpgradeResourceState(it) => it.encode(page, of),
        Response::UpgradeResourceIdentity(it) => it.encode(page, of),
        Response::ReadResource(it) => it.encode(page, of),
        Response::PlanResourceChange(it) => it.encode(page, of),
        Response::ApplyResourceChange(it) => it.encode(page, of),
        Response::ImportResourceState(it) => it.encode(page, of),
        Response::MoveResourceState(it) => it.encode(page, of),
        Response::ReadDataSource(it) => it.encode(page, of),
        Response::OpenEphemeralResource(it) => it.encode(page, of),
        Response::RenewEphemeralResource(it) => it.encode(page, of),
        Response::CallFunction(it) => it.encode(page, of),
        Response::PlanAction(it) => it.encode(page, of),
        // Only a stream has to be waited for.
        _ => return encode_events(page, of, answer).await,
    }
    Ok(())
}

/// Encodes a streamed answer.
async fn encode_events(
    page: &mut RecordedRequestOrAnswer<'_>,
    of: &str,
    answer: Response,
) -> Result<(), Failure> {
    match answer {
        Response::ListResource(events) => {
            let events: Vec<ListEvent> = events.try_collect().await?;
            events.encode(page, of);
        }
        Response::InvokeAction(events) => {
            let events: Vec<ActionEvent> = events.try_collect().await?;
            events.encode(page, of);
        }
        // The offer of a provider is not recorded.
        _ => {}
    }
    Ok(())
}

/// Returns events as a stream.
pub(super) fn event_stream<T: Send + 'static>(events: Vec<T>) -> StreamedResponse<T> {
    stream::iter(events.into_iter().map(Ok)).boxed()
}

impl RecordedAnswer for DiagnosticsResponse {
    fn encode(&self, page: &mut RecordedRequestOrAnswer<'_>, _: &str) {
        page.add_diagnostics(&self.diagnostics);
    }

    fn decode(_: &OfferedSchemas, _: &str, json: &Json) -> Result<Self, String> {
        Ok(Self { diagnostics: decode_diagnostics(&json["diagnostics"]) })
    }
}

/// Answer of most calls about an object: the object, its private data and its identity.
struct ObjectAnswer {
    state: Payload,
    private: Bytes,
    identity: Option<Payload>,
    diagnostics: Vec<ProviderDiagnostic>,
}

impl RecordedRequestOrAnswer<'_> {
    /// Writes an object, its private data and its identity.
    fn add_object(
        &mut self,
        of: &str,
        state: &Payload,
        private: &Bytes,
        identity: Option<&Payload>,
    ) {
        self.add_payload("state", PayloadSchema::Resource(of), state);
        self.add_nonempty_member("private", encode_bytes_as_text_or_hex(private));
        self.add_identity("identity", of, identity);
    }
}

fn decode_object_answer(
    offer: &OfferedSchemas,
    of: &str,
    json: &Json,
) -> Result<ObjectAnswer, String> {
    Ok(ObjectAnswer {
        state: offer.decode_payload(PayloadSchema::Resource(of), &json["state"])?,
        private: decode_bytes_from_text_or_hex(&json["private"]),
        identity: offer.decode_optional_payload(PayloadSchema::Identity(of), &json["identity"])?,
        diagnostics: decode_diagnostics(&json["diagnostics"]),
    })
}

impl RecordedAnswer for UpgradeResponse {
    fn encode(&self, page: &mut RecordedRequestOrAnswer<'_>, of: &str) {
        page.add_payload("state", PayloadSchema::Resource(of), &self.state);
        page.add_diagnostics(&self.diagnostics);
    }

    fn decode(offer: &OfferedSchemas, of: &str, json: &Json) -> Result<Self, String> {
        Ok(Self {
            state: offer.decode_payload(PayloadSchema::Resource(of), &json["state"])?,
            diagnostics: decode_diagnostics(&json["diagnostics"]),
        })
    }
}

impl RecordedAnswer for ReadResponse {
    fn encode(&self, page: &mut RecordedRequestOrAnswer<'_>, of: &str) {
        page.add_object(of, &self.state, &self.private, self.identity.as_ref());
        page.add_diagnostics(&self.diagnostics);
        page.add_deferral_reason(self.deferred);
    }

    fn decode(offer: &OfferedSchemas, of: &str, json: &Json) -> Result<Self, String> {
        let ObjectAnswer { state, private, identity, diagnostics } =
            decode_object_answer(offer, of, json)?;
        let deferred = decode_deferral_reason(&json["deferred"]);
        Ok(Self { state, private, deferred, identity, diagnostics })
    }
}

impl RecordedAnswer for PlanResponse {
    fn encode(&self, page: &mut RecordedRequestOrAnswer<'_>, of: &str) {
        page.add_payload("planned", PayloadSchema::Resource(of), &self.planned);
        if !self.requires_replace.is_empty() {
            page.add_nonempty_member(
                "requires_replace",
                self.requires_replace.iter().map(encode_path).collect(),
            );
        }
        page.add_nonempty_member(
            "planned_private",
            encode_bytes_as_text_or_hex(&self.planned_private),
        );
        // Providers with this SDK do not set it, so the record is shorter without it.
        if self.legacy_type_system {
            page.add_nonempty_member("legacy_type_system", json!(true));
        }
        page.add_deferral_reason(self.deferred);
        page.add_identity("planned_identity", of, self.planned_identity.as_ref());
        page.add_diagnostics(&self.diagnostics);
    }

    fn decode(offer: &OfferedSchemas, of: &str, json: &Json) -> Result<Self, String> {
        let replace = json["requires_replace"].as_array().into_iter().flatten();
        Ok(Self {
            planned: offer.decode_payload(PayloadSchema::Resource(of), &json["planned"])?,
            requires_replace: replace.map(decode_path).collect(),
            planned_private: decode_bytes_from_text_or_hex(&json["planned_private"]),
            legacy_type_system: json["legacy_type_system"] == true,
            deferred: decode_deferral_reason(&json["deferred"]),
            planned_identity: offer
                .decode_optional_payload(PayloadSchema::Identity(of), &json["planned_identity"])?,
            diagnostics: decode_diagnostics(&json["diagnostics"]),
        })
    }
}

impl RecordedAnswer for ApplyResponse {
    fn encode(&self, page: &mut RecordedRequestOrAnswer<'_>, of: &str) {
        page.add_object(of, &self.state, &self.private, self.identity.as_ref());
        page.add_diagnostics(&self.diagnostics);
        if self.legacy_type_system {
            page.add_nonempty_member("legacy_type_system", json!(true));
        }
    }

    fn decode(offer: &OfferedSchemas, of: &str, json: &Json) -> Result<Self, String> {
        let ObjectAnswer { state, private, identity, diagnostics } =
            decode_object_answer(offer, of, json)?;
        let legacy_type_system = json["legacy_type_system"] == true;
        Ok(Self { state, private, legacy_type_system, identity, diagnostics })
    }
}

impl RecordedAnswer for ImportResponse {
    fn encode(&self, page: &mut RecordedRequestOrAnswer<'_>, _: &str) {
        let mut resources = Vec::new();
        for resource in &self.resources {
            // By its own type: an import may find objects of several types.
            let name = &resource.type_name;
            let identity = resource.identity.as_ref();
            resources.push(json!({
                "type": name,
                "state": page.encode_payload(PayloadSchema::Resource(name), &resource.state),
                "private": encode_bytes_as_text_or_hex(&resource.private),
                "identity": identity.map(|identity| page.encode_payload(PayloadSchema::Identity(name), identity)),
            }));
        }
        page.add_nonempty_member("resources", Json::Array(resources));
        page.add_deferral_reason(self.deferred);
        page.add_diagnostics(&self.diagnostics);
    }

    fn decode(offer: &OfferedSchemas, _: &str, json: &Json) -> Result<Self, String> {
        let mut resources = Vec::new();
        for resource in json["resources"].as_array().into_iter().flatten() {
            let name = resource["type"].as_str().unwrap_or_default();
            resources.push(ImportedResource {
                type_name: name.to_owned(),
                state: offer.decode_payload(PayloadSchema::Resource(name), &resource["state"])?,
                private: decode_bytes_from_text_or_hex(&resource["private"]),
                identity: offer.decode_optional_payload(
                    PayloadSchema::Identity(name),
                    &resource["identity"],
                )?,
            });
        }
        Ok(Self {
            resources,
            deferred: decode_deferral_reason(&json["deferred"]),
            diagnostics: decode_diagnostics(&json["diagnostics"]),
        })
    }
}

impl RecordedAnswer for MoveResponse {
    fn encode(&self, page: &mut RecordedRequestOrAnswer<'_>, of: &str) {
        page.add_object(of, &self.state, &self.private, self.identity.as_ref());
        page.add_diagnostics(&self.diagnostics);
    }

    fn decode(offer: &OfferedSchemas, of: &str, json: &Json) -> Result<Self, String> {
        let ObjectAnswer { state, private, identity, diagnostics } =
            decode_object_answer(offer, of, json)?;
        Ok(Self { state, private, identity, diagnostics })
    }
}

impl RecordedAnswer for UpgradeIdentityResponse {
    fn encode(&self, page: &mut RecordedRequestOrAnswer<'_>, of: &str) {
        page.add_payload("identity", PayloadSchema::Identity(of), &self.identity);
        page.add_diagnostics(&self.diagnostics);
    }

    fn decode(offer: &OfferedSchemas, of: &str, json: &Json) -> Result<Self, String> {
        Ok(Self {
            identity: offer.decode_payload(PayloadSchema::Identity(of), &json["identity"])?,
            diagnostics: decode_diagnostics(&json["diagnostics"]),
        })
    }
}

impl RecordedAnswer for ReadDataResponse {
    fn encode(&self, page: &mut RecordedRequestOrAnswer<'_>, of: &str) {
        page.add_payload("state", PayloadSchema::Data(of), &self.state);
        page.add_deferral_reason(self.deferred);
        page.add_diagnostics(&self.diagnostics);
    }

    fn decode(offer: &OfferedSchemas, of: &str, json: &Json) -> Result<Self, String> {
        Ok(Self {
            state: offer.decode_payload(PayloadSchema::Data(of), &json["state"])?,
            deferred: decode_deferral_reason(&json["deferred"]),
            diagnostics: decode_diagnostics(&json["diagnostics"]),
        })
    }
}

impl RecordedAnswer for CallResponse {
    fn encode(&self, page: &mut RecordedRequestOrAnswer<'_>, of: &str) {
        match &self.result {
            Ok(result) => page.add_payload("result", PayloadSchema::Result(of), result),
            Err(error) => {
                page.add_nonempty_member(
                    "error",
                    json!({"text": error.text, "argument": error.argument}),
                );
            }
        }
    }

    fn decode(offer: &OfferedSchemas, of: &str, json: &Json) -> Result<Self, String> {
        if let Some(text) = json["error"]["text"].as_str() {
            let argument = json["error"]["argument"].as_u64();
            return Ok(Self { result: Err(FunctionError { text: text.to_owned(), argument }) });
        }
        Ok(Self { result: Ok(offer.decode_payload(PayloadSchema::Result(of), &json["result"])?) })
    }
}

impl RecordedAnswer for OpenResponse {
    fn encode(&self, page: &mut RecordedRequestOrAnswer<'_>, of: &str) {
        // An ephemeral value is never stored, so the record does not have it either.
        if let Ok(result) = self.result.decode(&page.offer.value_type(PayloadSchema::Ephemeral(of)))
        {
            page.add_secrets(result.value());
        }
        page.add_payload("result", PayloadSchema::Ephemeral(of), &self.result);
        page.add_nonempty_member("private", encode_bytes_as_text_or_hex(&self.private));
        // As a duration: the timestamp itself would be in the past during a replay.
        page.add_nonempty_member("renew_in", seconds_until(self.renew_at, page.ended_at));
        page.add_deferral_reason(self.deferred);
        page.add_diagnostics(&self.diagnostics);
    }

    fn decode(offer: &OfferedSchemas, of: &str, json: &Json) -> Result<Self, String> {
        Ok(Self {
            result: offer.decode_payload(PayloadSchema::Ephemeral(of), &json["result"])?,
            private: decode_bytes_from_text_or_hex(&json["private"]),
            renew_at: time_after(&json["renew_in"]),
            deferred: decode_deferral_reason(&json["deferred"]),
            diagnostics: decode_diagnostics(&json["diagnostics"]),
        })
    }
}

impl RecordedAnswer for RenewResponse {
    fn encode(&self, page: &mut RecordedRequestOrAnswer<'_>, _: &str) {
        page.add_nonempty_member("private", encode_bytes_as_text_or_hex(&self.private));
        page.add_nonempty_member("renew_in", seconds_until(self.renew_at, page.ended_at));
        page.add_diagnostics(&self.diagnostics);
    }

    fn decode(_: &OfferedSchemas, _: &str, json: &Json) -> Result<Self, String> {
        Ok(Self {
            private: decode_bytes_from_text_or_hex(&json["private"]),
            renew_at: time_after(&json["renew_in"]),
            diagnostics: decode_diagnostics(&json["diagnostics"]),
        })
    }
}

impl RecordedAnswer for PlanActionResponse {
    fn encode(&self, page: &mut RecordedRequestOrAnswer<'_>, _: &str) {
        page.add_deferral_reason(self.deferred);
        page.add_diagnostics(&self.diagnostics);
    }

    fn decode(_: &OfferedSchemas, _: &str, json: &Json) -> Result<Self, String> {
        let diagnostics = decode_diagnostics(&json["diagnostics"]);
        Ok(Self { deferred: decode_deferral_reason(&json["deferred"]), diagnostics })
    }
}

/// All events in order.
impl RecordedAnswer for Vec<ActionEvent> {
    fn encode(&self, page: &mut RecordedRequestOrAnswer<'_>, _: &str) {
        let progress = self.iter().filter_map(|event| match event {
            ActionEvent::Progress(text) => Some(json!(text)),
            ActionEvent::Completed(_) => None,
        });
        page.add_nonempty_member("progress", progress.collect());
        for event in self {
            if let ActionEvent::Completed(completion) = event {
                // Even without diagnostics: a stream that broke off has no end like this.
                page.add_nonempty_member("completed", json!(true));
                page.add_diagnostics(completion);
            }
        }
    }

    fn decode(_: &OfferedSchemas, _: &str, json: &Json) -> Result<Self, String> {
        let texts = json["progress"].as_array().into_iter().flatten().filter_map(Json::as_str);
        let mut events: Self = texts.map(|text| ActionEvent::Progress(text.to_owned())).collect();
        if json["completed"] == true {
            events.push(ActionEvent::Completed(decode_diagnostics(&json["diagnostics"])));
        }
        Ok(events)
    }
}

/// All found objects in order.
impl RecordedAnswer for Vec<ListEvent> {
    fn encode(&self, page: &mut RecordedRequestOrAnswer<'_>, of: &str) {
        let offer = page.offer;
        let mut events = Vec::new();
        for event in self {
            // A page for each event, since they all have the same fields.
            let mut inner = RecordedRequestOrAnswer::new(offer, page.ended_at);
            inner.add_nonempty_member("name", json!(event.display_name));
            inner.add_identity("identity", of, event.identity.as_ref());
            if let Some(object) = &event.object {
                inner.add_payload("object", PayloadSchema::Resource(of), object);
            }
            inner.add_diagnostics(&event.diagnostics);
            page.secrets.append(&mut inner.secrets);
            page.names.append(&mut inner.names);
            events.push(Json::Object(inner.fields));
        }
        page.add_nonempty_member("events", Json::Array(events));
    }

    fn decode(offer: &OfferedSchemas, of: &str, json: &Json) -> Result<Self, String> {
        let events = json["events"].as_array().into_iter().flatten().map(|event| {
            Ok(ListEvent {
                identity: offer
                    .decode_optional_payload(PayloadSchema::Identity(of), &event["identity"])?,
                display_name: event["name"].as_str().unwrap_or_default().to_owned(),
                object: offer
                    .decode_optional_payload(PayloadSchema::Resource(of), &event["object"])?,
                diagnostics: decode_diagnostics(&event["diagnostics"]),
            })
        });
        events.collect()
    }
}

/// Seconds from the end of a call until a moment, so that a record does not depend on the time of
/// recording.
fn seconds_until(moment: Option<SystemTime>, ended_at: SystemTime) -> Json {
    // A moment in the past counts as none.
    let remaining = moment.and_then(|moment| moment.duration_since(ended_at).ok());
    // Whole seconds: the rest is the time that the call took.
    remaining.map_or(Json::Null, |remaining| json!(remaining.as_secs_f64().round()))
}

fn time_after(seconds: &Json) -> Option<SystemTime> {
    Some(now() + Duration::try_from_secs_f64(seconds.as_f64()?).ok()?)
}

#[expect(clippy::disallowed_methods, reason = "providers name moments, records lengths of time")]
pub(super) fn now() -> SystemTime {
    SystemTime::now()
}
