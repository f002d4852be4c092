//! Identifiers of KMS keys, validated before any request, as in Terraform.

use crate::aws::arn::arn_resource;
use crate::config_error::ConfigError;

/// Checks the identifier of an encryption key: an ID, an alias, or the ARN of one.
///
/// # Errors
/// Returns an error if the identifier is invalid.
pub(super) fn check_kms_key(name: &str) -> Result<(), ConfigError> {
    let is_alias = |text: &str| {
        let alias = text.strip_prefix("alias/").filter(|alias| !alias.is_empty());
        alias.is_some_and(|alias| {
            alias.chars().all(|c| c.is_ascii_alphanumeric() || "/_-".contains(c))
        })
    };
    let is_valid = match arn_resource(name) {
        Some(resource) => {
            resource.strip_prefix("key/").is_some_and(is_kms_key_id) || is_alias(resource)
        }
        None => is_kms_key_id(name) || is_alias(name),
    };
    if is_valid {
        return Ok(());
    }
    Err(ConfigError::new(format!(
        "kms_key_id is {name:?}, which is not the ID, the alias or the ARN of a KMS key"
    )))
}

/// Whether a string is the ID of a key: a UUID, or a multi-Region key ID.
fn is_kms_key_id(text: &str) -> bool {
    let is_hex = |text: &str, length: usize| {
        text.len() == length && text.chars().all(|c| c.is_ascii_hexdigit())
    };
    if let Some(id) = text.strip_prefix("mrk-") {
        return is_hex(id, 32);
    }
    let parts: Vec<&str> = text.split('-').collect();
    let lengths = [8, 4, 4, 4, 12];
    parts.len() == lengths.len()
        && parts.iter().zip(lengths).all(|(part, length)| is_hex(part, length))
        && parts[2].starts_with(['1', '2', '3', '4', '5'])
        && parts[3].starts_with(['8', '9', 'a', 'A', 'b', 'B'])
}
