//! The transport between host and provider: adds the state store and the stored objects to the answers
//! of the SDK, and commits the ordered fault.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use formwork_conformance::message::Msg;
use formwork_conformance::offer::{
    GENERATE_CONFIG_CAPABILITY, Kind, Offer, PLAN_DESTROY_CAPABILITY,
};
use formwork_conformance::rpc::Rpc;
use formwork_plugin_protocol::handshake::Protocol;
use formwork_plugin_protocol::raw::{RawAnswers, RawCall, RawError, RawStatus, Transport};
use formwork_tests::seeded::{Continuation, Exchange, Fault, History};
use formwork_value::codec::msgpack;
use formwork_value::{Path, Value};
use futures_util::future::BoxFuture;
use futures_util::{FutureExt as _, StreamExt as _, stream};
use tokio::sync::OnceCell;

use crate::objects;
use crate::remote::Remote;
use crate::store::{self, Store};

/// The transport of the sound provider.
pub(crate) struct FaultLayer {
    inner: Arc<dyn Transport>,
    fault: Option<Fault>,
    store: Store,
    remote: Option<Remote>,
    offer: OnceCell<Offer>,
    history: Mutex<History>,
    in_flight: AtomicU64,
}

type Answers = Result<Vec<Msg>, RawError>;

/// The call that a path names.
fn rpc_of(path: &str) -> Option<(Rpc, Protocol)> {
    Protocol::ALL.into_iter().find_map(|protocol| {
        let rpc =
            Rpc::ALL.into_iter().find(|rpc| rpc.method_path(protocol).as_deref() == Some(path));
        rpc.map(|rpc| (rpc, protocol))
    })
}

struct InFlight<'l>(&'l AtomicU64);

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl FaultLayer {
    /// A layer over the SDK's provider.
    pub(crate) fn new(inner: Arc<dyn Transport>, fault: Option<Fault>) -> Self {
        let remote = Remote::from_env(fault.as_ref());
        Self {
            inner,
            fault,
            remote,
            store: Store::default(),
            offer: OnceCell::new(),
            history: Mutex::default(),
            in_flight: AtomicU64::new(0),
        }
    }

    async fn forward(&self, path: &str, requests: &[Msg]) -> Answers {
        let messages = requests.iter().map(Msg::encode).collect();
        let call = RawCall { path: path.to_owned().into(), messages, answer_limit: 256 << 20 };
        let reply = self.inner.call_and_collect_reply(call).await;
        reply.end?;
        Ok(reply.messages.iter().filter_map(Msg::parse).collect())
    }

    /// The schema, read once.
    async fn offer(&self, protocol: Protocol) -> &Offer {
        self.offer
            .get_or_init(|| async {
                let path = Rpc::GetProviderSchema.method_path(protocol).unwrap_or_default();
                let answers = self.forward(&path, &[Msg::new()]).await.unwrap_or_default();
                let mut offer =
                    Offer::from_schema_answer(&answers.first().cloned().unwrap_or_default());
                let path =
                    Rpc::GetResourceIdentitySchemas.method_path(protocol).unwrap_or_default();
                let answers = self.forward(&path, &[Msg::new()]).await.unwrap_or_default();
                offer.add_identity_schemas(&answers.first().cloned().unwrap_or_default());
                offer
            })
            .await
    }

    /// The answer of the sound provider.
    async fn call_sound_provider(&self, rpc: Rpc, protocol: Protocol, requests: &[Msg]) -> Answers {
        let path = rpc.method_path(protocol).unwrap_or_default();
        let has_store = protocol == Protocol::V6;
        if let Some(answers) = self.store.answer(rpc, requests).filter(|_| has_store) {
            return Ok(answers);
        }
        let offer = self.offer(protocol).await;
        let request = requests.first().cloned().unwrap_or_default();
        if rpc == Rpc::GenerateResourceConfig {
            return Ok(vec![generated(offer, &request)]);
        }
        let mut requests = requests.to_vec();
        if let Some(remote) = &self.remote {
            remote.call_before(rpc).await;
        }
        if rpc == Rpc::ReadResource {
            match objects::current(offer, &request) {
                Ok(current) => requests = vec![current],
                Err(response) => return Ok(vec![response]),
            }
        }
        let mut answers = self.forward(&path, &requests).await?;
        if let Some(answer) = answers.first_mut() {
            if let Some(remote) = &self.remote {
                remote.adjust_answer(offer, rpc, &request, answer).await;
            }
            match rpc {
                Rpc::GetProviderSchema => *answer = with_capabilities(answer, 6),
                Rpc::GetMetadata => *answer = with_capabilities(answer, 1),
                _ => objects::record_apply(offer, rpc, &request, answer),
            }
            match rpc {
                Rpc::GetProviderSchema if has_store => *answer = store::with_schema(answer),
                Rpc::GetMetadata if has_store => *answer = store::with_metadata(answer),
                _ => {}
            }
        }
        Ok(answers)
    }

    async fn call(&self, call: RawCall) -> Result<RawAnswers, RawError> {
        let requests: Option<Vec<Msg>> = call.messages.iter().map(Msg::parse).collect();
        let (rpc, Some(requests)) = (rpc_of(&call.path), requests) else {
            return self.unknown(call).await;
        };
        let Some((rpc, protocol)) = rpc else { return self.unknown(call).await };
        let now = self.in_flight.fetch_add(1, Ordering::SeqCst) + 1;
        let _in_flight = InFlight(&self.in_flight);
        let offer = self.offer(protocol).await.clone();
        let history = {
            let mut history = self.history.lock().unwrap_or_else(PoisonError::into_inner);
            history.note(rpc, requests.first());
            history.clone()
        };
        let mut exchange = Exchange::new(rpc, requests, offer, history, now);
        if let Some(Fault::Before(before)) = &self.fault {
            self.apply_fault(before(&mut exchange)).await;
        }
        if exchange.answers.is_none() {
            let sound = self.call_sound_provider(rpc, protocol, &exchange.requests).await;
            exchange.answers = Some(sound.map_err(|error| match error {
                RawError::Status(status) => (status.code, status.message),
                RawError::Failed(failure) => (14, failure.to_string()),
            }));
        }
        if let Some(Fault::After(after)) = &self.fault {
            exchange.history = self.history.lock().unwrap_or_else(PoisonError::into_inner).clone();
            self.apply_fault(after(&mut exchange)).await;
        }
        match exchange.answers.unwrap_or_else(|| Ok(Vec::new())) {
            Ok(answers) => {
                let answers: Vec<_> = answers.iter().map(|it| Ok(it.encode())).collect();
                Ok(stream::iter(answers).boxed())
            }
            Err((code, message)) => {
                let details = bytes::Bytes::new();
                Err(RawError::Status(RawStatus { code, message, details }))
            }
        }
    }

    async fn apply_fault(&self, act: Continuation) {
        match act {
            Continuation::Proceed => {}
            Continuation::Exit => std::process::exit(3),
            Continuation::Hang => futures_util::future::pending().await,
            Continuation::Wait(time) => tokio::time::sleep(Duration::from_millis(time)).await,
            Continuation::OutlastStop(time) => {
                let stopped = || {
                    let history = self.history.lock().unwrap_or_else(PoisonError::into_inner);
                    history.count(Rpc::StopProvider) > 0
                };
                for _ in 0..20 {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                    if stopped() {
                        return tokio::time::sleep(Duration::from_millis(time)).await;
                    }
                }
            }
        }
    }

    /// A call that no provider has, or one that cannot be read.
    async fn unknown(&self, call: RawCall) -> Result<RawAnswers, RawError> {
        match (&self.fault, rpc_of(&call.path)) {
            (Some(Fault::AnswersUnknownMethods), None) => {
                Ok(stream::iter([Ok(bytes::Bytes::new())]).boxed())
            }
            (Some(Fault::Before(before)), Some((rpc, protocol))) => {
                let offer = self.offer(protocol).await.clone();
                let mut exchange = Exchange::new(rpc, Vec::new(), offer, History::default(), 1);
                exchange.is_garbled = true;
                self.apply_fault(before(&mut exchange)).await;
                self.inner.begin_call(call).await
            }
            _ => self.inner.begin_call(call).await,
        }
    }
}

/// The answer with the capabilities of planning destruction and generating configuration.
fn with_capabilities(answer: &Msg, field: u32) -> Msg {
    let capabilities = answer.get_msg(field).unwrap_or_default();
    let capabilities = [PLAN_DESTROY_CAPABILITY, GENERATE_CONFIG_CAPABILITY]
        .into_iter()
        .fold(capabilities, |all, capability| {
            all.without_field(capability).with_nonzero_int(capability, 1)
        });
    answer.clone().replace_field(field, capabilities.encode())
}

/// The configuration of an object: the object without its computed attributes.
fn generated(offer: &Offer, request: &Msg) -> Msg {
    let name = request.get_text(1);
    let offered = offer.usable_types_of_kind(Kind::Resource).find(|it| it.name == name);
    let Some(offered) = offered else {
        let problem = Msg::new()
            .with_nonzero_int(1, 1)
            .with_text(2, "Unknown resource type")
            .with_text(3, &name);
        return Msg::new().with_message(2, &problem);
    };
    let ty = offered.ty();
    let state = request.get_msg(2).unwrap_or_default();
    let decoded = msgpack::decode(&state.get_bytes(1), &ty);
    let Some(mut value) = decoded.ok().filter(|it| !it.is_null()) else {
        let problem = Msg::new()
            .with_nonzero_int(1, 1)
            .with_text(2, "No object")
            .with_text(3, "There is no state.");
        return Msg::new().with_message(2, &problem);
    };
    for (attribute, schema) in &offered.block().attributes {
        if schema.role == formwork_value::schema::Role::Computed {
            let path = Path::root().attribute(attribute.clone());
            let null = Value::null(schema.implied_type());
            value = value.replace_at(&path, |_| null.clone()).unwrap_or(value);
        }
    }
    let encoded = msgpack::encode(&value, &ty).unwrap_or_default();
    Msg::new().with_message(1, &Msg::new().with_bytes(1, encoded))
}

impl Transport for FaultLayer {
    fn begin_call(&self, call: RawCall) -> BoxFuture<'_, Result<RawAnswers, RawError>> {
        self.call(call).boxed()
    }
}
