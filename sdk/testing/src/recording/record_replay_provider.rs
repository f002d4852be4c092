//! Providers with a record: one wraps another provider and records its calls, one replays them.

use std::sync::Arc;

use formwork_plugin_protocol::client::GrpcProvider;
use formwork_plugin_protocol::handshake::Protocol;
use formwork_plugin_protocol::raw::Transport;
use formwork_plugin_protocol::server::in_process_transport;
use formwork_plugin_protocol::transcript::{Recorder, TranscriptStart};
use formwork_plugin_protocol::{Failure, Provider, Request, Response};
use futures_util::future::BoxFuture;
use futures_util::{FutureExt as _, TryStreamExt as _};
use tokio::sync::OnceCell;

use super::value_json::{OfferedSchemas, RecordedRequestOrAnswer};
use super::{Recording, answer, subject_of};

/// A provider whose calls are recorded as bytes, as if it were in another process.
pub(super) struct RecordingProvider {
    inner: Arc<dyn Provider>,
    /// The same provider as one that gets bytes.
    transport: Arc<dyn Transport>,
    start: TranscriptStart,
    recording: Recording,
    offer: OnceCell<OfferedSchemas>,
}

impl RecordingProvider {
    pub(super) fn new(inner: Arc<dyn Provider>, recording: Recording) -> Self {
        let transport = in_process_transport(Arc::clone(&inner));
        let start = TranscriptStart::new(answer::now());
        Self { inner, transport, start, recording, offer: OnceCell::new() }
    }

    async fn call_and_record(&self, request: Request) -> Result<Response, Failure> {
        let offer =
            self.offer.get_or_try_init(|| OfferedSchemas::of_provider(&*self.inner)).await?;
        // Only for this call, because others are in flight and end later.
        let recorder = Recorder::from_start(self.start);
        let layered = recorder.wrap_transport(Arc::clone(&self.transport));
        let answer = GrpcProvider::over_transport(layered, Protocol::LATEST).call(request).await;
        let answer = match answer {
            Ok(answer) => read_to_end(answer).await,
            Err(failure) => Err(failure),
        };
        let recorded = self.recording.add_transcript(offer, &recorder.transcript()).await;
        recorded.map_err(|error| Failure::Misbehaved(error.to_string()))?;
        answer
    }
}

impl Provider for RecordingProvider {
    fn call(&self, request: Request) -> BoxFuture<'_, Result<Response, Failure>> {
        if request.method().never_calls_service() {
            return self.inner.call(request);
        }
        self.call_and_record(request).boxed()
    }
}

/// A provider that answers from a record.
pub(super) struct ReplayingProvider {
    /// The provider whose schemas are used.
    offering: Arc<dyn Provider>,
    recording: Recording,
    offer: OnceCell<OfferedSchemas>,
}

impl ReplayingProvider {
    pub(super) fn new(offering: Arc<dyn Provider>, recording: Recording) -> Self {
        Self { offering, recording, offer: OnceCell::new() }
    }

    async fn replay(&self, request: Request) -> Result<Response, Failure> {
        let schemas = || OfferedSchemas::of_provider(&*self.offering);
        let offer = self.offer.get_or_try_init(schemas).await?;
        let (method, of) = (request.method(), subject_of(&request).to_owned());
        let call = method.handler_name();
        let page = RecordedRequestOrAnswer::new(offer, answer::now()).encode_request(&request);
        let Some(page) = page else {
            return self.offering.call(request).await;
        };
        // As a failure of the provider, which the engine reports like any other.
        let answer =
            self.recording.take_unused_answer(call, &of, page).map_err(Failure::Misbehaved)?;
        if let Some(message) = answer["failure"].as_str() {
            // The record does not have the kind of the failure.
            return Err(Failure::Misbehaved(message.to_owned()));
        }
        answer::decode_answer(offer, method, &of, &answer).map_err(|reason| {
            Failure::Misbehaved(format!("the recorded answer to {call} of {of}: {reason}"))
        })
    }
}

impl Provider for ReplayingProvider {
    fn call(&self, request: Request) -> BoxFuture<'_, Result<Response, Failure>> {
        if request.method().never_calls_service() {
            return self.offering.call(request);
        }
        self.replay(request).boxed()
    }
}

/// Reads a streamed answer of a provider to its end, and returns it.
async fn read_to_end(response: Response) -> Result<Response, Failure> {
    // As a whole, because a record has one answer for each call.
    Ok(match response {
        Response::ListResource(events) => {
            Response::ListResource(answer::event_stream(events.try_collect().await?))
        }
        Response::InvokeAction(events) => {
            Response::InvokeAction(answer::event_stream(events.try_collect().await?))
        }
        other => other,
    })
}
