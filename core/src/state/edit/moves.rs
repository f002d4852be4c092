//! Moves objects of a state to other addresses, also into another state. First the moves are
//! planned, then the objects are taken out, then put in: so nothing is lost on the way when source
//! and destination overlap.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{Display, Formatter};
use std::sync::Arc;

use formwork_value::{Diagnostic, Diagnostics, Reported};

use crate::addr::{
    ConfigResourceAddr, InstanceAddr, InstanceKey, ModuleAddr, ModulePath, ResourceAddr,
    ResourceMode, Target,
};
use crate::messages;
use crate::state::{ResourceState, State};

/// An object that changes its address, and its new address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StateMove {
    /// Objects directly in a module instance.
    Module(ModuleAddr, ModuleAddr),
    /// A resource with all its instances.
    Resource(ResourceAddr, ResourceAddr),
    /// A resource instance.
    Instance(InstanceAddr, InstanceAddr),
}

/// Objects taken out of a state, under their new addresses.
#[derive(Debug)]
pub struct MovedObjects {
    resources: Vec<(ResourceAddr, ResourceState)>,
    origins: FormerAddresses,
}

/// Former addresses, in the form in which dependencies name them.
#[derive(Debug, Default)]
struct FormerAddresses {
    modules: BTreeSet<ModulePath>,
    resources: BTreeSet<ConfigResourceAddr>,
}

impl StateMove {
    /// Whether an instance has one of the two addresses, or would have.
    #[must_use]
    pub fn involves_instance(&self, addr: &InstanceAddr) -> bool {
        match self {
            Self::Module(from, to) => addr.module == *from || addr.module == *to,
            Self::Resource(from, to) => {
                addr.resource_addr() == *from || addr.resource_addr() == *to
            }
            Self::Instance(from, to) => addr == from || addr == to,
        }
    }
}

impl Display for StateMove {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let (from, to) = match self {
            Self::Module(from, to) => (from.to_string(), to.to_string()),
            Self::Resource(from, to) => (from.to_string(), to.to_string()),
            Self::Instance(from, to) => (from.to_string(), to.to_string()),
        };
        write!(f, "{from:?} to {to:?}")
    }
}

/// The state that objects are moved out of, and the one that they are moved into: it may be the same.
#[derive(Clone, Copy, Debug)]
pub struct StatesOfMove<'s> {
    /// The state that has the objects.
    pub source: &'s State,
    /// The state that gets them.
    pub destination: &'s State,
}

/// Plans the moves. An address without a key names the one instance of a resource that is not
/// repeated, otherwise the whole resource. A module moves with everything below it.
///
/// # Errors
/// When `from` does not exist, `to` is occupied, or the two are of different kinds.
pub fn plan_moves(
    diags: &mut Diagnostics,
    states: StatesOfMove<'_>,
    from: &Target,
    to: &Target,
) -> Result<Vec<StateMove>, Reported> {
    match from {
        Target::Module(addr) => plan_module_moves(diags, states, addr, to),
        Target::Instance(addr) => plan_instance_move(diags, states, addr, to),
        Target::Resource(addr) => match states.source.resources.get(addr) {
            None => Err(no_match_error(diags, from)),
            Some(resource_state) if resource_state.instances.contains_key(&InstanceKey::None) => {
                plan_instance_move(diags, states, &addr.instance_addr(InstanceKey::None), to)
            }
            Some(_) => plan_resource_move(diags, states.destination, addr, to),
        },
    }
}

fn plan_module_moves(
    diags: &mut Diagnostics,
    states: StatesOfMove<'_>,
    from: &ModuleAddr,
    to: &Target,
) -> Result<Vec<StateMove>, Reported> {
    let modules = |state: &State| -> BTreeSet<ModuleAddr> {
        state.resources.keys().map(|addr| addr.module.clone()).collect()
    };
    let mut moved_modules = modules(states.source);
    moved_modules.retain(|module| module.0.starts_with(&from.0));
    if moved_modules.is_empty() {
        return Err(no_match_error(diags, &Target::Module(from.clone())));
    }
    let Target::Module(to) = to else {
        return Err(invalid_target_error(
            diags,
            format!("Cannot move {from} to {to}: the target must also be a module."),
        ));
    };
    let existing = modules(states.destination);
    let mut moves = Vec::new();
    for module in moved_modules {
        let below = module.0.get(from.0.len()..).unwrap_or_default();
        let new = ModuleAddr(Arc::new(to.0.iter().chain(below).cloned().collect()));
        if existing.contains(&new) {
            let detail = format!(
                "Cannot move {module} to {new}: destination module already exists. Move its resources \
                 one by one, or choose another name. No state was changed."
            );
            return Err(diags.error(Diagnostic::error(messages::ERROR_MOVING_STATE, detail)));
        }
        moves.push(StateMove::Module(module, new));
    }
    Ok(moves)
}

fn plan_resource_move(
    diags: &mut Diagnostics,
    destination: &State,
    from: &ResourceAddr,
    to: &Target,
) -> Result<Vec<StateMove>, Reported> {
    let Target::Resource(to) = to else {
        return Err(invalid_target_error(
            diags,
            format!(
                "Cannot move {from} to {to}: the source is a whole resource (not a resource \
                 instance) so the target must also be a whole resource."
            ),
        ));
    };
    // Not returned immediately, so that one run reports both errors.
    let checked = check_same_type(diags, from, to);
    if destination.resources.contains_key(to) {
        let detail = format!(
            "Cannot move to {to}: there is already a resource at that address in the current state."
        );
        return Err(invalid_target_error(diags, detail));
    }
    checked?;
    Ok(vec![StateMove::Resource(from.clone(), to.clone())])
}

fn plan_instance_move(
    diags: &mut Diagnostics,
    states: StatesOfMove<'_>,
    from: &InstanceAddr,
    to: &Target,
) -> Result<Vec<StateMove>, Reported> {
    let to = match to {
        Target::Instance(to) => to.clone(),
        Target::Resource(to) => to.instance_addr(InstanceKey::None),
        Target::Module(_) => {
            let detail =
                format!("Cannot move {from} to {to}: the target must also be a resource instance.");
            return Err(invalid_target_error(diags, detail));
        }
    };
    let holds = |state: &State, addr: &InstanceAddr| {
        state
            .resources
            .get(&addr.resource_addr())
            .is_some_and(|resource_state| resource_state.instances.contains_key(&addr.key))
    };
    let checked = check_same_type(diags, &from.resource_addr(), &to.resource_addr());
    if holds(states.destination, &to) {
        let detail = format!(
            "Cannot move to {to}: there is already a resource instance at that address in the current \
             state."
        );
        return Err(invalid_target_error(diags, detail));
    }
    if !holds(states.source, from) {
        let detail = format!("The current state does not contain {from}.");
        return Err(diags.error(Diagnostic::error(messages::INVALID_MOVE_SOURCE, detail)));
    }
    checked?;
    Ok(vec![StateMove::Instance(from.clone(), to)])
}

/// Checks that the types are equal: a new address does not convert an object to another type.
fn check_same_type(
    diags: &mut Diagnostics,
    from: &ResourceAddr,
    to: &ResourceAddr,
) -> Result<(), Reported> {
    let mut refuse = |reason: &str| {
        let detail = format!("Cannot move {from} to {to}: {reason}.");
        diags.error(Diagnostic::error(messages::INVALID_STATE_MOVE_REQUEST, detail))
    };
    let (was, becomes) = (&from.resource, &to.resource);
    let mut checked = Ok(());
    if was.mode() != becomes.mode() {
        checked = Err(refuse(match was.mode() {
            ResourceMode::Managed => {
                "a managed resource can be moved only to another managed resource address"
            }
            ResourceMode::Data => {
                "a data resource can be moved only to another data resource address"
            }
            ResourceMode::Ephemeral => "an ephemeral resource is never in a state",
        }));
    }
    if was.resource_type() != becomes.resource_type() {
        checked = Err(refuse("resource types don't match"));
    }
    checked
}

fn no_match_error(diags: &mut Diagnostics, from: &Target) -> Reported {
    let detail = format!("Cannot move {from}: does not match anything in the current state.");
    diags.error(Diagnostic::error(messages::INVALID_MOVE_SOURCE, detail))
}

fn invalid_target_error(diags: &mut Diagnostics, detail: String) -> Reported {
    diags.error(Diagnostic::error(messages::INVALID_MOVE_TARGET, detail))
}

/// Takes the objects to move out of a state. The moves must have been planned for it.
pub fn take_objects(state: &mut State, moves: &[StateMove]) -> MovedObjects {
    let mut moved = MovedObjects { resources: Vec::new(), origins: FormerAddresses::default() };
    let mut modules: BTreeMap<&ModuleAddr, &ModuleAddr> = BTreeMap::new();
    for planned_move in moves {
        match planned_move {
            StateMove::Module(from, to) => {
                modules.insert(from, to);
                // Dependencies contain no instance keys, and other instances of the module are not
                // moved.
                if from.0.iter().all(|step| step.key == InstanceKey::None) {
                    moved.origins.modules.insert(from.path());
                }
            }
            StateMove::Resource(from, to) => {
                moved.origins.resources.insert(from.config_addr());
                let resource_state = state.resources.remove(from).map(Arc::unwrap_or_clone);
                moved
                    .resources
                    .extend(resource_state.map(|resource_state| (to.clone(), resource_state)));
            }
            StateMove::Instance(from, to) => {
                moved.origins.resources.insert(from.resource_addr().config_addr());
                moved.resources.extend(take_instance_objects(state, from, to));
            }
        }
    }
    if !modules.is_empty() {
        let (theirs, rest) = std::mem::take(&mut state.resources)
            .into_iter()
            .partition(|(addr, _)| modules.contains_key(&addr.module));
        state.resources = rest;
        let theirs: BTreeMap<ResourceAddr, Arc<ResourceState>> = theirs;
        for (addr, resource_state) in theirs {
            let Some(&to) = modules.get(&addr.module) else { continue };
            let addr = ResourceAddr { module: to.clone(), resource: addr.resource };
            moved.resources.push((addr, Arc::unwrap_or_clone(resource_state)));
        }
    }
    moved
}

fn take_instance_objects(
    state: &mut State,
    from: &InstanceAddr,
    to: &InstanceAddr,
) -> Option<(ResourceAddr, ResourceState)> {
    let resource_state = Arc::make_mut(state.resources.get_mut(&from.resource_addr())?);
    let instance = resource_state.instances.remove(&from.key)?;
    let provider = resource_state.provider.clone();
    if resource_state.instances.is_empty() {
        state.resources.remove(&from.resource_addr());
    }
    Some((
        to.resource_addr(),
        ResourceState { provider, instances: [(to.key.clone(), instance)].into() },
    ))
}

/// Puts the moved objects under their new addresses.
pub fn put_objects(state: &mut State, moved: MovedObjects) {
    // Dependents of the moved objects lose these dependencies: the address no longer exists, and the
    // next plan determines them again.
    for (addr, resource_state) in moved.resources {
        match state.resources.get_mut(&addr) {
            // Other instances of the resource may be there already.
            Some(existing) => Arc::make_mut(existing).instances.extend(resource_state.instances),
            None => drop(state.resources.insert(addr, Arc::new(resource_state))),
        }
    }
    for resource_state in state.resources.values_mut() {
        // Looked at first, because `make_mut` would copy every resource of the state.
        let stale = resource_state
            .all_objects()
            .any(|object| moved.origins.contains_any(&object.dependencies));
        if !stale {
            continue;
        }
        for instance in Arc::make_mut(resource_state).instances.values_mut() {
            let objects = instance.current.iter_mut().chain(instance.deposed.values_mut());
            for object in objects.filter(|object| moved.origins.contains_any(&object.dependencies))
            {
                Arc::make_mut(object).dependencies = Arc::default();
            }
        }
    }
}

impl FormerAddresses {
    fn contains_any(&self, dependencies: &[ConfigResourceAddr]) -> bool {
        let below = |path: &ModulePath| {
            let path = &path.0;
            (1..=path.len()).any(|length| {
                let outer = path.get(..length).unwrap_or_default();
                self.modules.contains(&ModulePath(Arc::new(outer.to_vec())))
            })
        };
        dependencies.iter().any(|dependency| {
            self.resources.contains(dependency)
                || !self.modules.is_empty() && below(&dependency.module)
        })
    }
}
