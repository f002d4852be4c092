//! Lets tasks that become ready together share one request to make their records durable.

use std::task::Poll;

/// Lets the other tasks that are polled with this one run once, before anything else does.
pub(super) async fn give_way() {
    let mut gave_way = false;
    std::future::poll_fn(|context| {
        if std::mem::replace(&mut gave_way, true) {
            return Poll::Ready(());
        }
        // All visits are polled by one task, so this puts the visit behind the others that are ready
        // within that task.
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
