//! Reads schemas from their raw form.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use formwork_value::codec::type_json;
use formwork_value::schema::{
    Attribute, AttributeKind, Block, NestedAttributes, NestedBlock, Nesting, Role, SchemaDocs,
};
use formwork_value::{Schema, Type};

use super::{Function, Kind, OfferedType, Parameter, SchemaProblem};
use crate::message::Msg;

/// Names with another meaning in a block of the language.
const RESERVED_NAMES: [&str; 8] = [
    "count",
    "for_each",
    "depends_on",
    "lifecycle",
    "provider",
    "provisioner",
    "connection",
    "dynamic",
];

/// Reads schemas, and collects their problems.
#[derive(Default)]
pub(super) struct SchemaReader {
    pub(super) subject: String,
    kind: Option<Kind>,
    pub(super) problems: Vec<SchemaProblem>,
    pub(super) has_deprecation_texts: bool,
}

impl SchemaReader {
    pub(super) fn report_schema_problem(&mut self, rule: &'static str, message: String) {
        let subject = self.subject.clone();
        self.problems.push(SchemaProblem { rule, path: subject, message });
    }

    pub(super) fn read_offered_type(&mut self, kind: Kind, name: &str, raw: &Msg) -> OfferedType {
        let mut schema = Schema::default();
        self.subject = format!("{} {name}", kind.noun()).trim().to_owned();
        self.kind = Some(kind);
        let before = self.problems.len();
        match raw.get_msg(2) {
            Some(block) => schema.block = self.read_block(&block, "", 0),
            None => self.report_schema_problem("S-03", "the schema has no block".to_owned()),
        }
        match i64::try_from(raw.get_int(1)) {
            Ok(version) => schema.version = version.unsigned_abs(),
            Err(_) => {
                self.report_schema_problem("S-12", "the schema version is negative".to_owned());
            }
        }
        let unusable = |it: &SchemaProblem| matches!(it.rule, "S-03" | "S-04" | "S-05" | "S-06");
        let mut is_whole = !self.problems[before..].iter().any(unusable);
        if is_whole {
            // All other errors that a host reports when it loads a schema.
            for problem in schema.validate() {
                self.report_schema_problem("S-06", problem.to_string());
                is_whole = false;
            }
        }
        let (name, schema) = (name.to_owned(), Arc::new(schema));
        OfferedType { kind, name, schema, is_whole, raw: raw.clone() }
    }

    pub(super) fn read_block(&mut self, raw: &Msg, path: &str, depth: usize) -> Block {
        let mut block = Block { docs: decode_docs(raw, 4, 6), ..Block::default() };
        // Blocks may be nested without end, and this function calls itself for each level.
        if depth > 64 {
            self.report_schema_problem(
                "S-04",
                format!("{path}: blocks are nested more than 64 levels deep"),
            );
            return block;
        }
        for attribute in raw.repeated_messages(2) {
            let name = attribute.get_text(1);
            self.check_schema_name(&name, path, depth);
            let read = self.read_attribute(&attribute, &join_path(path, &name), depth);
            if block.attributes.insert(name.as_str().into(), read).is_some() {
                self.report_schema_problem(
                    "S-07",
                    format!("{}: the attribute is declared twice", join_path(path, &name)),
                );
            }
        }
        for nested in raw.repeated_messages(3) {
            let name = nested.get_text(1);
            self.check_schema_name(&name, path, depth);
            let attribute_path = join_path(path, &name);
            let Some(nesting) = self.read_nesting(nested.get_int(3), &attribute_path) else {
                continue;
            };
            let content = nested.get_msg(2).unwrap_or_else(|| {
                self.report_schema_problem(
                    "S-03",
                    format!("{attribute_path}: the nested block has no content"),
                );
                Msg::new()
            });
            let read = NestedBlock {
                nesting,
                min_items: nested.get_int(4),
                max_items: nested.get_int(5),
                computed: content.get_bool(8),
                block: self.read_block(&content, &attribute_path, depth + 1),
            };
            let is_attribute = block.attributes.contains_key(name.as_str());
            if is_attribute || block.blocks.contains_key(name.as_str()) {
                self.report_schema_problem(
                    "S-07",
                    format!("{attribute_path}: attributes and blocks share the name"),
                );
                continue;
            }
            block.blocks.insert(name.as_str().into(), read);
        }
        block
    }

    fn read_nesting(&mut self, number: u64, path: &str) -> Option<Nesting> {
        match number {
            1 => Some(Nesting::Single),
            2 => Some(Nesting::List),
            3 => Some(Nesting::Set),
            4 => Some(Nesting::Map),
            5 => Some(Nesting::Group),
            other => {
                self.report_schema_problem("S-06", format!("{path}: the nesting mode is {other}"));
                None
            }
        }
    }

    fn check_schema_name(&mut self, name: &str, parent: &str, depth: usize) {
        let path = join_path(parent, name);
        let starts = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_');
        let valid = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if !starts || !name.chars().all(valid) {
            self.report_schema_problem("S-07", format!("{path:?} is not a valid name"));
        }
        // Only the blocks of the language have meta-arguments.
        let is_block = depth == 0 && self.kind != Some(Kind::Store);
        let reserved = match self.kind {
            Some(Kind::Provider) => ["alias", "version"].contains(&name),
            _ => RESERVED_NAMES.contains(&name),
        };
        if is_block && reserved {
            self.report_schema_problem("S-07", format!("{path:?} is a reserved name"));
        }
    }

    pub(super) fn read_attribute(&mut self, raw: &Msg, path: &str, depth: usize) -> Attribute {
        let [required, optional, computed] = [4, 5, 6].map(|number| raw.get_bool(number));
        let role = match (required, optional, computed) {
            (true, false, false) => Role::Required,
            (false, true, false) => Role::Optional,
            (false, true, true) => Role::OptionalComputed,
            (false, false, true) => Role::Computed,
            _ => {
                let flags =
                    format!("required {required}, optional {optional}, computed {computed}");
                self.report_schema_problem("S-05", format!("{path}: {flags} do not go together"));
                Role::Optional
            }
        };
        // Protocol 5 has no nested types, and each later field one number lower.
        let write_only = raw.get_bool(10) || raw.get_bool(11);
        if write_only && role.is_computed() {
            self.report_schema_problem(
                "S-05",
                format!("{path}: a write-only attribute cannot be computed"),
            );
        }
        let nested = raw.get_msg(10);
        if nested.is_some() == raw.has_field(2) {
            let problem =
                if raw.has_field(2) { "both a type and a nested type" } else { "no type" };
            self.report_schema_problem("S-04", format!("{path}: the attribute has {problem}"));
        }
        let kind = match nested {
            Some(nested) => {
                AttributeKind::Nested(self.read_nested_attributes(&nested, path, depth))
            }
            None => AttributeKind::Plain(self.read_type(&raw.get_bytes(2), path, "S-04")),
        };
        let mut docs = decode_docs(raw, 3, 9);
        docs.deprecation = [12, 11].map(|it| raw.get_text(it)).concat();
        self.has_deprecation_texts |= !docs.deprecation.is_empty();
        Attribute { kind, role, sensitive: raw.get_bool(7), write_only, docs }
    }

    fn read_nested_attributes(&mut self, raw: &Msg, path: &str, depth: usize) -> NestedAttributes {
        let nesting = match raw.get_int(3) {
            1 => Nesting::Single,
            2 => Nesting::List,
            3 => Nesting::Set,
            4 => Nesting::Map,
            other => {
                self.report_schema_problem("S-06", format!("{path}: the nesting mode is {other}"));
                Nesting::Single
            }
        };
        let attributes = match depth > 64 {
            true => {
                self.report_schema_problem(
                    "S-04",
                    format!("{path}: attributes are nested over 64 levels deep"),
                );
                BTreeMap::new()
            }
            false => {
                self.read_block(&Msg::default().copy_repeated_field(raw, 1, 2), path, depth + 1)
                    .attributes
            }
        };
        NestedAttributes { attributes, nesting }
    }

    pub(super) fn read_type(&mut self, bytes: &[u8], path: &str, rule: &'static str) -> Type {
        if bytes.is_empty() {
            return Type::Dynamic;
        }
        // Counted before decoding, whose recursion follows the nesting.
        let depth =
            bytes.iter().fold((0_usize, 0_usize), |(current, max_depth), byte| match byte {
                b'[' => (current + 1, max_depth.max(current + 1)),
                b']' => (current.saturating_sub(1), max_depth),
                _ => (current, max_depth),
            });
        if depth.1 > 64 {
            self.report_schema_problem(
                rule,
                format!("{path}: the type is nested {} levels deep", depth.1),
            );
            return Type::Dynamic;
        }
        match type_json::decode(bytes) {
            Ok(ty) => ty,
            Err(error) => {
                let excerpt = crate::plugin::truncate(&String::from_utf8_lossy(bytes), 80);
                self.report_schema_problem(
                    rule,
                    format!("{path}: the type {excerpt:?} cannot be read: {error}"),
                );
                Type::Dynamic
            }
        }
    }

    pub(super) fn read_function(&mut self, name: &str, raw: &Msg) -> Function {
        self.subject = format!("function {name}");
        let valid = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if name.is_empty() || !name.chars().all(valid) {
            self.report_schema_problem("S-17", format!("{name:?} is not a valid name"));
        }
        let mut seen_names = BTreeSet::new();
        let mut parameter = |reader: &mut Self, raw: &Msg| {
            let name = raw.get_text(1);
            if name.is_empty() || !seen_names.insert(name.clone()) {
                reader.report_schema_problem(
                    "S-17",
                    format!("the parameter name {name:?} is empty or taken"),
                );
            }
            if !raw.has_field(2) {
                reader.report_schema_problem("S-17", format!("the parameter {name:?} has no type"));
            }
            let ty = reader.read_type(&raw.get_bytes(2), &name, "S-17");
            Parameter { name, ty, null: raw.get_bool(3), unknown: raw.get_bool(4) }
        };
        let parameters = raw.repeated_messages(1).iter().map(|raw| parameter(self, raw)).collect();
        let variadic = raw.get_msg(2).map(|raw| parameter(self, &raw));
        let returns = raw.get_msg(3).map(|it| it.get_bytes(1)).unwrap_or_default();
        if returns.is_empty() {
            self.report_schema_problem("S-17", "the function has no return type".to_owned());
        }
        let returns = self.read_type(&returns, "the result", "S-17");
        Function { name: name.to_owned(), parameters, variadic, returns, raw: raw.clone() }
    }
}

fn decode_docs(raw: &Msg, description: u32, deprecated: u32) -> SchemaDocs {
    SchemaDocs {
        description: raw.get_text(description),
        deprecated: raw.get_bool(deprecated),
        ..SchemaDocs::default()
    }
}

fn join_path(parent: &str, name: &str) -> String {
    if parent.is_empty() { name.to_owned() } else { format!("{parent}.{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn write_only_attributes_and_deprecations_are_read_in_both_protocols() {
        let attribute = || {
            Msg::new()
                .with_text(1, "secret")
                .with_bytes(2, b"\"string\"".to_vec())
                .with_nonzero_int(5, 1)
        };
        for raw in [
            attribute()
                .with_nonzero_int(9, 1)
                .with_nonzero_int(10, 1)
                .with_text(11, "use the other"),
            // Number 10 is that of nested attributes in protocol 6, so that two fields have other
            // numbers.
            attribute()
                .with_nonzero_int(9, 1)
                .with_nonzero_int(11, 1)
                .with_text(12, "use the other"),
        ] {
            let mut reader = SchemaReader::default();
            let read = reader.read_attribute(&raw, "secret", 0);
            assert!(read.write_only && reader.problems.is_empty(), "{:?}", reader.problems);
            assert_eq!(read.docs.deprecation, "use the other");
        }
    }
}
