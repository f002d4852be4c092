//! The messages of a recorded call, decoded by the code that also decodes them at the ends of a
//! connection.

use std::sync::{Arc, Mutex, PoisonError};

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, ready};

use super::RecordedCall;
use super::replay::replay_answers;
use crate::client::GrpcProvider;
use crate::raw::{RawAnswers, RawCall, RawError, Transport};
use crate::server::in_process_transport;
use crate::{Failure, Provider, Request, Response};

/// The messages of a recorded call.
pub struct DecodedCall {
    /// The request.
    pub request: Request,
    /// The response. One that streams has the recorded messages.
    pub response: Result<Response, Failure>,
}

/// The reason why the messages of a recorded call cannot be decoded.
#[derive(Debug, thiserror::Error)]
#[error("{path} cannot be decoded: {reason}")]
pub struct CallDecodeError {
    path: String,
    reason: String,
}

impl RecordedCall {
    /// Decodes the messages. An answer that is not a message of the method is a failure, as for a
    /// host.
    ///
    /// # Errors
    /// When the call is not one of the provider service, or its request is not a message of the
    /// method.
    pub async fn decode(&self) -> Result<DecodedCall, CallDecodeError> {
        let error = |reason: String| CallDecodeError { path: self.path.clone(), reason };
        let no_method = || error("it is not a call of the provider service".to_owned());
        let protocol = self.protocol().ok_or_else(no_method)?;
        let keeper = Arc::new(RequestKeeper::default());
        let transport = in_process_transport(Arc::<RequestKeeper>::clone(&keeper));
        let reply = transport.call_and_collect_reply(self.to_raw_call()).await;
        let Some(request) = keeper.take() else {
            let reason = reply.end.err().map_or_else(String::new, |end| end.to_string());
            return Err(error(reason));
        };
        let answers = Arc::new(RecordedAnswers(self.clone()));
        let response = GrpcProvider::over_transport(answers, protocol).call(request.clone()).await;
        Ok(DecodedCall { request, response })
    }
}

/// A provider that keeps the request of one call.
#[derive(Default)]
struct RequestKeeper(Mutex<Option<Request>>);

impl RequestKeeper {
    fn take(&self) -> Option<Request> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Provider for RequestKeeper {
    fn call(&self, request: Request) -> BoxFuture<'_, Result<Response, Failure>> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(request);
        // The record has the answer.
        ready(Err(Failure::GivenUp("the request was kept".to_owned()))).boxed()
    }
}

/// A transport that answers any call as the recorded one was. A request that is encoded again may have
/// other bytes, so that [`Transcript::replay`](super::Transcript::replay) would not find it.
struct RecordedAnswers(RecordedCall);

impl Transport for RecordedAnswers {
    fn begin_call(&self, _: RawCall) -> BoxFuture<'_, Result<RawAnswers, RawError>> {
        ready(Ok(replay_answers(self.0.clone()))).boxed()
    }
}
