//! The difference between two objects of a resource: attributes first, nested blocks after them.

use formwork_value::schema::{AttributeKind, Block, NestedBlock, Nesting};
use formwork_value::{Marks, Path, Type, Value};

use super::diff::{Differ, NAMES, Sign};
use super::value::{SENSITIVE, UNKNOWN};
use super::value_set::ValueSet;

impl Differ<'_> {
    /// Renders what is between the braces of a block.
    pub(crate) fn body(
        &self,
        block: &Block,
        (before, after): (&Value, &Value),
        path: &Path,
        indent: usize,
    ) -> String {
        let differ = Differ { modern: self.modern || is_modern(block), ..*self };
        let mut text = differ.attributes(block, (before, after), path, indent);
        let space = if text.is_empty() { "" } else { "\n" };
        let mut n_hidden = 0;
        let owner = Sign::between(before, after);
        for (name, nested) in &block.blocks {
            let old = part(before, name);
            // The blocks in a block that is unknown as a whole go.
            let new = if after.is_unknown() { Value::null(old.ty()) } else { part(after, name) };
            let path = path.attribute(name);
            let unknown = self.unknown_blocks((name, nested), (&new, owner), &path, indent);
            let (shown, hidden) = differ.blocks((name, nested), (&old, &new), &path, indent);
            let shown = unknown + &shown;
            if !shown.is_empty() {
                text.push_str(space);
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
        let value = |object: &Value, name: &str| {
            let value = part(object, name);
            if self.signs && !self.modern { without_empty_string(value) } else { value }
        };
        let changed =
            |name: &str| Sign::between(&value(before, name), &value(after, name)) != Sign::Keep;
        let creating = before.is_null() || after.is_null();
        let shown: Vec<&str> = block
            .attributes
            .iter()
            .map(|(name, attribute)| (name.as_str(), attribute.write_only))
            .filter(|(name, write_only)| {
                // An attribute that is not stored is named where an object comes or goes, and has
                // no value.
                *write_only && creating
                    || changed(name)
                    || NAMES.contains(name)
                        && !(part(before, name).is_null() && part(after, name).is_null())
            })
            .map(|(name, _)| name)
            .collect();
        let kept =
            block.attributes.iter().filter(|(name, _)| !shown.contains(&name.as_str())).filter(
                |(name, attribute)| {
                    let is_there = !part(after, name).is_null();
                    let was_there = !part(before, name).is_null() && value(after, name).is_null();
                    attribute.write_only || is_there || was_there
                },
            );
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
            let values = (&value(before, name), &value(after, name));
            let differ = Differ { free, keeps: NAMES.contains(name), ..*self };
            text.push_str(&differ.attribute((name, width), values, &path.attribute(*name), indent));
        }
        text.push_str(&self.hidden(kept.len(), "attribute", indent));
        text
    }

    /// Renders the line of blocks of which not even the number is known. Its sign is that of the object
    /// that they are in.
    fn unknown_blocks(
        &self,
        (name, nested): (&str, &NestedBlock),
        (after, owner): (&Value, Sign),
        path: &Path,
        indent: usize,
    ) -> String {
        let several = !matches!(nested.nesting, Nesting::Single | Nesting::Group);
        if !several || !after.is_unknown() || after.marks().contains(Marks::SENSITIVE) {
            return String::new();
        }
        let (margin, sign, note) = (" ".repeat(indent), self.sign(owner), self.note(path));
        format!("{margin}{sign} {name} {UNKNOWN}{note}\n")
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
        let whole = self.note(path);
        for (at, (label, old, new)) in pairs(nested.nesting, before, after).into_iter().enumerate()
        {
            let sign = Sign::between(&old, &new);
            if sign == Sign::Keep {
                n_hidden += usize::from(!new.is_null());
                continue;
            }
            let path = match (nested.nesting, &label) {
                (Nesting::List, _) => path.index(at),
                (_, Some(key)) => path.key(key.as_str()),
                _ => path.clone(),
            };
            let note = if whole.is_empty() { self.note(&path) } else { whole.clone() };
            let (margin, sign) = (" ".repeat(indent), self.sign(sign));
            if old.is_null() && new.is_unknown() {
                text.push_str(&format!("{margin}{sign} {name} {UNKNOWN}{note}\n"));
                continue;
            }
            let in_many = matches!(nested.nesting, Nesting::List | Nesting::Set);
            let differ = Differ { modern: self.modern && !in_many, ..*self };
            let body = differ.body(&nested.block, (&old, &new), &path, indent + 4);
            let label = label.map_or_else(String::new, |label| format!(" {label:?}"));
            let end = if new.is_unknown() { format!(" -> {UNKNOWN}") } else { String::new() };
            text.push_str(&match body.is_empty() {
                true => format!("{margin}{sign} {name}{label} {{}}{note}{end}\n"),
                false => {
                    format!("{margin}{sign} {name}{label} {{{note}\n{body}{margin}  }}{end}\n")
                }
            });
        }
        (text, n_hidden)
    }
}

/// Whether the legacy SDK cannot have a schema.
fn is_modern(block: &Block) -> bool {
    let (mut blocks, mut attributes) = (block.blocks.values(), block.attributes.values());
    blocks.any(|nested| matches!(nested.nesting, Nesting::Map | Nesting::Group))
        || attributes.any(|attribute| match &attribute.kind {
            AttributeKind::Nested(_) => true,
            AttributeKind::Plain(ty) => {
                let element = ty.element().and_then(Type::element);
                ty.has_dynamic()
                    || matches!(ty, Type::Tuple(_) | Type::Object(_))
                    || element.is_some_and(|element| !element.is_primitive())
            }
        })
}

/// Null in place of an empty string.
fn without_empty_string(value: Value) -> Value {
    match value.peek() {
        Value::String(text) if text.is_empty() => Value::null(Type::String),
        _ => value,
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
            let (earlier, later) = (ValueSet::of(old), ValueSet::of(new));
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
                Value::Unknown(_) => null(),
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

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use formwork_value::schema::{Attribute, Role};

    use super::*;
    use crate::view::Screen;

    const SCREEN: Screen = Screen { color: false, width: 78, erases: false };

    fn leaf() -> Block {
        let mut block = Block::default();
        for (name, role) in [("a", Role::Optional), ("c", Role::Computed)] {
            block.attributes.insert(name.into(), Attribute::new(Type::String, role));
        }
        block
    }

    fn with(mut block: Block, name: &str, nesting: Nesting, inner: Block) -> Block {
        let nested =
            NestedBlock { nesting, block: inner, min_items: 0, max_items: 0, computed: false };
        block.blocks.insert(name.into(), nested);
        block
    }

    fn check(block: &Block, values: (&Value, &Value), forces: &[Path], expected: &Expect) {
        let (screen, signs) = (&SCREEN, true);
        let differ = Differ { screen, signs, free: false, keeps: false, modern: false, forces };
        expected.assert_eq(&differ.body(block, values, &Path::root(), 0));
    }

    fn object(a: &str, c: Value) -> Value {
        Value::object([("a", Value::string(a)), ("c", c)])
    }

    /// An object with a value in place of its blocks.
    fn owner(name: &str, blocks: Value) -> Value {
        Value::object([("a", Value::string("x")), ("c", Value::string("y")), (name, blocks)])
    }

    #[test]
    fn blocks_of_unknown_number_have_a_line_of_their_own() {
        let null = Value::null(Type::Dynamic);
        for nesting in [Nesting::List, Nesting::Set] {
            let schema = with(leaf(), "many", nesting, with(leaf(), "in", nesting, leaf()));
            let ty = schema.blocks["many"].implied_type();
            let after = owner("many", Value::unknown(ty.clone()));
            check(
                &schema,
                (&null, &after),
                &[],
                &expect![[r#"
                    + a = "x"
                    + c = "y"

                    + many (known after apply)
                "#]],
            );
            let one = Value::object([
                ("a", Value::string("made")),
                ("c", Value::string("")),
                ("in", schema.blocks["many"].block.blocks["in"].empty_value()),
            ]);
            let many = schema.blocks["many"].collection(vec![one]);
            check(
                &schema,
                (&owner("many", many), &after),
                &[Path::root().attribute("many")],
                &expect![[r#"
                      # (2 unchanged attributes hidden)

                    ~ many (known after apply) # forces replacement
                    - many { # forces replacement
                        - a = "made" -> null
                          # (1 unchanged attribute hidden)
                      }
                "#]],
            );
            let none = schema.blocks["many"].empty_value();
            check(
                &schema,
                (&owner("many", none), &after),
                &[],
                &expect![[r#"
                      # (2 unchanged attributes hidden)

                    ~ many (known after apply)
                "#]],
            );
        }
    }

    #[test]
    fn a_single_block_that_is_unknown_shows_what_it_was() {
        let inner = with(leaf(), "in", Nesting::List, leaf());
        let schema = with(leaf(), "one", Nesting::Single, inner);
        let after = owner("one", Value::unknown(schema.blocks["one"].implied_type()));
        check(
            &schema,
            (&Value::null(Type::Dynamic), &after),
            &[],
            &expect![[r#"
                + a = "x"
                + c = "y"

                + one (known after apply)
            "#]],
        );
        let deep = schema.blocks["one"].block.blocks["in"]
            .collection(vec![object("deep", Value::string("z"))]);
        let before = Value::object([
            ("a", Value::string("was")),
            ("c", Value::null(Type::String)),
            ("in", deep),
        ]);
        check(
            &schema,
            (&owner("one", before), &after),
            &[],
            &expect![[r#"
                  # (2 unchanged attributes hidden)

                ~ one {
                    ~ a = "was" -> (known after apply)
                    + c = (known after apply)

                    - in {
                        - a = "deep" -> null
                        - c = "z" -> null
                      }
                  } -> (known after apply)
            "#]],
        );
    }

    #[test]
    fn an_empty_string_is_as_good_as_null_where_the_legacy_sdk_may_be_behind_it() {
        let empty = object("", Value::null(Type::String));
        let null = object("x", Value::string("y"));
        let null = null.with_children(vec![Value::null(Type::String), Value::string("y")]);
        let values = (&null, &empty);
        check(
            &leaf(),
            values,
            &[],
            &expect![[r#"
                - c = "y" -> null
                  # (1 unchanged attribute hidden)
            "#]],
        );
        let modern = with(leaf(), "keyed", Nesting::Map, leaf());
        check(
            &modern,
            values,
            &[],
            &expect![[r#"
                + a = ""
                - c = "y" -> null
            "#]],
        );
    }

    #[test]
    fn a_block_in_a_list_says_which_argument_forces_a_replacement() {
        let schema = with(leaf(), "many", Nesting::List, leaf());
        let many = |a: &str| {
            let blocks = vec![object("same", Value::string("y")), object(a, Value::string("y"))];
            owner("many", schema.blocks["many"].collection(blocks))
        };
        check(
            &schema,
            (&many("old"), &many("new")),
            &[Path::root().attribute("many").index(1).attribute("a")],
            &expect![[r#"
                  # (2 unchanged attributes hidden)

                ~ many {
                    ~ a = "old" -> "new" # forces replacement
                      # (1 unchanged attribute hidden)
                  }

                  # (1 unchanged block hidden)
            "#]],
        );
    }
}
