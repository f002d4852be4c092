//! The operator before the version in a constraint, which all constraints have in common. The
//! caller parses the version.

use super::ConstraintError;

/// The comparison of a version with the one after the operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Operator {
    Equal,
    NotEqual,
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
    /// `~>`: only the last of the numbers may grow.
    Pessimistic,
}

/// Splits a trimmed constraint into its operator and its version string.
pub(super) fn split_operator(text: &str) -> Result<(Operator, &str), ConstraintError> {
    // Letters as well: `v1.2` is a version for modules, and `latest` is to be refused as a version
    // and not as an operator.
    let at = text.find(|c: char| c.is_ascii_alphanumeric()).unwrap_or(text.len());
    let (operator, version) = text.split_at(at);
    let operator = match operator.trim_ascii_end() {
        "" | "=" => Operator::Equal,
        "!=" => Operator::NotEqual,
        ">" => Operator::Greater,
        ">=" => Operator::GreaterOrEqual,
        "<" => Operator::Less,
        "<=" => Operator::LessOrEqual,
        "~>" => Operator::Pessimistic,
        other => return Err(ConstraintError::Operator(other.to_owned())),
    };
    Ok((operator, version))
}
