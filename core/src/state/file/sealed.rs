//! The sealed form of state files: each sensitive value is encrypted separately, and everything else stays
//! readable and comparable. Converts only bytes; the caller provides the encryption.

mod find_secrets;
mod paths;
mod redact;
#[cfg(test)]
mod tests;
mod visit_scalars;

use std::ops::Range;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use formwork_value::Secrets;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

use self::find_secrets::{
    FileJson, SecretKind, SecretValue, marked_secrets, scalar_content, secret_contents,
    unmarked_values,
};
pub use self::redact::redact_state_file;
use self::visit_scalars::visit_scalars;
use super::{FileError, json};
use crate::disk::parse_json_object;
use crate::messages;

/// The value of `encryption_version` in a sealed state file.
pub const SEALED_VERSION: &str = "sealed-v1";

/// Begins each sealed value.
const SEALED_PREFIX: &str = "sealed:age:";

/// The prefix at the start of a string in JSON.
const QUOTED_SEALED_PREFIX: &str = "\"sealed:age:";

/// Sealed values are padded with spaces to a multiple of this length, because a ciphertext shows the length
/// of its plaintext.
const SEALED_PADDING_LEN: usize = 64;

/// The first line of a state file after its brace.
const SEALED_VERSION_LINE: &str = "\n  \"version\": 4,";

/// Encrypts or decrypts one value. A value contains its position, so equal values may have equal ciphertexts.
/// The text of an error has no final period.
pub type ValueCipher<'c> = &'c mut dyn FnMut(&[u8]) -> Result<Vec<u8>, String>;

/// The text of a state file that was sealed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenedStateFile {
    /// The text.
    pub text: Vec<u8>,
    /// The positions of sensitive values that were not encrypted.
    pub plain: Vec<String>,
    /// Whether all values were sealed for the recipients in the header, which anyone can change.
    pub is_for_recipients: bool,
}

/// The reason why a state file cannot be sealed or opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SealError {
    /// The text is not a state file.
    #[error("{0}")]
    File(#[from] FileError),
    /// A value cannot be encrypted or decrypted.
    #[error("{place}: {reason}")]
    Value {
        /// The address and the path of the value.
        place: String,
        /// The reason, without a final period.
        reason: String,
    },
    /// A sealed value was written for another position.
    #[error("{place}: the sealed value belongs to {origin}")]
    WrongPlace {
        /// The address and the path at which it was found.
        place: String,
        /// The position for which it was written.
        origin: String,
    },
    /// A value is not marked as it was when it was sealed.
    #[error("{0}: the sensitive marks in the file are not those of the sealed value")]
    NotMarked(String),
}

/// The header of a sealed state file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SealedHeader {
    /// The public keys that its values are encrypted to.
    pub recipients: Vec<String>,
}

/// A value with its position: the content of a sealed value.
#[derive(Serialize, Deserialize)]
struct BoundValue<'t> {
    lineage: String,
    address: String,
    path: String,
    /// Whether the file marks it as sensitive.
    listed: bool,
    /// The digest of the recipients; former versions stored none.
    #[serde(default)]
    recipients: Option<String>,
    #[serde(borrow)]
    value: &'t RawValue,
}

/// The file that a value belongs to.
struct ValueBinding<'t> {
    lineage: &'t str,
    /// The digest of the recipients.
    recipients: String,
}

impl<'t> ValueBinding<'t> {
    fn new(file: &'t FileJson<'_>, recipients: &[String]) -> Self {
        let mut names: Vec<&str> = recipients.iter().map(String::as_str).collect();
        names.sort_unstable();
        let digest = Sha256::digest(names.join("\n"));
        Self { lineage: &file.lineage, recipients: BASE64_STANDARD.encode(digest) }
    }
}

/// A value that was opened.
struct DecryptedValue {
    text: String,
    is_for_recipients: bool,
}

/// A replacement in a text.
struct TextEdit {
    range: Range<usize>,
    text: String,
}

/// Reads the header of a sealed state file; `None` for any other text.
#[must_use]
pub fn read_sealed_header(text: &[u8]) -> Option<SealedHeader> {
    #[derive(Deserialize)]
    struct Header {
        encryption_version: String,
        #[serde(default)]
        recipients: Vec<String>,
    }
    let header: Header = parse_json_object(text).ok()?;
    let is_sealed = header.encryption_version == SEALED_VERSION;
    is_sealed.then_some(SealedHeader { recipients: header.recipients })
}

/// The sensitive values of a state, to find copies of them in a part of it.
pub struct StateSecrets(Secrets);

impl StateSecrets {
    /// Reads them from a state file.
    ///
    /// # Errors
    /// When the text is not a state file.
    pub fn read(text: &[u8]) -> Result<Self, SealError> {
        let file = FileJson::parse(parse_utf8(text)?)?;
        Ok(Self(secret_contents(&marked_secrets(&file)?)))
    }
}

/// Seals a state file as [`super::StateFile::to_bytes`] returns it.
///
/// # Errors
/// When the text is not a state file, or a value cannot be encrypted.
pub fn seal_state_file(
    text: &[u8],
    recipients: &[String],
    encrypt: ValueCipher<'_>,
) -> Result<Vec<u8>, SealError> {
    seal_with_copies(text, None, recipients, encrypt)
}

/// Seals a part of a state, in the form of a smaller state file: the same values as in the whole, including
/// copies of secrets from other parts.
///
/// # Errors
/// As [`seal_state_file`].
pub fn seal_part_of_state(
    text: &[u8],
    state_secrets: &StateSecrets,
    recipients: &[String],
    encrypt: ValueCipher<'_>,
) -> Result<Vec<u8>, SealError> {
    seal_with_copies(text, Some(state_secrets), recipients, encrypt)
}

fn seal_with_copies(
    text: &[u8],
    state_secrets: Option<&StateSecrets>,
    recipients: &[String],
    encrypt: ValueCipher<'_>,
) -> Result<Vec<u8>, SealError> {
    let text = parse_utf8(text)?;
    let file = FileJson::parse(text)?;
    let start = text.find('{').map_or(0, |at| at + 1);
    if !text[start..].starts_with(SEALED_VERSION_LINE) {
        return Err(not_a_state_error("its first line is not the format version"));
    }
    let at = start..start + SEALED_VERSION_LINE.len();
    let mut edits = vec![TextEdit { range: at, text: format_header_lines(recipients) }];
    let mut secrets = marked_secrets(&file)?;
    let copied = secret_contents(&secrets);
    let binding = ValueBinding::new(&file, recipients);
    let copied = [Some(&copied), state_secrets.map(|state_secrets| &state_secrets.0)];
    // A string of a provider that looks like a sealed value is sealed, so that none in the file does.
    secrets.append(&mut unmarked_values(&file, &|leaf| {
        let content = scalar_content(leaf);
        leaf.starts_with(QUOTED_SEALED_PREFIX)
            || copied
                .into_iter()
                .flatten()
                .any(|secrets| !secrets.find_secret_ranges(&content).is_empty())
    })?);
    for secret in secrets.iter().filter(|secret| secret.text != "null") {
        let sealed = seal_value(&binding, secret, encrypt)?;
        edits.push(TextEdit {
            range: position_in_text(text, secret.text),
            text: quote_json(&sealed),
        });
        if let SecretKind::Output(ty) = secret.kind {
            edits.push(TextEdit { range: position_in_text(text, ty), text: "null".to_owned() });
        }
    }
    Ok(apply_edits(text, edits))
}

/// Opens a sealed state file: returns the original state file.
///
/// # Errors
/// When a value cannot be decrypted, or was moved to another position.
pub fn open_state_file(
    text: &[u8],
    decrypt: ValueCipher<'_>,
) -> Result<OpenedStateFile, SealError> {
    let text = parse_utf8(text)?;
    let file = FileJson::parse(text)?;
    let Some(version) = file.encryption_version else {
        return Err(not_a_state_error("it has no encryption version"));
    };
    let at = position_in_text(text, version.get());
    let mut edits = vec![TextEdit { range: at, text: "null, \"version\": 4".to_owned() }];
    let binding = ValueBinding::new(&file, &file.recipients);
    let (mut plain, mut is_for_recipients) = (Vec::new(), true);
    let mut secrets = marked_secrets(&file)?;
    secrets.append(&mut unmarked_values(&file, &|leaf| leaf.starts_with(QUOTED_SEALED_PREFIX))?);
    for secret in secrets {
        let Some(sealed) = sealed_base64(secret.text) else {
            if contains_sealed_value(secret.text) {
                return Err(SealError::NotMarked(secret.describe_location()));
            }
            if secret.text != "null" {
                plain.push(secret.describe_location());
            }
            continue;
        };
        let opened = open_value(&binding, &secret, &sealed, decrypt)?;
        is_for_recipients &= opened.is_for_recipients;
        let opened = opened.text;
        let at = position_in_text(text, secret.text);
        let SecretKind::Output(ty) = secret.kind else {
            edits.push(TextEdit { range: at, text: opened });
            continue;
        };
        let output: OutputJson<'_> =
            serde_json::from_str(&opened).map_err(|error| SealError::Value {
                place: secret.describe_location(),
                reason: format!("its content is damaged: {error}"),
            })?;
        edits.push(TextEdit { range: at, text: output.value.get().to_owned() });
        edits
            .push(TextEdit { range: position_in_text(text, ty), text: output.ty.get().to_owned() });
    }
    Ok(OpenedStateFile { text: apply_edits(text, edits), plain, is_for_recipients })
}

/// The content of a sealed output: its type names the attributes of its value, which may be secret, too.
#[derive(Serialize, Deserialize)]
struct OutputJson<'t> {
    #[serde(borrow)]
    value: &'t RawValue,
    #[serde(borrow, rename = "type")]
    ty: &'t RawValue,
}

fn seal_value(
    binding: &ValueBinding<'_>,
    secret: &SecretValue<'_>,
    encrypt: ValueCipher<'_>,
) -> Result<String, SealError> {
    let failed = |reason| SealError::Value { place: secret.describe_location(), reason };
    let compact = |text: &str| -> Result<String, SealError> {
        let compact =
            json::compact_json(text).map_err(|_| failed("it is nested too deep".to_owned()))?;
        Ok(String::from_utf8_lossy(&compact).into_owned())
    };
    let value = match secret.kind {
        SecretKind::Output(ty) => {
            format!("{{\"value\":{},\"type\":{}}}", compact(secret.text)?, compact(ty)?)
        }
        SecretKind::ObjectPart => compact(secret.text)?,
    };
    let value: &RawValue =
        serde_json::from_str(&value).map_err(|error| failed(error.to_string()))?;
    let bound = BoundValue {
        lineage: binding.lineage.to_owned(),
        address: secret.address.clone(),
        path: secret.path.clone(),
        listed: secret.listed,
        recipients: Some(binding.recipients.clone()),
        value,
    };
    let mut bound = serde_json::to_vec(&bound).map_err(|error| failed(error.to_string()))?;
    bound.resize(bound.len().next_multiple_of(SEALED_PADDING_LEN), b' ');
    let sealed = encrypt(&bound).map_err(failed)?;
    Ok(format!("{SEALED_PREFIX}{}", BASE64_STANDARD.encode(sealed)))
}

fn open_value(
    binding: &ValueBinding<'_>,
    secret: &SecretValue<'_>,
    sealed: &str,
    decrypt: ValueCipher<'_>,
) -> Result<DecryptedValue, SealError> {
    let failed = |reason| SealError::Value { place: secret.describe_location(), reason };
    let sealed = BASE64_STANDARD.decode(sealed.trim());
    let sealed = sealed.map_err(|error| failed(format!("it is damaged: {error}")))?;
    let opened = decrypt(&sealed).map_err(failed)?;
    let bound: BoundValue<'_> = serde_json::from_slice(&opened)
        .map_err(|_| failed("its content is not a sealed value".to_owned()))?;
    let is_of_file = bound.lineage == binding.lineage;
    if is_of_file && bound.address == secret.address && bound.path == secret.path {
        // Without its mark it would be printed.
        return match bound.listed == secret.listed {
            true => Ok(DecryptedValue {
                text: bound.value.get().to_owned(),
                is_for_recipients: bound.recipients.as_deref() == Some(&binding.recipients),
            }),
            false => Err(SealError::NotMarked(secret.describe_location())),
        };
    }
    let mut origin = find_secrets::format_span(&bound.address, &bound.path);
    if !is_of_file {
        origin = format!("{origin} in the state with the lineage {:?}", bound.lineage);
    }
    Err(SealError::WrongPlace { place: secret.describe_location(), origin })
}

/// The base64 of a sealed value; `None` for any other JSON.
fn sealed_base64(json: &str) -> Option<String> {
    json.strip_prefix(QUOTED_SEALED_PREFIX)?.strip_suffix('"').map(str::to_owned)
}

/// Whether a readable value contains a sealed one, which would be mistaken for the secret.
fn contains_sealed_value(json: &str) -> bool {
    let mut has_one = false;
    visit_scalars(json, false, &mut |_, leaf| has_one |= leaf.starts_with(QUOTED_SEALED_PREFIX));
    has_one
}

fn format_header_lines(recipients: &[String]) -> String {
    let mut lines =
        format!("\n  \"encryption_version\": \"{SEALED_VERSION}\",\n  \"recipients\": [");
    for (at, recipient) in recipients.iter().enumerate() {
        let comma = if at == 0 { "" } else { "," };
        lines = format!("{lines}{comma}\n    {}", quote_json(recipient));
    }
    lines + "\n  ],"
}

fn quote_json(text: &str) -> String {
    let mut out = Vec::new();
    json::append_quoted(&mut out, text);
    String::from_utf8_lossy(&out).into_owned()
}

fn parse_utf8(text: &[u8]) -> Result<&str, SealError> {
    std::str::from_utf8(text).map_err(|_| not_a_state_error("it is not UTF-8"))
}

fn not_a_state_error(detail: &str) -> SealError {
    let (summary, detail) =
        (messages::INVALID_STATE_FILE_FORMAT, format!("The file is not a state: {detail}"));
    SealError::File(FileError::Invalid { summary, detail, line: None })
}

/// The byte range of a part of a text.
fn position_in_text(text: &str, part: &str) -> Range<usize> {
    let start = (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    start..start + part.len()
}

/// The text with replacements, none of which overlap.
fn apply_edits(text: &str, mut edits: Vec<TextEdit>) -> Vec<u8> {
    edits.sort_unstable_by_key(|edit| edit.range.start);
    let mut out = Vec::with_capacity(text.len());
    let mut copied = 0;
    for edit in edits {
        out.extend_from_slice(&text.as_bytes()[copied..edit.range.start]);
        out.extend_from_slice(edit.text.as_bytes());
        copied = edit.range.end;
    }
    out.extend_from_slice(&text.as_bytes()[copied..]);
    out
}
