//! Connections through a proxy: HTTP `CONNECT` and SOCKS 5. Proxies that require TLS are not
//! supported.

use std::fmt::Write as _;
use std::net::IpAddr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::dial::{self, ByteStream};
use crate::config_block::ConfigBlock;

/// Maximum length of a proxy's response, in bytes.
const MAX_PROXY_ANSWER_LEN: usize = 16 * 1024;

/// A proxy, as configured in a `connection` block.
#[derive(Debug)]
pub(super) struct Proxy {
    socks: bool,
    host: String,
    port: u16,
    user: Option<String>,
    password: Option<String>,
}

impl Proxy {
    /// Reads the proxy arguments of a `connection` block. Returns `None` if no proxy is configured.
    ///
    /// # Errors
    /// The scheme is not supported, or the port is invalid.
    pub(super) fn from_connection_block(block: ConfigBlock<'_>) -> Result<Option<Self>, String> {
        let Some(host) = block.string("proxy_host") else { return Ok(None) };
        let socks = match block.string("proxy_scheme").as_deref() {
            None | Some("http") => false,
            Some("socks5" | "socks5h") => true,
            Some("https") => {
                let reason = "proxy_scheme \"https\" is not supported: Formwork connects to proxies over plain HTTP or SOCKS 5. SSH encrypts the traffic through the proxy in any case.";
                return Err(reason.to_owned());
            }
            Some(scheme) => return Err(format!("proxy: unknown scheme: {scheme}")),
        };
        let default_port = if socks { 1080 } else { 80 };
        Ok(Some(Self {
            socks,
            host,
            port: block.port("proxy_port")?.unwrap_or(default_port),
            user: block.string("proxy_user_name"),
            password: block.string("proxy_user_password"),
        }))
    }

    /// Appends the lines that describe the proxy in the output.
    pub(super) fn append_connection_lines(&self, out: &mut String) {
        // Writing to a string does not fail.
        let _ = write!(
            out,
            "  ProxyHost: {}\n  ProxyPort: {}\n  ProxyUserName: {}\n  ProxyUserPassword: {}",
            self.host,
            self.port,
            self.user.as_deref().unwrap_or_default(),
            self.password.is_some()
        );
    }

    /// Connects to a host through the proxy.
    ///
    /// # Errors
    /// The proxy does not respond, or refuses the connection.
    pub(super) async fn connect_through(
        &self,
        host: &str,
        port: u16,
    ) -> Result<Box<dyn ByteStream>, String> {
        let mut connection = dial::dial_tcp(&self.host, self.port).await?;
        let result = match self.socks {
            true => self.request_socks_tunnel(&mut connection, host, port).await,
            false => self.request_http_tunnel(&mut connection, host, port).await,
        };
        result.map_err(|reason| format!("proxy {}:{}: {reason}", self.host, self.port))?;
        Ok(connection)
    }

    async fn request_http_tunnel(
        &self,
        connection: &mut Box<dyn ByteStream>,
        host: &str,
        port: u16,
    ) -> Result<(), String> {
        let mut request = format!("CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n");
        if let Some(user) = &self.user {
            let password = self.password.as_deref().unwrap_or_default();
            let credentials = STANDARD.encode(format!("{user}:{password}"));
            // Writing to a string does not fail.
            let _ = write!(request, "Proxy-Authorization: Basic {credentials}\r\n");
        }
        request.push_str("\r\n");
        connection.write_all(request.as_bytes()).await.map_err(broken_connection_error)?;
        let mut response = Vec::new();
        while !response.ends_with(b"\r\n\r\n") {
            if response.len() > MAX_PROXY_ANSWER_LEN {
                return Err(format!("the response is longer than {MAX_PROXY_ANSWER_LEN} bytes"));
            }
            // Bytes after the response must not be read here: they are the SSH greeting of the host.
            response.push(connection.read_u8().await.map_err(broken_connection_error)?);
        }
        let response = String::from_utf8_lossy(&response);
        let status = response.lines().next().unwrap_or_default();
        match status.split(' ').nth(1) {
            Some("200") => Ok(()),
            _ => Err(format!("the proxy refused the connection: {status}")),
        }
    }

    async fn request_socks_tunnel(
        &self,
        connection: &mut Box<dyn ByteStream>,
        host: &str,
        port: u16,
    ) -> Result<(), String> {
        const NO_AUTHENTICATION: u8 = 0;
        const PASSWORD_AUTHENTICATION: u8 = 2;
        let methods: &[u8] = if self.user.is_some() {
            &[5, 2, NO_AUTHENTICATION, PASSWORD_AUTHENTICATION]
        } else {
            &[5, 1, NO_AUTHENTICATION]
        };
        connection.write_all(methods).await.map_err(broken_connection_error)?;
        let mut chosen = [0; 2];
        connection.read_exact(&mut chosen).await.map_err(broken_connection_error)?;
        match chosen {
            [5, NO_AUTHENTICATION] => {}
            [5, PASSWORD_AUTHENTICATION] => {
                let mut credentials = vec![1];
                push_with_length_byte(&mut credentials, self.user.as_deref().unwrap_or_default())?;
                push_with_length_byte(
                    &mut credentials,
                    self.password.as_deref().unwrap_or_default(),
                )?;
                connection.write_all(&credentials).await.map_err(broken_connection_error)?;
                let mut response = [0; 2];
                connection.read_exact(&mut response).await.map_err(broken_connection_error)?;
                if response[1] != 0 {
                    return Err("the proxy rejected the user name and password".to_owned());
                }
            }
            _ => return Err("the proxy supports none of the authentication methods".to_owned()),
        }
        connection
            .write_all(&encode_socks_connect(host, port)?)
            .await
            .map_err(broken_connection_error)?;
        let mut head = [0; 4];
        connection.read_exact(&mut head).await.map_err(broken_connection_error)?;
        if head[1] != 0 {
            return Err(format!("the proxy refused the connection with code {}", head[1]));
        }
        let rest = match head[3] {
            1 => 4,
            4 => 16,
            _ => usize::from(connection.read_u8().await.map_err(broken_connection_error)?),
        };
        connection.read_exact(&mut vec![0; rest + 2]).await.map_err(broken_connection_error)?;
        Ok(())
    }
}

/// Encodes the SOCKS 5 `CONNECT` request. The proxy resolves host names; addresses are sent as bytes. An
/// IPv6 address may be in brackets, which separate it from a port and are not part of the address.
fn encode_socks_connect(host: &str, port: u16) -> Result<Vec<u8>, String> {
    let mut request = vec![5, 1, 0];
    match host.trim_start_matches('[').trim_end_matches(']').parse() {
        Ok(IpAddr::V4(addr)) => {
            request.push(1);
            request.extend(addr.octets());
        }
        Ok(IpAddr::V6(addr)) => {
            request.push(4);
            request.extend(addr.octets());
        }
        Err(_) => {
            request.push(3);
            push_with_length_byte(&mut request, host)?;
        }
    }
    request.extend(port.to_be_bytes());
    Ok(request)
}

fn broken_connection_error(error: std::io::Error) -> String {
    format!("the connection was lost: {error}")
}

/// Appends a string, prefixed by its length in one byte.
fn push_with_length_byte(out: &mut Vec<u8>, text: &str) -> Result<(), String> {
    let length = u8::try_from(text.len()).map_err(|_| "a name is longer than 255 bytes")?;
    out.push(length);
    out.extend(text.as_bytes());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn socks_requests_encode_addresses_as_bytes_and_names_as_strings() {
        let v6 = [&[5, 1, 0, 4][..], &[0; 15], &[1, 0, 22]].concat();
        assert_eq!(encode_socks_connect("[::1]", 22).unwrap(), v6);
        assert_eq!(encode_socks_connect("::1", 22).unwrap(), v6);
        assert_eq!(encode_socks_connect("10.0.0.7", 258).unwrap(), [5, 1, 0, 1, 10, 0, 0, 7, 1, 2]);
        assert_eq!(encode_socks_connect("box", 22).unwrap(), b"\x05\x01\x00\x03\x03box\x00\x16");
        assert!(encode_socks_connect(&"x".repeat(256), 22).is_err());
    }
}
