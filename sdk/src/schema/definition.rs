//! Definition of attributes and blocks of a schema, one property after the other. The types of fields
//! define them in `field/definition_of_field.rs`.

use formwork_value::schema::{Attribute, NestedBlock, Nesting};
use formwork_value::{Type, Value};

use super::{IdentityRequirement, PartRules, ReplaceRule, Role, markdown_docs, set_deprecation};
use crate::check::Check;

/// An attribute and its rules.
///
/// ```
/// use formwork_sdk::schema::{AttributeDefinition, Role, Shape};
///
/// let password =
///     AttributeDefinition::of_field_type::<Option<String>>(Role::Optional).sensitive();
/// let shape = Shape::new("A login.").attribute("password", password);
/// assert!(shape.block.attributes["password"].sensitive);
/// ```
#[derive(Clone, Debug)]
pub struct AttributeDefinition {
    pub(crate) attribute: Attribute,
    pub(crate) rules: PartRules,
    pub(super) identifies: Option<IdentityRequirement>,
    pub(super) import: bool,
}

impl AttributeDefinition {
    /// An attribute without further properties.
    #[must_use]
    pub fn new(ty: Type, role: Role) -> Self {
        let rules = PartRules { nullable: true, ..PartRules::default() };
        Self { attribute: Attribute::new(ty, role), rules, identifies: None, import: false }
    }

    /// Sets the description, in Markdown.
    #[must_use]
    pub fn describe(mut self, description: &str) -> Self {
        self.attribute.docs = markdown_docs(description);
        self
    }

    /// Marks the attribute as deprecated, with its replacement.
    #[must_use]
    pub fn deprecated(mut self, instead: &str) -> Self {
        set_deprecation(&mut self.attribute.docs, instead);
        self
    }

    /// Marks the attribute as sensitive.
    #[must_use]
    pub fn sensitive(mut self) -> Self {
        self.attribute.sensitive = true;
        self
    }

    /// Marks the attribute as write-only: received, never returned or stored.
    #[must_use]
    pub fn write_only(mut self) -> Self {
        self.attribute.write_only = true;
        self
    }

    /// Sets the value for configurations without one.
    #[must_use]
    pub fn default_value(mut self, value: Value) -> Self {
        self.rules.default = Some(value);
        self
    }

    /// Keeps the prior value if the author sets none.
    #[must_use]
    pub fn keep_prior_value(mut self) -> Self {
        self.rules.keep = true;
        self
    }

    /// Forces replacement on a change.
    #[must_use]
    pub fn force_replacement(mut self) -> Self {
        self.rules.replace = ReplaceRule::Always;
        self
    }

    /// Forces replacement if `ask` returns true for the prior and the planned value.
    #[must_use]
    pub fn force_replacement_if(mut self, ask: fn(&Value, &Value) -> bool) -> Self {
        self.rules.replace = ReplaceRule::If(ask);
        self
    }

    /// Adds a check of values that an author sets.
    #[must_use]
    pub fn add_check(mut self, check: Check) -> Self {
        self.rules.checks.push(check);
        self
    }

    /// Marks the attribute that an import by id sets.
    #[must_use]
    pub fn set_by_import_id(mut self) -> Self {
        self.import = true;
        self
    }

    /// Marks the attribute as a part of the identity.
    #[must_use]
    pub fn identifies(mut self, identifies: IdentityRequirement) -> Self {
        self.identifies = Some(identifies);
        self
    }
}

/// A type of nested blocks and its rules.
///
/// ```
/// use formwork_sdk::prelude::*;
/// use formwork_sdk::schema::{BlockDefinition, Shape};
///
/// /// A rule of a firewall.
/// #[derive(Clone, Debug, Nested)]
/// struct Rule {
///     #[attr(required)]
///     port: u16,
/// }
///
/// let rules = BlockDefinition::of_field_type::<Vec<Rule>>().max_blocks(3);
/// let shape = Shape::new("A firewall.").nested_block("rule", rules);
/// assert_eq!(shape.block.blocks["rule"].max_items, 3);
/// ```
#[derive(Clone, Debug)]
pub struct BlockDefinition {
    pub(crate) block: NestedBlock,
    pub(crate) rules: PartRules,
}

impl BlockDefinition {
    /// Sets the description, in Markdown.
    #[must_use]
    pub fn describe(mut self, description: &str) -> Self {
        self.block.block.docs = markdown_docs(description);
        self
    }

    /// Marks the block as deprecated, with its replacement.
    #[must_use]
    pub fn deprecated(mut self, instead: &str) -> Self {
        set_deprecation(&mut self.block.block.docs, instead);
        self
    }

    /// Turns the block into a group, which is always present. Its attributes are null without a
    /// block in the configuration.
    #[must_use]
    pub fn group(mut self) -> Self {
        self.block.nesting = Nesting::Group;
        if let Some(inner) = &mut self.rules.inner {
            inner.nesting = Nesting::Group;
        }
        // Terraform refuses a schema in which a group has counts.
        (self.block.min_items, self.block.max_items) = (0, 0);
        self
    }

    /// Sets the minimum number of blocks.
    #[must_use]
    pub fn min_blocks(mut self, minimum: u64) -> Self {
        self.block.min_items = minimum;
        self
    }

    /// Sets the maximum number of blocks.
    #[must_use]
    pub fn max_blocks(mut self, maximum: u64) -> Self {
        self.block.max_items = maximum;
        self
    }

    /// Forces replacement on a change.
    #[must_use]
    pub fn force_replacement(mut self) -> Self {
        self.rules.replace = ReplaceRule::Always;
        self
    }

    /// Adds a check of blocks that an author writes.
    #[must_use]
    pub fn add_check(mut self, check: Check) -> Self {
        self.rules.checks.push(check);
        self
    }
}
