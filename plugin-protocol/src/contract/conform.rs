//! The rules about objects. Each function compares one answer with its request and returns
//! the violations.

mod plan;
mod result;

pub(super) use plan::plan_violations;
pub use result::compatibility_violations;

use formwork_value::schema::Block;
use formwork_value::{Path, Plain, Value};

use super::{Rule, Violation};

/// Violations of the rule that every write-only attribute is null in every answer.
pub(super) fn write_only_violations(block: &Block, value: &Plain) -> Vec<Violation> {
    let paths = block.write_only_paths(value.value());
    let is_set = |path: &&Path| path.find(value.value()).is_some_and(|part| !part.is_null());
    paths
        .iter()
        .filter(is_set)
        .map(|path| Violation::new(Rule::WriteOnlyNull, path, "write-only attribute is not null"))
        .collect()
}

/// Violations of the rule that a value is wholly known: one for each unknown part.
pub(super) fn unknown_violations(value: &Plain) -> Vec<Violation> {
    let mut violations = Vec::new();
    value.value().walk(&mut |path, part| {
        if part.is_unknown() {
            violations.push(Violation::new(Rule::ObjectKnown, path, "the value is unknown"));
        }
        // Known parts are not entered, so large known values cost little.
        !part.is_wholly_known()
    });
    // The elements of a set have one path among them.
    violations.dedup();
    violations
}

/// Violations of the rule that a value has the type its schema implies. Values that were decoded by
/// the schema have it; others come from providers in this process.
pub(super) fn type_violations(block: &Block, value: &Plain) -> Vec<Violation> {
    let expected = block.implied_type();
    if value.value().ty().conforms_to(&expected) {
        return Vec::new();
    }
    let actual = value.value().ty();
    // Run for its message, which has a path. A value that it accepts still has the wrong type.
    let message = match block.coerce(value.value()) {
        Err(mismatch) => {
            return vec![Violation::new(Rule::ObjectType, &mismatch.path, mismatch.reason)];
        }
        Ok(_) => format!("the value has the type {actual}, but the schema implies {expected}"),
    };
    vec![Violation::new(Rule::ObjectType, &Path::root(), message)]
}

/// Violations of the rule that the plan of a destruction is null.
pub(super) fn destroy_plan_violations(planned: &Plain) -> Vec<Violation> {
    if planned.value().is_null() {
        return Vec::new();
    }
    vec![Violation::new(Rule::DestroyPlanNull, &Path::root(), "planned a non-null destroy value")]
}

/// The answer that a host uses for a provider that does not plan destruction itself. Its private
/// data are those of the prior object.
#[must_use]
pub fn default_destroy_plan(block: &Block) -> Plain {
    Value::null(block.implied_type()).split_marks().0
}

#[cfg(test)]
mod tests;
