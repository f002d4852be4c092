//! Processes of the provider: their start and end, and limits on their number.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use formwork_plugin_protocol::{Failure, Provider, ProviderExt as _};

use super::{CloudProvider, FakeCloud};
use crate::addr::ProviderAddr;
use crate::provider::{CallDeadlines, ProviderLauncher};

#[async_trait(?Send)]
impl ProviderLauncher for FakeCloud {
    async fn launch_provider(&self, _: &ProviderAddr) -> Result<Arc<dyn Provider>, Failure> {
        let number = {
            let mut things = self.lock_contents();
            things.n_launches += 1;
            things.n_running += 1;
            things.most_running = things.most_running.max(things.n_running);
            things.n_launches
        };
        let starting = StartingProcess(self);
        self.hang_while_scripted(&format!("launch {number}")).await;
        // A start takes a moment, so that others can begin in the meantime.
        tokio::task::yield_now().await;
        // From here on it runs, and `close` or its death counts its end.
        std::mem::forget(starting);
        let (region, dead, stopped) =
            (Mutex::default(), AtomicBool::default(), AtomicBool::default());
        Ok(Arc::new(CloudProvider { cloud: self.clone(), region, dead, stopped, number }))
    }

    fn max_processes(&self) -> Option<usize> {
        self.lock_contents().limit
    }

    fn call_deadlines(&self) -> CallDeadlines {
        self.lock_contents().deadlines.clone()
    }

    fn message_limit(&self) -> usize {
        self.lock_contents()
            .message_limit
            .unwrap_or(formwork_plugin_protocol::message_limits::MAX_MESSAGE_BYTES)
    }

    async fn close_provider(&self, provider: &Arc<dyn Provider>) {
        // The end of one that died was counted when it died.
        let is_dead = matches!(provider.metadata().await, Err(Failure::Lost { .. }));
        // The process takes a moment to end.
        for _ in 0..3 {
            tokio::task::yield_now().await;
        }
        self.record_call("end".into());
        if !is_dead {
            self.lock_contents().n_running -= 1;
        }
    }
}

/// A process that is being started. It ends when it is not waited for any more.
struct StartingProcess<'c>(&'c FakeCloud);

impl Drop for StartingProcess<'_> {
    fn drop(&mut self) {
        self.0.lock_contents().n_running -= 1;
    }
}
