//! Builds the plan graph: three lists of transforms, run in this order.
//!
//! Within the first two lists the order does not matter. An `Add` works from configuration and state
//! alone and cannot see edges; a `Connect` cannot add a vertex; a `Prune` can only remove.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use formwork_value::{Diagnostics, Reported};

use super::Options;
use super::transform::{
    add_calls, add_orphans, add_providers, add_resources, add_values, connect_modules,
    connect_providers, connect_references, prune_excluded, prune_for_destroy, prune_targets,
};
use super::vertex::Vertex;
use crate::addr::{ProviderAddr, ProviderConfigAddr, Subject};
use crate::config::Config;
use crate::graph::{Draft, Edges, VertexId};
use crate::phase::{Names, Why};
use crate::session::Session;

/// What every transform may look at.
#[derive(Clone, Copy)]
pub(crate) struct Inputs<'c> {
    pub(crate) session: &'c Session<'c>,
    pub(crate) options: &'c Options,
}

/// Adds vertices.
type Add = for<'c> fn(Inputs<'c>, &mut Diagnostics, &mut dyn FnMut(Vertex<'c>));
/// Adds edges.
type Connect = for<'c> fn(&'c Config, &[Vertex<'c>], &Index, &mut Edges<Why>);
/// Says which vertices stay.
type Prune = for<'c> fn(Inputs<'c>, &Draft<Vertex<'c>, Why>) -> Vec<bool>;

const ADD: [Add; 5] =
    [add_values::add, add_calls::add, add_providers::add, add_resources::add, add_orphans::add];
const CONNECT: [Connect; 3] =
    [connect_references::connect, connect_modules::connect, connect_providers::connect];
const PRUNE: [Prune; 3] = [prune_for_destroy::prune, prune_targets::prune, prune_excluded::prune];

/// Where things are among the vertices.
#[derive(Debug)]
pub(crate) struct Index {
    pub(crate) names: Names,
    pub(crate) providers: BTreeMap<ProviderConfigAddr, VertexId>,
}

impl Index {
    fn of(config: &Config, vertices: &[Vertex<'_>]) -> Self {
        let mut names = Names::new(config);
        let mut providers = BTreeMap::new();
        for (at, vertex) in (0..).map(VertexId).zip(vertices) {
            match vertex {
                Vertex::Value(value) => names.insert_value(value, at),
                Vertex::Call(call) => names.insert_call(call.node, at),
                Vertex::Closed(node) => names.insert_closed(node, at),
                Vertex::Provider(provider) => {
                    providers.insert(provider.addr.clone(), at);
                }
                Vertex::Resource(resource) => {
                    let subject = Subject::Resource(resource.addr.resource.clone());
                    names.insert(resource.node, subject, at);
                }
                Vertex::Read(_) | Vertex::Orphan(_) | Vertex::Close(_) => {}
            }
        }
        Self { names, providers }
    }
}

/// Builds the graph, not yet checked for cycles.
pub(crate) fn draft<'c>(
    diags: &mut Diagnostics,
    session: &'c Session<'c>,
    options: &'c Options,
) -> Result<Draft<Vertex<'c>, Why>, Reported> {
    let mut draft = whole(diags, session, options)?;
    for prune in PRUNE {
        let keep = prune(Inputs { session, options }, &draft);
        if keep.contains(&false) {
            draft.retain(|id, _| keep[id.index()]);
        }
    }
    Ok(draft)
}

/// Builds the graph of everything that is written and in the state, whatever the plan is limited to.
pub(crate) fn whole<'c>(
    diags: &mut Diagnostics,
    session: &'c Session<'c>,
    options: &'c Options,
) -> Result<Draft<Vertex<'c>, Why>, Reported> {
    draft_with(diags, Inputs { session, options }, &ADD, &CONNECT)
}

fn draft_with<'c>(
    diags: &mut Diagnostics,
    inputs: Inputs<'c>,
    adds: &[Add],
    connects: &[Connect],
) -> Result<Draft<Vertex<'c>, Why>, Reported> {
    let mut draft = Draft::new();
    for add in adds {
        add(inputs, diags, &mut |vertex| {
            draft.add(vertex);
        });
    }
    diags.check()?;
    let (vertices, edges) = draft.split();
    let config = inputs.session.config;
    let index = Index::of(config, vertices);
    for connect in connects {
        connect(config, vertices, &index, edges);
    }
    Ok(draft)
}

/// Takes everything but resources out of a graph; what a resource reached through it stays reached.
pub(crate) fn resources_only(draft: Draft<Vertex<'_>, Why>) -> Draft<Vertex<'_>, Why> {
    let mut draft = draft;
    let n_vertices = draft.vertices().len();
    let mut dependencies = vec![Vec::new(); n_vertices];
    for edge in draft.edges().iter() {
        dependencies[edge.dependent.index()].push((edge.dependency, edge.why));
    }
    let is_resource: Vec<bool> =
        draft.vertices().iter().map(|vertex| matches!(vertex, Vertex::Resource(_))).collect();
    for from in (0..n_vertices).filter(|&at| is_resource[at]) {
        let mut seen = BTreeSet::new();
        let mut queue = dependencies[from].clone();
        while let Some((on, why)) = queue.pop() {
            if !seen.insert(on) {
                continue;
            }
            if is_resource[on.index()] {
                draft.connect(VertexId(u32::try_from(from).unwrap_or(u32::MAX)), on, why);
            } else {
                queue.extend(dependencies[on.index()].iter().copied());
            }
        }
    }
    draft.retain(|id, _| is_resource[id.index()]);
    draft
}

/// The providers that the vertices need.
pub(crate) fn providers(draft: &Draft<Vertex<'_>, Why>) -> Vec<ProviderAddr> {
    let needed = draft.vertices().iter().filter_map(|vertex| match vertex {
        Vertex::Provider(provider) => Some(provider.addr.provider.clone()),
        _ => None,
    });
    needed.collect()
}
