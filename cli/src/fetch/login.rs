//! The login service of a host: OAuth with an authorization code and PKCE (RFC 7636).

use std::io;
use std::net::Ipv4Addr;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use uuid::Uuid;

use super::http::{self, Client, HttpError, resolve_reference};
use super::url_parameters::decode_percent;

/// The identifier of the service in discovery documents.
pub(super) const LOGIN_SERVICE_ID: &str = "login.v1";
/// The default ports, if the host specifies none.
const DEFAULT_CALLBACK_PORTS: (u16, u16) = (1024, 65535);
/// Maximum length of a request of the browser, in bytes.
const MAX_BROWSER_REQUEST_LEN: usize = 16 << 10;
/// Time limit for a request of the browser.
const CALLBACK_REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum length of a response of the host, in bytes.
const MAX_TOKEN_ANSWER_SIZE: u64 = 1 << 20;

/// The login service of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LoginService {
    client: String,
    authorize: String,
    token: String,
    ports: (u16, u16),
    scopes: Vec<String>,
    /// Whether the host supports authorization codes.
    pub(crate) by_code: bool,
}

/// Reason why a token could not be obtained.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LoginError {
    /// The description of the service is invalid.
    #[error("{0}")]
    Service(String),
    /// No port is available for the callback of the browser.
    #[error("no TCP port numbers between {0} and {1} are available")]
    Ports(u16, u16),
    /// The host denied the login.
    #[error("{0}")]
    Refused(String),
    /// The response of the host is invalid.
    #[error("{0}")]
    Http(#[from] HttpError),
    /// A system call failed.
    #[error("{0}")]
    System(#[from] io::Error),
}

impl LoginService {
    /// Parses the description of the service in a discovery document.
    pub(super) fn from_discovery_document(
        base: &str,
        value: &serde_json::Value,
    ) -> Result<Self, LoginError> {
        let invalid =
            |reason: &str| LoginError::Service(format!("service {LOGIN_SERVICE_ID}: {reason}"));
        let text = |name: &str| value.get(name).and_then(|text| text.as_str());
        let url = |name: &str| -> Result<String, LoginError> {
            let url_text =
                text(name).ok_or_else(|| invalid(&format!("missing property {name:?}")))?;
            let url = resolve_reference(base, url_text);
            // Codes and tokens must be encrypted in transit.
            if http::is_encrypted_or_local(&url) {
                return Ok(url);
            }
            Err(invalid(&format!("the URL of {name:?} must use https")))
        };
        let ports = match value.get("ports") {
            None => DEFAULT_CALLBACK_PORTS,
            Some(ports) => {
                let number = |index: usize| u16::try_from(ports.get(index)?.as_u64()?).ok();
                match (number(0), number(1)) {
                    (Some(from), Some(to)) if from >= 1024 && from <= to => (from, to),
                    _ => return Err(invalid("\"ports\" must be two port numbers from 1024 up")),
                }
            }
        };
        let strings = |name: &str| -> Vec<String> {
            let list = value.get(name).and_then(|list| list.as_array());
            list.into_iter().flatten().filter_map(|item| Some(item.as_str()?.to_owned())).collect()
        };
        let grants = strings("grant_types");
        Ok(Self {
            client: text("client")
                .ok_or_else(|| invalid("missing property \"client\""))?
                .to_owned(),
            authorize: url("authz")?,
            token: url("token")?,
            ports,
            scopes: strings("scopes"),
            by_code: grants.is_empty() || grants.iter().any(|grant| grant == "authz_code"),
        })
    }
}

/// A login that waits for the browser.
pub(crate) struct PendingLogin {
    service: LoginService,
    listener: TcpListener,
    redirect: String,
    state: String,
    verifier: String,
}

impl PendingLogin {
    /// Starts a listener for the callback of the browser.
    ///
    /// # Errors
    /// No port is available.
    pub(crate) async fn start_listener(service: LoginService) -> Result<Self, LoginError> {
        let (from, to) = service.ports;
        for port in from..=to {
            if let Ok(listener) = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await {
                let redirect = format!("http://localhost:{port}/login");
                let state = Uuid::new_v4().to_string();
                let verifier = format!("{}.{}", Uuid::new_v4(), Uuid::new_v4());
                return Ok(Self { service, listener, redirect, state, verifier });
            }
        }
        Err(LoginError::Ports(from, to))
    }

    /// Returns the URL at which the user logs in.
    pub(crate) fn login_url(&self) -> String {
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(&self.verifier));
        let scopes = self.service.scopes.join(" ");
        let mut parameters = vec![
            ("client_id", self.service.client.as_str()),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
            ("redirect_uri", &self.redirect),
            ("response_type", "code"),
        ];
        if !scopes.is_empty() {
            parameters.push(("scope", &scopes));
        }
        parameters.push(("state", &self.state));
        let url = &self.service.authorize;
        let joint = if url.contains('?') { '&' } else { '?' };
        format!("{url}{joint}{}", encode_parameters(&parameters))
    }

    /// Waits for the authorization code from the browser. Requests without the correct `state` parameter are
    /// rejected, and the wait continues.
    ///
    /// # Errors
    /// The host denied the login, or the listener failed.
    pub(crate) async fn wait_for_code(&self) -> Result<String, LoginError> {
        loop {
            let (mut stream, _) = self.listener.accept().await?;
            let Ok(Some(target)) =
                tokio::time::timeout(CALLBACK_REQUEST_TIMEOUT, read_request(&mut stream)).await
            else {
                continue;
            };
            let query = target.split_once('?').map_or("", |(_, query)| query);
            let value = |name: &str| {
                let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
                let value_of = pairs.find(|(key, _)| *key == name);
                value_of.map(|(_, value)| decode_percent(&value.replace('+', " ")))
            };
            if value("state").as_deref() != Some(self.state.as_str()) {
                write_response(
                    &mut stream,
                    "400 Bad Request",
                    "This request does not belong to the current login.",
                )
                .await;
                continue;
            }
            match (value("code").filter(|code| !code.is_empty()), value("error")) {
                (Some(code), _) => {
                    write_response(&mut stream, "200 OK", "The login server has returned an authorization code to Formwork. Close this page and return to the terminal to see the result.").await;
                    return Ok(code);
                }
                (None, Some(error)) => {
                    write_response(&mut stream, "200 OK", "The login server denied the login. Close this page and return to the terminal.").await;
                    let reason = value("error_description").unwrap_or_default();
                    return Err(LoginError::Refused(format!("{error} {reason}").trim().to_owned()));
                }
                (None, None) => {
                    write_response(
                        &mut stream,
                        "400 Bad Request",
                        "The request contains no authorization code.",
                    )
                    .await;
                }
            }
        }
    }

    /// Exchanges the code for a token.
    ///
    /// # Errors
    /// The host rejected the code, or its response contains no token.
    pub(crate) fn exchange_code_for_token(
        &self,
        client: &Client,
        code: &str,
    ) -> Result<String, LoginError> {
        let form = encode_parameters(&[
            ("grant_type", "authorization_code"),
            ("client_id", &self.service.client),
            ("code", code),
            ("code_verifier", &self.verifier),
            ("redirect_uri", &self.redirect),
        ]);
        let answer = client.post_form(&self.service.token, &form)?;
        let text = answer.read_text(MAX_TOKEN_ANSWER_SIZE)?;
        let document: serde_json::Value = serde_json::from_str(&text)
            .map_err(|error| LoginError::Refused(format!("the response is not JSON: {error}")))?;
        match document.get("access_token").and_then(|token| token.as_str()) {
            Some(token) if !token.is_empty() => Ok(token.to_owned()),
            _ => Err(LoginError::Refused("the response has no access_token".to_owned())),
        }
    }
}

/// Reads a request up to the end of its headers and returns its target.
async fn read_request(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 1024];
    while !bytes.windows(4).any(|end| end == b"\r\n\r\n") {
        let n = stream.read(&mut buffer).await.ok()?;
        if n == 0 || bytes.len() > MAX_BROWSER_REQUEST_LEN {
            return None;
        }
        bytes.extend_from_slice(&buffer[..n]);
    }
    let text = String::from_utf8_lossy(&bytes);
    text.lines().next()?.split(' ').nth(1).map(str::to_owned)
}

async fn write_response(stream: &mut TcpStream, status: &str, text: &str) {
    let page = format!(
        "<html><head><title>Formwork login</title></head><body><p>{text}</p></body></html>"
    );
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        page.len()
    );
    // The browser may have closed the connection. The login does not depend on its page.
    drop(stream.write_all(format!("{head}{page}").as_bytes()).await);
    drop(stream.shutdown().await);
}

/// Encodes parameters as a query string or the body of a form.
pub(super) fn encode_parameters(parameters: &[(&str, &str)]) -> String {
    let escape = |text: &str| -> String {
        let escape_byte = |byte: u8| match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                char::from(byte).to_string()
            }
            _ => format!("%{byte:02X}"),
        };
        text.bytes().map(escape_byte).collect()
    };
    let pairs: Vec<String> =
        parameters.iter().map(|(name, value)| format!("{name}={}", escape(value))).collect();
    pairs.join("&")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_discovery_document_requires_a_client_and_encrypted_addresses() {
        let base = "https://h.example/.well-known/terraform.json";
        let valid = json!({ "client": "cli", "authz": "/authz", "token": "token", "ports": [10000, 10010] });
        let service = LoginService::from_discovery_document(base, &valid).unwrap();
        assert_eq!(service.authorize, "https://h.example/authz");
        assert_eq!(service.token, "https://h.example/.well-known/token");
        assert!(service.by_code && service.ports == (10000, 10010));
        for (name, value) in [
            ("client", json!(null)),
            ("authz", json!("http://h.example/authz")),
            ("token", json!("http://h.example/token")),
            ("token", json!(null)),
            ("ports", json!([80, 90])),
            ("ports", json!([10010, 10000])),
        ] {
            let mut broken = valid.clone();
            broken[name] = value;
            assert!(LoginService::from_discovery_document(base, &broken).is_err(), "{broken}");
        }
        let mut password = valid;
        password["grant_types"] = json!(["password"]);
        assert!(!LoginService::from_discovery_document(base, &password).unwrap().by_code);
    }

    #[test]
    fn parameters_are_escaped() {
        assert_eq!(encode_parameters(&[("a", "b c&d/é"), ("e", "~")]), "a=b%20c%26d%2F%C3%A9&e=~");
    }
}
