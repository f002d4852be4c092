//! The service through which hosts and plugins could open more connections between them. Providers
//! never do; hosts open the stream anyway.

use async_trait::async_trait;
use futures_util::future;
use futures_util::stream::{BoxStream, StreamExt as _};
use tonic::{Request, Response, Status, Streaming};

use super::controller::ShutdownSignal;
use crate::wire::generated::plugin::ConnInfo;
use crate::wire::generated::plugin::grpc_broker_server::GrpcBroker;

/// Accepts all offers of the host and makes none.
#[derive(Debug)]
pub(super) struct Broker(pub(super) ShutdownSignal);

#[async_trait]
impl GrpcBroker for Broker {
    type StartStreamStream = BoxStream<'static, Result<ConnInfo, Status>>;

    async fn start_stream(
        &self,
        request: Request<Streaming<ConnInfo>>,
    ) -> Result<Response<Self::StartStreamStream>, Status> {
        // The answer ends when the host's side does.
        let offers = request.into_inner().filter(|_| future::ready(false));
        // Cut off at the end of the plugin, because an open stream would delay the shutdown.
        Ok(Response::new(offers.take_until(self.0.wait_until_triggered()).boxed()))
    }
}
