//! The schema of a model, and its further rules for planning and validating. `#[derive(Model)]` and
//! `#[derive(Nested)]` build these. This file handles no objects.

mod definition;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::OnceLock;

pub use formwork_value::schema::Role;
use formwork_value::schema::{Block, Nesting, SchemaDocs};
use formwork_value::{Str, Type, Value};

use crate::check::{Check, Relation};

pub use definition::{AttributeDefinition, BlockDefinition};

/// A schema with the rules for planning and validating.
///
/// ```
/// use formwork_sdk::schema::{AttributeDefinition, Role, Shape};
/// use formwork_sdk::value::Type;
///
/// let title = AttributeDefinition::new(Type::String, Role::Required).describe("The title.");
/// let shape = Shape::new("A note.").attribute("title", title);
/// assert_eq!(shape.ty(), &Type::object([("title", Type::String)]));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Shape {
    /// The schema's content.
    pub block: Block,
    /// The rules.
    pub rules: Rules,
    /// Identity attributes; empty if the model has no identity.
    pub identity: BTreeMap<Str, IdentityRequirement>,
    /// The attribute that an import by id sets.
    pub import: Option<Str>,
    ty: OnceLock<Type>,
}

/// The rules for an object: for each part, and among parts.
///
/// ```
/// use formwork_sdk::prelude::*;
///
/// /// A note.
/// #[derive(Model)]
/// struct Note {
///     #[attr(default = "yellow", replace)]
///     color: String,
/// }
///
/// let rules = Note::shape().rules;
/// assert!(rules.have_defaults());
/// assert!(rules.may_force_replacement());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Rules {
    /// The rules by attribute or block.
    pub parts: BTreeMap<Str, PartRules>,
    /// Relations among attributes.
    pub relations: Vec<Relation>,
}

/// Planning and validation rules of one attribute or block.
///
/// ```
/// use formwork_sdk::prelude::*;
/// use formwork_sdk::value::Value;
///
/// /// A note.
/// #[derive(Model)]
/// struct Note {
///     #[attr(default = "yellow")]
///     color: String,
///     #[attr(computed, keep)]
///     id: String,
/// }
///
/// let rules = Note::shape().rules;
/// assert_eq!(rules.parts["color"].default, Some(Value::string("yellow")));
/// assert!(rules.parts["id"].keep);
/// ```
#[derive(Clone, Debug, Default)]
pub struct PartRules {
    /// The value if the author sets none.
    pub default: Option<Value>,
    /// Whether the prior value is kept if the author sets none.
    pub keep: bool,
    /// Whether a change forces replacement.
    pub replace: ReplaceRule,
    /// Whether the model can represent null.
    pub nullable: bool,
    /// Checks of every value that an author sets.
    pub checks: Vec<Check>,
    /// Rules of its parts, if it has described ones.
    pub inner: Option<Box<NestedRules>>,
}

/// The rules for described parts.
///
/// ```
/// use formwork_sdk::prelude::*;
/// use formwork_sdk::value::schema::Nesting;
///
/// /// A port.
/// #[derive(Clone, Debug, Nested)]
/// struct Port {
///     #[attr(default = "tcp")]
///     protocol: String,
/// }
///
/// /// A machine.
/// #[derive(Model)]
/// struct Machine {
///     #[block]
///     ports: Vec<Port>,
/// }
///
/// let rules = Machine::shape().rules;
/// let of_ports = rules.parts["ports"].inner.as_ref().unwrap();
/// assert_eq!(of_ports.nesting, Nesting::List);
/// assert!(of_ports.rules.have_defaults());
/// ```
#[derive(Clone, Debug)]
pub struct NestedRules {
    /// Number of objects and their container.
    pub nesting: Nesting,
    /// The rules for each object.
    pub rules: Rules,
}

/// Whether an import must provide the part of an identity.
///
/// ```
/// use formwork_sdk::prelude::*;
/// use formwork_sdk::schema::IdentityRequirement;
///
/// /// A note.
/// #[derive(Model)]
/// struct Note {
///     #[attr(required, identity)]
///     name: String,
///     #[attr(optional, identity(optional))]
///     region: Option<String>,
/// }
///
/// let identity = Note::shape().identity;
/// assert_eq!(identity["name"], IdentityRequirement::Required);
/// assert_eq!(identity["region"], IdentityRequirement::Optional);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdentityRequirement {
    /// An import must provide it.
    Required,
    /// An import may provide it.
    Optional,
}

/// Whether a change of an attribute forces replacement.
///
/// ```
/// use formwork_sdk::prelude::*;
/// use formwork_sdk::schema::ReplaceRule;
/// use formwork_sdk::value::Value;
///
/// /// A disk. It can grow in place.
/// #[derive(Model)]
/// struct Disk {
///     #[attr(required, replace_if = shrinks)]
///     size: i64,
/// }
///
/// fn shrinks(prior: &Attr<i64>, planned: &Attr<i64>) -> bool {
///     planned.get() < prior.get()
/// }
///
/// let ReplaceRule::If(decide) = Disk::shape().rules.parts["size"].replace else {
///     panic!("the size has a condition");
/// };
/// assert!(decide(&Value::int(2), &Value::int(1)));
/// assert!(!decide(&Value::int(1), &Value::int(2)));
/// ```
#[derive(Clone, Copy, Default)]
pub enum ReplaceRule {
    /// The attribute can be changed in place.
    #[default]
    Never,
    /// The attribute cannot be changed in place.
    Always,
    /// The prior and the planned value decide.
    If(fn(&Value, &Value) -> bool),
}

impl fmt::Debug for ReplaceRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Never => "Never",
            Self::Always => "Always",
            Self::If(_) => "If",
        })
    }
}

impl Rules {
    /// Whether any part, nested ones included, has a default.
    #[must_use]
    pub fn have_defaults(&self) -> bool {
        let has_default = |rule: &PartRules| {
            rule.default.is_some()
                || rule.inner.as_ref().is_some_and(|inner| inner.rules.have_defaults())
        };
        self.parts.values().any(has_default)
    }

    /// Whether a change of any part, nested ones included, may force replacement.
    #[must_use]
    pub fn may_force_replacement(&self) -> bool {
        let may = |rule: &PartRules| {
            !matches!(rule.replace, ReplaceRule::Never)
                || rule.inner.as_ref().is_some_and(|inner| inner.rules.may_force_replacement())
        };
        self.parts.values().any(may)
    }
}

impl Shape {
    /// A schema without attributes. The description is Markdown.
    #[must_use]
    pub fn new(description: &str) -> Self {
        let block = Block { docs: markdown_docs(description), ..Block::default() };
        Self { block, ..Self::default() }
    }

    /// The type of its objects.
    #[must_use]
    pub fn ty(&self) -> &Type {
        // Once, because every call decodes several values with it.
        self.ty.get_or_init(|| self.block.implied_type())
    }

    /// Marks the schema as deprecated, with its replacement.
    #[must_use]
    pub fn deprecated(mut self, instead: &str) -> Self {
        set_deprecation(&mut self.block.docs, instead);
        self
    }

    /// Adds an attribute.
    #[must_use]
    pub fn attribute(mut self, name: &str, definition: AttributeDefinition) -> Self {
        self.block.attributes.insert(name.into(), definition.attribute);
        self.rules.parts.insert(name.into(), definition.rules);
        if let Some(identifies) = definition.identifies {
            self.identity.insert(name.into(), identifies);
        }
        if definition.import {
            self.import = Some(name.into());
        }
        self
    }

    /// Adds a type of nested blocks.
    #[must_use]
    pub fn nested_block(mut self, name: &str, definition: BlockDefinition) -> Self {
        self.block.blocks.insert(name.into(), definition.block);
        self.rules.parts.insert(name.into(), definition.rules);
        self
    }

    /// Adds the attributes and blocks of another model, without its description. A duplicate name
    /// is a programming error.
    #[must_use]
    pub fn flatten(mut self, other: Self) -> Self {
        self.block.attributes.extend(other.block.attributes);
        self.block.blocks.extend(other.block.blocks);
        self.rules.parts.extend(other.rules.parts);
        self.rules.relations.extend(other.rules.relations);
        self.identity.extend(other.identity);
        self.import = self.import.or(other.import);
        self
    }

    /// Adds a relation among attributes.
    #[must_use]
    pub fn relation(mut self, relation: Relation) -> Self {
        self.rules.relations.push(relation);
        self
    }
}

fn markdown_docs(description: &str) -> SchemaDocs {
    // The text is a doc comment of Rust, which is Markdown.
    SchemaDocs { description: description.to_owned(), markdown: true, ..SchemaDocs::default() }
}

fn set_deprecation(docs: &mut SchemaDocs, instead: &str) {
    docs.deprecated = true;
    docs.deprecation = instead.to_owned();
}
