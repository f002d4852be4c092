//! The timing of the destruction of an object, relative to its successor and to the changes of its
//! dependencies. A pure function over the plan.
//!
//! An object is *replaced create-first* if its successor is created before it is destroyed, and
//! *destroyed first* if it is the other way round. The first rule that matches decides:
//!
//! | planned action | condition | timing |
//! | --- | --- | --- |
//! | replace create-first | made after an object that is destroyed first | [`DestroyTiming::AfterSuccessor`] |
//! | replace create-first | | [`DestroyTiming::Last`] |
//! | delete | made after an object that is destroyed first | [`DestroyTiming::First`] |
//! | delete | deposed, or the state has `create_before_destroy` | [`DestroyTiming::Last`] |
//! | delete | an object to which one of the rules for `Last` and `AfterSuccessor` above applies was made after it | [`DestroyTiming::Last`] |
//! | any other | | [`DestroyTiming::First`] |

use std::collections::BTreeSet;

use crate::addr::ConfigResourceAddr;
use crate::change::{Action, Change, ReplaceOrder};
use crate::plan::Plan;

/// The timing of the destruction of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DestroyTiming {
    /// Before its successor is created and before its dependencies are changed.
    First,
    /// After its successor is created, and before its dependencies are changed: one of them is destroyed
    /// before its successor is created, so the object cannot wait for changes.
    AfterSuccessor,
    /// After its successor is created and everything that needed it is changed.
    Last,
}

impl DestroyTiming {
    /// Whether the successor is created before the object is destroyed.
    pub(crate) fn is_after_successor(self) -> bool {
        match self {
            Self::First => false,
            Self::AfterSuccessor | Self::Last => true,
        }
    }
}

/// The facts of a plan on which the timing of each destruction depends.
#[derive(Debug, Default)]
pub(super) struct DestroyTimings {
    /// Resources with an instance that is destroyed before its successor is created.
    destroyed_first: BTreeSet<ConfigResourceAddr>,
    /// Resources after which an object was made that is destroyed after its successor is created.
    below: BTreeSet<ConfigResourceAddr>,
}

impl DestroyTimings {
    pub(super) fn from_plan(plan: &Plan) -> Self {
        let mut timings = Self::default();
        for change in plan.changes.values() {
            if change.action == Action::Replace(ReplaceOrder::DestroyFirst) {
                timings.destroyed_first.insert(change.addr.resource_addr().config_addr());
            }
        }
        // No resource is below another one yet, so the last rule does not apply.
        let late =
            plan.changes.values().filter(|change| timings.timing_of(change).is_after_successor());
        let below = late.flat_map(|change| change.prior_dependencies.iter().cloned());
        timings.below = below.collect();
        timings
    }

    /// The timing of the destruction of a changed object.
    pub(super) fn timing_of(&self, change: &Change) -> DestroyTiming {
        let goes_first = self.must_destroy_first(change);
        match change.action {
            Action::Replace(ReplaceOrder::CreateFirst) if goes_first => {
                DestroyTiming::AfterSuccessor
            }
            Action::Replace(ReplaceOrder::CreateFirst) => DestroyTiming::Last,
            Action::Delete if goes_first => DestroyTiming::First,
            // A deposed object was replaced create-first, so something may still need it.
            Action::Delete if change.create_before_destroy || change.deposed.is_some() => {
                DestroyTiming::Last
            }
            Action::Delete if self.below.contains(&change.addr.resource_addr().config_addr()) => {
                DestroyTiming::Last
            }
            _ => DestroyTiming::First,
        }
    }

    /// Whether an object was made after something that is destroyed before its successor is created.
    fn must_destroy_first(&self, change: &Change) -> bool {
        // It must go before that, so it cannot wait for anything that comes after.
        !self.destroyed_first.is_empty()
            && change
                .prior_dependencies
                .iter()
                .any(|dependency| self.destroyed_first.contains(dependency))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bytes::Bytes;
    use formwork_value::Value;

    use super::*;
    use crate::addr::DeposedKey;

    const CREATE_FIRST: Action = Action::Replace(ReplaceOrder::CreateFirst);
    const DESTROY_FIRST: Action = Action::Replace(ReplaceOrder::DestroyFirst);

    /// A change of an instance whose object was made after others.
    fn change(addr: &str, action: Action, dependencies: &[&str]) -> Change {
        let names = dependencies.iter().map(|dependency| {
            let addr: crate::addr::InstanceAddr = dependency.parse().unwrap();
            addr.resource_addr().config_addr()
        });
        Change {
            addr: addr.parse().unwrap(),
            deposed: None,
            moved_from: None,
            importing: None,
            provider: "provider[\"example.com/acme/t\"]".parse().unwrap(),
            action,
            reason: None,
            before: Value::string("before"),
            after: Value::string("after"),
            replace_paths: Vec::new(),
            config_secrets: None,
            private: Bytes::new(),
            config_known: true,
            identity: None,
            dependencies: Arc::default(),
            prior_dependencies: Arc::new(names.collect()),
            create_before_destroy: false,
        }
    }

    /// The timing of the first of several changes.
    fn timing(changes: &[Change]) -> DestroyTiming {
        let mut plan = Plan::default();
        for change in changes {
            plan.changes
                .insert((change.addr.clone(), change.deposed.clone()), Box::new(change.clone()));
        }
        DestroyTimings::from_plan(&plan).timing_of(&changes[0])
    }

    #[test]
    fn the_first_rule_that_matches_decides() {
        use DestroyTiming::{AfterSuccessor, First, Last};
        let create_first = |change: Change| Change { create_before_destroy: true, ..change };
        let deposed =
            |change: Change| Change { deposed: Some(DeposedKey("00000000".into())), ..change };
        let on_first = || change("t.on", DESTROY_FIRST, &[]);
        for (changes, expected) in [
            (vec![change("t.a", CREATE_FIRST, &["t.on"]), on_first()], AfterSuccessor),
            (vec![change("t.a", CREATE_FIRST, &["t.on"])], Last),
            (vec![change("t.a", DESTROY_FIRST, &["t.on"]), on_first()], First),
            (vec![create_first(change("t.a", Action::Delete, &["t.on"])), on_first()], First),
            (vec![deposed(change("t.a", Action::Delete, &["t.on"])), on_first()], First),
            (vec![create_first(change("t.a", Action::Delete, &[]))], Last),
            (vec![deposed(change("t.a", Action::Delete, &[]))], Last),
            (vec![change("t.a", Action::Delete, &[])], First),
            (vec![change("t.a", Action::Delete, &[]), change("t.b", CREATE_FIRST, &["t.a"])], Last),
            (
                vec![
                    change("t.a", Action::Delete, &[]),
                    change("t.b", CREATE_FIRST, &["t.a", "t.on"]),
                    on_first(),
                ],
                Last,
            ),
            // An object that is destroyed last because of another one does not affect a third one.
            (
                vec![
                    change("t.a", Action::Delete, &[]),
                    change("t.b", Action::Delete, &["t.a"]),
                    change("t.c", CREATE_FIRST, &["t.b"]),
                ],
                First,
            ),
        ] {
            let actual = timing(&changes);
            let about: Vec<_> =
                changes.iter().map(|change| (&change.addr, change.action)).collect();
            assert_eq!(actual, expected, "{about:?}");
        }
    }
}
