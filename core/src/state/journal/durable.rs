//! Makes the records of a journal durable: in their sink, and in the shared store if a copy exists. All
//! tasks that wait at the same time share one request to each of them.

use std::task::Poll;

use futures_util::FutureExt as _;
use futures_util::future::{LocalBoxFuture, Shared};

use super::{Journal, JournalError, JournalWritability};

/// A pending request, shared by all tasks that wait for it.
#[derive(Clone)]
pub(super) struct PendingSync {
    /// The last record that the request makes durable.
    covers: u64,
    done: Shared<LocalBoxFuture<'static, Result<(), JournalError>>>,
}

impl Journal {
    /// Makes all appended records durable, except buffered ones. All tasks that wait at the same time share one
    /// request to the disk, and one to the shared store.
    ///
    /// # Errors
    /// Returns an error if a sync fails. The appended records must then be considered lost.
    pub async fn make_durable(&self) -> Result<(), JournalError> {
        let target = self.last_written_number();
        // Others that are ready get to append first, and share the request.
        yield_once().await;
        while self.durable.get() < target {
            if matches!(
                self.health.get(),
                JournalWritability::Closed | JournalWritability::NotDurable
            ) {
                return Err(self.broken_error());
            }
            // A running sync may have started before this record was appended, and then covers
            // less. In that case the loop starts another one.
            let sync = self.sync.borrow().clone();
            let sync = match sync {
                Some(sync) => sync,
                None => self.start_sync(),
            };
            let result = sync.done.clone().await;
            // All waiters of a finished sync arrive here. Only its own entry may be removed, since
            // one of them may have started the next one already.
            self.sync.borrow_mut().take_if(|current| current.covers == sync.covers);
            if let Err(error) = result {
                // After a failed request the system may drop the data that it could not write, and report
                // success for a second request. So no second request is made.
                if self.health.get() != JournalWritability::Closed {
                    self.health.set(JournalWritability::NotDurable);
                }
                return Err(error);
            }
            self.durable.set(self.durable.get().max(sync.covers));
        }
        Ok(())
    }

    fn start_sync(&self) -> PendingSync {
        #[cfg(test)]
        self.n_syncs.update(|n_syncs| n_syncs + 1);
        let in_place = self.sink.sync_records();
        let copied = self.copy.as_ref().map(|copy| copy.flush_records());
        let done = async move {
            let in_copy = async {
                match copied {
                    Some(copied) => copied.await,
                    None => Ok(()),
                }
            };
            let (synced, copied) = futures_util::join!(in_place, in_copy);
            synced?;
            Ok(copied?)
        };
        let sync =
            PendingSync { covers: self.last_written_number(), done: done.boxed_local().shared() };
        *self.sync.borrow_mut() = Some(sync.clone());
        sync
    }

    /// Number of sync requests to the disk.
    #[cfg(test)]
    pub(crate) fn disk_sync_count(&self) -> usize {
        self.n_syncs.get()
    }

    /// Simulates a full disk once the journal has a number of records.
    #[cfg(test)]
    pub(crate) fn fill_disk_after(&self, n_records: u64) {
        self.room.set(n_records);
    }
}

/// Yields once to the other tasks that are polled with this one.
pub(super) async fn yield_once() {
    let mut gave_way = false;
    std::future::poll_fn(|context| {
        if std::mem::replace(&mut gave_way, true) {
            return Poll::Ready(());
        }
        // All visits are polled by one task, so this queues the visit after the others that are ready
        // within that task.
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
