//! The stop signal of a run. Starting providers are then abandoned, because no change was made through
//! them. Only starts that determine the effect of a lost change continue.

use std::cell::Cell;
use std::future::Future;
use std::pin::pin;

use formwork_plugin_protocol::Failure;
use futures_util::future::{Either, select};
use tokio::sync::Notify;

/// The purpose of the start of a provider.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum StartPurpose {
    /// For work that must not begin after a stop request.
    Work,
    /// To determine the effect of a change without a response. No later run can determine it.
    EffectQuery,
}

/// Whether a run must end.
#[derive(Default)]
pub(super) struct StopSignal {
    is_wanted: Cell<bool>,
    begun: Notify,
}

impl StopSignal {
    /// Requests the end of the run.
    pub(super) fn request_stop(&self) {
        self.is_wanted.set(true);
        self.begun.notify_waiters();
    }

    /// Returns whether starts for this purpose are abandoned.
    pub(super) fn forbids_start(&self, purpose: StartPurpose) -> bool {
        self.is_wanted.get() && purpose == StartPurpose::Work
    }

    /// Waits for the start of a provider, or for its schema, unless the run must end.
    ///
    /// # Errors
    /// Returns an error if the start was abandoned, or if the provider failed.
    pub(super) async fn run_unless_stopped<T>(
        &self,
        purpose: StartPurpose,
        answer: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        let forbidden = async {
            while !self.forbids_start(purpose) {
                self.begun.notified().await;
            }
        };
        // Polled in this order, so that an interrupt takes precedence, because no change was made
        // through the provider yet.
        match select(pin!(forbidden), pin!(answer)).await {
            Either::Left(_) => {
                Err(Failure::Launch("the run was interrupted before it was ready".to_owned()))
            }
            Either::Right((answer, _)) => answer,
        }
    }
}
