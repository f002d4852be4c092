//! The difference between two values, with a sign before each line. Parts that do not change are
//! counted, not shown. The unchanged lines of a string and elements of a list are determined in
//! `align`; values that come or go as a whole are written in `whole`.

mod align;
mod sequence;
mod text;
mod whole;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use formwork_value::{Marks, Path, Str, Type, Value};

use super::value::{SENSITIVE, bare, quoted};
use crate::view::{Paint, Screen};

/// Attributes that are shown also when they stay, because people know objects by them.
pub(super) const NAMES: [&str; 3] = ["id", "name", "tags"];

/// Change of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    /// It comes.
    Add,
    /// It goes.
    Remove,
    /// It changes.
    Change,
    /// It stays.
    Keep,
}

impl Sign {
    /// Change of a value.
    pub(crate) fn between(before: &Value, after: &Value) -> Self {
        match (before.is_null(), after.is_null()) {
            (true, true) => Self::Keep,
            (true, false) => Self::Add,
            (false, true) => Self::Remove,
            (false, false) if before == after => Self::Keep,
            (false, false) => Self::Change,
        }
    }

    /// Change of a member of a value without a type of its own.
    fn of_free(before: Option<&Value>, after: Option<&Value>) -> Self {
        match (before, after) {
            (None, Some(_)) => Self::Add,
            (Some(_), None) => Self::Remove,
            (before, after) if before == after => Self::Keep,
            // As in Terraform, an unknown value is the only one that takes no arrow after null.
            (Some(before), Some(after)) if before.is_null() && is_unknown(after) => Self::Add,
            _ => Self::Change,
        }
    }
}

/// Renders differences onto a screen. A place `at` is the column where a name or value stands; its
/// sign is two columns before that.
#[derive(Clone, Copy)]
pub(crate) struct Differ<'a> {
    pub(crate) screen: &'a Screen,
    /// Whether lines have signs. An object that is only shown needs none.
    pub(crate) signs: bool,
    /// Whether a value has no type but its own, so that it is shown as the JSON it is kept as: maps
    /// as objects, sets as lists, and null as a value.
    pub(crate) free: bool,
    /// Whether parts that stay are shown too.
    pub(crate) keeps: bool,
    /// Whether the schema is one that the legacy SDK cannot have. In others an empty string in a block is
    /// as good as null, because that SDK cannot distinguish them.
    pub(crate) modern: bool,
    /// The paths whose change forces a replacement.
    pub(crate) forces: &'a [Path],
}

/// A name with its width in the column of names.
pub(crate) type Name<'a> = (&'a str, usize);

impl Differ<'_> {
    /// The sign, painted.
    pub(crate) fn sign(&self, sign: Sign) -> String {
        match sign {
            _ if !self.signs => " ".into(),
            Sign::Add => self.screen.paint(Paint::Green, "+"),
            Sign::Remove => self.screen.paint(Paint::Red, "-"),
            Sign::Change => self.screen.paint(Paint::Yellow, "~"),
            Sign::Keep => " ".into(),
        }
    }

    /// One attribute: its name, the sign before it, and how its value changes.
    pub(crate) fn attribute(
        &self,
        (name, width): Name<'_>,
        (before, after): (&Value, &Value),
        path: &Path,
        indent: usize,
    ) -> String {
        let sign = Sign::between(before, after);
        let space = " ".repeat(width.saturating_sub(name.chars().count()));
        let value = self.change((before, after), path, indent + 2);
        let warning = self.sensitivity(before, after, indent);
        warning + &self.line(sign, &format!("{name}{space} = {value}"), indent + 2)
    }

    /// One member of an object whose value has no type but its own: null is a value like others, and not
    /// the same as nothing.
    fn member(
        &self,
        (name, width): Name<'_>,
        (before, after): (Option<&Value>, Option<&Value>),
        path: &Path,
        indent: usize,
    ) -> String {
        let (at, space) = (indent + 2, " ".repeat(width.saturating_sub(name.chars().count())));
        let (sign, value) = match (before, after) {
            (None, None) => return String::new(),
            (None, Some(after)) => (Sign::Add, self.whole(Sign::Add, after, "", at)),
            (Some(before), None) => (Sign::Remove, self.whole(Sign::Remove, before, "", at)),
            (Some(before), Some(after)) => {
                let sign = Sign::of_free(Some(before), Some(after));
                (sign, self.changed(sign, (before, after), path, at))
            }
        };
        let warning = match (before, after) {
            (Some(before), Some(after)) => self.sensitivity(before, after, indent),
            _ => String::new(),
        };
        warning + &self.line(sign, &format!("{name}{space} = {value}"), at)
    }

    /// A value that stays, from the first column on.
    pub(crate) fn shown(&self, value: &Value) -> String {
        self.whole(Sign::Keep, value, "", 0)
    }

    /// One attribute that is not stored, of an object that comes or goes.
    pub(crate) fn write_only(&self, (name, width): Name<'_>, goes: bool, indent: usize) -> String {
        let space = " ".repeat(width.saturating_sub(name.chars().count()));
        let text = format!("{name}{space} = (write-only attribute)");
        match goes {
            true => {
                let end = self.screen.paint(Paint::Dim, "-> null");
                self.line(Sign::Remove, &format!("{text} {end}"), indent + 2)
            }
            false => self.line(Sign::Add, &text, indent + 2),
        }
    }

    /// A line whose text stands at `at`, with its sign.
    fn line(&self, sign: Sign, text: &str, at: usize) -> String {
        format!("{}{} {text}\n", " ".repeat(at - 2), self.sign(sign))
    }

    /// Change of a value: `a -> b` for a value without parts, the parts one by one otherwise.
    fn change(&self, both: (&Value, &Value), path: &Path, at: usize) -> String {
        self.changed(Sign::between(both.0, both.1), both, path, at)
    }

    fn changed(
        &self,
        sign: Sign,
        (before, after): (&Value, &Value),
        path: &Path,
        at: usize,
    ) -> String {
        let note = self.note(path);
        if is_hidden(before) || is_hidden(after) {
            let end = match sign {
                Sign::Remove => format!(" {}", self.screen.paint(Paint::Dim, "-> null")),
                _ => String::new(),
            };
            return format!("{SENSITIVE}{end}{note}");
        }
        match sign {
            Sign::Keep => self.whole(Sign::Keep, after, "", at),
            Sign::Add => self.whole(Sign::Add, after, &note, at),
            Sign::Remove => {
                let gone = self.whole(Sign::Remove, before, "", at);
                // As in Terraform, JSON on one line has no arrow.
                if gone.starts_with("jsonencode(") && !gone.contains('\n') {
                    return format!("{gone}{note}");
                }
                format!("{gone} {}{note}", self.screen.paint(Paint::Dim, "-> null"))
            }
            Sign::Change => self.parts((before, after), path, at).unwrap_or_else(|| {
                let arrow = self.screen.paint(Paint::Yellow, "->");
                let gone = self.whole(Sign::Remove, before, "", at);
                format!("{gone} {arrow} {}{note}", self.whole(Sign::Add, after, "", at))
            }),
        }
    }

    /// Note behind a value, or behind the bracket that opens it, if it forces a replacement.
    pub(super) fn note(&self, path: &Path) -> String {
        if self.forces.contains(path) {
            self.screen.paint(Paint::Red, " # forces replacement")
        } else {
            String::new()
        }
    }

    /// Says that a value is no longer shown, or is shown from now on.
    fn sensitivity(&self, before: &Value, after: &Value, indent: usize) -> String {
        if before.is_null() || after.is_null() || is_hidden(before) == is_hidden(after) {
            return String::new();
        }
        let (first, second) = if is_hidden(after) {
            (
                "will be marked as sensitive and will not",
                "display in UI output after applying this change.",
            )
        } else {
            ("will no longer be marked as sensitive", "after applying this change.")
        };
        let is_same = before.clone().split_marks().0 == after.clone().split_marks().0;
        let end = if is_same { " The value is unchanged." } else { "" };
        let (margin, title) = (" ".repeat(indent), self.screen.paint(Paint::Yellow, "Warning"));
        format!("{margin}# {title}: this attribute value {first}\n{margin}# {second}{end}\n")
    }

    /// The parts of two values of one form; `None` if they have no parts or different forms.
    fn parts(&self, (before, after): (&Value, &Value), path: &Path, at: usize) -> Option<String> {
        match (before.peek(), after.peek()) {
            (Value::Map(_), Value::Map(_)) if !self.free => {
                let keys = members(before).chain(members(after)).map(|(key, _)| key);
                let keys: BTreeSet<&Str> = keys.collect();
                let pairs = keys.into_iter().map(|key| {
                    let path = path.key(key.clone());
                    Pair {
                        key: quoted(key),
                        path,
                        before: part(before, key),
                        after: part(after, key),
                    }
                });
                Some(self.pairs(pairs.collect(), ("element", path), at))
            }
            (Value::Map(_) | Value::Object(_), Value::Map(_) | Value::Object(_)) => {
                let names = members(before).chain(members(after)).map(|(name, _)| name);
                let names: BTreeSet<&Str> = names.collect();
                let pairs = names.into_iter().map(|name| {
                    let path = path.attribute(name.clone());
                    Pair {
                        key: bare(name),
                        path,
                        before: part(before, name),
                        after: part(after, name),
                    }
                });
                Some(self.pairs(pairs.collect(), ("attribute", path), at))
            }
            (Value::Set(old), Value::Set(new)) if !self.free => {
                Some(self.sets((old.items(), new.items()), path, at))
            }
            (
                Value::List(_) | Value::Tuple(_) | Value::Set(_),
                Value::List(_) | Value::Tuple(_) | Value::Set(_),
            ) if self.free || !is_set(before) && !is_set(after) => {
                Some(self.lists((before.children(), after.children()), path, at))
            }
            (Value::String(old), Value::String(new)) => self.texts((old, new), path, at),
            _ => None,
        }
    }

    fn pairs(&self, pairs: Vec<Pair>, (what, path): (&str, &Path), at: usize) -> String {
        let is_name = |key: &str| what == "attribute" && NAMES.contains(&key);
        let null = Value::null(Type::Dynamic);
        let or_null = |value: &'_ Option<Value>| value.clone().unwrap_or_else(|| null.clone());
        let mut shown = Vec::new();
        let mut n_hidden = 0;
        let is_there = |pair: &&Pair| self.free || pair.has_value();
        let width = pairs.iter().filter(is_there).map(|pair| pair.key.chars().count()).max();
        for pair in pairs {
            let (before, after) = (pair.before.as_ref(), pair.after.as_ref());
            let sign = match self.free {
                true => Sign::of_free(before, after),
                false => Sign::between(&or_null(&pair.before), &or_null(&pair.after)),
            };
            let is_null = after.is_none_or(Value::is_null);
            if sign != Sign::Keep || (self.keeps || is_name(&pair.key)) && !is_null {
                shown.push(pair);
            } else {
                n_hidden += usize::from(self.free || !is_null);
            }
        }
        let mut text = format!("{{{}\n", self.note(path));
        for Pair { key, path, before, after } in &shown {
            let differ = Differ { keeps: self.keeps || is_name(key), ..*self };
            let name = (key.as_str(), width.unwrap_or(0));
            text.push_str(&match self.free {
                true => differ.member(name, (before.as_ref(), after.as_ref()), path, at + 2),
                false => differ.attribute(name, (&or_null(before), &or_null(after)), path, at + 2),
            });
        }
        text.push_str(&self.hidden(n_hidden, what, at + 2));
        text.push_str(&format!("{}}}", " ".repeat(at)));
        text
    }

    /// Number of parts that were left out because they stay.
    pub(crate) fn hidden(&self, n: usize, what: &str, indent: usize) -> String {
        if n == 0 {
            return String::new();
        }
        let plural = if n == 1 { "" } else { "s" };
        let text = format!("# ({n} unchanged {what}{plural} hidden)");
        format!("{}{}\n", " ".repeat(indent + 2), self.screen.paint(Paint::Dim, &text))
    }
}

/// Whether a value must not be shown.
fn is_hidden(value: &Value) -> bool {
    value.marks().contains(Marks::SENSITIVE)
}

fn is_unknown(value: &Value) -> bool {
    matches!(value.peek(), Value::Unknown(_))
}

fn is_set(value: &Value) -> bool {
    matches!(value.peek(), Value::Set(_))
}

/// The members of an object or a map.
fn members(value: &Value) -> impl Iterator<Item = (&Str, &Value)> {
    let names: &[Str] = match value.peek() {
        Value::Map(map) => map.keys(),
        Value::Object(object) => object.names(),
        _ => &[],
    };
    names.iter().zip(value.children())
}

/// A member of two objects or maps; `None` where one does not have it.
struct Pair {
    key: String,
    path: Path,
    before: Option<Value>,
    after: Option<Value>,
}

impl Pair {
    fn has_value(&self) -> bool {
        [&self.before, &self.after].into_iter().flatten().any(|value| !value.is_null())
    }
}

/// A member of an object or a map.
fn part(value: &Value, name: &str) -> Option<Value> {
    match value.peek() {
        Value::Map(map) => map.get(name).cloned(),
        Value::Object(object) => object.get(name).cloned(),
        _ => None,
    }
}
