//! Checks an applied object against the planned one. Also checks the second plan, made while
//! applying, against the first.
//!
//! Known planned values must be applied; an unknown one may become any value within its
//! refinements.

use std::collections::HashMap;

use formwork_value::schema::{Block, NestedBlock, Nesting};
use formwork_value::{Path, Plain, Refinement, Step, Str, Type, Unknown, Value, convert};

use super::super::element_index::{ElementIndex, ElementKeyParts, hash_whole_element};
use super::super::inspect_values::{
    attribute_value, display_value, element_under_key, map_elements_by_key,
};
use super::super::{Rule, Violation};

/// Returns the differences between an actual object and its plan. Empty if it conforms.
#[must_use]
pub fn compatibility_violations(block: &Block, planned: &Plain, actual: &Plain) -> Vec<Violation> {
    let mut check = ResultChecker { path: Path::root(), violations: Vec::new() };
    check.check_block(block, planned.value(), actual.value());
    check.violations
}

struct ResultChecker {
    path: Path,
    violations: Vec<Violation>,
}

/// Whether the applied part may follow from the planned part.
trait ElementComparison {
    fn compare(&self, check: &mut ResultChecker, planned: &Value, actual: &Value);
}

/// As a block of this schema.
impl ElementComparison for Block {
    fn compare(&self, check: &mut ResultChecker, planned: &Value, actual: &Value) {
        check.check_block(self, planned, actual);
    }
}

/// As a value without a schema.
struct ComparisonWithoutSchema;

impl ElementComparison for ComparisonWithoutSchema {
    fn compare(&self, check: &mut ResultChecker, planned: &Value, actual: &Value) {
        check.compare_values(planned, actual);
    }
}

impl ResultChecker {
    fn report(&mut self, rule: Rule, message: impl Into<String>) {
        self.violations.push(Violation::new(rule, &self.path, message));
    }

    fn report_quoting_values(&mut self, rule: Rule, message: String) {
        self.violations.push(Violation::new_quoting_values(rule, &self.path, message));
    }

    fn check_at_step(&mut self, step: Option<Step>, check: impl FnOnce(&mut Self)) {
        let n_steps = self.path.0.len();
        self.path.0.extend(step);
        check(self);
        self.path.0.truncate(n_steps);
    }

    fn check_block(&mut self, block: &Block, planned: &Value, actual: &Value) {
        let root = if self.path.0.is_empty() { "Root object " } else { "" };
        // Terraform's words, which acceptance tests of providers match.
        match (planned.is_null(), actual.is_null()) {
            (true, true) => return,
            (true, false) => {
                return self
                    .report(Rule::ResultExistence, format!("{root}was absent, but now present"));
            }
            (false, true) => {
                return self
                    .report(Rule::ResultExistence, format!("{root}was present, but now absent"));
            }
            (false, false) => {}
        }
        let part = |object, name: &Str| attribute_value(object, name, || Type::Dynamic);
        for (name, attr) in &block.attributes {
            self.check_at_step(Some(Step::Attribute(name.clone())), |check| {
                let n_violations = check.violations.len();
                check.compare_values(&part(planned, name), &part(actual, name));
                if attr.sensitive && check.violations.len() > n_violations {
                    // The exact difference is sensitive.
                    check.violations.truncate(n_violations);
                    check.report(Rule::ResultValue, "inconsistent values for sensitive attribute");
                }
            });
        }
        for (name, nested) in &block.blocks {
            self.check_at_step(Some(Step::Attribute(name.clone())), |check| {
                check.check_nested_block(nested, &part(planned, name), &part(actual, name));
            });
        }
    }

    fn check_nested_block(&mut self, nested: &NestedBlock, planned: &Value, actual: &Value) {
        if nested.computed {
            if actual.is_null() && nested.nesting != Nesting::Single {
                return self.report(Rule::ResultBlocksNotNull, "computed blocks must not be null");
            }
            // Unknown as a whole, which only computed blocks (protocol 6.11) may be: any value of
            // the type may come of it.
            if planned.is_unknown() {
                return self.compare_values(planned, actual);
            }
        }
        match nested.nesting {
            // A `dynamic` block over an unknown value may have produced no blocks.
            Nesting::Single | Nesting::Group => {
                if !(planned.is_unknown() && actual.is_null()) {
                    self.check_block(&nested.block, planned, actual);
                }
            }
            // As in Terraform, collections of blocks are not compared while one side is unknown or
            // null.
            _ if [planned, actual].iter().any(|side| side.is_unknown() || side.is_null()) => {}
            Nesting::List => {
                if self.check_same_count(planned, actual) {
                    let pairs = planned.children().iter().zip(actual.children());
                    for (index, (planned, actual)) in pairs.enumerate() {
                        self.check_at_step(Some(Step::Index(index.into())), |check| {
                            check.check_block(&nested.block, planned, actual);
                        });
                    }
                }
            }
            Nesting::Map => self.check_keyed_blocks(&nested.block, planned, actual),
            Nesting::Set => self.compare_sets(&nested.block, "block set length", planned, actual),
        }
    }

    fn check_same_count(&mut self, planned: &Value, actual: &Value) -> bool {
        let (planned_count, actual_count) = (planned.children().len(), actual.children().len());
        if planned_count != actual_count {
            self.report(
                Rule::ResultElements,
                format!("block count changed from {planned_count} to {actual_count}"),
            );
        }
        planned_count == actual_count
    }

    fn check_keyed_blocks(&mut self, block: &Block, planned: &Value, actual: &Value) {
        for (key, planned) in map_elements_by_key(planned) {
            match element_under_key(actual, key) {
                Some(actual) => self.check_at_step(Some(Step::Key(key.clone())), |check| {
                    check.check_block(block, planned, actual);
                }),
                None => {
                    self.report(Rule::ResultElements, format!("block key {key:?} has vanished"));
                }
            }
        }
        for (key, _) in
            map_elements_by_key(actual).filter(|(key, _)| element_under_key(planned, key).is_none())
        {
            self.report(Rule::ResultElements, format!("new block key {key:?} has appeared"));
        }
    }

    fn compare_values(&mut self, planned: &Value, actual: &Value) {
        let planned_type = planned.ty();
        // An unknown type promises nothing, so any value conforms.
        if planned_type == Type::Dynamic {
            return;
        }
        let actual_type = actual.ty();
        if !actual_type.conforms_to(&planned_type) {
            let reason = convert::explain_mismatch(&actual_type, &planned_type);
            return self.report(Rule::ResultType, format!("wrong final value type: {reason}"));
        }
        match (planned, actual) {
            (Value::Unknown(unknown), _) => {
                if !may_unknown_become(unknown, actual) {
                    let (planned, actual) = (describe_unknown(unknown), display_value(actual));
                    self.report_quoting_values(Rule::ResultPlaceholder, format!(
                        "final value {actual} does not conform to planning placeholder {planned}"
                    ));
                }
            }
            (Value::Null(_), Value::Null(_)) => {}
            (_, Value::Null(_)) => {
                self.report_quoting_values(
                    Rule::ResultValue,
                    format!("was {}, but now null", display_value(planned)),
                );
            }
            (Value::Null(_), _) => {
                self.report_quoting_values(
                    Rule::ResultValue,
                    format!("was null, but now {}", display_value(actual)),
                );
            }
            (_, Value::Unknown(_)) => self.report(Rule::ResultKnown, "was known, but now unknown"),
            (Value::Set(_), _) => {
                self.compare_sets(&ComparisonWithoutSchema, "length", planned, actual);
            }
            (Value::Bool(_) | Value::Number(_) | Value::String(_), _) => {
                if planned != actual {
                    let (planned, actual) = (display_value(planned), display_value(actual));
                    self.report_quoting_values(
                        Rule::ResultValue,
                        format!("was {planned}, but now {actual}"),
                    );
                }
            }
            _ => self.compare_parts(planned, actual),
        }
    }

    /// Compares the parts of lists, maps, tuples and objects by the step that leads to them.
    fn compare_parts(&mut self, planned: &Value, actual: &Value) {
        for (index, part) in planned.children().iter().enumerate() {
            let Some(step) = planned.step_to_child(index) else { continue };
            match actual.child_position(&step).and_then(|index| actual.children().get(index)) {
                Some(actual) => {
                    self.check_at_step(Some(step), |check| check.compare_values(part, actual));
                }
                None => self.report(
                    Rule::ResultElements,
                    format!("element {} has vanished", display_step(&step)),
                ),
            }
        }
        for index in 0..actual.children().len() {
            if let Some(step) = actual.step_to_child(index)
                && planned.child_position(&step).is_none()
            {
                self.report(
                    Rule::ResultElements,
                    format!("new element {} has appeared", display_step(&step)),
                );
            }
        }
    }

    /// Compares sets: each planned element must have become some actual one, and each actual one
    /// have come from some planned one. Elements that turn out equal merge, but none are added.
    fn compare_sets(
        &mut self,
        element: &dyn ElementComparison,
        subject: &str,
        planned: &Value,
        actual: &Value,
    ) {
        let (planned_elements, actual_elements) = (planned.children(), actual.children());
        let mut matched = vec![false; actual_elements.len()];
        let mut unmatched = Vec::new();
        let mut candidates = ElementIndex::new(actual_elements);
        let mut matched_elements: HashMap<u64, (&Value, bool)> = HashMap::new();
        for planned in planned_elements {
            // Many unknown elements are alike; what came of one may have come of all.
            let fingerprint = hash_whole_element(planned);
            let is_matched = match matched_elements.get(&fingerprint) {
                // Compared as well: different elements may share a fingerprint.
                Some((equal_planned, is_matched)) if *equal_planned == planned => *is_matched,
                _ => {
                    let mut is_matched = false;
                    for position in candidates
                        .candidate_positions(key_parts_of_planned_element(planned), planned)
                    {
                        // No early end: several actual elements may come of planned ones that
                        // differ in unknown parts only.
                        if self.is_element_compatible(element, planned, &actual_elements[*position])
                        {
                            is_matched = true;
                            matched[*position] = true;
                        }
                    }
                    is_matched
                }
            };
            matched_elements.insert(fingerprint, (planned, is_matched));
            if !is_matched {
                unmatched.push(planned);
            }
        }
        self.report_lost_elements(&unmatched);
        // After a loss, a new element is usually the lost one changed: naming both would repeat it.
        if unmatched.is_empty() {
            for (actual, _) in
                actual_elements.iter().zip(&matched).filter(|(_, matched)| !**matched)
            {
                let actual = display_value(actual);
                self.report_quoting_values(
                    Rule::ResultElements,
                    format!(
                        "actual set element {actual} does not correlate with any element in plan"
                    ),
                );
            }
        }
        if planned_elements.len() < actual_elements.len() {
            self.report(
                Rule::ResultElements,
                format!(
                    "{subject} changed from {} to {}",
                    planned_elements.len(),
                    actual_elements.len()
                ),
            );
        }
    }

    fn report_lost_elements(&mut self, lost: &[&Value]) {
        for planned in lost {
            let planned = display_value(planned);
            self.report_quoting_values(
                Rule::ResultElements,
                format!(
                    "planned set element {planned} does not correlate with any element in actual"
                ),
            );
        }
    }

    fn is_element_compatible(
        &self,
        element: &dyn ElementComparison,
        planned: &Value,
        actual: &Value,
    ) -> bool {
        let mut trial = Self { path: self.path.clone(), violations: Vec::new() };
        element.compare(&mut trial, planned, actual);
        trial.violations.is_empty()
    }
}

/// Parts of a planned set element that a corresponding applied one must share: simple known
/// attributes, or the whole of a known value that is not an object.
fn key_parts_of_planned_element(planned: &Value) -> ElementKeyParts {
    let is_simple =
        |part: &Value| matches!(part, Value::Bool(_) | Value::Number(_) | Value::String(_));
    match planned {
        Value::Object(object) => {
            let known_attributes = object.iter().filter(|(_, part)| is_simple(part));
            ElementKeyParts::Attributes(known_attributes.map(|(name, _)| name.clone()).collect())
        }
        _ if planned.is_wholly_known() => ElementKeyParts::Whole,
        _ => ElementKeyParts::Attributes(Vec::new()),
    }
}

/// Whether an unknown value may have become this one, by the known facts about it.
fn may_unknown_become(unknown: &Unknown, actual: &Value) -> bool {
    let refinement = unknown.refinement();
    match actual {
        // A value that is still unknown may still turn out right.
        Value::Unknown(_) => true,
        Value::Null(_) => !refinement.not_null,
        Value::String(text) => {
            refinement.prefix.as_ref().is_none_or(|prefix| text.starts_with(prefix.as_str()))
        }
        Value::Number(number) => {
            let is_above_lower = refinement
                .lower
                .as_ref()
                .is_none_or(|(bound, inclusive)| number > bound || (*inclusive && number == bound));
            let is_below_upper = refinement
                .upper
                .as_ref()
                .is_none_or(|(bound, inclusive)| number < bound || (*inclusive && number == bound));
            is_above_lower && is_below_upper
        }
        Value::List(_) | Value::Set(_) | Value::Map(_) => {
            let length = actual.children().len() as u64;
            // A set with unknown elements may still shrink.
            let min_length = if actual.is_wholly_known() { refinement.min_length } else { 0 };
            length >= min_length
                && refinement.max_length.is_none_or(|max_length| length <= max_length)
        }
        _ => true,
    }
}

/// Describes an unknown value with its refinements, for a message.
fn describe_unknown(unknown: &Unknown) -> String {
    let Refinement { not_null, prefix, lower, upper, min_length, max_length } =
        unknown.refinement();
    let mut constraints = Vec::new();
    if *not_null {
        constraints.push("not null".to_owned());
    }
    constraints.extend(prefix.iter().map(|prefix| format!("beginning with {:?}", prefix.as_str())));
    constraints.extend(lower.iter().map(|(bound, inclusive)| {
        format!("{} {bound}", if *inclusive { "at least" } else { "above" })
    }));
    constraints.extend(upper.iter().map(|(bound, inclusive)| {
        format!("{} {bound}", if *inclusive { "at most" } else { "below" })
    }));
    constraints.extend((*min_length > 0).then(|| format!("of length {min_length} or more")));
    constraints.extend(max_length.iter().map(|max| format!("of length {max} or less")));
    format!("(unknown {}: {})", unknown.ty().friendly_name(), constraints.join(", "))
}

fn display_step(step: &Step) -> String {
    match step {
        Step::Attribute(name) | Step::Key(name) => format!("{:?}", name.as_str()),
        Step::Index(index) => index.to_string(),
    }
}
