//! The way to a server through a proxy: `CONNECT`, in clear or encrypted, or SOCKS 5.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use ureq::{Proxy, ProxyProtocol};

use super::{PeerError, build_tls_config};

/// Greatest length of a proxy's answer.
const MAX_PROXY_ANSWER_LEN: usize = 8 * 1024;
/// The version of SOCKS.
const SOCKS_VERSION: u8 = 5;
/// Authentication at the proxy: none, or a name and a password.
const SOCKS_NO_AUTHENTICATION: u8 = 0;
const SOCKS_BY_PASSWORD: u8 = 2;

/// A byte stream in both directions.
pub(super) trait ByteStream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> ByteStream for T {}

/// Has a proxy connect us with a server.
pub(super) async fn connect_through_proxy(
    proxy: &Proxy,
    host: &str,
    port: u16,
) -> Result<Box<dyn ByteStream>, PeerError> {
    let address = unbracketed(proxy.host());
    let stream = TcpStream::connect((address, proxy.port())).await?;
    let mut stream: Box<dyn ByteStream> = match proxy.protocol() {
        ProxyProtocol::Https => {
            let name = ServerName::try_from(address.to_owned());
            let name = name.map_err(|_| PeerError::Name(address.to_owned()))?;
            Box::new(
                TlsConnector::from(Arc::new(build_tls_config(true)?)).connect(name, stream).await?,
            )
        }
        _ => Box::new(stream),
    };
    match proxy.protocol() {
        ProxyProtocol::Http | ProxyProtocol::Https => {
            send_connect_request(&mut stream, proxy, host, port).await?;
        }
        ProxyProtocol::Socks5 | ProxyProtocol::Socks5h => {
            send_socks_request(&mut stream, proxy, unbracketed(host), port).await?;
        }
        _ => return Err(PeerError::Proxy("it is neither HTTP nor SOCKS 5".to_owned())),
    }
    Ok(stream)
}

pub(super) fn unbracketed(host: &str) -> &str {
    host.trim_start_matches('[').trim_end_matches(']')
}

async fn send_connect_request(
    stream: &mut Box<dyn ByteStream>,
    proxy: &Proxy,
    host: &str,
    port: u16,
) -> Result<(), PeerError> {
    let mut request = format!("CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n");
    if let Some(name) = proxy.username() {
        let pair = STANDARD.encode(format!("{name}:{}", proxy.password().unwrap_or_default()));
        request.push_str(&format!("Proxy-Authorization: Basic {pair}\r\n"));
    }
    request.push_str("\r\n");
    stream.write_all(request.as_bytes()).await?;
    stream.flush().await?;
    let mut answer = Vec::new();
    // Byte by byte: the bytes after the answer are the server's, and read elsewhere.
    while !answer.ends_with(b"\r\n\r\n") && answer.len() < MAX_PROXY_ANSWER_LEN {
        answer.push(stream.read_u8().await?);
    }
    let answer = String::from_utf8_lossy(&answer);
    let line = answer.lines().next().unwrap_or_default();
    match line.split(' ').nth(1) {
        Some("200") => Ok(()),
        _ => Err(PeerError::Proxy(line.to_owned())),
    }
}

/// RFC 1928, and RFC 1929 for the password.
async fn send_socks_request(
    stream: &mut Box<dyn ByteStream>,
    proxy: &Proxy,
    host: &str,
    port: u16,
) -> Result<(), PeerError> {
    let credentials = proxy.username().map(|name| (name, proxy.password().unwrap_or_default()));
    let methods: &[u8] = if credentials.is_some() {
        &[SOCKS_NO_AUTHENTICATION, SOCKS_BY_PASSWORD]
    } else {
        &[SOCKS_NO_AUTHENTICATION]
    };
    stream.write_all(&[&[SOCKS_VERSION], with_length_prefix(methods)?.as_slice()].concat()).await?;
    stream.flush().await?;
    let mut chosen = [0; 2];
    stream.read_exact(&mut chosen).await?;
    match (chosen, credentials) {
        ([SOCKS_VERSION, SOCKS_NO_AUTHENTICATION], _) => {}
        ([SOCKS_VERSION, SOCKS_BY_PASSWORD], Some((name, password))) => {
            let (name, password) =
                (with_length_prefix(name.as_bytes())?, with_length_prefix(password.as_bytes())?);
            stream.write_all(&[vec![1], name, password].concat()).await?;
            stream.flush().await?;
            let mut answer = [0; 2];
            stream.read_exact(&mut answer).await?;
            if answer[1] != 0 {
                return Err(PeerError::Proxy("name or password is wrong".to_owned()));
            }
        }
        ([SOCKS_VERSION, _], _) => {
            return Err(PeerError::Proxy("it requires another authentication method".to_owned()));
        }
        _ => return Err(PeerError::Proxy("it does not speak SOCKS 5".to_owned())),
    }
    let target = if let Ok(ip) = host.parse::<Ipv4Addr>() {
        [&[1], ip.octets().as_slice()].concat()
    } else if let Ok(ip) = host.parse::<Ipv6Addr>() {
        [&[4], ip.octets().as_slice()].concat()
    } else {
        [&[3], with_length_prefix(host.as_bytes())?.as_slice()].concat()
    };
    stream
        .write_all(&[&[SOCKS_VERSION, 1, 0], target.as_slice(), &port.to_be_bytes()].concat())
        .await?;
    stream.flush().await?;
    let mut answer = [0; 4];
    stream.read_exact(&mut answer).await?;
    if answer[1] != 0 {
        let reason = socks_refusal_text(answer[1]);
        return Err(PeerError::Proxy(reason.to_owned()));
    }
    // The address that the proxy uses is ignored.
    let length = match answer[3] {
        1 => 4,
        4 => 16,
        _ => usize::from(stream.read_u8().await?),
    };
    stream.read_exact(&mut vec![0; length + 2]).await?;
    Ok(())
}

/// Bytes after their number.
fn with_length_prefix(bytes: &[u8]) -> Result<Vec<u8>, PeerError> {
    let long = |_| PeerError::Proxy("SOCKS supports no string of more than 255 bytes".to_owned());
    let length = u8::try_from(bytes.len()).map_err(long)?;
    Ok([&[length], bytes].concat())
}

fn socks_refusal_text(code: u8) -> &'static str {
    match code {
        2 => "connection not allowed by its rules",
        3 => "network unreachable",
        4 => "host unreachable",
        5 => "connection refused",
        6 => "it took too long",
        7 | 8 => "it cannot connect that way",
        _ => "it failed",
    }
}
