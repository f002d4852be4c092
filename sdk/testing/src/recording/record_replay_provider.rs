//! A provider that wraps another one and records its calls, or replays a record.

use std::sync::Arc;

use formwork_plugin_protocol::message::schema::IdentitySchemas;
use formwork_plugin_protocol::{Failure, Provider, ProviderExt as _, Request, Response};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde_json::json;
use tokio::sync::OnceCell;

use super::Recording;
use super::answer;
use super::value_json::{OfferedSchemas, RecordedRequestOrAnswer};

/// A provider with a record.
pub(super) struct RecordReplayProvider {
    inner: Arc<dyn Provider>,
    recording: Recording,
    /// Whether answers come from the record.
    replays: bool,
    offer: OnceCell<OfferedSchemas>,
}

impl RecordReplayProvider {
    pub(super) fn new(inner: Arc<dyn Provider>, recording: Recording, replays: bool) -> Self {
        Self { inner, recording, replays, offer: OnceCell::new() }
    }

    async fn new_request_or_answer(&self) -> Result<RecordedRequestOrAnswer<'_>, Failure> {
        let offer = self.offer.get_or_try_init(|| async {
            let identities = match self.inner.identity_schemas().await {
                // Providers of before 5.9 and 6.9 have no identities.
                Err(Failure::Unimplemented(_)) => IdentitySchemas::default(),
                answer => answer?,
            };
            Ok::<_, Failure>(OfferedSchemas { schema: self.inner.schema().await?, identities })
        });
        Ok(RecordedRequestOrAnswer::new(offer.await?))
    }

    /// Answers a call: from the record, or by the provider, whose answer is recorded.
    async fn record_or_replay(&self, request: Request) -> Result<Response, Failure> {
        let page = self.new_request_or_answer().await?;
        let offer = page.offer;
        let subject = Some(request.type_or_function_name()).filter(|subject| !subject.is_empty());
        let of = subject.unwrap_or("provider").to_owned();
        let method = request.method();
        let call = method.handler_name();
        let Some(page) = page.encode_request(&request) else {
            return self.inner.call(request).await;
        };
        if self.replays {
            // As a failure of the provider, which the engine reports like any other.
            let answer =
                self.recording.take_unused_answer(call, &of, page).map_err(Failure::Misbehaved)?;
            if let Some(words) = answer["failure"].as_str() {
                // The record does not have the kind of the failure.
                return Err(Failure::Misbehaved(words.to_owned()));
            }
            return answer::decode_answer(offer, method, &of, &answer).map_err(|reason| {
                Failure::Misbehaved(format!("the recorded answer to {call} of {of}: {reason}"))
            });
        }
        let mut kept = RecordedRequestOrAnswer::new(offer);
        let answer = match self.inner.call(request).await {
            Ok(answer) => answer::encode_answer(&mut kept, &of, answer).await,
            Err(failure) => Err(failure),
        };
        // A failed call belongs to the record: the host has seen it.
        if let Err(failure) = &answer {
            kept.add_nonempty_member("failure", json!(failure.to_string()));
        }
        self.recording.record_call(call, &of, page, kept);
        answer
    }
}

impl Provider for RecordReplayProvider {
    fn call(&self, request: Request) -> BoxFuture<'_, Result<Response, Failure>> {
        if request.method().never_calls_service() {
            return self.inner.call(request);
        }
        self.record_or_replay(request).boxed()
    }
}
