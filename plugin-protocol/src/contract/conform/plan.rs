//! Checks a planned object against its configuration and its prior.
//!
//! Configured values must be planned as they are, or as they were before if the provider takes the
//! two for equal. Only computed parts are the provider's to choose.

use std::collections::BTreeMap;

use formwork_value::schema::{
    Attribute, AttributeKind, Block, NestedAttributes, NestedBlock, Nesting, Role,
};
use formwork_value::{Path, Plain, Step, Str, Type, Value};

use super::super::inspect_values::{
    are_identical, attribute_value, display_value, element_under_key, map_elements_by_key,
};
use super::super::{Rule, Violation};

/// Finds what a provider may not have planned, given the configuration it got and the prior object
/// it knew. No violations: the plan is valid.
#[must_use]
pub(in crate::contract) fn plan_violations(
    block: &Block,
    prior: &Plain,
    config: &Plain,
    planned: &Plain,
) -> Vec<Violation> {
    let mut check = PlanChecker { path: Path::root(), violations: Vec::new() };
    check.check_block(block, &PlanValues::new(prior.value(), config.value(), planned.value()));
    check.violations
}

/// The prior, configured and planned value of one part of an object.
struct PlanValues {
    prior: Value,
    config: Value,
    planned: Value,
}

impl PlanValues {
    fn new(prior: &Value, config: &Value, planned: &Value) -> Self {
        Self { prior: prior.clone(), config: config.clone(), planned: planned.clone() }
    }

    fn attribute(&self, name: &str) -> Self {
        let part = |object| attribute_value(object, name, || Type::Dynamic);
        Self { prior: part(&self.prior), config: part(&self.config), planned: part(&self.planned) }
    }

    /// The three values at an index of lists; an absent prior is null.
    fn element_at(&self, index: usize) -> Option<Self> {
        let null = Value::null(Type::Dynamic);
        let prior = self.prior.children().get(index).unwrap_or(&null);
        Some(Self::new(
            prior,
            self.config.children().get(index)?,
            self.planned.children().get(index)?,
        ))
    }

    /// The three under a key that the plan and the configuration have.
    fn element_under_key(&self, key: &str) -> Option<Self> {
        let null = Value::null(Type::Dynamic);
        let prior = element_under_key(&self.prior, key).unwrap_or(&null);
        Some(Self::new(
            prior,
            element_under_key(&self.config, key)?,
            element_under_key(&self.planned, key)?,
        ))
    }
}

struct PlanChecker {
    path: Path,
    violations: Vec<Violation>,
}

impl PlanChecker {
    fn report(&mut self, rule: Rule, message: impl Into<String>) {
        self.violations.push(Violation::new(rule, &self.path, message));
    }

    fn report_quoting_values(&mut self, rule: Rule, message: String) {
        self.violations.push(Violation::new_quoting_values(rule, &self.path, message));
    }

    fn check_at_step(&mut self, step: Step, check: impl FnOnce(&mut Self)) {
        self.path.0.push(step);
        check(self);
        self.path.0.pop();
    }

    /// Reports a value that exists on one side only. Returns whether to compare further.
    fn check_existence(&mut self, values: &PlanValues) -> bool {
        match (values.planned.is_null(), values.config.is_null()) {
            (true, false) => {
                self.report(Rule::PlanExistence, "planned for absence but config wants existence");
            }
            (false, true) => {
                self.report(Rule::PlanExistence, "planned for existence but config wants absence");
            }
            (true, true) => {}
            (false, false) => return true,
        }
        false
    }

    fn check_block(&mut self, block: &Block, values: &PlanValues) {
        // A difference in existence would repeat itself in every part.
        if !self.check_existence(values) {
            return;
        }
        self.check_attributes(&block.attributes, values);
        for (name, nested) in &block.blocks {
            self.check_at_step(Step::Attribute(name.clone()), |check| {
                check.check_nested_block(nested, &values.attribute(name));
            });
        }
    }

    fn check_attributes(&mut self, attributes: &BTreeMap<Str, Attribute>, values: &PlanValues) {
        for (name, attr) in attributes {
            self.check_at_step(Step::Attribute(name.clone()), |check| {
                check.check_attribute(attr, &values.attribute(name));
            });
        }
    }

    fn check_attribute(&mut self, attr: &Attribute, values: &PlanValues) {
        let PlanValues { prior, config, planned } = values;
        // The order of the rules is that of `AssertPlanValid` in Terraform: the first that fits
        // decides.
        if are_identical(planned, config) {
            return;
        }
        // The provider considers the configuration equal to the existing value. Services normalise
        // values such as JSON documents. Keeping the prior value avoids a permanent difference, and
        // the protocol allows it.
        if are_identical(planned, prior) && !prior.is_null() && !config.is_null() {
            return;
        }
        // A configured write-only value differs from its plan by design: only the configuration has
        // it.
        if attr.write_only {
            if !planned.is_null() {
                self.report(
                    Rule::WriteOnlyNull,
                    "planned value for write-only attribute is not null",
                );
            }
            return;
        }
        // A value configured for a computed-only attribute passes: Terraform leaves that to the
        // SDK's validation.
        if attr.role == Role::Computed || (config.is_null() && attr.role.is_computed()) {
            return;
        }
        match (&attr.kind, config.is_null(), attr.sensitive) {
            (_, true, true) => self.report(
                Rule::PlanComputedOnly,
                "sensitive planned value for a non-computed attribute",
            ),
            (_, true, false) => {
                let planned = display_value(planned);
                self.report_quoting_values(
                    Rule::PlanComputedOnly,
                    format!("planned value {planned} for a non-computed attribute"),
                );
            }
            (AttributeKind::Nested(nested), ..) => self.check_nested_attributes(nested, values),
            (_, _, sensitive) => self.report_mismatch(sensitive, values),
        }
    }

    fn report_mismatch(&mut self, sensitive: bool, values: &PlanValues) {
        let PlanValues { prior, config, planned } = values;
        let message = match (sensitive, prior.is_null()) {
            (true, true) => "sensitive planned value does not match config value".to_owned(),
            (true, false) => {
                "sensitive planned value does not match config value nor prior value".to_owned()
            }
            (false, true) => {
                let (planned, config) = (display_value(planned), display_value(config));
                format!("planned value {planned} does not match config value {config}")
            }
            (false, false) => {
                let (planned, config, prior) =
                    (display_value(planned), display_value(config), display_value(prior));
                format!(
                    "planned value {planned} does not match config value {config} nor prior value {prior}"
                )
            }
        };
        self.report_quoting_values(Rule::PlanConfigKept, message);
    }

    fn check_nested_attributes(&mut self, nested: &NestedAttributes, values: &PlanValues) {
        if !self.check_existence(values) {
            return;
        }
        if values.planned.is_unknown() {
            return self.report(Rule::PlanNestedKnown, "planned unknown for configured value");
        }
        let counts = (values.planned.children().len(), values.config.children().len());
        match nested.nesting {
            Nesting::Single | Nesting::Group => self.check_attributes(&nested.attributes, values),
            // The number of elements is the author's decision, even if the attributes inside are
            // computed.
            Nesting::List | Nesting::Set if values.config.is_unknown() || counts.0 != counts.1 => {
                let config = match values.config.is_unknown() {
                    true => "unknown".to_owned(),
                    false => counts.1.to_string(),
                };
                self.report(
                    Rule::PlanElements,
                    format!(
                        "count in plan ({}) disagrees with count in config ({config})",
                        counts.0
                    ),
                );
            }
            // Elements of sets have no key to match them by.
            Nesting::Set => {}
            Nesting::List => {
                for index in 0..counts.0 {
                    // The counts are equal here, so both sides have the element.
                    let Some(element) = values.element_at(index) else { continue };
                    self.check_at_step(Step::Index(index.into()), |check| {
                        check.check_element(&nested.attributes, &element);
                    });
                }
            }
            Nesting::Map => self.check_each_key(values, |check, element| {
                check.check_element(&nested.attributes, element);
            }),
        }
    }

    /// Checks one of the objects of a nested attribute, which may itself be null or unknown: its
    /// attributes are then, too. As in Terraform, null and an object with only null attributes are
    /// treated alike here.
    fn check_element(&mut self, attributes: &BTreeMap<Str, Attribute>, values: &PlanValues) {
        if !are_identical(&values.planned, &values.config) {
            self.check_attributes(attributes, values);
        }
    }

    /// Checks the element under each key that the plan and the configuration share, and reports others.
    fn check_each_key(
        &mut self,
        values: &PlanValues,
        mut check: impl FnMut(&mut Self, &PlanValues),
    ) {
        for (key, _) in map_elements_by_key(&values.planned) {
            match values.element_under_key(key) {
                Some(element) => {
                    self.check_at_step(Step::Key(key.clone()), |checker| check(checker, &element));
                }
                None => {
                    self.report(
                        Rule::PlanElements,
                        format!("map key {key:?} from plan is not present in config"),
                    );
                }
            }
        }
        for (key, _) in map_elements_by_key(&values.config) {
            if element_under_key(&values.planned, key).is_none() {
                self.report(
                    Rule::PlanElements,
                    format!("map key {key:?} from config is not present in plan"),
                );
            }
        }
    }

    fn check_nested_block(&mut self, nested: &NestedBlock, values: &PlanValues) {
        let PlanValues { config, planned, .. } = values;
        let kind = match nested.nesting {
            Nesting::List => Some("list"),
            Nesting::Set => Some("set"),
            Nesting::Map => Some("map"),
            Nesting::Single | Nesting::Group => None,
        };
        if let (Some(kind), true) = (kind, planned.is_null()) {
            return self.report(Rule::PlanBlocksNotNull, format!(
                "attribute representing a {kind} of nested blocks must be empty to indicate no blocks, not null"
            ));
        }
        if are_identical(planned, config) {
            return;
        }
        // Only a `dynamic` block over an unknown value makes blocks unknown; a provider must not
        // guess the result.
        if config.is_unknown() {
            let planned = display_value(planned);
            return self.report_quoting_values(
                Rule::PlanDynamicKept,
                format!("planned value {planned} for unknown dynamic block"),
            );
        }
        // Computed blocks (protocol 6.11) are the provider's to fill if the author wrote none.
        if config.is_null() && nested.computed {
            return;
        }
        if planned.is_unknown() {
            return self.report(Rule::PlanBlocksKnown,
                "attribute representing nested block must not be unknown itself; set nested attribute values to unknown instead",
            );
        }
        self.check_nested_elements(nested, values);
    }

    /// Checks blocks that are known and not null, each with its counterpart in the configuration.
    fn check_nested_elements(&mut self, nested: &NestedBlock, values: &PlanValues) {
        let PlanValues { config, planned, .. } = values;
        let counts = (planned.children().len(), config.children().len());
        match nested.nesting {
            Nesting::Single | Nesting::Group => self.check_block(&nested.block, values),
            Nesting::List if counts.0 != counts.1 => self.report(
                Rule::PlanElements,
                format!(
                    "block count in plan ({}) disagrees with count in config ({})",
                    counts.0, counts.1
                ),
            ),
            Nesting::List => {
                for index in 0..counts.0 {
                    let Some(element) = values.element_at(index) else { continue };
                    self.check_at_step(Step::Index(index.into()), |check| {
                        check.check_block_element(&nested.block, &element);
                    });
                }
            }
            Nesting::Map => {
                self.check_each_key(values, |check, element| {
                    check.check_block_element(&nested.block, element);
                });
            }
            // A provider may change the attributes that identify a set element, so only this much
            // can be checked.
            Nesting::Set => {
                if planned.children().iter().any(Value::is_unknown) {
                    self.report_unknown_element();
                }
            }
        }
    }

    fn check_block_element(&mut self, block: &Block, values: &PlanValues) {
        if values.planned.is_unknown() {
            self.report_unknown_element();
        } else {
            self.check_block(block, values);
        }
    }

    fn report_unknown_element(&mut self) {
        self.report(Rule::PlanBlocksKnown,
            "element representing nested block must not be unknown itself; set nested attribute values to unknown instead",
        );
    }
}
