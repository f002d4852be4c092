//! HTTP client. Every response has a maximum length, every request a timeout, and credentials are sent only
//! to their host.

mod decompressed_reader;
mod download;
mod steady_reader;
mod url;

use std::io::{self, Read};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use formwork_backend::tls::connector::http_agent_of_machine;
use formwork_core::version::LANGUAGE_VERSION;
use formwork_plugin_protocol::http_proxy::parse_proxy;
use formwork_plugin_protocol::proxy_env::ProxyEnv;
use serde::de::IgnoredAny;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc2822;
use ureq::config::Config;
use ureq::http::{Response, StatusCode, Uri, header};
use ureq::{Agent, Body, Proxy, Timeout};

use crate::{clock, redact};

use decompressed_reader::DecompressedReader;
use steady_reader::MinimumPace;
use url::escape_url;

pub(crate) use download::{Download, Header};
pub(crate) use url::{
    host_and_port, is_encrypted_or_local, origin, resolve_redirect, resolve_reference,
};

/// Reason why a request to a server failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HttpError {
    /// The proxy in the environment is invalid.
    #[error("{url}: the proxy in the environment is invalid: {reason}")]
    Proxy { url: String, reason: String },
    /// The server did not respond.
    #[error("{url}: {reason}")]
    Unreachable { url: String, reason: String },
    /// The response has an error status.
    #[error("{url}: bad response code: {status}")]
    Status { url: String, status: u16, retry_after: Option<Duration> },
    /// The redirect is not allowed.
    #[error("{url}: {reason}")]
    Redirect { url: String, reason: String },
    /// All attempts failed.
    #[error("the request failed after {attempts} attempts, please try again later: {last}")]
    AttemptsExhausted { attempts: u32, last: Box<Self> },
    /// The response is too long.
    #[error("{url}: the response is longer than the limit of {limit} bytes")]
    TooLong { url: String, limit: u64 },
    /// The response is malformed.
    #[error("{url}: {reason}")]
    Malformed { url: String, reason: String },
}

/// Maximum number of redirects of a request.
const MAX_REDIRECTS: usize = 10;
/// Maximum time until a connection is established, and until the response begins.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);
/// Maximum time without data from the server.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);
/// Maximum duration of a download.
pub(super) const DOWNLOAD_TIMEOUT: Duration = Duration::from_secs(30 * 60);

/// Retries and timeouts for a server that may be busy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RetryPolicy {
    /// Number of retries.
    pub(crate) retries: u32,
    /// Maximum duration of each request.
    pub(crate) timeout: Duration,
}

/// The Terraform version that is sent to servers.
static TERRAFORM_VERSION: LazyLock<String> = LazyLock::new(|| LANGUAGE_VERSION.to_string());

/// Maximum pause before a retry.
const MAX_RETRY_PAUSE: Duration = Duration::from_secs(30);

/// An HTTP client.
pub(crate) struct Client {
    agent: Agent,
    /// Maximum duration of a request for a document.
    document: Duration,
    /// The minimum transfer rate of a download.
    pace: MinimumPace,
    proxies: ProxyEnv,
    /// Waits before a retry.
    pause: fn(Duration),
}

/// A response of a server.
pub(crate) struct HttpResponse {
    /// The URL after all redirects.
    pub(crate) url: String,
    response: Response<Body>,
}

impl Client {
    /// Creates a client with the trusted certificates of the system and the given proxies.
    pub(crate) fn new(proxies: ProxyEnv, pause: fn(Duration)) -> Self {
        let agent = build_agent(IDLE_TIMEOUT);
        Self { agent, document: CONNECT_TIMEOUT, pace: MinimumPace::SLOWEST, proxies, pause }
    }

    /// Requests a URL. `auth` is the `Authorization` header, which is not sent to another host after a
    /// redirect.
    ///
    /// # Errors
    /// The server does not respond, or the response has an error status.
    pub(crate) fn get(&self, url: &str, auth: Option<&str>) -> Result<HttpResponse, HttpError> {
        self.request_with_headers(url, auth, &accept_compressed_header(), self.document)
    }

    /// As [`Client::get`], with retries if the server cannot be reached, is busy or fails.
    ///
    /// # Errors
    /// The last attempt got no response, or a response with an error status.
    pub(crate) fn get_with_retries(
        &self,
        url: &str,
        auth: Option<&str>,
        retry_policy: RetryPolicy,
    ) -> Result<HttpResponse, HttpError> {
        self.send_with_retries(retry_policy, || {
            self.request_with_headers(url, auth, &accept_compressed_header(), retry_policy.timeout)
        })
    }

    /// As [`Client::get_with_retries`], with additional headers. A response with an error status is returned
    /// too, because it may contain an authentication challenge.
    ///
    /// # Errors
    /// The server does not respond, is busy or fails, after all retries.
    pub(crate) fn request_with_headers_and_retries(
        &self,
        url: &str,
        auth: Option<&str>,
        headers: &[Header],
        retry_policy: RetryPolicy,
    ) -> Result<HttpResponse, HttpError> {
        self.send_with_retries(retry_policy, || {
            let answer = self.request_any_status(url, auth, headers, retry_policy.timeout)?;
            match answer.status_error(url) {
                Some(error) if error.may_succeed_later() => Err(error),
                _ => Ok(answer),
            }
        })
    }

    fn send_with_retries(
        &self,
        retry_policy: RetryPolicy,
        ask: impl Fn() -> Result<HttpResponse, HttpError>,
    ) -> Result<HttpResponse, HttpError> {
        let mut attempts = 1;
        loop {
            match ask() {
                Err(error) if error.may_succeed_later() && attempts <= retry_policy.retries => {
                    self.pause_before_retry(&error, error.retry_pause(attempts));
                    attempts += 1;
                }
                Err(error) if error.may_succeed_later() => {
                    return Err(HttpError::AttemptsExhausted { attempts, last: Box::new(error) });
                }
                answered => return answered,
            }
        }
    }

    fn pause_before_retry(&self, error: &HttpError, pause: Duration) {
        tracing::warn!(%error, pause = pause.as_secs_f32(), "trying again");
        (self.pause)(pause);
    }

    /// Sends a request with additional headers, and follows redirects.
    fn request_with_headers(
        &self,
        url: &str,
        auth: Option<&str>,
        headers: &[Header],
        limit: Duration,
    ) -> Result<HttpResponse, HttpError> {
        let answer = self.request_any_status(url, auth, headers, limit)?;
        answer.status_error(url).map_or(Ok(answer), Err)
    }

    /// As [`Client::request_with_headers`], but returns a response with any status.
    fn request_any_status(
        &self,
        url: &str,
        auth: Option<&str>,
        headers: &[Header],
        limit: Duration,
    ) -> Result<HttpResponse, HttpError> {
        let mut current_url = url.to_owned();
        let end = Instant::now() + limit;
        for _ in 0..=MAX_REDIRECTS {
            let proxy = self.proxy_for_url(&current_url).map_err(|error| HttpError::Proxy {
                url: redact::redact_address(&current_url),
                reason: error.to_string(),
            })?;
            // The limit includes redirects and the content, so a slow server does not extend it.
            let remaining =
                end.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
            let settings = self.agent.get(&*escape_url(&current_url)).config().proxy(proxy);
            let request = settings.timeout_global(Some(remaining)).build();
            let mut request = request.header("X-Terraform-Version", TERRAFORM_VERSION.as_str());
            for (name, value) in headers {
                request = request.header(name, &**value);
            }
            if let Some(auth) = auth.filter(|_| origin(&current_url) == origin(url)) {
                request = request.header(header::AUTHORIZATION, auth);
            }
            let response = request
                .call()
                .map_err(|error| HttpError::from_request_error(&current_url, &error))?;
            let status = response.status();
            let next = response.headers().get(header::LOCATION);
            let next = next.and_then(|to| std::str::from_utf8(to.as_bytes()).ok());
            match next.filter(|next| is_redirect(status) && !next.is_empty()) {
                Some(next) => current_url = resolve_redirect(&current_url, next)?,
                None => return Ok(HttpResponse { url: current_url, response }),
            }
        }
        let reason = format!("redirected more than {MAX_REDIRECTS} times");
        Err(HttpError::Redirect { url: redact::redact_address(url), reason })
    }

    /// Sends a form. Redirects are not followed, because the form is only for this URL.
    ///
    /// # Errors
    /// The server does not respond, or the response has an error status.
    pub(crate) fn post_form(&self, url: &str, form: &str) -> Result<HttpResponse, HttpError> {
        let proxy = self.proxy_for_url(url).map_err(|error| HttpError::Proxy {
            url: redact::redact_address(url),
            reason: error.to_string(),
        })?;
        let request = self.agent.post(url).config().proxy(proxy);
        let request = request.timeout_global(Some(self.document)).build();
        let sent = request
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
            .header(header::ACCEPT, "application/json")
            .send(form);
        let response = sent.map_err(|error| HttpError::from_request_error(url, &error))?;
        let answer = HttpResponse { url: url.to_owned(), response };
        answer.status_error(url).map_or(Ok(answer), Err)
    }

    /// Returns the proxy for a URL.
    fn proxy_for_url(&self, url: &str) -> Result<Option<Proxy>, ureq::Error> {
        let Ok(url) = url.parse::<Uri>() else { return Ok(None) };
        let (Some(scheme), Some(host)) = (url.scheme_str(), url.host()) else { return Ok(None) };
        let Some(proxy_url) = self.proxies.proxy_for(scheme, host, url.port_u16()) else {
            return Ok(None);
        };
        parse_proxy(proxy_url).map(Some)
    }
}

/// Creates a client with the trusted certificates of the system. `idle` is the maximum time without data from
/// the server.
fn build_agent(idle: Duration) -> Agent {
    let config = Config::builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .timeout_connect(Some(CONNECT_TIMEOUT))
        .timeout_recv_response(Some(CONNECT_TIMEOUT))
        .timeout_recv_body(Some(DOWNLOAD_TIMEOUT))
        .timeout_per_read(Some(idle))
        .timeout_per_write(Some(idle))
        .user_agent(concat!("Formwork/", env!("CARGO_PKG_VERSION")))
        .build();
    http_agent_of_machine(config)
}

/// Whether an error is a connection error, which may be temporary.
fn is_connection_error(error: &ureq::Error) -> bool {
    use ureq::Error as Is;
    !matches!(error, Is::BadUri(_) | Is::Http(_) | Is::Protocol(_) | Is::InvalidProxyUrl)
}

/// Describes an error of a request: a timeout by the step that took too long.
fn describe_error(error: &ureq::Error) -> String {
    let seconds = IDLE_TIMEOUT.as_secs();
    match error {
        ureq::Error::Timeout(Timeout::PerRead | Timeout::PerWrite) => {
            format!("timeout: no data was transferred for {seconds} seconds")
        }
        ureq::Error::Timeout(Timeout::Connect | Timeout::Resolve) => {
            format!("timeout: no connection within {} seconds", CONNECT_TIMEOUT.as_secs())
        }
        ureq::Error::Timeout(Timeout::RecvResponse) => {
            format!("timeout: no response within {} seconds", CONNECT_TIMEOUT.as_secs())
        }
        ureq::Error::Timeout(_) => "timeout: the response was not complete in time".to_owned(),
        error => redact::redact_text(&error.to_string()).into_owned(),
    }
}

/// As [`describe_error`], for an error while reading content.
fn describe_read_error(error: &io::Error) -> String {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<ureq::Error>());
    inner.map_or_else(|| redact::redact_text(&error.to_string()).into_owned(), describe_error)
}

impl HttpError {
    /// Creates the error for a request without a response.
    fn from_request_error(url: &str, error: &ureq::Error) -> Self {
        let (url, reason) = (redact::redact_address(url), describe_error(error));
        match is_connection_error(error) {
            true => Self::Unreachable { url, reason },
            false => Self::Malformed { url, reason },
        }
    }

    /// Whether a retry may succeed.
    fn may_succeed_later(&self) -> bool {
        match self {
            Self::Unreachable { .. } => true,
            // `501 Not Implemented` is permanent.
            Self::Status { status, .. } => *status == 429 || (*status >= 500 && *status != 501),
            _ => false,
        }
    }

    /// The pause before the next attempt: the one that the server requests, or an increasing one.
    fn retry_pause(&self, attempts: u32) -> Duration {
        match self {
            Self::Status { retry_after: Some(requested), .. } => (*requested).min(MAX_RETRY_PAUSE),
            _ => retry_pause(attempts),
        }
    }

    /// Returns the error status, if the server sent one.
    pub(crate) fn status(&self) -> Option<u16> {
        match self {
            Self::Status { status, .. } => Some(*status),
            Self::AttemptsExhausted { last, .. } => last.status(),
            _ => None,
        }
    }

    /// Whether the server requires credentials, or rejected the given ones.
    pub(crate) fn is_about_credentials(&self) -> bool {
        matches!(self, Self::Status { status: 401 | 403, .. })
    }
}

/// Returns the pause after an attempt, counted from 1. It doubles with each attempt.
fn retry_pause(attempt: u32) -> Duration {
    let seconds = 1_u64.checked_shl(attempt - 1).unwrap_or(u64::MAX);
    Duration::from_secs(seconds).min(MAX_RETRY_PAUSE)
}

/// Documents may be compressed for transfer. Packages are already compressed.
fn accept_compressed_header() -> [Header; 1] {
    [(header::ACCEPT_ENCODING, "gzip".into())]
}

/// Whether a response with this status is a redirect. Other responses may also contain a `Location` header.
fn is_redirect(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
}

/// Parses the `Retry-After` header: a number of seconds, or a date.
fn parse_retry_after(value: &str) -> Option<Duration> {
    if let Ok(seconds) = value.trim().parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = OffsetDateTime::parse(value.trim(), &Rfc2822).ok()?;
    Some((date - clock::current_time()).try_into().unwrap_or_default())
}

impl HttpResponse {
    /// The status.
    pub(crate) fn status(&self) -> u16 {
        self.response.status().as_u16()
    }

    /// Returns the error for a response with an error status. `url` is the requested URL.
    pub(crate) fn status_error(&self, url: &str) -> Option<HttpError> {
        let status_error = || HttpError::Status {
            url: redact::redact_address(url),
            status: self.status(),
            retry_after: self
                .header(header::RETRY_AFTER.as_str())
                .and_then(|it| parse_retry_after(&it)),
        };
        (!self.response.status().is_success()).then(status_error)
    }

    /// Whether the content is compressed only for transfer. Some servers also set the header for compressed
    /// archives, which are recognized by the name.
    fn is_compressed(&self) -> bool {
        let encoding = self.header(header::CONTENT_ENCODING.as_str()).unwrap_or_default();
        let path = self.url.split(['?', '#']).next().unwrap_or_default();
        encoding.eq_ignore_ascii_case("gzip") && !path.ends_with("gz")
    }

    /// Returns the content as a stream.
    fn into_reader(self) -> Box<dyn Read> {
        let is_compressed = self.is_compressed();
        let content = self.response.into_body().into_reader();
        match is_compressed {
            true => Box::new(DecompressedReader::new(content)),
            false => Box::new(content),
        }
    }

    /// Returns the length that the server announces.
    pub(crate) fn announced_length(&self) -> Option<u64> {
        if self.is_compressed() {
            return None;
        }
        self.header(header::CONTENT_LENGTH.as_str())?.parse().ok()
    }

    /// Returns the value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<String> {
        self.response.headers().get(name)?.to_str().ok().map(str::to_owned)
    }

    /// Returns the values of a header that may be repeated, separated by commas.
    pub(crate) fn joined_headers(&self, name: &str) -> String {
        let values = self.response.headers().get_all(name).iter();
        values.filter_map(|value| value.to_str().ok()).collect::<Vec<_>>().join(", ")
    }

    /// Reads the content as a string.
    ///
    /// # Errors
    /// The content is longer than the limit, incomplete, or not valid UTF-8.
    pub(crate) fn read_text(self, limit: u64) -> Result<String, HttpError> {
        let url = redact::redact_address(&self.url);
        decode_text(url, self.read_bytes(limit)?)
    }

    /// Reads the content as bytes.
    ///
    /// # Errors
    /// The content is longer than the limit, or incomplete.
    pub(crate) fn read_bytes(self, limit: u64) -> Result<Vec<u8>, HttpError> {
        let (bytes, end) = self.read_partially(limit);
        end.map(|()| bytes)
    }

    /// Reads the JSON object at the start of the content. Servers often close the connection early or
    /// announce a wrong length, so a complete object is accepted in any case.
    ///
    /// # Errors
    /// The content is longer than the limit, ends within the object, or is not valid UTF-8.
    pub(crate) fn read_json_object_text(self, limit: u64) -> Result<String, HttpError> {
        let url = redact::redact_address(&self.url);
        let (mut bytes, end) = self.read_partially(limit);
        let mut values = serde_json::Deserializer::from_slice(&bytes).into_iter::<IgnoredAny>();
        if bytes.trim_ascii_start().starts_with(b"{") && matches!(values.next(), Some(Ok(_))) {
            let length = values.byte_offset();
            bytes.truncate(length);
        } else {
            end?;
        }
        decode_text(url, bytes)
    }

    /// Reads the content, and returns an error in addition to the bytes if the content is incomplete.
    fn read_partially(self, limit: u64) -> (Vec<u8>, Result<(), HttpError>) {
        let url = redact::redact_address(&self.url);
        let mut bytes = Vec::new();
        let end = match self.into_reader().take(limit + 1).read_to_end(&mut bytes) {
            Ok(length) if length as u64 > limit => Err(HttpError::TooLong { url, limit }),
            Ok(_) => Ok(()),
            Err(error) => Err(HttpError::Malformed { url, reason: describe_read_error(&error) }),
        };
        (bytes, end)
    }
}

fn decode_text(url: String, bytes: Vec<u8>) -> Result<String, HttpError> {
    String::from_utf8(bytes).map_err(|error| {
        let reason = format!("the response is not UTF-8: {}", error.utf8_error());
        HttpError::Malformed { url, reason }
    })
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn a_complete_object_is_read_without_the_data_after_it() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("the socket is open"));
        let bodies = ["{\"a\": {}}", " {\"a\": 1} behind", "{\"a\": ", "[1]", "12"];
        let server = std::thread::spawn(move || {
            for (body, stream) in bodies.into_iter().zip(listener.incoming()) {
                let mut stream = BufReader::new(stream.expect("a client"));
                let lines = stream.by_ref().lines().map_while(Result::ok);
                lines.take_while(|line| !line.is_empty()).for_each(drop);
                let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{body}");
                stream.get_mut().write_all(answer.as_bytes()).expect("the socket is open");
            }
        });
        let client = Client::new(ProxyEnv::read(|_| None), |_| ());
        let read = || client.get(&url, None).expect("an answer").read_json_object_text(1 << 10);
        assert_eq!(read().expect("an object"), "{\"a\": {}}");
        assert_eq!(read().expect("an object"), " {\"a\": 1}");
        assert!((0..3).all(|_| read().is_err()));
        server.join().expect("every request arrived");
    }

    #[test]
    fn pauses_grow_up_to_a_limit() {
        let seconds = [1, 2, 3, 5, 6, 40, 70].map(|attempt| retry_pause(attempt).as_secs());
        assert_eq!(seconds, [1, 2, 4, 16, 30, 30, 30]);
    }

    #[test]
    fn the_pause_that_a_server_requests_is_respected() {
        let pause = |value: &str| {
            let retry_after = parse_retry_after(value);
            HttpError::Status { url: String::new(), status: 429, retry_after }
                .retry_pause(2)
                .as_secs()
        };
        let date = |seconds: i64| {
            let date = clock::current_time() + time::Duration::seconds(seconds);
            date.format(&Rfc2822).unwrap().replace("+0000", "GMT")
        };
        assert_eq!([pause("5"), pause("0"), pause("86400")], [5, 0, 30]);
        assert!((8..=10).contains(&pause(&date(10))), "{}", date(10));
        assert_eq!([pause(&date(-10)), pause(&date(4000))], [0, 30]);
        // The pause for the second attempt.
        assert_eq!([pause("soon"), pause("-1"), pause("")], [2, 2, 2]);
    }

    #[test]
    fn only_temporary_errors_are_retried() {
        let status = |status| HttpError::Status { url: String::new(), status, retry_after: None };
        for (code, is_retried) in
            [(400, false), (404, false), (429, true), (500, true), (501, false), (503, true)]
        {
            assert_eq!(status(code).may_succeed_later(), is_retried, "{code}");
        }
    }

    #[test]
    fn a_proxy_is_not_used_for_local_addresses() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("the socket is open");
        let server = std::thread::spawn(move || {
            // The proxy gets the whole URL, and makes no tunnel: many refuse tunnels to this port.
            let lines = ["GET http://there.invalid/a HTTP/1.1", "GET /here HTTP/1.1"];
            for (request_line, stream) in lines.into_iter().zip(listener.incoming()) {
                let mut stream = BufReader::new(stream.expect("a client"));
                let mut line = String::new();
                stream.read_line(&mut line).expect("a request");
                assert_eq!(line.trim_end(), request_line);
                let answer = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n";
                stream.get_mut().write_all(answer).expect("the socket is open");
            }
        });
        let proxies =
            ProxyEnv::read(|name| (name == "HTTP_PROXY").then(|| format!("http://{address}")));
        let client = Client::new(proxies, |_| ());
        for url in ["http://there.invalid/a".to_owned(), format!("http://{address}/here")] {
            assert!(client.get(&url, None).is_err());
        }
        server.join().expect("both requests arrived");
        let broken = Client::new(ProxyEnv::read(|_| Some("gopher://h".to_owned())), |_| ());
        let error = broken
            .get("https://there.invalid", None)
            .err()
            .expect("the host is unreachable")
            .to_string();
        assert!(error.contains("the proxy in the environment is invalid"), "{error}");
    }

    #[test]
    fn single_bytes_do_not_extend_the_timeout() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("the socket is open"));
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a client");
            let head = b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n";
            let mut sent = stream.write_all(head);
            while sent.is_ok() {
                std::thread::park_timeout(Duration::from_millis(5));
                sent = stream.write_all(b" ");
            }
        });
        let client = Client::new(ProxyEnv::read(|_| None), |_| ());
        let client = Client { document: Duration::from_millis(200), ..client };
        let read = client.get(&url, None).and_then(|answer| answer.read_text(1 << 20));
        assert!(read.unwrap_err().to_string().contains("timeout"));
        server.join().expect("the client has disconnected");
    }
}
