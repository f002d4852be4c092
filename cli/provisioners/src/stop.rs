//! Request to end work soon. The worker decides how it ends.

use tokio::sync::watch;

/// Set once, seen by all work that is under way and by all that begins later.
#[derive(Debug)]
pub(crate) struct StopSignal(watch::Sender<bool>);

impl Default for StopSignal {
    fn default() -> Self {
        Self(watch::Sender::new(false))
    }
}

impl StopSignal {
    /// Work is to end soon.
    pub(crate) fn request(&self) {
        self.0.send_replace(true);
    }

    /// Waits until that is wished.
    pub(crate) async fn wait_until_requested(&self) {
        // The sender lives as long as this, so there is no error.
        if self.0.subscribe().wait_for(|asked| *asked).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
