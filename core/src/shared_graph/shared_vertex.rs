//! Vertices that the plan graph and the apply graph share: values, module calls, provider
//! configurations, and the ends of ephemeral resources. Operations on objects are specific to each graph.

use std::collections::BTreeSet;
use std::fmt::Display;

use formwork_value::{Diagnostics, Value};

use super::{ProviderVertex, visit_provider, written_providers};
use crate::addr::{ConfigResourceAddr, ProviderAddr, ProviderConfigAddr, Reference};
use crate::config::{Config, ModuleNode, Output, Resource};
use crate::ephemeral::EphemeralResources;
use crate::eval::Expansion;
use crate::eval::module_call::ModuleCallVertex;
use crate::eval::vertex::{EvalInputs, NamedValueBlock, ValueVertex};
use crate::graph::render::{RenderedVertex, VertexStyle};
use crate::session::Session;

/// A vertex that both graphs have.
#[derive(Debug)]
pub(crate) enum SharedVertex<'c> {
    /// A variable, local value, output, or block of conditions.
    Value(ValueVertex<'c>),
    /// A called module, whose instances become known here.
    Call(ModuleCallVertex<'c>),
    /// A called module, in which everything is done.
    ModuleClosed(&'c ModuleNode),
    /// A provider configuration.
    Provider(ProviderVertex<'c>),
    /// The end of an ephemeral resource, when everything that needs it is done.
    CloseEphemeral(ConfigResourceAddr),
}

/// Result of visiting a shared vertex.
#[derive(Debug)]
pub(crate) enum SharedVisitOutcome {
    /// Nothing to record.
    Nothing,
    /// A value for each instance of the module.
    Values(Vec<Value>),
    /// The instances of a called module, for each instance of its caller.
    Called(Vec<Expansion>),
}

/// References that are mentioned in a module.
pub(crate) type ModuleReferences<'c> = (&'c ModuleNode, &'c [Reference]);

/// A vertex of the graph of a phase.
pub(crate) trait PhaseVertex<'c>: From<SharedVertex<'c>> + Display {
    /// The shared vertex, if it is one.
    fn as_shared(&self) -> Option<&SharedVertex<'c>>;

    /// The module whose instances must be known before this can be visited.
    fn required_module(&self) -> Option<&'c ModuleNode>;

    /// The module that is done only when this is.
    fn enclosing_module(&self, config: &'c Config) -> Option<&'c ModuleNode>;

    /// The resource it stands for, if it has a block.
    fn resource_block(&self) -> Option<&Resource>;

    /// The resource that a mention finds here.
    fn resource_for_references(&self) -> Option<&ConfigResourceAddr>;

    /// The provider configuration that makes the change, if it is one of an object.
    fn provider_config(&self) -> Option<&ProviderConfigAddr>;

    /// The ephemeral resource that is opened here.
    fn opened_ephemeral(&self) -> Option<&ConfigResourceAddr>;

    /// Whether what it waits for may still be used by what waits for it: a value passes on what it is
    /// made of, an object that was made does not.
    fn passes_values_on(&self) -> bool;
}

/// Adds every variable, local value, output and block of conditions.
pub(crate) fn add_value_vertices<'c, V: PhaseVertex<'c>>(
    config: &'c Config,
    add: &mut dyn FnMut(V),
) {
    for node in &config.nodes {
        let module = &*node.module;
        let variables = module.variables.values().map(NamedValueBlock::Variable);
        let locals = module.locals.values().map(NamedValueBlock::Local);
        let outputs = module.outputs.values().map(NamedValueBlock::Output);
        let checks = module.checks.values().map(NamedValueBlock::Check);
        for value in variables.chain(locals).chain(outputs).chain(checks) {
            add(SharedVertex::Value(ValueVertex { node, value }).into());
        }
    }
}

/// Adds two vertices for each called module: one where its instances become known, and one where
/// everything in it is done.
pub(crate) fn add_module_call_vertices<'c, V: PhaseVertex<'c>>(
    config: &'c Config,
    add: &mut dyn FnMut(V),
) {
    for call in config.nodes.iter().filter_map(|node| ModuleCallVertex::from_node(config, node)) {
        add(SharedVertex::Call(call).into());
        add(SharedVertex::ModuleClosed(call.node).into());
    }
}

/// Adds provider configurations. One that is used but not written has only nulls.
pub(crate) fn add_providers<'c, V: PhaseVertex<'c>>(
    config: &'c Config,
    used: BTreeSet<ProviderConfigAddr>,
    add: &mut dyn FnMut(V),
) {
    let written = written_providers(config);
    for addr in used {
        let written = written.get(&addr).copied();
        add(SharedVertex::Provider(ProviderVertex { addr, written }).into());
    }
}

impl<'c> SharedVertex<'c> {
    /// The module whose instances must be known before this can be visited.
    pub(crate) fn required_module(&self) -> Option<&'c ModuleNode> {
        match self {
            Self::Value(value) => Some(value.node),
            Self::Call(call) => Some(call.caller),
            Self::ModuleClosed(node) => Some(node),
            Self::Provider(provider) => provider.written.map(|(node, _)| node),
            Self::CloseEphemeral(_) => None,
        }
    }

    /// The module that is done only when this is: the end of a module belongs to the one around it.
    pub(crate) fn enclosing_module(&self, config: &'c Config) -> Option<&'c ModuleNode> {
        match self {
            Self::ModuleClosed(node) => node.caller.map(|caller| &config.nodes[caller]),
            other => other.required_module(),
        }
    }

    /// References that it mentions, by the module in which the mention stands.
    pub(crate) fn references(&self, config: &'c Config) -> Vec<ModuleReferences<'c>> {
        match self {
            Self::Value(value) => value.references(config),
            Self::Call(call) => vec![call.references()],
            Self::Provider(provider) => provider.references().into_iter().collect(),
            Self::ModuleClosed(_) | Self::CloseEphemeral(_) => Vec::new(),
        }
    }

    /// The provider that it configures.
    pub(crate) fn provider_addr(&self) -> Option<&ProviderAddr> {
        match self {
            Self::Provider(provider) => Some(&provider.addr.provider),
            _ => None,
        }
    }

    /// The provider configuration that it is.
    pub(crate) fn provider_config(&self) -> Option<&ProviderConfigAddr> {
        match self {
            Self::Provider(provider) => Some(&provider.addr),
            _ => None,
        }
    }

    /// Whether its dependencies may still be used by its dependents.
    pub(crate) fn passes_values_on(&self) -> bool {
        matches!(self, Self::Value(_) | Self::Call(_) | Self::Provider(_))
    }

    /// Evaluates the vertex, or performs its operation.
    pub(crate) async fn visit_vertex(
        &self,
        diags: &mut Diagnostics,
        session: &Session<'_>,
        eval_inputs: EvalInputs<'_>,
        ephemeral_resources: &EphemeralResources<'_>,
    ) -> SharedVisitOutcome {
        match self {
            Self::Value(value) => {
                let found = session
                    .evaluate_with_functions(diags, |diags| value.visit_value(diags, eval_inputs))
                    .await;
                found.map_or(SharedVisitOutcome::Nothing, SharedVisitOutcome::Values)
            }
            Self::Call(call) => {
                let found = session
                    .evaluate_with_functions(diags, |diags| call.visit(diags, eval_inputs))
                    .await;
                found.map_or(SharedVisitOutcome::Nothing, SharedVisitOutcome::Called)
            }
            Self::Provider(provider) => {
                // Errors are in `diags`; there is nothing else to know.
                let _ = visit_provider(session, diags, provider).await;
                SharedVisitOutcome::Nothing
            }
            Self::CloseEphemeral(addr) => {
                ephemeral_resources.close_resource(diags, addr).await;
                SharedVisitOutcome::Nothing
            }
            Self::ModuleClosed(_) => SharedVisitOutcome::Nothing,
        }
    }

    /// Records the result. Returns the output of the root module that it is, with its value.
    pub(crate) fn record_outcome(
        &self,
        session: &Session<'_>,
        found: SharedVisitOutcome,
    ) -> Option<(&'c Output, Value)> {
        match (self, found) {
            (Self::Value(value), SharedVisitOutcome::Values(found)) => {
                // The root module has exactly one instance.
                let output = value.as_root_output().zip(found.first().cloned());
                value.record_values(session.results, found);
                output
            }
            (Self::Call(call), SharedVisitOutcome::Called(found)) => {
                call.record(session.eval_inputs(), found);
                None
            }
            _ => None,
        }
    }

    /// Its appearance in a drawn graph.
    pub(crate) fn render(&self) -> RenderedVertex {
        let look = match self {
            Self::Value(value) => return value.render(),
            Self::Provider(provider) => {
                Some(VertexStyle { label: provider.addr.to_string(), shape: "diamond" })
            }
            Self::Call(_) | Self::ModuleClosed(_) | Self::CloseEphemeral(_) => None,
        };
        RenderedVertex { name: self.to_string(), look }
    }
}

impl Display for SharedVertex<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Value(value) => value.fmt(f),
            Self::Call(call) => write!(f, "{} (expand)", call.node.path),
            Self::ModuleClosed(node) => write!(f, "{} (close)", node.path),
            Self::Provider(provider) => provider.addr.fmt(f),
            Self::CloseEphemeral(addr) => write!(f, "{addr} (close)"),
        }
    }
}
