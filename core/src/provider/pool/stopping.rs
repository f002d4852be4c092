//! Whether a run is to come to an end. Providers that are still being started are then given up, as
//! nothing has been done through them. Only the effect of a lost change is found out all the same.

use std::cell::Cell;
use std::future::Future;
use std::pin::pin;

use formwork_plugin_protocol::Failure;
use futures_util::future::{Either, select};
use tokio::sync::Notify;

/// Purpose for which a provider is started.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum StartPurpose {
    /// For something that is not to begin once the run is to end.
    Work,
    /// To report the effect of a change that brought no answer. No later run can report it.
    EffectQuery,
}

/// Whether a run is to come to an end.
#[derive(Default)]
pub(super) struct StopSignal {
    is_wanted: Cell<bool>,
    begun: Notify,
}

impl StopSignal {
    /// From now on it is.
    pub(super) fn request_stop(&self) {
        self.is_wanted.set(true);
        self.begun.notify_waiters();
    }

    /// Whether work for this purpose is given up.
    pub(super) fn forbids_start(&self, purpose: StartPurpose) -> bool {
        self.is_wanted.get() && purpose == StartPurpose::Work
    }

    /// Waits for the start of a provider, or for its schema, unless the run is to end.
    ///
    /// # Errors
    /// When it was given up, or the provider failed.
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
        // Polled in this order: an interrupt wins, because nothing was done through the provider
        // yet.
        match select(pin!(forbidden), pin!(answer)).await {
            Either::Left(_) => {
                Err(Failure::Launch("the run was interrupted before it was ready".to_owned()))
            }
            Either::Right((answer, _)) => answer,
        }
    }
}
