//! Messages as protobuf for tonic. Bytes that are no message come out as an item, not as a status, so
//! that the peer who sent them gets the blame and not the connection.

use std::marker::PhantomData;

use prost::{DecodeError, Message};
use tonic::Status;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};

use super::exchange::Exchange;
use crate::handshake::Protocol;

/// Writes messages `W` and reads messages `R`.
#[derive(Debug)]
pub(crate) struct Protobuf<W, R>(PhantomData<fn(W) -> R>);

impl<W, R> Default for Protobuf<W, R> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

/// A message, or why the bytes are none.
pub(crate) type Decoded<R> = Result<R, DecodeError>;

impl<W: Message + 'static, R: Message + Default + 'static> Codec for Protobuf<W, R> {
    type Encode = W;
    type Decode = Decoded<R>;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        Self::default()
    }

    fn decoder(&mut self) -> Self {
        Self::default()
    }
}

impl<W: Message, R> Encoder for Protobuf<W, R> {
    type Item = W;
    type Error = Status;

    fn encode(&mut self, message: W, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        buffer.reserve(message.encoded_len());
        message.encode(buffer).map_err(|why| Status::internal(why.to_string()))
    }
}

impl<W, R: Message + Default> Decoder for Protobuf<W, R> {
    type Item = Decoded<R>;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<Decoded<R>>, Status> {
        Ok(Some(R::decode(buffer)))
    }
}

/// Writes the requests of a call and reads its answers, in whatever form the provider's version has
/// them.
#[derive(Debug)]
pub(crate) struct HostCodec<X> {
    protocol: Protocol,
    exchange: PhantomData<fn() -> X>,
}

impl<X> HostCodec<X> {
    /// Reads what a provider of `protocol` answers.
    pub(crate) fn new(protocol: Protocol) -> Self {
        Self { protocol, exchange: PhantomData }
    }
}

impl<X: Exchange> Codec for HostCodec<X> {
    type Encode = X::Request;
    type Decode = Decoded<X::Response>;
    type Encoder = Protobuf<X::Request, X::Response>;
    type Decoder = Self;

    fn encoder(&mut self) -> Self::Encoder {
        Protobuf::default()
    }

    fn decoder(&mut self) -> Self {
        Self::new(self.protocol)
    }
}

impl<X: Exchange> Decoder for HostCodec<X> {
    type Item = Decoded<X::Response>;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<Self::Item>, Status> {
        Ok(Some(match self.protocol {
            Protocol::V5 => X::ResponseV5::decode(buffer).map(Into::into),
            Protocol::V6 => X::Response::decode(buffer),
        }))
    }
}
