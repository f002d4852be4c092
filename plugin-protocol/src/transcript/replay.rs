//! Answers calls from a transcript: the same bytes for the same bytes.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::{FutureExt as _, StreamExt as _, stream};

use super::{CallOutcome, RecordedCall, Transcript};
use crate::Failure;
use crate::raw::{RawAnswers, RawCall, RawError, Transport};

impl Transcript {
    /// Returns a transport that answers each call as it was recorded.
    ///
    /// A call is answered by the first recorded one with the same path and the same request that has
    /// answered none yet. A call that was not recorded, or was recorded less often, fails.
    #[must_use]
    pub fn replay(self) -> Arc<dyn Transport> {
        // By the whole request, because concurrent calls may come in another order than when
        // recorded.
        let mut calls = HashMap::<CallKey, VecDeque<RecordedCall>>::new();
        for call in self.calls {
            calls.entry((call.path.clone(), call.requests.clone())).or_default().push_back(call);
        }
        Arc::new(ReplayTransport { calls: Mutex::new(calls) })
    }
}

/// Recorded calls are found by path and request.
type CallKey = (String, Vec<Bytes>);

struct ReplayTransport {
    calls: Mutex<HashMap<CallKey, VecDeque<RecordedCall>>>,
}

impl Transport for ReplayTransport {
    fn begin_call(&self, call: RawCall) -> BoxFuture<'_, Result<RawAnswers, RawError>> {
        async move {
            let key = (call.path.into_owned(), call.messages);
            let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
            match calls.get_mut(&key).and_then(VecDeque::pop_front) {
                Some(call) => Ok(replay_answers(call)),
                None => Err(RawError::Failed(Failure::Misbehaved(format!(
                    "the transcript has no further call of {} with this request",
                    key.0
                )))),
            }
        }
        .boxed()
    }
}

/// Returns the recorded answers to a call, and its end.
pub(super) fn replay_answers(call: RecordedCall) -> RawAnswers {
    let end = match call.outcome {
        CallOutcome::Ok => None,
        CallOutcome::Status(status) => Some(RawError::Status(status)),
        // The file has only a text for it, and a lost connection is the usual reason.
        CallOutcome::Failed(reason) => {
            Some(RawError::Failed(Failure::Lost { reason, exit: None, output: String::new() }))
        }
        CallOutcome::Unfinished => {
            let reason = "the recorded call has no end".to_owned();
            Some(RawError::Failed(Failure::GivenUp(reason)))
        }
    };
    stream::iter(call.answers.into_iter().map(Ok).chain(end.map(Err))).boxed()
}
