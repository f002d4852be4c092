//! Connection to an agent on Windows: a named pipe, such as `\\\\.\\pipe\\openssh-ssh-agent`.

use std::io;
use std::path::Path;

use tokio::net::windows::named_pipe::{ClientOptions, NamedPipeClient};

/// A connection to an agent.
pub(in crate::ssh) type AgentStream = NamedPipeClient;

/// Connects to the agent at a path.
#[expect(clippy::unused_async, reason = "the Unix implementation awaits")]
pub(in crate::ssh) async fn connect(pipe: &Path) -> io::Result<AgentStream> {
    ClientOptions::new().open(pipe)
}
