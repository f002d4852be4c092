//! The difference between two objects of a resource: attributes first, nested blocks after them.

use formwork_value::schema::{AttributeKind, Block, NestedBlock, Nesting};
use formwork_value::{Marks, Path, Type, Value};

use super::among::Among;
use super::diff::{Differ, NAMES, Sign};
use super::value::SENSITIVE;

impl Differ<'_> {
    /// Renders what is between the braces of a block.
    pub(crate) fn body(
        &self,
        block: &Block,
        (before, after): (&Value, &Value),
        path: &Path,
        indent: usize,
    ) -> String {
        let mut text = self.attributes(block, (before, after), path, indent);
        let mut n_hidden = 0;
        for (name, nested) in &block.blocks {
            let (old, new) = (part(before, name), part(after, name));
            let (shown, hidden) =
                self.blocks((name, nested), (&old, &new), &path.attribute(name), indent);
            if !shown.is_empty() {
                text.push('\n');
                text.push_str(&shown);
            }
            n_hidden += hidden;
        }
        if n_hidden > 0 {
            text.push('\n');
            text.push_str(&self.hidden(n_hidden, "block", indent));
        }
        text
    }

    fn attributes(
        &self,
        block: &Block,
        (before, after): (&Value, &Value),
        path: &Path,
        indent: usize,
    ) -> String {
        let changed =
            |name: &str| Sign::between(&part(before, name), &part(after, name)) != Sign::Keep;
        let creating = before.is_null() || after.is_null();
        let shown: Vec<&str> = block
            .attributes
            .iter()
            .map(|(name, attribute)| (name.as_str(), attribute.write_only))
            .filter(|(name, write_only)| {
                // What is not stored is named where an object comes or goes, and has no value.
                *write_only && creating
                    || changed(name)
                    || !creating && NAMES.contains(name) && !part(after, name).is_null()
            })
            .map(|(name, _)| name)
            .collect();
        let kept = block
            .attributes
            .iter()
            .filter(|(name, _)| !shown.contains(&name.as_str()))
            .filter(|(name, attribute)| attribute.write_only || !part(after, name).is_null());
        let kept: Vec<&str> = kept.map(|(name, _)| name.as_str()).collect();
        // Those that are not shown make room as well: so the column stays where it is, whatever changes.
        let names = shown.iter().chain(&kept);
        let width = names.map(|name| name.chars().count()).max().unwrap_or(0);
        let mut text = String::new();
        for name in &shown {
            let attribute = block.attributes.get(*name);
            if attribute.is_some_and(|attribute| attribute.write_only) {
                text.push_str(&self.write_only((name, width), after.is_null(), indent));
                continue;
            }
            let free = attribute.is_some_and(|attribute| {
                matches!(attribute.kind, AttributeKind::Plain(Type::Dynamic))
            });
            let values = (&part(before, name), &part(after, name));
            let differ = Differ { free, keeps: NAMES.contains(name), ..*self };
            text.push_str(&differ.attribute((name, width), values, &path.attribute(*name), indent));
        }
        text.push_str(&self.hidden(kept.len(), "attribute", indent));
        text
    }

    /// Renders the nested blocks of one type, and counts those that stay.
    fn blocks(
        &self,
        (name, nested): (&str, &NestedBlock),
        (before, after): (&Value, &Value),
        path: &Path,
        indent: usize,
    ) -> (String, usize) {
        if before.marks().contains(Marks::SENSITIVE) || after.marks().contains(Marks::SENSITIVE) {
            let sign = self.sign(Sign::between(before, after));
            return (format!("{}{sign} {name} {{ {SENSITIVE} }}\n", " ".repeat(indent)), 0);
        }
        let mut text = String::new();
        let mut n_hidden = 0;
        for (label, old, new) in pairs(nested.nesting, before, after) {
            let sign = Sign::between(&old, &new);
            if sign == Sign::Keep {
                n_hidden += usize::from(!new.is_null());
                continue;
            }
            let margin = " ".repeat(indent);
            let body = self.body(&nested.block, (&old, &new), path, indent + 4);
            let label = label.map_or_else(String::new, |label| format!(" {label:?}"));
            text.push_str(&format!(
                "{margin}{} {name}{label} {{\n{body}{margin}  }}\n",
                self.sign(sign)
            ));
        }
        (text, n_hidden)
    }
}

/// An attribute of an object; null where there is no object or no such attribute.
fn part(value: &Value, name: &str) -> Value {
    match value.peek() {
        Value::Object(object) => object.get(name).cloned().unwrap_or(Value::Null(Type::Dynamic)),
        Value::Unknown(_) => Value::dynamic(),
        _ => Value::null(Type::Dynamic),
    }
}

/// The blocks before and after, matched: by place, by key, or, in a set, by being equal.
fn pairs(nesting: Nesting, before: &Value, after: &Value) -> Vec<(Option<String>, Value, Value)> {
    let null = || Value::null(Type::Dynamic);
    match nesting {
        Nesting::Single | Nesting::Group => vec![(None, before.clone(), after.clone())],
        Nesting::List => {
            let (old, new) = (before.children(), after.children());
            let get = |items: &[Value], at: usize| items.get(at).cloned().unwrap_or_else(null);
            (0..old.len().max(new.len())).map(|at| (None, get(old, at), get(new, at))).collect()
        }
        Nesting::Set => {
            let (old, new) = (before.children(), after.children());
            let (earlier, later) = (Among::of(old), Among::of(new));
            let (kept, gone): (Vec<_>, Vec<_>) = old.iter().partition(|item| later.holds(item));
            let come = new.iter().filter(|item| !earlier.holds(item));
            let gone = gone.into_iter().map(|item| (None, item.clone(), null()));
            let kept = kept.into_iter().map(|item| (None, item.clone(), item.clone()));
            gone.chain(kept).chain(come.map(|item| (None, null(), item.clone()))).collect()
        }
        Nesting::Map => {
            let keys = |value: &Value| match value.peek() {
                Value::Map(map) => map.keys().to_vec(),
                Value::Object(object) => object.names().to_vec(),
                _ => Vec::new(),
            };
            let get = |value: &Value, key: &str| match value.peek() {
                Value::Map(map) => map.get(key).cloned().unwrap_or_else(null),
                _ => part(value, key),
            };
            let mut all: Vec<_> = keys(before).into_iter().chain(keys(after)).collect();
            all.sort();
            all.dedup();
            all.into_iter()
                .map(|key| (Some(key.to_string()), get(before, &key), get(after, &key)))
                .collect()
        }
    }
}
