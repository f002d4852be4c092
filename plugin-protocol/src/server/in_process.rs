//! Raw access to a provider in this process: its messages are encoded as on the wire, without a
//! socket or another process.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::stream;
use futures_util::{FutureExt as _, StreamExt as _};
use tonic::client::Grpc;
use tonic::{Request, Status};

use super::ProviderService;
use crate::Provider;
use crate::message_limits;
use crate::raw::{RawAnswers, RawCall, RawError, RawStatus, Transport};
use crate::wire::codec::RawCodec;

/// Returns a transport to a provider in this process.
#[must_use]
pub fn in_process_transport(provider: Arc<dyn Provider>) -> Arc<dyn Transport> {
    Arc::new(InProcessTransport(ProviderService::new(provider)))
}

struct InProcessTransport(ProviderService);

impl Transport for InProcessTransport {
    fn begin_call(&self, call: RawCall) -> BoxFuture<'_, Result<RawAnswers, RawError>> {
        async move {
            let path = call.http_path()?;
            let mut grpc = Grpc::new(self.0.clone())
                .max_decoding_message_size(call.answer_limit)
                .max_encoding_message_size(message_limits::MAX_REQUEST_BYTES);
            let messages = Request::new(stream::iter(call.messages));
            let response =
                grpc.streaming(messages, path, RawCodec).await.map_err(raw_error_from_status)?;
            // Nothing follows a status, so the stream is given up with it.
            let answers = stream::unfold(Some(response.into_inner()), |answers| async {
                let mut answers = answers?;
                let message: Result<Option<Bytes>, Status> = answers.message().await;
                match message {
                    Ok(message) => Some((Ok(message?), Some(answers))),
                    Err(status) => Some((Err(raw_error_from_status(status)), None)),
                }
            });
            Ok(answers.boxed())
        }
        .boxed()
    }
}

fn raw_error_from_status(status: Status) -> RawError {
    RawError::Status(RawStatus::from_tonic(&status))
}
