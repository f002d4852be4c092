//! The schema of a model, and what beyond it the plan must know: defaults, what stays, what forces a
//! new object. `#[derive(Model)]` builds these; nothing here looks at objects.

use std::collections::BTreeMap;
use std::fmt;

pub use formwork_value::schema::Role;
use formwork_value::schema::{Attribute, Block, Docs};
use formwork_value::{Str, Type, Value};

/// A schema with the rules for planning.
#[derive(Clone, Debug, Default)]
pub struct Shape {
    /// The schema's content.
    pub block: Block,
    /// The rules by attribute.
    pub rules: BTreeMap<Str, Rule>,
}

/// What a plan must know about one attribute.
#[derive(Clone, Debug, Default)]
pub struct Rule {
    /// The value if the author sets none.
    pub default: Option<Value>,
    /// Whether the prior value stays if the author sets none.
    pub keep: bool,
    /// Whether a change needs a new object.
    pub replace: Replace,
}

/// Whether a change of an attribute needs a new object.
#[derive(Clone, Copy, Default)]
pub enum Replace {
    /// It can be changed in place.
    #[default]
    Never,
    /// It cannot be changed in place.
    Always,
    /// It depends on the prior and the planned value.
    If(fn(&Value, &Value) -> bool),
}

impl fmt::Debug for Replace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Never => "Never",
            Self::Always => "Always",
            Self::If(_) => "If",
        })
    }
}

impl Shape {
    /// A schema without attributes. The description is Markdown.
    #[must_use]
    pub fn new(description: &str) -> Self {
        let block = Block { docs: docs(description), ..Block::default() };
        Self { block, rules: BTreeMap::new() }
    }

    /// Says that something else should be used.
    #[must_use]
    pub fn deprecated(mut self, instead: &str) -> Self {
        deprecate(&mut self.block.docs, instead);
        self
    }

    /// Adds an attribute.
    #[must_use]
    pub fn attribute(mut self, name: &str, definition: Definition) -> Self {
        self.block.attributes.insert(name.into(), definition.attribute);
        self.rules.insert(name.into(), definition.rule);
        self
    }
}

/// An attribute and its rule.
#[derive(Clone, Debug)]
pub struct Definition {
    attribute: Attribute,
    rule: Rule,
}

impl Definition {
    /// An attribute with nothing special about it.
    #[must_use]
    pub fn new(ty: Type, role: Role) -> Self {
        Self { attribute: Attribute::new(ty, role), rule: Rule::default() }
    }

    /// Describes it in Markdown.
    #[must_use]
    pub fn describe(mut self, description: &str) -> Self {
        self.attribute.docs = docs(description);
        self
    }

    /// Says that something else should be used.
    #[must_use]
    pub fn deprecated(mut self, instead: &str) -> Self {
        deprecate(&mut self.attribute.docs, instead);
        self
    }

    /// Its value must not be shown.
    #[must_use]
    pub fn sensitive(mut self) -> Self {
        self.attribute.sensitive = true;
        self
    }

    /// Its value is only received, never returned or stored.
    #[must_use]
    pub fn write_only(mut self) -> Self {
        self.attribute.write_only = true;
        self
    }

    /// Its value if the author sets none.
    #[must_use]
    pub fn default(mut self, value: Value) -> Self {
        self.rule.default = Some(value);
        self
    }

    /// Its prior value stays if the author sets none.
    #[must_use]
    pub fn keep(mut self) -> Self {
        self.rule.keep = true;
        self
    }

    /// A change of it needs a new object.
    #[must_use]
    pub fn replace(mut self) -> Self {
        self.rule.replace = Replace::Always;
        self
    }

    /// A change of it needs a new object if `ask` says so of the prior and the planned value.
    #[must_use]
    pub fn replace_if(mut self, ask: fn(&Value, &Value) -> bool) -> Self {
        self.rule.replace = Replace::If(ask);
        self
    }
}

fn docs(description: &str) -> Docs {
    Docs { description: description.to_owned(), markdown: true, ..Docs::default() }
}

fn deprecate(docs: &mut Docs, instead: &str) {
    docs.deprecated = true;
    docs.deprecation = instead.to_owned();
}
