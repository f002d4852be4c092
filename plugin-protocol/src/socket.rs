//! The local transport of plugins, for both ends: a plugin listens, its host connects. Unix sockets, and
//! TCP on this machine. Speaks neither TLS nor HTTP.

#[cfg_attr(not(unix), path = "socket/unix_unsupported.rs")]
mod unix;

use std::io;
use std::net::SocketAddr;

use tokio::net::{TcpListener, TcpStream};

use crate::handshake::{Address, EnvironmentFromHost};
use crate::tls::ByteStream;

/// A bound socket. A Unix socket is removed from disk with it.
#[derive(Debug)]
pub(crate) enum Listener {
    Unix(unix::Listener),
    Tcp(TcpListener),
}

impl Listener {
    /// Binds as the environment requests: a Unix socket, or TCP on the loopback interface where
    /// Unix sockets are not available.
    pub(crate) async fn bind(environment: &EnvironmentFromHost) -> io::Result<Self> {
        let directory = environment.socket_dir.clone().unwrap_or_else(std::env::temp_dir);
        let (first_port, last_port) = environment.ports;
        match unix::Listener::bind(&directory, environment.socket_group.as_deref()) {
            Ok(socket) => Ok(Self::Unix(socket)),
            Err(unix_error) => match bind_tcp_in_port_range(first_port, last_port).await {
                Ok(listener) => Ok(Self::Tcp(listener)),
                Err(tcp_error) => Err(io::Error::new(
                    unix_error.kind(),
                    format!(
                        "no unix socket in {}: {unix_error}; no TCP port: {tcp_error}",
                        directory.display()
                    ),
                )),
            },
        }
    }

    /// Returns the address for hosts.
    pub(crate) fn address(&self) -> io::Result<Address> {
        match self {
            Self::Unix(socket) => Ok(Address::Unix(socket.path().to_owned())),
            Self::Tcp(listener) => Ok(Address::Tcp(listener.local_addr()?.to_string())),
        }
    }

    /// Waits for the next connection.
    pub(crate) async fn accept(&self) -> io::Result<Box<dyn ByteStream>> {
        match self {
            Self::Unix(socket) => socket.accept().await,
            Self::Tcp(listener) => tcp_byte_stream(listener.accept().await?.0),
        }
    }
}

/// Connects to a plugin.
pub(crate) async fn connect(address: &Address) -> io::Result<Box<dyn ByteStream>> {
    match address {
        Address::Unix(path) => unix::connect(path).await,
        Address::Tcp(address) => tcp_byte_stream(TcpStream::connect(address).await?),
    }
}

fn tcp_byte_stream(stream: TcpStream) -> io::Result<Box<dyn ByteStream>> {
    // Messages are small and wait for an answer, so Nagle's algorithm would delay each of them.
    stream.set_nodelay(true)?;
    Ok(Box::new(stream))
}

async fn bind_tcp_in_port_range(first_port: u16, last_port: u16) -> io::Result<TcpListener> {
    let mut last_error =
        io::Error::other(format!("{first_port} to {last_port} is not a range of ports"));
    // Without variables both are zero, and the system picks a port, as in go-plugin.
    for port in first_port..=last_port {
        match TcpListener::bind(("127.0.0.1", port)).await {
            Ok(listener) => return Ok(listener),
            Err(error) => last_error = error,
        }
    }
    Err(last_error)
}

/// Returns whether the address is on this machine. A plugin that the host has launched uses no other address.
pub(crate) fn is_local(address: &Address) -> bool {
    match address {
        Address::Unix(_) => true,
        Address::Tcp(address) => match address.parse::<SocketAddr>() {
            Ok(address) => address.ip().is_loopback(),
            // No other name is looked up: a look-up would be network traffic already.
            Err(_) => {
                address.strip_prefix("localhost:").is_some_and(|port| port.parse::<u16>().is_ok())
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn environment(socket_dir: PathBuf, port: u16) -> EnvironmentFromHost {
        let environment = EnvironmentFromHost::read(|_| None);
        EnvironmentFromHost { socket_dir: Some(socket_dir), ports: (port, port), ..environment }
    }

    #[tokio::test]
    async fn the_socket_is_created_in_the_directory_of_the_host_and_removed_after() {
        let directory = tempfile::tempdir().expect("a directory");
        let environment = environment(directory.path().to_owned(), 0);
        let listener = Listener::bind(&environment).await.expect("it can listen");
        let Ok(Address::Unix(path)) = listener.address() else { panic!("not a unix socket") };
        assert_eq!(path.parent(), Some(directory.path()));
        assert!(path.exists());
        drop(listener);
        assert!(!path.exists());
    }

    #[tokio::test]
    async fn tcp_is_used_if_a_unix_socket_cannot_be_created() {
        let environment = environment("/nowhere".into(), 0);
        let listener = Listener::bind(&environment).await.expect("it can listen");
        let Ok(Address::Tcp(address)) = listener.address() else { panic!("not TCP") };
        assert!(address.starts_with("127.0.0.1:"), "{address}");
    }

    #[tokio::test]
    async fn a_range_of_ports_is_tried_in_turn() {
        let taken = bind_tcp_in_port_range(0, 0).await.expect("some port is free");
        let port = taken.local_addr().expect("an address").port();
        let error = bind_tcp_in_port_range(port, port).await.expect_err("it is taken");
        assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
        let error = bind_tcp_in_port_range(2, 1).await.expect_err("nothing to try");
        assert_eq!(error.to_string(), "2 to 1 is not a range of ports");
    }

    #[test]
    fn only_addresses_on_this_machine_are_local() {
        for (address, expected) in [
            ("127.0.0.1:10000", true),
            ("127.8.9.1:1", true),
            ("[::1]:10000", true),
            ("localhost:10000", true),
            ("localhost:port", false),
            ("localhost.example:10000", false),
            ("10.0.0.1:10000", false),
            ("0.0.0.0:10000", false),
            ("example.com:80", false),
            ("", false),
        ] {
            assert_eq!(is_local(&Address::Tcp(address.to_owned())), expected, "{address}");
        }
    }
}
