//! One request and its response, with the configured number of attempts. Independent of attributes.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::Read as _;
use std::sync::Arc;
use std::time::Duration;

use flate2::read::MultiGzDecoder;
use formwork_plugin_protocol::http_proxy::through_proxies;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc2822;
use ureq::config::RedirectAuthHeaders;
use ureq::http::header::{ACCEPT_ENCODING, RETRY_AFTER};
use ureq::http::{HeaderName, HeaderValue, Request, Uri};
use ureq::tls::{Certificate, ClientCert, PemItem, PrivateKey, RootCerts, TlsConfig, parse_pem};
use ureq::unversioned::resolver::DefaultResolver;
use ureq::unversioned::transport::{DefaultConnector, RustlsConnector};
use ureq::{Agent, Error, Proxy};

use super::redirected_body::{MAX_REDIRECTS, send_with_body};
use crate::{proxy, redact_url};

/// Greatest size of a response body. Larger ones do not belong in a state.
const MAX_RESPONSE_BODY_LEN: u64 = 128 * 1024 * 1024;

/// Arguments of a request.
pub(super) struct RequestArguments<'s> {
    pub(super) method: &'s str,
    pub(super) url: &'s str,
    pub(super) headers: Option<&'s BTreeMap<String, String>>,
    pub(super) body: Option<&'s str>,
    /// Timeout of one attempt.
    pub(super) timeout: Option<Duration>,
    /// Certificates of the authorities to trust, instead of those that this machine trusts.
    pub(super) authorities: Option<&'s str>,
    /// A certificate to show and its key.
    pub(super) identity: Option<(&'s str, &'s str)>,
    pub(super) is_insecure: bool,
}

/// Number of retries, and the waits between them.
#[derive(Clone, Copy, Debug)]
pub(super) struct RetryPolicy {
    pub(super) retries: u64,
    pub(super) first: Duration,
    pub(super) max_delay: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self { retries: 0, first: Duration::from_secs(1), max_delay: Duration::from_secs(30) }
    }
}

/// An answer.
pub(super) struct Response {
    pub(super) status: u16,
    pub(super) headers: BTreeMap<String, String>,
    pub(super) body: Vec<u8>,
}

/// The reason why no response came.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    /// The PEM document contains no certificate.
    #[error("`ca_cert_pem` has no certificate in PEM")]
    Authorities,
    /// The client certificate with its key is invalid.
    #[error("`client_cert_pem` and `client_key_pem` are not a certificate in PEM and its key: {0}")]
    Identity(String),
    /// There is no such request.
    #[error("{0}")]
    Request(String),
    /// A response began and was not completed.
    #[error("{0}")]
    Body(String),
    /// The answer took too long.
    #[error("{method} {url}: request exceeded the specified timeout: {timeout:?}")]
    Late { method: String, url: String, timeout: Duration },
    /// No answer that is one.
    #[error("{method} {url} giving up after {attempts} attempt(s): {reason}")]
    NoAnswer { method: String, url: String, attempts: u64, reason: String },
}

/// Failed attempts, by their consequence.
enum FailedAttempt {
    /// Another attempt may succeed, after the delay that the server requests, if any.
    Again(String, Option<Duration>),
    /// Another attempt would end the same way.
    Never(String),
    Late,
    Body(String),
}

/// Asks until there is an answer.
pub(super) async fn send_with_retries(
    settings: &RequestArguments<'_>,
    retry_policy: RetryPolicy,
) -> Result<Response, Failure> {
    let request = Arc::new(build_request(settings)?);
    let agent = build_agent(settings, proxy_for(settings)?)?;
    let mut wait = retry_policy.first.min(retry_policy.max_delay);
    let mut attempts = 1;
    loop {
        let (agent, request) = (agent.clone(), Arc::clone(&request));
        // Asking blocks, so it is done elsewhere.
        let sent = tokio::task::spawn_blocking(move || send_once(&agent, &request)).await;
        let failure =
            match sent.unwrap_or_else(|error| Err(FailedAttempt::Never(error.to_string()))) {
                Ok(response) => return Ok(response),
                Err(failure) => failure,
            };
        let is_last = matches!(failure, FailedAttempt::Never(_)) || attempts > retry_policy.retries;
        let (method, url) = (settings.method.to_owned(), redact_url::redact_url(settings.url));
        let requested_pause = match failure {
            FailedAttempt::Body(reason) => return Err(Failure::Body(reason)),
            FailedAttempt::Late if is_last => {
                let timeout = settings.timeout.unwrap_or_default();
                return Err(Failure::Late { method, url, timeout });
            }
            FailedAttempt::Again(reason, _) | FailedAttempt::Never(reason) if is_last => {
                return Err(Failure::NoAnswer { method, url, attempts, reason });
            }
            FailedAttempt::Again(_, requested_pause) => requested_pause,
            _ => None,
        };
        tokio::time::sleep(requested_pause.unwrap_or(wait)).await;
        wait = (wait * 2).min(retry_policy.max_delay);
        attempts += 1;
    }
}

fn send_once(agent: &Agent, request: &Request<Option<String>>) -> Result<Response, FailedAttempt> {
    let (parts, body) = request.clone().into_parts();
    let response = match body {
        Some(body) => send_with_body(agent, parts, &body),
        None => agent.run(Request::from_parts(parts, ())),
    };
    let mut response = response.map_err(|error| match error {
        Error::Timeout(_) => FailedAttempt::Late,
        Error::BadUri(_) | Error::TooManyRedirects | Error::Rustls(_) | Error::Tls(_) => {
            FailedAttempt::Never(error.to_string())
        }
        // A server that could not prove who it is will not be able to later either.
        Error::Io(error) if error.get_ref().is_some_and(|inner| inner.is::<rustls::Error>()) => {
            FailedAttempt::Never(error.to_string())
        }
        _ => FailedAttempt::Again(error.to_string(), None),
    })?;
    let status = response.status();
    if status == 429 || (status.as_u16() >= 500 && status != 501) {
        let retry_after = response.headers().get(RETRY_AFTER).and_then(|after| after.to_str().ok());
        let retry_after =
            retry_after.filter(|_| status == 429 || status == 503).and_then(parse_retry_after);
        return Err(FailedAttempt::Again(format!("unexpected HTTP status {status}"), retry_after));
    }
    let names = response.headers().keys().map(|name| {
        let values = response.headers().get_all(name).iter();
        let values = values.map(|value| String::from_utf8_lossy(value.as_bytes()));
        (canonical_header_name(name.as_str()), values.collect::<Vec<_>>().join(", "))
    });
    let mut headers: BTreeMap<String, String> = names.collect();
    let body = response.body_mut().with_config().limit(MAX_RESPONSE_BODY_LEN).read_to_vec();
    let body = body.map_err(|error| match error {
        Error::Timeout(_) => FailedAttempt::Late,
        error => FailedAttempt::Body(error.to_string()),
    })?;
    // As in Go, the content is returned in an encoding that the configuration requests.
    let is_asked_for = request.headers().contains_key(ACCEPT_ENCODING);
    let encoding = headers.get("Content-Encoding").map(String::as_str).unwrap_or_default();
    let is_packed = encoding.eq_ignore_ascii_case("gzip") && !body.is_empty();
    let body = if is_packed && !is_asked_for {
        headers.remove("Content-Encoding");
        headers.remove("Content-Length");
        unpack_gzip(&body)?
    } else {
        body
    };
    Ok(Response { status: status.as_u16(), headers, body })
}

/// The content of an answer that the server compresses for the transport.
fn unpack_gzip(body: &[u8]) -> Result<Vec<u8>, FailedAttempt> {
    let mut content = Vec::new();
    // A few kilobytes can unpack to gigabytes.
    let read = MultiGzDecoder::new(body).take(MAX_RESPONSE_BODY_LEN + 1).read_to_end(&mut content);
    read.map_err(|error| FailedAttempt::Body(format!("the gzip of the answer: {error}")))?;
    if content.len() as u64 > MAX_RESPONSE_BODY_LEN {
        let error = Error::BodyExceedsLimit(MAX_RESPONSE_BODY_LEN);
        return Err(FailedAttempt::Body(error.to_string()));
    }
    Ok(content)
}

fn build_request(settings: &RequestArguments<'_>) -> Result<Request<Option<String>>, Failure> {
    let invalid_request = |error: &dyn std::fmt::Display| invalid_request_failure(settings, error);
    let body = settings.body.map(str::to_owned);
    let mut request = Request::builder()
        .method(settings.method)
        .uri(&*escape_url(settings.url))
        .body(body)
        .map_err(|error| invalid_request(&error))?;
    check_url(&settings.url).map_err(|reason| invalid_request(&format!("the URL {reason}")))?;
    for (name, value) in settings.headers.into_iter().flatten() {
        let name = HeaderName::try_from(name).map_err(|error| invalid_request(&error))?;
        let value = HeaderValue::try_from(value).map_err(|error| invalid_request(&error))?;
        request.headers_mut().insert(name, value);
    }
    Ok(request)
}

/// Checks an attribute whose value is a URL.
pub(super) fn check_url(url: &impl AsRef<str>) -> Result<(), String> {
    let url = url.as_ref();
    let reason = match escape_url(url).parse::<Uri>() {
        Ok(uri) => match (uri.scheme_str(), uri.host()) {
            (Some("http" | "https"), Some(host)) if !host.is_empty() => return Ok(()),
            (Some("http" | "https"), _) => "names no host".to_owned(),
            _ => "does not".to_owned(),
        },
        Err(error) => format!("is no URL: {error}"),
    };
    Err(format!(
        "must begin with http:// or https://, and {:?} {reason}",
        redact_url::redact_url(url)
    ))
}

/// Escapes a URL as written by users: characters that are not valid in a URL are escaped after the
/// host. Control characters are not escaped, so that they are refused.
fn escape_url(url: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_ascii() && !" \"<>\\^`{|}".contains(c);
    let host = url.find("://").map_or(0, |index| index + 3);
    let Some(path) = url[host..].find(['/', '?', '#']).map(|index| host + index) else {
        return url.into();
    };
    if url[path..].chars().all(is_plain) {
        return url.into();
    }
    let mut escaped = url[..path].to_owned();
    for c in url[path..].chars() {
        match is_plain(c) {
            true => escaped.push(c),
            false => c.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| {
                escaped.push_str(&format!("%{byte:02X}"));
            }),
        }
    }
    escaped.into()
}

fn invalid_request_failure(
    settings: &RequestArguments<'_>,
    error: &dyn std::fmt::Display,
) -> Failure {
    Failure::Request(format!(
        "{} {}: {error}",
        settings.method,
        redact_url::redact_url(settings.url)
    ))
}

/// Delay that a server requests: seconds, or a date.
fn parse_retry_after(text: &str) -> Option<Duration> {
    if let Ok(seconds) = text.trim().parse() {
        return Some(Duration::from_secs(seconds));
    }
    let until = OffsetDateTime::parse(text.trim(), &Rfc2822).ok()?;
    Some((until - now()).try_into().unwrap_or_default())
}

#[expect(clippy::disallowed_methods, reason = "`Retry-After` may contain a date")]
fn now() -> OffsetDateTime {
    OffsetDateTime::now_utc()
}

/// The proxy that leads to the server of a request.
fn proxy_for(settings: &RequestArguments<'_>) -> Result<Option<Proxy>, Failure> {
    let url = escape_url(settings.url)
        .parse()
        .map_err(|error| invalid_request_failure(settings, &error))?;
    proxy::proxy_from_env(&url).map_err(|error| invalid_request_failure(settings, &error))
}

fn build_agent(settings: &RequestArguments<'_>, proxy: Option<Proxy>) -> Result<Agent, Failure> {
    let roots = match settings.authorities {
        None => RootCerts::PlatformVerifier,
        Some(pem) => {
            let certificates = parse_certificates(pem);
            if certificates.is_empty() {
                return Err(Failure::Authorities);
            }
            RootCerts::new_with_certs(&certificates)
        }
    };
    let identity = settings.identity.map(|(certificate, key)| {
        let chain = parse_certificates(certificate);
        if chain.is_empty() {
            return Err(Failure::Identity("it contains no certificate".to_owned()));
        }
        let key = PrivateKey::from_pem(key.as_bytes());
        let key = key.map_err(|error| Failure::Identity(error.to_string()))?;
        check_client_certificate(&chain, &key)?;
        Ok(ClientCert::new_with_certs(&chain, key))
    });
    let tls = TlsConfig::builder()
        .root_certs(roots)
        .client_cert(identity.transpose()?)
        .disable_verification(settings.is_insecure)
        .unversioned_rustls_crypto_provider(formwork_plugin_protocol::crypto_provider())
        .build();
    let config = Agent::config_builder()
        .tls_config(tls)
        .http_status_as_error(false)
        .max_redirects(MAX_REDIRECTS)
        // Credentials for a host may be sent to all its paths.
        .redirect_auth_headers(RedirectAuthHeaders::SameHost)
        .proxy(proxy)
        // A GET with a body is unusual, and some servers require one.
        .allow_non_standard_methods(true)
        .timeout_global(settings.timeout)
        .user_agent(concat!("Formwork/", env!("CARGO_PKG_VERSION")))
        .build();
    let connector = through_proxies(RustlsConnector::default(), DefaultConnector::default());
    Ok(Agent::with_parts(config, connector, DefaultResolver::default()))
}

/// Checks that a certificate can be used with a key: the HTTP library panics if it cannot.
fn check_client_certificate(
    chain: &[Certificate<'_>],
    key: &PrivateKey<'_>,
) -> Result<(), Failure> {
    let chain = chain
        .iter()
        .map(|certificate| CertificateDer::from(certificate.der()).into_owned())
        .collect();
    let mismatch = match PrivateKeyDer::try_from(key.der().to_vec()) {
        Ok(key) => {
            CertifiedKey::from_der(chain, key, &formwork_plugin_protocol::crypto_provider()).err()
        }
        Err(reason) => return Err(Failure::Identity(reason.to_owned())),
    };
    Err(Failure::Identity(match mismatch {
        None => return Ok(()),
        Some(rustls::Error::InconsistentKeys(_)) => {
            "the private key does not match the public key of the certificate".to_owned()
        }
        Some(rustls::Error::InvalidCertificate(_)) => {
            "the certificate cannot be read, or is one of X.509 version 1: `openssl x509 -req \
             -extfile FILE` creates one of version 3"
                .to_owned()
        }
        Some(error) => error.to_string(),
    }))
}

fn parse_certificates(pem: &str) -> Vec<Certificate<'static>> {
    let items = parse_pem(pem.as_bytes()).filter_map(Result::ok);
    let certificate = |item| match item {
        PemItem::Certificate(certificate) => Some(certificate),
        _ => None,
    };
    items.filter_map(certificate).collect()
}

/// The name of a header as people write it: `Content-Type`.
fn canonical_header_name(name: &str) -> String {
    let mut begins = true;
    let letters = name.chars().map(|letter| {
        let letter = if begins { letter.to_ascii_uppercase() } else { letter };
        begins = letter == '-';
        letter
    });
    letters.collect()
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::net::{SocketAddr, TcpListener};
    use std::thread::JoinHandle;

    use super::*;

    /// A server that gives these answers, one for each connection. Its end has the first lines of the requests.
    fn serve(answers: Vec<Vec<u8>>) -> (SocketAddr, JoinHandle<Vec<String>>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let serving = std::thread::spawn(move || {
            let lines = answers.into_iter().zip(listener.incoming()).map(|(answer, stream)| {
                let mut stream = BufReader::new(stream.unwrap());
                let mut head = Vec::new();
                while head.last().is_none_or(|line: &String| !line.trim().is_empty()) {
                    head.push(String::new());
                    stream.read_line(head.last_mut().unwrap()).unwrap();
                }
                stream.get_mut().write_all(&answer).unwrap();
                head.swap_remove(0)
            });
            lines.collect::<Vec<_>>()
        });
        (address, serving)
    }

    fn arguments(url: &str) -> RequestArguments<'_> {
        RequestArguments {
            method: "GET",
            url,
            headers: None,
            body: None,
            timeout: None,
            authorities: None,
            identity: None,
            is_insecure: false,
        }
    }

    #[test]
    fn a_proxy_forwards_a_plain_request_and_its_redirect() {
        let redirect = "HTTP/1.1 302 Found\r\nLocation: /there\r\nContent-Length: 0\r\n\r\n";
        let response = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
        let (address, serving) = serve(vec![redirect.into(), response.into()]);
        let settings = arguments("http://here.invalid:81/a");
        let proxy = proxy::parse_proxy(&format!("http://{address}")).unwrap();
        let agent = build_agent(&settings, Some(proxy)).unwrap();
        let answer = send_once(&agent, &build_request(&settings).unwrap()).ok().unwrap();
        assert_eq!(answer.status, 200);
        let lines = serving.join().unwrap();
        let of = |path: &str| format!("GET http://here.invalid:81/{path} HTTP/1.1\r\n");
        assert_eq!(lines, [of("a"), of("there")]);
    }

    #[test]
    fn unrequested_compression_is_decoded() {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(b"hello").unwrap();
        let packed = encoder.finish().unwrap();
        let head = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Encoding: gzip\r\n\r\n";
        let answer = [head.as_bytes(), packed.as_slice()].concat();
        let (address, serving) = serve(vec![answer.clone(), answer]);
        let url = format!("http://{address}/");
        let asking: BTreeMap<String, String> =
            [("Accept-Encoding".to_owned(), "gzip".to_owned())].into();
        for (headers, expected) in [(None, b"hello".to_vec()), (Some(&asking), packed)] {
            let settings = RequestArguments { headers, ..arguments(&url) };
            let agent = build_agent(&settings, None).unwrap();
            let answer = send_once(&agent, &build_request(&settings).unwrap()).ok().unwrap();
            assert_eq!(answer.body, expected);
            assert_eq!(answer.headers.contains_key("Content-Encoding"), headers.is_some());
        }
        serving.join().unwrap();
    }
}
