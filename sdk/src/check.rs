//! Checks of values that an author sets, separately and among each other. The server adds the path
//! and reports the error.

use std::fmt;
use std::ops::{Bound, RangeBounds};
use std::sync::Arc;

use formwork_value::{Number, Str, Value};

use crate::Field;

/// A check of one value that is known and not null.
///
/// ```
/// use formwork_sdk::check::Check;
/// use formwork_sdk::schema::{AttributeDefinition, Role, Shape};
/// use formwork_sdk::value::Type;
///
/// let port = AttributeDefinition::new(Type::Number, Role::Required)
///     .add_check(Check::range(1..=65_535_i64));
/// let shape = Shape::new("A listener.").attribute("port", port);
/// assert_eq!(shape.rules.parts["port"].checks.len(), 1);
/// ```
#[derive(Clone)]
pub struct Check {
    ask: Arc<CheckFn>,
    /// Whether a collection is checked as a whole, or each element.
    checks_whole_value: bool,
}

type CheckFn = dyn Fn(&Value) -> Result<(), CheckError> + Send + Sync;

/// The reason why a value is invalid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CheckError {
    /// The summary.
    pub(crate) summary: &'static str,
    /// Description of the error, as the end of a sentence that begins with the attribute. It does
    /// not contain the value, unless the author of the provider includes it.
    pub(crate) reason: String,
    /// Actual value, for readers who may see it.
    pub(crate) actual: Option<String>,
}

impl CheckError {
    /// The sentence that begins with the attribute, without the value if that is sensitive.
    pub(crate) fn message(&self, value: &Value, is_secret: bool) -> String {
        match (&self.actual, is_secret) {
            // The author's text may quote the value, and no type prevents that.
            (None, true) if text_contains_value_or_part(&self.reason, value) => {
                "is invalid; the reason is not shown, because it contains a sensitive value"
                    .to_owned()
            }
            (Some(actual), false) => format!("{}, and not {actual}", self.reason),
            _ => self.reason.clone(),
        }
    }
}

/// Whether a string contains a value, or a part of one.
fn text_contains_value_or_part(text: &str, value: &Value) -> bool {
    match value {
        // Every text contains the empty string.
        Value::String(secret) => !secret.is_empty() && text.contains(secret.as_str()),
        Value::Number(secret) => text.contains(&secret.to_string()),
        // A value with two possibilities is not a secret, and its words occur in many messages.
        Value::Bool(_) => false,
        _ => value.children().iter().any(|part| text_contains_value_or_part(text, part)),
    }
}

impl fmt::Debug for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Check")
    }
}

impl Check {
    /// One of these strings; in a collection, each element.
    #[must_use]
    pub fn one_of(choices: &[&str]) -> Self {
        let choices: Vec<Str> = choices.iter().map(|choice| Str::from(*choice)).collect();
        let ask = move |value: &Value| {
            let Value::String(text) = value else { return Ok(()) };
            if choices.contains(text) {
                return Ok(());
            }
            let listed: Vec<_> = choices.iter().map(|choice| format!("{choice:?}")).collect();
            let reason = format!("must be one of {}", listed.join(", "));
            let actual = Some(format!("{text:?}"));
            Err(CheckError { summary: "Invalid Attribute Value Match", reason, actual })
        };
        Self { ask: Arc::new(ask), checks_whole_value: false }
    }

    /// A number in the range; in a collection, each element.
    #[must_use]
    pub fn range<N: fmt::Display>(range: impl RangeBounds<N>) -> Self {
        let zero = || Number::from(0_i64);
        // Only NaN and the infinities cannot be parsed, and no range has a use for them.
        let number = |end: &N| Number::parse(&end.to_string()).unwrap_or_else(zero);
        let [least, most] = map_bounds(&range, number);
        let ask = move |value: &Value| {
            let Value::Number(number) = value else { return Ok(()) };
            let low = match &least {
                Bound::Included(least) => number < least,
                Bound::Excluded(least) => number <= least,
                Bound::Unbounded => false,
            };
            let high = match &most {
                Bound::Included(most) => number > most,
                Bound::Excluded(most) => number >= most,
                Bound::Unbounded => false,
            };
            if !low && !high {
                return Ok(());
            }
            let reason = format!("must be {}", describe_range(&least, &most));
            let actual = Some(number.to_string());
            Err(CheckError { summary: "Invalid Attribute Value", reason, actual })
        };
        Self { ask: Arc::new(ask), checks_whole_value: false }
    }

    /// A string with a number of characters, or a collection with a number of elements.
    #[must_use]
    pub fn length(range: impl RangeBounds<usize> + Send + Sync + 'static) -> Self {
        let ask = move |value: &Value| {
            let (length, unit) = match value {
                Value::String(text) => (text.chars().count(), "character"),
                _ => (value.children().len(), "element"),
            };
            if range.contains(&length) {
                return Ok(());
            }
            let [least, most] = map_bounds(&range, |end| Number::from(*end));
            // The noun follows the last number, and agrees with it.
            let last = [range.end_bound(), range.start_bound()];
            let last = last.into_iter().find(|end| !matches!(end, Bound::Unbounded));
            let is_one = matches!(last, Some(Bound::Included(1) | Bound::Excluded(1)));
            let unit = if is_one { unit } else { &format!("{unit}s") };
            let reason = format!("must have {} {unit}", describe_range(&least, &most));
            let actual = Some(length.to_string());
            Err(CheckError { summary: "Invalid Attribute Value Length", reason, actual })
        };
        Self { ask: Arc::new(ask), checks_whole_value: true }
    }

    /// A check by a function. Values that do not fit the function's type are not checked.
    #[must_use]
    pub fn by_function<F: Field>(ask: fn(&F) -> Result<(), String>) -> Self {
        let ask = move |value: &Value| match F::from_value(value) {
            Ok(field) => ask(&field).map_err(|reason| {
                // The caller ends the sentence.
                let reason = reason.trim_end_matches('.').to_owned();
                CheckError { summary: "Invalid Attribute Value", reason, actual: None }
            }),
            // The conversion of the value reports this itself.
            Err(_) => Ok(()),
        };
        Self { ask: Arc::new(ask), checks_whole_value: true }
    }

    /// Checks a value, or each element of a collection. Null and unknown values pass.
    pub(crate) fn check_value(&self, value: &Value) -> Result<(), CheckError> {
        match value {
            Value::Null(_) | Value::Unknown(_) => Ok(()),
            Value::List(_) | Value::Set(_) | Value::Map(_) if !self.checks_whole_value => {
                value.children().iter().try_for_each(|item| self.check_value(item))
            }
            // The number of elements of a set may still shrink, and a function could not read
            // unknown ones.
            _ if self.checks_whole_value
                && !matches!(value, Value::String(_))
                && !value.is_wholly_known() =>
            {
                Ok(())
            }
            _ => (self.ask)(value),
        }
    }
}

/// Converts the ends of a range.
fn map_bounds<T, U>(range: &impl RangeBounds<T>, change: impl Fn(&T) -> U) -> [Bound<U>; 2] {
    [range.start_bound().map(&change), range.end_bound().map(&change)]
}

fn describe_range(least: &Bound<Number>, most: &Bound<Number>) -> String {
    let low = match least {
        Bound::Included(least) => format!("at least {least}"),
        Bound::Excluded(least) => format!("more than {least}"),
        Bound::Unbounded => String::new(),
    };
    let high = match most {
        Bound::Included(most) => format!("at most {most}"),
        Bound::Excluded(most) => format!("less than {most}"),
        Bound::Unbounded => String::new(),
    };
    match (low.is_empty(), high.is_empty()) {
        (false, false) => format!("{low} and {high}"),
        _ => low + &high,
    }
}

/// Relation among attributes of one object.
///
/// ```
/// use formwork_sdk::check::{Relation, RelationKind};
/// use formwork_sdk::prelude::*;
///
/// /// A login.
/// #[derive(Model)]
/// #[attr(exactly_one_of(password, key))]
/// struct Login {
///     #[attr(optional)]
///     password: Option<String>,
///     #[attr(optional)]
///     key: Option<String>,
/// }
///
/// let expected = Relation::new(RelationKind::ExactlyOneOf, &["password", "key"]);
/// assert_eq!(Login::shape().rules.relations, [expected]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relation {
    /// Kind of the relation.
    pub kind: RelationKind,
    /// The attributes or blocks.
    pub names: Vec<Str>,
}

/// Kinds of relations among attributes.
///
/// See [`Relation`] for an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelationKind {
    /// At most one is set.
    Conflicts,
    /// Exactly one is set.
    ExactlyOneOf,
    /// At least one is set.
    AtLeastOneOf,
    /// All are set, or none.
    Together,
}

impl Relation {
    /// A relation between attributes or blocks.
    #[must_use]
    pub fn new(kind: RelationKind, names: &[&str]) -> Self {
        Self { kind, names: names.iter().map(|name| Str::from(*name)).collect() }
    }

    /// Checks an object. A relation that depends on unknown values passes.
    pub(crate) fn check_object(&self, object: &Value) -> Result<(), CheckError> {
        let Value::Object(object) = object else { return Ok(()) };
        let (mut set, mut unset, mut unknown) = (Vec::new(), Vec::new(), false);
        for name in &self.names {
            match object.get(name) {
                Some(Value::Unknown(_)) => unknown = true,
                Some(value) if is_set_and_not_empty(value) => set.push(format!("`{name}`")),
                _ => unset.push(format!("`{name}`")),
            }
        }
        let reason = match self.kind {
            RelationKind::Conflicts | RelationKind::ExactlyOneOf if set.len() > 1 => {
                format!(
                    "only one of {} can be set; {} are",
                    self.format_attribute_list(),
                    set.join(" and ")
                )
            }
            RelationKind::ExactlyOneOf if set.is_empty() && !unknown => {
                format!("one of {} must be set; none is", self.format_attribute_list())
            }
            RelationKind::AtLeastOneOf if set.is_empty() && !unknown => {
                format!("at least one of {} must be set; none is", self.format_attribute_list())
            }
            RelationKind::Together if !set.is_empty() && !unset.is_empty() => {
                let (set, unset) = (set.join(", "), unset.join(", "));
                format!(
                    "{} must be set together; {set} is set, {unset} is not",
                    self.format_attribute_list()
                )
            }
            _ => return Ok(()),
        };
        Err(CheckError { summary: "Invalid Attribute Combination", reason, actual: None })
    }

    fn format_attribute_list(&self) -> String {
        let names: Vec<_> = self.names.iter().map(|name| format!("`{name}`")).collect();
        names.join(", ")
    }
}

/// Whether an author set it. Absent blocks are an empty collection.
fn is_set_and_not_empty(value: &Value) -> bool {
    match value {
        Value::Null(_) => false,
        // An absent block is an empty list, so empty means not set.
        Value::List(_) | Value::Set(_) | Value::Tuple(_) => !value.children().is_empty(),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use formwork_value::Type;

    use super::*;

    fn wrong(check: &Check, value: &Value) -> String {
        check
            .check_value(value)
            .map_or_else(|wrong| wrong.message(value, false), |()| "passes".to_owned())
    }

    #[test]
    fn invalid_values_are_reported_with_the_reason() {
        let odd = Check::by_function::<i64>(|number| match number % 2 {
            0 => Err("must be odd.".to_owned()),
            _ => Ok(()),
        });
        let list_of = |list_of: &[&str]| {
            Value::list(Type::String, list_of.iter().map(|word| Value::string(*word)).collect())
        };
        let choice = Check::one_of(&["a", "b"]);
        let table = [
            (wrong(&choice, &Value::string("b")), "passes"),
            (wrong(&choice, &Value::string("c")), "must be one of \"a\", \"b\", and not \"c\""),
            (wrong(&choice, &list_of(&["a", "d"])), "must be one of \"a\", \"b\", and not \"d\""),
            // A value that is not known yet is checked later, when it is.
            (wrong(&choice, &Value::unknown(Type::String)), "passes"),
            (wrong(&Check::range(1..=3_i64), &Value::int(3)), "passes"),
            (
                wrong(&Check::range(1..3_i64), &Value::int(3)),
                "must be at least 1 and less than 3, and not 3",
            ),
            (wrong(&Check::range(1_i64..), &Value::int(0)), "must be at least 1, and not 0"),
            // Two characters, of two bytes each.
            (wrong(&Check::length(2..=2), &Value::string("äö")), "passes"),
            (
                wrong(&Check::length(..2), &list_of(&["a", "b"])),
                "must have less than 2 elements, and not 2",
            ),
            (
                wrong(&Check::length(1..), &Value::string("")),
                "must have at least 1 character, and not 0",
            ),
            (wrong(&odd, &Value::int(2)), "must be odd"),
        ];
        for (result, expected) in table {
            assert_eq!(result, expected);
        }
    }

    #[test]
    fn relations_are_checked_unless_an_attribute_is_unknown() {
        let object = |a: &Value, b: &Value| Value::object([("a", a.clone()), ("b", b.clone())]);
        let (set, null) = (Value::string("x"), Value::null(Type::String));
        let unknown = Value::unknown(Type::String);
        let ask = |kind, a: &Value, b: &Value| {
            Relation::new(kind, &["a", "b"]).check_object(&object(a, b))
        };
        for (kind, both_set, one_set, none, open) in [
            (RelationKind::Conflicts, false, true, true, true),
            (RelationKind::ExactlyOneOf, false, true, false, true),
            (RelationKind::AtLeastOneOf, true, true, false, true),
            (RelationKind::Together, true, false, true, true),
        ] {
            assert_eq!(ask(kind, &set, &set).is_ok(), both_set, "{kind:?}");
            assert_eq!(ask(kind, &set, &null).is_ok(), one_set, "{kind:?}");
            assert_eq!(ask(kind, &null, &null).is_ok(), none, "{kind:?}");
            // An unknown value may still become null.
            assert_eq!(ask(kind, &unknown, &null).is_ok(), open, "{kind:?}");
        }
    }
}
