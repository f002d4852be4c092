//! References in arguments and blocks that the schema lacks. Terraform never evaluates them: they are no
//! edges of the graph, so a resource with one is checked although its subject is invalid.

use std::collections::BTreeMap;

use formwork_lang::refs;
use formwork_value::schema::Block;
use formwork_value::{Diagnostic, Span};

use crate::config::Resource;
use crate::graph::{GraphDraft, VertexId, enumerate_vertices};
use crate::plan::resource_vertex::ResourceVertex;
use crate::plan::vertex::PlanVertex;
use crate::provisioner::connection_schema;
use crate::session::Session;
use crate::shared_graph::EdgeReason;

/// Removes the edges. The providers of the graph must be loaded.
pub(super) fn remove_edges_outside_schema(
    session: &Session<'_>,
    draft: &mut GraphDraft<PlanVertex<'_>, EdgeReason>,
) {
    let spans = |(at, vertex)| {
        Some((at, spans_outside_schema(session, vertex))).filter(|it| !it.1.is_empty())
    };
    let spans: BTreeMap<VertexId, Vec<Span>> =
        enumerate_vertices(draft.vertices()).filter_map(spans).collect();
    if spans.is_empty() {
        return;
    }
    let (_, edges) = draft.split_vertices_and_edges();
    edges.retain_edges(|edge| match (edge.reason, spans.get(&edge.dependent)) {
        (EdgeReason::Reference(at), Some(spans)) => !spans.iter().any(|span| span.covers(at)),
        _ => true,
    });
}

/// Removes warnings about references in unsupported arguments and blocks of a vertex, and about those in
/// `replace_triggered_by`, whose values Terraform does not take.
pub(super) fn remove_warnings_outside_schema(
    session: &Session<'_>,
    vertex: &PlanVertex<'_>,
    warnings: &mut Vec<Diagnostic>,
) {
    let mut spans = spans_outside_schema(session, vertex);
    if let Some(resource) = vertex.as_resource() {
        let triggers = &resource.config.lifecycle.replace_triggered_by;
        spans.extend(triggers.iter().map(|trigger| trigger.span));
    }
    let is_unchecked = |at| spans.iter().any(|span| span.covers(at));
    warnings.retain(|warning| !warning.subject.is_some_and(is_unchecked));
}

/// Returns the spans of the arguments and blocks of a vertex that the schema lacks.
fn spans_outside_schema(session: &Session<'_>, vertex: &PlanVertex<'_>) -> Vec<Span> {
    if let Some(resource) = vertex.as_resource() {
        return resource_spans_outside_schema(session, resource);
    }
    let Some(provider) = vertex.as_provider() else { return Vec::new() };
    let loaded = session.pool.loaded_provider(&provider.addr.provider);
    loaded.zip(provider.provider_block()).map_or_else(Vec::new, |(loaded, block)| {
        refs::find_spans_outside_schema(&block.body, loaded.config_type().schema_block())
    })
}

fn resource_spans_outside_schema(
    session: &Session<'_>,
    resource: &ResourceVertex<'_>,
) -> Vec<Span> {
    let Some(loaded) = session.pool.loaded_provider(&resource.provider.provider) else {
        return Vec::new();
    };
    let name = &resource.addr.resource;
    let ty = loaded.find_resource_type(name.mode(), name.resource_type());
    let unsupported = match &ty {
        Some(ty) => refs::find_spans_outside_schema(&resource.config.body, ty.schema_block()),
        // A type that the provider lacks has no arguments, so none of them is evaluated.
        None => refs::find_spans_outside_schema(&resource.config.body, &Block::default()),
    };
    unsupported
        .into_iter()
        .chain(provisioner_spans_outside_schema(session, resource.config))
        .collect()
}

fn provisioner_spans_outside_schema(session: &Session<'_>, resource: &Resource) -> Vec<Span> {
    let mut spans = Vec::new();
    for provisioner in &resource.provisioners {
        if let Some(program) = session.provisioners.find_provisioner(&provisioner.kind.name) {
            spans.extend(refs::find_spans_outside_schema(&provisioner.body, program.schema()));
        }
        if let Some(body) = &provisioner.connection {
            spans.extend(refs::find_spans_outside_schema(body, connection_schema()));
        }
    }
    spans
}
