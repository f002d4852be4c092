//! Output of a Go plugin's own prints: go-plugin sends it over gRPC, and blocks the plugin's
//! writers until a host reads. Other plugins have no such service, which is fine.

use tonic::transport::Channel;
use tracing::debug;

use crate::wire::generated::plugin::grpc_stdio_client::GrpcStdioClient;

/// Greatest length of a shown piece; a piece is up to this long in go-plugin.
const MAX_LOGGED_PIECE_LENGTH: usize = 1024;

/// Reads the plugin's prints into the log until the stream or the connection ends.
pub(super) async fn log_grpc_stdio_stream(plugin: String, channel: Channel) {
    // `Unimplemented` or a lost connection: go-plugin takes both for "nothing to forward".
    let Ok(response) = GrpcStdioClient::new(channel).stream_stdio(()).await else {
        return;
    };
    let mut pieces = response.into_inner();
    while let Ok(Some(piece)) = pieces.message().await {
        // Cut as bytes: the lossy conversion repairs a character that is cut in two.
        let shown = &piece.data[..piece.data.len().min(MAX_LOGGED_PIECE_LENGTH)];
        let text = String::from_utf8_lossy(shown);
        debug!(target: "provider", plugin, "printed: {}", text.trim_end());
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use async_trait::async_trait;
    use futures_util::StreamExt as _;
    use futures_util::stream::{self, BoxStream};
    use hyper_util::rt::TokioIo;
    use tonic::transport::{Endpoint, Server};
    use tonic::{Request, Response, Status};
    use tower::service_fn;

    use super::*;
    use crate::wire::generated::plugin::StdioData;
    use crate::wire::generated::plugin::grpc_stdio_server::{GrpcStdio, GrpcStdioServer};

    /// Number and length of the pieces of a flood: together more than the log should keep.
    const PIECES: usize = 200;
    const LENGTH: usize = 1 << 20;

    /// Prints for long, and counts the bytes that were taken.
    struct Flood(Arc<AtomicUsize>);

    #[async_trait]
    impl GrpcStdio for Flood {
        type StreamStdioStream = BoxStream<'static, Result<StdioData, Status>>;

        async fn stream_stdio(
            &self,
            _: Request<()>,
        ) -> Result<Response<Self::StreamStdioStream>, Status> {
            let taken = Arc::clone(&self.0);
            let pieces = stream::iter(0..PIECES).map(move |_| {
                taken.fetch_add(1, Ordering::Relaxed);
                Ok(StdioData { channel: 1, data: vec![b'w'; LENGTH].into() })
            });
            Ok(Response::new(pieces.boxed()))
        }
    }

    #[tokio::test]
    async fn endless_output_is_read_in_pieces_and_does_not_delay_other_calls() {
        // Smaller than one piece, so that the writer has to wait for the reader.
        let (host_end, plugin_end) = tokio::io::duplex(1 << 16);
        let taken = Arc::new(AtomicUsize::new(0));
        let service = GrpcStdioServer::new(Flood(Arc::clone(&taken)));
        let incoming = stream::once(async { Ok::<_, std::io::Error>(plugin_end) }).boxed();
        tokio::spawn(Server::builder().serve_with_incoming(service, incoming));
        let mut host_end = Some(TokioIo::new(host_end));
        let connector = service_fn(move |_| {
            let host_end =
                host_end.take().ok_or_else(|| std::io::Error::other("there is only one"));
            async move { host_end }
        });
        let endpoint = Endpoint::from_static("http://localhost");
        let channel = endpoint.connect_with_connector(connector).await.expect("a connection");
        log_grpc_stdio_stream("flood".to_owned(), channel).await;
        assert_eq!(taken.load(Ordering::Relaxed), PIECES);
    }
}
