//! The vertex of a provider configuration: its evaluation, its validation, and its call of the
//! provider.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Display};

use formwork_lang::decode::evaluate_body;
use formwork_value::schema::Role;
use formwork_value::{Diagnostic, Diagnostics, Reported, Value};

use super::{
    ModuleReferences, PhaseVertex, SharedContext, SharedVertex, SharedVisit, ValidationContext,
    VertexKind,
};
use crate::addr::ProviderConfigAddr;
use crate::config::{Config, ModuleNode, ProviderBlock, ProviderKey};
use crate::eval::check_references::decode_body_checked;
use crate::graph::render::RenderedVertex;
use crate::instance_steps::point_diagnostics_at_parts;
use crate::messages;
use crate::provider::{CallContext, LoadedProvider};
use crate::session::Session;

/// A provider configuration, written or implied.
#[derive(Debug)]
pub(crate) struct ProviderVertex<'c> {
    pub(crate) addr: ProviderConfigAddr,
    /// The block and its module. Without a block every argument is null.
    pub(crate) written: Option<ProviderBlockInModule<'c>>,
}

/// A provider block and its module.
pub(crate) type ProviderBlockInModule<'c> = (&'c ModuleNode, &'c ProviderBlock);

impl<'c> ProviderVertex<'c> {
    /// The block, if there is one.
    pub(crate) fn provider_block(&self) -> Option<&'c ProviderBlock> {
        self.written.map(|(_, block)| block)
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
        add(SharedVertex::from(ProviderVertex { addr, written }).into());
    }
}

impl<'c> VertexKind<'c> for ProviderVertex<'c> {
    fn as_provider(&self) -> Option<&Self> {
        Some(self)
    }

    fn required_module(&self) -> Option<&'c ModuleNode> {
        self.written.map(|(node, _)| node)
    }

    fn references(&self, _: &'c Config) -> Vec<ModuleReferences<'c>> {
        let written = self.written.into_iter();
        written.map(|(node, block)| (node, block.references.as_slice())).collect()
    }

    fn passes_values_on(&self) -> bool {
        true
    }

    fn passes_dependencies_on(&self) -> bool {
        // The objects of a provider need the dependencies of its configuration.
        true
    }

    fn render(&self) -> RenderedVertex {
        let name = self.to_string();
        RenderedVertex::with_shape("diamond", name.clone(), name)
    }
}

impl<'c> SharedVisit<'c> for ProviderVertex<'c> {
    type Outcome = ();

    async fn visit(
        &self,
        context: SharedContext<'_>,
        diags: &mut Diagnostics,
    ) -> Option<Self::Outcome> {
        // Errors are in `diags`; nothing else is returned.
        let _ = visit_provider(context.session, diags, self).await;
        None
    }

    async fn validate(
        &self,
        context: ValidationContext<'_>,
        diags: &mut Diagnostics,
    ) -> Result<Option<Self::Outcome>, Reported> {
        validate_provider(context, diags, self).await.map(|()| None)
    }
}

impl Display for ProviderVertex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.addr.fmt(f)
    }
}

/// Every provider configuration that is written and in force: one in a called module gives way to
/// the one that the caller passes.
pub(crate) fn written_providers(
    config: &Config,
) -> BTreeMap<ProviderConfigAddr, ProviderBlockInModule<'_>> {
    let blocks = config.nodes.iter().flat_map(|node| {
        node.module.providers.values().filter_map(move |block| {
            let (provider, alias) = (block.provider.clone(), block.local.alias.clone());
            let key = ProviderKey { provider, alias };
            if node.passed.contains_key(&key) {
                return None;
            }
            let (module, ProviderKey { provider, alias }) = (node.path.clone(), key);
            Some((ProviderConfigAddr { module, provider, alias }, (node, block)))
        })
    });
    blocks.collect()
}

/// Evaluates the configuration of a provider and gives it to the provider.
///
/// # Errors
/// When the configuration has no value, or the provider does not accept it.
async fn visit_provider(
    session: &Session<'_>,
    diags: &mut Diagnostics,
    vertex: &ProviderVertex<'_>,
) -> Result<(), Reported> {
    let Some(loaded) = session.pool.loaded_provider(&vertex.addr.provider) else {
        // Loading failed and was reported; this cannot be reached after a load that went well.
        return Err(
            diags.error(Diagnostic::error(messages::PROVIDER_NOT_LOADED, vertex.addr.to_string()))
        );
    };
    let config =
        |diags: &mut Diagnostics| evaluate_provider_config(session, diags, vertex, &loaded);
    let config = session.evaluate_with_functions(diags, config).await?;
    let block = vertex.provider_block();
    // Collected apart, so that only these diagnostics are moved to parts of this block.
    let mut call_diags = Diagnostics::new();
    let header = block.map(|block| block.span);
    let configured =
        session.pool.configure_provider(&mut call_diags, &vertex.addr, config, header).await;
    if let Some(block) = block {
        point_diagnostics_at_parts(&mut call_diags, &block.body, block.span);
    }
    diags.append(call_diags).and(configured.map(|_| ()))
}

fn evaluate_provider_config(
    session: &Session<'_>,
    diags: &mut Diagnostics,
    vertex: &ProviderVertex<'_>,
    loaded: &LoadedProvider,
) -> Result<Value, Reported> {
    let schema = loaded.config_type().schema_block();
    if session.pool.is_mocked(&vertex.addr) {
        return Ok(schema.empty_value());
    }
    let Some((node, block)) = vertex.written else {
        // Terraform reports this itself. The provider would complain of an argument in a block that
        // does not exist.
        let required =
            schema.attributes.iter().find(|(_, attribute)| attribute.role == Role::Required);
        if let Some((name, _)) = required {
            let provider = &vertex.addr.provider;
            return Err(diags.error(Diagnostic::error(
                messages::INVALID_PROVIDER_CONFIGURATION,
                format!("Provider {provider} requires explicit configuration: at least its argument {name:?} must be given. Add a provider block to the root module."),
            )));
        }
        return Ok(schema.empty_value());
    };
    match session.results.module_instances(&node.path).first() {
        Some(module) => evaluate_body(diags, &block.body, schema, &session.module_scope(module)),
        // A module with provider blocks has exactly one instance; that was checked when it was read.
        None => Ok(schema.empty_value()),
    }
}

/// Evaluates the configuration of a provider with unknown values, and has the provider validate it.
async fn validate_provider(
    context: ValidationContext<'_>,
    diags: &mut Diagnostics,
    vertex: &ProviderVertex<'_>,
) -> Result<(), Reported> {
    let session = context.session;
    let Some((node, block)) = vertex.written else { return Ok(()) };
    if session.pool.is_mocked(&vertex.addr) {
        return Ok(());
    }
    let client = session.pool.unconfigured_client(diags, &vertex.addr.provider).await?;
    let Some(client) = client else { return Ok(()) };
    let schema = client.loaded_schemas().config_type().schema_block();
    let Some(&module) = session.results.module_instances(&node.path).first() else {
        return Ok(());
    };
    let scope = context.module_scope(module);
    let config = |diags: &mut Diagnostics| decode_body_checked(diags, &block.body, schema, &scope);
    let config = session.evaluate_with_functions(diags, config).await?;
    // A block without arguments is not shown to the provider: it may only be there for its alias.
    if block.body.is_empty() {
        return Ok(());
    }
    let about = CallContext { addr: &vertex.addr, block: Some(block.span) };
    let mut call_diags = Diagnostics::new();
    let verdict = client.validate_provider_config(&mut call_diags, &config, about).await;
    point_diagnostics_at_parts(&mut call_diags, &block.body, block.span);
    diags.append(call_diags).and(verdict)
}
