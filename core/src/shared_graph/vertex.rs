//! Vertices that the plan graph and the apply graph share: values, module calls, provider
//! configurations, and the ends of ephemeral resources. Each kind is a file below this one, and a line
//! in the list of [`SharedVertex`]. Operations on objects are specific to each graph.

mod ephemeral_close;
mod module_call;
mod module_close;
mod provider;
mod value;

use std::fmt::Display;
use std::future::ready;
use std::ops::Deref;

use formwork_value::{Diagnostics, Reported, Value};

pub(crate) use ephemeral_close::EphemeralCloseVertex;
pub(crate) use module_call::add_module_call_vertices;
pub(crate) use module_close::ModuleCloseVertex;
pub(crate) use provider::{ProviderVertex, add_providers, written_providers};
pub(crate) use value::add_value_vertices;

use super::vertex_kinds;
use crate::addr::{ConfigResourceAddr, ProviderConfigAddr, Reference};
use crate::config::{Config, ModuleNode, Output, Resource};
use crate::ephemeral::EphemeralResources;
use crate::eval::module_call::ModuleCallVertex;
use crate::eval::vertex::{EvalInputs, ValueVertex};
use crate::eval::{ModuleResults, ModuleScope};
use crate::graph::render::RenderedVertex;
use crate::session::Session;

/// References of a module.
pub(crate) type ModuleReferences<'c> = (&'c ModuleNode, &'c [Reference]);

/// An output of the root module, with its value.
pub(crate) type RootOutput<'c> = (&'c Output, Value);

/// Properties of a vertex in both graphs. A kind overrides those that concern it; the defaults
/// here are those of a vertex that only waits. Code that needs one special kind requests it, as
/// [`VertexKind::as_value`] does.
pub(crate) trait VertexKind<'c>: Display {
    /// The variable, local value, output, or block of conditions that it is.
    fn as_value(&self) -> Option<&ValueVertex<'c>> {
        None
    }

    /// The call of a module that it is.
    fn as_module_call(&self) -> Option<&ModuleCallVertex<'c>> {
        None
    }

    /// The called module in which everything is done here.
    fn closed_module(&self) -> Option<&'c ModuleNode> {
        None
    }

    /// The provider configuration that it is.
    fn as_provider(&self) -> Option<&ProviderVertex<'c>> {
        None
    }

    /// The ephemeral resource that is closed here.
    fn closed_ephemeral(&self) -> Option<&ConfigResourceAddr> {
        None
    }

    /// The module whose instances must be known before this can be visited.
    fn required_module(&self) -> Option<&'c ModuleNode> {
        None
    }

    /// The module that is done only when this is.
    fn enclosing_module(&self, _: &'c Config) -> Option<&'c ModuleNode> {
        self.required_module()
    }

    /// References of the vertex, by the module that contains them.
    fn references(&self, _: &'c Config) -> Vec<ModuleReferences<'c>> {
        Vec::new()
    }

    /// The resource it represents, if it has a block.
    fn resource_block(&self) -> Option<&'c Resource> {
        None
    }

    /// The resource that a reference resolves to here: an ephemeral one, where it is opened.
    fn resource_for_references(&self) -> Option<&ConfigResourceAddr> {
        self.opened_ephemeral()
    }

    /// The provider configuration that makes the change, if it is one of an object.
    fn provider_config(&self) -> Option<&ProviderConfigAddr> {
        None
    }

    /// The ephemeral resource that is opened here.
    fn opened_ephemeral(&self) -> Option<&ConfigResourceAddr> {
        None
    }

    /// Whether what it waits for may still be used by what waits for it: a value passes on what it is
    /// made of, an object that was made does not.
    fn passes_values_on(&self) -> bool {
        false
    }

    /// Whether objects that wait for it depend on the objects that it waits for.
    fn passes_dependencies_on(&self) -> bool {
        false
    }

    /// Its appearance in a drawn graph.
    fn render(&self) -> RenderedVertex {
        RenderedVertex { name: self.to_string(), look: None }
    }
}

/// A vertex of the graph of a phase.
pub(crate) trait PhaseVertex<'c>:
    From<SharedVertex<'c>> + Display + Deref<Target: VertexKind<'c>>
{
}

impl<'c, V> PhaseVertex<'c> for V where
    V: From<SharedVertex<'c>> + Display + Deref<Target: VertexKind<'c>>
{
}

/// Inputs of the visit of a shared vertex.
#[derive(Clone, Copy)]
pub(crate) struct SharedContext<'a> {
    pub(crate) session: &'a Session<'a>,
    pub(crate) eval_inputs: EvalInputs<'a>,
    /// The ephemeral resources that are open.
    pub(crate) ephemeral_resources: &'a EphemeralResources<'a>,
}

/// Inputs of the validation of a vertex.
#[derive(Clone, Copy)]
pub(crate) struct ValidationContext<'s> {
    pub(crate) session: &'s Session<'s>,
    /// Those of a validation, with a check of references before an expression is evaluated.
    pub(crate) eval_inputs: EvalInputs<'s>,
}

impl<'s> ValidationContext<'s> {
    /// The scope of the single module instance of validation.
    pub(crate) fn module_scope(self, module: &'s ModuleResults) -> ModuleScope<'s> {
        self.session.module_scope(module).with_reference_check(self.eval_inputs.check)
    }
}

/// Visits of a shared vertex.
pub(crate) trait SharedVisit<'c>: VertexKind<'c> {
    /// Result to be recorded.
    type Outcome;

    /// Evaluates the vertex, or performs its operation.
    fn visit(
        &self,
        _: SharedContext<'_>,
        _: &mut Diagnostics,
    ) -> impl Future<Output = Option<Self::Outcome>> {
        ready(None)
    }

    /// Records the result. Returns the output of the root module that it is, with its value.
    fn record(&self, _: EvalInputs<'_>, _: Self::Outcome) -> Option<RootOutput<'c>> {
        None
    }

    /// Checks the vertex without state and without values. The result is recorded like that of a
    /// visit.
    fn validate(
        &self,
        _: ValidationContext<'_>,
        _: &mut Diagnostics,
    ) -> impl Future<Output = Result<Option<Self::Outcome>, Reported>> {
        ready(Ok(None))
    }
}

vertex_kinds! {
    /// A vertex that both graphs have.
    enum SharedVertex<'c>: VertexKind + SharedVisit {
        /// A variable, local value, output, or block of conditions.
        Value(ValueVertex<'c>),
        /// A called module, whose instances become known here.
        ModuleCall(ModuleCallVertex<'c>),
        /// A called module, in which everything is done.
        ModuleClose(ModuleCloseVertex<'c>),
        /// A provider configuration.
        Provider(ProviderVertex<'c>),
        /// The end of an ephemeral resource, when everything that needs it is done.
        EphemeralClose(EphemeralCloseVertex),
    }
    visit(SharedContext<'_>) ->
        /// Result of visiting a shared vertex.
        SharedVisitOutcome;
    record(EvalInputs<'_>) -> Option<RootOutput<'c>>;
    $ with_shared_kind!
}

impl<'c> SharedVertex<'c> {
    /// Checks the vertex without state and without values.
    ///
    /// # Errors
    /// Returns an error if the vertex is invalid.
    pub(crate) async fn validate(
        &self,
        context: ValidationContext<'_>,
        diags: &mut Diagnostics,
    ) -> Result<Option<SharedVisitOutcome<'c>>, Reported> {
        with_shared_kind!(self, kind, outcome => {
            let found = SharedVisit::validate(kind, context, diags).await?;
            Ok(found.map(outcome))
        })
    }
}

// A shared vertex is a kind of vertex of both graphs, and answers each question by its own kind. A
// test compares the list with the questions, so that no default replaces an answer.
impl<'c> VertexKind<'c> for SharedVertex<'c> {
    fn as_value(&self) -> Option<&ValueVertex<'c>> {
        (**self).as_value()
    }

    fn as_module_call(&self) -> Option<&ModuleCallVertex<'c>> {
        (**self).as_module_call()
    }

    fn closed_module(&self) -> Option<&'c ModuleNode> {
        (**self).closed_module()
    }

    fn as_provider(&self) -> Option<&ProviderVertex<'c>> {
        (**self).as_provider()
    }

    fn closed_ephemeral(&self) -> Option<&ConfigResourceAddr> {
        (**self).closed_ephemeral()
    }

    fn required_module(&self) -> Option<&'c ModuleNode> {
        (**self).required_module()
    }

    fn enclosing_module(&self, config: &'c Config) -> Option<&'c ModuleNode> {
        (**self).enclosing_module(config)
    }

    fn references(&self, config: &'c Config) -> Vec<ModuleReferences<'c>> {
        (**self).references(config)
    }

    fn resource_block(&self) -> Option<&'c Resource> {
        (**self).resource_block()
    }

    fn resource_for_references(&self) -> Option<&ConfigResourceAddr> {
        (**self).resource_for_references()
    }

    fn provider_config(&self) -> Option<&ProviderConfigAddr> {
        (**self).provider_config()
    }

    fn opened_ephemeral(&self) -> Option<&ConfigResourceAddr> {
        (**self).opened_ephemeral()
    }

    fn passes_values_on(&self) -> bool {
        (**self).passes_values_on()
    }

    fn passes_dependencies_on(&self) -> bool {
        (**self).passes_dependencies_on()
    }

    fn render(&self) -> RenderedVertex {
        (**self).render()
    }
}
