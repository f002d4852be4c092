//! Reads a sealed state file without decrypting it: each sealed value is replaced with a sensitive null.

use std::collections::BTreeSet;

use serde_json::value::RawValue;

use super::find_secrets::{
    FileJson, InstanceJson, SecretKind, SecretValue, marked_secrets, unmarked_values,
};
use super::{
    QUOTED_SEALED_PREFIX, SealError, TextEdit, apply_edits, contains_sealed_value,
    not_a_state_error, parse_utf8, position_in_text, quote_json, sealed_base64,
};

/// The replacement of a sealed message of a check, which cannot be null.
const SEALED_MESSAGE_PLACEHOLDER: &str = "\"(sealed value)\"";

/// Returns a sealed state file without its sealed values. It must only be read: a state that is written
/// from it has lost them.
///
/// # Errors
/// When the text is not a sealed state file.
pub fn redact_state_file(text: &[u8]) -> Result<Vec<u8>, SealError> {
    let text = parse_utf8(text)?;
    let file = FileJson::parse(text)?;
    let Some(version) = file.encryption_version else {
        return Err(not_a_state_error("it has no encryption version"));
    };
    let at = position_in_text(text, version.get());
    let mut edits = vec![TextEdit { range: at, text: "null, \"version\": 4".to_owned() }];
    for secret in marked_secrets(&file)? {
        if sealed_base64(secret.text).is_some() {
            edits.append(&mut redacting_edits(text, &secret));
        } else if contains_sealed_value(secret.text) {
            return Err(SealError::NotMarked(secret.describe_location()));
        }
    }
    let copies = unmarked_values(&file, &|leaf| leaf.starts_with(QUOTED_SEALED_PREFIX))?;
    for copy in &copies {
        edits.append(&mut redacting_edits(text, copy));
    }
    for (address, instance) in file.all_instances() {
        let of_instance = copies.iter().filter(|copy| copy.address == address);
        let names: BTreeSet<String> = of_instance.filter_map(attribute_of_copy).collect();
        edits.extend(
            (!names.is_empty()).then(|| add_sensitive_paths(text, instance, &names)).flatten(),
        );
    }
    Ok(apply_edits(text, edits))
}

/// The edits that replace a sealed value.
fn redacting_edits(text: &str, secret: &SecretValue<'_>) -> Vec<TextEdit> {
    let at = position_in_text(text, secret.text);
    let value = if secret.address == "check_results" { SEALED_MESSAGE_PLACEHOLDER } else { "null" };
    let mut edits = vec![TextEdit { range: at, text: value.to_owned() }];
    if let SecretKind::Output(ty) = secret.kind {
        let mark = if secret.listed { "" } else { ", \"sensitive\": true" };
        edits.push(TextEdit {
            range: position_in_text(text, ty),
            text: format!("\"string\"{mark}"),
        });
    }
    edits
}

/// The name of the attribute that a copy of a secret is in.
fn attribute_of_copy(copy: &SecretValue<'_>) -> Option<String> {
    let name = copy.path.strip_prefix('/')?.split('/').next()?;
    Some(name.replace("~1", "/").replace("~0", "~"))
}

/// Marks whole attributes: the path of a part requires its type, which is only in the schema.
fn add_sensitive_paths(
    text: &str,
    instance: &InstanceJson<'_>,
    names: &BTreeSet<String>,
) -> Option<TextEdit> {
    let path =
        |name: &String| format!("[{{\"type\": \"get_attr\", \"value\": {}}}]", quote_json(name));
    let paths: Vec<String> = names.iter().map(path).collect();
    let paths = paths.join(", ");
    let position_of = |part: &RawValue| position_in_text(text, part.get());
    Some(match instance.sensitive_attributes {
        None => {
            let end = position_of(instance.attributes?).end;
            TextEdit { range: end..end, text: format!(", \"sensitive_attributes\": [{paths}]") }
        }
        Some(marks) if marks.get() == "null" => {
            TextEdit { range: position_of(marks), text: format!("[{paths}]") }
        }
        Some(marks) => {
            let start = position_of(marks).start + 1;
            let is_only = marks.get().trim_matches(['[', ']']).trim().is_empty();
            let comma = if is_only { "" } else { ", " };
            TextEdit { range: start..start, text: format!("{paths}{comma}") }
        }
    })
}
