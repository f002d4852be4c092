//! TLS under another name than the one in the URL: for servers that are reached by an address which their
//! certificate does not have.

use ureq::http::Uri;
use ureq::http::uri::InvalidUri;
use ureq::unversioned::transport::{ConnectionDetails, Connector, RustlsConnector, Transport};

/// The connector for TLS, with the name to expect in the certificate of one server.
#[derive(Debug)]
pub(super) struct NamedTlsConnector {
    /// The host in the URLs of the server. Other hosts, such as proxies, keep their names.
    host: String,
    /// The URL of the server under its name.
    named: Uri,
    tls: RustlsConnector,
}

impl NamedTlsConnector {
    /// Makes the connector. A port in the name does not count, as in Consul's own client.
    ///
    /// # Errors
    /// When the name cannot be the host of a URL.
    pub(super) fn new(host: &str, name: &str) -> Result<Self, InvalidUri> {
        let name = match name.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
            _ => name,
        };
        let named = format!("https://{name}/").parse()?;
        Ok(Self { host: host.to_owned(), named, tls: RustlsConnector::default() })
    }
}

impl<In: Transport> Connector<In> for NamedTlsConnector {
    type Out = <RustlsConnector as Connector<In>>::Out;

    fn connect(
        &self,
        details: &ConnectionDetails<'_>,
        chained: Option<In>,
    ) -> Result<Option<Self::Out>, ureq::Error> {
        if details.uri.host() != Some(&self.host) || !details.needs_tls() {
            return self.tls.connect(details, chained);
        }
        let named = ConnectionDetails {
            uri: &self.named,
            addrs: details.addrs.clone(),
            config: details.config,
            request_level: details.request_level,
            resolver: details.resolver,
            now: details.now,
            timeout: details.timeout,
            current_time: details.current_time.clone(),
            run_connector: details.run_connector.clone(),
            register_shutdown: details.register_shutdown.clone(),
        };
        self.tls.connect(&named, chained)
    }
}
