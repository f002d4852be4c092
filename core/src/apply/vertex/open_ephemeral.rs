//! The vertex of an ephemeral resource, at which its instances are opened.

use std::fmt::{self, Display};

use formwork_value::Diagnostics;

use super::{ApplyVertexKind, ApplyVisit, PlanNeeds};
use crate::addr::{ConfigResourceAddr, ProviderConfigAddr, ResourceAddr};
use crate::apply::record::ApplyRecorder;
use crate::apply::visit::{ApplyContext, ExpandedResource};
use crate::config::{Config, ModuleNode, Resource};
use crate::ephemeral::EphemeralInstance;
use crate::eval::{ModuleResults, expand};
use crate::graph::render::RenderedVertex;
use crate::shared_graph::{ModuleReferences, VertexKind};

/// An ephemeral resource.
#[derive(Debug)]
pub(crate) struct OpenEphemeralVertex<'c> {
    pub(crate) addr: ConfigResourceAddr,
    pub(crate) node: &'c ModuleNode,
    pub(crate) config: &'c Resource,
    pub(crate) provider: ProviderConfigAddr,
}

impl<'c> VertexKind<'c> for OpenEphemeralVertex<'c> {
    fn required_module(&self) -> Option<&'c ModuleNode> {
        Some(self.node)
    }

    fn references(&self, _: &'c Config) -> Vec<ModuleReferences<'c>> {
        vec![(self.node, &self.config.references)]
    }

    fn resource_block(&self) -> Option<&'c Resource> {
        Some(self.config)
    }

    fn provider_config(&self) -> Option<&ProviderConfigAddr> {
        Some(&self.provider)
    }

    fn opened_ephemeral(&self) -> Option<&ConfigResourceAddr> {
        Some(&self.addr)
    }

    fn passes_values_on(&self) -> bool {
        true
    }

    fn render(&self) -> RenderedVertex {
        RenderedVertex::with_shape("box", self.to_string(), self.addr.to_string())
    }
}

impl<'c> ApplyVertexKind<'c> for OpenEphemeralVertex<'c> {
    fn is_wanted(&self, needs: PlanNeeds<'_>) -> bool {
        // Terraform also opens ephemeral resources that nothing needs, after a refresh-only plan too.
        needs.is_whole()
    }
}

impl<'c> ApplyVisit<'c> for OpenEphemeralVertex<'c> {
    /// The instances of the resource, for each instance of its module.
    type Outcome = Vec<ExpandedResource>;

    async fn visit(
        &self,
        view: ApplyContext<'_>,
        diags: &mut Diagnostics,
    ) -> Option<Self::Outcome> {
        Some(visit_open_ephemeral(view, diags, self).await)
    }

    fn record(&self, recorder: &mut ApplyRecorder<'_, '_>, outcome: Self::Outcome) {
        recorder.record_expanded(&self.addr.resource, outcome);
    }
}

impl Display for OpenEphemeralVertex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.addr.fmt(f)
    }
}

/// Expands the resource in every instance of its module and opens all of its instances. Of those that
/// cannot be opened it is in `diags`.
async fn visit_open_ephemeral(
    view: ApplyContext<'_>,
    diags: &mut Diagnostics,
    vertex: &OpenEphemeralVertex<'_>,
) -> Vec<ExpandedResource> {
    let modules = view.session.results.module_instances(&vertex.node.path);
    let opened = modules.into_iter().map(|module| open_instances_in_module(view, vertex, module));
    let mut expanded_resources = Vec::new();
    // `join_all` returns results in the order of the instances, so messages do not depend on
    // timing.
    for (problems, expanded) in futures_util::future::join_all(opened).await {
        let _ = diags.append(problems);
        expanded_resources.extend(expanded);
    }
    expanded_resources
}

async fn open_instances_in_module(
    view: ApplyContext<'_>,
    vertex: &OpenEphemeralVertex<'_>,
    results: &ModuleResults,
) -> (Diagnostics, Option<ExpandedResource>) {
    let mut diags = Diagnostics::new();
    let session = view.session;
    let scope = session.module_scope(results);
    let expansion = |diags: &mut Diagnostics| {
        expand::expand_repetition(diags, &scope, &vertex.config.repetition)
    };
    let Ok(expansion) = session.evaluate_with_functions(&mut diags, expansion).await else {
        return (diags, None);
    };
    let (module, resource) = (results.module_addr().clone(), vertex.addr.resource.clone());
    let resource = ResourceAddr { module, resource };
    let opened = expansion.keys().map(async |key| {
        let mut diags = Diagnostics::new();
        let addr = resource.instance_addr(key);
        let scope = scope.clone().with_repetition(expansion.repetition_data(&addr.key));
        let site =
            EphemeralInstance { config: vertex.config, addr: &addr, provider: &vertex.provider };
        // The semaphore is never closed, so a permit always comes.
        // An opening is a provider call like any other, and counts for `-parallelism`. The vertex
        // itself takes no permit, or its instances could wait for each other.
        let _permit = session.permits.acquire().await;
        let value = view.ephemeral_resources.open_instance(&mut diags, site, scope).await;
        (diags, value.ok().map(|value| (addr.key, value)))
    });
    let mut known_values = Vec::new();
    for (problems, value) in futures_util::future::join_all(opened).await {
        let _ = diags.append(problems);
        known_values.extend(value);
    }
    (diags, Some(ExpandedResource { module: resource.module, expansion, known_values }))
}
