//! Versions and constraints as registries of modules and `required_version` write them: more forms of
//! a version are one here than for providers, and `~>` with one number has no upper end.

use std::cmp::Ordering;
use std::fmt::{Display, Formatter};
use std::str::FromStr;

use super::operator::{Operator, split_operator};
use super::{ConstraintError, Version};

/// A version of any number of parts, with or without a `v`. Prints at least three parts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LooseVersion {
    /// At least three.
    numbers: Vec<i64>,
    pre: String,
    build: String,
}

/// A list of constraints, as they were written: a version must meet each.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LooseConstraints {
    text: String,
    list: Vec<LooseConstraint>,
}

/// A constraint on a version.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct LooseConstraint {
    operator: Operator,
    version: LooseVersion,
    /// The number of parts of the version as written.
    n_written: usize,
}

/// The error for a string that is not a version.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a version; write numbers with dots between them, as in 1.2.3")]
pub struct VersionError(String);

impl LooseVersion {
    /// Whether it is a prerelease.
    #[must_use]
    pub fn is_prerelease(&self) -> bool {
        !self.pre.is_empty()
    }

    /// Compares by precedence. Build metadata is ignored.
    #[must_use]
    pub fn cmp_precedence(&self, other: &Self) -> Ordering {
        let numbers = self.significant_numbers().cmp(other.significant_numbers());
        numbers.then_with(|| match (self.is_prerelease(), other.is_prerelease()) {
            (true, true) => compare_prereleases(&self.pre, &other.pre),
            // Turned round, because a prerelease comes before its release.
            (mine, others) => others.cmp(&mine),
        })
    }

    /// The numbers without zeros at the end: `1.0` and `1.0.0.0` are the same version.
    fn significant_numbers(&self) -> &[i64] {
        let end = self.numbers.iter().rposition(|number| *number != 0).map_or(0, |last| last + 1);
        &self.numbers[..end]
    }
}

/// The version of the engine, whose numbers are small.
impl From<&Version> for LooseVersion {
    fn from(version: &Version) -> Self {
        let number = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        Self {
            numbers: [version.major, version.minor, version.patch].map(number).to_vec(),
            pre: version.pre.to_string(),
            build: version.build.to_string(),
        }
    }
}

/// Compares prereleases part by part: numbers by their size, and before words.
fn compare_prereleases(a: &str, b: &str) -> Ordering {
    let key = |text: &str| {
        let parts = text.split('.').map(|part| match part.parse::<u64>() {
            Ok(number) => (false, number, part.to_owned()),
            Err(_) => (true, 0, part.to_owned()),
        });
        parts.collect::<Vec<_>>()
    };
    key(a).cmp(&key(b))
}

impl LooseConstraints {
    /// Whether a version meets every constraint. A prerelease is allowed only where a constraint
    /// names exactly it.
    #[must_use]
    pub fn allows_version(&self, version: &LooseVersion) -> bool {
        let names = |constraint: &LooseConstraint| {
            constraint.operator == Operator::Equal
                && constraint.version.cmp_precedence(version).is_eq()
        };
        (!version.is_prerelease() || self.list.iter().any(names))
            && self.list.iter().all(|constraint| constraint.allows_version(version))
    }

    /// Whether one of them names a prerelease.
    #[must_use]
    pub fn has_prerelease(&self) -> bool {
        self.list.iter().any(|constraint| constraint.version.is_prerelease())
    }
}

impl LooseConstraint {
    fn allows_version(&self, version: &LooseVersion) -> bool {
        let given = &self.version;
        let order = version.cmp_precedence(given);
        // A range accepts only prereleases of a version of which it names a prerelease.
        let in_range = !version.is_prerelease()
            || (given.is_prerelease()
                && given.significant_numbers() == version.significant_numbers());
        match self.operator {
            Operator::Equal => order.is_eq(),
            Operator::NotEqual => order.is_ne(),
            Operator::Greater => in_range && order.is_gt(),
            Operator::GreaterOrEqual => in_range && order.is_ge(),
            Operator::Less => in_range && order.is_lt(),
            Operator::LessOrEqual => in_range && order.is_le(),
            Operator::Pessimistic => {
                // All as go-version has it: the numbers before the last written one are fixed, and
                // a version with fewer numbers than the constraint never meets it.
                let fixed = self.n_written - 1;
                in_range
                    && given.is_prerelease() == version.is_prerelease()
                    && order.is_ge()
                    && given.numbers.len() <= version.numbers.len()
                    && given.numbers[..fixed] == version.numbers[..fixed]
            }
        }
    }
}

impl FromStr for LooseVersion {
    type Err = VersionError;

    fn from_str(text: &str) -> Result<Self, VersionError> {
        let parsed = parse_loose_version(text).ok_or_else(|| VersionError(text.to_owned()))?;
        Ok(parsed.0)
    }
}

/// Parses a version. Returns it with the number of its parts as written.
fn parse_loose_version(text: &str) -> Option<(LooseVersion, usize)> {
    let text = text.strip_prefix('v').unwrap_or(text);
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (numbers, rest) = text.split_at(end);
    // A number too large for Terraform is invalid here too, as it could not be compared.
    let mut numbers =
        numbers.split('.').map(|number| number.parse::<i64>().ok()).collect::<Option<Vec<_>>>()?;
    let n_written = numbers.len();
    numbers.resize(n_written.max(3), 0);
    let (pre, build) = match rest.split_once('+') {
        Some((_, "")) => return None,
        Some((pre, build)) => (pre, build),
        None => (rest, ""),
    };
    // The hyphen between them may be left out. A single hyphen is itself the prerelease.
    let pre = pre.strip_prefix('-').filter(|pre| !pre.is_empty()).unwrap_or(pre);
    let is_part = |part: &str| {
        let allowed = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '~';
        !part.is_empty() && part.chars().all(allowed)
    };
    let are_parts = |text: &str| text.is_empty() || text.split('.').all(is_part);
    (are_parts(pre) && are_parts(build)).then(|| {
        let (pre, build) = (pre.to_owned(), build.to_owned());
        (LooseVersion { numbers, pre, build }, n_written)
    })
}

impl FromStr for LooseConstraints {
    type Err = ConstraintError;

    /// Reads constraints with commas between them.
    fn from_str(text: &str) -> Result<Self, ConstraintError> {
        let list = text.split(',').map(parse_loose_constraint).collect::<Result<_, _>>()?;
        Ok(Self { text: text.to_owned(), list })
    }
}

fn parse_loose_constraint(text: &str) -> Result<LooseConstraint, ConstraintError> {
    // `\s` in the patterns of Go means the blanks of ASCII only, so a wider one is refused.
    let text = text.trim_matches(|c: char| c.is_ascii_whitespace());
    if text.is_empty() {
        return Err(ConstraintError::Empty);
    }
    let (operator, version) = split_operator(text)?;
    let parsed = parse_loose_version(version)
        .ok_or_else(|| ConstraintError::LooseVersion(VersionError(version.to_owned())))?;
    let (version, n_written) = parsed;
    Ok(LooseConstraint { operator, version, n_written })
}

impl Display for LooseVersion {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        for (at, number) in self.numbers.iter().enumerate() {
            let dot = if at > 0 { "." } else { "" };
            write!(f, "{dot}{number}")?;
        }
        for (sign, text) in [('-', &self.pre), ('+', &self.build)] {
            if !text.is_empty() {
                write!(f, "{sign}{text}")?;
            }
        }
        Ok(())
    }
}

/// Prints them as they were written.
impl Display for LooseConstraints {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_version(text: &str) -> LooseVersion {
        text.parse().unwrap()
    }

    #[test]
    fn versions_print_in_their_full_form() {
        let table = [
            ("v2.0.0", "2.0.0"),
            ("1", "1.0.0"),
            ("1.2", "1.2.0"),
            ("01.02.03", "1.2.3"),
            ("1.2.3.4", "1.2.3.4"),
            ("1.2.3beta1", "1.2.3-beta1"),
            ("1.2-rc.1+b.2", "1.2.0-rc.1+b.2"),
            ("1.2.3+b1", "1.2.3+b1"),
            ("1.2.3--", "1.2.3--"),
        ];
        for (text, printed) in table {
            assert_eq!(parse_version(text).to_string(), printed, "{text}");
            assert_eq!(parse_version(text), parse_version(printed), "{text}");
        }
        for text in
            ["", "v", "V1", "vv1", "1.", ".1", "1..2", "1.x", "1.2.3+", "1-a..b", "1-a_b", " 1"]
        {
            assert!(text.parse::<LooseVersion>().is_err(), "{text}");
        }
        // Terraform reads the numbers into integers of 64 bits with a sign.
        assert!("9223372036854775807".parse::<LooseVersion>().is_ok());
        assert!("9223372036854775808".parse::<LooseVersion>().is_err());
    }

    #[test]
    fn versions_have_one_order() {
        let ascending = [
            "0.9", "1.0-1", "1.0-2", "1.0-10", "1.0-a", "1.0-a.1", "1.0-a.b", "1.0-b", "1.0",
            "1.0.0.1", "1.0.1", "1.10",
        ];
        for (at, smaller) in ascending.iter().enumerate() {
            for (behind, larger) in ascending.iter().enumerate().skip(at) {
                let expected = at.cmp(&behind);
                assert_eq!(parse_version(smaller).cmp_precedence(&parse_version(larger)), expected);
            }
        }
        for same in ["v1", "1.0.0.0", "1.0+b1", "01"] {
            assert!(parse_version(same).cmp_precedence(&parse_version("1.0.0")).is_eq(), "{same}");
        }
    }

    /// Results of Terraform 1.11.4, for its own version by `required_version` and for versions that a registry
    /// lists by the `version` of a module.
    #[test]
    fn constraints_allow_what_terraform_allows() {
        let of_itself = [
            ("~> 1", true),
            ("~> 0", true),
            ("~> 2", false),
            ("~> 1.10", true),
            ("~> 1.12", false),
            ("~> 1.11.0", true),
            ("~> 1.11.5", false),
            ("~> v1.11", true),
            (">= v1.0", true),
            ("v1.11.4", true),
            ("1.11", false),
            ("!=1.11", true),
            ("!= 1.11.4", false),
            ("1.11.4+meta", true),
            ("1.11.04", true),
            ("01.11.4", true),
            (">= 1.11.4.0", true),
            (">= 1.11.4.1", false),
            ("~> 1.11.4.0", false),
            ("~> 1.11.3.0", false),
            (">= 9223372036854775807", false),
            (">\t1", true),
            ("> 1,<2\n", true),
        ];
        let of_others = [
            ("~>1", "2.0.0", true),
            ("~> 1.0", "2.0.0", false),
            ("~> 1.0", "1.01.0", true),
            ("~> 1.0.0.0", "1.0.0.1", true),
            ("1.0.0", "1.0.0+b1", true),
            ("1.0.0+b2", "1.0.0+b1", true),
            ("1.2", "1.2.0", true),
            ("= v1.0.0", "1.0.0", true),
            ("2.0.0-rc1", "2.0.0-rc1", true),
            ("2.0-rc1", "2.0.0-rc1", true),
            ("2.0.0-beta1", "2.0.0beta1", true),
            ("~> 2.0.0-rc1", "2.0.0-rc1", false),
            ("~> 2.0.0-rc1", "2.0.0", false),
            (">= 2.0.0-rc1", "2.0.0-rc1", false),
            (">= 2.0.0-rc1", "2.0.0", true),
            ("<= 2.0.0-rc1", "2.0.0-rc1", false),
            ("<= 2.0.0-rc1", "1.0.0", true),
            (">= 1.0", "2.0.0-rc1", false),
            ("!= 1.0", "2.0.0-rc1", false),
        ];
        let of_itself = of_itself.map(|(text, allowed)| (text, "1.11.4", allowed));
        for (text, number, allowed) in of_itself.into_iter().chain(of_others) {
            let constraints: LooseConstraints = text.parse().unwrap();
            assert_eq!(
                constraints.allows_version(&parse_version(number)),
                allowed,
                "{text} allows {number}"
            );
            assert_eq!(constraints.to_string(), text);
        }
    }

    #[test]
    fn malformed_constraints_are_refused() {
        for text in [
            "",
            "  ",
            ",",
            "1.0,",
            ">= 1.0, ",
            "=> 1.0",
            "==1.0",
            "~ 1",
            "latest",
            "1.*",
            ">=",
            "> 1 2",
            "V1.0",
            "1.0+",
            "1.0 || 2.0",
            "^1.0",
            "\u{a0}> 1",
            ">= 99999999999999999999",
        ] {
            assert!(text.parse::<LooseConstraints>().is_err(), "{text}");
        }
    }
}
