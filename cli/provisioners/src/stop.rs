//! Request to stop. The worker decides how it stops.

use tokio::sync::watch;

/// A flag that is set once and stops current and later work.
#[derive(Debug)]
pub(crate) struct StopSignal(watch::Sender<bool>);

impl Default for StopSignal {
    fn default() -> Self {
        Self(watch::Sender::new(false))
    }
}

impl StopSignal {
    /// Requests that all work stops.
    pub(crate) fn request(&self) {
        self.0.send_replace(true);
    }

    /// Waits until a stop is requested.
    pub(crate) async fn wait_until_requested(&self) {
        // The sender lives as long as this, so there is no error.
        if self.0.subscribe().wait_for(|requested| *requested).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
