//! Asks servers over HTTP. Every answer has a limit, every wait an end, and a secret goes only to the
//! host it belongs to.

mod download;

use std::io::Read as _;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use formwork_core::version::LANGUAGE_VERSION;
use formwork_plugin_protocol::proxy_env::Proxies;
use ureq::config::Config;
use ureq::http::{Response, Uri, header};
use ureq::tls::{RootCerts, TlsConfig};
use ureq::{Agent, Body, Proxy, ProxyProtocol};

use crate::redact;

pub(crate) use download::{Download, Header};

/// Reasons why a request to a server fails.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HttpError {
    /// The environment names a proxy that is none.
    #[error("{url}: the environment names no proxy: {reason}")]
    Proxy { url: String, reason: String },
    /// No answer came.
    #[error("{url}: {reason}")]
    Unreachable { url: String, reason: String },
    /// It is a refusal.
    #[error("{url}: bad response code: {status}")]
    Status { url: String, status: u16 },
    /// It leads where we do not follow.
    #[error("{url}: {reason}")]
    Redirect { url: String, reason: String },
    /// No good answer came, however often it was asked.
    #[error("the request failed after {attempts} attempts, please try again later: {last}")]
    Tired { attempts: u32, last: Box<Self> },
    /// It is too long.
    #[error("{url}: the answer is longer than the limit of {limit} bytes")]
    TooLong { url: String, limit: u64 },
    /// It is malformed.
    #[error("{url}: {reason}")]
    Malformed { url: String, reason: String },
}

/// Maximum number of redirects of a request.
const MAX_REDIRECTS: usize = 10;
/// Maximum time until a server is connected, and until it begins to answer.
const PATIENCE: Duration = Duration::from_secs(30);
/// Maximum time of a download.
pub(super) const DOWNLOAD: Duration = Duration::from_secs(30 * 60);

/// Retries and timeouts for a server that may be busy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RetryPolicy {
    /// Number of retries.
    pub(crate) retries: u32,
    /// Maximum time of each answer.
    pub(crate) each: Duration,
}

/// The version of Terraform that servers are to take this program for.
static LANGUAGE: LazyLock<String> = LazyLock::new(|| LANGUAGE_VERSION.to_string());

/// The longest pause before a server is asked again.
const MAX_PAUSE: Duration = Duration::from_secs(30);

/// Asks servers.
pub(crate) struct Client {
    agent: Agent,
    /// The time that a document may take in all.
    document: Duration,
    proxies: Proxies,
    /// Waits before a server is asked again.
    pause: fn(Duration),
}

/// An answer of a server.
pub(crate) struct HttpResponse {
    /// Its final URL.
    pub(crate) url: String,
    response: Response<Body>,
}

impl Client {
    /// Makes a client with the trusted certificates and the proxies of this machine.
    pub(crate) fn new(proxies: Proxies, pause: fn(Duration)) -> Self {
        let tls = TlsConfig::builder()
            .root_certs(RootCerts::PlatformVerifier)
            .unversioned_rustls_crypto_provider(formwork_plugin_protocol::cryptography())
            .build();
        let config = Config::builder()
            .tls_config(tls)
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_connect(Some(PATIENCE))
            .timeout_recv_response(Some(PATIENCE))
            .timeout_recv_body(Some(DOWNLOAD))
            .user_agent(concat!("Formwork/", env!("CARGO_PKG_VERSION")))
            .build();
        Self { agent: config.new_agent(), document: PATIENCE, proxies, pause }
    }

    /// Gets the content of a URL; credentials are sent along, but not to another host.
    ///
    /// # Errors
    /// When there is no answer, or not a good one.
    pub(crate) fn get(&self, url: &str, asking: Option<&str>) -> Result<HttpResponse, HttpError> {
        self.ask(url, asking, self.document)
    }

    /// As [`Client::get`], and again after a pause if a server cannot be reached, is busy or fails.
    ///
    /// # Errors
    /// When there is no answer, or not a good one, after all.
    pub(crate) fn get_patiently(
        &self,
        url: &str,
        asking: Option<&str>,
        patience: RetryPolicy,
    ) -> Result<HttpResponse, HttpError> {
        self.patiently(patience, || self.ask(url, asking, patience.each))
    }

    /// As [`Client::get_patiently`], with further headers. An answer that refuses is returned too: it may
    /// say what the server requires.
    ///
    /// # Errors
    /// When there is no answer after all, or the server is busy or fails.
    pub(crate) fn exchange_patiently(
        &self,
        url: &str,
        asking: Option<&str>,
        headers: &[Header],
        patience: RetryPolicy,
    ) -> Result<HttpResponse, HttpError> {
        self.patiently(patience, || {
            let answer = self.exchange(url, asking, headers, patience.each)?;
            match answer.refusal(url) {
                Some(error) if error.may_pass() => Err(error),
                _ => Ok(answer),
            }
        })
    }

    fn patiently(
        &self,
        patience: RetryPolicy,
        ask: impl Fn() -> Result<HttpResponse, HttpError>,
    ) -> Result<HttpResponse, HttpError> {
        let mut attempts = 1;
        loop {
            match ask() {
                Err(error) if error.may_pass() && attempts <= patience.retries => {
                    (self.pause)(pause_behind(attempts));
                    attempts += 1;
                }
                Err(error) if error.may_pass() => {
                    return Err(HttpError::Tired { attempts, last: Box::new(error) });
                }
                answered => return answered,
            }
        }
    }

    /// Asks a server, with further headers. A redirection is followed.
    fn ask_with(
        &self,
        url: &str,
        asking: Option<&str>,
        headers: &[Header],
        limit: Duration,
    ) -> Result<HttpResponse, HttpError> {
        let answer = self.exchange(url, asking, headers, limit)?;
        answer.refusal(url).map_or(Ok(answer), Err)
    }

    /// As [`Client::ask_with`]; returns the answer with any status.
    fn exchange(
        &self,
        url: &str,
        asking: Option<&str>,
        headers: &[Header],
        limit: Duration,
    ) -> Result<HttpResponse, HttpError> {
        let mut at = url.to_owned();
        let end = Instant::now() + limit;
        for _ in 0..=MAX_REDIRECTS {
            let proxy = self.proxy(&at).map_err(|error| HttpError::Proxy {
                url: redact::address(&at),
                reason: error.to_string(),
            })?;
            // Redirects and content count: a server that sends a byte now and then gains no time.
            let left = end.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
            let settings = self.agent.get(&at).config().proxy(proxy);
            let request = settings.timeout_global(Some(left)).build();
            let mut request = request.header("X-Terraform-Version", LANGUAGE.as_str());
            for (name, value) in headers {
                request = request.header(name, value);
            }
            if let Some(asking) = asking.filter(|_| origin(&at) == origin(url)) {
                request = request.header(header::AUTHORIZATION, asking);
            }
            let response = request.call().map_err(|error| HttpError::Unreachable {
                url: redact::address(&at),
                reason: redact::text(&error.to_string()).into_owned(),
            })?;
            let status = response.status();
            let next = response.headers().get(header::LOCATION).and_then(|to| to.to_str().ok());
            match next.filter(|_| status.is_redirection()) {
                Some(next) => at = follow(&at, next)?,
                None => return Ok(HttpResponse { url: at, response }),
            }
        }
        let reason = format!("redirected more than {MAX_REDIRECTS} times");
        Err(HttpError::Redirect { url: redact::address(url), reason })
    }

    /// Sends a form. A redirection is not followed: the form is for this address alone.
    ///
    /// # Errors
    /// When there is no answer, or not a good one.
    pub(crate) fn post_form(&self, url: &str, form: &str) -> Result<HttpResponse, HttpError> {
        let proxy = self.proxy(url).map_err(|error| HttpError::Proxy {
            url: redact::address(url),
            reason: error.to_string(),
        })?;
        let request = self.agent.post(url).config().proxy(proxy);
        let request = request.timeout_global(Some(self.document)).build();
        let sent = request
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
            .header(header::ACCEPT, "application/json")
            .send(form);
        let response = sent.map_err(|error| HttpError::Unreachable {
            url: redact::address(url),
            reason: redact::text(&error.to_string()).into_owned(),
        })?;
        let status = response.status();
        if status.is_success() {
            return Ok(HttpResponse { url: url.to_owned(), response });
        }
        Err(HttpError::Status { url: redact::address(url), status: status.as_u16() })
    }

    /// The proxy for a URL.
    fn proxy(&self, url: &str) -> Result<Option<Proxy>, ureq::Error> {
        let Ok(url) = url.parse::<Uri>() else { return Ok(None) };
        let (Some(scheme), Some(host)) = (url.scheme_str(), url.host()) else { return Ok(None) };
        let Some(named) = self.proxies.toward(scheme, host, url.port_u16()) else {
            return Ok(None);
        };
        let named = Proxy::new(named)?;
        let mut proxy = Proxy::builder(named.protocol()).host(named.host()).port(named.port());
        if let Some(name) = named.username() {
            proxy = proxy.username(name);
        }
        if let Some(word) = named.password() {
            proxy = proxy.password(word);
        }
        if named.protocol() == ProxyProtocol::Socks5 {
            // Names mean to the proxy what they mean there.
            proxy = proxy.resolve_target(false);
        }
        proxy.build().map(Some)
    }
}

impl HttpError {
    /// Whether it may be otherwise in a moment.
    fn may_pass(&self) -> bool {
        match self {
            Self::Unreachable { .. } => true,
            // A server that cannot do something will not learn it.
            Self::Status { status, .. } => *status == 429 || (*status >= 500 && *status != 501),
            _ => false,
        }
    }

    /// The status of a refusal.
    pub(crate) fn status(&self) -> Option<u16> {
        match self {
            Self::Status { status, .. } => Some(*status),
            Self::Tired { last, .. } => last.status(),
            _ => None,
        }
    }

    /// Whether a server requires credentials, or refuses the given ones.
    pub(crate) fn is_about_asking(&self) -> bool {
        matches!(self, Self::Status { status: 401 | 403, .. })
    }
}

/// Pause behind an attempt, counted from 1: twice as long each time.
fn pause_behind(attempt: u32) -> Duration {
    let seconds = 1_u64.checked_shl(attempt - 1).unwrap_or(u64::MAX);
    Duration::from_secs(seconds).min(MAX_PAUSE)
}

impl HttpResponse {
    /// The status.
    pub(crate) fn status(&self) -> u16 {
        self.response.status().as_u16()
    }

    /// The error of an answer without a good status. `url` is the address that was asked.
    pub(crate) fn refusal(&self, url: &str) -> Option<HttpError> {
        let refused = || HttpError::Status { url: redact::address(url), status: self.status() };
        (!self.response.status().is_success()).then(refused)
    }

    /// The length that the server announces.
    pub(crate) fn length(&self) -> Option<u64> {
        self.header(header::CONTENT_LENGTH.as_str())?.parse().ok()
    }

    /// A header's value.
    pub(crate) fn header(&self, name: &str) -> Option<String> {
        self.response.headers().get(name)?.to_str().ok().map(str::to_owned)
    }

    /// The values of a header that may be there several times, with commas between them.
    pub(crate) fn joined_headers(&self, name: &str) -> String {
        let values = self.response.headers().get_all(name).iter();
        values.filter_map(|value| value.to_str().ok()).collect::<Vec<_>>().join(", ")
    }

    /// The text of the answer.
    ///
    /// # Errors
    /// When it is longer than the limit, breaks off, or is not a string.
    pub(crate) fn read_text(self, limit: u64) -> Result<String, HttpError> {
        let url = redact::address(&self.url);
        let malformed = |error| HttpError::Malformed {
            url,
            reason: format!("the answer is not UTF-8: {error}"),
        };
        String::from_utf8(self.bytes(limit)?).map_err(|error| malformed(error.utf8_error()))
    }

    /// The bytes of the answer.
    ///
    /// # Errors
    /// When it is longer than the limit or breaks off.
    pub(crate) fn bytes(self, limit: u64) -> Result<Vec<u8>, HttpError> {
        let url = redact::address(&self.url);
        let mut bytes = Vec::new();
        let mut body = self.response.into_body();
        let read = body.as_reader().take(limit + 1).read_to_end(&mut bytes);
        match read {
            Ok(length) if length as u64 > limit => Err(HttpError::TooLong { url, limit }),
            Ok(_) => Ok(bytes),
            Err(error) => Err(HttpError::Malformed { url, reason: error.to_string() }),
        }
    }
}

/// Whether only the server can read what is sent to a URL: it is encrypted, or stays on this machine.
pub(crate) fn is_private(url: &str) -> bool {
    let origin = origin(url);
    let Some((scheme, host)) = origin.split_once("://") else { return false };
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    let name = match host.strip_prefix('[') {
        Some(address) => address.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    let address = name.parse::<std::net::IpAddr>();
    scheme == "https" || name == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

/// Host and port of a URL in lower case, behind the name of a user if there is one.
pub(crate) fn host(url: &str) -> String {
    let origin = origin(url);
    origin.split_once("://").map_or(origin.as_str(), |(_, host)| host).to_owned()
}

/// Scheme, host and port of a URL, in lower case.
pub(super) fn origin(url: &str) -> String {
    let start = url.find("://").map_or(0, |at| at + 3);
    let end = url[start..].find(['/', '?', '#']).map_or(url.len(), |at| start + at);
    url[..end].to_ascii_lowercase()
}

/// Target of a redirect.
///
/// # Errors
/// When the target is not as private, or is not HTTP.
pub(crate) fn follow(from: &str, to: &str) -> Result<String, HttpError> {
    let next = resolve(from, to);
    let scheme = |url: &str| url.split(':').next().unwrap_or_default().to_ascii_lowercase();
    let refused = |reason: &str| HttpError::Redirect {
        url: redact::address(from),
        reason: format!("{reason}: {}", redact::address(&next)),
    };
    match (scheme(from).as_str(), scheme(&next).as_str()) {
        (_, "https") | ("http", "http") => Ok(next),
        (_, "http") => Err(refused("redirected from https to a URL that anybody could read")),
        _ => Err(refused("redirected to something that is not http")),
    }
}

/// Resolves a reference in an answer from `base`.
pub(crate) fn resolve(base: &str, reference: &str) -> String {
    if reference.split(['/', '?', '#']).next().is_some_and(|first| first.contains(':')) {
        return reference.to_owned();
    }
    let origin_end = origin(base).len();
    if let Some(rest) = reference.strip_prefix("//") {
        let scheme = base.split(':').next().unwrap_or("https");
        return format!("{scheme}://{rest}");
    }
    if reference.starts_with('/') {
        return format!("{}{reference}", &base[..origin_end]);
    }
    let path = base[origin_end..].split(['?', '#']).next().unwrap_or_default();
    let mut parts: Vec<&str> = path.split('/').skip(1).collect();
    parts.pop();
    for part in reference.split('/') {
        match part {
            "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    format!("{}/{}", &base[..origin_end], parts.join("/"))
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn references_are_resolved_against_where_they_stand() {
        let table = [
            ("https://h/a/b", "c", "https://h/a/c"),
            ("https://h/a/b/", "./c", "https://h/a/b/c"),
            ("https://h/a/b?x=/y", "../c?z", "https://h/c?z"),
            ("https://h/a/b", "/c", "https://h/c"),
            ("https://h", "c", "https://h/c"),
            ("https://h:1/a", "//g/c", "https://g/c"),
            ("https://h/a", "http://g/c", "http://g/c"),
            ("https://h/a", "../../../c", "https://h/c"),
        ];
        for (base, reference, expected) in table {
            assert_eq!(resolve(base, reference), expected, "{base} {reference}");
        }
    }

    #[test]
    fn pauses_grow_up_to_a_limit() {
        let seconds = [1, 2, 3, 5, 6, 40, 70].map(|attempt| pause_behind(attempt).as_secs());
        assert_eq!(seconds, [1, 2, 4, 16, 30, 30, 30]);
    }

    #[test]
    fn only_what_may_pass_is_tried_again() {
        let status = |status| HttpError::Status { url: String::new(), status };
        for (code, again) in
            [(400, false), (404, false), (429, true), (500, true), (501, false), (503, true)]
        {
            assert_eq!(status(code).may_pass(), again, "{code}");
        }
    }

    #[test]
    fn a_redirection_never_leaves_the_encryption() {
        assert!(follow("https://h/a", "http://h/a").is_err());
        assert!(follow("https://h/a", "file:///etc/passwd").is_err());
        assert_eq!(follow("http://h/a", "https://h/b").unwrap(), "https://h/b");
    }

    #[test]
    fn a_proxy_leads_to_other_machines_only() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("it listens");
        let server = std::thread::spawn(move || {
            for (asked, stream) in ["there.invalid", "/here"].into_iter().zip(listener.incoming()) {
                let mut stream = BufReader::new(stream.expect("a client"));
                let mut line = String::new();
                stream.read_line(&mut line).expect("a request");
                assert!(line.contains(asked), "{line}");
                let answer = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n";
                stream.get_mut().write_all(answer).expect("it listens");
            }
        });
        let proxies =
            Proxies::read(|name| (name == "HTTP_PROXY").then(|| format!("http://{address}")));
        let client = Client::new(proxies, |_| ());
        for url in ["http://there.invalid/a".to_owned(), format!("http://{address}/here")] {
            assert!(client.get(&url, None).is_err());
        }
        server.join().expect("both were asked");
        let broken = Client::new(Proxies::read(|_| Some("gopher://h".to_owned())), |_| ());
        let error = broken.get("https://there.invalid", None).err().expect("no way").to_string();
        assert!(error.contains("names no proxy"), "{error}");
    }

    #[test]
    fn a_server_that_sends_a_byte_now_and_then_gains_no_time() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("it listens"));
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a client");
            let head = b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n";
            let mut sent = stream.write_all(head);
            while sent.is_ok() {
                std::thread::park_timeout(Duration::from_millis(5));
                sent = stream.write_all(b" ");
            }
        });
        let client = Client::new(Proxies::read(|_| None), |_| ());
        let client = Client { document: Duration::from_millis(200), ..client };
        let read = client.get(&url, None).and_then(|answer| answer.read_text(1 << 20));
        assert!(read.unwrap_err().to_string().contains("timeout"));
        server.join().expect("the client has gone");
    }

    #[test]
    fn only_encryption_or_this_machine_keeps_a_request_private() {
        for (url, is_private) in [
            ("https://h/a", true),
            ("HTTPS://h", true),
            ("http://h/a", false),
            ("http://localhost:80/a", true),
            ("http://127.0.0.1:1/a", true),
            ("http://u@[::1]:1/a", true),
            ("http://localhost@h/a", false),
            ("http://127.0.0.1.h/a", false),
            ("http://h/https://localhost", false),
            ("h/a", false),
        ] {
            assert_eq!(super::is_private(url), is_private, "{url}");
        }
    }
}
