//! Generates the configuration of a resource that an object is imported into and that is not written.

use formwork_value::{Diagnostic, Diagnostics, Reported, Span, Value};

use super::PlanContext;
use crate::addr::InstanceAddr;
use crate::config::{Resource, generated_blocks};
use crate::messages;
use crate::plan::generate_block;
use crate::plan::resource_vertex::ResourceVertex;
use crate::provider::ResourceType;

/// A configuration that was generated.
pub(super) struct GeneratedConfig {
    /// Its source text.
    pub(super) text: String,
    /// And as it would be if it had been written.
    pub(super) resource: Resource,
}

/// An imported object whose configuration is not written.
#[derive(Clone, Copy)]
pub(super) struct ImportedObjectWithoutBlock<'a> {
    pub(super) addr: &'a InstanceAddr,
    pub(super) ty: &'a ResourceType,
    pub(super) value: &'a Value,
}

/// Generates the configuration of an object that was found.
///
/// # Errors
/// When the object cannot be described.
pub(super) fn generate_config(
    view: PlanContext<'_>,
    diags: &mut Diagnostics,
    vertex: &ResourceVertex<'_>,
    object: ImportedObjectWithoutBlock<'_>,
) -> Result<GeneratedConfig, Reported> {
    let ImportedObjectWithoutBlock { addr, ty, value } = object;
    let text = generate_block::generate_block(vertex.config, ty.schema_block(), value).map_err(
        |unknown| {
            let detail = format!("No configuration can be generated for {addr}: {unknown}.");
            diags.error(Diagnostic::error(messages::INVALID_GENERATED_CONFIGURATION, detail))
        },
    )?;
    // Kept before it is read: a block with errors is written to the file too, for the author to
    // correct.
    view.session.results.generated.insert_config(addr, &text);
    let mut block_diags = Diagnostics::new();
    let resource = generated_blocks::read_generated_block(&mut block_diags, &text);
    block_diags.map_from_position(0, |problem| point_at_import_block(problem, vertex.config.span));
    diags.append(block_diags)?;
    Ok(GeneratedConfig { text, resource: resource? })
}

/// Points at the `import` block instead of the generated one, which does not exist yet.
pub(super) fn point_at_import_block(problem: Diagnostic, import: Span) -> Diagnostic {
    let detail = format!(
        "{}\n\nThis is about the configuration that was generated; correct what was written of it before taking it over.",
        problem.detail
    );
    Diagnostic { detail, subject: Some(import), context: None, referenced: Vec::new(), ..problem }
}
