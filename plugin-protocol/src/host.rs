//! The raw door to a plugin: serialized messages in, serialized messages out, on both sides.
//!
//! A conformance suite sends requests that no correct host sends, and a misbehaving provider of a test
//! answers as no correct provider does. Neither can use the typed contract. Nothing here reads a
//! message; the deadline of a call is the caller's.

use std::io;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::{Buf as _, BufMut as _, Bytes};
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use tokio::process::{ChildStderr, ChildStdout};
use tonic::client::{Grpc, GrpcService};
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder, Streaming};
use tonic::codegen::Service;
use tonic::codegen::http;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::Channel;
use tonic::{Code, Request, Response, Status, body::Body};

use crate::Provider;
use crate::client::connect::{Dialer, is_local};
use crate::client::process::{Pipes, Process};
use crate::handshake::Address;
use crate::server::ProviderService;
use crate::tls::{Identity, client_config};
use crate::wire::limit;

/// A gRPC status other than OK.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawStatus {
    /// The code by name, `Unavailable`.
    pub code: String,
    /// The message of the status.
    pub message: String,
    /// Whether the connection was lost, so that the status is not the plugin's.
    pub lost: bool,
}

impl RawStatus {
    /// Returns a status that a plugin answers with.
    #[must_use]
    pub fn new(code: &str, message: &str) -> Self {
        Self { code: code.to_owned(), message: message.to_owned(), lost: false }
    }
}

impl From<Status> for RawStatus {
    fn from(status: Status) -> Self {
        Self {
            code: format!("{:?}", status.code()),
            message: status.message().to_owned(),
            lost: std::error::Error::source(&status).is_some(),
        }
    }
}

/// All that came back for one call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RawAnswer {
    /// The messages, serialized; at most one unless the call streams.
    pub messages: Vec<Bytes>,
    /// The status at the end, unless it is OK.
    pub status: Option<RawStatus>,
}

impl RawAnswer {
    /// Returns the answer with one message and status OK.
    #[must_use]
    pub fn of(message: Bytes) -> Self {
        Self { messages: vec![message], status: None }
    }

    /// Returns the answer with a status and no message.
    #[must_use]
    pub fn refused(code: &str, message: &str) -> Self {
        Self { messages: Vec::new(), status: Some(RawStatus::new(code, message)) }
    }
}

/// A key and certificate of a host, made for one launch.
#[derive(Debug)]
pub struct HostIdentity(Identity);

impl HostIdentity {
    /// Makes a key and a certificate.
    ///
    /// # Errors
    /// When the system has no randomness.
    pub fn generate() -> io::Result<Self> {
        Identity::generate().map(Self).map_err(io::Error::other)
    }

    /// Returns the certificate in PEM form, as `PLUGIN_CLIENT_CERT` carries it.
    #[must_use]
    pub fn pem(&self) -> &str {
        self.0.pem()
    }
}

/// A connection to a plugin that listens already.
#[derive(Clone, Debug)]
pub struct RawConnection {
    channel: Channel,
}

impl RawConnection {
    /// Connects, with TLS if `tls` has our identity and the plugin's certificate (DER).
    ///
    /// # Errors
    /// When nothing answers there within `patience`, or either side refuses the other.
    pub async fn open(
        address: &Address,
        tls: Option<(&HostIdentity, Vec<u8>)>,
        patience: Duration,
    ) -> Result<Self, String> {
        if !is_local(address) {
            return Err(format!("{address} is not an address of this machine"));
        }
        let tls = match tls {
            Some((identity, certificate)) => {
                let config = client_config(&identity.0, certificate);
                Some(config.map_err(|error| error.to_string())?)
            }
            None => None,
        };
        let dialer = Dialer { address: address.clone(), tls, patience };
        let channel = dialer.dial().await.map_err(|error| error.to_string())?;
        Ok(Self { channel })
    }

    /// Calls the method at `path` and collects the answer, at most `messages` messages of it.
    pub async fn call(&self, path: &str, request: Vec<Bytes>, messages: usize) -> RawAnswer {
        exchange(self.channel.clone(), path, request, messages).await
    }
}

/// A provider in this process behind the raw door.
#[derive(Clone)]
pub struct LocalProvider(ProviderService);

impl LocalProvider {
    /// Puts `provider` behind the raw door.
    #[must_use]
    pub fn new(provider: Arc<dyn Provider>) -> Self {
        Self(ProviderService::new(provider))
    }

    /// Calls the method at `path` and collects the answer.
    pub async fn call(&self, path: &str, request: Vec<Bytes>) -> RawAnswer {
        exchange(self.0.clone(), path, request, usize::MAX).await
    }
}

/// A provider that answers serialized messages with serialized messages.
#[async_trait]
pub trait RawProvider: Send + Sync {
    /// Answers the call of the method at `path`.
    async fn call(&self, path: &str, request: Vec<Bytes>) -> RawAnswer;
}

async fn exchange<S>(service: S, path: &str, request: Vec<Bytes>, messages: usize) -> RawAnswer
where
    S: GrpcService<Body>,
    S::ResponseBody: tonic::codegen::Body<Data = Bytes> + Send + 'static,
    <S::ResponseBody as tonic::codegen::Body>::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    S::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let lost = |message: String| RawAnswer {
        messages: Vec::new(),
        status: Some(RawStatus { code: "Unavailable".to_owned(), message, lost: true }),
    };
    let Ok(path) = PathAndQuery::try_from(path) else {
        return RawAnswer::refused("InvalidArgument", "the path of the method is not a path");
    };
    let mut grpc = Grpc::new(service)
        .max_decoding_message_size(limit::MESSAGE)
        .max_encoding_message_size(limit::REQUEST);
    if let Err(error) = grpc.ready().await {
        let error: Box<dyn std::error::Error + Send + Sync> = error.into();
        return lost(error.to_string());
    }
    let mut answer = RawAnswer::default();
    match grpc.streaming(Request::new(stream::iter(request)), path, BytesCodec).await {
        Err(status) => answer.status = Some(status.into()),
        Ok(response) => {
            let mut stream = response.into_inner();
            while answer.messages.len() < messages {
                match stream.message().await {
                    Ok(Some(message)) => answer.messages.push(message),
                    Ok(None) => break,
                    Err(status) => {
                        answer.status = Some(status.into());
                        break;
                    }
                }
            }
        }
    }
    answer
}

/// Answers one HTTP request of a host with what `provider` says.
pub(crate) async fn serve(
    provider: Arc<dyn RawProvider>,
    request: http::Request<Body>,
) -> http::Response<Body> {
    let path = request.uri().path().to_owned();
    let mut grpc = tonic::server::Grpc::new(BytesCodec)
        .max_decoding_message_size(limit::REQUEST)
        .max_encoding_message_size(limit::MESSAGE);
    grpc.streaming(RawCall { provider, path }, request).await
}

struct RawCall {
    provider: Arc<dyn RawProvider>,
    path: String,
}

type RawStream = BoxStream<'static, Result<Bytes, Status>>;

impl Service<Request<Streaming<Bytes>>> for RawCall {
    type Response = Response<RawStream>;
    type Error = Status;
    type Future = futures_util::future::BoxFuture<'static, Result<Response<RawStream>, Status>>;

    fn poll_ready(
        &mut self,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Result<(), Status>> {
        std::task::Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Streaming<Bytes>>) -> Self::Future {
        let (provider, path) = (Arc::clone(&self.provider), self.path.clone());
        Box::pin(async move {
            let mut incoming = request.into_inner();
            let mut messages = Vec::new();
            while let Some(message) = incoming.message().await? {
                messages.push(message);
            }
            let RawAnswer { messages, status } = provider.call(&path, messages).await;
            let end = status.map(|status| Err(status_of(&status)));
            // A status without messages goes out at once, as handlers of gRPC libraries send it.
            if let (true, Some(Err(status))) = (messages.is_empty(), &end) {
                return Err(status.clone());
            }
            Ok(Response::new(stream::iter(messages.into_iter().map(Ok).chain(end)).boxed()))
        })
    }
}

fn status_of(status: &RawStatus) -> Status {
    let codes = (0..=16).map(Code::from_i32);
    let code = codes.into_iter().find(|code| format!("{code:?}") == status.code);
    Status::new(code.unwrap_or(Code::Unknown), status.message.clone())
}

/// Leaves messages as they are.
#[derive(Clone, Copy, Debug)]
struct BytesCodec;

impl Codec for BytesCodec {
    type Encode = Bytes;
    type Decode = Bytes;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        Self
    }

    fn decoder(&mut self) -> Self {
        Self
    }
}

impl Encoder for BytesCodec {
    type Item = Bytes;
    type Error = Status;

    fn encode(&mut self, message: Bytes, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        buffer.put(message);
        Ok(())
    }
}

impl Decoder for BytesCodec {
    type Item = Bytes;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        let length = buffer.remaining();
        Ok(Some(buffer.copy_to_bytes(length)))
    }
}

/// A child process in a process group of its own. It dies with this program, and dropping it kills
/// the group.
#[derive(Debug)]
pub struct RawChild(Process);

impl RawChild {
    /// Starts `command` with nothing on its stdin.
    ///
    /// # Errors
    /// When the system cannot start it.
    pub async fn start(command: Command) -> io::Result<(Self, ChildStdout, ChildStderr)> {
        let (process, pipes) = Process::start(command, crate::client::Limits::default()).await?;
        let Pipes { stdout, stderr } = pipes;
        Ok((Self(process), stdout, stderr))
    }

    /// Returns the process id.
    #[must_use]
    pub fn pid(&self) -> i32 {
        self.0.pid()
    }

    /// Waits up to `patience` for the end, and returns it in words.
    pub async fn wait(&self, patience: Duration) -> Option<String> {
        self.0.wait(patience).await.map(|exit| exit.to_string())
    }

    /// Returns how it ended in words, if it has.
    #[must_use]
    pub fn exit(&self) -> Option<String> {
        self.0.exit().map(|exit| exit.to_string())
    }

    /// Kills the process and all of its group.
    pub fn kill(&self) {
        self.0.kill();
    }
}
