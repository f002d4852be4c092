//! Merges the changes of one run to a state into the state that other runs have stored since.

use std::collections::BTreeSet;
use std::sync::Arc;

use formwork_value::Str;

use super::file::StateFile;
use super::{InstanceState, ResourceState, State};
use crate::addr::{InstanceAddr, InstanceKey, ResourceAddr};

/// The instances and root outputs in which two states differ.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StateDifference {
    /// The instances.
    pub instances: BTreeSet<InstanceAddr>,
    /// The names of the outputs.
    pub outputs: BTreeSet<Str>,
}

impl StateDifference {
    /// Compares two states. Resources that both share cost nothing.
    #[must_use]
    pub fn between(before: &State, after: &State) -> Self {
        let mut instances = BTreeSet::new();
        let addrs = before.resources.keys().chain(after.resources.keys());
        for addr in addrs.collect::<BTreeSet<_>>() {
            let (old, new) = (before.resources.get(addr), after.resources.get(addr));
            if let (Some(old), Some(new)) = (old, new)
                && Arc::ptr_eq(old, new)
            {
                continue;
            }
            instances.extend(differing_instances(addr, old, new));
        }
        let names = before.outputs.keys().chain(after.outputs.keys());
        let differs = |name: &&Str| before.outputs.get(*name) != after.outputs.get(*name);
        let outputs = names.filter(differs).cloned().collect();
        Self { instances, outputs }
    }

    /// Whether the states are the same.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.instances.is_empty() && self.outputs.is_empty()
    }
}

/// The instances of a resource that differ.
fn differing_instances(
    addr: &ResourceAddr,
    old: Option<&Arc<ResourceState>>,
    new: Option<&Arc<ResourceState>>,
) -> Vec<InstanceAddr> {
    let keys =
        [old, new].into_iter().flatten().flat_map(|resource_state| resource_state.instances.keys());
    let keys: BTreeSet<_> = keys.collect();
    let differs = |key: &&InstanceKey| {
        // With the provider: an instance changes too when its resource gets another provider
        // configuration.
        let [old, new] = [old, new].map(|resource_state| {
            resource_state.and_then(|resource_state| {
                Some((&resource_state.provider, resource_state.instances.get(*key)?))
            })
        });
        old != new
    };
    keys.into_iter().filter(differs).map(|key| addr.instance_addr(key.clone())).collect()
}

/// Rights of a run to parts of a state that other runs change at the same time.
pub trait StateOwnership {
    /// Whether the run has claimed an instance to change it.
    fn has_claimed(&self, addr: &InstanceAddr) -> bool;

    /// Whether the run has claimed a root output to change it.
    fn has_claimed_output(&self, name: &str) -> bool;

    /// Whether another run has claimed an instance.
    fn is_claimed_by_others(&self, addr: &InstanceAddr) -> bool;
}

/// Merges the changes of a run into the stored state. `base` is the state from which the run began, or
/// which it merged last, and `ours` is its current state.
///
/// A change of a claimed instance is always merged, so call [`find_overtaken_instance`] first. Another change,
/// such as the result of a refresh, is merged only if the stored instance is the one that the run began with
/// and no other run is changing it.
#[must_use]
pub fn merge_states(
    base: &StateFile,
    ours: &StateFile,
    stored: &StateFile,
    ownership: &dyn StateOwnership,
) -> StateFile {
    let changed = StateDifference::between(&base.state, &ours.state);
    let mut merged = stored.clone();
    for addr in &changed.instances {
        let is_unmoved = || {
            find_instance(&stored.state, addr) == find_instance(&base.state, addr)
                && !ownership.is_claimed_by_others(addr)
        };
        if ownership.has_claimed(addr) || is_unmoved() {
            put_instance(&mut merged.state, addr, &ours.state);
        }
    }
    for name in &changed.outputs {
        let is_unmoved = || stored.state.outputs.get(name) == base.state.outputs.get(name);
        if ownership.has_claimed_output(name) || is_unmoved() {
            match ours.state.outputs.get(name) {
                Some(output) => drop(merged.state.outputs.insert(name.clone(), output.clone())),
                None => drop(merged.state.outputs.remove(name)),
            }
        }
    }
    // Check results belong to no instance, so those of the last run are used.
    if ours.check_results != base.check_results {
        merged.check_results.clone_from(&ours.check_results);
    }
    merged
}

/// The first instance that a run has claimed and changed, and that the stored state has otherwise than the
/// run left it. Only a program that ignores claims and locks can have changed it there, and a merge would
/// lose its object.
#[must_use]
pub fn find_overtaken_instance(
    base: &StateFile,
    ours: &StateFile,
    stored: &StateFile,
    ownership: &dyn StateOwnership,
) -> Option<InstanceAddr> {
    let changed = StateDifference::between(&base.state, &ours.state).instances;
    changed.into_iter().find(|addr| {
        let is_stored = |file: &StateFile| {
            let [theirs, ours] = [stored, file].map(|file| find_instance(&file.state, addr));
            theirs == ours
                || theirs.map(with_sorted_dependencies) == ours.map(with_sorted_dependencies)
        };
        // Equal to ours where the answer to an earlier write was lost.
        ownership.has_claimed(addr) && !is_stored(base) && !is_stored(ours)
    })
}

/// An instance with the dependencies in the order in which a file has them. A plan has them in another one.
fn with_sorted_dependencies(instance: &InstanceState) -> InstanceState {
    let mut sorted = instance.clone();
    for object in sorted.current.iter_mut().chain(sorted.deposed.values_mut()) {
        let object = Arc::make_mut(object);
        let mut dependencies = (*object.dependencies).clone();
        dependencies.sort_by_key(ToString::to_string);
        // Rarely: only where the objects differ at first sight.
        object.dependencies = Arc::new(dependencies);
    }
    sorted
}

/// The objects of an instance.
#[must_use]
pub fn find_instance<'s>(state: &'s State, addr: &InstanceAddr) -> Option<&'s InstanceState> {
    state.resources.get(&addr.resource_addr())?.instances.get(&addr.key)
}

/// Puts an instance of one state into another one, or removes it there.
fn put_instance(state: &mut State, addr: &InstanceAddr, from: &State) {
    let resource = addr.resource_addr();
    let source = from.resources.get(&resource);
    let new = source.and_then(|resource_state| {
        Some((resource_state, resource_state.instances.get(&addr.key)?))
    });
    match new {
        Some((source, instance)) => {
            let destination = state.resource_or_insert(resource, &source.provider);
            destination.provider = source.provider.clone();
            *destination.instances.or_default(&addr.key) = instance.clone();
        }
        None => {
            let Some(destination) = state.resources.get_mut(&resource) else { return };
            let destination = Arc::make_mut(destination);
            destination.instances.remove(&addr.key);
            if destination.instances.is_empty() {
                state.resources.remove(&resource);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use formwork_value::{Known, Value};

    use super::*;
    use crate::state::{ObjectAttributes, ObjectState, ObjectStatus, OutputValue};

    /// A state with objects by their names, as `name=content`, and outputs, as `output.name=content`.
    fn state_from_entries(entries: &[&str]) -> StateFile {
        let mut file = StateFile { lineage: "one".to_owned(), ..StateFile::new_empty() };
        for entry in entries {
            let (name, content) = entry.split_once('=').unwrap();
            if let Some(name) = name.strip_prefix("output.") {
                let value = Known::new(Value::string(content)).unwrap();
                file.state.outputs.insert(name.into(), OutputValue { value, sensitive: false });
                continue;
            }
            let addr: InstanceAddr = format!("t.{name}").parse().unwrap();
            let provider = "provider[\"example.com/acme/t\"]".parse().unwrap();
            let object = ObjectState {
                status: ObjectStatus::Ready,
                schema_version: 0,
                attributes: ObjectAttributes::Json(format!("{{\"id\":\"{content}\"}}").into()),
                sensitive: Arc::default(),
                private: Bytes::new(),
                dependencies: Arc::default(),
                create_before_destroy: false,
                identity: None,
            };
            let resource = file.state.resource_or_insert(addr.resource_addr(), &provider);
            resource.instances.or_default(&addr.key).current = Some(Arc::new(object));
        }
        file
    }

    struct FixedOwnership(&'static [&'static str], &'static [&'static str]);

    impl StateOwnership for FixedOwnership {
        fn has_claimed(&self, addr: &InstanceAddr) -> bool {
            self.0.contains(&addr.to_string().trim_start_matches("t."))
        }

        fn has_claimed_output(&self, name: &str) -> bool {
            self.0.contains(&format!("output.{name}").as_str())
        }

        fn is_claimed_by_others(&self, addr: &InstanceAddr) -> bool {
            self.1.contains(&addr.to_string().trim_start_matches("t."))
        }
    }

    fn merge_entries(
        base: &[&str],
        ours: &[&str],
        stored: &[&str],
        claims: FixedOwnership,
    ) -> State {
        merge_states(
            &state_from_entries(base),
            &state_from_entries(ours),
            &state_from_entries(stored),
            &claims,
        )
        .state
    }

    #[test]
    fn changes_of_disjoint_parts_are_all_kept() {
        let base = ["a=1", "b=1", "c[0]=1", "c[1]=1", "output.x=1", "output.y=1"];
        let ours = ["a=2", "b=1", "c[0]=1", "c[2]=1", "output.x=2", "output.y=1"];
        let theirs = ["a=1", "c[0]=2", "c[1]=1", "d=1", "output.x=1", "output.y=2"];
        let claims = FixedOwnership(&["a", "c[1]", "c[2]", "output.x"], &[]);
        let all = ["a=2", "c[0]=2", "c[2]=1", "d=1", "output.x=2", "output.y=2"];
        assert_eq!(merge_entries(&base, &ours, &theirs, claims), state_from_entries(&all).state);
    }

    #[test]
    fn refresh_result_yields_to_a_change_of_another_run() {
        let (base, ours) = (["a=1", "b=1", "c=1"], ["a=2", "b=2", "c=2"]);
        let claims = FixedOwnership(&[], &["c"]);
        // `a` was not changed by others, `b` was, and `c` is being changed.
        assert_eq!(
            merge_entries(&base, &ours, &["a=1", "b=3", "c=1"], claims),
            state_from_entries(&["a=2", "b=3", "c=1"]).state
        );
    }

    #[test]
    fn a_claimed_change_overrides_the_stored_state() {
        let claims = FixedOwnership(&["a"], &[]);
        assert_eq!(
            merge_entries(&["a=1"], &["a=2"], &["a=3"], claims),
            state_from_entries(&["a=2"]).state
        );
        let claims = FixedOwnership(&["a"], &[]);
        assert_eq!(
            merge_entries(&["a=1"], &[], &["a=1", "b=1"], claims),
            state_from_entries(&["b=1"]).state
        );
    }

    #[test]
    fn a_claimed_instance_that_another_program_has_changed_is_found() {
        let overtaken = |base: &[&str], ours: &[&str], stored: &[&str]| {
            let [base, ours, stored] = [base, ours, stored].map(state_from_entries);
            let claims = FixedOwnership(&["a", "b"], &[]);
            let addr = find_overtaken_instance(&base, &ours, &stored, &claims);
            addr.map(|addr| addr.to_string())
        };
        let (base, ours) = (["a=1", "b=1", "c=1"], ["a=2", "c=2"]);
        assert_eq!(overtaken(&base, &ours, &["a=3", "b=1", "c=1"]).as_deref(), Some("t.a"));
        assert_eq!(overtaken(&base, &ours, &["a=1", "b=3", "c=1"]).as_deref(), Some("t.b"));
        assert_eq!(overtaken(&base, &ours, &["b=1", "c=1"]).as_deref(), Some("t.a"));
        // No change, a change of an unclaimed instance, or a repeated write.
        assert_eq!(overtaken(&base, &ours, &["a=1", "b=1", "c=1"]), None);
        assert_eq!(overtaken(&base, &ours, &["a=1", "b=1", "c=3"]), None);
        assert_eq!(overtaken(&base, &ours, &["a=2", "c=2"]), None);
    }

    #[test]
    fn reordered_dependencies_are_not_a_foreign_change() {
        let depending = |content: &str, dependencies: [&str; 2]| {
            let mut file = state_from_entries(&[&format!("a={content}")]);
            let addr: InstanceAddr = "t.a".parse().unwrap();
            let resource = file.state.resources.get_mut(&addr.resource_addr()).unwrap();
            let instance = Arc::make_mut(resource).instances.or_default(&addr.key);
            let object = Arc::make_mut(instance.current.as_mut().unwrap());
            object.dependencies = Arc::new(dependencies.map(|it| it.parse().unwrap()).to_vec());
            file
        };
        let in_memory = ["aws_vpc.b", "data.aws_ami.a"];
        let stored = depending("1", ["data.aws_ami.a", "aws_vpc.b"]);
        let (base, ours) = (depending("1", in_memory), depending("2", in_memory));
        let claims = FixedOwnership(&["a"], &[]);
        assert_eq!(find_overtaken_instance(&base, &ours, &stored, &claims), None);
        let stored = depending("3", in_memory);
        assert!(find_overtaken_instance(&base, &ours, &stored, &claims).is_some());
    }

    #[test]
    fn merging_into_the_base_gives_ours() {
        let (base, ours) = (
            state_from_entries(&["a=1", "b=1"]),
            state_from_entries(&["a=2", "c=1", "output.x=1"]),
        );
        let merged = merge_states(&base, &ours, &base, &FixedOwnership(&[], &[]));
        assert!(merged.has_same_content(&ours));
        assert!(StateDifference::between(&ours.state, &merged.state).is_empty());
        assert!(!StateDifference::between(&base.state, &merged.state).is_empty());
    }
}
