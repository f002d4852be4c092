//! The host side: a plugin in a child process, called through the contract.
//!
//! [`Plugin`] is one running plugin. It is launched from a file, or found running (reattached), and
//! hands out a [`Provider`](crate::Provider) whose calls go over its connections. It does not
//! decide which plugin to start, or when.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::{self, AbortHandle};

use crate::Failure;
use crate::handshake::Protocol;
use crate::reattach::Reattach;

pub(crate) mod connect;
mod connection_lease;
pub(crate) mod connection_pool;
mod detached_processes;
mod error_chain;
mod explain_start_error;
mod grpc_stdio;
mod launch;
mod plugin_files;
#[cfg_attr(not(unix), path = "client/process/windows.rs")]
pub(crate) mod process;
mod provider;
mod shutdown;
mod stderr_log;
pub(crate) mod transport;

pub use detached_processes::DetachedProcess;
pub use launch::Executable;
pub use plugin_files::FileStamp;
pub use plugin_files::{make_socket_dir, short_temp_dir};
pub use provider::GrpcProvider;
pub use shutdown::{detached_processes_of_plugins, shutdown_all};
#[cfg(any(test, fuzzing))]
pub(crate) use stderr_log::fuzz_log;

use connect::Dialer;
use connection_pool::ConnectionPool;

/// Settings for running plugins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Time limit for printing the handshake.
    pub start_timeout: Duration,
    /// Time limit for the first answer on a connection.
    pub connect_timeout: Duration,
    /// Time limit for a requested end.
    pub grace: Duration,
    /// Greatest number of connections that its calls share; at least one is always open.
    pub connections: usize,
    /// Whether to use TLS.
    pub tls: bool,
    /// Resource limits.
    pub limits: ProcessLimits,
}

/// Resource limits of a plugin, and of each process that it starts. An absent value means no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessLimits {
    /// Bytes of memory that it may write to. Addresses that it only reserves, as programs in Go do
    /// by the hundred gigabytes, do not count.
    pub memory: Option<u64>,
    /// Number of files and connections that it may have open.
    pub files: Option<u64>,
}

impl Settings {
    /// Terraform's settings. A second connection costs more than it brings as long as the host
    /// works on one thread: see the measurements in `tests/benches`.
    pub const TERRAFORM_DEFAULTS: Self = Self {
        // As in go-plugin: 60 s for the handshake, 2 s for the exit after `Shutdown`.
        start_timeout: Duration::from_mins(1),
        connect_timeout: Duration::from_secs(20),
        grace: Duration::from_secs(2),
        connections: 1,
        tls: true,
        limits: ProcessLimits { memory: None, files: None },
    };
}

/// A running plugin. Dropping it kills the process, if this library started it. [`Plugin::shutdown`] lets it end.
#[derive(Debug)]
pub struct Plugin {
    name: String,
    protocol: Protocol,
    pool: Arc<ConnectionPool>,
    stdio: AbortHandle,
    grace: Duration,
}

impl Plugin {
    /// Starts a plugin and connects to it.
    ///
    /// # Errors
    /// When the plugin cannot be started, does not behave like a plugin, or uses an unsupported
    /// protocol. The message contains the remedy. No process is left running.
    pub async fn launch(executable: &Executable, settings: &Settings) -> Result<Self, Failure> {
        let (pool, protocol) = launch::launch(executable, settings).await?;
        Ok(Self::new(executable.name.clone(), protocol, pool, settings))
    }

    /// Connects to a plugin that another process started. It is not ended with the connection.
    ///
    /// # Errors
    /// When no plugin answers at the address.
    pub async fn reattach(
        name: &str,
        reattach: &Reattach,
        settings: &Settings,
    ) -> Result<Self, Failure> {
        let Reattach { protocol, address, .. } = reattach;
        let connect_timeout = settings.connect_timeout;
        // Plaintext: `TF_REATTACH_PROVIDERS` has no field for a certificate, so debug servers use
        // none.
        let dialer = Dialer { address: address.clone(), tls: None, connect_timeout };
        let channel = dialer.connect_within_timeout().await.map_err(|error| {
            Failure::Launch(format!(
                "TF_REATTACH_PROVIDERS lists {name} as a running plugin, but {error}; start it \
                 again or unset the variable"
            ))
        })?;
        // No child: with `"Test": true` a host must neither kill the process nor call `Shutdown`.
        let pool = ConnectionPool::new(dialer, channel, settings.connections, None);
        Ok(Self::new(name.to_owned(), *protocol, pool, settings))
    }

    fn new(name: String, protocol: Protocol, pool: ConnectionPool, settings: &Settings) -> Self {
        // Followed on one connection only: go-plugin allows `StreamStdio` once in a process.
        let follow = pool
            .first_open_channel()
            .map(|channel| grpc_stdio::log_grpc_stdio_stream(name.clone(), channel));
        let stdio = task::spawn(async move {
            if let Some(follow) = follow {
                follow.await;
            }
        })
        .abort_handle();
        Self { name, protocol, pool: Arc::new(pool), stdio, grace: settings.grace }
    }

    /// Returns the protocol version that it uses.
    #[must_use]
    pub fn protocol(&self) -> Protocol {
        self.protocol
    }

    /// Returns its process id, if this library started it.
    #[must_use]
    pub fn pid(&self) -> Option<i32> {
        self.pool.child().map(|child| child.process.pid())
    }
}

impl Drop for Plugin {
    fn drop(&mut self) {
        // The task holds a connection of its own, which would outlive the pool's.
        self.stdio.abort();
        self.kill();
    }
}
