//! Validation of schemas. A provider with an invalid schema is unusable. The rules are exactly those
//! that hosts enforce when they load a schema.

use std::collections::BTreeMap;

use super::{Attribute, AttributeKind, Block, NestedBlock, Nesting, Schema};
use crate::{Str, Type};

/// A problem in a schema.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {reason}")]
pub struct SchemaProblem {
    /// Names from the outside in, with dots between them.
    pub place: String,
    /// Description of the problem.
    pub reason: String,
}

impl Schema {
    /// Returns all problems of the schema, in a fixed order.
    #[must_use]
    pub fn validate(&self) -> Vec<SchemaProblem> {
        let mut check = SchemaValidator::default();
        check.validate_block(&self.block);
        check.problems
    }
}

#[derive(Default)]
struct SchemaValidator {
    path: Vec<Str>,
    /// Inside a set, be it of blocks or of nested attributes.
    in_set: bool,
    /// Inside a block that the provider may make.
    in_computed: bool,
    problems: Vec<SchemaProblem>,
}

impl SchemaValidator {
    fn report(&mut self, reason: impl Into<String>) {
        let path: Vec<&str> = self.path.iter().map(Str::as_str).collect();
        self.problems.push(SchemaProblem { place: path.join("."), reason: reason.into() });
    }

    fn validate_block(&mut self, block: &Block) {
        self.validate_attributes(&block.attributes);
        for (name, nested) in &block.blocks {
            self.path.push(name.clone());
            if block.attributes.contains_key(name) {
                self.report("a nested block type has the same name as an attribute");
            }
            // Attribute names are not checked, because some old providers would not load.
            let valid = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_');
            if name.is_empty() || !name.bytes().all(valid) {
                self.report(
                    "the name of a nested block type may contain only lower-case letters, digits and underscores",
                );
            }
            self.validate_nested_block(nested);
            self.path.pop();
        }
    }

    fn validate_nested_block(&mut self, nested: &NestedBlock) {
        let (min, max) = (nested.min_items, nested.max_items);
        match nested.nesting {
            Nesting::Single if min != max || min > 1 => {
                self.report(
                    "a single block must have equal bounds on its number, both 0 or both 1",
                );
            }
            Nesting::Group if min != 0 || max != 0 => {
                self.report("a group block cannot have bounds on its number");
            }
            Nesting::List | Nesting::Set if max != 0 && min > max => {
                self.report("the least number of blocks is above the greatest");
            }
            Nesting::Map if min != 0 || max != 0 => {
                self.report("map blocks cannot have bounds on their number");
            }
            _ => {}
        }
        if nested.computed && nested.nesting == Nesting::Group {
            self.report("a group block cannot be computed");
        }
        if nested.computed && min != 0 {
            self.report("a computed block cannot be required");
        }
        if self.in_computed && !nested.computed {
            self.report("a block inside a computed block must itself be computed");
        }
        let outer = (self.in_set, self.in_computed);
        self.in_set |= nested.nesting == Nesting::Set;
        self.in_computed |= nested.computed;
        self.validate_block(&nested.block);
        (self.in_set, self.in_computed) = outer;
    }

    fn validate_attributes(&mut self, attributes: &BTreeMap<Str, Attribute>) {
        for (name, attr) in attributes {
            self.path.push(name.clone());
            self.validate_attribute(attr);
            self.path.pop();
        }
    }

    fn validate_attribute(&mut self, attr: &Attribute) {
        if !attr.docs.deprecation.is_empty() && !attr.docs.deprecated {
            self.report("a deprecation message is given, but the attribute is not deprecated");
        }
        if attr.write_only && attr.role.is_computed() {
            self.report("a write-only attribute cannot be computed");
        }
        // Such a value is set to null by its path before it is stored, and no path leads into a
        // set.
        if attr.write_only && self.in_set {
            self.report("a write-only attribute cannot be inside a set");
        }
        // The provider makes the whole block, so it must be allowed to set everything in it.
        if self.in_computed && !attr.role.is_computed() {
            self.report("an attribute inside a computed block must itself be computed");
        }
        match &attr.kind {
            AttributeKind::Plain(ty) => {
                // Elements of a set need one type, or they could not be compared.
                if self.in_set && ty.has_dynamic() {
                    self.report("a dynamically typed attribute cannot be inside a set");
                }
                if type_has_optional(ty) {
                    self.report("the type of an attribute cannot have optional attributes");
                }
            }
            AttributeKind::Nested(nested) => {
                let outer = self.in_set;
                self.in_set |= nested.nesting == Nesting::Set;
                self.validate_attributes(&nested.attributes);
                self.in_set = outer;
            }
        }
    }
}

/// Whether some object type inside may leave attributes out, as only constraints can.
fn type_has_optional(ty: &Type) -> bool {
    match ty {
        Type::Dynamic | Type::Bool | Type::Number | Type::String => false,
        Type::List(element) | Type::Set(element) | Type::Map(element) => type_has_optional(element),
        Type::Tuple(elements) => elements.iter().any(type_has_optional),
        Type::Object(object) => {
            !object.optional.is_empty() || object.attributes.values().any(type_has_optional)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Role;
    use super::super::tests::{attr, block, nested, sample};
    use super::*;

    fn problems(block: Block) -> Vec<String> {
        Schema { version: 0, block }.validate().iter().map(SchemaProblem::to_string).collect()
    }

    fn bounds(nesting: Nesting, min_items: u64, max_items: u64, computed: bool) -> Vec<String> {
        let mut block = block(vec![], vec![("b", nesting, Block::default())]);
        let nested = block.blocks.get_mut("b").unwrap();
        (nested.min_items, nested.max_items, nested.computed) = (min_items, max_items, computed);
        problems(block)
    }

    #[test]
    fn a_valid_schema_has_no_problems() {
        assert_eq!(problems(sample()), [""; 0]);
        assert_eq!(bounds(Nesting::Single, 1, 1, false), [""; 0]);
        assert_eq!(bounds(Nesting::List, 2, 0, false), [""; 0]);
        assert_eq!(bounds(Nesting::List, 0, 5, true), [""; 0]);
    }

    #[test]
    fn bounds_must_match_the_nesting_mode() {
        let single = "b: a single block must have equal bounds on its number, both 0 or both 1";
        assert_eq!(bounds(Nesting::Single, 0, 1, false), [single]);
        assert_eq!(bounds(Nesting::Single, 2, 2, false), [single]);
        let group = "b: a group block cannot have bounds on its number";
        assert_eq!(bounds(Nesting::Group, 0, 1, false), [group]);
        let list = "b: the least number of blocks is above the greatest";
        assert_eq!(bounds(Nesting::List, 3, 2, false), [list]);
        let map = "b: map blocks cannot have bounds on their number";
        assert_eq!(bounds(Nesting::Map, 0, 2, false), [map]);
        assert_eq!(bounds(Nesting::Group, 0, 0, true), ["b: a group block cannot be computed"]);
        assert_eq!(bounds(Nesting::List, 1, 0, true), ["b: a computed block cannot be required"]);
    }

    #[test]
    fn sets_cannot_contain_every_kind_of_attribute() {
        let write_only = Attribute { write_only: true, ..attr(Type::Bool, Role::Optional) };
        let inside = || {
            vec![("d", attr(Type::list(Type::Dynamic), Role::Optional)), ("w", write_only.clone())]
        };
        let set = nested(Nesting::Set, inside(), Role::Optional);
        let problems =
            problems(block(vec![("s", set)], vec![("b", Nesting::Set, block(inside(), vec![]))]));
        assert_eq!(
            problems,
            [
                "s.d: a dynamically typed attribute cannot be inside a set",
                "s.w: a write-only attribute cannot be inside a set",
                "b.d: a dynamically typed attribute cannot be inside a set",
                "b.w: a write-only attribute cannot be inside a set",
            ]
        );
    }

    #[test]
    fn names_and_flags_must_be_consistent() {
        let mut deprecated = attr(Type::Bool, Role::Optional);
        deprecated.docs.deprecation = "no".into();
        let computed = Attribute { write_only: true, ..attr(Type::Bool, Role::Computed) };
        let problems = problems(block(
            vec![("a", deprecated), ("w", computed)],
            vec![
                ("Upper", Nesting::List, Block::default()),
                ("a", Nesting::List, Block::default()),
            ],
        ));
        assert_eq!(
            problems,
            [
                "a: a deprecation message is given, but the attribute is not deprecated",
                "w: a write-only attribute cannot be computed",
                "Upper: the name of a nested block type may contain only lower-case letters, digits and underscores",
                "a: a nested block type has the same name as an attribute",
            ]
        );
    }
}
