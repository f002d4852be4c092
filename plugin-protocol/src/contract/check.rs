//! Checks all answers with an object or an identity. An exchange is one answer with the values that it is
//! compared with. The caller decides about the consequences of a broken rule. Rules with a file of their own
//! are in `rule`.

use formwork_value::schema::Block;
use formwork_value::{Path, Plain, Value};

use super::answer::{AnswerToCheck, AnsweredObject, Call, JudgedAnswer, TypeSchemas};
use super::conform::{
    compatibility_violations, destroy_plan_violations, plan_violations, type_violations,
    unknown_violations, write_only_violations,
};
use super::requires_replace::missing_replace_path_violations;
use super::rule::CHECKS_IN_FILES;
use super::{Rule, Violation};

/// Judges an answer. Returns the violations, none if all rules hold.
///
/// Rules about the form of an object come first. If one is broken, those about its content are not
/// checked: they would only repeat it.
#[must_use]
pub fn check_answer(exchange: &AnswerToCheck<'_>, schemas: &TypeSchemas<'_>) -> Vec<Violation> {
    let root = Path::root();
    // First: values in a deferred answer are placeholders, which no other rule applies to.
    if exchange.deferred {
        let message = "it deferred the operation, although the host did not allow that";
        return vec![Violation::new(Rule::NotDeferred, &root, message)];
    }
    // The given schema is that of the requested type. An object of another type would fail it for
    // no reason.
    if let Call::Import { asked, found } = exchange.call
        && asked != found
    {
        let message = format!("it found an object of type {found:?}");
        return vec![Violation::new(Rule::ImportType, &root, message)];
    }
    let mut violations = Vec::new();
    let mut judged = JudgedAnswer::new(exchange, schemas);
    if let Some(object) = exchange.object {
        violations = form_violations(&exchange.call, object, schemas.object);
        if violations.is_empty() {
            violations = content_violations(&exchange.call, object.value, schemas.object);
        } else {
            judged.answer.object = None;
        }
    }
    violations.extend(CHECKS_IN_FILES.iter().filter_map(|check| check(&judged)));
    violations
}

/// The rules about the values of an object whose form is right.
fn content_violations(call: &Call<'_>, value: &Plain, block: &Block) -> Vec<Violation> {
    match *call {
        Call::Plan { prior, config, requires_replace: paths, legacy } => {
            // Plans of SDKv2 break these rules by design. Terraform only logs that
            // (`legacy_type_system`).
            let mut violations = match legacy {
                true => Vec::new(),
                false => plan_violations(block, prior, config, value),
            };
            // The flag does not permit this: a path to no value is a bug in every SDK.
            violations.extend(missing_replace_path_violations(prior, value, paths));
            violations
        }
        Call::Replace { prior, paths } => missing_replace_path_violations(prior, value, paths),
        Call::FinalPlan { shown, replaced } => {
            plan_at_apply_violations(block, shown, value, replaced)
        }
        Call::Apply { planned, legacy } => {
            // The flag excuses values only. Whether an object exists is required of every provider.
            let is_kept = !planned.value().is_null() && !value.value().is_null();
            match legacy && is_kept {
                true => Vec::new(),
                false => compatibility_violations(block, planned, value),
            }
        }
        Call::Open { config } => {
            // As in Terraform, the result of an open is judged like a plan without a prior.
            let prior = Value::null(block.implied_type()).split_marks().0;
            let mut violations = plan_violations(block, &prior, config, value);
            // A plan may have unknown computed values. After an open, no later step can make them
            // known.
            violations.extend(unknown_violations(value));
            violations
        }
        Call::Any
        | Call::Upgrade
        | Call::Read
        | Call::Move
        | Call::ReadData
        | Call::PlanReplacement
        | Call::PlanDestroy
        | Call::Import { .. } => Vec::new(),
    }
}

/// The rules about the form of an object, without regard to its values.
fn form_violations(call: &Call<'_>, object: AnsweredObject<'_>, block: &Block) -> Vec<Violation> {
    let (root, value) = (Path::root(), object.value);
    let single_violation = |rule, message: &str| vec![Violation::new(rule, &root, message)];
    let is_null = value.value().is_null();
    match *call {
        // Terraform reads a `DynamicValue` without content as null, and would drop the object from
        // the state.
        Call::Upgrade | Call::Read | Call::Apply { .. } if object.is_absent => {
            return single_violation(Rule::ObjectPresent, "it contains no object, not even null");
        }
        Call::Move | Call::ReadData | Call::Import { .. } if is_null => {
            return single_violation(Rule::ObjectNotNull, "the object is null");
        }
        Call::PlanDestroy => return destroy_plan_violations(value),
        // Judged when the plan was made.
        Call::Any | Call::Replace { .. } | Call::FinalPlan { .. } => return Vec::new(),
        _ => {}
    }
    let mut violations = write_only_violations(block, value);
    if !object.is_decoded && violations.is_empty() {
        violations = type_violations(block, value);
    }
    // Plans may hold unknown values, and an imported object is read again before it is used.
    match *call {
        Call::Upgrade | Call::Read | Call::Move | Call::ReadData => {
            violations.extend(unknown_violations(value));
        }
        Call::Apply { planned, .. } => {
            violations.extend(unknown_violations(value).into_iter().map(|mut violation| {
                violation.message.push_str(", but after applying every value must be known");
                violation
            }));
            if violations.is_empty() && planned.value().is_null() && !is_null {
                let message = "an object that is to be destroyed is still there";
                return single_violation(Rule::DestroyedNull, message);
            }
        }
        _ => {}
    }
    violations
}

fn plan_at_apply_violations(
    block: &Block,
    shown: &Plain,
    planned: &Plain,
    replaced: &[Path],
) -> Vec<Violation> {
    let mut violations = compatibility_violations(block, shown, planned);
    for violation in &mut violations {
        let prefix = "the plan made while applying differs from the one that was shown";
        violation.message = format!("{prefix}: {}", violation.message);
    }
    // An update that became a replacement would destroy an object without the user's consent.
    if !replaced.is_empty() {
        let paths: Vec<String> = replaced.iter().map(ToString::to_string).collect();
        let message = format!(
            "an update was shown, and now a change of {} demands a replacement",
            paths.join(", ")
        );
        let violation = Violation::new(Rule::FinalPlanInPlace, &Path::root(), message);
        violations.insert(0, violation);
    }
    violations
}

#[cfg(test)]
mod tests;
