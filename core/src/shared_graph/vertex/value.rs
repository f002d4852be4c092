//! The vertex of a variable, local value, output, or block of conditions. Its evaluation is the
//! business of [`ValueVertex`].

use formwork_value::{Diagnostics, Reported, Value};

use super::{
    ModuleReferences, PhaseVertex, RootOutput, SharedContext, SharedVertex, SharedVisit,
    ValidationContext, VertexKind,
};
use crate::config::{Config, ModuleNode};
use crate::eval::vertex::{EvalInputs, NamedValueBlock, ValueVertex};
use crate::graph::render::RenderedVertex;
use crate::state::checks::CheckSubject;

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
            add(SharedVertex::from(ValueVertex { node, value }).into());
        }
    }
}

impl ValueVertex<'_> {
    /// The subject of its conditions.
    pub(crate) fn condition_subject(self) -> Option<CheckSubject> {
        match self.value {
            NamedValueBlock::Variable(variable) => {
                Some(CheckSubject::Variable(variable.name.clone()))
            }
            NamedValueBlock::Output(output) => Some(CheckSubject::Output(output.name.clone())),
            NamedValueBlock::Check(check) => Some(CheckSubject::Check(check.name.clone())),
            NamedValueBlock::Local(_) => None,
        }
    }
}

impl<'c> VertexKind<'c> for ValueVertex<'c> {
    fn as_value(&self) -> Option<&Self> {
        Some(self)
    }

    fn required_module(&self) -> Option<&'c ModuleNode> {
        Some(self.node)
    }

    fn references(&self, config: &'c Config) -> Vec<ModuleReferences<'c>> {
        Self::references(*self, config)
    }

    fn passes_values_on(&self) -> bool {
        true
    }

    fn passes_dependencies_on(&self) -> bool {
        true
    }

    fn render(&self) -> RenderedVertex {
        Self::render(self)
    }
}

impl<'c> SharedVisit<'c> for ValueVertex<'c> {
    /// A value for each instance of the module.
    type Outcome = Vec<Value>;

    async fn visit(
        &self,
        context: SharedContext<'_>,
        diags: &mut Diagnostics,
    ) -> Option<Self::Outcome> {
        let SharedContext { session, eval_inputs, .. } = context;
        let find = |diags: &mut Diagnostics| self.visit_value(diags, eval_inputs);
        session.evaluate_with_functions(diags, find).await.ok()
    }

    fn record(
        &self,
        eval_inputs: EvalInputs<'_>,
        outcome: Self::Outcome,
    ) -> Option<RootOutput<'c>> {
        // The root module has exactly one instance.
        let output = self.as_root_output().zip(outcome.first().cloned());
        self.record_values(eval_inputs.results, outcome);
        output
    }

    async fn validate(
        &self,
        context: ValidationContext<'_>,
        diags: &mut Diagnostics,
    ) -> Result<Option<Self::Outcome>, Reported> {
        let find = |diags: &mut Diagnostics| self.visit_value(diags, context.eval_inputs);
        context.session.evaluate_with_functions(diags, find).await.map(Some)
    }
}
