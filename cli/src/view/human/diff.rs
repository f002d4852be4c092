//! The difference between two values, with a sign before each line. Parts that do not change are
//! counted, not shown.

use std::collections::BTreeSet;

use formwork_value::{Marks, Path, Str, Value};

use super::value::{SENSITIVE, bare, quoted, render};
use crate::view::{Paint, Screen};

/// What happens to a line.
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
    /// How a value changes.
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

/// Renders differences onto a screen.
#[derive(Clone, Copy)]
pub(crate) struct Differ<'a> {
    pub(crate) screen: &'a Screen,
    /// The paths whose change forces a replacement.
    pub(crate) forces: &'a [Path],
}

impl Differ<'_> {
    /// The sign, painted.
    pub(crate) fn sign(&self, sign: Sign) -> String {
        match sign {
            Sign::Add => self.screen.paint(Paint::Green, "+"),
            Sign::Remove => self.screen.paint(Paint::Red, "-"),
            Sign::Change => self.screen.paint(Paint::Yellow, "~"),
            Sign::Keep => " ".into(),
        }
    }

    /// What stands behind a value that forces a replacement.
    fn forcing(&self, path: &Path) -> String {
        let forces = self.forces.iter().any(|force| force == path);
        if forces { self.screen.paint(Paint::Red, " # forces replacement") } else { String::new() }
    }

    /// One attribute: its name, the sign before it, and how its value changes.
    pub(crate) fn attribute(
        &self,
        (name, width): (&str, usize),
        (before, after): (&Value, &Value),
        path: &Path,
        indent: usize,
    ) -> String {
        let sign = Sign::between(before, after);
        let space = " ".repeat(width.saturating_sub(name.chars().count()));
        let margin = " ".repeat(indent);
        let value = self.change((before, after), path, indent + 2);
        format!("{margin}{} {name}{space} = {value}{}\n", self.sign(sign), self.forcing(path))
    }

    /// How a value changes: `a -> b` for what has no parts, the parts one by one otherwise.
    fn change(&self, (before, after): (&Value, &Value), path: &Path, indent: usize) -> String {
        let hidden = |value: &Value| value.marks().contains(Marks::SENSITIVE);
        if hidden(before) || hidden(after) {
            return SENSITIVE.into();
        }
        match Sign::between(before, after) {
            Sign::Keep => render(after, indent),
            Sign::Add => self.whole(Sign::Add, after, indent),
            Sign::Remove => {
                let gone = self.whole(Sign::Remove, before, indent);
                format!("{gone} {} null", self.screen.paint(Paint::Dim, "->"))
            }
            Sign::Change => self.parts((before, after), path, indent).unwrap_or_else(|| {
                let arrow = self.screen.paint(Paint::Yellow, "->");
                format!("{} {arrow} {}", render(before, indent), render(after, indent))
            }),
        }
    }

    /// A value that comes or goes as a whole, with a sign before each of its lines.
    fn whole(&self, sign: Sign, value: &Value, indent: usize) -> String {
        if value.marks().contains(Marks::SENSITIVE) {
            return SENSITIVE.into();
        }
        let inner = indent + 4;
        let margin = " ".repeat(inner);
        let close = " ".repeat(indent + 2);
        let line = |text: String| format!("{margin}{} {text}\n", self.sign(sign));
        let items = |items: &[Value]| {
            let lines =
                items.iter().map(|item| line(format!("{},", self.whole(sign, item, inner))));
            format!("[\n{}{close}]", lines.collect::<String>())
        };
        let pairs = |pairs: Vec<(String, &Value)>| {
            let width = pairs.iter().map(|(key, _)| key.chars().count()).max().unwrap_or(0);
            let lines = pairs.iter().map(|(key, item)| {
                let space = " ".repeat(width - key.chars().count());
                line(format!("{key}{space} = {}", self.whole(sign, item, inner)))
            });
            format!("{{\n{}{close}}}", lines.collect::<String>())
        };
        match value.peek() {
            Value::List(list) if !list.items().is_empty() => items(list.items()),
            Value::Set(set) if !set.items().is_empty() => items(set.items()),
            Value::Tuple(tuple) if !tuple.items().is_empty() => items(tuple.items()),
            Value::Map(map) if !map.keys().is_empty() => {
                pairs(map.iter().map(|(key, value)| (quoted(key), value)).collect())
            }
            Value::Object(object) => {
                let shown = object.iter().filter(|(_, value)| !value.is_null());
                pairs(shown.map(|(key, value)| (bare(key), value)).collect())
            }
            value => render(value, indent + 2),
        }
    }

    /// The parts of two values of one form; `None` if they have no parts or different forms.
    fn parts(
        &self,
        (before, after): (&Value, &Value),
        path: &Path,
        indent: usize,
    ) -> Option<String> {
        match (before.peek(), after.peek()) {
            (Value::Map(old), Value::Map(new)) => {
                let keys: BTreeSet<&Str> = old.keys().iter().chain(new.keys()).collect();
                let null = Value::null(new.element_type().clone());
                let pairs = keys.into_iter().map(|key| {
                    let part = |map: &formwork_value::value::Map| {
                        map.get(key).cloned().unwrap_or_else(|| null.clone())
                    };
                    (quoted(key), path.key(key), part(old), part(new))
                });
                Some(self.pairs(pairs.collect(), indent))
            }
            (Value::Object(old), Value::Object(new)) => {
                let names: BTreeSet<&Str> = old.names().iter().chain(new.names().iter()).collect();
                let null = Value::null(formwork_value::Type::Dynamic);
                let pairs = names.into_iter().map(|name| {
                    let part = |object: &formwork_value::value::Object| {
                        object.get(name).cloned().unwrap_or_else(|| null.clone())
                    };
                    (bare(name), path.attribute(name), part(old), part(new))
                });
                Some(self.pairs(pairs.collect(), indent))
            }
            (Value::Set(old), Value::Set(new)) => Some(self.sets(old.items(), new.items(), indent)),
            (Value::List(old), Value::List(new)) => {
                Some(self.lists((old.items(), new.items()), path, indent))
            }
            (Value::Tuple(old), Value::Tuple(new)) => {
                Some(self.lists((old.items(), new.items()), path, indent))
            }
            _ => None,
        }
    }

    fn pairs(&self, pairs: Vec<(String, Path, Value, Value)>, indent: usize) -> String {
        let inner = indent + 2;
        let width = pairs.iter().map(|(key, ..)| key.chars().count()).max().unwrap_or(0);
        let mut text = String::from("{\n");
        let mut n_hidden = 0;
        for (key, path, before, after) in &pairs {
            if Sign::between(before, after) == Sign::Keep {
                n_hidden += usize::from(!after.is_null());
                continue;
            }
            text.push_str(&self.attribute((key, width), (before, after), path, inner));
        }
        text.push_str(&self.hidden(n_hidden, "element", inner));
        text.push_str(&format!("{}}}", " ".repeat(indent)));
        text
    }

    /// How many parts were left out because they stay.
    pub(crate) fn hidden(&self, n: usize, what: &str, indent: usize) -> String {
        if n == 0 {
            return String::new();
        }
        let plural = if n == 1 { "" } else { "s" };
        let text = format!("# ({n} unchanged {what}{plural} hidden)");
        format!("{}{}\n", " ".repeat(indent + 2), self.screen.paint(Paint::Dim, &text))
    }

    fn item(&self, sign: Sign, text: &str, indent: usize) -> String {
        format!("{}{} {text},\n", " ".repeat(indent), self.sign(sign))
    }

    fn sets(&self, old: &[Value], new: &[Value], indent: usize) -> String {
        let inner = indent + 2;
        let mut text = String::from("[\n");
        let mut n_hidden = 0;
        for item in old {
            if new.contains(item) {
                n_hidden += 1;
            } else {
                text.push_str(&self.item(
                    Sign::Remove,
                    &self.whole(Sign::Remove, item, inner),
                    inner,
                ));
            }
        }
        for item in new.iter().filter(|item| !old.contains(item)) {
            text.push_str(&self.item(Sign::Add, &self.whole(Sign::Add, item, inner), inner));
        }
        text.push_str(&self.hidden(n_hidden, "element", inner));
        text.push_str(&format!("{}]", " ".repeat(indent)));
        text
    }

    /// Lists are compared from both ends: what is between the first and the last difference is
    /// compared one by one.
    fn lists(&self, (old, new): (&[Value], &[Value]), path: &Path, indent: usize) -> String {
        let inner = indent + 2;
        let start = old.iter().zip(new).take_while(|(a, b)| a == b).count();
        let tail = old[start..]
            .iter()
            .rev()
            .zip(new[start..].iter().rev())
            .take_while(|(a, b)| a == b)
            .count();
        let (old_mid, new_mid) = (&old[start..old.len() - tail], &new[start..new.len() - tail]);
        let mut text = String::from("[\n");
        for at in 0..old_mid.len().max(new_mid.len()) {
            text.push_str(&match (old_mid.get(at), new_mid.get(at)) {
                (Some(before), Some(after)) if before == after => {
                    self.item(Sign::Keep, &render(after, inner + 2), inner)
                }
                (Some(before), Some(after)) => {
                    let path = path.index(start + at);
                    let change = self.change((before, after), &path, inner);
                    self.item(Sign::Change, &format!("{change}{}", self.forcing(&path)), inner)
                }
                (Some(before), None) => {
                    self.item(Sign::Remove, &self.whole(Sign::Remove, before, inner), inner)
                }
                (None, Some(after)) => {
                    self.item(Sign::Add, &self.whole(Sign::Add, after, inner), inner)
                }
                (None, None) => String::new(),
            });
        }
        text.push_str(&self.hidden(start + tail, "element", inner));
        text.push_str(&format!("{}]", " ".repeat(indent)));
        text
    }
}
