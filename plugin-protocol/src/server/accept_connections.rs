//! Connections of a plugin's socket as streams of bytes, with TLS or without. Speaks no HTTP.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use rustls::ServerConfig;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_stream::Stream;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::server::Connected;
use tracing::debug;

use crate::socket::Listener;
use crate::tls::ByteStream;

/// Time limit of the TLS handshake.
const TLS_HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
/// Pause when the system is out of file descriptors and the like.
const ACCEPT_ERROR_PAUSE: Duration = Duration::from_millis(50);

/// Accepts for as long as the stream is read. Peers that fail to prove themselves to `tls` are
/// dropped and do not hold up others.
pub(super) fn accept_connections(
    listener: Listener,
    tls: Option<Arc<ServerConfig>>,
) -> impl Stream<Item = io::Result<Connection>> {
    let (sender, connections) = mpsc::channel(16);
    tokio::spawn(accept_all(listener, tls.map(TlsAcceptor::from), sender));
    ReceiverStream::new(connections)
}

async fn accept_all(
    listener: Listener,
    tls: Option<TlsAcceptor>,
    sender: mpsc::Sender<io::Result<Connection>>,
) {
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            // The server takes no more connections. Dropping the listener removes its socket.
            () = sender.closed() => return,
        };
        let Ok(bytes) = accepted else {
            sleep(ACCEPT_ERROR_PAUSE).await;
            continue;
        };
        let (tls, sender) = (tls.clone(), sender.clone());
        tokio::spawn(async move {
            match accept_tls_if_configured(bytes, tls).await {
                // Sending fails once connections are no longer accepted.
                Ok(connection) => match sender.send(Ok(connection)).await {
                    Ok(()) | Err(_) => (),
                },
                Err(error) => debug!(%error, "a connection was refused"),
            }
        });
    }
}

async fn accept_tls_if_configured(
    bytes: Box<dyn ByteStream>,
    tls: Option<TlsAcceptor>,
) -> io::Result<Connection> {
    match tls {
        None => Ok(Connection(bytes)),
        Some(acceptor) => {
            // A peer that connects and sends nothing would block this task permanently.
            let stream = timeout(TLS_HANDSHAKE_TIMEOUT, acceptor.accept(bytes)).await??;
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
