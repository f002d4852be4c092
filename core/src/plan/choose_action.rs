//! Chooses the action for one instance, from its prior and planned objects and the causes of a
//! replacement. Pure.

use formwork_value::{Path, Value};

use crate::change::{Action, ActionReason, ReplaceOrder};

/// Inputs of the choice.
pub(crate) struct ActionInputs<'a> {
    /// The object before; null if there is none. For a tainted object: the object.
    pub(crate) prior: &'a Value,
    /// The planned object.
    pub(crate) planned: &'a Value,
    /// Whether the object before is half made.
    pub(crate) tainted: bool,
    /// The changed paths that the provider cannot change in place.
    pub(crate) replace_paths: &'a [Path],
    /// The reason for which the configuration requests a replacement, if it does.
    pub(crate) forced: Option<ActionReason>,
    /// The half of a replacement that comes first.
    pub(crate) order: ReplaceOrder,
}

/// Chooses the action, with a reason where it is not obvious.
pub(crate) fn choose_action(facts: &ActionInputs<'_>) -> (Action, Option<ActionReason>) {
    let replace = Action::Replace(facts.order);
    if facts.prior.is_null() {
        // Terraform reports this reason for new objects, too.
        (Action::Create, facts.forced.filter(|reason| *reason == ActionReason::ReplaceByTriggers))
    } else if facts.tainted {
        // A trigger is a more specific reason than a tainted object; a request is not.
        let triggered = facts.forced.filter(|reason| *reason == ActionReason::ReplaceByTriggers);
        (replace, Some(triggered.unwrap_or(ActionReason::ReplaceBecauseTainted)))
    } else if let Some(reason) = facts.forced {
        (replace, Some(reason))
    } else if !facts.replace_paths.is_empty() {
        (replace, Some(ActionReason::ReplaceBecauseCannotUpdate))
    } else if facts.prior == facts.planned {
        // Marks count: an object of which only the sensitivity changes is updated, in the state
        // only.
        (Action::NoOp, None)
    } else {
        (Action::Update, None)
    }
}

#[cfg(test)]
mod tests {
    use formwork_value::{Marks, Type};

    use super::*;

    fn object_with_size(size: i64) -> Value {
        Value::object([("size", Value::int(size))])
    }

    fn choose_for(change: impl FnOnce(&mut ActionInputs<'_>)) -> (Action, Option<ActionReason>) {
        let (prior, planned) = (object_with_size(1), object_with_size(2));
        let mut facts = ActionInputs {
            prior: &prior,
            planned: &planned,
            tainted: false,
            replace_paths: &[],
            forced: None,
            order: ReplaceOrder::DestroyFirst,
        };
        change(&mut facts);
        choose_action(&facts)
    }

    #[test]
    fn differing_objects_are_updated_and_equal_ones_are_not() {
        assert_eq!(choose_for(|_| ()), (Action::Update, None));
        assert_eq!(choose_for(|facts| facts.planned = facts.prior), (Action::NoOp, None));
    }

    #[test]
    fn an_absent_prior_object_means_create_in_any_case() {
        let null = Value::null(Type::object([("size", Type::Number)]));
        let forced = Some(ActionReason::ReplaceByRequest);
        let decided = |forced| {
            choose_for(|facts| {
                facts.forced = forced;
                facts.prior = Box::leak(Box::new(null.clone()));
            })
        };
        assert_eq!(decided(forced), (Action::Create, None));
        let triggered = Some(ActionReason::ReplaceByTriggers);
        assert_eq!(decided(triggered), (Action::Create, triggered));
    }

    #[test]
    fn a_change_of_only_the_sensitivity_is_an_update() {
        let marked = object_with_size(1).mark(Marks::SENSITIVE);
        let decided = choose_for(|facts| facts.planned = Box::leak(Box::new(marked)));
        assert_eq!(decided, (Action::Update, None));
    }

    #[test]
    fn a_replacement_reports_its_strongest_reason() {
        let replace = Action::Replace(ReplaceOrder::CreateFirst);
        let path = [Path::root().attribute("size")];
        let decided = |tainted, forced| {
            choose_for(|facts| {
                facts.order = ReplaceOrder::CreateFirst;
                facts.tainted = tainted;
                facts.forced = forced;
                facts.replace_paths = Box::leak(Box::new(path.clone()));
            })
        };
        assert_eq!(decided(false, None), (replace, Some(ActionReason::ReplaceBecauseCannotUpdate)));
        let requested = Some(ActionReason::ReplaceByRequest);
        assert_eq!(decided(false, requested), (replace, requested));
        assert_eq!(decided(true, requested), (replace, Some(ActionReason::ReplaceBecauseTainted)));
        let triggered = Some(ActionReason::ReplaceByTriggers);
        assert_eq!(decided(true, triggered), (replace, triggered));
    }
}
