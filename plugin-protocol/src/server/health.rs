//! The gRPC health service. A plugin that can answer is healthy.

use async_trait::async_trait;
use futures_util::future;
use futures_util::stream::{self, BoxStream, StreamExt as _};
use tonic::{Request, Response, Status};

use super::controller::ShutdownSignal;
use crate::wire::generated::health::health_check_response::ServingStatus;
use crate::wire::generated::health::health_server::Health as HealthService;
use crate::wire::generated::health::{HealthCheckRequest, HealthCheckResponse};

/// Answers for the service that go-plugin queries, and for the process as a whole.
#[derive(Debug)]
pub(crate) struct Health(pub(crate) ShutdownSignal);

fn serving_status_of_service(
    request: Request<HealthCheckRequest>,
) -> Result<HealthCheckResponse, Status> {
    match request.into_inner().service.as_str() {
        "" | "plugin" => Ok(HealthCheckResponse { status: ServingStatus::Serving.into() }),
        service => Err(Status::not_found(format!("unknown service `{service}`"))),
    }
}

#[async_trait]
impl HealthService for Health {
    type WatchStream = BoxStream<'static, Result<HealthCheckResponse, Status>>;

    async fn check(
        &self,
        request: Request<HealthCheckRequest>,
    ) -> Result<Response<HealthCheckResponse>, Status> {
        serving_status_of_service(request).map(Response::new)
    }

    async fn watch(
        &self,
        request: Request<HealthCheckRequest>,
    ) -> Result<Response<Self::WatchStream>, Status> {
        let status = serving_status_of_service(request)?;
        // By the health protocol the stream stays open for changes, of which there are none.
        let updates = stream::once(future::ready(Ok(status))).chain(stream::pending());
        Ok(Response::new(updates.take_until(self.0.wait_until_triggered()).boxed()))
    }
}
