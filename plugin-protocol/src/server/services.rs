//! All services of a plugin: the provider's own, and the four that every plugin has.

use std::convert::Infallible;
use std::task::{Context, Poll};

use futures_util::future::{BoxFuture, FutureExt as _};
use tonic::Status;
use tonic::body::Body;
use tonic::codegen::http::{Request, Response};
use tower::Service;

use super::broker::Broker;
use super::controller::{Controller, ShutdownSignal};
use super::health::Health;
use super::provider_service::ProviderService;
use super::silent_stdio::SilentStdio;
use crate::handshake::Protocol;
use crate::wire::generated::health::health_server::HealthServer;
use crate::wire::generated::plugin::grpc_broker_server::GrpcBrokerServer;
use crate::wire::generated::plugin::grpc_controller_server::GrpcControllerServer;
use crate::wire::generated::plugin::grpc_stdio_server::GrpcStdioServer;

/// Every service of the plugin; calls are routed by the first part of their path.
#[derive(Clone)]
pub(super) struct Services {
    protocol: Protocol,
    provider: ProviderService,
    controller: GrpcControllerServer<Controller>,
    stdio: GrpcStdioServer<SilentStdio>,
    broker: GrpcBrokerServer<Broker>,
    health: HealthServer<Health>,
}

impl Services {
    /// Adds the services of go-plugin to `provider`, which uses only `protocol`. Its streams end with `stop`.
    pub(super) fn new(
        provider: ProviderService,
        protocol: Protocol,
        stop: &ShutdownSignal,
    ) -> Self {
        Self {
            protocol,
            provider,
            controller: GrpcControllerServer::new(Controller(stop.clone())),
            stdio: GrpcStdioServer::new(SilentStdio(stop.clone())),
            broker: GrpcBrokerServer::new(Broker(stop.clone())),
            health: HealthServer::new(Health(stop.clone())),
        }
    }
}

impl Service<Request<Body>> for Services {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response<Body>, Infallible>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        // None of them ever blocks a caller.
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        // Only the negotiated version, as a Go plugin serves it.
        let provider = match self.protocol {
            Protocol::V5 => "tfplugin5.Provider",
            Protocol::V6 => "tfplugin6.Provider",
        };
        match request.uri().path().split('/').nth(1) {
            Some(name) if name == provider => self.provider.call(request),
            Some("plugin.GRPCController") => self.controller.call(request),
            Some("plugin.GRPCStdio") => self.stdio.call(request),
            Some("plugin.GRPCBroker") => self.broker.call(request),
            Some("grpc.health.v1.Health") => self.health.call(request),
            _ => {
                // gRPC's answer to an unknown service, by which hosts see that a plugin lacks it.
                let status = Status::unimplemented("the plugin has no such service");
                async move { Ok(status.into_http()) }.boxed()
            }
        }
    }
}
