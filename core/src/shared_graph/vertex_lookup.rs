//! Positions of referable objects among the vertices of a graph, and the edges that both graphs
//! have between them. Each phase decides which vertices there are.

use std::collections::BTreeMap;

use formwork_value::Str;

use super::{EdgeReason, PhaseVertex, VertexKind};
use crate::addr::{ProviderConfigAddr, Reference, ReferenceSubject};
use crate::config::{Config, ModuleNode};
use crate::eval::vertex::{NamedValueBlock, ValueVertex};
use crate::graph::{Edges, VertexId, enumerate_vertices};

/// Positions of referable objects among the vertices.
#[derive(Debug)]
pub(crate) struct VertexLookup {
    /// Modules by their position in the tree.
    modules: Vec<ModuleVertexLookup>,
    providers: BTreeMap<ProviderConfigAddr, VertexId>,
}

#[derive(Debug, Default)]
struct ModuleVertexLookup {
    subjects: BTreeMap<ReferenceSubject, VertexId>,
    outputs: BTreeMap<Str, VertexId>,
    call: Option<VertexId>,
    closed: Option<VertexId>,
}

impl VertexLookup {
    /// Collects every vertex that can be referred to.
    pub(crate) fn from_vertices<'c, V: PhaseVertex<'c>>(
        config: &'c Config,
        vertices: &[V],
    ) -> Self {
        let modules = std::iter::repeat_with(ModuleVertexLookup::default).take(config.nodes.len());
        let mut names = Self { modules: modules.collect(), providers: BTreeMap::new() };
        for (at, vertex) in enumerate_vertices(vertices) {
            names.insert_vertex(config, &**vertex, at);
        }
        names
    }

    fn insert_vertex<'c>(
        &mut self,
        config: &Config,
        vertex: &(impl VertexKind<'c> + ?Sized),
        at: VertexId,
    ) {
        // Separate lookups, because each kind has its own form of reference.
        if let Some(value) = vertex.as_value() {
            self.insert_value(value, at);
        } else if let Some(call) = vertex.as_module_call() {
            self.modules[call.node.index].call = Some(at);
        } else if let Some(node) = vertex.closed_module() {
            self.modules[node.index].closed = Some(at);
        } else if let Some(provider) = vertex.as_provider() {
            self.providers.insert(provider.addr.clone(), at);
        } else if let Some(addr) = vertex.resource_for_references()
            && let Some(node) = config.find_node(&addr.module)
        {
            let subject = ReferenceSubject::Resource(addr.resource.clone());
            self.modules[node.index].subjects.insert(subject, at);
        }
    }

    fn insert_value(&mut self, value: &ValueVertex<'_>, at: VertexId) {
        let module = &mut self.modules[value.node.index];
        let subject = match value.value {
            NamedValueBlock::Variable(variable) => {
                ReferenceSubject::Variable(variable.name.clone())
            }
            NamedValueBlock::Local(local) => ReferenceSubject::Local(local.name.clone()),
            NamedValueBlock::Output(output) => {
                module.outputs.insert(output.name.clone(), at);
                return;
            }
            // Nothing can refer to it.
            NamedValueBlock::Check(_) => return,
        };
        module.subjects.insert(subject, at);
    }

    /// Vertices of the provider configurations.
    pub(crate) fn provider_vertices(&self) -> &BTreeMap<ProviderConfigAddr, VertexId> {
        &self.providers
    }

    /// Vertex at which the instances of a called module become known; `None` for the root.
    fn module_expand_vertex(&self, node: &ModuleNode) -> Option<VertexId> {
        self.modules[node.index].call
    }

    /// Vertex at which everything in a called module is done; `None` for the root.
    fn module_close_vertex(&self, node: &ModuleNode) -> Option<VertexId> {
        self.modules[node.index].closed
    }

    /// Vertex that a reference in a module waits for: one output of a called module if it names
    /// one, everything in the module if it names none.
    pub(crate) fn find_vertex(
        &self,
        node: &ModuleNode,
        reference: &Reference,
    ) -> Option<&VertexId> {
        let ReferenceSubject::Module(name) = &reference.subject else {
            return self.modules[node.index].subjects.get(&reference.subject);
        };
        let called = &self.modules[*node.children.get(name)?];
        let output = reference.module_output().and_then(|output| called.outputs.get(&output.name));
        // An undeclared output is reported elsewhere. Waiting for all of the module is safe for it
        // too.
        output.or(called.closed.as_ref())
    }
}

/// Makes everything in a called module wait until its instances are known, and the end of the module
/// wait for everything in it.
pub(crate) fn connect_modules<'c, V: PhaseVertex<'c>>(
    config: &'c Config,
    vertices: &[V],
    names: &VertexLookup,
    edges: &mut Edges<EdgeReason>,
) {
    for (at, vertex) in enumerate_vertices(vertices) {
        if let Some(call) =
            vertex.required_module().and_then(|node| names.module_expand_vertex(node))
        {
            edges.connect(at, call, EdgeReason::Module);
        }
        if let Some(closed) =
            vertex.enclosing_module(config).and_then(|node| names.module_close_vertex(node))
        {
            edges.connect(closed, at, EdgeReason::Module);
        }
    }
}

/// Makes all calls of a provider wait for its configuration.
pub(crate) fn connect_providers<'c, V: PhaseVertex<'c>>(
    vertices: &[V],
    names: &VertexLookup,
    edges: &mut Edges<EdgeReason>,
) {
    for (at, vertex) in enumerate_vertices(vertices) {
        if let Some(&to) = vertex.provider_config().and_then(|addr| names.providers.get(addr)) {
            edges.connect(at, to, EdgeReason::Provider);
        }
    }
}
