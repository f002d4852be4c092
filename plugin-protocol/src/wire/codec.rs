//! Messages as protobuf for tonic. Bytes that are not a message are returned as an item, not as a
//! status, so that the peer is blamed and not the connection.

use std::marker::PhantomData;

use bytes::{Buf as _, BufMut as _, Bytes};
use prost::{DecodeError, Message};
use tonic::Status;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};

/// Writes messages `W` and reads messages `R`.
#[derive(Debug)]
pub(crate) struct ProtobufCodec<W, R>(PhantomData<fn(W) -> R>);

impl<W, R> Default for ProtobufCodec<W, R> {
    fn default() -> Self {
        // The marker is of a function pointer, so that the codec is `Send` and `Sync` whatever the
        // messages are.
        Self(PhantomData)
    }
}

/// A message, or why the bytes are none.
pub(crate) type DecodedOrError<R> = Result<R, DecodeError>;

impl<W: Message + 'static, R: Message + Default + 'static> Codec for ProtobufCodec<W, R> {
    type Encode = W;
    type Decode = DecodedOrError<R>;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        Self::default()
    }

    fn decoder(&mut self) -> Self {
        Self::default()
    }
}

impl<W: Message, R> Encoder for ProtobufCodec<W, R> {
    type Item = W;
    type Error = Status;

    fn encode(&mut self, message: W, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        buffer.reserve(message.encoded_len());
        message.encode(buffer).map_err(|error| Status::internal(error.to_string()))
    }
}

impl<W, R: Message + Default> Decoder for ProtobufCodec<W, R> {
    type Item = DecodedOrError<R>;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<DecodedOrError<R>>, Status> {
        Ok(Some(R::decode(buffer)))
    }
}

/// Passes messages on as the bytes they are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawCodec;

impl Codec for RawCodec {
    type Encode = Bytes;
    type Decode = Bytes;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        Self
    }

    fn decoder(&mut self) -> Self {
        Self
    }
}

impl Encoder for RawCodec {
    type Item = Bytes;
    type Error = Status;

    fn encode(&mut self, message: Bytes, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        buffer.reserve(message.len());
        buffer.put(message);
        Ok(())
    }
}

impl Decoder for RawCodec {
    type Item = Bytes;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        // Shares the memory of the buffer, without a copy.
        Ok(Some(buffer.copy_to_bytes(buffer.remaining())))
    }
}
