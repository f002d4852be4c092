//! HTTP requests of backends: one at a time, with retries of transient failures. Every response has a size
//! limit, and every wait has a timeout.

mod content_encoding;
#[cfg(any(feature = "azurerm", feature = "consul", feature = "http", feature = "openbao"))]
mod plain_request;
#[cfg(feature = "query-encoding")]
mod query_value;
mod quoted_request;
mod redirect;

use std::error::Error;
use std::io::Read as _;
use std::time::{Duration, Instant};

use formwork_core::disk::{MAX_SMALL_FILE_LEN, MAX_STATE_LEN};
use formwork_plugin_protocol::http_proxy::parse_proxy;
use formwork_plugin_protocol::proxy_env::ProxyEnv;
use ureq::Agent;
use ureq::config::Config;
use ureq::http::request::Parts;
use ureq::http::{HeaderMap, Method, Request, StatusCode, header};

use self::content_encoding::decode_content;
#[cfg(feature = "query-encoding")]
pub(crate) use self::query_value::percent_encode;
use self::quoted_request::{describe_refusal, hide_credentials};
use self::redirect::follow_redirect;
use crate::cause::Cause;
use crate::config_error::ConfigError;
use crate::retry::RetryPolicy;
use crate::tls::client_tls::ClientTls;
pub(crate) use crate::tls::client_tls::TlsSettings;
use crate::tls::connector::{TlsConnector, http_agent};

/// Timeout of a connection, and of the next part of a response.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

/// The same for services of this machine.
#[cfg(feature = "request-signing")]
const LOCAL_SERVICE_TIMEOUT: Duration = Duration::from_secs(2);

/// A client for the requests of one backend.
#[derive(Clone)]
pub(crate) struct HttpClient {
    agent: Agent,
    proxies: ProxyEnv,
    retries: RetryPolicy,
    redirects: u32,
    /// Timeout of a whole request, if it is shorter than the default timeouts.
    limit: Option<Duration>,
}

/// Maximum number of redirects that a request follows.
const MAX_REDIRECTS: u32 = 10;

/// An answer, read to its end.
#[derive(Clone, Debug)]
pub(crate) struct HttpResponse {
    /// The status.
    pub(crate) status: StatusCode,
    /// The headers.
    pub(crate) headers: HeaderMap,
    /// The content. In that of a refusal, the credentials of the request are replaced.
    pub(crate) body: Vec<u8>,
    /// Whether an earlier attempt of the request may have had its effect: its response was lost, or came
    /// from a failing server.
    pub(crate) follows_unclear_attempt: bool,
    /// The beginning of the content of a refusal, in one line and without quotations of the request. Nothing of any
    /// other answer is shown: proxies and caches mark states and keys with 203 or 206.
    pub(crate) refusal: String,
    /// The URL that has answered, without its secrets, if it is another one than that of the request.
    pub(crate) redirected_to: Option<String>,
}

/// A request without a usable response.
#[derive(Debug, thiserror::Error)]
#[error("{method} {url}: {reason}{}", describe_attempts(*.n_attempts))]
pub(crate) struct WebError {
    method: String,
    url: String,
    reason: SendFailure,
    n_attempts: u32,
}

/// The reason why no complete response arrived.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub(crate) struct SendFailure {
    reason: String,
    /// Whether each further attempt would end in the same way.
    is_permanent: bool,
}

impl SendFailure {
    fn transient(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), is_permanent: false }
    }

    fn permanent(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), is_permanent: true }
    }

    /// Names the server that the request was redirected to.
    fn at_redirect_target(self, target: Option<&str>) -> Self {
        match target {
            Some(target) => {
                Self { reason: format!("redirected to {target}: {}", self.reason), ..self }
            }
            None => self,
        }
    }
}

impl WebError {
    /// The error after a number of attempts.
    pub(crate) fn after_attempts(self, n_attempts: u32) -> Self {
        Self { n_attempts, ..self }
    }
}

fn describe_attempts(n_attempts: u32) -> String {
    if n_attempts > 1 { format!(" (after {n_attempts} attempts)") } else { String::new() }
}

impl HttpResponse {
    /// Returns the value of a header, if it is valid text.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Returns the pause that the server requests.
    pub(crate) fn retry_after(&self) -> Option<Duration> {
        // The header may contain a date instead. In this case the default pause is used.
        let seconds = self.header(header::RETRY_AFTER.as_str())?.trim().parse().ok()?;
        Some(Duration::from_secs(seconds))
    }

    /// The cause of a failure for an answer that was not expected, with the text of a refusal.
    #[cfg(any(
        feature = "aws",
        feature = "azurerm",
        feature = "consul",
        feature = "gcs",
        feature = "http",
        feature = "kubernetes",
        feature = "openbao"
    ))]
    pub(crate) fn unexpected_response_cause(&self, method: &str, url: &str) -> Cause {
        let said = match self.refusal.as_str() {
            "" => String::new(),
            said => format!(": {said}"),
        };
        let place = self.place(url);
        format!("{method} {place}: unexpected HTTP response code {}{said}", self.status).into()
    }

    /// The URL of the request without its secrets, and the URL that has answered.
    pub(crate) fn place(&self, url: &str) -> String {
        let url = redact_url(url);
        match &self.redirected_to {
            Some(target) => format!("{url} (redirected to {target})"),
            None => url,
        }
    }
}

impl HttpClient {
    /// Creates a client.
    ///
    /// # Errors
    /// Returns an error if a certificate or key is invalid.
    pub(crate) fn new(
        tls: &TlsSettings,
        retries: RetryPolicy,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, ConfigError> {
        let tls = TlsConnector::new(ClientTls::new(tls)?);
        let (agent, proxies) =
            (http_agent(agent_config(DEFAULT_TIMEOUT), tls), ProxyEnv::read(variable));
        Ok(Self { agent, proxies, retries, redirects: MAX_REDIRECTS, limit: None })
    }

    /// Returns the client for a server whose certificate has another name than `host`.
    ///
    /// # Errors
    /// Returns an error in the same cases as [`HttpClient::new`], and if the name is invalid.
    #[cfg(feature = "consul")]
    pub(crate) fn with_server_name(
        self,
        tls: &TlsSettings,
        host: &str,
        name: &str,
    ) -> Result<Self, ConfigError> {
        let tls = TlsConnector::new(ClientTls::new(tls)?);
        let tls = tls.with_server_name(host, name).map_err(|error| {
            ConfigError::new(format!("the server name {name:?} for TLS is not valid: {error}"))
        })?;
        let agent = http_agent(agent_config(DEFAULT_TIMEOUT), tls);
        Ok(Self { agent, ..self })
    }

    /// Returns the client for requests that are useless after a time limit.
    #[cfg(feature = "consul")]
    pub(crate) fn with_time_limit(self, limit: Duration) -> Self {
        Self { limit: Some(limit), ..self }
    }

    /// Creates a client for services of the same machine, which respond immediately or not at all. It
    /// uses no proxy.
    ///
    /// # Errors
    /// Returns an error in the same cases as [`HttpClient::new`].
    #[cfg(feature = "request-signing")]
    pub(crate) fn for_local_services() -> Result<Self, ConfigError> {
        let retries = RetryPolicy { most: 0, shortest: Duration::ZERO, longest: Duration::ZERO };
        let tls = TlsConnector::new(ClientTls::new(&TlsSettings::default())?);
        let agent = http_agent(agent_config(LOCAL_SERVICE_TIMEOUT), tls);
        let proxies = ProxyEnv::read(|_| None);
        Ok(Self { agent, proxies, retries, redirects: 0, limit: None })
    }

    /// Returns the client for signed requests: a redirect is returned as a response, because the
    /// signature is not valid for another URL.
    #[cfg(any(
        feature = "aws",
        feature = "azurerm",
        feature = "gcp",
        feature = "kubernetes",
        feature = "openbao"
    ))]
    pub(crate) fn without_redirects(self) -> Self {
        Self { redirects: 0, ..self }
    }

    /// Sends a request, and retries it if the server does not respond, is busy or fails. The request is
    /// authorized before each attempt.
    ///
    /// # Errors
    /// Returns an error if the request cannot be authorized, or if no response arrived. Any other
    /// response is returned, whatever its status.
    pub(crate) async fn send_authorized(
        &self,
        request: &Request<Vec<u8>>,
        by: &dyn Authorize,
    ) -> Result<HttpResponse, Cause> {
        let mut attempts = self.retries.begin_attempts("state backend");
        let mut is_unclear = false;
        loop {
            let mut outcome = self.send_once(by.authorize(request.clone()).await?).await;
            if let Ok(answer) = &mut outcome {
                answer.follows_unclear_attempt = is_unclear;
            }
            is_unclear |= outcome.as_ref().map_or(true, |answer| answer.status.is_server_error());
            let pause = match &outcome {
                Ok(answer) if by.is_retryable_response(answer) => answer.retry_after(),
                Err(error) if !error.reason.is_permanent => None,
                Ok(_) | Err(_) => return Ok(outcome?),
            };
            if !attempts.wait_for_next_attempt(pause).await {
                let n_attempts = attempts.attempt_count();
                return Ok(outcome.map_err(|error| error.after_attempts(n_attempts))?);
            }
        }
    }

    /// Sends a request once. Another thread waits for the network.
    ///
    /// # Errors
    /// Returns an error if no complete response arrived.
    pub(crate) async fn send_once(
        &self,
        request: Request<Vec<u8>>,
    ) -> Result<HttpResponse, WebError> {
        let method = request.method().to_string();
        let url = redact_url(&request.uri().to_string());
        let failed = {
            let (method, url) = (method.clone(), url.clone());
            move |reason| WebError { method, url, reason, n_attempts: 1 }
        };
        let client = self.clone();
        let sent = tokio::task::spawn_blocking(move || client.send_blocking(request)).await;
        // A panic on the other thread becomes an error of this request.
        let answered = sent.unwrap_or_else(|error| Err(SendFailure::transient(error.to_string())));
        answered.map_err(failed)
    }

    /// Sends a request once, and waits on this thread. Redirects are followed.
    pub(crate) fn send_blocking(
        &self,
        request: Request<Vec<u8>>,
    ) -> Result<HttpResponse, SendFailure> {
        let (mut head, content) = request.into_parts();
        let began = Instant::now();
        // The URLs without their secrets, in the order of the redirects.
        let mut targets: Vec<String> = Vec::new();
        for _ in 0..=self.redirects {
            let left = self.limit.map(|limit| limit.saturating_sub(began.elapsed()));
            let answered = self.send_to_server(&head, &content, left);
            let place = targets.last().map(String::as_str);
            let answer = answered.map_err(|failure| failure.at_redirect_target(place))?;
            // Where none is followed, the redirect itself is the answer.
            let follows = self.redirects != 0
                && follow_redirect(&mut head, &answer)
                    .map_err(|reason| SendFailure::permanent(reason).at_redirect_target(place))?;
            if !follows {
                return Ok(HttpResponse { redirected_to: targets.pop(), ..answer });
            }
            targets.push(redact_url(&head.uri.to_string()));
        }
        // The server would redirect each further attempt as well.
        Err(SendFailure::permanent(describe_redirect_loop(&targets)))
    }

    /// Sends a request to the server of its URL. `limit` is the time that is left for it, if it has a limit.
    fn send_to_server(
        &self,
        head: &Parts,
        content: &[u8],
        limit: Option<Duration>,
    ) -> Result<HttpResponse, SendFailure> {
        let uri = &head.uri;
        let (scheme, host) = (uri.scheme_str().unwrap_or("http"), uri.host().unwrap_or_default());
        let proxy = self.proxies.proxy_for(scheme, host, uri.port_u16());
        let proxy = proxy.map(parse_proxy).transpose();
        let proxy = proxy.map_err(|error| {
            SendFailure::permanent(format!("the proxy of the environment: {error}"))
        })?;
        let request = Request::from_parts(head.clone(), content);
        let request = self.agent.configure_request(request).proxy(proxy);
        let request = match limit {
            Some(limit) => request.timeout_global(Some(limit)),
            None => request,
        };
        let request = request.build();
        // Only a response to a read can be a state.
        let max = if request.method() == Method::GET { MAX_STATE_LEN } else { MAX_SMALL_FILE_LEN };
        let response = self.agent.run(request);
        let response =
            response.map_err(|error| SendFailure::transient(error_chain_text(&error)))?;
        let (parts, mut body) = response.into_parts();
        let mut text = Vec::new();
        // One byte more than is allowed, to distinguish a response that ends there from a longer
        // one.
        let read = body.as_reader().take(max + 1).read_to_end(&mut text);
        read.map_err(|error| {
            SendFailure::transient(format!("the response was truncated: {error}"))
        })?;
        if text.len() as u64 > max {
            let reason = format!("the response is longer than the limit of {max} bytes");
            return Err(SendFailure::transient(reason));
        }
        let (status, mut headers) = (parts.status, parts.headers);
        let text = match decode_content(&headers, text, max) {
            Ok(text) => text,
            Err(reason) if status.is_success() => return Err(SendFailure::transient(reason)),
            // The status of a refusal says more than its content.
            Err(_) => Vec::new(),
        };
        if headers.remove(header::CONTENT_ENCODING).is_some() {
            // The sum is that of the encoded content, and the encoding has a checksum of its own.
            headers.remove("content-md5");
        }
        let (body, refusal) = if status.is_client_error() || status.is_server_error() {
            let body = hide_credentials(head, content, text);
            let refusal = describe_refusal(content, &body);
            (body, refusal)
        } else {
            (text, String::new())
        };
        Ok(HttpResponse {
            status,
            headers,
            body,
            follows_unclear_attempt: false,
            refusal,
            redirected_to: None,
        })
    }
}

/// The authorization of the requests to a service: a signature or a token, which can expire between two
/// attempts.
#[async_trait::async_trait]
pub(crate) trait Authorize: Send + Sync {
    /// Adds the authorization to a request.
    ///
    /// # Errors
    /// Returns an error if there are no credentials, or if the request cannot be signed.
    async fn authorize(&self, request: Request<Vec<u8>>) -> Result<Request<Vec<u8>>, Cause>;

    /// Whether the response may differ after a pause.
    fn is_retryable_response(&self, answer: &HttpResponse) -> bool {
        is_retryable_status(answer.status)
    }
}

/// The settings of the HTTP client.
fn agent_config(patience: Duration) -> Config {
    Agent::config_builder()
        // Some error statuses are expected: 404 if no state exists yet, 423 if it is locked.
        .http_status_as_error(false)
        // The default lock methods of the backend `http` are LOCK and UNLOCK.
        .allow_non_standard_methods(true)
        // Redirects are followed here: the library does not send a content again.
        .max_redirects(0)
        .max_redirects_will_error(false)
        // A DELETE or GET may have a body for the servers that want one.
        .timeout_connect(Some(patience))
        .timeout_send_request(Some(patience))
        // This limit is for the whole content, and a long state takes time on a slow connection.
        .timeout_send_body(Some(patience * 10))
        .timeout_recv_response(Some(patience))
        .timeout_recv_body(Some(patience * 10))
        .user_agent(concat!("Formwork/", env!("CARGO_PKG_VERSION")))
        .build()
}

/// Whether a later attempt may have another result, as in Terraform's client.
pub(crate) fn is_retryable_status(status: StatusCode) -> bool {
    // 501 is final: repeating the request does not make a server support its method.
    status == StatusCode::TOO_MANY_REQUESTS
        || (status.is_server_error() && status != StatusCode::NOT_IMPLEMENTED)
}

/// Describes redirects without an end, with each address once.
fn describe_redirect_loop(targets: &[String]) -> String {
    let n_redirects = targets.len().saturating_sub(1);
    let last = targets.last().map(String::as_str).unwrap_or_default();
    let mut others: Vec<&str> = Vec::new();
    for target in targets {
        if target != last && !others.contains(&target.as_str()) {
            others.push(target);
        }
    }
    let others = match others.as_slice() {
        [] => String::new(),
        others => format!(", before that to {}", others.join(", ")),
    };
    format!("redirected more than {n_redirects} times, at last to {last}{others}")
}

/// The text of an error of JSON that may have a secret: the library quotes the value that it did not expect.
#[cfg(any(feature = "azurerm", feature = "consul", feature = "gcp", feature = "kubernetes"))]
pub(crate) fn json_error_text(error: &serde_json::Error) -> String {
    if error.is_data() {
        return format!("unexpected value at line {} column {}", error.line(), error.column());
    }
    error.to_string()
}

/// The reason of a failure with those behind it.
fn error_chain_text(error: &ureq::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        let more = error.to_string();
        // Some errors repeat the message of their source.
        if !text.contains(&more) {
            text.push_str(&format!(": {more}"));
        }
        source = error.source();
    }
    text
}

/// Returns a URL without its password and without the values of its query, which may be tokens.
pub(crate) fn redact_url(url: &str) -> String {
    // A fragment may be a token, and a query may contain `://` or `@` itself.
    let url = url.split('#').next().unwrap_or_default();
    let (url, query) = url.split_once('?').map_or((url, false), |(url, _)| (url, true));
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url.trim_start_matches('/')));
    let (authority, path) = match rest.split_once('/') {
        Some((authority, path)) => (authority, format!("/{path}")),
        None => (rest, String::new()),
    };
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let query = if query { "?..." } else { "" };
    if scheme.is_empty() {
        format!("{host}{path}{query}")
    } else {
        format!("{scheme}://{host}{path}{query}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scripted_server::{ScriptedReply, ScriptedServer};

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_is_reset_at_any_byte_is_asked_for_again() {
        let retries = RetryPolicy { most: 1, shortest: Duration::ZERO, longest: Duration::ZERO };
        let client = HttpClient::new(&TlsSettings::default(), retries, |_| None).unwrap();
        for (answer, n_spare) in [
            ("HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: 9\r\n\r\n{\"a\": 10}", 0),
            // Without the last line break the content is complete.
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n{\"a\"\r\n5\r\n: 10}\r\n0\r\n\r\n",
                2,
            ),
            ("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", 0),
        ] {
            for n in 0..answer.len() - n_spare {
                let reset = ScriptedReply::ResetAfter(answer.as_bytes()[..n].to_vec());
                let server = ScriptedServer::start([reset, ScriptedReply::new("200 OK", "again")]);
                let request = Request::put(&server.url).body(b"x".to_vec()).unwrap();
                let answered = client.send(&request).await.unwrap();
                assert_eq!(answered.body, b"again", "{n} bytes of {answer:?}");
                assert!(answered.follows_unclear_attempt);
                assert_eq!(server.request_lines().len(), 2);
            }
        }
    }

    /// A client whose requests for other machines go through a proxy of HTTP.
    fn client_with_proxy(proxy: &str) -> HttpClient {
        let retries = RetryPolicy { most: 0, shortest: Duration::ZERO, longest: Duration::ZERO };
        let variable = |name: &str| (name == "HTTP_PROXY").then(|| proxy.to_owned());
        HttpClient::new(&TlsSettings::default(), retries, variable).unwrap()
    }

    #[tokio::test]
    async fn a_proxy_forwards_plain_requests_without_a_tunnel() {
        let proxy = ScriptedServer::start([
            ScriptedReply::new("200 OK", "stored"),
            ScriptedReply::new("200 OK", "read"),
        ]);
        let client = client_with_proxy(&proxy.url.replace("://", "://me:se%3Acret@"));
        let url = "http://u:p@states.invalid:8080/a?b=c";
        let content = b"x".repeat(300_000);
        let answered = client.send(&Request::put(url).body(content.clone()).unwrap()).await;
        assert_eq!(answered.unwrap().body, b"stored");
        let answered = client.send(&Request::get(url).body(Vec::new()).unwrap()).await.unwrap();
        assert_eq!(answered.body, b"read");
        let asked = proxy.received_requests();
        assert_eq!(asked[0].body, content);
        for (asked, method) in asked.iter().zip(["PUT", "GET"]) {
            assert_eq!(asked.line, format!("{method} http://states.invalid:8080/a?b=c"));
            assert_eq!(asked.headers["host"], "states.invalid:8080");
            assert_eq!(asked.headers["proxy-authorization"], "Basic bWU6c2U6Y3JldA==");
            assert_eq!(asked.headers["authorization"], "Basic dTpw");
        }
    }

    #[tokio::test]
    async fn a_proxy_that_does_not_answer_is_named() {
        // A port that was free a moment ago.
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        for scheme in ["http", "socks5"] {
            let client = client_with_proxy(&format!("{scheme}://me:secret@127.0.0.1:{port}"));
            let request = Request::get("http://states.invalid/").body(Vec::new()).unwrap();
            let error = client.send(&request).await.unwrap_err().to_string();
            assert!(error.contains(&format!("through the proxy 127.0.0.1:{port}")), "{error}");
            assert!(!error.contains("secret"), "{error}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_redirect_without_an_end_is_reported_at_once_with_its_addresses() {
        let retries = RetryPolicy { most: 2, shortest: Duration::ZERO, longest: Duration::ZERO };
        let client = HttpClient::new(&TlsSettings::default(), retries, |_| None).unwrap();
        let lead = |to: &str| {
            ScriptedReply::new("307 Temporary Redirect", "").header(&format!("Location: {to}"))
        };
        let round: Vec<_> = (0..33).map(|n| lead(["/a?key=word", "/b"][n % 2])).collect();
        for (replies, n_asked, reason) in [
            (
                round,
                11,
                "redirected more than 10 times, at last to SERVER/a?..., before that to SERVER/b",
            ),
            (vec![lead("ftp://h/"); 3], 1, "redirected to \"ftp://h/\", which is not an HTTP URL"),
        ] {
            let server = ScriptedServer::start(replies);
            let request = Request::put(&server.url).body(b"x".to_vec()).unwrap();
            let error = client.send(&request).await.unwrap_err().to_string();
            assert!(error.ends_with(&reason.replace("SERVER", &server.url)), "{error}");
            assert_eq!(server.request_lines().len(), n_asked, "{error}");
        }
    }

    #[tokio::test]
    async fn a_refusal_shows_no_credential_of_its_request() {
        let retries = RetryPolicy { most: 0, shortest: Duration::ZERO, longest: Duration::ZERO };
        let client = HttpClient::new(&TlsSettings::default(), retries, |_| None).unwrap();
        let body = "no login root:hunter2 for administrators";
        let server = ScriptedServer::start([
            ScriptedReply::new("403 Forbidden", body),
            ScriptedReply::new("200 OK", body),
        ]);
        // `root:hunter2`
        let request = Request::get(&server.url).header("authorization", "Basic cm9vdDpodW50ZXIy");
        let request = request.body(Vec::new()).unwrap();
        let refused = client.send(&request).await.unwrap();
        assert_eq!(refused.refusal, "no login root:redacted for administrators");
        // A state is no message.
        assert_eq!(client.send(&request).await.unwrap().body, body.as_bytes());
    }

    #[test]
    fn an_error_of_json_quotes_no_value() {
        let error = serde_json::from_str::<bool>("\"hunter2\"").unwrap_err();
        assert_eq!(json_error_text(&error), "unexpected value at line 1 column 9");
        let error = serde_json::from_str::<bool>("[").unwrap_err();
        assert!(json_error_text(&error).contains("line 1 column"), "{error}");
    }

    #[test]
    fn addresses_in_messages_have_no_secrets() {
        let check = |url: &str| redact_url(url);
        assert_eq!(check("https://u:p@h:1/a/b?token=x"), "https://h:1/a/b?...");
        assert_eq!(check("http://h"), "http://h");
        assert_eq!(check("http://h/a@b"), "http://h/a@b");
    }
}
