//! Where the things that can be mentioned are among the vertices of a graph. Which vertices there are
//! is each phase's own business.

use std::collections::BTreeMap;

use formwork_value::Str;

use crate::addr::{Reference, Subject};
use crate::config::{Config, ModuleNode};
use crate::eval::vertex::{NamedValue, ValueVertex};
use crate::graph::VertexId;

/// Where the things that can be mentioned are among the vertices.
#[derive(Debug)]
pub(crate) struct Names {
    /// By position of the module in the tree.
    modules: Vec<ModuleNames>,
}

#[derive(Debug, Default)]
struct ModuleNames {
    subjects: BTreeMap<Subject, VertexId>,
    outputs: BTreeMap<Str, VertexId>,
    call: Option<VertexId>,
    closed: Option<VertexId>,
}

impl Names {
    /// Makes an empty index.
    pub(crate) fn new(config: &Config) -> Self {
        let modules = std::iter::repeat_with(ModuleNames::default).take(config.nodes.len());
        Self { modules: modules.collect() }
    }

    /// Takes note of something within a module.
    pub(crate) fn insert(&mut self, node: &ModuleNode, subject: Subject, at: VertexId) {
        self.modules[node.index].subjects.insert(subject, at);
    }

    /// Takes note of a variable, local value or output.
    pub(crate) fn insert_value(&mut self, vertex: &ValueVertex<'_>, at: VertexId) {
        let node = vertex.node;
        match vertex.value {
            NamedValue::Variable(variable) => {
                self.insert(node, Subject::Variable(variable.name.clone()), at);
            }
            NamedValue::Local(local) => self.insert(node, Subject::Local(local.name.clone()), at),
            NamedValue::Output(output) => {
                self.modules[node.index].outputs.insert(output.name.clone(), at);
            }
            NamedValue::Check(_) => {}
        }
    }

    /// Takes note of where the instances of a called module become known.
    pub(crate) fn insert_call(&mut self, node: &ModuleNode, at: VertexId) {
        self.modules[node.index].call = Some(at);
    }

    /// Takes note of where everything in a called module is done.
    pub(crate) fn insert_closed(&mut self, node: &ModuleNode, at: VertexId) {
        self.modules[node.index].closed = Some(at);
    }

    /// Where the instances of a called module become known; `None` for the root.
    pub(crate) fn call(&self, node: &ModuleNode) -> Option<VertexId> {
        self.modules[node.index].call
    }

    /// Where everything in a called module is done; `None` for the root.
    pub(crate) fn closed(&self, node: &ModuleNode) -> Option<VertexId> {
        self.modules[node.index].closed
    }

    /// What a mention in a module waits for: one output of a called module where it names one,
    /// everything in the module where it names none.
    pub(crate) fn find(&self, node: &ModuleNode, reference: &Reference) -> Option<&VertexId> {
        let Subject::Module(name) = &reference.subject else {
            return self.modules[node.index].subjects.get(&reference.subject);
        };
        let called = &self.modules[*node.children.get(name)?];
        let output = reference.output().and_then(|output| called.outputs.get(&output.name));
        output.or(called.closed.as_ref())
    }
}
