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
    fn change(&self, (before, after): (&Value, &Value), path: &Path, at: usize) -> String {
        let note = self.note(path);
        if is_hidden(before) || is_hidden(after) {
            let end = match Sign::between(before, after) {
                Sign::Remove => format!(" {}", self.screen.paint(Paint::Dim, "-> null")),
                _ => String::new(),
            };
            return format!("{SENSITIVE}{end}{note}");
        }
        match Sign::between(before, after) {
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
        let what = if is_hidden(after) {
            "becomes sensitive: it is not shown any more"
        } else {
            "is no longer sensitive: it is shown after this apply"
        };
        let title = self.screen.paint(Paint::Yellow, "# Warning:");
        format!("{}{title} this value {what}\n", " ".repeat(indent + 2))
    }

    /// The parts of two values of one form; `None` if they have no parts or different forms.
    fn parts(&self, (before, after): (&Value, &Value), path: &Path, at: usize) -> Option<String> {
        match (before.peek(), after.peek()) {
            (Value::Map(_), Value::Map(_)) if !self.free => {
                let keys = members(before).chain(members(after)).map(|(key, _)| key);
                let keys: BTreeSet<&Str> = keys.collect();
                let pairs = keys.into_iter().map(|key| {
                    (quoted(key), path.key(key.clone()), part(before, key), part(after, key))
                });
                Some(self.pairs(pairs.collect(), ("element", path), at))
            }
            (Value::Map(_) | Value::Object(_), Value::Map(_) | Value::Object(_)) => {
                let names = members(before).chain(members(after)).map(|(name, _)| name);
                let names: BTreeSet<&Str> = names.collect();
                let pairs = names.into_iter().map(|name| {
                    let path = path.attribute(name.clone());
                    (bare(name), path, part(before, name), part(after, name))
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

    fn pairs(
        &self,
        pairs: Vec<(String, Path, Value, Value)>,
        (what, path): (&str, &Path),
        at: usize,
    ) -> String {
        let is_name = |key: &str| what == "attribute" && NAMES.contains(&key);
        let mut shown = Vec::new();
        let mut n_hidden = 0;
        let is_there = |(_, _, before, after): &&(String, Path, Value, Value)| {
            self.free || !before.is_null() || !after.is_null()
        };
        let names = pairs.iter().filter(is_there).map(|(key, ..)| key.chars().count());
        let width = names.max().unwrap_or(0);
        for pair in pairs {
            let (key, _, before, after) = &pair;
            if Sign::between(before, after) != Sign::Keep
                || (self.keeps || is_name(key)) && !after.is_null()
            {
                shown.push(pair);
            } else {
                n_hidden += usize::from(self.free || !after.is_null());
            }
        }
        let mut text = format!("{{{}\n", self.note(path));
        for (key, path, before, after) in &shown {
            let differ = Differ { keeps: self.keeps || is_name(key), ..*self };
            text.push_str(&differ.attribute((key, width), (before, after), path, at + 2));
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

/// A member of an object or a map; null where there is none.
fn part(value: &Value, name: &str) -> Value {
    let found = match value.peek() {
        Value::Map(map) => map.get(name),
        Value::Object(object) => object.get(name),
        _ => None,
    };
    found.cloned().unwrap_or_else(|| Value::null(Type::Dynamic))
}
