//! The schema of a provider, decoded from its wire form: usable parts as values of the schema
//! types, and all other parts as problems with the rule that they break.

mod read_schema;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use formwork_value::schema::Block;
use formwork_value::{Schema, Type};

use self::read_schema::SchemaReader;
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
    /// The kind as it is displayed.
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
    /// Whether the whole schema could be read.
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

    /// Kind and name as they are displayed.
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
    /// The type and path.
    pub path: String,
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
pub const PLAN_DESTROY_CAPABILITY: u32 = 1;
/// The schema need not be requested.
pub const SCHEMA_OPTIONAL_CAPABILITY: u32 = 2;
/// Objects of other types can be moved here.
pub const MOVE_STATE_CAPABILITY: u32 = 3;
/// Configuration can be generated.
pub const GENERATE_CONFIG_CAPABILITY: u32 = 4;

impl Offer {
    /// Reads the answer to `GetProviderSchema`.
    #[must_use]
    pub fn from_schema_answer(raw: &Msg) -> Self {
        let mut reader = SchemaReader::default();
        let mut types = Vec::new();
        match raw.get_msg(1) {
            Some(schema) => types.push(reader.read_offered_type(Kind::Provider, "", &schema)),
            None => reader.report_schema_problem(
                "S-03",
                "the answer has no schema of the provider itself".to_owned(),
            ),
        }
        for (kind, field) in Kind::SCHEMA_FIELDS {
            let mut seen_names = BTreeSet::new();
            for (name, entry) in raw.map_entries(field) {
                // An action's schema is wrapped.
                let schema = match kind {
                    Kind::Action => entry.get_msg(1).unwrap_or_default(),
                    _ => entry,
                };
                let offered = reader.read_offered_type(kind, &name, &schema);
                if !seen_names.insert(name.clone()) {
                    reader.report_schema_problem(
                        "S-07",
                        format!("{} is declared twice", offered.display_name()),
                    );
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
    pub fn add_identity_schemas(&mut self, raw: &Msg) {
        let mut reader = SchemaReader::default();
        for (name, schema) in raw.map_entries(1) {
            reader.subject = format!("identity of {name}");
            let mut parts = Vec::new();
            let mut required = Vec::new();
            for attribute in schema.repeated_messages(2) {
                let type_name = attribute.get_text(1);
                let ty = reader.read_type(&attribute.get_bytes(2), &type_name, "S-16");
                let is_simple = ty.is_primitive()
                    || matches!(&ty, Type::List(element) if element.is_primitive());
                if !is_simple {
                    let friendly = ty.friendly_name();
                    reader.report_schema_problem(
                        "S-16",
                        format!("{type_name} has the type {friendly}"),
                    );
                }
                if attribute.get_bool(3) {
                    required.push(type_name.clone());
                }
                parts.push((type_name, ty));
            }
            if required.is_empty() {
                reader.report_schema_problem(
                    "S-16",
                    "no attribute is required for import".to_owned(),
                );
            }
            if !self.types.iter().any(|it| it.kind == Kind::Resource && it.name == name) {
                reader.report_schema_problem("S-16", "there is no such resource type".to_owned());
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

    /// Whether the provider declares a capability.
    #[must_use]
    pub fn has_capability(&self, capability: u32) -> bool {
        self.raw.get_msg(6).is_some_and(|it| it.get_bool(capability))
    }
}
