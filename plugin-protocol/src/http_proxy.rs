//! Connections of HTTP clients through proxies. A request for an `http` URL is sent to the proxy itself, with the
//! whole URL: many proxies refuse `CONNECT` to ports other than 443. Other connections are tunnels, which the HTTP
//! library opens. `proxy_env.rs` selects the proxy for a server.

use std::sync::Arc;
use std::{fmt, io};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use ureq::http::Uri;
use ureq::unversioned::transport::{
    Buffers, ConnectionDetails, Connector, NextTimeout, TcpConnector, Transport,
};
use ureq::{Error, Proxy, ProxyProtocol, Timeout};

/// Parses the URL of a proxy. The default scheme is `http`.
///
/// # Errors
/// Returns an error if it is not the URL of a proxy.
pub fn parse_proxy(url: &str) -> Result<Proxy, Error> {
    let proxy = Proxy::new(url)?;
    with_credentials(&proxy, proxy.username(), proxy.password())
}

/// Returns a copy of the proxy with other credentials.
///
/// # Errors
/// Returns an error if the credentials cannot be part of a URL.
pub fn with_credentials(
    base: &Proxy,
    username: Option<&str>,
    password: Option<&str>,
) -> Result<Proxy, Error> {
    let mut proxy = Proxy::builder(base.protocol()).host(base.host()).port(base.port());
    if let Some(name) = username {
        proxy = proxy.username(name);
    }
    if let Some(word) = password {
        proxy = proxy.password(word);
    }
    if base.protocol() == ProxyProtocol::Socks5 {
        // The proxy resolves host names. Other protocols have no choice.
        proxy = proxy.resolve_target(false);
    }
    proxy.build()
}

/// Returns a connector that supports proxies. `tls` encrypts the connection to a proxy. `others` opens all connections
/// except those to a proxy that forwards a request. Errors name the proxy.
pub fn through_proxies<Tls, Others>(
    tls: Tls,
    others: Others,
) -> impl Connector<(), Out = Box<dyn Transport>>
where
    Tls: Connector<TcpConnection>,
    Others: Connector<()>,
{
    ProxyConnector { tls, others }
}

/// A connection that is not encrypted.
type TcpConnection = <TcpConnector as Connector<()>>::Out;

/// The connector of [`through_proxies`].
#[derive(Debug)]
struct ProxyConnector<Tls, Others> {
    tls: Tls,
    others: Others,
}

impl<Tls, Others> Connector<()> for ProxyConnector<Tls, Others>
where
    Tls: Connector<TcpConnection>,
    Others: Connector<()>,
{
    type Out = Box<dyn Transport>;

    fn connect(
        &self,
        details: &ConnectionDetails<'_>,
        _chained: Option<()>,
    ) -> Result<Option<Self::Out>, Error> {
        let proxy = details.config.proxy();
        let connected = match proxy.filter(|proxy| is_forwarded(details.uri, proxy)) {
            Some(proxy) => self.connect_to_proxy(details, proxy),
            None => {
                let connection = self.others.connect(details, None);
                connection.map(|connection| connection.map(Transport::boxed))
            }
        };
        match proxy {
            Some(proxy) => connected.map_err(|error| error_with_proxy_name(error, proxy)),
            None => connected,
        }
    }
}

/// Whether a proxy forwards the requests for a URL, without a tunnel.
fn is_forwarded(url: &Uri, proxy: &Proxy) -> bool {
    let is_http = matches!(proxy.protocol(), ProxyProtocol::Http | ProxyProtocol::Https);
    is_http && url.scheme_str() == Some("http")
}

impl<Tls: Connector<TcpConnection>, Others> ProxyConnector<Tls, Others> {
    fn connect_to_proxy(
        &self,
        details: &ConnectionDetails<'_>,
        proxy: &Proxy,
    ) -> Result<Option<Box<dyn Transport>>, Error> {
        let addrs = details.resolver.resolve(proxy.uri(), details.config, details.timeout)?;
        let proxy_details = ConnectionDetails {
            uri: proxy.uri(),
            addrs,
            config: details.config,
            request_level: details.request_level,
            resolver: details.resolver,
            now: details.now,
            timeout: details.timeout,
            current_time: Arc::clone(&details.current_time),
            run_connector: Arc::clone(&details.run_connector),
            register_shutdown: Arc::clone(&details.register_shutdown),
        };
        let connection = TcpConnector::default().connect(&proxy_details, None::<()>)?;
        let connection = self.tls.connect(&proxy_details, connection)?;
        let target = ForwardedTarget::new(details.uri, proxy);
        Ok(connection.map(|connection| {
            ForwardingTransport { proxy: connection.boxed(), target: Some(target) }.boxed()
        }))
    }
}

/// The additions to the head of a request for a proxy that forwards it.
struct ForwardedTarget {
    /// The beginning of the URL, up to its path.
    origin: String,
    /// The credentials for the proxy.
    authorization: Option<String>,
}

impl ForwardedTarget {
    fn new(url: &Uri, proxy: &Proxy) -> Self {
        let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
        // The credentials in a URL are a header of the request already.
        let origin = format!("http://{}{port}", url.host().unwrap_or_default());
        let has_credentials = proxy.username().is_some() || proxy.password().is_some();
        let authorization = has_credentials.then(|| {
            let name = proxy.username().unwrap_or_default();
            let password = proxy.password().unwrap_or_default();
            BASE64_STANDARD.encode(format!("{name}:{password}"))
        });
        Self { origin, authorization }
    }

    /// The head of a request with the whole URL and the credentials.
    fn absolute_form(&self, head: &[u8]) -> Vec<u8> {
        let line_end = head
            .windows(2)
            .position(|end| end == b"\r\n")
            .map_or(head.len(), |position| position + 2);
        let (line, headers) = head.split_at(line_end);
        let path_start =
            line.iter().position(|byte| *byte == b' ').map_or(0, |position| position + 1);
        let (method, target_and_version) = line.split_at(path_start);
        let mut form = [method, self.origin.as_bytes(), target_and_version].concat();
        if let Some(credentials) = &self.authorization {
            form.extend(format!("Proxy-Authorization: Basic {credentials}\r\n").into_bytes());
        }
        form.extend_from_slice(headers);
        form
    }
}

/// A connection to a proxy for one request.
struct ForwardingTransport {
    proxy: Box<dyn Transport>,
    /// Its target, until the head is sent.
    target: Option<ForwardedTarget>,
}

impl Transport for ForwardingTransport {
    fn buffers(&mut self) -> &mut dyn Buffers {
        self.proxy.buffers()
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), Error> {
        let Some(target) = self.target.take() else {
            return self.proxy.transmit_output(amount, timeout);
        };
        let head = target.absolute_form(&self.proxy.buffers().output()[..amount]);
        let mut remaining_head = head.as_slice();
        // The head is longer than the one that the buffer had room for.
        while !remaining_head.is_empty() {
            let output = self.proxy.buffers().output();
            let n_bytes = remaining_head.len().min(output.len());
            let (part, following) = remaining_head.split_at(n_bytes);
            output[..n_bytes].copy_from_slice(part);
            self.proxy.transmit_output(n_bytes, timeout)?;
            remaining_head = following;
        }
        Ok(())
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, Error> {
        self.proxy.await_input(timeout)
    }

    fn is_open(&mut self) -> bool {
        // The head of a second request could not be recognised.
        false
    }
}

impl fmt::Debug for ForwardingTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ForwardingTransport").field("proxy", &self.proxy).finish_non_exhaustive()
    }
}

/// An error of a connection with the name of its proxy, because the message names only the server.
fn error_with_proxy_name(error: Error, proxy: &Proxy) -> Error {
    let proxy_name = format!("through the proxy {}:{}", proxy.host(), proxy.port());
    match error {
        Error::ConnectProxyFailed(reason) => {
            Error::ConnectProxyFailed(format!("{proxy_name}: {reason}"))
        }
        Error::HostNotFound => {
            io::Error::new(io::ErrorKind::NotFound, format!("{proxy_name}: host not found")).into()
        }
        Error::Timeout(Timeout::Connect | Timeout::Resolve) => {
            let text = format!("{proxy_name}: the connection timed out");
            io::Error::new(io::ErrorKind::TimedOut, text).into()
        }
        // Clients recognise errors of certificates by their type.
        Error::Io(error) if error.get_ref().is_none_or(|inner| !inner.is::<rustls::Error>()) => {
            io::Error::new(error.kind(), format!("{proxy_name}: {error}")).into()
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_in_the_url_of_a_proxy() {
        let proxy = parse_proxy("socks5://me:se%3Acret@h").unwrap();
        assert_eq!((proxy.username(), proxy.password()), (Some("me"), Some("se:cret")));
        assert!(!proxy.resolve_target());
        assert_eq!(parse_proxy("h:8080").unwrap().port(), 8080);
        assert!(parse_proxy("gopher://h").is_err());
    }

    #[test]
    fn the_head_of_a_forwarded_request_has_the_whole_url_and_the_credentials() {
        let head = b"GET /a?b=c HTTP/1.1\r\nHost: h:81\r\n\r\n";
        for (url, proxy, expected) in [
            (
                "http://u:p@h:81/a?b=c",
                "http://me:se%3Acret@proxy:3128",
                "GET http://h:81/a?b=c HTTP/1.1\r\nProxy-Authorization: Basic bWU6c2U6Y3JldA==\r\nHost: h:81\r\n\r\n",
            ),
            (
                "http://[::1]/a?b=c",
                "proxy",
                "GET http://[::1]/a?b=c HTTP/1.1\r\nHost: h:81\r\n\r\n",
            ),
        ] {
            let target = ForwardedTarget::new(&url.parse().unwrap(), &parse_proxy(proxy).unwrap());
            let form = target.absolute_form(head);
            assert_eq!(String::from_utf8(form).unwrap(), expected, "{url}");
        }
    }

    #[test]
    fn only_plain_requests_are_forwarded_and_only_by_proxies_of_http() {
        for (url, proxy, expected) in [
            ("http://h/", "http://p:1", true),
            ("http://h/", "https://p:1", true),
            ("https://h/", "http://p:1", false),
            ("http://h/", "socks5://p:1", false),
        ] {
            let is_forwarded = is_forwarded(&url.parse().unwrap(), &parse_proxy(proxy).unwrap());
            assert_eq!(is_forwarded, expected, "{url} {proxy}");
        }
    }

    #[test]
    fn an_error_names_the_proxy_without_its_credentials() {
        let proxy = parse_proxy("http://me:secret@proxy.example:3128").unwrap();
        for error in [
            Error::Io(io::ErrorKind::ConnectionRefused.into()),
            Error::HostNotFound,
            Error::Timeout(Timeout::Connect),
            Error::ConnectProxyFailed("proxy server responded 403/403".to_owned()),
        ] {
            let text = error_with_proxy_name(error, &proxy).to_string();
            assert!(text.contains("through the proxy proxy.example:3128: "), "{text}");
            assert!(!text.contains("secret"), "{text}");
        }
        // The timeout of the whole request is not a timeout of the proxy.
        let error = error_with_proxy_name(Error::Timeout(Timeout::Global), &proxy);
        assert!(matches!(error, Error::Timeout(Timeout::Global)), "{error}");
    }
}
