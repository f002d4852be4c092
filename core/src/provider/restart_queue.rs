//! Requests to restart providers that did not respond to a read-only call. A client has no access to the
//! pool. It sends a request and waits, and the task that maintains the pool handles the request.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

use formwork_plugin_protocol::Provider;
use tokio::sync::{Notify, oneshot};

use super::provider_slot::ProviderSlot;
use crate::addr::ProviderAddr;

/// The pending requests.
#[derive(Default)]
pub(super) struct RestartQueue {
    /// Number of tasks that serve restart requests. Without one, a wait would never end.
    n_workers: Cell<usize>,
    requests: RefCell<VecDeque<RestartRequest>>,
    left: Notify,
}

/// A provider that did not respond.
pub(super) struct RestartRequest {
    pub(super) addr: ProviderAddr,
    pub(super) slot: Rc<ProviderSlot>,
    pub(super) before: Arc<dyn Provider>,
    pub(super) done: oneshot::Sender<Option<Arc<dyn Provider>>>,
}

impl RestartQueue {
    /// Requests the check of a provider that did not respond. Returns the provider to call next, which
    /// is the same one if it is alive, or `None` if no provider is available.
    pub(super) async fn request_replacement(
        &self,
        addr: &ProviderAddr,
        slot: &Rc<ProviderSlot>,
        before: Arc<dyn Provider>,
    ) -> Option<Arc<dyn Provider>> {
        // Outside of a walk no task serves requests, and a wait would never end.
        if self.n_workers.get() == 0 {
            return None;
        }
        let (done, replaced) = oneshot::channel();
        let request = RestartRequest { addr: addr.clone(), slot: slot.clone(), before, done };
        self.requests.borrow_mut().push_back(request);
        self.left.notify_one();
        // When the task that serves requests ends, the sender is dropped, and so does this wait.
        replaced.await.ok().flatten()
    }
}

/// Counts a task that serves restart requests, until it is dropped.
pub(super) struct RestartWorker<'m>(&'m RestartQueue);

impl<'m> RestartWorker<'m> {
    pub(super) fn new(restarts: &'m RestartQueue) -> Self {
        restarts.n_workers.set(restarts.n_workers.get() + 1);
        Self(restarts)
    }

    /// Waits for the next request.
    pub(super) async fn next_request(&self) -> RestartRequest {
        loop {
            if let Some(request) = self.0.requests.borrow_mut().pop_front() {
                return request;
            }
            self.0.left.notified().await;
        }
    }
}

impl Drop for RestartWorker<'_> {
    fn drop(&mut self) {
        self.0.n_workers.set(self.0.n_workers.get() - 1);
    }
}
