//! Whether a run is to come to an end. Providers that are still being started are then not waited for
//! any longer than it takes most of them: nothing has been done through them.

use std::cell::Cell;
use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use formwork_plugin_protocol::Failure;
use futures_util::future::{Either, select};
use tokio::sync::Notify;

/// How long a provider that is being started is waited for once the run is to end.
const LAST_CHANCE: Duration = Duration::from_secs(1);

/// Whether a run is to come to an end.
#[derive(Default)]
pub(super) struct Stopping {
    is_wanted: Cell<bool>,
    begun: Notify,
}

impl Stopping {
    /// From now on it is.
    pub(super) fn begin(&self) {
        self.is_wanted.set(true);
        self.begun.notify_waiters();
    }

    /// Whether it is.
    pub(super) fn is_wanted(&self) -> bool {
        self.is_wanted.get()
    }

    /// Waits for the start of a provider, or for what it offers; once the run is to end, not for long.
    ///
    /// # Errors
    /// When it was given up, beside what may be wrong with the provider.
    pub(super) async fn unless<T>(
        &self,
        answer: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        let given_up = async {
            while !self.is_wanted.get() {
                self.begun.notified().await;
            }
            tokio::time::sleep(LAST_CHANCE).await;
        };
        match select(pin!(answer), pin!(given_up)).await {
            Either::Left((answer, _)) => answer,
            Either::Right(_) => {
                Err(Failure::Launch("the run was interrupted before it was ready".to_owned()))
            }
        }
    }
}
