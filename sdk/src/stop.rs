//! The host's request to stop pending calls.

use tokio::sync::watch;

/// Stop signal of the host for a handler. The handler decides on its reaction. Most handlers finish
/// before they would notice it.
///
/// ```
/// use formwork_sdk::stop::Stop;
/// use formwork_sdk::testing::wait;
///
/// let (switch, stop) = Stop::new();
/// switch.request();
/// wait(stop.wait_until_requested());
/// ```
#[derive(Clone, Debug)]
pub struct Stop(watch::Receiver<bool>);

impl Stop {
    /// Creates a signal and its switch.
    #[must_use]
    pub fn new() -> (StopSwitch, Self) {
        let (sender, receiver) = watch::channel(false);
        (StopSwitch(sender), Self(receiver))
    }

    /// Waits until the host requests a stop; forever if it never does.
    pub async fn wait_until_requested(&self) {
        // The switch was dropped, so no request can come any more.
        if self.0.clone().wait_for(|stop| *stop).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// The switch of a stop signal.
///
/// ```
/// use formwork_sdk::stop::Stop;
/// use formwork_sdk::testing::wait;
///
/// let (switch, stop) = Stop::new();
/// switch.request();
/// // A handler that begins later is stopped, too.
/// let later = stop.clone();
/// wait(later.wait_until_requested());
/// ```
#[derive(Debug)]
pub struct StopSwitch(watch::Sender<bool>);

impl StopSwitch {
    /// Stops all pending and future handlers.
    pub fn request(&self) {
        // `send` would fail and lose the request while no call listens.
        self.0.send_replace(true);
    }
}
