//! Positions of referable objects among the vertices of a graph, and the edges that both graphs
//! have between them. Each phase decides which vertices there are.

use std::collections::BTreeMap;

use formwork_value::Str;

use super::{EdgeReason, SharedVertex, Vertex};
use crate::addr::{ProviderConfigAddr, Reference, Subject};
use crate::config::{Config, ModuleNode};
use crate::eval::vertex::NamedValue;
use crate::graph::{Edges, VertexId, numbered};

/// Positions of referable objects among the vertices.
#[derive(Debug)]
pub(crate) struct Names {
    /// By position of the module in the tree.
    modules: Vec<ModuleNames>,
    providers: BTreeMap<ProviderConfigAddr, VertexId>,
}

#[derive(Debug, Default)]
struct ModuleNames {
    subjects: BTreeMap<Subject, VertexId>,
    outputs: BTreeMap<Str, VertexId>,
    call: Option<VertexId>,
    closed: Option<VertexId>,
}

impl Names {
    /// Takes note of every vertex that can be mentioned.
    pub(crate) fn of<'c, V: Vertex<'c>>(config: &'c Config, vertices: &[V]) -> Self {
        let modules = std::iter::repeat_with(ModuleNames::default).take(config.nodes.len());
        let mut names = Self { modules: modules.collect(), providers: BTreeMap::new() };
        for (at, vertex) in numbered(vertices) {
            if let Some(shared) = vertex.shared() {
                names.insert(shared, at);
            } else if let Some(addr) = vertex.mentioned()
                && let Some(node) = config.node(&addr.module)
            {
                let subject = Subject::Resource(addr.resource.clone());
                names.modules[node.index].subjects.insert(subject, at);
            }
        }
        names
    }

    fn insert(&mut self, shared: &SharedVertex<'_>, at: VertexId) {
        match shared {
            SharedVertex::Value(vertex) => {
                let module = &mut self.modules[vertex.node.index];
                let subject = match vertex.value {
                    NamedValue::Variable(variable) => Subject::Variable(variable.name.clone()),
                    NamedValue::Local(local) => Subject::Local(local.name.clone()),
                    NamedValue::Output(output) => {
                        module.outputs.insert(output.name.clone(), at);
                        return;
                    }
                    // Nothing can mention it.
                    NamedValue::Check(_) => return,
                };
                module.subjects.insert(subject, at);
            }
            SharedVertex::Call(call) => self.modules[call.node.index].call = Some(at),
            SharedVertex::Closed(node) => self.modules[node.index].closed = Some(at),
            SharedVertex::Provider(provider) => {
                self.providers.insert(provider.addr.clone(), at);
            }
            SharedVertex::Close(_) => {}
        }
    }

    /// Vertices of the provider configurations.
    pub(crate) fn providers(&self) -> &BTreeMap<ProviderConfigAddr, VertexId> {
        &self.providers
    }

    /// Vertex at which the instances of a called module become known; `None` for the root.
    fn call(&self, node: &ModuleNode) -> Option<VertexId> {
        self.modules[node.index].call
    }

    /// Vertex at which everything in a called module is done; `None` for the root.
    fn module_close(&self, node: &ModuleNode) -> Option<VertexId> {
        self.modules[node.index].closed
    }

    /// Vertex that a reference in a module waits for: one output of a called module if it names
    /// one, everything in the module if it names none.
    pub(crate) fn find(&self, node: &ModuleNode, reference: &Reference) -> Option<&VertexId> {
        let Subject::Module(name) = &reference.subject else {
            return self.modules[node.index].subjects.get(&reference.subject);
        };
        let called = &self.modules[*node.children.get(name)?];
        let output = reference.output().and_then(|output| called.outputs.get(&output.name));
        // An undeclared output is reported elsewhere. Waiting for all of the module is safe for it
        // too.
        output.or(called.closed.as_ref())
    }
}

/// Makes everything in a called module wait until its instances are known, and the end of the module
/// wait for everything in it.
pub(crate) fn connect_modules<'c, V: Vertex<'c>>(
    config: &'c Config,
    vertices: &[V],
    names: &Names,
    edges: &mut Edges<EdgeReason>,
) {
    for (at, vertex) in numbered(vertices) {
        if let Some(call) = vertex.module().and_then(|node| names.call(node)) {
            edges.connect(at, call, EdgeReason::Module);
        }
        if let Some(closed) = vertex.around(config).and_then(|node| names.module_close(node)) {
            edges.connect(closed, at, EdgeReason::Module);
        }
    }
}

/// Makes whatever a provider does wait for the configuration of the provider.
pub(crate) fn connect_providers<'c, V: Vertex<'c>>(
    vertices: &[V],
    names: &Names,
    edges: &mut Edges<EdgeReason>,
) {
    for (at, vertex) in numbered(vertices) {
        if let Some(&to) = vertex.provider().and_then(|addr| names.providers.get(addr)) {
            edges.connect(at, to, EdgeReason::Provider);
        }
    }
}
