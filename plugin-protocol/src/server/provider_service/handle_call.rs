//! One call from request to answer on the provider's side: limits, decoding, encoding, failures and
//! panics. Only the call with a streamed request is treated specially.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use futures_util::stream::{self, BoxStream};
use futures_util::{FutureExt as _, StreamExt as _};
use tonic::body::Body;
use tonic::codegen::http;
use tonic::server::{Grpc, StreamingService};
use tonic::{Code, Request, Response, Status, Streaming};

use crate::message_limits;
use crate::provider::{PendingResponse, ProviderExt as _, StreamedResponse};
use crate::wire::codec::{DecodedOrError, ProtobufCodec};
use crate::wire::convert::IncomingStateChunks;
use crate::wire::exchange::Exchange;
use crate::wire::generated::tfplugin6 as v6;
use crate::{Failure, Provider};

/// A call being answered.
pub(super) type ResponseFuture = BoxFuture<'static, http::Response<Body>>;

/// Result of a method of the provider, before it is awaited.
type PendingAnswer<'p, M> = BoxFuture<'p, Result<M, Failure>>;

/// A received call.
pub(super) struct IncomingCall {
    /// The name of the method, for messages.
    pub(super) name: &'static str,
    pub(super) provider: Arc<dyn Provider>,
    pub(super) request: http::Request<Body>,
}

impl IncomingCall {
    /// Answers a call between wire messages.
    pub(super) fn answer_with_wire_messages<X: Exchange>(
        self,
        run: for<'p> fn(&'p dyn Provider, X::Request) -> PendingAnswer<'p, X::Response>,
    ) -> ResponseFuture {
        self.run_handler::<X, _>(move |provider, requests| {
            async move {
                let request = only_request(requests).await?;
                let answer = run(&*provider, request).await.map_err(failure_status)?;
                Ok(stream::once(async { Ok(answer) }).boxed())
            }
            .boxed()
        })
    }

    /// Answers a call between neutral messages.
    pub(super) fn answer_unary<X, N, M>(
        self,
        run: for<'p> fn(&'p dyn Provider, N) -> PendingResponse<'p, M>,
    ) -> ResponseFuture
    where
        X: Exchange,
        X::Response: TryFrom<M>,
        N: TryFrom<X::Request> + Send + 'static,
        M: Send + 'static,
        Failure: From<N::Error> + From<<X::Response as TryFrom<M>>::Error>,
    {
        self.run_handler::<X, _>(move |provider, requests| {
            async move {
                let request =
                    N::try_from(only_request(requests).await?).map_err(invalid_request_status)?;
                let answer = run(&*provider, request).await.map_err(failure_status)?;
                let answer = X::Response::try_from(answer).map_err(unencodable_answer_status)?;
                Ok(stream::once(async { Ok(answer) }).boxed())
            }
            .boxed()
        })
    }

    /// Answers a call whose answer is sent in pieces.
    pub(super) fn answer_stream<X, N, M>(
        self,
        run: for<'p> fn(&'p dyn Provider, N) -> PendingResponse<'p, StreamedResponse<M>>,
    ) -> ResponseFuture
    where
        X: Exchange,
        X::Response: TryFrom<M>,
        N: TryFrom<X::Request> + Send + 'static,
        M: Send + 'static,
        Failure: From<N::Error> + From<<X::Response as TryFrom<M>>::Error>,
    {
        self.run_handler::<X, _>(move |provider, requests| {
            async move {
                let request =
                    N::try_from(only_request(requests).await?).map_err(invalid_request_status)?;
                let chunks = run(&*provider, request).await.map_err(failure_status)?;
                let encoded = chunks.map(|chunk| {
                    X::Response::try_from(chunk.map_err(failure_status)?)
                        .map_err(unencodable_answer_status)
                });
                Ok(encoded.boxed())
            }
            .boxed()
        })
    }

    /// Answers the call that writes a state, whose request comes in pieces.
    pub(super) fn answer_write_state(self) -> ResponseFuture {
        self.run_handler::<v6::WriteStateBytes, _>(|provider, requests| {
            async move {
                let mut requests = pin!(requests);
                let mut incoming = IncomingStateChunks::default();
                while let Some(piece) = requests.next().await {
                    incoming.push(request_or_status(piece)?).map_err(invalid_request_status)?;
                }
                let (state, chunks) =
                    incoming.into_state_ref_and_chunks().map_err(invalid_request_status)?;
                let verdict =
                    provider.write_state_bytes(state, chunks).await.map_err(failure_status)?;
                Ok(stream::once(async { Ok(verdict.into()) }).boxed())
            }
            .boxed()
        })
    }

    fn run_handler<X, F>(self, run: F) -> ResponseFuture
    where
        X: Exchange,
        F: FnOnce(
                Arc<dyn Provider>,
                Streaming<DecodedOrError<X::Request>>,
            ) -> AnswerFuture<X::Response>
            + Send
            + 'static,
    {
        let Self { name, provider, request } = self;
        let run: RunHandler<X::Request, X::Response> =
            Box::new(move |requests| run(provider, requests));
        let call = SingleCallHandler { name, run: Some(run) };
        async move {
            Grpc::new(ProtobufCodec::<X::Response, X::Request>::default())
                .max_decoding_message_size(message_limits::MAX_REQUEST_BYTES)
                // The host limits answers, and reports that. An answer refused here would be lost
                // without a message.
                .max_encoding_message_size(usize::MAX)
                .streaming(call, request)
                .await
        }
        .boxed()
    }
}

type AnswerPieces<A> = BoxStream<'static, Result<A, Status>>;
type AnswerFuture<A> = BoxFuture<'static, Result<AnswerPieces<A>, Status>>;

/// The handler that tonic calls after it has parsed the request.
struct SingleCallHandler<Q, A> {
    name: &'static str,
    run: Option<RunHandler<Q, A>>,
}

type RunHandler<Q, A> = Box<dyn FnOnce(Streaming<DecodedOrError<Q>>) -> AnswerFuture<A> + Send>;

impl<Q, A: Send + 'static> StreamingService<DecodedOrError<Q>> for SingleCallHandler<Q, A> {
    type Response = A;
    type ResponseStream = AnswerPieces<A>;
    type Future = BoxFuture<'static, Result<Response<AnswerPieces<A>>, Status>>;

    fn call(&mut self, request: Request<Streaming<DecodedOrError<Q>>>) -> Self::Future {
        let name = self.name;
        // tonic calls a handler through `&mut`, although each handler here has one request.
        let Some(run) = self.run.take() else {
            return std::future::ready(Err(Status::internal("called twice"))).boxed();
        };
        // A provider's panic ends its call, not the process: other calls are in flight, and their
        // results must reach the host. Only the future needs the guard: creating it runs no code of
        // the provider.
        let answers = AssertUnwindSafe(run(request.into_inner())).catch_unwind();
        async move {
            let pieces = answers.await.unwrap_or_else(|panic| Err(panic_status(name, &*panic)))?;
            // The guard ends the stream after a panic, so a broken handler is not polled again.
            let guarded = AssertUnwindSafe(pieces)
                .catch_unwind()
                .map(move |piece| piece.unwrap_or_else(|panic| Err(panic_status(name, &*panic))));
            Ok(Response::new(guarded.boxed()))
        }
        .boxed()
    }
}

/// Waits for the single request of a call. A second one is not read.
async fn only_request<Q>(mut requests: Streaming<DecodedOrError<Q>>) -> Result<Q, Status> {
    match requests.next().await {
        Some(request) => request_or_status(request),
        None => Err(Status::invalid_argument("the request is empty")),
    }
}

fn request_or_status<Q>(request: Result<DecodedOrError<Q>, Status>) -> Result<Q, Status> {
    // Bytes that are not a message are the host's error, and the status must not blame the
    // provider.
    request?.map_err(|error| Status::invalid_argument(error.to_string()))
}

fn invalid_request_status(error: impl Into<Failure>) -> Status {
    Status::invalid_argument(error.into().to_string())
}

fn unencodable_answer_status(error: impl Into<Failure>) -> Status {
    failure_status(error.into())
}

fn panic_status(name: &str, panic: &(dyn Any + Send)) -> Status {
    // `panic!` carries a `String` if it has arguments, otherwise a `&str`.
    let text = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("no text");
    Status::internal(format!("the provider panicked in {name}: {text}"))
}

/// Returns the status for a call without an answer.
fn failure_status(failure: Failure) -> Status {
    match failure {
        Failure::Unimplemented(name) => Status::unimplemented(format!("{name} is not implemented")),
        Failure::Status { code, message } => Status::new(code_named(&code), message),
        Failure::UnencodableMessage(error) => {
            Status::internal(format!("the provider's answer has no form in the protocol: {error}"))
        }
        // Only of a provider that passes its calls on to another plugin.
        Failure::Lost { .. } | Failure::Launch(_) => Status::unavailable(failure.to_string()),
        Failure::GivenUp(_) => Status::deadline_exceeded(failure.to_string()),
        Failure::Incompatible(_) | Failure::Misbehaved(_) => Status::internal(failure.to_string()),
    }
}

/// The code with a name such as `NotFound`.
fn code_named(name: &str) -> Code {
    // By the names that `RawStatus::code_name` writes.
    (0..=16).map(Code::from).find(|code| format!("{code:?}") == name).unwrap_or(Code::Unknown)
}
