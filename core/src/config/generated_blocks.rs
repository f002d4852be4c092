//! Resources that objects are imported into and that have no block: their configuration is
//! generated while planning, by `plan/generate_block.rs`, and read here.

use formwork_lang::syntax::{Body, parse_file};
use formwork_value::diag::Sources;
use formwork_value::{Diagnostic, Diagnostics, Reported};

use super::check_imports::cannot_be_generated_error;
use super::{Config, ImportBlock, Lifecycle, Module, Repetition, Resource, resource};
use crate::addr::{LocalProviderConfig, ResourceMode};
use crate::messages;

impl Config {
    /// Adds a placeholder, whose configuration is to be generated, for every import into the root module whose
    /// resource is not written.
    ///
    /// # Errors
    /// When such an import requires more than a single block in the root module.
    pub fn add_placeholder_resources(&mut self, diags: &mut Diagnostics) -> Result<(), Reported> {
        let mut result = Ok(());
        for import in &self.root.imports {
            let addr = import.config_addr();
            if self.find_resource(&addr).is_some() {
                continue;
            }
            let is_repeated = matches!(import.repetition, Repetition::ForEach(_));
            if !import.calls.is_empty() || is_repeated || import.key.is_some() {
                // Keys that are not constant are checked when they are known.
                if !is_repeated || import.has_constant_target() {
                    result = Err(diags.error(cannot_be_generated_error(import)));
                }
                continue;
            }
            let resource = placeholder_resource(&self.root, import);
            self.unwritten.insert(addr.resource, Box::new(resource));
        }
        result
    }
}

/// A resource of which only the import is known.
fn placeholder_resource(module: &Module, import: &ImportBlock) -> Resource {
    let implied = || LocalProviderConfig::implied_by_resource(&import.resource);
    let local_provider = import.provider.as_ref().map(|(local, _)| local.clone());
    Resource {
        name: import.resource.clone(),
        local_provider: local_provider.unwrap_or_else(implied),
        names_provider: import.provider.is_some(),
        provider: import.provider_in_module(module),
        repetition: Repetition::Single,
        depends_on: Vec::new(),
        lifecycle: Lifecycle::default(),
        provisioners: Vec::new(),
        references: Vec::new(),
        within: None,
        body: Body::empty(import.span, import.span),
        type_span: import.to,
        span: import.span,
    }
}

/// Reads the block that was generated for a resource. Spans in its errors refer only to the generated
/// text.
///
/// # Errors
/// When the text is not a resource block.
pub(crate) fn read_generated_block(
    diags: &mut Diagnostics,
    text: &str,
) -> Result<Resource, Reported> {
    let mut sources = Sources::new();
    let source = sources.add("generated", text);
    let mut block_diags = Diagnostics::new();
    let blocks = parse_file(&mut block_diags, &sources, source).blocks;
    let mut resources = blocks.into_iter().filter_map(|block| {
        resource::read_resource_block(&mut block_diags, &sources, ResourceMode::Managed, block)
    });
    let resource = resources.next();
    drop(resources);
    diags.append(block_diags)?;
    resource.ok_or_else(|| {
        let detail = "The generated configuration contains no resource.";
        diags.error(Diagnostic::error(messages::INVALID_GENERATED_CONFIGURATION, detail))
    })
}
