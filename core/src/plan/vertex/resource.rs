//! The vertex of a resource that is written in the configuration, with all its instances.

use std::fmt::{self, Display};

use formwork_value::{Diagnostics, Reported};

use super::{PlanVisit, ValidationOutcome, ValidationRecorder};
use crate::addr::{ConfigResourceAddr, ProviderConfigAddr, ResourceMode};
use crate::config::{Config, ModuleNode, Resource};
use crate::graph::render::RenderedVertex;
use crate::plan::record::PlanRecorder;
use crate::plan::resource_vertex::ResourceVertex;
use crate::plan::stored_values::StoredValues;
use crate::plan::vertex_kind::{PlanTargets, PlanVertexKind, StoredResource};
use crate::plan::visit::PlanContext;
use crate::plan::visit::resource::visit_resource;
use crate::plan::visit_outcome::ResourceOutcome;
use crate::shared_graph::{ModuleReferences, ValidationContext, VertexKind};

impl<'c> VertexKind<'c> for ResourceVertex<'c> {
    fn required_module(&self) -> Option<&'c ModuleNode> {
        Some(self.node)
    }

    fn references(&self, _: &'c Config) -> Vec<ModuleReferences<'c>> {
        vec![(self.node, &self.config.references)]
    }

    fn resource_block(&self) -> Option<&'c Resource> {
        Some(self.config)
    }

    fn resource_for_references(&self) -> Option<&ConfigResourceAddr> {
        Some(&self.addr)
    }

    fn provider_config(&self) -> Option<&ProviderConfigAddr> {
        Some(&self.provider)
    }

    fn opened_ephemeral(&self) -> Option<&ConfigResourceAddr> {
        (self.addr.resource.mode() == ResourceMode::Ephemeral).then_some(&self.addr)
    }

    fn passes_values_on(&self) -> bool {
        // A created object exists independently of the values it was created from. An open ephemeral object does not.
        self.opened_ephemeral().is_some()
    }

    fn render(&self) -> RenderedVertex {
        let label = self.addr.to_string();
        RenderedVertex::with_shape("box", format!("{label} (expand)"), label)
    }
}

impl<'c> PlanVertexKind<'c> for ResourceVertex<'c> {
    fn as_resource(&self) -> Option<&Self> {
        Some(self)
    }

    fn import_references(&self, config: &'c Config) -> Vec<ModuleReferences<'c>> {
        let imports = self.imports.iter();
        imports.map(|it| (config.root_node(), it.references.as_slice())).collect()
    }

    fn has_managed_objects(&self) -> bool {
        !self.prior.is_empty() && self.addr.resource.mode() == ResourceMode::Managed
    }

    fn is_targeted(&self, targets: PlanTargets<'_>) -> bool {
        let mut stored_addrs = self.prior.iter().map(|(module, _)| self.addr_in_module(module));
        targets.targets.iter().any(|target| target.may_contain_config_resource(&self.addr))
            || stored_addrs.any(|addr| targets.destroyed_dependents.contains(&addr))
    }

    fn stored_resource(&self) -> Option<StoredResource<'c>> {
        let parts = self.prior.iter().map(|(_, state)| *state).collect();
        Some(StoredResource { addr: self.addr.clone(), parts })
    }

    fn render_destroyed(&self) -> RenderedVertex {
        let label = self.addr.to_string();
        RenderedVertex::with_shape("box", format!("{label} (destroy)"), label)
    }
}

impl<'c> PlanVisit<'c> for ResourceVertex<'c> {
    /// The resource, by instance of its module.
    type Outcome = Vec<ResourceOutcome>;

    async fn visit(&self, view: PlanContext<'_>, diags: &mut Diagnostics) -> Option<Self::Outcome> {
        Some(visit_resource(view, diags, self).await)
    }

    fn record(&self, recorder: &mut PlanRecorder<'_, '_>, outcome: Self::Outcome) {
        recorder.record_resource(self, outcome);
    }

    async fn validate(
        &self,
        context: ValidationContext<'_>,
        diags: &mut Diagnostics,
    ) -> Result<ValidationOutcome<'c>, Reported> {
        let accepted = context.validate_resource(diags, self).await?;
        Ok(accepted.map_or(ValidationOutcome::Nothing, ValidationOutcome::Accepted))
    }

    fn record_validation(
        &self,
        recorder: &mut ValidationRecorder<'_>,
        outcome: ValidationOutcome<'c>,
    ) {
        if let ValidationOutcome::Accepted(config) = outcome {
            recorder.accepted.insert(self.addr.clone(), config);
        }
    }

    async fn evaluate_from_state(&self, stored: StoredValues<'_>, _: &mut Diagnostics) {
        stored.evaluate_resource(self).await;
    }
}

impl Display for ResourceVertex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.addr.fmt(f)
    }
}
