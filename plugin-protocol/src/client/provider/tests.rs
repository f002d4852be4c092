//! A provider in this process and the same one across a connection: both must get the same requests
//! and give the same answers.

mod example;
mod transcript;

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use bytes::Bytes;
use expect_test::{Expect, expect};
use futures_util::{StreamExt as _, stream};
use hyper_util::rt::TokioIo;
use tokio::io::DuplexStream;
use tokio::task::JoinHandle;
use tonic::Status;
use tonic::body::Body;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::codegen::http;
use tonic::transport::{Channel, Endpoint, Server};
use tower::service_fn;

use super::*;
use crate::client::connection_lease::{ChannelSource, Lease};
use crate::client::transport::LeasingTransport;
use crate::server::ProviderService;
use crate::{Payload, Provider};
use example::{Example, everything, msgpack};

/// One connection to an unspecified plugin.
struct OneChannel(Channel);

#[async_trait::async_trait]
impl ChannelSource for OneChannel {
    async fn lease(&self) -> Result<Lease, Failure> {
        Ok(Lease::new(self.0.clone(), Arc::new(AtomicUsize::new(0))))
    }

    async fn explain_loss(&self, reason: String) -> Failure {
        Failure::Lost { reason, exit: None, output: "last words".to_owned() }
    }
}

/// Puts a service at the other end of a connection inside this process. The connection breaks when
/// the task returned is aborted.
async fn connect<S>(service: S) -> (Channel, JoinHandle<()>)
where
    S: tower::Service<
            http::Request<Body>,
            Response = http::Response<Body>,
            Error = std::convert::Infallible,
            Future: Send,
        > + Clone
        + Send
        + 'static,
{
    let (client_end, mut client_wire) = tokio::io::duplex(1 << 16);
    let (mut server_wire, server_end) = tokio::io::duplex(1 << 16);
    let wire = tokio::spawn(async move {
        drop(tokio::io::copy_bidirectional(&mut client_wire, &mut server_wire).await);
    });
    let incoming = stream::once(async { Ok::<DuplexStream, std::io::Error>(server_end) });
    // Ends with its connection.
    tokio::spawn(Server::builder().serve_with_incoming(service, incoming.boxed()));
    // tonic dials again after a loss, and there is only one wire.
    let mut client_end = Some(client_end);
    let dial = service_fn(move |_| {
        let client_end =
            client_end.take().ok_or_else(|| std::io::Error::other("one connection only"));
        async move { client_end.map(TokioIo::new) }
    });
    let channel = Endpoint::from_static("http://localhost").connect_with_connector(dial).await;
    (channel.unwrap(), wire)
}

fn transport(channel: Channel) -> Arc<dyn Transport> {
    Arc::new(LeasingTransport::new(Arc::new(OneChannel(channel))))
}

async fn over_the_wire(provider: Arc<dyn Provider>, protocol: Protocol) -> GrpcProvider {
    // A dropped handle leaves its task running, so the wire stays.
    let (channel, _wire) = connect(ProviderService::new(provider)).await;
    GrpcProvider::over_transport(transport(channel), protocol)
}

// ---- Equal requests and answers

#[tokio::test]
async fn protocol_6_carries_all_requests_and_answers() {
    let direct = Arc::new(Example::default());
    let direct_answers = everything(&*direct).await;
    let remote = Arc::new(Example::default());
    let wire = over_the_wire(Arc::<Example>::clone(&remote), Protocol::V6).await;
    let remote_answers = everything(&wire).await;
    same(&direct_answers, &remote_answers);
    same(&direct.recorded_requests(), &remote.recorded_requests());
    assert_eq!(direct.recorded_requests().len(), 36, "every method was called");
}

#[tokio::test]
async fn protocol_5_carries_all_requests_and_answers_except_state_stores() {
    let direct = Arc::new(Example::for_protocol_5());
    let remote = Arc::new(Example::for_protocol_5());
    let wire = over_the_wire(Arc::<Example>::clone(&remote), Protocol::V5).await;
    let mut direct_answers = everything(&*direct).await;
    let mut remote_answers = everything(&wire).await;
    // The last eight calls are about state stores, which only protocol 6 has.
    let stores = remote_answers.split_off(28);
    drop(direct_answers.split_off(28));
    same(&direct_answers, &remote_answers);
    // Calls about state stores do not reach a provider of protocol 5.
    same(&direct.recorded_requests()[..28], &remote.recorded_requests());
    for answer in stores {
        assert!(answer.contains("Unimplemented"), "{answer}");
    }
}

fn same(direct: &[String], remote: &[String]) {
    for (direct, remote) in direct.iter().zip(remote) {
        assert!(direct == remote, "directly:\n{direct}\nover the wire:\n{remote}");
    }
    assert_eq!(direct.len(), remote.len());
}

#[tokio::test]
async fn large_objects_are_sent_and_received() {
    let wire = over_the_wire(Arc::new(Example::default()), Protocol::V6).await;
    // Beyond 4 MiB, where gRPC libraries refuse messages by default.
    let request = example::upgrade(Bytes::from(vec![b' '; 9 << 20]));
    let answer = wire.upgrade_state(request).await.unwrap();
    assert_eq!(answer.state, Payload::Json(vec![b' '; 9 << 20].into()));
}

#[tokio::test]
async fn a_request_beyond_the_limit_is_not_sent() {
    let wire = over_the_wire(Arc::new(Example::default()), Protocol::V6).await;
    let request =
        example::upgrade(Bytes::from(vec![0; crate::message_limits::MAX_MESSAGE_BYTES + 1]));
    let error = wire.upgrade_state(request).await.unwrap_err();
    assert!(
        matches!(error, Failure::UnencodableMessage(_)) && error.has_changed_nothing(),
        "{error:?}"
    );
    assert!(error.to_string().contains("the limit for messages is 256 MiB"), "{error}");
}

// ---- Missing answers, and their cause

/// A provider that misbehaves as named by the type.
struct Bad;

impl ProviderHandlers for Bad {
    async fn schema(&self) -> Result<ProviderSchema, Failure> {
        std::future::pending().await
    }

    async fn validate_provider_config(
        &self,
        _: ValidateRequest,
    ) -> Result<DiagnosticsResponse, Failure> {
        std::future::pending().await
    }

    async fn configure(&self, _: ConfigureRequest) -> Result<DiagnosticsResponse, Failure> {
        Ok(DiagnosticsResponse::default())
    }

    async fn validate_resource_config(
        &self,
        _: ValidateRequest,
    ) -> Result<DiagnosticsResponse, Failure> {
        panic!("number {}", 7)
    }

    async fn validate_data_config(
        &self,
        _: ValidateRequest,
    ) -> Result<DiagnosticsResponse, Failure> {
        Err(Failure::Status { code: "NotFound".into(), message: "no such thing".into() })
    }

    async fn upgrade_state(&self, _: UpgradeRequest) -> Result<UpgradeResponse, Failure> {
        Err(Failure::Lost { reason: "gone".into(), exit: None, output: String::new() })
    }

    async fn read(&self, _: ReadRequest) -> Result<ReadResponse, Failure> {
        Err(Failure::Misbehaved("odd".into()))
    }

    async fn plan(&self, _: PlanRequest) -> Result<PlanResponse, Failure> {
        // A string has no form under the type bool.
        let (value, _) = formwork_value::Value::string("x").split_marks();
        Ok(PlanResponse {
            planned: Payload::Value(value, formwork_value::Type::Bool),
            ..example::plan_response()
        })
    }

    async fn apply(&self, _: ApplyRequest) -> Result<ApplyResponse, Failure> {
        std::future::pending().await
    }

    async fn import(&self, _: ImportRequest) -> Result<ImportResponse, Failure> {
        std::future::pending().await
    }

    async fn read_data(&self, _: ReadDataRequest) -> Result<ReadDataResponse, Failure> {
        Err(Failure::Lost {
            reason: "its cloud is gone".to_owned(),
            exit: None,
            output: String::new(),
        })
    }

    async fn stop(&self) -> Result<String, Failure> {
        std::future::pending().await
    }

    async fn list(
        &self,
        request: ListRequest,
    ) -> Result<BoxStream<'static, Result<ListEvent, Failure>>, Failure> {
        let first_event = stream::iter([Ok(example::list_event())]);
        let then = stream::once(async move {
            match request.type_name.as_str() {
                "panics" => panic!("half-way"),
                _ => Err(Failure::Status { code: "Aborted".into(), message: "half-way".into() }),
            }
        });
        Ok(first_event.chain(then).boxed())
    }
}

fn check_failures(answers: Vec<Option<Failure>>, expect: &Expect) {
    let lines = answers.into_iter().map(|failure| format!("{failure:?}\n"));
    expect.assert_eq(&lines.collect::<String>());
}

#[tokio::test]
async fn each_failure_keeps_its_kind() {
    let wire = over_the_wire(Arc::new(Bad), Protocol::V6).await;
    let answers = vec![
        wire.validate_resource_config(example::validate()).await.err(),
        wire.validate_data_config(example::validate()).await.err(),
        wire.upgrade_state(example::upgrade(Bytes::new())).await.err(),
        wire.read(example::read()).await.err(),
        wire.plan(example::plan()).await.err(),
        wire.read_data(example::read_data()).await.err(),
        wire.move_state(example::move_request()).await.err(),
        // A panic did not hurt the others.
        wire.configure(example::configure()).await.err(),
    ];
    check_failures(
        answers,
        &expect![[r#"
        Some(Status { code: "Internal", message: "the provider panicked in ValidateResourceConfig: number 7" })
        Some(Status { code: "NotFound", message: "no such thing" })
        Some(Status { code: "Unavailable", message: "gone" })
        Some(Status { code: "Internal", message: "odd" })
        Some(Status { code: "Internal", message: "the provider's answer has no form in the protocol: planned_state: bool required, but this is string" })
        Some(Status { code: "Unavailable", message: "its cloud is gone" })
        Some(Unimplemented("MoveResourceState"))
        None
    "#]],
    );
}

#[tokio::test]
async fn events_before_a_failure_in_a_stream_are_kept() {
    let wire = over_the_wire(Arc::new(Bad), Protocol::V5).await;
    for type_name in ["fails", "panics"] {
        let request = ListRequest { type_name: type_name.into(), ..example::list() };
        let mut events = wire.list(request).await.unwrap();
        assert_eq!(events.next().await.unwrap().unwrap(), example::list_event());
        let failure = events.next().await.unwrap().unwrap_err();
        assert!(failure.to_string().contains("half-way"), "{failure}");
        assert!(events.next().await.is_none(), "nothing follows a failure");
    }
}

#[tokio::test]
async fn a_broken_connection_is_explained_by_its_channel_source() {
    let (channel, wire) = connect(ProviderService::new(Arc::new(Bad))).await;
    let provider = GrpcProvider::over_transport(transport(channel), Protocol::V6);
    provider.configure(example::configure()).await.unwrap();
    // `join!` polls in this order, so the call begins before the wire breaks.
    let (failure, ()) = tokio::join!(provider.apply(example::apply()), async { wire.abort() });
    let Err(Failure::Lost { output, .. }) = failure else { panic!("{failure:?}") };
    assert_eq!(output, "last words");
}

#[tokio::test]
async fn an_unencodable_request_is_not_sent() {
    let example = Arc::new(Example::default());
    let wire = over_the_wire(Arc::<Example>::clone(&example), Protocol::V6).await;
    let (value, _) = formwork_value::Value::string("x").split_marks();
    let current = Payload::Value(value, formwork_value::Type::Bool);
    let failure = wire.read(ReadRequest { current, ..example::read() }).await.unwrap_err();
    assert!(
        matches!(&failure, Failure::UnencodableMessage(cause) if cause.starts_with("current_state"))
    );
    assert!(example.recorded_requests().is_empty());
}

/// Answers every call with the same bytes, be they a message or not.
#[derive(Clone)]
struct Junk(&'static [&'static [u8]]);

struct RawCodec;

impl Codec for RawCodec {
    type Encode = &'static [u8];
    type Decode = ();
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        Self
    }

    fn decoder(&mut self) -> Self {
        Self
    }
}

impl Encoder for RawCodec {
    type Item = &'static [u8];
    type Error = Status;

    fn encode(&mut self, item: Self::Item, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        bytes::BufMut::put_slice(buffer, item);
        Ok(())
    }
}

impl Decoder for RawCodec {
    type Item = ();
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<()>, Status> {
        bytes::Buf::advance(buffer, bytes::Buf::remaining(buffer));
        Ok(Some(()))
    }
}

impl tower::Service<http::Request<Body>> for Junk {
    type Response = http::Response<Body>;
    type Error = std::convert::Infallible;
    type Future = futures_util::future::BoxFuture<'static, Result<Self::Response, Self::Error>>;

    fn poll_ready(
        &mut self,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Result<(), Self::Error>> {
        std::task::Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let pieces = self.0;
        Box::pin(async move {
            let answer = service_fn(move |_: tonic::Request<()>| async move {
                let pieces: Vec<_> = pieces.iter().copied().map(Ok::<_, Status>).collect();
                Ok::<_, Status>(tonic::Response::new(stream::iter(pieces)))
            });
            Ok(tonic::server::Grpc::new(RawCodec).server_streaming(answer, request).await)
        })
    }
}

#[tokio::test]
async fn an_invalid_answer_is_blamed_on_the_provider() {
    // Not protobuf; a schema without a provider; nothing at all.
    let junk: [&'static [&'static [u8]]; 3] = [&[b"\xff\xff\xff"], &[b""], &[]];
    let mut failures = Vec::new();
    for pieces in junk {
        let (channel, _wire) = connect(Junk(pieces)).await;
        let wire = GrpcProvider::over_transport(transport(channel), Protocol::V6);
        failures.push(wire.schema().await.err());
    }
    check_failures(
        failures,
        &expect![[r#"
        Some(Misbehaved("the provider's answer to GetProviderSchema is invalid: failed to decode Protobuf message: invalid varint"))
        Some(Misbehaved("the provider's answer to GetProviderSchema is invalid: the answer has no schema of the provider itself"))
        Some(Misbehaved("the provider's answer to GetProviderSchema is invalid: the answer is empty"))
    "#]],
    );
}

#[tokio::test]
async fn a_value_is_sent_as_its_encoded_bytes() {
    let (value, _) = formwork_value::Value::string("x").split_marks();
    let sent = ReadRequest {
        current: Payload::Value(value, formwork_value::Type::String),
        ..example::read()
    };
    let example = Arc::new(Example::default());
    let wire = over_the_wire(Arc::<Example>::clone(&example), Protocol::V6).await;
    wire.read(sent.clone()).await.unwrap();
    // In MessagePack, `a1` begins a string of one byte.
    let arrived = ReadRequest { current: msgpack(b"\xa1x"), ..sent };
    assert_eq!(example.recorded_requests(), [format!("read {arrived:?}")]);
}
