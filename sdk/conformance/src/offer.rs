//! The schema of a provider, read from its raw form: everything usable as values of the vocabulary, and
//! everything else as problems under the rule that it breaks.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use formwork_value::codec::type_json;
use formwork_value::schema::{
    Attribute, AttributeKind, Block, NestedAttributes, NestedBlock, Nesting, Role, SchemaDocs,
};
use formwork_value::{Schema, Type};

use crate::message::Msg;

/// The kinds of types that a provider offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The provider's own configuration.
    Provider,
    /// Managed resources.
    Resource,
    /// Data sources.
    DataSource,
    /// Ephemeral resources.
    Ephemeral,
    /// List resources.
    List,
    /// Actions.
    Action,
    /// State stores.
    Store,
}

impl Kind {
    /// The kind in words.
    #[must_use]
    pub fn noun(self) -> &'static str {
        match self {
            Self::Provider => "provider",
            Self::Resource => "resource",
            Self::DataSource => "data source",
            Self::Ephemeral => "ephemeral resource",
            Self::List => "list resource",
            Self::Action => "action",
            Self::Store => "state store",
        }
    }

    /// The field of the schema's answer that holds the kind, unless it is the provider's own.
    const SCHEMA_FIELDS: [(Self, u32); 6] = [
        (Self::Resource, 2),
        (Self::DataSource, 3),
        (Self::Ephemeral, 8),
        (Self::List, 9),
        (Self::Store, 10),
        (Self::Action, 11),
    ];
}

/// A type with its schema.
#[derive(Clone, Debug)]
pub struct OfferedType {
    /// The kind.
    pub kind: Kind,
    /// The name; empty for the provider itself.
    pub name: String,
    /// The schema as far as it can be read.
    pub schema: Arc<Schema>,
    /// Whether all of it could be read.
    pub is_whole: bool,
    /// The raw schema.
    pub raw: Msg,
}

impl OfferedType {
    /// The type of its values.
    #[must_use]
    pub fn ty(&self) -> Type {
        self.schema.block.implied_type()
    }

    /// The block of its schema.
    #[must_use]
    pub fn block(&self) -> &Block {
        &self.schema.block
    }

    /// Kind and name in words.
    #[must_use]
    pub fn display_name(&self) -> String {
        format!("{} {}", self.kind.noun(), self.name).trim().to_owned()
    }
}

/// A function.
#[derive(Clone, Debug)]
pub struct Function {
    /// The name.
    pub name: String,
    /// The fixed parameters.
    pub parameters: Vec<Parameter>,
    /// The parameter for further arguments.
    pub variadic: Option<Parameter>,
    /// The type of the result.
    pub returns: Type,
    /// The raw form.
    pub raw: Msg,
}

/// A parameter of a function.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// The name.
    pub name: String,
    /// The type.
    pub ty: Type,
    /// Whether null is allowed.
    pub null: bool,
    /// Whether unknown is allowed.
    pub unknown: bool,
}

/// A violation in a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaProblem {
    /// The rule's id.
    pub rule: &'static str,
    /// The type and place.
    pub place: String,
    /// The problem.
    pub message: String,
}

/// Everything that a provider offers.
#[derive(Clone, Debug, Default)]
pub struct Offer {
    /// The raw answer.
    pub raw: Msg,
    /// The types, the provider first.
    pub types: Vec<OfferedType>,
    /// The functions.
    pub functions: Vec<Function>,
    /// Identity types by resource type, with the version.
    pub identities: BTreeMap<String, (u64, Type, Vec<String>)>,
    /// Violations.
    pub problems: Vec<SchemaProblem>,
    /// Whether any deprecation has a string.
    pub has_deprecation_texts: bool,
}

/// A capability of the provider, by its field number.
pub const PLAN_DESTROY_FIELD: u32 = 1;
/// The schema need not be asked for.
pub const SCHEMA_OPTIONAL_FIELD: u32 = 2;
/// Objects of other types can be moved here.
pub const MOVE_STATE_FIELD: u32 = 3;
/// Configuration can be generated.
pub const GENERATE_CONFIG_FIELD: u32 = 4;

impl Offer {
    /// Reads the answer to `GetProviderSchema`.
    #[must_use]
    pub fn read(raw: &Msg) -> Self {
        let mut reader = SchemaReader::default();
        let mut types = Vec::new();
        match raw.get_msg(1) {
            Some(schema) => types.push(reader.read_offered_type(Kind::Provider, "", &schema)),
            None => reader.report("S-03", "the answer has no schema of the provider".to_owned()),
        }
        for (kind, field) in Kind::SCHEMA_FIELDS {
            let mut seen = BTreeSet::new();
            for (name, entry) in raw.map_entries(field) {
                // An action's schema is wrapped.
                let schema = match kind {
                    Kind::Action => entry.get_msg(1).unwrap_or_default(),
                    _ => entry,
                };
                let offered = reader.read_offered_type(kind, &name, &schema);
                if !seen.insert(name.clone()) {
                    reader.report("S-07", format!("{} is there twice", offered.display_name()));
                }
                types.push(offered);
            }
        }
        let functions =
            raw.map_entries(7).iter().map(|(name, raw)| reader.read_function(name, raw)).collect();
        Self {
            raw: raw.clone(),
            types,
            functions,
            problems: reader.problems,
            has_deprecation_texts: reader.has_deprecation_texts,
            ..Self::default()
        }
    }

    /// Adds the identity schemas.
    pub fn read_identities(&mut self, raw: &Msg) {
        let mut reader = SchemaReader::default();
        for (name, schema) in raw.map_entries(1) {
            reader.subject = format!("identity of {name}");
            let mut parts = Vec::new();
            let mut required = Vec::new();
            for attribute in schema.all_msgs(2) {
                let own = attribute.get_text(1);
                let ty = reader.read_type(&attribute.get_bytes(2), &own, "S-16");
                let is_simple = ty.is_primitive()
                    || matches!(&ty, Type::List(element) if element.is_primitive());
                if !is_simple {
                    let friendly = ty.friendly_name();
                    reader.report("S-16", format!("{own} has the type {friendly}"));
                }
                if attribute.get_bool(3) {
                    required.push(own.clone());
                }
                parts.push((own, ty));
            }
            if required.is_empty() {
                reader.report("S-16", "no attribute is required for import".to_owned());
            }
            if !self.types.iter().any(|it| it.kind == Kind::Resource && it.name == name) {
                reader.report("S-16", "there is no such resource type".to_owned());
            }
            let version = schema.get_int(1);
            self.identities.insert(name, (version, Type::object(parts), required));
        }
        self.problems.append(&mut reader.problems);
    }

    /// Iterates over the types of a kind whose schema can be used.
    pub fn usable_types_of_kind(&self, kind: Kind) -> impl Iterator<Item = &OfferedType> {
        self.types.iter().filter(move |it| it.kind == kind && it.is_whole)
    }

    /// The provider's own schema.
    #[must_use]
    pub fn provider_schema(&self) -> Option<&OfferedType> {
        self.usable_types_of_kind(Kind::Provider).next()
    }

    /// Whether the provider says that it can do something.
    #[must_use]
    pub fn has_capability(&self, capability: u32) -> bool {
        self.raw.get_msg(6).is_some_and(|it| it.get_bool(capability))
    }
}

/// Names that mean something else in a block of the language.
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

#[derive(Default)]
struct SchemaReader {
    subject: String,
    kind: Option<Kind>,
    problems: Vec<SchemaProblem>,
    has_deprecation_texts: bool,
}

impl SchemaReader {
    fn report(&mut self, rule: &'static str, message: String) {
        let place = self.subject.clone();
        self.problems.push(SchemaProblem { rule, place, message });
    }

    fn read_offered_type(&mut self, kind: Kind, name: &str, raw: &Msg) -> OfferedType {
        let mut schema = Schema::default();
        self.subject = format!("{} {name}", kind.noun()).trim().to_owned();
        self.kind = Some(kind);
        let before = self.problems.len();
        match raw.get_msg(2) {
            Some(block) => schema.block = self.read_block(&block, "", 0),
            None => self.report("S-03", "the schema has no block".to_owned()),
        }
        match i64::try_from(raw.get_int(1)) {
            Ok(version) => schema.version = version.unsigned_abs(),
            Err(_) => self.report("S-12", "the schema version is negative".to_owned()),
        }
        let unusable = |it: &SchemaProblem| matches!(it.rule, "S-03" | "S-04" | "S-05" | "S-06");
        let mut is_whole = !self.problems[before..].iter().any(unusable);
        if is_whole {
            // Whatever else a host refuses when it loads a schema.
            for problem in schema.validate() {
                self.report("S-06", problem.to_string());
                is_whole = false;
            }
        }
        let (name, schema) = (name.to_owned(), Arc::new(schema));
        OfferedType { kind, name, schema, is_whole, raw: raw.clone() }
    }

    fn read_block(&mut self, raw: &Msg, place: &str, depth: usize) -> Block {
        let mut block = Block { docs: decode_docs(raw, 4, 6), ..Block::default() };
        // Blocks may be nested without end, and this function calls itself for each level.
        if depth > 64 {
            self.report("S-04", format!("{place}: blocks are nested more than 64 levels deep"));
            return block;
        }
        for attribute in raw.all_msgs(2) {
            let name = attribute.get_text(1);
            self.check_name(&name, place, depth);
            let read = self.read_attribute(&attribute, &join_place(place, &name), depth);
            if block.attributes.insert(name.as_str().into(), read).is_some() {
                self.report(
                    "S-07",
                    format!("{}: the attribute is there twice", join_place(place, &name)),
                );
            }
        }
        for nested in raw.all_msgs(3) {
            let name = nested.get_text(1);
            self.check_name(&name, place, depth);
            let at = join_place(place, &name);
            let nesting = match nested.get_int(3) {
                1 => Nesting::Single,
                2 => Nesting::List,
                3 => Nesting::Set,
                4 => Nesting::Map,
                5 => Nesting::Group,
                other => {
                    self.report("S-06", format!("{at}: the nesting mode is {other}"));
                    continue;
                }
            };
            let content = nested.get_msg(2).unwrap_or_else(|| {
                self.report("S-03", format!("{at}: the nested block has no content"));
                Msg::new()
            });
            let read = NestedBlock {
                nesting,
                min_items: nested.get_int(4),
                max_items: nested.get_int(5),
                computed: content.get_bool(8),
                block: self.read_block(&content, &at, depth + 1),
            };
            let is_attribute = block.attributes.contains_key(name.as_str());
            if is_attribute || block.blocks.contains_key(name.as_str()) {
                self.report("S-07", format!("{at}: attributes and blocks share the name"));
                continue;
            }
            block.blocks.insert(name.as_str().into(), read);
        }
        block
    }

    fn check_name(&mut self, name: &str, place: &str, depth: usize) {
        let at = join_place(place, name);
        let starts = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_');
        let valid = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if !starts || !name.chars().all(valid) {
            self.report("S-07", format!("{at:?} is not a valid name"));
        }
        // Only the blocks of the language have meta-arguments.
        let is_block = depth == 0 && self.kind != Some(Kind::Store);
        let reserved = match self.kind {
            Some(Kind::Provider) => ["alias", "version"].contains(&name),
            _ => RESERVED_NAMES.contains(&name),
        };
        if is_block && reserved {
            self.report("S-07", format!("{at:?} is a reserved name"));
        }
    }

    fn read_attribute(&mut self, raw: &Msg, at: &str, depth: usize) -> Attribute {
        let [required, optional, computed] = [4, 5, 6].map(|number| raw.get_bool(number));
        let role = match (required, optional, computed) {
            (true, false, false) => Role::Required,
            (false, true, false) => Role::Optional,
            (false, true, true) => Role::OptionalComputed,
            (false, false, true) => Role::Computed,
            _ => {
                let flags =
                    format!("required {required}, optional {optional}, computed {computed}");
                self.report("S-05", format!("{at}: {flags} do not go together"));
                Role::Optional
            }
        };
        // Protocol 5 has no nested types, and each later field one number lower.
        let write_only = raw.get_bool(10) || raw.get_bool(11);
        if write_only && role.is_computed() {
            self.report("S-05", format!("{at}: a write-only attribute cannot be computed"));
        }
        let nested = raw.get_msg(10);
        if nested.is_some() == raw.has_field(2) {
            let which = if raw.has_field(2) { "both a type and a nested type" } else { "no type" };
            self.report("S-04", format!("{at}: the attribute has {which}"));
        }
        let kind = match nested {
            Some(nested) => AttributeKind::Nested(self.read_nested_attributes(&nested, at, depth)),
            None => AttributeKind::Plain(self.read_type(&raw.get_bytes(2), at, "S-04")),
        };
        let mut docs = decode_docs(raw, 3, 9);
        docs.deprecation = [12, 11].map(|it| raw.get_text(it)).concat();
        self.has_deprecation_texts |= !docs.deprecation.is_empty();
        Attribute { kind, role, sensitive: raw.get_bool(7), write_only, docs }
    }

    fn read_nested_attributes(&mut self, raw: &Msg, at: &str, depth: usize) -> NestedAttributes {
        let nesting = match raw.get_int(3) {
            1 => Nesting::Single,
            2 => Nesting::List,
            3 => Nesting::Set,
            4 => Nesting::Map,
            other => {
                self.report("S-06", format!("{at}: the nesting mode is {other}"));
                Nesting::Single
            }
        };
        let attributes = match depth > 64 {
            true => {
                self.report("S-04", format!("{at}: attributes are nested over 64 levels deep"));
                BTreeMap::new()
            }
            false => {
                self.read_block(&Msg::default().copy_repeated_field(raw, 1, 2), at, depth + 1)
                    .attributes
            }
        };
        NestedAttributes { attributes, nesting }
    }

    fn read_type(&mut self, bytes: &[u8], at: &str, rule: &'static str) -> Type {
        if bytes.is_empty() {
            return Type::Dynamic;
        }
        // Counted before decoding, whose recursion follows the nesting.
        let depth = bytes.iter().fold((0_usize, 0_usize), |(now, most), byte| match byte {
            b'[' => (now + 1, most.max(now + 1)),
            b']' => (now.saturating_sub(1), most),
            _ => (now, most),
        });
        if depth.1 > 64 {
            self.report(rule, format!("{at}: the type is nested {} levels deep", depth.1));
            return Type::Dynamic;
        }
        match type_json::decode(bytes) {
            Ok(ty) => ty,
            Err(error) => {
                let shown = crate::plugin::truncate(&String::from_utf8_lossy(bytes), 80);
                self.report(rule, format!("{at}: the type {shown:?} cannot be read: {error}"));
                Type::Dynamic
            }
        }
    }

    fn read_function(&mut self, name: &str, raw: &Msg) -> Function {
        self.subject = format!("function {name}");
        let valid = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if name.is_empty() || !name.chars().all(valid) {
            self.report("S-17", format!("{name:?} is not a valid name"));
        }
        let mut seen = BTreeSet::new();
        let mut parameter = |reader: &mut Self, raw: &Msg| {
            let name = raw.get_text(1);
            if name.is_empty() || !seen.insert(name.clone()) {
                reader.report("S-17", format!("the parameter name {name:?} is empty or taken"));
            }
            if !raw.has_field(2) {
                reader.report("S-17", format!("the parameter {name:?} has no type"));
            }
            let ty = reader.read_type(&raw.get_bytes(2), &name, "S-17");
            Parameter { name, ty, null: raw.get_bool(3), unknown: raw.get_bool(4) }
        };
        let parameters = raw.all_msgs(1).iter().map(|raw| parameter(self, raw)).collect();
        let variadic = raw.get_msg(2).map(|raw| parameter(self, &raw));
        let returns = raw.get_msg(3).map(|it| it.get_bytes(1)).unwrap_or_default();
        if returns.is_empty() {
            self.report("S-17", "the function has no return type".to_owned());
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

fn join_place(place: &str, name: &str) -> String {
    if place.is_empty() { name.to_owned() } else { format!("{place}.{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn write_only_attributes_and_deprecations_are_read_in_both_protocols() {
        let attribute = || {
            Msg::new().with_text(1, "secret").with_bytes(2, b"\"string\"".to_vec()).with_int(5, 1)
        };
        for raw in [
            attribute().with_int(9, 1).with_int(10, 1).with_text(11, "use the other"),
            // Number 10 is that of nested attributes in protocol 6, so that two fields have other
            // numbers.
            attribute().with_int(9, 1).with_int(11, 1).with_text(12, "use the other"),
        ] {
            let mut reader = SchemaReader::default();
            let read = reader.read_attribute(&raw, "secret", 0);
            assert!(read.write_only && reader.problems.is_empty(), "{:?}", reader.problems);
            assert_eq!(read.docs.deprecation, "use the other");
        }
    }
}
