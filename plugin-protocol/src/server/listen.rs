//! The socket of a plugin, and connections as streams of bytes. Speaks no HTTP.

use std::fs::{Permissions, set_permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use nix::unistd::{Group, chown};
use rustls::ServerConfig;
use tempfile::NamedTempFile;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_stream::Stream;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::server::Connected;
use tracing::debug;

use crate::handshake::{Address, PluginEnvironment};
use crate::tls::ByteStream;

/// Time limit of the TLS handshake.
const TLS_PATIENCE: Duration = Duration::from_secs(10);
/// Pause when the system is out of file descriptors and the like.
const BREATHER: Duration = Duration::from_millis(50);

/// A bound socket. A unix socket is removed from disk with it.
#[derive(Debug)]
pub(super) enum Listener {
    Unix(NamedTempFile<UnixListener>),
    Tcp(TcpListener),
}

impl Listener {
    /// Binds as the environment wishes: a unix socket, or TCP on this machine where there can be none.
    pub(super) async fn bind(environment: &PluginEnvironment) -> io::Result<Self> {
        let folder = environment.socket_dir.clone().unwrap_or_else(std::env::temp_dir);
        let (first, last) = environment.ports;
        match bind_unix(&folder, environment.socket_group.as_deref()) {
            Ok(socket) => Ok(Self::Unix(socket)),
            Err(unix) => match bind_tcp(first, last).await {
                Ok(listener) => Ok(Self::Tcp(listener)),
                Err(tcp) => Err(io::Error::new(
                    unix.kind(),
                    format!("no unix socket in {}: {unix}; no TCP port: {tcp}", folder.display()),
                )),
            },
        }
    }

    /// Returns where it listens.
    pub(super) fn address(&self) -> io::Result<Address> {
        match self {
            Self::Unix(socket) => Ok(Address::Unix(socket.path().to_owned())),
            Self::Tcp(listener) => Ok(Address::Tcp(listener.local_addr()?.to_string())),
        }
    }

    /// Accepts for as long as the stream is read. Peers that fail to prove themselves to `tls` are
    /// dropped and do not hold up others.
    pub(super) fn incoming(
        self,
        tls: Option<Arc<ServerConfig>>,
    ) -> impl Stream<Item = io::Result<Connection>> {
        let (sender, connections) = mpsc::channel(16);
        tokio::spawn(self.accept_all(tls.map(TlsAcceptor::from), sender));
        ReceiverStream::new(connections)
    }

    async fn accept_all(
        self,
        tls: Option<TlsAcceptor>,
        sender: mpsc::Sender<io::Result<Connection>>,
    ) {
        loop {
            let accepted = tokio::select! {
                accepted = self.accept() => accepted,
                // The server takes no more connections. Dropping the listener removes its socket.
                () = sender.closed() => return,
            };
            let Ok(bytes) = accepted else {
                sleep(BREATHER).await;
                continue;
            };
            let (tls, sender) = (tls.clone(), sender.clone());
            tokio::spawn(async move {
                match secure(bytes, tls).await {
                    // Sending fails once connections are no longer accepted.
                    Ok(connection) => match sender.send(Ok(connection)).await {
                        Ok(()) | Err(_) => (),
                    },
                    Err(error) => debug!(%error, "a connection was refused"),
                }
            });
        }
    }

    async fn accept(&self) -> io::Result<Box<dyn ByteStream>> {
        match self {
            Self::Unix(socket) => Ok(Box::new(socket.as_file().accept().await?.0)),
            Self::Tcp(listener) => {
                let (stream, _) = listener.accept().await?;
                // Small answers must not wait for an acknowledgement (Nagle's algorithm).
                stream.set_nodelay(true)?;
                Ok(Box::new(stream))
            }
        }
    }
}

fn bind_unix(folder: &Path, group: Option<&str>) -> io::Result<NamedTempFile<UnixListener>> {
    let mut builder = tempfile::Builder::new();
    // Bound under a fresh name at once. go-plugin makes a file and removes it first, and another
    // process can come between.
    let socket = builder.prefix("plugin").make_in(folder, |path| UnixListener::bind(path))?;
    if let Some(group) = group {
        share(socket.path(), group)?;
    }
    Ok(socket)
}

/// Lets a group use the socket, by its name or number.
fn share(path: &Path, group: &str) -> io::Result<()> {
    let id = match group.parse::<u32>() {
        Ok(number) => number.into(),
        Err(_) => Group::from_name(group)?
            .map(|group| group.gid)
            .ok_or_else(|| io::Error::other(format!("there is no group `{group}`")))?,
    };
    // The group first, or the previous one could use the socket for a moment.
    chown(path, None, Some(id))?;
    set_permissions(path, Permissions::from_mode(0o660))
}

async fn bind_tcp(first: u16, last: u16) -> io::Result<TcpListener> {
    let mut refused = io::Error::other(format!("{first} to {last} is no range of ports"));
    // Without variables both are zero, and the system picks a port, as in go-plugin.
    for port in first..=last {
        match TcpListener::bind(("127.0.0.1", port)).await {
            Ok(listener) => return Ok(listener),
            Err(error) => refused = error,
        }
    }
    Err(refused)
}

async fn secure(bytes: Box<dyn ByteStream>, tls: Option<TlsAcceptor>) -> io::Result<Connection> {
    match tls {
        None => Ok(Connection(bytes)),
        Some(acceptor) => {
            // A peer that connects and stays silent would hold this task for good.
            let stream = timeout(TLS_PATIENCE, acceptor.accept(bytes)).await??;
            Ok(Connection(Box::new(stream)))
        }
    }
}

/// An accepted connection, of either network, with TLS or without.
pub(super) struct Connection(Box<dyn ByteStream>);

impl Connected for Connection {
    type ConnectInfo = ();

    fn connect_info(&self) {}
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buf)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.0.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn environment(socket_dir: PathBuf, ports: u16) -> PluginEnvironment {
        let environment = PluginEnvironment::read(|_| None);
        PluginEnvironment { socket_dir: Some(socket_dir), ports: (ports, ports), ..environment }
    }

    #[tokio::test]
    async fn the_socket_is_made_where_the_host_wants_it_and_removed_after() {
        let folder = tempfile::tempdir().expect("a folder");
        let environment = environment(folder.path().to_owned(), 0);
        let listener = Listener::bind(&environment).await.expect("it can listen");
        let Ok(Address::Unix(path)) = listener.address() else { panic!("not a unix socket") };
        assert_eq!(path.parent(), Some(folder.path()));
        assert!(path.exists());
        drop(listener);
        assert!(!path.exists());
    }

    #[tokio::test]
    async fn tcp_is_the_way_out_when_a_unix_socket_cannot_be() {
        let environment = environment("/nowhere".into(), 0);
        let listener = Listener::bind(&environment).await.expect("it can listen");
        let Ok(Address::Tcp(address)) = listener.address() else { panic!("not TCP") };
        assert!(address.starts_with("127.0.0.1:"), "{address}");
    }

    #[tokio::test]
    async fn a_range_of_ports_is_tried_in_turn() {
        let taken = bind_tcp(0, 0).await.expect("some port is free");
        let port = taken.local_addr().expect("an address").port();
        let refused = bind_tcp(port, port).await.expect_err("it is taken");
        assert_eq!(refused.kind(), io::ErrorKind::AddrInUse);
        let refused = bind_tcp(2, 1).await.expect_err("nothing to try");
        assert_eq!(refused.to_string(), "2 to 1 is no range of ports");
    }
}
