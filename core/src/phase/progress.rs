//! Reports to the watcher that a long operation is still under way.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use tokio::time::Instant;

use crate::addr::InstanceAddr;
use crate::change::Action;
use crate::event::{Event, ObjectLabel};
use crate::session::Session;

/// Interval at which a long operation is mentioned.
const INTERVAL: Duration = Duration::from_secs(10);

/// Subject of the progress events of an operation.
#[derive(Clone, Copy)]
pub(crate) struct ProgressSubject<'a> {
    pub(crate) addr: &'a InstanceAddr,
    pub(crate) action: Action,
    pub(crate) label: Option<&'a ObjectLabel>,
}

/// Waits for an operation, mentioning it every ten seconds, and says how long it took.
pub(crate) async fn watched<T>(
    session: &Session<'_>,
    subject: ProgressSubject<'_>,
    operation: Pin<&mut impl Future<Output = T>>,
) -> (T, Duration) {
    let ProgressSubject { addr, action, label } = subject;
    let tick = |elapsed| {
        session.watch.see(&Event::Progress { addr, action, label: label.cloned(), elapsed });
    };
    ticking(operation, tick).await
}

/// Waits for an operation, calls a function every ten seconds, and returns the duration. The
/// awaited future stays in place: moved into here it would take its room twice.
pub(crate) async fn ticking<T>(
    mut operation: Pin<&mut impl Future<Output = T>>,
    tick: impl Fn(Duration),
) -> (T, Duration) {
    let start = Instant::now();
    loop {
        match tokio::time::timeout(INTERVAL, operation.as_mut()).await {
            Ok(result) => return (result, start.elapsed()),
            Err(_) => tick(start.elapsed()),
        }
    }
}
