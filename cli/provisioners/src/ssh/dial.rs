//! TCP connections, with Terraform's error messages.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;

use super::describe_io_error;

/// Connection timeout for one address.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);

/// Byte stream of a connection: a socket, or a channel through a bastion.
pub(super) trait ByteStream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> ByteStream for T {}

/// Connects to the first address of a host that accepts the connection.
///
/// # Errors
/// The host name cannot be resolved, or no address accepts the connection.
pub(super) async fn dial_tcp(name: &str, port: u16) -> Result<Box<dyn ByteStream>, String> {
    let lookup = lookup_host((name, port)).await;
    let addresses: Vec<SocketAddr> = lookup
        .map(Iterator::collect)
        .map_err(|_| format!("dial tcp: lookup {name}: no such host"))?;
    let mut first = None;
    for address in addresses {
        let reason = match timeout(CONNECT_TIMEOUT, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => return Ok(Box::new(stream)),
            Ok(Err(error)) => format!("dial tcp {address}: connect: {}", describe_io_error(&error)),
            Err(_) => format!("dial tcp {address}: i/o timeout"),
        };
        first.get_or_insert(reason);
    }
    Err(first.unwrap_or_else(|| format!("dial tcp: lookup {name}: no such host")))
}
