//! The service from which a Go host reads the output of a plugin. A plugin with this library prints to
//! its log, so the stream is always empty. But it stays open, because hosts expect that.

use async_trait::async_trait;
use futures_util::stream::{self, BoxStream, StreamExt as _};
use tonic::{Request, Response, Status};

use super::controller::ShutdownSignal;
use crate::wire::generated::plugin::StdioData;
use crate::wire::generated::plugin::grpc_stdio_server::GrpcStdio;

/// Stays silent until the plugin ends.
#[derive(Debug)]
pub(super) struct SilentStdio(pub(super) ShutdownSignal);

#[async_trait]
impl GrpcStdio for SilentStdio {
    type StreamStdioStream = BoxStream<'static, Result<StdioData, Status>>;

    async fn stream_stdio(
        &self,
        _request: Request<()>,
    ) -> Result<Response<Self::StreamStdioStream>, Status> {
        Ok(Response::new(stream::pending().take_until(self.0.wait_until_triggered()).boxed()))
    }
}
