//! Checks all answers with an object. An exchange is one answer with the values that it is compared
//! with. The caller decides about the consequences of a broken rule.

use formwork_value::schema::Block;
use formwork_value::{Path, Plain, Type, Value};

use super::conform::{
    compatibility_violations, destroy_plan_violations, plan_violations, type_violations,
    unknown_violations, write_only_violations,
};
use super::requires_replace::missing_replace_path_violations;
use super::{Rule, Violation};
use crate::Payload;

/// The schemas of the type that a call is about.
#[derive(Clone, Copy, Debug)]
pub struct TypeSchemas<'a> {
    /// The schema of its objects.
    pub object: &'a Block,
    /// The type of its identities, if it has any.
    pub identity: Option<&'a Type>,
}

/// A call, with the values that its answer is compared with.
#[derive(Clone, Copy, Debug)]
pub enum Call<'a> {
    /// Any call, of whose answer only the deferral or the identity is judged.
    Any,
    /// A stored object was brought to the newest schema.
    Upgrade,
    /// A real object was read.
    Read,
    /// An object of another type was taken over.
    Move,
    /// A data source was read.
    ReadData,
    /// A change was planned.
    Plan {
        /// The object before; null to create.
        prior: &'a Plain,
        /// The configuration as the provider got it.
        config: &'a Plain,
        /// The paths that force replacement, as the provider named them.
        requires_replace: &'a [Path],
        /// Whether the answer declares the legacy SDK. Its plans are not compared with the
        /// configuration.
        legacy: bool,
    },
    /// The new object of a replacement was planned. Terraform judges only its form.
    PlanReplacement,
    /// The paths that force replacement were named.
    Replace {
        /// The object before.
        prior: &'a Plain,
        /// The paths, as the provider named them.
        paths: &'a [Path],
    },
    /// The end of an object was planned.
    PlanDestroy,
    /// A change that was shown was planned again while applying.
    FinalPlan {
        /// The plan that was shown.
        shown: &'a Plain,
        /// The paths that force replacement now.
        replaced: &'a [Path],
    },
    /// A plan was applied.
    Apply {
        /// The planned object; null to destroy.
        planned: &'a Plain,
        /// Whether the answer declares the legacy SDK. Its objects are not compared with the plan.
        legacy: bool,
    },
    /// An object was imported.
    Import {
        /// The requested resource type.
        asked: &'a str,
        /// The resource type of the object that was found.
        found: &'a str,
    },
    /// An ephemeral resource was opened.
    Open {
        /// Its configuration.
        config: &'a Plain,
    },
}

/// An answer, with the values that it is compared with.
#[derive(Clone, Copy, Debug)]
pub struct AnswerToCheck<'a> {
    call: Call<'a>,
    deferred: bool,
    object: Option<AnsweredObject<'a>>,
    identity: Option<&'a Payload>,
}

/// The object in an answer.
#[derive(Clone, Copy, Debug)]
struct AnsweredObject<'a> {
    value: &'a Plain,
    is_absent: bool,
    /// Whether it was decoded by the schema, and so has its type.
    is_decoded: bool,
}

impl<'a> AnswerToCheck<'a> {
    /// The answer to a call, still empty.
    #[must_use]
    pub fn for_call(call: Call<'a>) -> Self {
        Self { call, deferred: false, object: None, identity: None }
    }

    /// Adds whether the call was deferred, where the host did not allow it.
    #[must_use]
    pub fn with_disallowed_deferral(self, deferred: bool) -> Self {
        Self { deferred, ..self }
    }

    /// Adds the object: as it came, and decoded by the schema.
    #[must_use]
    pub fn with_answered_object(self, payload: &Payload, value: &'a Plain) -> Self {
        // A value from a provider in this process was never decoded, so its type is still
        // unchecked.
        let is_decoded = !matches!(payload, Payload::Value(..));
        let object = AnsweredObject { value, is_absent: *payload == Payload::Absent, is_decoded };
        Self { object: Some(object), ..self }
    }

    /// Adds an object that no schema has decoded.
    #[must_use]
    pub fn with_object_of_unchecked_type(self, value: &'a Plain) -> Self {
        let object = AnsweredObject { value, is_absent: false, is_decoded: false };
        Self { object: Some(object), ..self }
    }

    /// Adds the identity, as it came.
    #[must_use]
    pub fn with_answered_identity(self, identity: Option<&'a Payload>) -> Self {
        Self { identity, ..self }
    }
}

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
    let mut violations = match exchange.object {
        Some(object) => object_violations(&exchange.call, object, schemas.object),
        None => Vec::new(),
    };
    violations.extend(exchange.identity.and_then(|identity| identity_violation(identity, schemas)));
    violations
}

fn object_violations(call: &Call<'_>, object: AnsweredObject<'_>, block: &Block) -> Vec<Violation> {
    let formal = form_violations(call, object, block);
    if !formal.is_empty() {
        return formal;
    }
    let value = object.value;
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

fn identity_violation(identity: &Payload, schemas: &TypeSchemas<'_>) -> Option<Violation> {
    // Providers without identities omit the field.
    if *identity == Payload::Absent {
        return None;
    }
    let root = Path::root();
    let Some(ty) = schemas.identity else {
        let message = "its type has no identities";
        return Some(Violation::new(Rule::IdentityOffered, &root, message));
    };
    match identity.decode(ty) {
        Err(error) => Some(Violation::new(Rule::IdentityType, &root, error.to_string())),
        Ok(value) if value.value().is_null() || value.value().is_wholly_known() => None,
        Ok(_) => Some(Violation::new(Rule::IdentityKnown, &root, "its identity is not known")),
    }
}

#[cfg(test)]
mod tests;
