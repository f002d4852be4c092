//! Writes the copy of a journal: a task takes all pending records and writes them as one part.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

use formwork_core::state::journal::{JournalCopy, JournalCopyError};
use futures_util::FutureExt as _;
use futures_util::future::LocalBoxFuture;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

use super::journal_part::JournalPart;
use super::{AppendOutcome, JournalStore};
use crate::cause::Cause;
use crate::retry::RetryPolicy;

/// The attempts at writing a part while announced calls wait for it.
const RETRY_POLICY: RetryPolicy =
    RetryPolicy { most: 6, shortest: Duration::from_millis(100), longest: Duration::from_secs(5) };

/// Timeout of one attempt.
const MAX_ATTEMPT_TIME: Duration = Duration::from_secs(30);

/// The interval of heartbeats of a run without new records, if they are required.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(20);

/// Maximum number of bytes in one part, unless a single record is longer.
const MAX_PART_LEN: usize = 4 << 20;

/// The copy of the journal of an active run.
pub(super) struct JournalCopyTask {
    records: mpsc::UnboundedSender<Vec<u8>>,
    n_pushed: Cell<u64>,
    progress: watch::Receiver<CopyProgress>,
    task: JoinHandle<u64>,
    store: Arc<dyn JournalStore>,
    run: String,
}

/// Progress of the copy.
#[derive(Clone, Debug, Default)]
struct CopyProgress {
    n_durable: u64,
    error: Option<JournalCopyError>,
}

/// Writes parts, one after the other.
struct JournalPartWriter {
    store: Arc<dyn JournalStore>,
    run: String,
    next: u64,
    /// Whether the next part may already be stored, as a heartbeat whose response was lost.
    has_unanswered_heartbeat: bool,
}

impl JournalCopyTask {
    /// Starts writing with the part of the given number.
    pub(super) fn start(store: Arc<dyn JournalStore>, run: String, next: u64) -> Self {
        let (records, queue) = mpsc::unbounded_channel();
        let (progress_sender, progress) = watch::channel(CopyProgress::default());
        let writer = JournalPartWriter {
            store: store.clone(),
            run: run.clone(),
            next,
            has_unanswered_heartbeat: false,
        };
        let task = tokio::spawn(writer.write_queued_parts(queue, progress_sender));
        Self { records, n_pushed: Cell::new(0), progress, task, store, run }
    }
}

#[async_trait::async_trait(?Send)]
impl JournalCopy for JournalCopyTask {
    fn push_records(&self, records: Vec<u8>) {
        self.n_pushed.set(self.n_pushed.get() + 1);
        // After a failure no more records are accepted, and flushing returns the failure.
        self.records.send(records).ok();
    }

    fn flush_records(&self) -> LocalBoxFuture<'static, Result<(), JournalCopyError>> {
        let (mut progress, target) = (self.progress.clone(), self.n_pushed.get());
        let location = self.store.store_location();
        async move {
            let is_finished =
                |state: &CopyProgress| state.n_durable >= target || state.error.is_some();
            match progress.wait_for(is_finished).await {
                // Stored records count, even if a later part has failed.
                Ok(state) if state.n_durable >= target => Ok(()),
                Ok(state) => {
                    Err(state.error.clone().unwrap_or(JournalCopyError::TakenOver { location }))
                }
                Err(_) => {
                    let cause: Cause = "the task that writes them has ended".into();
                    Err(JournalCopyError::Failed { doing: "write", location, cause: cause.into() })
                }
            }
        }
        .boxed_local()
    }

    async fn remove_copy(self: Box<Self>) -> Result<(), JournalCopyError> {
        let Self { records, task, store, run, .. } = *self;
        // When the sender is dropped, the task writes the rest of the queue and ends.
        drop(records);
        let location = store.store_location();
        let failed = |cause: Cause| {
            let location = location.clone();
            JournalCopyError::Failed { doing: "write", location, cause: cause.into() }
        };
        let next = task.await.map_err(|error| failed(error.into()))?;
        // An interrupted deletion must not leave a journal without its beginning.
        match store.append_part(&run, next, &JournalPart::End.encode()).await.map_err(failed)? {
            AppendOutcome::Stored => store.remove_parts_below(&run, next + 1).await.map_err(failed),
            AppendOutcome::Occupied | AppendOutcome::CannotStore(_) => {
                Err(JournalCopyError::TakenOver { location })
            }
        }
    }
}

impl JournalPartWriter {
    /// Writes records until the sender is dropped. Returns the number of the next part.
    async fn write_queued_parts(
        mut self,
        mut queue: mpsc::UnboundedReceiver<Vec<u8>>,
        progress_sender: watch::Sender<CopyProgress>,
    ) -> u64 {
        loop {
            let mut bytes = match self.wait_for_records(&mut queue).await {
                Ok(Some(bytes)) => bytes,
                Ok(None) => break,
                Err(error) => {
                    progress_sender.send_modify(|progress| progress.error = Some(error));
                    break;
                }
            };
            // Records accumulate while a part is written, and one request for all of them is
            // sufficient.
            let mut n_records = 1;
            while bytes.len() < MAX_PART_LEN
                && let Ok(following) = queue.try_recv()
            {
                bytes.extend(following);
                n_records += 1;
            }
            match self.write_records(bytes).await {
                Ok(()) => progress_sender.send_modify(|progress| progress.n_durable += n_records),
                Err(error) => {
                    progress_sender.send_modify(|progress| progress.error = Some(error));
                    // Records after a missing part could not be read.
                    break;
                }
            }
        }
        if self.has_unanswered_heartbeat {
            // If this also fails, the next part fails, and its error is reported.
            self.write_records(Vec::new()).await.ok();
        }
        self.next
    }

    /// Waits for the next records. Returns `None` when the sender is dropped. Sends heartbeats meanwhile if
    /// the store requires them.
    async fn wait_for_records(
        &mut self,
        queue: &mut mpsc::UnboundedReceiver<Vec<u8>>,
    ) -> Result<Option<Vec<u8>>, JournalCopyError> {
        if !self.store.needs_heartbeats() {
            return Ok(queue.recv().await);
        }
        loop {
            let waiting = tokio::time::timeout(HEARTBEAT_INTERVAL, queue.recv());
            if let Ok(records) = waiting.await {
                return Ok(records);
            }
            match self.write_records(Vec::new()).await {
                Ok(()) => {}
                // A call may take longer than a network outage. Only a failure to write records is
                // reported.
                Err(JournalCopyError::Failed { .. }) => self.has_unanswered_heartbeat = true,
                Err(error) => return Err(error),
            }
        }
    }

    /// Writes records as one part. A part without records is a heartbeat.
    async fn write_records(&mut self, records: Vec<u8>) -> Result<(), JournalCopyError> {
        if self.has_unanswered_heartbeat {
            // The same bytes, so that the part counts as written if it is already stored.
            self.write_part(JournalPart::Records(Vec::new())).await?;
            self.has_unanswered_heartbeat = false;
            if records.is_empty() {
                return Ok(());
            }
        }
        self.write_part(JournalPart::Records(records)).await
    }

    async fn write_part(&mut self, part: JournalPart) -> Result<(), JournalCopyError> {
        let (bytes, location) = (part.encode(), self.store.store_location());
        let mut attempts = RETRY_POLICY.begin_attempts("write the shared journal");
        loop {
            let append = self.store.append_part(&self.run, self.next, &bytes);
            let cause: Cause = match tokio::time::timeout(MAX_ATTEMPT_TIME, append).await {
                Ok(Ok(AppendOutcome::Stored)) => {
                    self.next += 1;
                    return Ok(());
                }
                // A lost response counts as stored, so only a machine that has taken over the run
                // can have written a part with this number.
                Ok(Ok(AppendOutcome::Occupied | AppendOutcome::CannotStore(_))) => {
                    return Err(JournalCopyError::TakenOver { location });
                }
                Ok(Err(cause)) => cause,
                Err(_) => "it did not respond in time".into(),
            };
            if !attempts.wait_for_next_attempt(None).await {
                return Err(JournalCopyError::Failed {
                    doing: "write",
                    location,
                    cause: cause.into(),
                });
            }
        }
    }
}
