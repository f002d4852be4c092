//! Connection to an agent on Unix: a socket.

use std::io;
use std::path::Path;

use tokio::net::UnixStream;

/// A connection to an agent.
pub(in crate::ssh) type AgentStream = UnixStream;

/// Connects to the agent at a path.
pub(in crate::ssh) async fn connect(socket: &Path) -> io::Result<AgentStream> {
    UnixStream::connect(socket).await
}
