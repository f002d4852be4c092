//! A module whose results a test records by hand.

use formwork_lang::eval::evaluate;
use formwork_lang::syntax::parse_expression;
use formwork_value::Diagnostics;
use formwork_value::diag::Sources;

use super::{HostValues, ModuleScope, Results};
use crate::addr::ResourceName;
use crate::config::config_from_text::format_value;
use crate::config::{Config, config_from_text};

pub(crate) struct EvalFixture {
    pub(crate) config: Config,
    pub(crate) sources: Sources,
    pub(crate) results: Results,
    pub(crate) world: HostValues,
}

impl EvalFixture {
    pub(crate) fn from_fixture(fixture: &str) -> Self {
        let (config, sources) = config_from_text::load_valid_fixture(fixture);
        Self::from_config(config, sources)
    }

    pub(crate) fn from_config(config: Config, sources: Sources) -> Self {
        let results = Results::new(&config);
        let world = HostValues::for_dir("/work", || time::OffsetDateTime::UNIX_EPOCH);
        let world = HostValues { plan_time: None, ..world };
        Self { config, sources, results, world }
    }

    pub(crate) fn root_scope(&self) -> ModuleScope<'_> {
        ModuleScope::new(self.results.root(), &self.world)
    }

    pub(crate) fn resource_results(&self, text: &str) -> &super::ResourceResults {
        let name: ResourceName = text.parse::<crate::addr::ResourceAddr>().unwrap().resource;
        self.results.root().resource_results(&name).unwrap()
    }

    /// Evaluates one expression in the root module.
    pub(crate) fn evaluate(&self, text: &str) -> String {
        let (mut diags, mut sources) = (Diagnostics::new(), Sources::new());
        let source = sources.add("expression", text);
        let value = parse_expression(&mut diags, &sources, source)
            .and_then(|expr| evaluate(&mut diags, &expr, &self.root_scope()));
        match value {
            Ok(value) => format!("{text} = {}\n", format_value(&value)),
            Err(_) => format!("{text}: {}", config_from_text::format_diagnostics(&sources, &diags)),
        }
    }

    /// Evaluates every output, in the order of names.
    pub(crate) fn evaluate_outputs(&self, scope: &ModuleScope<'_>) -> String {
        let mut out = String::new();
        for (name, output) in &self.config.root.outputs {
            let mut diags = Diagnostics::new();
            match evaluate(&mut diags, &output.expr, scope) {
                Ok(value) => out += &format!("{name} = {}\n", format_value(&value)),
                Err(_) => out += &config_from_text::format_diagnostics(&self.sources, &diags),
            }
        }
        out
    }
}
