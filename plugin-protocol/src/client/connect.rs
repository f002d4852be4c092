//! Opens connections to a plugin at its announced address. The connection pool keeps them.

use std::error::Error;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tonic::transport::{Channel, Endpoint, Uri};
use tower::service_fn;

use super::error_chain::error_with_causes;
use crate::handshake::Address;
use crate::socket;
use crate::tls::{ByteStream, TLS_SERVER_NAME};
use crate::wire::MAX_HEADER_LIST_LEN;
use crate::wire::generated::health::HealthCheckRequest;
use crate::wire::generated::health::health_client::HealthClient;

/// Everything it takes to connect to one plugin.
#[derive(Clone, Debug)]
pub(crate) struct Dialer {
    pub(crate) address: Address,
    /// Plaintext if there is none.
    pub(crate) tls: Option<Arc<ClientConfig>>,
    /// Time limit for the plugin's first answer.
    pub(crate) connect_timeout: Duration,
}

/// The reason why a connection could not be opened.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConnectError {
    /// The plugin does not accept the connection.
    #[error("no connection to {address}: {cause}")]
    Refused { address: String, cause: String },
    /// The plugin accepts the connection, but does not answer in HTTP/2.
    #[error("{address} accepted the connection but did not answer within {}s", .timeout.as_secs_f64())]
    Silent { address: String, timeout: Duration },
}

impl Dialer {
    /// Opens a connection and checks that a server answers on it.
    pub(crate) async fn connect_within_timeout(&self) -> Result<Channel, ConnectError> {
        let timeout_error = |_| ConnectError::Silent {
            address: self.address.to_string(),
            timeout: self.connect_timeout,
        };
        // One limit for the socket, TLS and the first answer together: a plugin may accept the
        // connection and then hang in any of them.
        timeout(self.connect_timeout, self.connect_and_await_answer())
            .await
            .map_err(timeout_error)?
    }

    async fn connect_and_await_answer(&self) -> Result<Channel, ConnectError> {
        let refusal = |cause: &(dyn Error + 'static)| ConnectError::Refused {
            address: self.address.to_string(),
            cause: error_with_causes(cause),
        };
        let dialer = self.clone();
        let connector = service_fn(move |_: Uri| {
            // Cloned for each attempt, because the channel calls the connector again to reconnect.
            let dialer = dialer.clone();
            async move { dialer.open_byte_stream().await.map(TokioIo::new) }
        });
        // Keepalive pings stay off: Go servers close the connection of a client that pings them.
        // The `:authority` is `localhost`, as grpc-go sends it. The connector ignores the URI.
        let channel = Endpoint::from_static("http://localhost")
            .http2_max_header_list_size(MAX_HEADER_LIST_LEN)
            .connect_with_connector(connector)
            .await
            .map_err(|error| refusal(&error))?;
        // The connection counts as open before the plugin has sent any HTTP/2 data. Any answer will
        // do, even that the service does not exist.
        let request = HealthCheckRequest { service: "plugin".to_owned() };
        match HealthClient::new(channel.clone()).check(request).await {
            // A status with a cause was not sent by the plugin but created on this side.
            Err(status) => match status.source() {
                Some(cause) => Err(refusal(cause)),
                None => Ok(channel),
            },
            Ok(_) => Ok(channel),
        }
    }

    async fn open_byte_stream(&self) -> io::Result<Box<dyn ByteStream>> {
        let stream = socket::connect(&self.address).await?;
        let Some(config) = &self.tls else {
            return Ok(stream);
        };
        // go-plugin certificates are for `localhost`. The name is not evidence; the pinned
        // certificate is.
        let name = ServerName::try_from(TLS_SERVER_NAME).map_err(io::Error::other)?;
        let stream = TlsConnector::from(Arc::clone(config)).connect(name, stream).await?;
        Ok(Box::new(stream))
    }
}

#[cfg(test)]
mod tests {
    use tokio::net::UnixListener;

    use super::*;

    #[tokio::test]
    async fn a_plugin_that_accepts_and_never_answers_times_out() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("socket");
        // Bound but not served: the kernel accepts the connection, and no data follows.
        let _listener = UnixListener::bind(&path).expect("a socket");
        let connect_timeout = Duration::from_millis(20);
        let dialer = Dialer { address: Address::Unix(path), tls: None, connect_timeout };
        let error = dialer.connect_within_timeout().await.expect_err("the plugin never answers");
        assert!(matches!(error, ConnectError::Silent { .. }), "{error}");
    }

    #[tokio::test]
    async fn a_missing_socket_fails_immediately_with_its_cause() {
        let address = Address::Unix("/nowhere/socket".into());
        let dialer = Dialer { address, tls: None, connect_timeout: Duration::from_mins(1) };
        let error =
            dialer.connect_within_timeout().await.expect_err("no server listens").to_string();
        assert!(error.contains("/nowhere/socket: ") && error.contains("No such file"), "{error}");
    }
}
