//! Role arguments, and the validation of their attributes that Terraform does before any request.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::time::Duration;

use formwork_value::Value;
use serde::de::IgnoredAny;

use super::arn::arn_resource;
use super::credentials::WebIdentityToken;
use super::nested_values::{nested_value, string_member, strings_of_map, strings_of_set};
use super::sts::RoleToAssume;
use crate::config_error::ConfigError;

/// Reads a role.
///
/// # Errors
/// Returns an error if an attribute is invalid.
pub(super) fn read_role(argument: &str, value: &Value) -> Result<RoleToAssume, ConfigError> {
    let text = |name: &str| string_member(Some(value), name);
    let arn = text("role_arn").filter(|arn| !arn.is_empty()).ok_or_else(|| {
        ConfigError::new(format!(
            "the attribute \"{argument}.role_arn\" is required by the backend"
        ))
    })?;
    if !arn_resource(&arn).is_some_and(|resource| resource.starts_with("role/")) {
        return Err(ConfigError::new(format!(
            "{argument}.role_arn is {arn:?}, which is not the ARN of an IAM role"
        )));
    }
    let checked_text = |name: &str, lengths: RangeInclusive<usize>, punctuation: &str| {
        let text = text(name);
        text.iter().try_for_each(|text| {
            check_characters(&format!("{argument}.{name}"), text, lengths.clone(), punctuation)
        })?;
        Ok::<_, ConfigError>(text)
    };
    let policy = text("policy").map(|policy| policy.trim().to_owned());
    let is_object =
        |text: &String| serde_json::from_str::<BTreeMap<String, IgnoredAny>>(text).is_ok();
    if policy.as_ref().is_some_and(|policy| !is_object(policy)) {
        return Err(ConfigError::new(format!("{argument}.policy is not a JSON object")));
    }
    let policy_arns = strings_of_set(nested_value(value, "policy_arns"));
    for arn in &policy_arns {
        if !arn_resource(arn).is_some_and(|resource| resource.starts_with("policy/")) {
            return Err(ConfigError::new(format!(
                "{argument}.policy_arns has {arn:?}, which is not the ARN of an IAM policy"
            )));
        }
    }
    let duration =
        text("duration").map(|text| parse_session_duration(&format!("{argument}.duration"), &text));
    Ok(RoleToAssume {
        arn,
        duration: duration.transpose()?,
        external_id: checked_text("external_id", 2..=1224, "_+=,.@:/-")?,
        policy,
        policy_arns,
        session_name: checked_text("session_name", 2..=64, "_+=,.@-")?,
        source_identity: checked_text("source_identity", 2..=64, "_+=,.@-")?,
        tags: strings_of_map(nested_value(value, "tags")),
        transitive_tag_keys: strings_of_set(nested_value(value, "transitive_tag_keys")),
    })
}

/// Reads a role that is assumed with a web identity token.
///
/// # Errors
/// Returns an error if an attribute is invalid.
pub(super) fn read_web_identity(
    value: Option<&Value>,
) -> Result<Option<(RoleToAssume, WebIdentityToken)>, ConfigError> {
    let Some(value) = value else { return Ok(None) };
    let role = read_role("assume_role_with_web_identity", value)?;
    let text = |name: &str| string_member(Some(value), name);
    let name = "assume_role_with_web_identity.web_identity_token";
    text("web_identity_token")
        .iter()
        .try_for_each(|token| check_length(name, token, 4..=20_000))?;
    let token = match (text("web_identity_token"), text("web_identity_token_file")) {
        (Some(token), None) => WebIdentityToken::Value(token),
        (None, Some(path)) => WebIdentityToken::File(path),
        _ => {
            return Err(ConfigError::new(
                "exactly one of \"assume_role_with_web_identity.web_identity_token\" and \"assume_role_with_web_identity.web_identity_token_file\" must be set",
            ));
        }
    };
    Ok(Some((role, token)))
}

/// Reads a duration in Go's format, for example `1h30m`, between 15 minutes and 12 hours.
fn parse_session_duration(name: &str, text: &str) -> Result<u64, ConfigError> {
    let invalid = || {
        ConfigError::new(format!(
            "{name} is {text:?}, which must be a duration between 15m and 12h, such as \"1h30m\""
        ))
    };
    let mut remaining = text;
    let mut total = 0.0;
    while !remaining.is_empty() {
        let end = remaining.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(invalid)?;
        let (number, unit) = remaining.split_at(end);
        let number: f64 = number.parse().map_err(|_| invalid())?;
        let end = unit.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(unit.len());
        let (unit, following) = unit.split_at(end);
        total += number
            * match unit {
                "h" => 3600.0,
                "m" => 60.0,
                "s" => 1.0,
                "ms" => 1e-3,
                "us" | "µs" => 1e-6,
                "ns" => 1e-9,
                _ => return Err(invalid()),
            };
        remaining = following;
    }
    // The sum may be infinite, for which the plain conversion would panic.
    let duration = Duration::try_from_secs_f64(total).map_err(|_| invalid())?;
    Some(duration.as_secs()).filter(|seconds| (900..=43_200).contains(seconds)).ok_or_else(invalid)
}

fn check_length(name: &str, text: &str, lengths: RangeInclusive<usize>) -> Result<(), ConfigError> {
    if lengths.contains(&text.len()) {
        return Ok(());
    }
    Err(ConfigError::new(format!(
        "{name} has {} characters, and must have {} to {}",
        text.len(),
        lengths.start(),
        lengths.end()
    )))
}

/// Checks the length of a string, and that it contains only letters, digits and the given marks.
fn check_characters(
    name: &str,
    text: &str,
    lengths: RangeInclusive<usize>,
    punctuation: &str,
) -> Result<(), ConfigError> {
    check_length(name, text, lengths)?;
    if text.chars().all(|c| c.is_ascii_alphanumeric() || punctuation.contains(c)) {
        return Ok(());
    }
    Err(ConfigError::new(format!(
        "{name} is {text:?}, which may have only letters, digits and the characters {punctuation:?}"
    )))
}
