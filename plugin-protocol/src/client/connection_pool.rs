//! The connections to one plugin: shared by its calls, opened when the calls queue up.
//!
//! One connection is one pipe and one task on both sides, so a second one is useful only when many
//! calls are in flight. The pool is independent of the kind of calls.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use tonic::transport::Channel;
use tracing::debug;

use super::connect::Dialer;
use super::connection_lease::{ChannelSource, Lease};
use super::launch::PluginChild;
use crate::Failure;

/// Number of calls that each connection must carry before another is opened.
const CALLS_BEFORE_NEXT_CONNECTION: usize = 8;
/// Time that a broken connection waits for the exit of its process.
const EXIT_STATUS_WAIT: Duration = Duration::from_secs(1);
/// Time to wait for the remaining log of an ended plugin.
const LAST_LINES_WAIT: Duration = Duration::from_millis(500);

/// The connections to a plugin, and its process if this library started it.
#[derive(Debug)]
pub(crate) struct ConnectionPool {
    shared: Arc<SharedPool>,
    child: Option<PluginChild>,
}

#[derive(Debug)]
struct SharedPool {
    dialer: Dialer,
    limit: usize,
    state: Mutex<PoolState>,
}

#[derive(Debug)]
struct PoolState {
    connections: Vec<Connection>,
    /// A connection is being opened, or could not be and need not be tried again.
    settled: bool,
    closed: bool,
}

#[derive(Debug)]
struct Connection {
    channel: Channel,
    in_flight: Arc<AtomicUsize>,
}

impl Connection {
    fn new(channel: Channel) -> Self {
        Self { channel, in_flight: Arc::default() }
    }

    fn calls_in_flight(&self) -> usize {
        self.in_flight.load(Ordering::Relaxed)
    }
}

impl ConnectionPool {
    /// Creates a pool of up to `limit` connections, of which `first` is already open.
    pub(crate) fn new(
        dialer: Dialer,
        first_channel: Channel,
        limit: usize,
        child: Option<PluginChild>,
    ) -> Self {
        let connections = vec![Connection::new(first_channel)];
        let state = Mutex::new(PoolState { connections, settled: false, closed: false });
        Self { shared: Arc::new(SharedPool { dialer, limit, state }), child }
    }

    /// Returns the process at the other end of the connections, if this process started it.
    pub(crate) fn child(&self) -> Option<&PluginChild> {
        self.child.as_ref()
    }

    /// Returns a connection for internal calls, unless all are closed.
    pub(crate) fn first_open_channel(&self) -> Option<Channel> {
        self.shared.lock().connections.first().map(|connection| connection.channel.clone())
    }

    /// Gives no more leases. A connection closes when its last call ends.
    pub(crate) fn close_after_calls_in_flight(&self) {
        let mut state = self.shared.lock();
        state.closed = true;
        // Dropping the channels closes the connections. A call in flight has a clone of its own.
        state.connections.clear();
    }
}

impl SharedPool {
    fn lock(&self) -> MutexGuard<'_, PoolState> {
        // No panic leaves the list half changed, so a poisoned lock protects good data.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens one more connection in the background. Calls continue to use the others, permanently
    /// if the plugin accepts no more.
    async fn open_another_connection(self: Arc<Self>) {
        let dialed = self.dialer.connect_within_timeout().await;
        let mut state = self.lock();
        match dialed {
            // The pool was closed while this connection was being opened. Keeping it would hold the
            // plugin open.
            Ok(_) if state.closed => (),
            Ok(channel) => {
                state.connections.push(Connection::new(channel));
                state.settled = false;
            }
            // `settled` stays set: after one refusal, no further connection is opened.
            Err(error) => debug!(%error, "another connection to a plugin could not be opened"),
        }
    }
}

#[async_trait]
impl ChannelSource for ConnectionPool {
    async fn lease(&self) -> Result<Lease, Failure> {
        // A call over a connection to a dead process would fail too, but without its exit status,
        // and only after the transport has noticed.
        if self.child.as_ref().is_some_and(|child| child.process.exit_if_ended().is_some()) {
            return Err(self.explain_loss("the plugin has ended".to_owned()).await);
        }
        let mut state = self.shared.lock();
        let Some(idlest) =
            state.connections.iter().min_by_key(|connection| connection.calls_in_flight())
        else {
            let reason = "the plugin was shut down".to_owned();
            return Err(Failure::Lost { reason, exit: None, output: String::new() });
        };
        let load = idlest.calls_in_flight();
        let lease = Lease::new(idlest.channel.clone(), Arc::clone(&idlest.in_flight));
        if load >= CALLS_BEFORE_NEXT_CONNECTION
            && state.connections.len() < self.shared.limit
            && !state.settled
        {
            // Set before the task starts, so that a burst of calls opens one connection and not one
            // for each call.
            state.settled = true;
            tokio::spawn(Arc::clone(&self.shared).open_another_connection());
        }
        Ok(lease)
    }

    async fn explain_loss(&self, reason: String) -> Failure {
        let Some(child) = &self.child else {
            return Failure::Lost { reason, exit: None, output: String::new() };
        };
        // The connection usually breaks a moment before the process can be waited for, and its exit
        // status is the best explanation.
        let exit = child.process.wait_up_to(EXIT_STATUS_WAIT).await.map(|exit| exit.to_string());
        // Without an exit the plugin may continue to write, and waiting for the end of its log
        // would only delay the error.
        let timeout = if exit.is_some() { LAST_LINES_WAIT } else { Duration::ZERO };
        let output = child.log.panic_or_last_lines(timeout).await;
        Failure::Lost { reason, exit, output }
    }
}

#[cfg(test)]
mod tests;
