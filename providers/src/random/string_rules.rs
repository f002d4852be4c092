//! Random strings from chosen kinds of characters, for `random_string` and `random_password`.

use formwork_sdk::prelude::*;
use rand::seq::SliceRandom as _;

const UPPER_LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const LOWER_LETTERS: &str = "abcdefghijklmnopqrstuvwxyz";
const NUMERIC_LETTERS: &str = "0123456789";
const SPECIAL_LETTERS: &str = "!@#$%&*()-_=+[]{}<>:?";

/// The longest text; more is an error in the configuration.
const MAX_STRING_LENGTH: i64 = 1 << 20;

/// Rules for a random string: attributes that several models have.
#[derive(Model)]
pub(super) struct StringRules {
    /// Number of characters; at least 1, and at least as many as the `min_` attributes together.
    #[attr(required, replace)]
    length: i64,
    /// Whether there may be special characters: `!@#$%&*()-_=+[]{}<>:?`. True if not set.
    #[attr(default = true, replace)]
    special: bool,
    /// Whether there may be upper-case letters. True if not set.
    #[attr(default = true, replace)]
    upper: bool,
    /// Whether there may be lower-case letters. True if not set.
    #[attr(default = true, replace)]
    lower: bool,
    /// Whether there may be digits. True if not set.
    #[attr(optional_computed, replace)]
    pub(super) numeric: bool,
    /// The least number of digits. 0 if not set.
    #[attr(default = 0, replace)]
    min_numeric: i64,
    /// The least number of upper-case letters. 0 if not set.
    #[attr(default = 0, replace)]
    min_upper: i64,
    /// The least number of lower-case letters. 0 if not set.
    #[attr(default = 0, replace)]
    min_lower: i64,
    /// The least number of special characters. 0 if not set.
    #[attr(default = 0, replace)]
    min_special: i64,
    /// Other special characters than the usual ones.
    #[attr(optional, replace_if = is_special_change_replacing)]
    override_special: Option<String>,
}

impl StringRulesDraft {
    /// Checks the configuration. `number` is the old name of `numeric`.
    pub(super) fn validate(&self, number: Attr<bool>) -> Answer<()> {
        let mut problems = Vec::new();
        for (name, least) in self.minimum_counts() {
            if least.get().is_some_and(|least| *least < 0) {
                let detail = format!("`{name}` must not be less than 0.");
                problems.push(invalid_attribute_problem(name, detail));
            }
        }
        if let Some(length) = self.length.get() {
            let parts = self.minimum_counts().map(|(_, least)| least.or_default().max(0));
            let least = parts.into_iter().fold(1, i64::saturating_add).saturating_sub(1).max(1);
            if *length < least || *length > MAX_STRING_LENGTH {
                let detail = format!(
                    "`length` is {length}; give a number from {least}, which is the sum of `min_upper`, \
                     `min_lower`, `min_numeric` and `min_special` and at least 1, to {MAX_STRING_LENGTH}."
                );
                problems.push(invalid_attribute_problem("length", detail));
            }
        }
        if let (Some(number), Some(numeric)) = (number.get(), self.numeric.get())
            && number != numeric
        {
            problems.push(Problem::new(
                "Number and numeric are both configured with different values",
                "`number` is the old name of `numeric`. Set `numeric` alone.",
            ));
        }
        let is_off = |kind: &Attr<bool>| kind.get() == Some(&false);
        let no_numbers = is_off(&number) || is_off(&self.numeric);
        if no_numbers && [&self.special, &self.upper, &self.lower].into_iter().all(is_off) {
            let detail = "At least one of `special`, `upper`, `lower` and `numeric` must be true.";
            problems.push(invalid_attribute_problem("numeric", detail.to_owned()));
        }
        Problem::fail_if_any(problems)
    }

    /// Planned values of `number` and `numeric`: each is the other's default.
    pub(super) fn planned_numeric(&self, number: Attr<bool>) -> Attr<bool> {
        match (self.numeric, number) {
            (Attr::Null, Attr::Null) => true.into(),
            (Attr::Null, number) => number,
            (numeric, _) => numeric,
        }
    }

    /// The rules that a string was made by, as far as older versions have not stored them: missing
    /// ones had their default.
    pub(super) fn with_unstored_attributes(self, number: Attr<bool>, text: &str) -> Self {
        let numeric = self.numeric.get().or(number.get()).copied().unwrap_or(true);
        let or_true = |kind: Attr<bool>| Attr::from(kind.get().copied().unwrap_or(true));
        let or_none = |least: Attr<i64>| Attr::from(least.or_default());
        Self {
            length: self.length.get().copied().unwrap_or_else(|| char_count(text)).into(),
            special: or_true(self.special),
            upper: or_true(self.upper),
            lower: or_true(self.lower),
            numeric: numeric.into(),
            min_numeric: or_none(self.min_numeric),
            min_upper: or_none(self.min_upper),
            min_lower: or_none(self.min_lower),
            min_special: or_none(self.min_special),
            override_special: self.override_special,
        }
    }

    fn minimum_counts(&self) -> [(&'static str, &Attr<i64>); 4] {
        [
            ("min_upper", &self.min_upper),
            ("min_lower", &self.min_lower),
            ("min_numeric", &self.min_numeric),
            ("min_special", &self.min_special),
        ]
    }
}

impl StringRulesInput {
    /// Makes a string. Drawn from a cryptographic source.
    pub(super) fn random_string(&self) -> Answer<String> {
        let special = self.override_special.as_deref().filter(|own| !own.is_empty());
        let kinds = [
            (UPPER_LETTERS, self.upper, self.min_upper),
            (LOWER_LETTERS, self.lower, self.min_lower),
            (NUMERIC_LETTERS, self.computed().numeric, self.min_numeric),
            (special.unwrap_or(SPECIAL_LETTERS), self.special, self.min_special),
        ];
        let allowed = kinds.iter().filter(|(_, allowed, _)| *allowed);
        let allowed: Vec<char> = allowed.flat_map(|(letters, _, _)| letters.chars()).collect();
        let length = usize::try_from(self.length).unwrap_or_default();
        if allowed.is_empty() && length > 0 {
            let detail =
                "No kind of character is allowed. Set `special`, `upper`, `lower` or `numeric`.";
            return Err(Problem::new("Random Read Error", detail));
        }
        let mut text = Vec::new();
        for (letters, _, least) in kinds {
            let letters: Vec<char> = letters.chars().collect();
            text.extend((0..least).map(|_| random_letter_of(&letters)));
        }
        let rest = length.saturating_sub(text.len());
        text.extend((0..rest).map(|_| random_letter_of(&allowed)));
        text.shuffle(&mut rand::rng());
        Ok(text.into_iter().collect())
    }

    /// The attributes that the provider sets.
    pub(super) fn computed(&self) -> StringRulesComputed {
        StringRulesComputed { numeric: self.numeric.unwrap_or(true) }
    }
}

/// Whether a change of the author's own special characters makes a new text: not where a string
/// that was stored as empty is none at all.
pub(super) fn is_special_change_replacing(prior: &Attr<String>, planned: &Attr<String>) -> bool {
    !(planned.is_null() && prior.get().is_some_and(String::is_empty))
}

fn char_count(text: &str) -> i64 {
    i64::try_from(text.chars().count()).unwrap_or(MAX_STRING_LENGTH)
}

fn random_letter_of(letters: &[char]) -> char {
    letters[rand::random_range(0..letters.len())]
}

fn invalid_attribute_problem(name: &str, detail: String) -> Problem {
    Problem::new("Invalid Attribute Value", detail).at(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn every_kind(length: i64) -> StringRulesInput {
        StringRulesInput {
            length,
            special: true,
            upper: true,
            lower: true,
            numeric: None,
            min_numeric: 0,
            min_upper: 0,
            min_lower: 0,
            min_special: 0,
            override_special: None,
        }
    }

    fn drawn(recipe: &StringRulesInput) -> String {
        recipe.random_string().unwrap()
    }

    #[test]
    fn a_text_has_its_length_and_only_what_is_allowed() {
        let lower = StringRulesInput {
            upper: false,
            numeric: Some(false),
            special: false,
            ..every_kind(500)
        };
        let text = drawn(&lower);
        assert_eq!(text.len(), 500);
        assert!(text.chars().all(|letter| letter.is_ascii_lowercase()), "{text}");
        let own = StringRulesInput { lower: false, special: true, ..lower };
        let own = StringRulesInput { override_special: Some("äö".to_owned()), ..own };
        assert!(drawn(&own).chars().all(|letter| "äö".contains(letter)));
    }

    #[test]
    fn a_text_has_at_least_as_many_of_each_kind_as_asked_for() {
        let recipe = StringRulesInput {
            min_upper: 2,
            min_lower: 3,
            min_numeric: 4,
            min_special: 1,
            ..every_kind(10)
        };
        let text = drawn(&recipe);
        let count = |kind: &str| text.chars().filter(|letter| kind.contains(*letter)).count();
        assert_eq!(
            [UPPER_LETTERS, LOWER_LETTERS, NUMERIC_LETTERS, SPECIAL_LETTERS].map(count),
            [2, 3, 4, 1],
            "{text}"
        );
    }

    #[test]
    fn what_cannot_be_made_is_refused() {
        let of =
            |length: i64| StringRulesDraft { length: length.into(), ..StringRulesDraft::default() };
        let (off, none) = (Attr::from(false), Attr::Null);
        let table = [
            (of(0), none, "`length` is 0"),
            (
                StringRulesDraft { min_upper: 3.into(), min_lower: 3.into(), ..of(5) },
                none,
                "from 6",
            ),
            (StringRulesDraft { min_upper: (-1).into(), ..of(5) }, none, "`min_upper` must not be"),
            (StringRulesDraft { numeric: true.into(), ..of(5) }, off, "Set `numeric` alone"),
            (
                StringRulesDraft { special: off, upper: off, lower: off, numeric: off, ..of(5) },
                none,
                "At least one of",
            ),
        ];
        for (recipe, number, expected) in table {
            let problem = recipe.validate(number).unwrap_err();
            assert!(problem.detail().contains(expected), "{expected}: {problem:?}");
        }
        assert!(of(1).validate(none).is_ok());
    }

    #[test]
    fn number_and_numeric_stand_for_each_other() {
        let of = |number, numeric| {
            StringRulesDraft { numeric, ..StringRulesDraft::default() }.planned_numeric(number)
        };
        assert_eq!(of(Attr::Null, Attr::Null), true.into());
        assert_eq!(of(false.into(), Attr::Null), false.into());
        assert_eq!(of(Attr::Null, false.into()), false.into());
        assert_eq!(of(Attr::Null, Attr::Unknown), Attr::Unknown);
    }
}
