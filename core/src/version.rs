//! Versions of providers and constraints on them, as `required_providers` and the lock file write
//! them. Constraints in `required_version` and on modules follow other rules, in [`loose`]. Chooses
//! no version, only determines the allowed ones.

mod loose;
mod operator;

use std::fmt::{Display, Formatter};
use std::str::FromStr;

pub use loose::{LooseConstraints, LooseVersion, VersionError};
pub use semver::Version;

use operator::Operator;

/// The version of the language and of its file formats that this engine implements.
pub const LANGUAGE_VERSION: Version = Version::new(1, 11, 4);

/// A list of constraints: a version must meet each. An empty list allows everything except prereleases.
/// Sorted and distinct, so equal constraints print equally.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct VersionConstraints(Vec<VersionConstraint>);

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct VersionConstraint {
    // Versions first, then operators: constraints are printed in this order in the lock file.
    version: Version,
    op: ConstraintOperator,
}

/// In the order in which constraints on one version are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum ConstraintOperator {
    Greater,
    GreaterOrEqual,
    Equal,
    /// `~> 1.2.3`: the last number may grow.
    PessimisticPatch,
    /// `~> 1.2`: the second number may grow.
    PessimisticMinor,
    LessOrEqual,
    Less,
    NotEqual,
}

/// The error for a string that is not a version constraint.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConstraintError {
    /// Nothing between two commas, or in the whole text.
    #[error("a constraint is empty")]
    Empty,
    /// Something that is not an operator before the version.
    #[error("`{0}` is not an operator; use one of = != > >= < <= ~>")]
    Operator(String),
    /// The string after the operator is not a version.
    #[error("`{0}` is not a version; write up to three numbers, as in 1.2.3")]
    Version(String),
    /// The same, where versions are less strict.
    #[error(transparent)]
    LooseVersion(VersionError),
}

impl VersionConstraints {
    /// Whether a version meets every constraint. A prerelease is allowed only where a constraint
    /// names exactly it.
    #[must_use]
    pub fn allows_version(&self, version: &Version) -> bool {
        let named = self.0.iter().any(|constraint| {
            constraint.op == ConstraintOperator::Equal
                && constraint.version.cmp_precedence(version).is_eq()
        });
        (version.pre.is_empty() || named)
            && self.0.iter().all(|constraint| constraint.allows_version(version))
    }

    /// The constraints of both.
    #[must_use]
    pub fn union(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        Self::from_unsorted(self.0)
    }

    /// Whether the list of constraints is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn from_unsorted(mut list: Vec<VersionConstraint>) -> Self {
        list.sort();
        list.dedup();
        Self(list)
    }
}

impl VersionConstraint {
    fn allows_version(&self, version: &Version) -> bool {
        // Build metadata is ignored: `1.0.0+a` meets `= 1.0.0+b`.
        let order = version.cmp_precedence(&self.version);
        match self.op {
            ConstraintOperator::Greater => order.is_gt(),
            ConstraintOperator::GreaterOrEqual => order.is_ge(),
            ConstraintOperator::Equal => order.is_eq(),
            ConstraintOperator::PessimisticPatch => {
                order.is_ge()
                    && (version.major, version.minor) == (self.version.major, self.version.minor)
            }
            ConstraintOperator::PessimisticMinor => {
                order.is_ge() && version.major == self.version.major
            }
            ConstraintOperator::LessOrEqual => order.is_le(),
            ConstraintOperator::Less => order.is_lt(),
            ConstraintOperator::NotEqual => order.is_ne(),
        }
    }
}

impl FromStr for VersionConstraints {
    type Err = ConstraintError;

    /// Parses constraints that are separated by commas. The empty string contains none.
    fn from_str(text: &str) -> Result<Self, ConstraintError> {
        if text.trim().is_empty() {
            return Ok(Self::default());
        }
        text.split(',').map(parse_constraint).collect::<Result<_, _>>().map(Self::from_unsorted)
    }
}

fn parse_constraint(text: &str) -> Result<VersionConstraint, ConstraintError> {
    let text = text.trim();
    if text.is_empty() {
        return Err(ConstraintError::Empty);
    }
    let (operator, number) = operator::split_operator(text)?;
    let (version, n_parts) =
        parse_partial_version(number).ok_or_else(|| ConstraintError::Version(number.to_owned()))?;
    let op = match operator {
        Operator::Equal => ConstraintOperator::Equal,
        Operator::NotEqual => ConstraintOperator::NotEqual,
        Operator::Greater => ConstraintOperator::Greater,
        Operator::GreaterOrEqual => ConstraintOperator::GreaterOrEqual,
        Operator::Less => ConstraintOperator::Less,
        Operator::LessOrEqual => ConstraintOperator::LessOrEqual,
        Operator::Pessimistic if n_parts == 3 => ConstraintOperator::PessimisticPatch,
        Operator::Pessimistic => ConstraintOperator::PessimisticMinor,
    };
    Ok(VersionConstraint { version, op })
}

/// Parses a version whose last numbers may be missing; also returns the count of numbers.
fn parse_partial_version(text: &str) -> Option<(Version, usize)> {
    let end = text.find(['-', '+']).unwrap_or(text.len());
    let (numbers, tail) = text.split_at(end);
    // Zeros before a number mean nothing.
    let number = |text: &str| {
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if is_number { text.parse::<u64>().ok() } else { None }
    };
    let numbers = numbers.split('.').map(number).collect::<Option<Vec<_>>>()?;
    let (major, minor, patch) = match numbers[..] {
        [major] => (major, 0, 0),
        [major, minor] => (major, minor, 0),
        [major, minor, patch] => (major, minor, patch),
        _ => return None,
    };
    // Parsed again as a string, so that the prerelease after the numbers is checked as well.
    let version = Version::parse(&format!("{major}.{minor}.{patch}{tail}")).ok()?;
    Some((version, numbers.len()))
}

/// Prints the canonical form, as in the lock file.
impl Display for VersionConstraints {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        for (at, constraint) in self.0.iter().enumerate() {
            let comma = if at > 0 { ", " } else { "" };
            write!(f, "{comma}{constraint}")?;
        }
        Ok(())
    }
}

impl Display for VersionConstraint {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let version = &self.version;
        let op = match self.op {
            ConstraintOperator::Greater => "> ",
            ConstraintOperator::GreaterOrEqual => ">= ",
            ConstraintOperator::Equal => "",
            ConstraintOperator::PessimisticPatch => "~> ",
            ConstraintOperator::PessimisticMinor => {
                return write!(f, "~> {}.{}", version.major, version.minor);
            }
            ConstraintOperator::LessOrEqual => "<= ",
            ConstraintOperator::Less => "< ",
            ConstraintOperator::NotEqual => "!= ",
        };
        write!(f, "{op}{version}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constraints_print_in_their_canonical_form() {
        let table = [
            ("", ""),
            ("1", "1.0.0"),
            ("= 1.2, =1.2.0", "1.2.0"),
            ("01.11.04", "1.11.4"),
            ("~>2", "~> 2.0"),
            ("~> 2.1", "~> 2.1"),
            ("~> 2.1.0", "~> 2.1.0"),
            ("< 4, >= 3.0", ">= 3.0.0, < 4.0.0"),
            (
                "!=1.0.0,<1.0.0,<=1.0.0,~>1.0,~>1.0.0,1.0.0,>=1.0.0,>1.0.0",
                "> 1.0.0, >= 1.0.0, 1.0.0, ~> 1.0.0, ~> 1.0, <= 1.0.0, < 1.0.0, != 1.0.0",
            ),
            (">= 1.0.0-beta.1", ">= 1.0.0-beta.1"),
        ];
        for (text, canonical) in table {
            assert_eq!(
                text.parse::<VersionConstraints>().unwrap().to_string(),
                canonical,
                "{text}"
            );
        }
    }

    #[test]
    fn a_version_must_meet_every_constraint() {
        let table = [
            ("", "9.9.9", true),
            ("", "1.0.0-rc1", false),
            ("1.0.0-rc1", "1.0.0-rc1", true),
            (">= 0.9, 1.0.0-rc1", "1.0.0-rc1", true),
            (">= 1.0.0-beta", "1.0.0-rc1", false),
            ("~> 1.2", "1.9.0", true),
            ("~> 1.2", "1.1.9", false),
            ("~> 1.2", "2.0.0", false),
            ("~> 1.2.3", "1.2.9", true),
            ("~> 1.2.3", "1.3.0", false),
            ("> 1, != 1.5", "1.5.0", false),
            ("> 1, != 1.5", "1.4.0", true),
            ("<= 1.4", "1.4.0", true),
        ];
        for (text, version, allowed) in table {
            let constraints: VersionConstraints = text.parse().unwrap();
            let version = Version::parse(version).unwrap();
            assert_eq!(constraints.allows_version(&version), allowed, "{text} allows {version}");
        }
    }

    #[test]
    fn malformed_constraints_are_refused() {
        for text in [
            ",", "1.0,", "=> 1.0", "~ 1", "latest", "1.2.3.4", "1.*", ">=", "> 1 2", "+1.0",
            ">= v1",
        ] {
            assert!(text.parse::<VersionConstraints>().is_err(), "{text}");
        }
    }
}
