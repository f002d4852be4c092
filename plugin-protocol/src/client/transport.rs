//! Carries calls over the connections of a plugin. Knows no message; see `raw.rs`.

use std::error::Error as _;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::stream::{self, BoxStream};
use futures_util::{FutureExt as _, StreamExt as _};
use tonic::client::Grpc;
use tonic::{Request, Status, Streaming};

use super::Plugin;
use super::connection_lease::{ChannelSource, Lease};
use super::error_chain::error_with_causes;
use crate::message_limits;
use crate::raw::{RawAnswers, RawCall, RawError, RawStatus, Transport};
use crate::wire::codec::RawCodec;

/// The connections to a plugin as a transport.
pub(crate) struct LeasingTransport {
    channels: Arc<dyn ChannelSource>,
}

impl LeasingTransport {
    pub(crate) fn new(channels: Arc<dyn ChannelSource>) -> Self {
        Self { channels }
    }

    async fn start_call(&self, call: RawCall) -> Result<RawAnswers, RawError> {
        let path = call.http_path()?;
        let lease = self.channels.lease().await.map_err(RawError::Failed)?;
        // tonic's own limit is 4 MiB, far below the schemas and states that Terraform accepts.
        let mut grpc = Grpc::new(lease.channel.clone())
            .max_decoding_message_size(call.answer_limit)
            .max_encoding_message_size(message_limits::MAX_REQUEST_BYTES);
        // Required before each call: tonic's buffered channel panics if it is called unready.
        if let Err(error) = grpc.ready().await {
            let failure = self.channels.explain_loss(error_with_causes(&error)).await;
            return Err(RawError::Failed(failure));
        }
        let messages = Request::new(stream::iter(call.messages));
        // Streaming also for unary calls: both have the same form on the wire.
        match grpc.streaming(messages, path, RawCodec).await {
            Ok(response) => Ok(answer_stream(IncomingAnswers {
                stream: response.into_inner(),
                channels: Arc::clone(&self.channels),
                _lease: lease,
            })),
            Err(status) => Err(raw_error_from_status(&status, &*self.channels).await),
        }
    }
}

impl Transport for LeasingTransport {
    fn begin_call(&self, call: RawCall) -> BoxFuture<'_, Result<RawAnswers, RawError>> {
        self.start_call(call).boxed()
    }
}

impl Plugin {
    /// Returns the raw door: a transport over the plugin's connections.
    #[must_use]
    pub fn transport(&self) -> Arc<dyn Transport> {
        let channels: Arc<dyn ChannelSource> =
            Arc::<super::connection_pool::ConnectionPool>::clone(&self.pool);
        Arc::new(LeasingTransport::new(channels))
    }
}

/// The answers to one call while they arrive. The connection counts as in use until the last.
struct IncomingAnswers {
    stream: Streaming<Bytes>,
    channels: Arc<dyn ChannelSource>,
    _lease: Lease,
}

fn answer_stream(incoming: IncomingAnswers) -> BoxStream<'static, Result<Bytes, RawError>> {
    stream::unfold(Some(incoming), |incoming| async {
        let mut incoming = incoming?;
        match incoming.stream.message().await {
            Ok(message) => Some((Ok(message?), Some(incoming))),
            Err(status) => {
                Some((Err(raw_error_from_status(&status, &*incoming.channels).await), None))
            }
        }
    })
    .boxed()
}

/// Returns the failure for the status that ended a call.
async fn raw_error_from_status(status: &Status, channels: &dyn ChannelSource) -> RawError {
    // A status of the peer has no cause, regardless of its code. Only a status created on this side
    // has one, and it is always the connection.
    match status.source() {
        Some(cause) => RawError::Failed(channels.explain_loss(error_with_causes(cause)).await),
        None => RawError::Status(RawStatus::from_tonic(status)),
    }
}
