//! Conversions between wire messages and neutral ones, in both directions: a host writes requests
//! and reads answers, a provider the opposite. One file per family of messages.
//!
//! A peer may send anything. A message without a meaning is [`InvalidMessage`]; one that can be understood
//! well enough, such as a diagnostic of an unknown severity, is accepted, because an answer to
//! `ApplyResourceChange` must not be lost over it.

mod action;
mod capability;
mod configure;
mod diag;
mod ephemeral;
mod function;
mod list;
mod payload;
mod provider_schema;
mod read_data;
mod resource;
mod schema;
mod schema_v5;
mod state_store;
#[cfg(test)]
mod tests;

use std::convert::Infallible;
use std::fmt;

use crate::Failure;

pub(crate) use configure::encode_prepare_response;
pub(crate) use provider_schema::unencodable_schema_response;
pub(crate) use state_store::{IncomingStateChunks, encode_state_chunks};

/// A message of a peer without a meaning.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidMessage(String);

impl InvalidMessage {
    fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }

    /// Adds the part of the message that is invalid.
    fn prepend_location(self, location: impl fmt::Display) -> Self {
        Self(format!("{location}: {}", self.0))
    }
}

impl From<InvalidMessage> for Failure {
    fn from(misread: InvalidMessage) -> Self {
        Self::Misbehaved(misread.0)
    }
}

/// A message of this side that the wire format cannot express.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct UnencodableMessage(String);

impl From<UnencodableMessage> for Failure {
    fn from(unsendable: UnencodableMessage) -> Self {
        Self::UnencodableMessage(unsendable.0)
    }
}

/// Allows the same calls for infallible and fallible conversions.
impl From<Infallible> for Failure {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

/// Reads a version or count, which may be negative on the wire.
fn decode_count(number: i64, field: &str) -> Result<u64, InvalidMessage> {
    u64::try_from(number).map_err(|_| InvalidMessage::new(format!("{field} is {number}")))
}

/// Writes a version or count.
fn encode_count(number: u64, field: &str) -> Result<i64, UnencodableMessage> {
    i64::try_from(number).map_err(|_| UnencodableMessage(format!("{field} is {number}")))
}
