//! The parts of a host one by one, for programs that test plugins: a child process, an identity, a
//! connection. A usual host launches a [`Plugin`](crate::client::Plugin), which joins them.

use std::io;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use tokio::process::{ChildStderr, ChildStdout};

use crate::client::ProcessLimits;
use crate::client::connect::Dialer;
use crate::client::connection_pool::ConnectionPool;
use crate::client::process::{ChildOutputPipes, StartedProcess};
use crate::client::transport::LeasingTransport;
use crate::handshake::Address;
use crate::raw::Transport;
use crate::socket::is_local;
use crate::tls::{TlsIdentity, client_config};

/// A key and certificate of a host, created for one launch.
#[derive(Debug)]
pub struct HostCertificate(TlsIdentity);

impl HostCertificate {
    /// Creates a key and a certificate.
    ///
    /// # Errors
    /// When the system has no randomness.
    pub fn generate() -> io::Result<Self> {
        TlsIdentity::generate().map(Self).map_err(io::Error::other)
    }

    /// Returns the certificate in PEM form, as `PLUGIN_CLIENT_CERT` carries it.
    #[must_use]
    pub fn pem(&self) -> &str {
        self.0.certificate_pem()
    }
}

/// Connects to a running plugin, with TLS if `tls` has the identity of the host and the plugin's certificate
/// (DER).
///
/// # Errors
/// When no answer comes within `connect_timeout`, or either side refuses the other.
pub async fn connect_to_plugin(
    address: &Address,
    tls: Option<(&HostCertificate, Vec<u8>)>,
    connect_timeout: Duration,
) -> Result<Arc<dyn Transport>, String> {
    // As for a launched plugin: the address is the plugin's choice, and secrets are sent to it.
    if !is_local(address) {
        return Err(format!("{address} is not an address of this machine"));
    }
    let tls = match tls {
        Some((identity, certificate)) => {
            Some(client_config(&identity.0, certificate).map_err(|error| error.to_string())?)
        }
        None => None,
    };
    let dialer = Dialer { address: address.clone(), tls, connect_timeout };
    let channel = dialer.connect_within_timeout().await.map_err(|error| error.to_string())?;
    Ok(Arc::new(LeasingTransport::new(Arc::new(ConnectionPool::new(dialer, channel, 1, None)))))
}

/// A child process in a process group of its own. It dies with this program, and dropping it kills
/// the group.
#[derive(Debug)]
pub struct ChildProcess(StartedProcess);

impl ChildProcess {
    /// Starts `command` with an empty stdin.
    ///
    /// # Errors
    /// When the system cannot start it.
    pub async fn start(command: Command) -> io::Result<(Self, ChildStdout, ChildStderr)> {
        let (process, pipes) =
            StartedProcess::start(command, None, ProcessLimits::default()).await?;
        let ChildOutputPipes { stdout, stderr } = pipes;
        Ok((Self(process), stdout, stderr))
    }

    /// Returns the process id.
    #[must_use]
    pub fn pid(&self) -> i32 {
        self.0.pid()
    }

    /// Waits up to `time_limit` for the exit, and returns the exit status as a message.
    pub async fn wait_up_to(&self, time_limit: Duration) -> Option<String> {
        self.0.wait_up_to(time_limit).await.map(|exit| exit.to_string())
    }

    /// Returns the exit status as a message, if the process has ended.
    #[must_use]
    pub fn exit_if_ended(&self) -> Option<String> {
        self.0.exit_if_ended().map(|exit| exit.to_string())
    }

    /// Kills the process and all of its group.
    pub fn kill(&self) {
        self.0.kill();
    }
}
