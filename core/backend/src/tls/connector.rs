//! TLS of HTTP requests, optionally with another name than the one in the URL: for servers whose
//! certificate does not contain the address at which they are reached.
//!
//! The HTTP library has a connector of its own. That one panics for client certificates that the TLS
//! library does not accept, and supports no other verifier.

use std::fmt;
use std::io::{Read as _, Write as _};

use formwork_plugin_protocol::http_proxy::through_proxies;
use rustls::pki_types::ServerName;
use rustls::{ClientConnection, StreamOwned};
use ureq::Agent;
use ureq::config::Config;
use ureq::http::Uri;
use ureq::http::uri::InvalidUri;
use ureq::unversioned::resolver::DefaultResolver;
use ureq::unversioned::transport::{
    Buffers, ConnectProxyConnector, ConnectionDetails, Connector, Either, LazyBuffers, NextTimeout,
    SocksConnector, TcpConnector, Transport, TransportAdapter,
};

use super::client_tls::ClientTls;

/// Creates an HTTP client that trusts the certificates of this machine.
#[must_use]
pub fn http_agent_of_machine(config: Config) -> Agent {
    http_agent(config, TlsConnector::new(ClientTls::of_machine()))
}

/// An HTTP client.
pub(crate) fn http_agent(config: Config, tls: TlsConnector) -> Agent {
    let connector =
        ().chain(SocksConnector::default())
            .chain(ConnectProxyConnector::default())
            .chain(TcpConnector::default())
            .chain(tls.clone());
    Agent::with_parts(config, through_proxies(tls, connector), DefaultResolver::default())
}

/// The connector for TLS.
#[derive(Clone, Debug)]
pub(crate) struct TlsConnector {
    tls: ClientTls,
    named_host: Option<NamedHost>,
}

/// A server whose certificate has another name than its host.
#[derive(Clone, Debug)]
struct NamedHost {
    /// The host in the URLs of the server. Other hosts, such as proxies, keep their names.
    host: String,
    /// The URL of the server with the name in its certificate.
    url: Uri,
}

impl TlsConnector {
    /// Makes the connector.
    pub(crate) fn new(tls: ClientTls) -> Self {
        Self { tls, named_host: None }
    }

    /// Sets the name to expect in the certificate of one server. A port in the name is ignored, as in
    /// Consul's own client.
    ///
    /// # Errors
    /// Returns an error if the name cannot be the host of a URL.
    #[cfg_attr(
        not(feature = "consul"),
        expect(dead_code, reason = "the server of no other backend has another name")
    )]
    pub(crate) fn with_server_name(self, host: &str, name: &str) -> Result<Self, InvalidUri> {
        let name = match name.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
            _ => name,
        };
        let url = format!("https://{name}/").parse()?;
        Ok(Self { named_host: Some(NamedHost { host: host.to_owned(), url }), ..self })
    }

    /// Returns the name that the certificate of a server must have.
    fn server_name(&self, uri: &Uri) -> Result<ServerName<'static>, ureq::Error> {
        let named_host =
            self.named_host.as_ref().filter(|named_host| uri.host() == Some(&named_host.host));
        let host = named_host.map_or(uri, |named_host| &named_host.url).host().unwrap_or_default();
        let unbracketed =
            host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        let name = ServerName::try_from(unbracketed.to_owned());
        name.map_err(|_| ureq::Error::Tls("the host is not a valid name for a certificate"))
    }
}

impl<In: Transport> Connector<In> for TlsConnector {
    type Out = Either<In, TlsTransport>;

    fn connect(
        &self,
        details: &ConnectionDetails<'_>,
        chained: Option<In>,
    ) -> Result<Option<Self::Out>, ureq::Error> {
        let Some(transport) = chained else { return Ok(None) };
        if !details.needs_tls() || transport.is_tls() {
            return Ok(Some(Either::A(transport)));
        }
        let name = self.server_name(details.uri)?;
        let mut connection = ClientConnection::new(self.tls.client_config()?, name)?;
        let mut socket =
            TransportAdapter::new(transport.boxed(), std::sync::Arc::clone(&details.current_time));
        socket.set_timeout(details.timeout);
        connection.complete_io(&mut socket)?;
        let buffers = LazyBuffers::new(
            details.config.input_buffer_size(),
            details.config.output_buffer_size(),
        );
        let stream = StreamOwned { conn: connection, sock: socket };
        Ok(Some(Either::B(TlsTransport { buffers, stream })))
    }
}

/// An encrypted connection.
pub(crate) struct TlsTransport {
    buffers: LazyBuffers,
    stream: StreamOwned<ClientConnection, TransportAdapter>,
}

impl Transport for TlsTransport {
    fn buffers(&mut self) -> &mut dyn Buffers {
        &mut self.buffers
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), ureq::Error> {
        self.stream.sock.set_timeout(timeout);
        self.stream.write_all(&self.buffers.output()[..amount])?;
        Ok(())
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, ureq::Error> {
        self.stream.sock.set_timeout(timeout);
        let amount = self.stream.read(self.buffers.input_append_buf())?;
        self.buffers.input_appended(amount);
        Ok(amount > 0)
    }

    fn is_open(&mut self) -> bool {
        self.stream.sock.get_mut().is_open()
    }

    fn is_tls(&self) -> bool {
        true
    }
}

impl fmt::Debug for TlsTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TlsTransport").field("chained", &self.stream.sock.inner()).finish()
    }
}
