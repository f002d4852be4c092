//! Metadata that a module sends to providers: its `provider_meta` blocks. The metadata is part of every
//! call for the resources of the module.

use std::rc::Rc;

use formwork_lang::decode::evaluate_body;
use formwork_value::{Diagnostic, Diagnostics, Reported};

use crate::addr::{ConfigResourceAddr, ResourceMode, ResourceName};
use crate::config::{ProviderMeta, constant};
use crate::messages;
use crate::provider::ProviderClient;
use crate::session::Session;

/// Returns the client through which a module calls the provider of one of its resources. Resources that
/// are not in the configuration get no metadata of the module, and calls for ephemeral resources have no
/// field for it.
///
/// # Errors
/// Returns an error if the provider does not support metadata, or if this metadata does not fit its
/// schema.
pub(crate) fn client_with_module_meta(
    session: &Session<'_>,
    diags: &mut Diagnostics,
    client: Rc<ProviderClient>,
    resource: &ConfigResourceAddr,
) -> Result<Rc<ProviderClient>, Reported> {
    let Some(node) = session.config.find_node(&resource.module) else { return Ok(client) };
    let settings = &node.module.settings;
    let has_part = resource.resource.mode() != ResourceMode::Ephemeral
        && node.module.resources.contains_key(&resource.resource);
    if settings.metas.is_empty() || !has_part {
        return Ok(client);
    }
    let Some(meta) = settings.provider_meta_for(client.addr()) else { return Ok(client) };
    let Some(schema) = &client.loaded_schemas().provider_schema().provider_meta else {
        return Err(diags.error(unsupported_meta_error(&client, &resource.resource, meta)));
    };
    let value = evaluate_body(diags, &meta.body, &schema.block, &constant::EmptyScope)?;
    Ok(Rc::new(client.with_provider_meta(&value)))
}

fn unsupported_meta_error(
    client: &ProviderClient,
    name: &ResourceName,
    meta: &ProviderMeta,
) -> Diagnostic {
    let detail = format!(
        "This block contains module metadata for provider {}, but the provider does not support module metadata. It was evaluated for {name}, which the provider manages. Remove the block.",
        client.addr()
    );
    let summary = messages::PROVIDER_META_UNSUPPORTED.with(&[&client.addr()]);
    Diagnostic::error(summary, detail).at(meta.name_span)
}
