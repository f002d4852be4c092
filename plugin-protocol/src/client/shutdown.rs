//! Shutdown of a plugin: requests its exit, waits for the grace period, then kills it. No process,
//! zombie or socket remains. Interrupting the work of a provider is a call of the contract
//! (`StopProvider`), and not done here.

use std::time::Duration;

use futures_util::future::join_all;
use tokio::time::{Instant, timeout};
use tracing::{debug, warn};

use super::Plugin;
use super::detached_processes::{self, DetachedProcess};
use crate::wire::generated::plugin::Empty;
use crate::wire::generated::plugin::grpc_controller_client::GrpcControllerClient;

/// Time that the kernel gets to end a killed process.
const KILL_WAIT: Duration = Duration::from_secs(2);

/// Shuts all `plugins` down at the same time, so that together they take no longer than the slowest.
pub async fn shutdown_all(plugins: impl IntoIterator<Item = &Plugin>) {
    join_all(plugins.into_iter().map(Plugin::shutdown)).await;
}

/// Returns the detached processes of `plugins`, all of which were shut down.
pub fn detached_processes_of_plugins<'p>(
    plugins: impl IntoIterator<Item = &'p Plugin>,
) -> Vec<DetachedProcess> {
    detached_processes::detached_processes_of_children(plugins.into_iter().filter_map(|plugin| {
        let child = plugin.pool.child()?;
        Some((plugin.name.as_str(), child))
    }))
}

impl Plugin {
    /// Ends the plugin: calls still in flight are lost. Returns when the process has exited, after
    /// the grace period at the latest. A plugin that this process did not start is left running.
    pub async fn shutdown(&self) {
        self.stdio.abort();
        let Some(child) = self.pool.child() else {
            self.pool.close_after_calls_in_flight();
            return;
        };
        // One deadline for the request and the exit together, or a plugin that answers slowly would
        // get twice the grace.
        let deadline = Instant::now() + self.grace;
        if let Some(channel) = self.pool.first_open_channel() {
            // The answer is ignored: a plugin may exit before it can send one.
            let mut controller = GrpcControllerClient::new(channel);
            match timeout(self.grace, controller.shutdown(Empty {})).await {
                Ok(_) | Err(_) => (),
            }
        }
        // In go-plugin's order: the connection is closed before the wait for the exit.
        self.pool.close_after_calls_in_flight();
        let remaining_time = deadline.saturating_duration_since(Instant::now());
        if child.process.wait_up_to(remaining_time).await.is_none() {
            warn!(plugin = self.name, "plugin did not exit when asked, and is killed");
            child.process.kill();
            // A process in an uninterruptible system call does not end immediately, even by
            // SIGKILL, so this wait has a limit too.
            child.process.wait_up_to(KILL_WAIT).await;
        }
        debug!(plugin = self.name, pid = child.process.pid(), "plugin ended");
    }

    /// Kills the plugin immediately, if this process started it.
    pub fn kill(&self) {
        self.pool.close_after_calls_in_flight();
        if let Some(child) = self.pool.child() {
            child.process.kill();
        }
    }
}
