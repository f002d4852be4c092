//! Planned results of the resources visited so far, for visits that depend on them: data sources
//! that must not be read too early, and resources that are replaced with others.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use formwork_value::Str;

use super::dependencies::DependencyClosures;
use super::vertex_kind::{AnyPlanVertex, PlanGraphVertex};
use super::visit_outcome::ResourceOutcome;
use crate::addr::{
    ConfigResourceAddr, InstanceKey, ModuleAddr, Reference, ReferenceSubject, ResourceMode,
    ResourceName,
};
use crate::change::{Action, Change};
use crate::config::{Config, ModuleNode};
use crate::eval::ModuleResults;
use crate::eval::vertex::NamedValueBlock;
use crate::graph::{Graph, VertexId};
use crate::shared_graph::EdgeReason;
use crate::small_map::SmallMap;

/// Planned results of the resources visited so far.
#[derive(Debug, Default)]
pub(crate) struct PlannedResources {
    resources: BTreeMap<ConfigResourceAddr, PlannedResource>,
    /// For each object other than a resource that some `depends_on` names, the resources that it
    /// depends on, by the position of the module in which it is named.
    upstream: BTreeMap<DependsOnName, Vec<ConfigResourceAddr>>,
    /// Whether anything that a call around a module must wait for is pending, by position of the module.
    calls: Vec<OnceCell<bool>>,
}

/// The object that some `depends_on` names, by position of the module that contains it. An output
/// of a called module differs from the whole module.
type DependsOnName = (usize, ReferenceSubject, Option<Str>);

fn depends_on_name(node: &ModuleNode, reference: &Reference) -> DependsOnName {
    let output = reference.module_output().map(|output| output.name.clone());
    (node.index, reference.subject.clone(), output)
}

/// Planned result of one resource.
#[derive(Debug, Default)]
struct PlannedResource {
    /// Whether its changes are kept: only if some `replace_triggered_by` may look at them.
    is_watched: bool,
    by_module: OnceCell<SmallMap<ModuleAddr, PlannedInModule>>,
}

/// Planned result of a resource in one instance of its module.
#[derive(Debug, Default)]
struct PlannedInModule {
    /// Whether anything is to be done to it.
    is_pending: bool,
    changes: Vec<Change>,
}

/// The origin of a question: an object in an instance of a module.
#[derive(Clone, Copy)]
pub(crate) struct PendingChangeQuery<'a> {
    pub(crate) node: &'a ModuleNode,
    pub(crate) module: &'a ModuleAddr,
}

impl PlannedResources {
    pub(super) fn from_graph<'g, 'c: 'g, V: PlanGraphVertex<'c>>(
        graph: &'g Graph<V, EdgeReason>,
        n_modules: usize,
    ) -> Self {
        let watched = resources_watched_for_replace(graph);
        let resources = graph.vertices().iter().filter_map(|vertex| vertex.as_resource());
        let resources = resources.map(|resource| {
            let is_watched = watched.contains(&resource.addr);
            (resource.addr.clone(), PlannedResource { is_watched, by_module: OnceCell::new() })
        });
        let calls = std::iter::repeat_with(OnceCell::new).take(n_modules);
        Self {
            resources: resources.collect(),
            upstream: resources_named_by_depends_on(graph),
            calls: calls.collect(),
        }
    }

    /// Records the planned changes of a resource.
    pub(super) fn set_planned_resource(
        &self,
        addr: &ConfigResourceAddr,
        outcomes: &[ResourceOutcome],
    ) {
        let Some(entry) = self.resources.get(addr) else { return };
        let planned = outcomes.iter().map(|outcome| {
            let changes = outcome.objects.iter().filter_map(|object| object.change.as_ref());
            // What becomes of a deposed object changes nothing that others can read.
            let changes: Vec<_> = changes.filter(|change| change.deposed.is_none()).collect();
            let is_pending = changes.iter().any(|change| change.action != Action::NoOp);
            let watched = changes.into_iter().filter(|_| entry.is_watched);
            let planned = PlannedInModule { is_pending, changes: watched.cloned().collect() };
            (outcome.addr.module.clone(), planned)
        });
        let first = entry.by_module.set(planned.collect()).is_ok();
        debug_assert!(first, "a resource is recorded once");
    }

    /// The planned changes of a resource that some `replace_triggered_by` refers to, or of one
    /// instance of it.
    pub(crate) fn changes_of_resource<'f>(
        &'f self,
        module: &ModuleResults,
        name: &ResourceName,
        key: Option<&'f InstanceKey>,
    ) -> impl Iterator<Item = &'f Change> + use<'f> {
        let addr = module.module_addr();
        let resource = ConfigResourceAddr { module: addr.path(), resource: name.clone() };
        let by_module = self.resources.get(&resource).and_then(|entry| entry.by_module.get());
        let planned = by_module.and_then(|by_module| by_module.get(addr));
        let changes = planned.into_iter().flat_map(|planned| &planned.changes);
        changes.filter(move |change| key.is_none_or(|key| change.addr.key == *key))
    }

    /// Whether anything is to be done to a managed resource: in the same instance of the module that
    /// asks, or, in another module, in any.
    pub(crate) fn has_pending_change(
        &self,
        query: PendingChangeQuery<'_>,
        addr: &ConfigResourceAddr,
    ) -> bool {
        // As in Terraform, only changes of managed resources defer a read.
        if addr.resource.mode() != ResourceMode::Managed {
            return false;
        }
        if addr.module != query.node.path {
            return self.has_pending_change_anywhere(addr);
        }
        let by_module = self.resources.get(addr).and_then(|entry| entry.by_module.get());
        by_module
            .and_then(|by_module| by_module.get(query.module))
            .is_some_and(|planned| planned.is_pending)
    }

    fn has_pending_change_anywhere(&self, addr: &ConfigResourceAddr) -> bool {
        let by_module = self.resources.get(addr).and_then(|entry| entry.by_module.get());
        addr.resource.mode() == ResourceMode::Managed
            && by_module
                .is_some_and(|by_module| by_module.values().any(|planned| planned.is_pending))
    }

    /// Whether anything is to be done to a managed resource of the module that asks.
    pub(crate) fn has_pending_change_in_module(
        &self,
        query: PendingChangeQuery<'_>,
        name: &ResourceName,
    ) -> bool {
        let (module, resource) = (query.node.path.clone(), name.clone());
        self.has_pending_change(query, &ConfigResourceAddr { module, resource })
    }

    /// Whether a change is pending for the object that a `depends_on` names: a resource, or all
    /// resources that another object depends on.
    pub(crate) fn is_depends_on_pending_in_module(
        &self,
        closures: &DependencyClosures,
        query: PendingChangeQuery<'_>,
        reference: &Reference,
    ) -> bool {
        if let Some(name) = reference.resource_name() {
            return self.has_pending_change_in_module(query, name);
        }
        let upstream = self.upstream.get(&depends_on_name(query.node, reference));
        upstream
            .into_iter()
            .flatten()
            .any(|addr| self.has_pending_dependency(closures, query, addr))
    }

    /// Whether a change is pending for a resource or its dependencies.
    fn has_pending_dependency(
        &self,
        closures: &DependencyClosures,
        query: PendingChangeQuery<'_>,
        addr: &ConfigResourceAddr,
    ) -> bool {
        self.has_pending_change(query, addr)
            || closures.has_dependency_where(addr, |addr| self.has_pending_change(query, addr))
    }

    /// Whether a change is pending for an object that the `depends_on` of a call around a module
    /// names.
    pub(crate) fn is_depends_on_of_call_pending(
        &self,
        config: &Config,
        closures: &DependencyClosures,
        node: &ModuleNode,
    ) -> bool {
        let mut here = Some(node);
        // The `depends_on` of a call holds for everything in the calls within it too.
        while let Some(node) = here {
            let Some((caller, call)) = config.call_of_module(node) else { return false };
            // Everything a call waits for was planned before anything in it queries the plan.
            let pending = self.calls[node.index].get_or_init(|| {
                call.depends_on
                    .iter()
                    .any(|reference| self.is_depends_on_pending(closures, caller, reference))
            });
            if *pending {
                return true;
            }
            here = Some(caller);
        }
        false
    }

    fn is_depends_on_pending(
        &self,
        closures: &DependencyClosures,
        caller: &ModuleNode,
        reference: &Reference,
    ) -> bool {
        let pending = |addr: &ConfigResourceAddr| {
            self.has_pending_change_anywhere(addr)
                || closures
                    .has_dependency_where(addr, |addr| self.has_pending_change_anywhere(addr))
        };
        if let Some(name) = reference.resource_name() {
            let (module, resource) = (caller.path.clone(), name.clone());
            return pending(&ConfigResourceAddr { module, resource });
        }
        self.upstream.get(&depends_on_name(caller, reference)).into_iter().flatten().any(pending)
    }
}

/// The resources that a block with a `replace_triggered_by` refers to.
fn resources_watched_for_replace<'g, 'c: 'g, V: PlanGraphVertex<'c>>(
    graph: &'g Graph<V, EdgeReason>,
) -> BTreeSet<ConfigResourceAddr> {
    let mut watched = BTreeSet::new();
    for resource in graph.vertices().iter().filter_map(|vertex| vertex.as_resource()) {
        if resource.config.lifecycle.replace_triggered_by.is_empty() {
            continue;
        }
        watched.extend(resource.config.references.iter().filter_map(|reference| {
            let (module, name) = (resource.addr.module.clone(), reference.resource_name()?.clone());
            Some(ConfigResourceAddr { module, resource: name })
        }));
    }
    watched
}

/// For each object other than a resource that some `depends_on` of a data source or call names, the
/// resources it depends on.
fn resources_named_by_depends_on<'g, 'c: 'g, V: PlanGraphVertex<'c>>(
    graph: &'g Graph<V, EdgeReason>,
) -> BTreeMap<DependsOnName, Vec<ConfigResourceAddr>> {
    let mut wanted = BTreeSet::new();
    for vertex in graph.vertices() {
        let data = vertex.as_resource().filter(|it| it.addr.resource.mode() == ResourceMode::Data);
        let data = data.map(|resource| (resource.node, &resource.config.depends_on));
        let call = || vertex.as_module_call().map(|call| (call.caller, &call.call.depends_on));
        let Some((node, depends_on)) = data.or_else(call) else { continue };
        let others = depends_on.iter().filter(|reference| reference.resource_name().is_none());
        wanted.extend(others.map(|reference| depends_on_name(node, reference)));
    }
    let mut upstream = BTreeMap::new();
    for id in graph.vertex_ids() {
        if let Some(name) = depends_on_name_of_vertex(&*graph[id])
            && wanted.contains(&name)
        {
            upstream.insert(name, reachable_resources(graph, id));
        }
    }
    upstream
}

/// Returns the name of a vertex other than a resource, with the module that refers to it.
fn depends_on_name_of_vertex(vertex: &AnyPlanVertex<'_>) -> Option<DependsOnName> {
    let called = |node: &ModuleNode, output: Option<Str>| {
        let subject = ReferenceSubject::Module(node.path.0.last()?.clone());
        Some((node.caller?, subject, output))
    };
    let Some(value) = vertex.as_value() else { return called(vertex.closed_module()?, None) };
    match value.value {
        NamedValueBlock::Variable(variable) => {
            Some((value.node.index, ReferenceSubject::Variable(variable.name.clone()), None))
        }
        NamedValueBlock::Local(local) => {
            Some((value.node.index, ReferenceSubject::Local(local.name.clone()), None))
        }
        NamedValueBlock::Output(output) => called(value.node, Some(output.name.clone())),
        NamedValueBlock::Check(_) => None,
    }
}

/// The resources that a vertex reaches without passing through another resource.
fn reachable_resources<'g, 'c: 'g, V: PlanGraphVertex<'c>>(
    graph: &'g Graph<V, EdgeReason>,
    from: VertexId,
) -> Vec<ConfigResourceAddr> {
    let mut addrs = Vec::new();
    let mut seen = BTreeSet::from([from]);
    let mut queue = vec![from];
    while let Some(id) = queue.pop() {
        for &dependency in graph.dependencies(id) {
            if !seen.insert(dependency) {
                continue;
            }
            match graph[dependency].as_resource() {
                Some(resource) => addrs.push(resource.addr.clone()),
                // The dependencies of a provider configuration are not part of the named object.
                None if graph[dependency].as_provider().is_some() => {}
                None => queue.push(dependency),
            }
        }
    }
    addrs
}
