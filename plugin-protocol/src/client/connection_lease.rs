//! Sources of connections for calls. Opens none itself: the pool does, and a test may have one of
//! its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use tonic::transport::Channel;

use crate::Failure;

/// The connections to one plugin, and the known facts about its end.
#[async_trait]
pub(crate) trait ChannelSource: Send + Sync {
    /// Returns a connection for one call. The call holds the lease until its last answer.
    ///
    /// # Errors
    /// When no connection exists and none can be opened.
    async fn lease(&self) -> Result<Lease, Failure>;

    /// Explains a connection that broke during a call: may wait a moment for the plugin's exit status
    /// and last output. `reason` is the observation of the call.
    async fn explain_loss(&self, reason: String) -> Failure;
}

/// A connection in use by one call.
#[derive(Debug)]
pub(crate) struct Lease {
    /// The connection.
    pub(crate) channel: Channel,
    _in_flight: DecrementInFlightOnDrop,
}

impl Lease {
    /// Lends `channel` and counts the call in `in_flight` until the lease is dropped.
    pub(crate) fn new(channel: Channel, in_flight: Arc<AtomicUsize>) -> Self {
        // Relaxed: the count only guides the choice of a connection, and no other memory depends on
        // it.
        in_flight.fetch_add(1, Ordering::Relaxed);
        Self { channel, _in_flight: DecrementInFlightOnDrop(in_flight) }
    }
}

#[derive(Debug)]
struct DecrementInFlightOnDrop(Arc<AtomicUsize>);

impl Drop for DecrementInFlightOnDrop {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
