//! Reads a sealed state file without decrypting it: null, marked as sensitive, in the place of each sealed value.

use std::collections::BTreeSet;

use serde_json::value::RawValue;

use super::secrets::{FileJson, InstanceJson, Secret, SecretKind, listed, unlisted};
use super::{
    Edit, START, SealError, apply_edits, contains_sealed, not_a_state, position, quoted,
    sealed_text, utf8,
};

/// The text in the place of a sealed message of a check, which cannot be null.
const MESSAGE: &str = "\"(sealed value)\"";

/// The text of a sealed state file without its sealed values. It is for reading alone: a state that is written
/// from it has lost them.
///
/// # Errors
/// When it is no sealed state file.
pub fn redact(text: &[u8]) -> Result<Vec<u8>, SealError> {
    let text = utf8(text)?;
    let file = FileJson::parse(text)?;
    let Some(version) = file.encryption_version else {
        return Err(not_a_state("it has no encryption version"));
    };
    let at = position(text, version.get());
    let mut edits = vec![Edit { at, text: "null, \"version\": 4".to_owned() }];
    for secret in listed(&file)? {
        if sealed_text(secret.text).is_some() {
            edits.append(&mut without_value(text, &secret));
        } else if contains_sealed(secret.text) {
            return Err(SealError::Unlisted(secret.place()));
        }
    }
    let copies = unlisted(&file, &|leaf| leaf.starts_with(START))?;
    for copy in &copies {
        edits.append(&mut without_value(text, copy));
    }
    for (address, instance) in file.instances() {
        let of_instance = copies.iter().filter(|copy| copy.address == address);
        let names: BTreeSet<String> = of_instance.filter_map(attribute).collect();
        edits.extend((!names.is_empty()).then(|| with_marks(text, instance, &names)).flatten());
    }
    Ok(apply_edits(text, edits))
}

/// The edits that replace a sealed value.
fn without_value(text: &str, secret: &Secret<'_>) -> Vec<Edit> {
    let at = position(text, secret.text);
    let value = if secret.address == "check_results" { MESSAGE } else { "null" };
    let mut edits = vec![Edit { at, text: value.to_owned() }];
    if let SecretKind::Output(ty) = secret.kind {
        let mark = if secret.listed { "" } else { ", \"sensitive\": true" };
        edits.push(Edit { at: position(text, ty), text: format!("\"string\"{mark}") });
    }
    edits
}

/// The name of the attribute that a copy of a secret is in.
fn attribute(copy: &Secret<'_>) -> Option<String> {
    let name = copy.path.strip_prefix('/')?.split('/').next()?;
    Some(name.replace("~1", "/").replace("~0", "~"))
}

/// Marks whole attributes: the type of a part, which its path would need, is in the schema alone.
fn with_marks(text: &str, instance: &InstanceJson<'_>, names: &BTreeSet<String>) -> Option<Edit> {
    let path = |name: &String| format!("[{{\"type\": \"get_attr\", \"value\": {}}}]", quoted(name));
    let paths: Vec<String> = names.iter().map(path).collect();
    let paths = paths.join(", ");
    let at = |part: &RawValue| position(text, part.get());
    Some(match instance.sensitive_attributes {
        None => {
            let end = at(instance.attributes?).end;
            Edit { at: end..end, text: format!(", \"sensitive_attributes\": [{paths}]") }
        }
        Some(marks) if marks.get() == "null" => Edit { at: at(marks), text: format!("[{paths}]") },
        Some(marks) => {
            let start = at(marks).start + 1;
            let is_only = marks.get().trim_matches(['[', ']']).trim().is_empty();
            let comma = if is_only { "" } else { ", " };
            Edit { at: start..start, text: format!("{paths}{comma}") }
        }
    })
}
