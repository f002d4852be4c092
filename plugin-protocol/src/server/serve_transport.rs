//! Serves a transport: it receives the calls of a host as bytes, and its answers are sent back
//! unchanged. Misbehaving test providers use it to send answers that no correct provider can.

use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use futures_util::{FutureExt as _, StreamExt as _};
use tonic::body::Body;
use tonic::codegen::{Service, http};
use tonic::{Request, Response, Status, Streaming};

use crate::message_limits;
use crate::raw::{RawCall, RawError, Transport};
use crate::wire::codec::RawCodec;

/// Answers one HTTP request of a host with the answer of the transport.
pub(super) async fn answer_http(
    transport: Arc<dyn Transport>,
    request: http::Request<Body>,
) -> http::Response<Body> {
    let path = request.uri().path().to_owned();
    let mut grpc = tonic::server::Grpc::new(RawCodec)
        .max_decoding_message_size(message_limits::MAX_REQUEST_BYTES)
        .max_encoding_message_size(message_limits::MAX_REQUEST_BYTES);
    grpc.streaming(ForwardedCall { transport, path }, request).await
}

struct ForwardedCall {
    transport: Arc<dyn Transport>,
    path: String,
}

type AnswerStream = BoxStream<'static, Result<Bytes, Status>>;

impl Service<Request<Streaming<Bytes>>> for ForwardedCall {
    type Response = Response<AnswerStream>;
    type Error = Status;
    type Future = BoxFuture<'static, Result<Response<AnswerStream>, Status>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Status>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Streaming<Bytes>>) -> Self::Future {
        let (transport, path) = (Arc::clone(&self.transport), self.path.clone());
        async move {
            let mut incoming = request.into_inner();
            let mut messages = Vec::new();
            // A transport takes all requests of a call together.
            while let Some(message) = incoming.message().await? {
                messages.push(message);
            }
            let call = RawCall {
                path: path.into(),
                messages,
                answer_limit: message_limits::MAX_REQUEST_BYTES,
            };
            let answers = transport.begin_call(call).await.map_err(status_of_raw_error)?;
            Ok(Response::new(answers.map(|answer| answer.map_err(status_of_raw_error)).boxed()))
        }
        .boxed()
    }
}

fn status_of_raw_error(error: RawError) -> Status {
    match error {
        RawError::Status(raw) => Status::with_details(raw.code.into(), raw.message, raw.details),
        // The provider of the transport has exited, and hosts recognise this status.
        RawError::Failed(failure) => Status::unavailable(failure.to_string()),
    }
}
