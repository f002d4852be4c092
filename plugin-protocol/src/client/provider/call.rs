//! One call from request to answer: connection, path, limits, and the blame when no answer
//! comes. Knows no particular call.

use std::error::Error as _;
use std::fmt::Display;
use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use prost::Message;
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::{Code, Request, Status, Streaming};

use super::GrpcProvider;
use crate::Failure;
use crate::client::causes::with_causes;
use crate::client::channel::{Channels, Lease};
use crate::limit;
use crate::wire::codec::{Decoded, HostCodec};
use crate::wire::exchange::Exchange;

/// The answers to one call, while they come in.
struct Answers<R> {
    name: &'static str,
    stream: Streaming<Decoded<R>>,
    channels: Arc<dyn Channels>,
    _lease: Lease,
}

impl GrpcProvider {
    /// Makes a call between neutral messages.
    pub(super) async fn unary<X, N, M>(&self, request: N) -> Result<M, Failure>
    where
        X: Exchange,
        X::Request: TryFrom<N>,
        M: TryFrom<X::Response>,
        Failure: From<<X::Request as TryFrom<N>>::Error> + From<M::Error>,
    {
        let answer = self.ask::<X>(request.try_into()?).await?;
        // An answer that has no meaning is reported under the name of its call.
        answer.try_into().map_err(|why| self.in_answer::<X>(Failure::from(why)))
    }

    /// Makes a call whose answer comes in pieces, between neutral messages.
    pub(super) async fn stream<X, N, M>(
        &self,
        request: N,
    ) -> Result<BoxStream<'static, Result<M, Failure>>, Failure>
    where
        X: Exchange,
        X::Request: TryFrom<N>,
        M: TryFrom<X::Response> + 'static,
        Failure: From<<X::Request as TryFrom<N>>::Error> + From<M::Error>,
    {
        let answers = self.start::<X>(vec![request.try_into()?]).await?;
        let pieces = stream::unfold(Some(answers), |answers| async {
            let mut answers = answers?;
            let piece = answers.next().await.transpose()?;
            let read = piece.and_then(|piece| Ok(M::try_from(piece)?));
            // Nothing sensible follows a failure.
            let rest = read.is_ok().then_some(answers);
            Some((read, rest))
        });
        Ok(pieces.boxed())
    }

    /// Makes a call between wire messages.
    pub(super) async fn ask<X: Exchange>(
        &self,
        request: X::Request,
    ) -> Result<X::Response, Failure> {
        self.send_all::<X>(vec![request]).await
    }

    /// Makes a call whose request goes out in pieces, between wire messages.
    pub(super) async fn send_all<X: Exchange>(
        &self,
        requests: Vec<X::Request>,
    ) -> Result<X::Response, Failure> {
        self.start::<X>(requests).await?.only().await
    }

    async fn start<X: Exchange>(
        &self,
        requests: Vec<X::Request>,
    ) -> Result<Answers<X::Response>, Failure> {
        let name = self.protocol.name(X::METHOD);
        if let Some(length) = requests.iter().map(Message::encoded_len).find(is_too_large) {
            return Err(Failure::Unsendable(too_large(length, limit::REQUEST)));
        }
        let path = self.protocol.path(X::METHOD).ok_or(Failure::Unimplemented(name))?;
        let lease = self.channels.lease().await?;
        let mut grpc = Grpc::new(lease.channel.clone())
            .max_decoding_message_size(limit::of_answer(X::METHOD))
            .max_encoding_message_size(limit::REQUEST);
        if let Err(error) = grpc.ready().await {
            return Err(self.channels.explain_loss(with_causes(&error)).await);
        }
        let codec = HostCodec::<X>::new(self.protocol);
        let requests = Request::new(stream::iter(requests));
        match grpc.streaming(requests, PathAndQuery::from_static(path), codec).await {
            Ok(response) => Ok(Answers {
                name,
                stream: response.into_inner(),
                channels: Arc::clone(&self.channels),
                _lease: lease,
            }),
            Err(status) => Err(blame(name, &status, &*self.channels).await),
        }
    }

    fn in_answer<X: Exchange>(&self, failure: Failure) -> Failure {
        match failure {
            Failure::Misbehaved(why) => misbehaved(self.protocol.name(X::METHOD), &why),
            other => other,
        }
    }
}

impl<R: Message + Default + 'static> Answers<R> {
    /// Waits for the next answer; none at the orderly end.
    async fn next(&mut self) -> Result<Option<R>, Failure> {
        match self.stream.message().await {
            Ok(Some(Ok(answer))) => Ok(Some(answer)),
            Ok(Some(Err(why))) => Err(misbehaved(self.name, &why.to_string())),
            Ok(None) => Ok(None),
            Err(status) => Err(blame(self.name, &status, &*self.channels).await),
        }
    }

    /// Waits for the answer when there is exactly one. A status after it counts.
    async fn only(mut self) -> Result<R, Failure> {
        let answer = self.next().await?;
        if let Err(status) = self.stream.trailers().await {
            return Err(blame(self.name, &status, &*self.channels).await);
        }
        answer.ok_or_else(|| misbehaved(self.name, "the answer is empty"))
    }
}

fn is_too_large(length: &usize) -> bool {
    *length > limit::REQUEST
}

fn too_large(length: impl Display, limit: usize) -> String {
    format!("it has {length} bytes, and the limit for messages is {} MiB", limit >> 20)
}

/// The length of an answer that this side refused and the limit, from the status of its decoder.
fn refused_length(status: &Status) -> Option<(&str, usize)> {
    let found = status.message().strip_prefix("Error, decoded message length too large: found ")?;
    let (length, limit) = found.split_once(" bytes, the limit is: ")?;
    Some((length, limit.strip_suffix(" bytes")?.parse().ok()?))
}

fn misbehaved(name: &str, why: &str) -> Failure {
    Failure::Misbehaved(format!("the provider's answer to {name} makes no sense: {why}"))
}

/// Says whose fault a status is.
async fn blame(name: &'static str, status: &Status, channels: &dyn Channels) -> Failure {
    // A status of the peer comes as text, whatever its code; only one made on this side has a cause,
    // and it is always the connection.
    if let Some(cause) = status.source() {
        return channels.explain_loss(with_causes(cause)).await;
    }
    if let Some((length, limit)) = refused_length(status) {
        return Failure::Misbehaved(too_large(length, limit));
    }
    match status.code() {
        Code::Unimplemented => Failure::Unimplemented(name),
        code => Failure::Status { code: format!("{code:?}"), message: status.message().to_owned() },
    }
}
