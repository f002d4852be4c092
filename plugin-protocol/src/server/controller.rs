//! The service through which the host ends a plugin.

use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::watch;
use tonic::{Request, Response, Status};

use crate::wire::generated::plugin::Empty;
use crate::wire::generated::plugin::grpc_controller_server::GrpcController;

/// Notifies the owners of open connections and streams that the plugin is shutting down.
#[derive(Clone, Debug, Default)]
pub(crate) struct ShutdownSignal(Arc<watch::Sender<bool>>);

impl ShutdownSignal {
    /// Ends the plugin.
    pub(super) fn trigger(&self) {
        // Not `send`, which has no effect while no stream is open.
        self.0.send_replace(true);
    }

    /// Returns when the plugin is shutting down.
    pub(super) fn wait_until_triggered(&self) -> impl Future<Output = ()> + Send + 'static {
        let mut stopped = self.0.subscribe();
        async move {
            // The sender going away means the same.
            match stopped.wait_for(|stopped| *stopped).await {
                Ok(_) | Err(_) => (),
            }
        }
    }
}

/// Stops the server on request.
#[derive(Debug)]
pub(super) struct Controller(pub(super) ShutdownSignal);

#[async_trait]
impl GrpcController for Controller {
    async fn shutdown(&self, _request: Request<Empty>) -> Result<Response<Empty>, Status> {
        self.0.trigger();
        Ok(Response::new(Empty {}))
    }
}
