//! Transcripts: the raw bytes of every call and answer, with times, methods and outcomes. A
//! [`Recorder`] records one in a layer over a transport. A transcript is stored as a file and
//! replayed byte for byte.

mod decode;
mod file_format;
mod replay;

use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::{FutureExt as _, StreamExt as _, stream};

use crate::handshake::Protocol;
use crate::message_limits;
use crate::raw::{RawAnswers, RawCall, RawError, RawStatus, Transport};

pub use decode::{CallDecodeError, DecodedCall};
pub use file_format::ReadError;

/// Recorded calls, in the order in which they began.
///
/// Requests and answers are stored as they were sent, secrets included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transcript {
    /// The time from which the calls' starts count, to the microsecond.
    pub begun: SystemTime,
    /// The calls.
    pub calls: Vec<RecordedCall>,
}

/// A recorded call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedCall {
    /// The path of the method: `/tfplugin6.Provider/ReadResource`.
    pub path: String,
    /// The time from the beginning of the transcript to the start of the call, to the microsecond.
    pub start: Duration,
    /// The time from the start of the call to its end, to the microsecond.
    pub duration: Duration,
    /// The encoded request messages.
    pub requests: Vec<Bytes>,
    /// The encoded answer messages, as many as arrived.
    pub answers: Vec<Bytes>,
    /// The end of the call.
    pub outcome: CallOutcome,
}

/// The end of a recorded call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallOutcome {
    /// The status was OK.
    Ok,
    /// The status was another one.
    Status(RawStatus),
    /// No status arrived; the reason is for people.
    Failed(String),
    /// The caller stopped waiting, or the call had not ended when the transcript was taken.
    Unfinished,
}

impl RecordedCall {
    /// Returns the version of the protocol; none if the service is not the provider's.
    #[must_use]
    pub fn protocol(&self) -> Option<Protocol> {
        let service = self.path.strip_prefix('/')?.rsplit_once('/')?.0;
        let number = service.strip_prefix("tfplugin")?.strip_suffix(".Provider")?;
        Protocol::from_number(number.parse().ok()?)
    }

    /// Returns the name of the method, as its version has it.
    #[must_use]
    pub fn method(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }

    /// Returns the call as it can be sent again.
    #[must_use]
    pub fn to_raw_call(&self) -> RawCall {
        RawCall {
            path: Cow::Owned(self.path.clone()),
            messages: self.requests.clone(),
            answer_limit: message_limits::MAX_REQUEST_BYTES,
        }
    }
}

/// The time from which the starts of calls count. Recorders with the same one record parts of one
/// transcript.
#[derive(Clone, Copy, Debug)]
pub struct TranscriptStart {
    begun: SystemTime,
    /// The same moment on the clock that never goes back.
    instant: Instant,
}

impl TranscriptStart {
    /// Counts from this moment, at which the time is `now`.
    #[must_use]
    pub fn new(now: SystemTime) -> Self {
        let since = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let begun = SystemTime::UNIX_EPOCH + truncate_to_micros(since);
        Self { begun, instant: Instant::now() }
    }

    /// Returns the time of the moment, to the microsecond.
    #[must_use]
    pub fn begun(&self) -> SystemTime {
        self.begun
    }

    /// Returns a record of a call that could not be sent, as one that began now.
    #[must_use]
    pub fn record_unsent_call(&self, call: RawCall, outcome: CallOutcome) -> RecordedCall {
        self.record_call(call, Instant::now(), outcome)
    }

    fn record_call(&self, call: RawCall, started: Instant, outcome: CallOutcome) -> RecordedCall {
        RecordedCall {
            path: call.path.into_owned(),
            start: truncate_to_micros(started.duration_since(self.instant)),
            duration: Duration::ZERO,
            requests: call.messages,
            answers: Vec::new(),
            outcome,
        }
    }
}

/// Records the calls of one or more transports.
#[derive(Debug)]
pub struct Recorder {
    start: TranscriptStart,
    calls: Mutex<Vec<RecordedCall>>,
}

impl Recorder {
    /// Begins a transcript at the time `now`.
    #[must_use]
    pub fn new(now: SystemTime) -> Arc<Self> {
        Self::from_start(TranscriptStart::new(now))
    }

    /// Begins a transcript, or a part of one, whose times count from `start`.
    #[must_use]
    pub fn from_start(start: TranscriptStart) -> Arc<Self> {
        Arc::new(Self { start, calls: Mutex::default() })
    }

    /// Returns the transport `inner` with every call recorded.
    #[must_use]
    pub fn wrap_transport(self: &Arc<Self>, inner: Arc<dyn Transport>) -> Arc<dyn Transport> {
        Arc::new(RecordingTransport { inner, recorder: Arc::clone(self) })
    }

    /// Returns the calls that were recorded until now.
    #[must_use]
    pub fn transcript(&self) -> Transcript {
        Transcript { begun: self.start.begun, calls: self.lock().clone() }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<RecordedCall>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn record_call_start(self: &Arc<Self>, call: &RawCall) -> OpenCall {
        // Before the lock, so that waiting for it does not count.
        let started = Instant::now();
        let mut calls = self.lock();
        calls.push(self.start.record_call(call.clone(), started, CallOutcome::Unfinished));
        // Entered at the start, so that the order is that of the requests, and a call without an
        // end is in the transcript too.
        let index = calls.len() - 1;
        OpenCall {
            recorder: Arc::clone(self),
            index,
            started,
            answers: Vec::new(),
            outcome: CallOutcome::Unfinished,
        }
    }
}

/// Files hold microseconds, and a transcript must be the same after it was stored.
fn truncate_to_micros(duration: Duration) -> Duration {
    Duration::from_micros(u64::try_from(duration.as_micros()).unwrap_or(u64::MAX))
}

/// A transport with every call recorded.
struct RecordingTransport {
    inner: Arc<dyn Transport>,
    recorder: Arc<Recorder>,
}

impl Transport for RecordingTransport {
    fn begin_call(&self, call: RawCall) -> BoxFuture<'_, Result<RawAnswers, RawError>> {
        async move {
            // If the caller gives up, this is dropped with the future, and the call stays
            // unfinished.
            let mut open = self.recorder.record_call_start(&call);
            match self.inner.begin_call(call).await {
                Ok(answers) => Ok(record_answers(answers, open)),
                Err(error) => {
                    open.set_error_outcome(&error);
                    Err(error)
                }
            }
        }
        .boxed()
    }
}

fn record_answers(answers: RawAnswers, open: OpenCall) -> RawAnswers {
    stream::unfold((answers, open), |(mut answers, mut open)| async {
        match answers.next().await {
            Some(Ok(answer)) => {
                open.answers.push(answer.clone());
                Some((Ok(answer), (answers, open)))
            }
            Some(Err(error)) => {
                open.set_error_outcome(&error);
                // An error is the last item. The record is completed when the stream is dropped.
                Some((Err(error), (answers, open)))
            }
            None => {
                open.outcome.mark_ok_if_unfinished();
                None
            }
        }
    })
    .boxed()
}

impl CallOutcome {
    /// Notes the orderly end, unless an error came before it.
    fn mark_ok_if_unfinished(&mut self) {
        if *self == Self::Unfinished {
            *self = Self::Ok;
        }
    }
}

/// A call in flight. It is recorded as ended when this is dropped, even if its caller abandons it.
struct OpenCall {
    recorder: Arc<Recorder>,
    index: usize,
    started: Instant,
    answers: Vec<Bytes>,
    outcome: CallOutcome,
}

impl OpenCall {
    fn set_error_outcome(&mut self, error: &RawError) {
        self.outcome = match error {
            RawError::Status(status) => CallOutcome::Status(status.clone()),
            RawError::Failed(failure) => CallOutcome::Failed(failure.to_string()),
        };
    }
}

impl Drop for OpenCall {
    fn drop(&mut self) {
        let mut calls = self.recorder.lock();
        if let Some(call) = calls.get_mut(self.index) {
            call.duration = truncate_to_micros(self.started.elapsed());
            call.answers = std::mem::take(&mut self.answers);
            call.outcome = std::mem::replace(&mut self.outcome, CallOutcome::Unfinished);
        }
    }
}
