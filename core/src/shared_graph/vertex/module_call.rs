//! The vertex of a called module at which its instances become known. Its evaluation is the business of
//! [`ModuleCallVertex`].

use std::fmt::{self, Display};

use formwork_value::{Diagnostics, Reported};

use super::{
    ModuleCloseVertex, ModuleReferences, PhaseVertex, RootOutput, SharedContext, SharedVertex,
    SharedVisit, ValidationContext, VertexKind,
};
use crate::config::{Config, ModuleNode};
use crate::eval::Expansion;
use crate::eval::module_call::ModuleCallVertex;
use crate::eval::vertex::EvalInputs;

/// Adds two vertices for each called module: one where its instances become known, and one where
/// everything in it is done.
pub(crate) fn add_module_call_vertices<'c, V: PhaseVertex<'c>>(
    config: &'c Config,
    add: &mut dyn FnMut(V),
) {
    for call in config.nodes.iter().filter_map(|node| ModuleCallVertex::from_node(config, node)) {
        add(SharedVertex::from(call).into());
        add(SharedVertex::from(ModuleCloseVertex { node: call.node }).into());
    }
}

impl<'c> VertexKind<'c> for ModuleCallVertex<'c> {
    fn as_module_call(&self) -> Option<&Self> {
        Some(self)
    }

    fn required_module(&self) -> Option<&'c ModuleNode> {
        Some(self.caller)
    }

    fn references(&self, _: &'c Config) -> Vec<ModuleReferences<'c>> {
        vec![Self::references(*self)]
    }

    fn passes_values_on(&self) -> bool {
        true
    }

    fn passes_dependencies_on(&self) -> bool {
        true
    }
}

impl<'c> SharedVisit<'c> for ModuleCallVertex<'c> {
    /// The instances of the called module, for each instance of its caller.
    type Outcome = Vec<Expansion>;

    async fn visit(
        &self,
        context: SharedContext<'_>,
        diags: &mut Diagnostics,
    ) -> Option<Self::Outcome> {
        let SharedContext { session, eval_inputs, .. } = context;
        let find = |diags: &mut Diagnostics| Self::visit(*self, diags, eval_inputs);
        session.evaluate_with_functions(diags, find).await.ok()
    }

    fn record(
        &self,
        eval_inputs: EvalInputs<'_>,
        outcome: Self::Outcome,
    ) -> Option<RootOutput<'c>> {
        Self::record(*self, eval_inputs, outcome);
        None
    }

    async fn validate(
        &self,
        context: ValidationContext<'_>,
        diags: &mut Diagnostics,
    ) -> Result<Option<Self::Outcome>, Reported> {
        let inputs = context.eval_inputs;
        let find = |diags: &mut Diagnostics| Self::visit(*self, diags, inputs);
        context.session.evaluate_with_functions(diags, find).await.map(Some)
    }
}

impl Display for ModuleCallVertex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (expand)", self.node.path)
    }
}
