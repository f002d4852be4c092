//! Refinements of unknown values, encoded as an extension of type 12. Bounds and prefixes only;
//! their meaning is defined in `unknown`.

use unicode_segmentation::UnicodeSegmentation as _;

use super::read::MsgpackReader;
use super::{DecodeError, EncodeError, UNKNOWN_BYTES, write_map_header, write_number, write_text};
use crate::{Number, Refinement, Str, Type, Unknown, Value};

/// The extension type of an unknown value with refinements.
pub(super) const REFINED_EXTENSION_TYPE: u8 = 12;

/// The longest payload that readers accept.
pub(super) const MAX_REFINEMENT_BYTES: usize = 1024;

/// The longest known prefix that writers send.
const MAX_SENT_PREFIX_BYTES: usize = 256;

const NULLNESS_KEY: u8 = 1;
const PREFIX_KEY: u8 = 2;
const LOWER_BOUND_KEY: u8 = 3;
const UPPER_BOUND_KEY: u8 = 4;
const MIN_LENGTH_KEY: u8 = 5;
const MAX_LENGTH_KEY: u8 = 6;

/// Writes an unknown value.
pub(super) fn write_unknown(out: &mut Vec<u8>, unknown: &Unknown) -> Result<(), EncodeError> {
    let (n_entries, entries) = encode_refinement_entries(unknown)?;
    let mut payload = Vec::with_capacity(entries.len() + 1);
    write_map_header(&mut payload, n_entries)?;
    payload.extend_from_slice(&entries);
    // A refinement that is too long for readers is only a lost hint.
    if n_entries == 0 || payload.len() > MAX_REFINEMENT_BYTES {
        out.extend_from_slice(&UNKNOWN_BYTES);
        return Ok(());
    }
    match (payload.len(), u8::try_from(payload.len()), u16::try_from(payload.len())) {
        // The shortest payload has three bytes, so the fixed forms of one and two never occur.
        (4, ..) => out.push(0xd6),
        (8, ..) => out.push(0xd7),
        (16, ..) => out.push(0xd8),
        (_, Ok(length), _) => out.extend_from_slice(&[0xc7, length]),
        (_, _, length) => {
            out.push(0xc8);
            out.extend_from_slice(&length.unwrap_or(u16::MAX).to_be_bytes());
        }
    }
    out.push(REFINED_EXTENSION_TYPE);
    out.extend_from_slice(&payload);
    Ok(())
}

fn encode_refinement_entries(unknown: &Unknown) -> Result<(usize, Vec<u8>), EncodeError> {
    let refinement = unknown.refinement();
    let mut count = 0;
    let mut out = Vec::new();
    let mut entry = |key: u8, write: &dyn Fn(&mut Vec<u8>) -> Result<(), EncodeError>| {
        count += 1;
        out.push(key);
        write(&mut out)
    };
    if refinement.not_null {
        entry(NULLNESS_KEY, &|out| {
            out.push(0xc2);
            Ok(())
        })?;
    }
    match unknown.ty() {
        Type::String => {
            let prefix = refinement.prefix.as_deref().map_or("", truncate_prefix);
            if !prefix.is_empty() {
                entry(PREFIX_KEY, &|out| write_text(out, prefix))?;
            }
        }
        Type::Number => {
            for (key, bound) in
                [(LOWER_BOUND_KEY, &refinement.lower), (UPPER_BOUND_KEY, &refinement.upper)]
            {
                if let Some((number, inclusive)) = bound {
                    entry(key, &|out| {
                        out.push(0x92);
                        write_number(out, number)?;
                        out.push(if *inclusive { 0xc3 } else { 0xc2 });
                        Ok(())
                    })?;
                }
            }
        }
        Type::List(_) | Type::Set(_) | Type::Map(_) => {
            if refinement.min_length > 0 {
                entry(MIN_LENGTH_KEY, &|out| write_number(out, &refinement.min_length.into()))?;
            }
            if let Some(length) = refinement.max_length {
                entry(MAX_LENGTH_KEY, &|out| write_number(out, &length.into()))?;
            }
        }
        _ => {}
    }
    Ok((count, out))
}

/// Returns the longest part of a known prefix that may be sent, truncated where later text cannot change
/// it.
fn truncate_prefix(prefix: &str) -> &str {
    if prefix.len() <= MAX_SENT_PREFIX_BYTES {
        return prefix;
    }
    let cut = prefix
        .grapheme_indices(true)
        .map(|(at, _)| at)
        .take_while(|at| *at <= MAX_SENT_PREFIX_BYTES);
    &prefix[..cut.last().unwrap_or(0)]
}

/// Reads the payload of an unknown value of type `ty` with refinements.
pub(super) fn read_refined_unknown(payload: &[u8], ty: &Type) -> Result<Value, DecodeError> {
    if payload.len() > MAX_REFINEMENT_BYTES {
        return Err(DecodeError::new("the refinements of an unknown value are too long"));
    }
    let mut reader = MsgpackReader::new(payload);
    let mut refinement = Refinement::default();
    for _ in 0..reader.read_map_header()? {
        let key = reader.read_number()?.to_i64().and_then(|key| u8::try_from(key).ok());
        match (key, ty) {
            (Some(NULLNESS_KEY), _) => {
                // A value that can only be null is known.
                if reader.read_bool()? {
                    return Ok(Value::null(ty.clone()));
                }
                refinement.not_null = true;
            }
            (Some(PREFIX_KEY), Type::String) => {
                refinement.prefix = Some(Str::new(&reader.read_text()?));
            }
            (Some(LOWER_BOUND_KEY), Type::Number) => {
                refinement.lower = Some(read_bound(&mut reader)?);
            }
            (Some(UPPER_BOUND_KEY), Type::Number) => {
                refinement.upper = Some(read_bound(&mut reader)?);
            }
            (Some(MIN_LENGTH_KEY), Type::List(_) | Type::Set(_) | Type::Map(_)) => {
                refinement.min_length = read_collection_length(&mut reader)?;
            }
            (Some(MAX_LENGTH_KEY), Type::List(_) | Type::Set(_) | Type::Map(_)) => {
                refinement.max_length = Some(read_collection_length(&mut reader)?);
            }
            _ => {
                return Err(DecodeError::new(format!(
                    "an unknown {} has a refinement that such values cannot have",
                    ty.friendly_name()
                )));
            }
        }
    }
    Ok(Value::refined(ty.clone(), refinement))
}

fn read_bound(reader: &mut MsgpackReader<'_>) -> Result<(Number, bool), DecodeError> {
    match reader.read_array_header()? {
        2 => Ok((reader.read_number()?, reader.read_bool()?)),
        _ => Err(DecodeError::new("the bound of an unknown number must be a pair")),
    }
}

fn read_collection_length(reader: &mut MsgpackReader<'_>) -> Result<u64, DecodeError> {
    let number = reader.read_number()?.to_i64().and_then(|length| u64::try_from(length).ok());
    number.ok_or_else(|| DecodeError::new("the length of an unknown collection is out of range"))
}
