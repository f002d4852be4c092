//! Walks the plan graph and records what the visits found. The only place that changes the plan.

use std::cell::{Cell, OnceCell};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use formwork_value::{Diagnostics, Known, Reported, Str, Type, Value};

use super::outcome::{Found, FoundObject, FoundResource, Outcome, Refreshed};
use super::vertex::{ResourceVertex, Vertex};
use super::visit::{Settled, View, visit};
use super::{Mode, Options, Plan};
use crate::addr::{InstanceKey, Mode as ResourceMode, ResourceAddr, ResourceName, Subject};
use crate::change::{Action, Change, OutputChange};
use crate::eval::vertex::ValueVertex;
use crate::event::Event;
use crate::graph::Graph;
use crate::graph::walk::{Next, Pace, walk};
use crate::phase::Why;
use crate::session::Session;
use crate::state::{OutputValue, State};

/// What became of the resources visited so far, for visits that have to know.
#[derive(Debug, Default)]
pub(crate) struct Fates {
    resources: BTreeMap<ResourceName, Fate>,
    /// For each thing that is only a value, the managed resources it stands on.
    upstream: BTreeMap<Subject, Vec<ResourceName>>,
}

/// What became of one resource.
#[derive(Debug, Default)]
struct Fate {
    /// Whether anything is to be done to it.
    is_pending: Cell<bool>,
    /// Its planned changes; only those are kept that some `replace_triggered_by` may look at.
    changes: OnceCell<Vec<Change>>,
    /// Whether they are kept.
    is_watched: bool,
}

impl Fates {
    fn of(graph: &Graph<Vertex<'_>, Why>) -> Self {
        let mut fates = Self::default();
        let mut reach: Vec<Vec<ResourceName>> = vec![Vec::new(); graph.len()];
        let wanted = graph.vertices().iter().any(|vertex| {
            matches!(vertex, Vertex::Resource(r) if r.addr.resource.mode() == ResourceMode::Data && !r.config.depends_on.is_empty())
        });
        let watched = watched(graph);
        for &id in graph.order() {
            match &graph[id] {
                Vertex::Resource(resource) => {
                    let name = resource.addr.resource.clone();
                    let fate = Fate { is_watched: watched.contains(&name), ..Fate::default() };
                    fates.resources.insert(name.clone(), fate);
                    if wanted {
                        reach[id.index()] = vec![name];
                    }
                }
                Vertex::Value(value) if wanted => {
                    let mut names: Vec<_> = graph
                        .dependencies(id)
                        .iter()
                        .flat_map(|on| reach[on.index()].iter().cloned())
                        .collect();
                    names.sort();
                    names.dedup();
                    fates.upstream.extend(value_subject(value).map(|s| (s, names.clone())));
                    reach[id.index()] = names;
                }
                _ => {}
            }
        }
        fates
    }

    fn set(&self, name: &ResourceName, found: &[FoundObject]) {
        let Some(fate) = self.resources.get(name) else { return };
        let changes = || {
            let changes = found.iter().filter_map(|object| object.change.as_ref());
            changes.filter(|change| change.deposed.is_none())
        };
        fate.is_pending.set(changes().any(|change| change.action != Action::NoOp));
        if fate.is_watched {
            let first = fate.changes.set(changes().cloned().collect()).is_ok();
            debug_assert!(first, "a resource is recorded once");
        }
    }

    /// The planned changes of a resource that some `replace_triggered_by` mentions, or of one
    /// instance of it.
    pub(crate) fn changes<'f>(
        &'f self,
        name: &ResourceName,
        key: Option<&'f InstanceKey>,
    ) -> impl Iterator<Item = &'f Change> {
        let changes = self.resources.get(name).and_then(|fate| fate.changes.get());
        changes
            .into_iter()
            .flatten()
            .filter(move |change| key.is_none_or(|key| change.addr.key == *key))
    }

    /// Whether anything is to be done to a managed resource.
    pub(crate) fn is_pending(&self, name: &ResourceName) -> bool {
        name.mode() == ResourceMode::Managed
            && self.resources.get(name).is_some_and(|fate| fate.is_pending.get())
    }

    /// Whether anything is to be done to a managed resource that a value stands on.
    pub(crate) fn is_upstream_pending(&self, subject: &Subject) -> bool {
        self.upstream.get(subject).into_iter().flatten().any(|name| self.is_pending(name))
    }
}

/// The resources that are mentioned in a block with a `replace_triggered_by`.
fn watched(graph: &Graph<Vertex<'_>, Why>) -> BTreeSet<ResourceName> {
    let mut watched = BTreeSet::new();
    for vertex in graph.vertices() {
        let Vertex::Resource(resource) = vertex else { continue };
        if resource.config.lifecycle.replace_triggered_by.is_empty() {
            continue;
        }
        watched.extend(resource.config.references.iter().filter_map(|reference| {
            match &reference.subject {
                Subject::Resource(name) => Some(name.clone()),
                _ => None,
            }
        }));
    }
    watched
}

fn value_subject(value: &ValueVertex<'_>) -> Option<Subject> {
    match value {
        ValueVertex::Variable(variable) => Some(Subject::Variable(variable.name.clone())),
        ValueVertex::Local(local) => Some(Subject::Local(local.name.clone())),
        ValueVertex::Output(_) => None,
    }
}

/// Visits every vertex and makes the plan of what was found.
pub(crate) async fn run(
    session: &Session<'_>,
    diags: &mut Diagnostics,
    options: &Options,
    graph: &Graph<Vertex<'_>, Why>,
    settled: &Settled,
) -> Result<Plan, Reported> {
    let fates = Fates::of(graph);
    let view = View { session, options, settled, fates: &fates };
    let mut recorder = Recorder {
        session,
        fates: &fates,
        problems: BTreeMap::new(),
        plan: Plan {
            mode: options.mode,
            targets: options.targets.clone(),
            variables: session.variables.clone(),
            prior: session.state.clone(),
            ..Plan::default()
        },
    };
    let stop = || session.stopped();
    let pace = Pace { limit: session.parallelism, stop: &stop, finishing: session.finishing };
    let unvisited = walk(
        graph,
        pace,
        |_, vertex| visit(view, vertex),
        |id, vertex, outcome| recorder.record(id, vertex, outcome),
    )
    .await;
    let mut plan = recorder.finish(diags, options);
    // Also a visit that was under way when the user stopped the run left instances out.
    plan.errored = diags.has_errors() || !unvisited.stopped.is_empty() || session.stopped();
    Ok(plan)
}

struct Recorder<'r, 'a> {
    session: &'r Session<'a>,
    fates: &'r Fates,
    /// Problems by vertex, so that their order does not depend on timing.
    problems: BTreeMap<crate::graph::VertexId, Diagnostics>,
    plan: Plan,
}

impl Recorder<'_, '_> {
    fn record(
        &mut self,
        id: crate::graph::VertexId,
        vertex: &Vertex<'_>,
        outcome: Outcome,
    ) -> Next {
        let Outcome { diags, found } = outcome;
        match (vertex, found) {
            (Vertex::Value(value), Found::Value(found)) => {
                value.record(self.session.results.root(), found.clone());
                if let ValueVertex::Output(output) = value {
                    self.record_output(&output.name, found, output.sensitive);
                }
            }
            (Vertex::Resource(resource), Found::Resource(found)) => {
                self.record_resource(resource, found);
            }
            (Vertex::Orphan(orphan), Found::Resource(found)) => {
                for object in found.objects {
                    self.record_object(&orphan.addr, &orphan.provider, object);
                }
            }
            _ => {}
        }
        let next = if diags.has_errors() { Next::SkipDependents } else { Next::Go };
        if !diags.is_empty() {
            self.problems.insert(id, diags);
        }
        next
    }

    fn record_resource(&mut self, vertex: &ResourceVertex<'_>, found: FoundResource) {
        let results = self.session.results.root().resource(&vertex.addr.resource);
        if let (Some(results), Some(expansion)) = (results, found.expansion) {
            // An object may have lost its place since it was made, or got another kind of key.
            let placed = found.objects.iter().filter(|object| expansion.contains(&object.key));
            let placed: Vec<_> = placed.filter_map(|o| Some((&o.key, o.value.clone()?))).collect();
            results.expand(expansion);
            placed.into_iter().for_each(|(key, value)| results.set(key, value));
        }
        if vertex.addr.resource.mode() == ResourceMode::Data {
            self.forget_data(&vertex.addr);
        }
        self.fates.set(&vertex.addr.resource, &found.objects);
        for object in found.objects {
            self.record_object(&vertex.addr, &vertex.provider, object);
        }
        if let Some(state) = self.plan.prior.resources.get_mut(&vertex.addr)
            && state.provider != vertex.provider
        {
            Arc::make_mut(state).provider = vertex.provider.clone();
        }
    }

    /// A data source leaves nothing behind: only what was read this time is kept.
    fn forget_data(&mut self, addr: &ResourceAddr) {
        self.plan.prior.resources.remove(addr);
    }

    fn record_object(
        &mut self,
        resource: &ResourceAddr,
        provider: &crate::addr::ProviderConfigAddr,
        found: FoundObject,
    ) {
        let addr = resource.instance(found.key.clone());
        match found.refreshed {
            Refreshed::Same => {}
            Refreshed::Gone => self.plan.prior.remove_object(&addr, found.deposed.as_ref()),
            Refreshed::Now(object) => {
                let state = self.plan.prior.resource_mut(resource.clone(), provider);
                let instance = state.instances.entry(found.key.clone()).or_default();
                match &found.deposed {
                    Some(key) => drop(instance.deposed.insert(key.clone(), object)),
                    None => instance.current = Some(object),
                }
            }
        }
        let key = (addr, found.deposed);
        if let Some(drift) = found.drift {
            self.plan.drift.insert(key.clone(), drift);
        }
        if let Some(change) = found.change {
            self.session.watch.see(&Event::Planned(&change));
            self.plan.changes.insert(key, change);
        }
    }

    fn record_output(&mut self, name: &Str, after: Value, sensitive: bool) {
        if self.plan.mode == Mode::Destroy {
            return;
        }
        let stored = self.session.state.outputs.get(name);
        self.refresh_output(name, &after, sensitive);
        let change = output_change(stored, after, sensitive);
        self.plan.outputs.insert(name.clone(), change);
    }

    /// What an output is already known to be is part of the state before applying, so that a plan
    /// that only refreshes brings outputs up to date as well.
    fn refresh_output(&mut self, name: &Str, after: &Value, sensitive: bool) {
        let outputs = &mut self.plan.prior.outputs;
        let bare = after.clone().split_marks().0.into_value();
        match Known::new(bare) {
            Ok(value) if value.value().is_null() => drop(outputs.remove(name)),
            Ok(value) => drop(outputs.insert(name.clone(), OutputValue { value, sensitive })),
            Err(_) => {}
        }
    }

    fn finish(self, diags: &mut Diagnostics, options: &Options) -> Plan {
        let Self { session, problems, mut plan, .. } = self;
        for problems in problems.into_values() {
            let _ = diags.append(problems);
        }
        let declared = &session.module().outputs;
        for (name, output) in &session.state.outputs {
            let goes = options.mode == Mode::Destroy && options.targets.is_empty()
                || !declared.contains_key(name) && options.targets.is_empty();
            if goes {
                let change = OutputChange {
                    action: Action::Delete,
                    before: output.value.value().clone(),
                    after: Value::null(Type::Dynamic),
                    sensitive: output.sensitive,
                };
                plan.outputs.insert(name.clone(), change);
            }
        }
        drop_lost_data(&mut plan.prior, session);
        plan
    }
}

/// Data sources that are only in the state are dropped: there is nothing to do about them.
fn drop_lost_data(prior: &mut State, session: &Session<'_>) {
    let declared = &session.module().resources;
    prior.resources.retain(|addr, _| {
        addr.resource.mode() != ResourceMode::Data
            || addr.module.is_root() && declared.contains_key(&addr.resource)
    });
}

fn output_change(stored: Option<&OutputValue>, after: Value, sensitive: bool) -> OutputChange {
    let before = stored.map_or_else(
        || Value::null(Type::Dynamic),
        |stored| Known::into_value(stored.value.clone()),
    );
    let bare = |value: &Value| value.clone().split_marks().0.into_value();
    let same_secrecy = stored.is_none_or(|stored| stored.sensitive == sensitive);
    let action = match (stored, after.is_null()) {
        (None, true) => Action::NoOp,
        (None, false) => Action::Create,
        (Some(_), false) if same_secrecy && bare(&before) == bare(&after) => Action::NoOp,
        (Some(_), _) => Action::Update,
    };
    // A value that was secret until now is not shown beside the one that no longer is.
    let sensitive = sensitive || stored.is_some_and(|stored| stored.sensitive);
    OutputChange { action, before, after, sensitive }
}
