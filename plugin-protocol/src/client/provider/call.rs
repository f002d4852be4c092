//! One call from request to answer: connection, path, limits, and the failure when no answer comes.
//! Independent of the kind of call.

use std::borrow::Cow;
use std::fmt::Display;
use std::marker::PhantomData;

use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use prost::Message;
use tonic::Code;

use super::GrpcProvider;
use crate::Failure;
use crate::handshake::Protocol;
use crate::message_limits;
use crate::raw::{RawAnswers, RawCall, RawError, RawStatus};
use crate::wire::exchange::Exchange;

/// The answers to one call, while they come in.
struct AnswerStream<X> {
    name: &'static str,
    protocol: Protocol,
    raw: RawAnswers,
    exchange: PhantomData<fn() -> X>,
}

impl GrpcProvider {
    /// Makes a call between neutral messages.
    pub(super) async fn call_unary<X, N, M>(&self, request: N) -> Result<M, Failure>
    where
        X: Exchange,
        X::Request: TryFrom<N>,
        M: TryFrom<X::Response>,
        Failure: From<<X::Request as TryFrom<N>>::Error> + From<M::Error>,
    {
        let answer = self.call_with_wire_messages::<X>(request.try_into()?).await?;
        // An answer that has no meaning is reported under the name of its call.
        answer
            .try_into()
            .map_err(|reason| self.name_method_if_misbehaved::<X>(Failure::from(reason)))
    }

    /// Makes a call with a streamed answer, between neutral messages.
    pub(super) async fn call_server_streaming<X, N, M>(
        &self,
        request: N,
    ) -> Result<BoxStream<'static, Result<M, Failure>>, Failure>
    where
        X: Exchange,
        X::Request: TryFrom<N>,
        M: TryFrom<X::Response> + 'static,
        Failure: From<<X::Request as TryFrom<N>>::Error> + From<M::Error>,
    {
        let answers = self.start_call::<X>(vec![request.try_into()?]).await?;
        let pieces = stream::unfold(Some(answers), |answers| async {
            let mut answers = answers?;
            let piece = answers.next().await.transpose()?;
            let decoded = piece.and_then(|piece| Ok(M::try_from(piece)?));
            // Nothing sensible follows a failure.
            let remaining_answers = decoded.is_ok().then_some(answers);
            Some((decoded, remaining_answers))
        });
        Ok(pieces.boxed())
    }

    /// Makes a call between wire messages.
    pub(super) async fn call_with_wire_messages<X: Exchange>(
        &self,
        request: X::Request,
    ) -> Result<X::Response, Failure> {
        // On the wire a unary call is a stream of one message, so one path serves both.
        self.call_client_streaming::<X>(vec![request]).await
    }

    /// Makes a call with a streamed request, between wire messages.
    pub(super) async fn call_client_streaming<X: Exchange>(
        &self,
        requests: Vec<X::Request>,
    ) -> Result<X::Response, Failure> {
        self.start_call::<X>(requests).await?.first_answer_once_ended().await
    }

    async fn start_call<X: Exchange>(
        &self,
        requests: Vec<X::Request>,
    ) -> Result<AnswerStream<X>, Failure> {
        let name = self.protocol.method_name(X::METHOD);
        // Checked before sending: the plugin would refuse the message in the middle of the stream,
        // and the failure would look like a lost connection after which a change may have happened.
        if let Some(length) = requests.iter().map(Message::encoded_len).find(exceeds_request_limit)
        {
            return Err(Failure::UnencodableMessage(too_large_reason(
                length,
                message_limits::MAX_REQUEST_BYTES,
            )));
        }
        // Protocol 5 has no state stores. Such a call is not sent, and looks like one that an old
        // provider lacks.
        let path = self.protocol.method_path(X::METHOD).ok_or(Failure::Unimplemented(name))?;
        let call = RawCall {
            path: Cow::Borrowed(path),
            // Encoded here and not by the transport, so that a transcript has exactly the bytes of
            // the wire.
            messages: requests.iter().map(|request| request.encode_to_vec().into()).collect(),
            answer_limit: message_limits::max_answer_bytes(X::METHOD),
        };
        let raw =
            self.transport.begin_call(call).await.map_err(|error| failure_from_raw(name, error))?;
        Ok(AnswerStream { name, protocol: self.protocol, raw, exchange: PhantomData })
    }

    fn name_method_if_misbehaved<X: Exchange>(&self, failure: Failure) -> Failure {
        match failure {
            Failure::Misbehaved(reason) => {
                misbehaved_failure(self.protocol.method_name(X::METHOD), &reason)
            }
            other => other,
        }
    }
}

impl<X: Exchange> AnswerStream<X> {
    /// Waits for the next answer; none at the orderly end.
    async fn next(&mut self) -> Result<Option<X::Response>, Failure> {
        match self.raw.next().await {
            Some(Ok(answer)) => match X::decode_answer(self.protocol, answer) {
                Ok(answer) => Ok(Some(answer)),
                // The answer arrived, so the plugin did its work. Only the answer is useless, which
                // is its fault and no lost connection.
                Err(reason) => Err(misbehaved_failure(self.name, &reason.to_string())),
            },
            None => Ok(None),
            Some(Err(error)) => Err(failure_from_raw(self.name, error)),
        }
    }

    /// Waits for the answer when there is exactly one. A status after it counts.
    async fn first_answer_once_ended(mut self) -> Result<X::Response, Failure> {
        let Some(answer) = self.next().await? else {
            return Err(misbehaved_failure(self.name, "the answer is empty"));
        };
        // Further answers are ignored, but the end is not. A gRPC status follows the message in the
        // trailers, so a call can still fail after its answer.
        while let Some(next_answer) = self.raw.next().await {
            if let Err(error) = next_answer {
                return Err(failure_from_raw(self.name, error));
            }
        }
        Ok(answer)
    }
}

fn exceeds_request_limit(length: &usize) -> bool {
    *length > message_limits::MAX_REQUEST_BYTES
}

fn too_large_reason(length: impl Display, limit: usize) -> String {
    format!("it has {length} bytes, and the limit for messages is {} MiB", limit >> 20)
}

/// The length of an answer that this side refused and the limit, from the status of its decoder.
fn refused_answer_length_and_limit(status: &RawStatus) -> Option<(&str, usize)> {
    // tonic has no typed error for this. Without the translation the provider would be blamed for a
    // status of our own decoder.
    let lengths = status.message.strip_prefix("Error, decoded message length too large: found ")?;
    let (length, limit) = lengths.split_once(" bytes, the limit is: ")?;
    Some((length, limit.strip_suffix(" bytes")?.parse().ok()?))
}

fn misbehaved_failure(name: &str, reason: &str) -> Failure {
    Failure::Misbehaved(format!("the provider's answer to {name} is invalid: {reason}"))
}

/// Returns the reason why no answer came.
fn failure_from_raw(name: &'static str, error: RawError) -> Failure {
    match error {
        // No fault: the protocol has no minor version on the wire, so hosts find newer methods by
        // trying.
        RawError::Status(status) if status.code == i32::from(Code::Unimplemented) => {
            Failure::Unimplemented(name)
        }
        RawError::Status(status) => match refused_answer_length_and_limit(&status) {
            Some((length, limit)) => Failure::Misbehaved(too_large_reason(length, limit)),
            None => Failure::Status { code: status.code_name(), message: status.message },
        },
        RawError::Failed(failure) => failure,
    }
}
