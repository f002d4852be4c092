//! A proxy for one test: HTTP, which makes tunnels and forwards requests, or SOCKS 5, with a name and a
//! password or without. It counts whom it connected.

use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Credentials that clients must send: `Basic` credentials for HTTP, name and password for SOCKS.
pub(crate) const USER: &str = "proxied";
pub(crate) const PASSWORD: &str = "open sesame";
/// The same as HTTP has it, in base64.
const WORDS: &str = "cHJveGllZDpvcGVuIHNlc2FtZQ==";

/// A proxy that runs as long as the test program does.
pub(crate) struct Proxy {
    pub(crate) port: u16,
    connected: Arc<AtomicUsize>,
}

/// The language of a proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheme {
    Http,
    Socks,
}

impl Proxy {
    /// Starts a proxy that connects clients to the requested host.
    pub(crate) fn start(scheme: Scheme, guarded: bool) -> Self {
        Self::with_greeting(move |client| match scheme {
            Scheme::Http => greet_http(client, guarded),
            Scheme::Socks => greet_socks(client, guarded),
        })
    }

    /// Starts a proxy that maps hosts to ports of this machine by the first matching ending of the host.
    pub(crate) fn with_routes(routes: Vec<(&'static str, u16)>) -> Self {
        Self::with_greeting(move |client| {
            let target = requested_target(client)?;
            let port = routes.iter().find(|(ending, _)| target.address.ends_with(ending));
            let (_, port) = port.ok_or(io::ErrorKind::NotFound)?;
            connect(client, ("127.0.0.1", *port), target.forwarded.as_deref())
        })
    }

    fn with_greeting(
        greet: impl Fn(&TcpStream) -> io::Result<TcpStream> + Clone + Send + 'static,
    ) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let port = listener.local_addr().expect("it has an address").port();
        let connected = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&connected);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let (count, greet) = (Arc::clone(&count), greet.clone());
                thread::spawn(move || {
                    // A client with an invalid greeting is disconnected.
                    if let Ok(end) = greet(&client) {
                        count.fetch_add(1, Ordering::SeqCst);
                        carry(&client, &end);
                    }
                });
            }
        });
        Self { port, connected }
    }

    /// Number of its connections.
    pub(crate) fn connected(&self) -> usize {
        self.connected.load(Ordering::SeqCst)
    }
}

fn greet_http(mut client: &TcpStream, guarded: bool) -> io::Result<TcpStream> {
    let target = requested_target(client)?;
    if guarded && !target.head.contains(&format!("Proxy-Authorization: Basic {WORDS}\r\n")) {
        client.write_all(b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")?;
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    connect(client, target.address, target.forwarded.as_deref())
}

/// A request to the proxy.
struct ProxyRequest {
    head: String,
    /// The requested host and port.
    address: String,
    /// The head for the server, if the proxy is to forward the request.
    forwarded: Option<String>,
}

fn requested_target(client: &TcpStream) -> io::Result<ProxyRequest> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(read::<1>(client)?[0]);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let (method, rest) = head.split_once(' ').ok_or(io::ErrorKind::InvalidData)?;
    let (target, rest) = rest.split_once(' ').ok_or(io::ErrorKind::InvalidData)?;
    if method == "CONNECT" {
        let address = target.to_owned();
        return Ok(ProxyRequest { head, address, forwarded: None });
    }
    let url = target.strip_prefix("http://").ok_or(io::ErrorKind::InvalidData)?;
    let (host, path) = url.split_once('/').unwrap_or((url, ""));
    let address = if host.contains(':') { host.to_owned() } else { format!("{host}:80") };
    let (version, headers) = rest.split_once("\r\n").ok_or(io::ErrorKind::InvalidData)?;
    // Headers for the proxy are not forwarded. Each request has a connection of its own.
    let headers = headers.split_inclusive("\r\n").filter(|line| !line.starts_with("Proxy-"));
    let headers: String = headers.collect();
    let forwarded = format!("{method} /{path} {version}\r\nConnection: close\r\n{headers}");
    Ok(ProxyRequest { address, forwarded: Some(forwarded), head })
}

/// Connects with a server. A tunnel is confirmed to the client, and a request is begun at the server.
fn connect(
    mut client: &TcpStream,
    address: impl ToSocketAddrs,
    forwarded: Option<&str>,
) -> io::Result<TcpStream> {
    let mut end = TcpStream::connect(address)?;
    match forwarded {
        Some(head) => end.write_all(head.as_bytes())?,
        None => client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")?,
    }
    Ok(end)
}

fn greet_socks(mut client: &TcpStream, guarded: bool) -> io::Result<TcpStream> {
    let [_, n_methods] = read(client)?;
    let methods = read_long(client, n_methods.into())?;
    let method = if guarded { 2 } else { 0 };
    if !methods.contains(&method) {
        client.write_all(&[5, 0xff])?;
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    client.write_all(&[5, method])?;
    if guarded {
        let [_, length] = read(client)?;
        let user = read_long(client, length.into())?;
        let [length] = read(client)?;
        let password = read_long(client, length.into())?;
        let is_authenticated = user == USER.as_bytes() && password == PASSWORD.as_bytes();
        client.write_all(&[1, u8::from(!is_authenticated)])?;
        if !is_authenticated {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
    }
    let [_, _, _, kind] = read(client)?;
    let host = match kind {
        1 => read::<4>(client)?.map(|part| part.to_string()).join("."),
        _ => {
            let [length] = read(client)?;
            String::from_utf8_lossy(&read_long(client, length.into())?).into_owned()
        }
    };
    let end = TcpStream::connect((host, u16::from_be_bytes(read(client)?)))?;
    client.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0])?;
    Ok(end)
}

fn read<const N: usize>(mut client: &TcpStream) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    client.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn read_long(mut client: &TcpStream, length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; length];
    client.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Forwards bytes in both directions until one side ends.
fn carry(client: &TcpStream, end: &TcpStream) {
    thread::scope(|scope| {
        for (mut from, mut to) in [(client, end), (end, client)] {
            scope.spawn(move || {
                // After its end, nothing more is forwarded in this direction.
                match io::copy(&mut from, &mut to).and_then(|_| to.shutdown(Shutdown::Write)) {
                    Ok(()) | Err(_) => (),
                }
            });
        }
    });
}
