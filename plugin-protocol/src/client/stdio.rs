//! Listens to what a Go plugin's own prints: go-plugin sends it over gRPC, and stops the plugin's
//! writers until somebody reads. Other plugins have no such service, which is fine.

use tonic::transport::Channel;
use tracing::debug;

use crate::wire::generated::plugin::grpc_stdio_client::GrpcStdioClient;

/// How much of a piece is shown; a piece is up to this long in go-plugin.
const SHOWN: usize = 1024;

/// Reads the plugin's prints into the log until the stream or the connection ends.
pub(super) async fn follow(plugin: String, channel: Channel) {
    let Ok(response) = GrpcStdioClient::new(channel).stream_stdio(()).await else {
        return;
    };
    let mut pieces = response.into_inner();
    while let Ok(Some(piece)) = pieces.message().await {
        let shown = &piece.data[..piece.data.len().min(SHOWN)];
        let text = String::from_utf8_lossy(shown);
        debug!(target: "provider", plugin, "printed: {}", text.trim_end());
    }
}
