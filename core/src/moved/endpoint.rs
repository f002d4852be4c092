//! An endpoint of a move: the addresses that it matches, and their destinations. Pure.

use std::fmt::{Display, Formatter};
use std::sync::Arc;

use formwork_value::Str;

use crate::addr::{
    InstanceAddr, InstanceKey, ModuleAddr, ModulePath, ModuleStep, ResourceAddr, ResourceName,
    Target,
};

/// An endpoint of a move, relative to the root module. An open key matches every instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MoveEndpoint {
    /// Number of steps that lead to the module in which the move is written.
    n_base: usize,
    /// The module.
    steps: Vec<EndpointStep>,
    /// The resource in it; `None` if the module itself is meant.
    resource: Option<EndpointResource>,
}

/// A module call, with its key unless every instance is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
struct EndpointStep {
    name: Str,
    key: Option<InstanceKey>,
}

/// A resource, with the key of one instance unless all are meant.
#[derive(Clone, Debug, PartialEq, Eq)]
struct EndpointResource {
    name: ResourceName,
    key: Option<InstanceKey>,
}

/// The lookup key of an end: the names, and the instance key if it is not open.
pub(super) type EndpointKey = (Vec<Str>, Option<ResourceName>, Option<InstanceKey>);

/// Creates both endpoints of a move that is written in a module.
pub(super) fn endpoints_of_block(
    base: &ModulePath,
    from: &Target,
    to: &Target,
) -> (MoveEndpoint, MoveEndpoint) {
    // A module without a key represents all instances of its call, unless the other end has a key:
    // then it is the one instance of a call that is not repeated.
    let whole_call = [from, to].into_iter().all(|end| match end {
        Target::Module(module) => module.0.last().is_some_and(|s| s.key == InstanceKey::None),
        Target::Resource(_) | Target::Instance(_) => false,
    });
    (MoveEndpoint::new(base, from, whole_call), MoveEndpoint::new(base, to, whole_call))
}

impl MoveEndpoint {
    fn new(base: &ModulePath, target: &Target, whole_call: bool) -> Self {
        let open = |name: &Str| EndpointStep { name: name.clone(), key: None };
        // A move in a called module applies to every instance of that module.
        let mut steps: Vec<EndpointStep> = base.0.iter().map(open).collect();
        let (module, resource) = match target {
            Target::Module(module) => (module, None),
            Target::Resource(addr) => {
                (&addr.module, Some(EndpointResource { name: addr.resource.clone(), key: None }))
            }
            Target::Instance(addr) => {
                let (name, key) = (addr.resource.clone(), Some(addr.key.clone()));
                (&addr.module, Some(EndpointResource { name, key }))
            }
        };
        let module_steps = module.0.iter();
        steps.extend(
            module_steps.map(|s| EndpointStep { name: s.name.clone(), key: Some(s.key.clone()) }),
        );
        if let Some(last) = steps.last_mut().filter(|_| whole_call) {
            last.key = None;
        }
        Self { n_base: base.0.len(), steps, resource }
    }

    /// Whether a module is meant, with everything in it.
    pub(super) fn is_module(&self) -> bool {
        self.resource.is_none()
    }

    /// The resource that is meant, or of which an instance is.
    pub(super) fn resource_name(&self) -> Option<&ResourceName> {
        self.resource.as_ref().map(|resource| &resource.name)
    }

    /// The key of the instance that is meant, if it is only one.
    pub(super) fn instance_key(&self) -> Option<&InstanceKey> {
        self.resource.as_ref()?.key.as_ref()
    }

    /// The module in which the move is written.
    pub(super) fn base_module(&self) -> ModulePath {
        let steps = &self.steps[..self.n_base];
        ModulePath(Arc::new(steps.iter().map(|step| step.name.clone()).collect()))
    }

    /// The module itself, or the module that contains the resource, without keys.
    pub(super) fn module_names(&self) -> Vec<Str> {
        self.steps.iter().map(|step| step.name.clone()).collect()
    }

    /// Returns the lookup key of this end.
    pub(super) fn lookup_key(&self) -> EndpointKey {
        let (name, key) = match &self.resource {
            Some(resource) => (Some(resource.name.clone()), resource.key.clone()),
            None => (None, None),
        };
        (self.module_names(), name, key)
    }

    /// Whether some address may be meant by both.
    pub(super) fn may_overlap(&self, other: &Self) -> bool {
        let same =
            |a: &Option<InstanceKey>, b: &Option<InstanceKey>| a.is_none() || b.is_none() || a == b;
        let modules = self.steps.len() == other.steps.len() && self.starts_with_steps(&other.steps);
        modules
            && match (&self.resource, &other.resource) {
                (None, None) => true,
                (Some(a), Some(b)) => a.name == b.name && same(&a.key, &b.key),
                _ => false,
            }
    }

    fn starts_with_steps(&self, steps: &[EndpointStep]) -> bool {
        let same = |(a, b): (&EndpointStep, &EndpointStep)| {
            a.name == b.name && (a.key.is_none() || b.key.is_none() || a.key == b.key)
        };
        self.steps.len() >= steps.len() && self.steps.iter().zip(steps).all(same)
    }

    /// Whether this lies within a module that the other means, or is one instance of a resource that
    /// the other means as a whole.
    pub(super) fn is_enclosed_by(&self, other: &Self) -> bool {
        let Some(other_resource) = &other.resource else {
            return self.starts_with_steps(&other.steps)
                && (self.resource.is_some() || self.steps.len() > other.steps.len());
        };
        let is_one = |resource: &EndpointResource| {
            resource.key.is_some() && resource.name == other_resource.name
        };
        other_resource.key.is_none()
            && self.resource.as_ref().is_some_and(is_one)
            && self.steps.len() == other.steps.len()
            && self.starts_with_steps(&other.steps)
    }

    /// Whether a move between the two changes nothing but the key of a module.
    pub(super) fn differs_in_key_only(&self, other: &Self) -> bool {
        self.is_module() && other.is_module() && self.module_names() == other.module_names()
    }

    fn matches_module(&self, module: &ModuleAddr) -> bool {
        let same = |(open, step): (&EndpointStep, &ModuleStep)| {
            open.name == step.name && open.key.as_ref().is_none_or(|key| *key == step.key)
        };
        module.0.len() >= self.steps.len() && self.steps.iter().zip(module.0.iter()).all(same)
    }

    /// The module instance itself, or the one that contains the resource, unless a key is open.
    pub(super) fn exact_module(&self) -> Option<ModuleAddr> {
        let step = |step: &EndpointStep| {
            Some(ModuleStep { name: step.name.clone(), key: step.key.clone()? })
        };
        let steps = self.steps.iter().map(step).collect::<Option<Vec<_>>>()?;
        Some(ModuleAddr(Arc::new(steps)))
    }

    /// Whether a module contains the resource of this endpoint.
    pub(super) fn names_resource_in_module(&self, module: &ModuleAddr) -> bool {
        module.0.len() == self.steps.len() && self.matches_module(module)
    }

    /// Returns the destination of a module that this end matches, or that lies within a matching
    /// one.
    pub(super) fn destination_of_module(
        &self,
        to: &Self,
        module: &ModuleAddr,
    ) -> Option<ModuleAddr> {
        (self.is_module() && self.matches_module(module))
            .then(|| self.destination_of_matched_module(to, module))
    }

    /// The module at the other end, for a module that this end matches. Open keys are not changed.
    fn destination_of_matched_module(&self, to: &Self, module: &ModuleAddr) -> ModuleAddr {
        let last = self.steps.len().saturating_sub(1);
        let filled = to.steps.iter().enumerate().map(|(at, step)| {
            // Open keys are those of the module in which the move is written, and that of a whole
            // call at the end of both addresses.
            let source_index = if at < self.n_base { at } else { last };
            let key = step.key.clone().unwrap_or_else(|| module.0[source_index].key.clone());
            ModuleStep { name: step.name.clone(), key }
        });
        let inner_steps = module.0[self.steps.len()..].iter().cloned();
        ModuleAddr(Arc::new(filled.chain(inner_steps).collect()))
    }

    /// Returns the destination of an instance that this end matches; the end names a resource or an
    /// instance.
    pub(super) fn destination_of(&self, to: &Self, addr: &InstanceAddr) -> Option<InstanceAddr> {
        let (from, resource) = (self.resource.as_ref()?, to.resource.as_ref()?);
        let matches = from.name == addr.resource
            && from.key.as_ref().is_none_or(|key| *key == addr.key)
            && self.names_resource_in_module(&addr.module);
        matches.then(|| InstanceAddr {
            module: self.destination_of_matched_module(to, &addr.module),
            resource: resource.name.clone(),
            key: resource.key.clone().unwrap_or_else(|| addr.key.clone()),
        })
    }

    /// Returns the object that this end names within one instance of the module in which the move
    /// is written.
    pub(super) fn object_in_module_instance(&self, base: &ModuleAddr) -> MovedObject {
        let key = |at: usize, step: &EndpointStep| match &step.key {
            Some(key) => key.clone(),
            None => base.0.get(at).map_or(InstanceKey::None, |step| step.key.clone()),
        };
        let steps = self.steps.iter().enumerate();
        let steps = steps.map(|(at, s)| ModuleStep { name: s.name.clone(), key: key(at, s) });
        let module = ModuleAddr(Arc::new(steps.collect()));
        match &self.resource {
            None if self.steps.last().is_some_and(|step| step.key.is_none()) => {
                MovedObject::Call(module)
            }
            None => MovedObject::Module(module),
            Some(EndpointResource { name, key }) => {
                let resource = ResourceAddr { module, resource: name.clone() };
                match key {
                    Some(key) => MovedObject::Instance(resource.instance_addr(key.clone())),
                    None => MovedObject::Resource(resource),
                }
            }
        }
    }
}

/// The object that one end of a move names, without open keys above it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum MovedObject {
    /// All instances of a call; the last key has no meaning.
    Call(ModuleAddr),
    /// A module instance.
    Module(ModuleAddr),
    /// All instances of a resource.
    Resource(ResourceAddr),
    /// A resource instance.
    Instance(InstanceAddr),
}

impl MovedObject {
    /// Returns the kind of the object, in full and in short.
    pub(super) fn kind_names(&self) -> (&'static str, &'static str) {
        match self {
            Self::Call(_) => ("module call", "call"),
            Self::Module(_) => ("module instance", "instance"),
            Self::Resource(_) => ("resource", "resource"),
            Self::Instance(_) => ("resource instance", "instance"),
        }
    }
}

impl Display for MovedObject {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Call(module) | Self::Module(module) => module.fmt(f),
            Self::Resource(resource) => resource.fmt(f),
            Self::Instance(instance) => instance.fmt(f),
        }
    }
}

impl Display for MoveEndpoint {
    /// Prints open keys as `[*]`.
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let open = |key: &Option<InstanceKey>| match key {
            Some(key) => key.to_string(),
            None => "[*]".to_owned(),
        };
        let mut dot = "";
        for step in &self.steps {
            write!(f, "{dot}module.{}{}", step.name, open(&step.key))?;
            dot = ".";
        }
        match &self.resource {
            Some(EndpointResource { name, key }) => write!(f, "{dot}{name}{}", open(key)),
            None => Ok(()),
        }
    }
}
