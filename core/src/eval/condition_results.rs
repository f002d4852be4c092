//! Results of conditions during evaluation. The order of evaluation has no effect, because
//! each result is stored by its object, and a later result of the same condition replaces an
//! earlier one.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::{Display, Formatter};

use super::{ModuleResults, Results};
use crate::addr::{InstanceAddr, InstanceKey, ModuleAddr};
use crate::config::{Config, ModuleNode};
use crate::state::checks::{CheckResult, CheckResults, CheckStatus, CheckSubject, CheckedObject};

/// An object that has conditions.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ConditionSubject {
    /// The module it is in.
    pub module: ModuleAddr,
    /// The subject in the module.
    pub subject: CheckSubject,
    /// The instance key of a resource.
    pub key: InstanceKey,
}

impl ConditionSubject {
    /// An instance of a resource.
    #[must_use]
    pub fn of_instance(addr: &InstanceAddr) -> Self {
        let subject = CheckSubject::Resource(addr.resource.clone());
        Self { module: addr.module.clone(), subject, key: addr.key.clone() }
    }

    /// An object that exists once per module instance.
    #[must_use]
    pub fn of_single_object(module: &ModuleAddr, subject: CheckSubject) -> Self {
        Self { module: module.clone(), subject, key: InstanceKey::None }
    }
}

impl Display for ConditionSubject {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        if !self.module.is_root() {
            write!(f, "{}.", self.module)?;
        }
        write!(f, "{}{}", self.subject, self.key)
    }
}

/// The list of an object's conditions that one belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ConditionListKind {
    /// A precondition.
    Precondition,
    /// A postcondition.
    Postcondition,
    /// The data source of a `check` block: that it can be read.
    Data,
    /// An assertion, or a validation of a variable.
    Assertion,
}

/// The result of a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConditionResult {
    /// Whether the condition is met.
    pub status: CheckStatus,
    /// The message if the condition is not met.
    pub message: Option<String>,
}

/// The verdicts about one object, by list and position there.
type ObjectResults = BTreeMap<(ConditionListKind, usize), ConditionResult>;

/// All condition results of a run.
#[derive(Debug, Default)]
pub struct ConditionResults(RefCell<BTreeMap<ConditionSubject, ObjectResults>>);

impl ConditionResults {
    /// Records the verdict on a condition, which is the one with the index `at` of its rule.
    pub fn set_result(
        &self,
        object: &ConditionSubject,
        rule: ConditionListKind,
        at: usize,
        verdict: ConditionResult,
    ) {
        let mut all = self.0.borrow_mut();
        all.entry(object.clone()).or_default().insert((rule, at), verdict);
    }

    /// Whether a condition of an object is known to have failed.
    #[must_use]
    pub fn has_failed(&self, object: &ConditionSubject) -> bool {
        let all = self.0.borrow();
        let mut verdicts = all.get(object).into_iter().flat_map(BTreeMap::values);
        verdicts.any(|verdict| verdict.status >= CheckStatus::Fail)
    }

    /// The status of an object with these numbers of conditions. `None` if none was evaluated, or
    /// not the one that the others depend on: a data source that was not read again.
    fn checked_object(
        &self,
        subject: &ConditionSubject,
        wanted: &[(ConditionListKind, usize)],
        is_rechecked: bool,
    ) -> Option<CheckedObject> {
        let all = self.0.borrow();
        let verdicts = all.get(subject)?;
        if is_rechecked
            && wanted.contains(&(ConditionListKind::Data, 1))
            && !verdicts.contains_key(&(ConditionListKind::Data, 0))
        {
            return None;
        }
        let positions = wanted.iter().flat_map(|&(rule, n)| (0..n).map(move |at| (rule, at)));
        let mut status = CheckStatus::Pass;
        let mut messages = Vec::new();
        for position in positions {
            let verdict = verdicts.get(&position);
            status = status.max(verdict.map_or(CheckStatus::Unknown, |verdict| verdict.status));
            messages.extend(verdict.and_then(|verdict| verdict.message.clone()));
        }
        // In an order that does not depend on where they are written.
        messages.sort_unstable();
        let ConditionSubject { module, key, .. } = subject.clone();
        Some(CheckedObject { module, key, status, messages })
    }
}

/// The results of all conditions of a configuration. Objects that were not evaluated this time keep
/// their earlier results. Those that `is_listed` selects are listed even if none was evaluated.
#[must_use]
pub fn summarize_check_results(
    config: &Config,
    results: &Results,
    before: &CheckResults,
    is_listed: impl Fn(&CheckSubject) -> bool,
) -> CheckResults {
    let mut all = Vec::new();
    for node in &config.nodes {
        for (subject, wanted) in subjects_of_module(node) {
            let mut old = before.0.iter();
            let old = old.find(|old| old.module == node.path && old.subject == subject);
            let objects = match subject_instances(results, node, &subject) {
                Some(subjects) => {
                    let is_listed = subjects.is_empty() || is_listed(&subject);
                    let wanted = SubjectConditions { rules: &wanted, is_listed };
                    checked_instances(&results.verdicts, subjects, wanted, old)
                }
                None => old.and_then(|old| old.objects.clone()),
            };
            let status = match &objects {
                Some(_) if !is_module_expanded(config, results, node) => CheckStatus::Unknown,
                Some(objects) => {
                    let statuses = objects.iter().map(|object| object.status);
                    statuses.max().unwrap_or(CheckStatus::Pass)
                }
                None => CheckStatus::Unknown,
            };
            all.push(CheckResult { module: node.path.clone(), subject, status, objects });
        }
    }
    CheckResults(all)
}

/// Whether the instances of a module are known: they are not evaluated when everything is
/// destroyed.
fn is_module_expanded(config: &Config, results: &Results, node: &ModuleNode) -> bool {
    let Some((caller, call)) = config.call_of_module(node) else { return true };
    let called =
        |module: &ModuleResults| module.call_results(&call.site.name)?.expansion().map(drop);
    is_module_expanded(config, results, caller)
        && results.module_instances(&caller.path).into_iter().all(|module| called(module).is_some())
}

/// The conditions of a subject, and whether its instances are listed without results.
#[derive(Clone, Copy)]
struct SubjectConditions<'a> {
    rules: &'a [(ConditionListKind, usize)],
    is_listed: bool,
}

/// The status of the instances of a subject: from this run, otherwise from the previous one. `None` if
/// none was evaluated and they need not be listed.
fn checked_instances(
    verdicts: &ConditionResults,
    subjects: Vec<ConditionSubject>,
    wanted: SubjectConditions<'_>,
    old: Option<&CheckResult>,
) -> Option<Vec<CheckedObject>> {
    let mut any = false;
    let objects = subjects.into_iter().map(|subject| {
        let mut objects = old.into_iter().flat_map(|old| old.objects.iter().flatten());
        let same =
            |object: &&CheckedObject| object.module == subject.module && object.key == subject.key;
        let before = objects.find(same);
        let known = verdicts
            .checked_object(&subject, wanted.rules, before.is_some())
            .or_else(|| before.cloned());
        any |= known.is_some();
        known.unwrap_or_else(|| {
            let ConditionSubject { module, key, .. } = subject;
            CheckedObject { module, key, status: CheckStatus::Unknown, messages: Vec::new() }
        })
    });
    let objects = objects.collect();
    (any || wanted.is_listed).then_some(objects)
}

/// Everything in a module that has conditions, and how many of each kind.
fn subjects_of_module(node: &ModuleNode) -> Vec<(CheckSubject, Vec<(ConditionListKind, usize)>)> {
    let module = &*node.module;
    let checks = module.checks.values().map(|check| {
        let data = (ConditionListKind::Data, usize::from(check.data.is_some()));
        let wanted = vec![data, (ConditionListKind::Assertion, check.asserts.len())];
        (CheckSubject::Check(check.name.clone()), wanted)
    });
    let outputs = module.outputs.values().map(|output| {
        let wanted = vec![(ConditionListKind::Precondition, output.preconditions.len())];
        (CheckSubject::Output(output.name.clone()), wanted)
    });
    let resources = module.resources.values().map(|resource| {
        let lifecycle = &resource.lifecycle;
        let wanted = vec![
            (ConditionListKind::Precondition, lifecycle.preconditions.len()),
            (ConditionListKind::Postcondition, lifecycle.postconditions.len()),
        ];
        (CheckSubject::Resource(resource.name.clone()), wanted)
    });
    let variables = module.variables.values().map(|variable| {
        let wanted = vec![(ConditionListKind::Assertion, variable.validations.len())];
        (CheckSubject::Variable(variable.name.clone()), wanted)
    });
    let all = checks.chain(outputs).chain(resources).chain(variables);
    all.filter(|(_, wanted)| wanted.iter().any(|(_, n)| *n > 0)).collect()
}

/// The instances of a subject, as far as they are known.
fn subject_instances(
    results: &Results,
    node: &ModuleNode,
    subject: &CheckSubject,
) -> Option<Vec<ConditionSubject>> {
    let mut all = Vec::new();
    for module in results.module_instances(&node.path) {
        let judged = |key| ConditionSubject {
            module: module.module_addr().clone(),
            subject: subject.clone(),
            key,
        };
        match subject {
            CheckSubject::Resource(name) => {
                let expansion = module.resource_results(name)?.expansion()?;
                all.extend(expansion.keys().map(judged));
            }
            _ => all.push(judged(InstanceKey::None)),
        }
    }
    Some(all)
}
