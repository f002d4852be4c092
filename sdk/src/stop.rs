//! The host's wish that what is under way be cut short.

use tokio::sync::watch;

/// Stop signal of the host for a handler. The handler decides on its reaction; most are done before
/// they could look.
#[derive(Clone, Debug)]
pub struct Stop(watch::Receiver<bool>);

impl Stop {
    /// Makes one, and what asks it to stop.
    #[must_use]
    pub fn new() -> (StopSwitch, Self) {
        let (sender, receiver) = watch::channel(false);
        (StopSwitch(sender), Self(receiver))
    }

    /// Waits until the host wants an end; forever if it never does.
    pub async fn requested(&self) {
        if self.0.clone().wait_for(|stop| *stop).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// Asks handlers to come to an end.
#[derive(Debug)]
pub struct StopSwitch(watch::Sender<bool>);

impl StopSwitch {
    /// Asks all that are under way, and all that will be.
    pub fn request(&self) {
        self.0.send_replace(true);
    }
}
