//! Values, identities, stored objects and points in time. Payloads stay encoded.

use std::time::SystemTime;

use bytes::Bytes;
use prost_types::Timestamp;

use super::{InvalidMessage, UnencodableMessage};
use crate::Payload;
use crate::message::DeferredReason;
use crate::message::resource::RawState;
use crate::wire::generated::tfplugin6 as v6;

/// MessagePack for null.
const MESSAGE_PACK_NULL: &[u8] = &[0xc0];

/// Writes a value where the protocol requires one: an absent one becomes an explicit null, because
/// providers on the Go library refuse a missing value. Empty bytes are not a value and are omitted.
pub(super) fn encode_absent_as_null(
    payload: &Payload,
    field: &str,
) -> Result<Option<v6::DynamicValue>, UnencodableMessage> {
    if *payload == Payload::Absent {
        let null = Bytes::from_static(MESSAGE_PACK_NULL);
        return Ok(Some(v6::DynamicValue { msgpack: null, json: Bytes::new() }));
    }
    encode_unless_absent(payload, field)
}

/// Writes a value that may be left out.
pub(super) fn encode_unless_absent(
    payload: &Payload,
    field: &str,
) -> Result<Option<v6::DynamicValue>, UnencodableMessage> {
    let encoded =
        payload.encode().map_err(|error| UnencodableMessage(format!("{field}: {error}")))?;
    Ok(match encoded {
        Payload::Msgpack(bytes) | Payload::Json(bytes) if bytes.is_empty() => None,
        Payload::Msgpack(msgpack) => Some(v6::DynamicValue { msgpack, json: Bytes::new() }),
        Payload::Json(json) => Some(v6::DynamicValue { msgpack: Bytes::new(), json }),
        // Encoding consumes the value.
        Payload::Absent | Payload::Value(..) => None,
    })
}

/// Reads a value. MessagePack wins if a peer fills both fields. A message without either is null: the
/// SDK for Python encodes null so, and Terraform reads it so. Only a missing message is absent.
pub(super) fn payload_from_wire(wire: Option<v6::DynamicValue>) -> Payload {
    match wire {
        Some(value) if !value.msgpack.is_empty() => Payload::Msgpack(value.msgpack),
        Some(value) if !value.json.is_empty() => Payload::Json(value.json),
        Some(_) => Payload::Msgpack(Bytes::from_static(MESSAGE_PACK_NULL)),
        None => Payload::Absent,
    }
}

/// Writes an identity.
pub(super) fn encode_identity(
    payload: Option<&Payload>,
    field: &str,
) -> Result<Option<v6::ResourceIdentityData>, UnencodableMessage> {
    payload
        .map(|payload| {
            Ok(v6::ResourceIdentityData { identity_data: encode_absent_as_null(payload, field)? })
        })
        .transpose()
}

/// Reads an identity.
pub(super) fn identity_payload_from_wire(
    wire: Option<v6::ResourceIdentityData>,
) -> Option<Payload> {
    wire.map(|identity| identity_value_from_wire(identity.identity_data))
}

/// Reads the value of an identity. A message without a value is not an identity.
pub(super) fn identity_value_from_wire(wire: Option<v6::DynamicValue>) -> Payload {
    payload_from_wire(wire.filter(|value| !value.msgpack.is_empty() || !value.json.is_empty()))
}

impl From<RawState> for v6::RawState {
    fn from(state: RawState) -> Self {
        match state {
            RawState::Json(json) => Self { json, ..Self::default() },
            RawState::Flat(flatmap) => Self { flatmap, ..Self::default() },
        }
    }
}

impl From<v6::RawState> for RawState {
    fn from(wire: v6::RawState) -> Self {
        // Only states of before version 4 are flat.
        if wire.json.is_empty() && !wire.flatmap.is_empty() {
            Self::Flat(wire.flatmap)
        } else {
            Self::Json(wire.json)
        }
    }
}

impl From<DeferredReason> for v6::Deferred {
    fn from(reason: DeferredReason) -> Self {
        use v6::deferred::Reason;
        let reason = match reason {
            DeferredReason::Unknown => Reason::Unknown,
            DeferredReason::ResourceConfigUnknown => Reason::ResourceConfigUnknown,
            DeferredReason::ProviderConfigUnknown => Reason::ProviderConfigUnknown,
            DeferredReason::AbsentPrerequisite => Reason::AbsentPrereq,
        };
        Self { reason: reason.into() }
    }
}

impl From<v6::Deferred> for DeferredReason {
    fn from(wire: v6::Deferred) -> Self {
        use v6::deferred::Reason;
        // A number that is not known reads as `Unknown`.
        match wire.reason() {
            Reason::Unknown => Self::Unknown,
            Reason::ResourceConfigUnknown => Self::ResourceConfigUnknown,
            Reason::ProviderConfigUnknown => Self::ProviderConfigUnknown,
            Reason::AbsentPrereq => Self::AbsentPrerequisite,
        }
    }
}

/// Reads a point in time.
pub(super) fn decode_time(
    wire: Option<Timestamp>,
    field: &str,
) -> Result<Option<SystemTime>, InvalidMessage> {
    wire.map(|timestamp| {
        SystemTime::try_from(timestamp)
            .map_err(|error| InvalidMessage::new(format!("{field}: {error}")))
    })
    .transpose()
}
