//! Finds the parts of a schema that govern the parts of a value: by path, or by their
//! own properties.

use super::{Attribute, AttributeKind, Block, Nesting};
use crate::{Path, Step, Value};

impl Block {
    /// The attribute that governs the part of a value at `path`, and the steps from the attribute's own
    /// value to that part. Returns `None` if the path leads to a block or does not exist.
    #[must_use]
    pub fn attribute_at<'s, 'p>(&'s self, path: &'p Path) -> Option<(&'s Attribute, &'p [Step])> {
        let mut block = self;
        let mut rest = path.0.as_slice();
        loop {
            let name = step_name(rest.first()?)?;
            rest = &rest[1..];
            if let Some(attr) = block.attributes.get(name) {
                return attr.attribute_at(rest);
            }
            let nested = block.blocks.get(name)?;
            block = &nested.block;
            rest = skip_element_step(nested.nesting, rest)?;
        }
    }

    /// Returns the sorted paths of the sensitive attributes in a value of this block, including those
    /// within another sensitive attribute. Attributes inside a set are represented by the path of the
    /// set.
    #[must_use]
    pub fn sensitive_paths(&self, value: &Value) -> Vec<Path> {
        self.attribute_paths_where(value, &|attr| attr.sensitive)
    }

    /// Returns the sorted paths of the write-only attributes in a value of this block.
    #[must_use]
    pub fn write_only_paths(&self, value: &Value) -> Vec<Path> {
        self.attribute_paths_where(value, &|attr| attr.write_only)
    }

    /// Returns the value with all write-only attributes null, as a provider must return it.
    #[must_use]
    pub fn with_null_write_only(&self, value: &Value) -> Value {
        // Write-only attributes are never inside sets, so each path leads to the attribute itself.
        self.write_only_paths(value).iter().fold(value.clone(), |value, path| {
            let null = |part: &Value| Value::null(part.ty());
            match path.find(&value) {
                Some(part) if !part.is_null() => value.replace_at(path, null).unwrap_or(value),
                _ => value,
            }
        })
    }

    /// Returns the sorted paths of the attributes that satisfy `wanted`.
    fn attribute_paths_where(
        &self,
        value: &Value,
        wanted: &dyn Fn(&Attribute) -> bool,
    ) -> Vec<Path> {
        // Most schemas have none, and the walk over a large value is slow.
        if !self.has_attribute_where(wanted) {
            return Vec::new();
        }
        let mut search =
            AttributePathSearch { wanted, path: Path::root(), set_at: None, paths: Vec::new() };
        search.visit_block(self, value);
        search.paths.sort();
        // All attributes inside one set lead to the path of the set.
        search.paths.dedup();
        search.paths
    }

    /// Whether an attribute is `wanted`, at any depth.
    #[must_use]
    pub fn has_attribute_where(&self, wanted: &dyn Fn(&Attribute) -> bool) -> bool {
        self.attributes.values().any(|attr| attr.has_attribute_where(wanted))
            || self.blocks.values().any(|nested| nested.block.has_attribute_where(wanted))
    }
}

/// A search for attributes along a value.
struct AttributePathSearch<'w> {
    wanted: &'w dyn Fn(&Attribute) -> bool,
    path: Path,
    /// Length of the path of the outermost set, inside one. No path leads further.
    set_at: Option<usize>,
    paths: Vec<Path>,
}

impl AttributePathSearch<'_> {
    fn visit_block(&mut self, block: &Block, value: &Value) {
        // A null or unknown block has no parts to look into.
        let Value::Object(object) = value.without_own_marks() else { return };
        for (name, part) in object.iter() {
            self.path.0.push(Step::Attribute(name.clone()));
            if let Some(attr) = block.attributes.get(name) {
                self.visit_attribute(attr, part);
            } else if let Some(nested) = block.blocks.get(name) {
                self.visit_elements(nested.nesting, part, &mut |search, element| {
                    search.visit_block(&nested.block, element);
                });
            }
            self.path.0.pop();
        }
    }

    fn visit_attribute(&mut self, attr: &Attribute, value: &Value) {
        if (self.wanted)(attr) {
            let end = self.set_at.unwrap_or(self.path.0.len());
            self.paths.push(Path(self.path.0[..end].to_vec()));
        }
        let AttributeKind::Nested(nested) = &attr.kind else { return };
        self.visit_elements(nested.nesting, value, &mut |search, element| {
            let Value::Object(object) = element.without_own_marks() else { return };
            for (name, part) in object.iter() {
                let Some(attr) = nested.attributes.get(name) else { continue };
                search.path.0.push(Step::Attribute(name.clone()));
                search.visit_attribute(attr, part);
                search.path.0.pop();
            }
        });
    }

    /// Visits each of the objects in a value with this nesting.
    fn visit_elements(
        &mut self,
        nesting: Nesting,
        value: &Value,
        visit: &mut dyn FnMut(&mut Self, &Value),
    ) {
        match nesting {
            Nesting::Single | Nesting::Group => visit(self, value),
            Nesting::List | Nesting::Map => {
                for (at, element) in value.children().iter().enumerate() {
                    let Some(step) = value.step_to_child(at) else { continue };
                    self.path.0.push(step);
                    visit(self, element);
                    self.path.0.pop();
                }
            }
            Nesting::Set => {
                let outer = self.set_at;
                // No path leads beyond the outermost set.
                self.set_at = outer.or(Some(self.path.0.len()));
                value.children().iter().for_each(|element| visit(self, element));
                self.set_at = outer;
            }
        }
    }
}

impl Attribute {
    fn attribute_at<'s, 'p>(&'s self, rest: &'p [Step]) -> Option<(&'s Self, &'p [Step])> {
        match &self.kind {
            AttributeKind::Nested(nested) if !rest.is_empty() => {
                let inner = skip_element_step(nested.nesting, rest)?;
                match inner.split_first() {
                    // The path ends at one of the objects, which the attribute itself describes.
                    None => Some((self, rest)),
                    Some((name, rest)) => {
                        nested.attributes.get(step_name(name)?)?.attribute_at(rest)
                    }
                }
            }
            _ => Some((self, rest)),
        }
    }

    fn has_attribute_where(&self, wanted: &dyn Fn(&Self) -> bool) -> bool {
        wanted(self)
            || match &self.kind {
                AttributeKind::Plain(_) => false,
                AttributeKind::Nested(nested) => {
                    nested.attributes.values().any(|attr| attr.has_attribute_where(wanted))
                }
            }
    }
}

fn step_name(step: &Step) -> Option<&str> {
    match step {
        Step::Attribute(name) | Step::Key(name) => Some(name),
        Step::Index(_) => None,
    }
}

/// The steps after the one that leads from a collection to its element, if there is such a step.
fn skip_element_step(nesting: Nesting, rest: &[Step]) -> Option<&[Step]> {
    match nesting {
        Nesting::Single | Nesting::Group => Some(rest),
        Nesting::List | Nesting::Map | Nesting::Set => rest.get(1..),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::sample;
    use super::*;
    use crate::Type;

    fn shown(paths: &[Path]) -> Vec<String> {
        paths.iter().map(Path::to_string).collect()
    }

    #[test]
    fn an_attribute_is_found_by_the_path_of_its_part() {
        let schema = sample();
        let name = |path: Path| {
            schema
                .attribute_at(&path)
                .map(|(attr, rest)| (attr.docs.description.clone(), rest.len()))
        };
        let disk = Path::root().attribute("disk").index(0);
        let expected = |name: &str, n_rest| Some((name.to_owned(), n_rest));
        assert_eq!(name(Path::root().attribute("id")), expected("id", 0));
        assert_eq!(name(Path::root().attribute("tags").key("a")), expected("tags", 1));
        assert_eq!(name(disk.attribute("size")), expected("disk.size", 0));
        assert_eq!(name(disk.clone()), None);
        let net = Path::root().attribute("net");
        assert_eq!(name(net.key("k").attribute("secret")), expected("net.secret", 0));
        assert_eq!(name(net.key("k")), expected("net", 1));
        assert_eq!(name(net.key("k").attribute("no")), None);
        assert_eq!(name(Path::root().attribute("no")), None);
        assert_eq!(name(Path::root()), None);
    }

    #[test]
    fn sensitive_and_write_only_attributes_are_found_at_any_depth() {
        let schema = sample();
        let rule = Value::object([("key", Value::string("k")), ("port", Value::int(1))]);
        let rule_type = schema.blocks["rule"].block.implied_type();
        let net = Value::object([("secret", Value::string("s")), ("pass", Value::string("p"))]);
        let net = Value::map(net.ty(), [("k", net)]);
        let value = schema
            .empty_value()
            .replace_at(&Path::root().attribute("rule"), |_| Value::set(rule_type, vec![rule]))
            .and_then(|value| value.replace_at(&Path::root().attribute("net"), |_| net))
            .unwrap();
        assert_eq!(shown(&schema.sensitive_paths(&value)), [".net[\"k\"].secret", ".rule"]);
        assert_eq!(shown(&schema.write_only_paths(&value)), [".net[\"k\"].pass"]);
        let nulled = schema.with_null_write_only(&value);
        let pass = Path::root().attribute("net").key("k").attribute("pass");
        assert_eq!(pass.find(&nulled), Some(&Value::null(Type::String)));
        assert_eq!(nulled.ty(), value.ty());
        assert_eq!(schema.sensitive_paths(&Value::null(value.ty())), []);
    }
}
