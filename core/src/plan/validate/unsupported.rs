//! References in arguments and blocks that the schema lacks. Terraform never evaluates them: they are no
//! edges of the graph, so a resource with one is checked although its subject is invalid.

use std::collections::BTreeMap;

use formwork_lang::refs;
use formwork_value::schema::Block;
use formwork_value::{Diagnostic, Span};

use crate::config::Resource;
use crate::graph::{Draft, VertexId, numbered};
use crate::plan::vertex::Vertex;
use crate::provisioner::connection;
use crate::session::Session;
use crate::shared_graph::{EdgeReason, SharedVertex};

/// Removes the edges. The providers of the graph must be loaded.
pub(super) fn remove_edges(session: &Session<'_>, draft: &mut Draft<Vertex<'_>, EdgeReason>) {
    let spans =
        |(at, vertex)| Some((at, unsupported(session, vertex))).filter(|it| !it.1.is_empty());
    let spans: BTreeMap<VertexId, Vec<Span>> =
        numbered(draft.vertices()).filter_map(spans).collect();
    if spans.is_empty() {
        return;
    }
    let (_, edges) = draft.split();
    edges.retain(|edge| match (edge.why, spans.get(&edge.dependent)) {
        (EdgeReason::Mention(at), Some(spans)) => !spans.iter().any(|span| span.covers(at)),
        _ => true,
    });
}

/// Removes warnings about references in unsupported arguments and blocks of a vertex, and about those in
/// `replace_triggered_by`, whose values Terraform does not take.
pub(super) fn remove_warnings(
    session: &Session<'_>,
    vertex: &Vertex<'_>,
    warnings: &mut Vec<Diagnostic>,
) {
    let mut spans = unsupported(session, vertex);
    if let Vertex::Resource(resource) = vertex {
        let triggers = &resource.config.lifecycle.replace_triggered_by;
        spans.extend(triggers.iter().map(|trigger| trigger.span));
    }
    let is_unchecked = |at| spans.iter().any(|span| span.covers(at));
    warnings.retain(|warning| !warning.subject.is_some_and(is_unchecked));
}

/// Returns the spans of the arguments and blocks of a vertex that the schema lacks.
fn unsupported(session: &Session<'_>, vertex: &Vertex<'_>) -> Vec<Span> {
    match vertex {
        Vertex::Resource(resource) => {
            let Some(loaded) = session.pool.loaded(&resource.provider.provider) else {
                return Vec::new();
            };
            let name = &resource.addr.resource;
            let ty = loaded.find(name.mode(), name.kind());
            let unsupported = match &ty {
                Some(ty) => refs::unsupported(&resource.config.body, ty.block()),
                // A type that the provider lacks has no arguments, so none of them is evaluated.
                None => refs::unsupported(&resource.config.body, &Block::default()),
            };
            unsupported.into_iter().chain(in_provisioners(session, resource.config)).collect()
        }
        Vertex::SharedVertex(SharedVertex::Provider(provider)) => {
            let loaded = session.pool.loaded(&provider.addr.provider);
            loaded.zip(provider.block()).map_or_else(Vec::new, |(loaded, block)| {
                refs::unsupported(&block.body, loaded.config().block())
            })
        }
        Vertex::SharedVertex(_) | Vertex::Read(_) | Vertex::Orphan(_) => Vec::new(),
    }
}

fn in_provisioners(session: &Session<'_>, resource: &Resource) -> Vec<Span> {
    let mut found = Vec::new();
    for provisioner in &resource.provisioners {
        if let Some(program) = session.provisioners.find(&provisioner.kind.name) {
            found.extend(refs::unsupported(&provisioner.body, program.schema()));
        }
        if let Some(body) = &provisioner.connection {
            found.extend(refs::unsupported(body, connection()));
        }
    }
    found
}
