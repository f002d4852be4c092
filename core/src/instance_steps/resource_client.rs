//! Lookup of the configured provider client of a resource.

use std::fmt::Display;
use std::rc::Rc;

use formwork_value::diag::Blame;
use formwork_value::{Diagnostic, Diagnostics, Reported};

use super::provider_meta::client_with_module_meta;
use crate::addr::{ConfigResourceAddr, ProviderConfigAddr, ResourceAddr};
use crate::config::Resource;
use crate::messages;
use crate::provider::{ProviderClient, ResourceType, removed_type_error, unsupported_type_error};
use crate::session::Session;

/// A configured provider as used by the module of a resource, and the resource type.
pub(crate) type ConfiguredClient = (Rc<ProviderClient>, Rc<ResourceType>);

/// The client of a configured provider, for calls about one of its resource types.
#[derive(Clone, Copy)]
pub(crate) struct ResourceClient<'a> {
    pub(crate) client: &'a ProviderClient,
    pub(crate) ty: &'a ResourceType,
}

/// A resource of the configuration.
#[derive(Clone, Copy)]
pub(crate) struct ResourceWithAddress<'a> {
    pub(crate) addr: &'a ConfigResourceAddr,
    pub(crate) config: &'a Resource,
}

/// Returns the provider client of a resource of the configuration.
///
/// # Errors
/// Returns an error if the provider does not have the resource type, or does not accept the metadata of
/// the module.
pub(crate) fn find_client_of_config(
    session: &Session<'_>,
    diags: &mut Diagnostics,
    provider: &ProviderConfigAddr,
    resource: ResourceWithAddress<'_>,
) -> Result<ConfiguredClient, Reported> {
    let ResourceWithAddress { addr, config } = resource;
    let client = configured_client(session, diags, provider, addr)?;
    let Some(ty) = client
        .loaded_schemas()
        .find_resource_type(addr.resource.mode(), addr.resource.resource_type())
    else {
        let unsupported =
            unsupported_type_error(client.loaded_schemas(), &addr.resource, config.type_span);
        return Err(diags.error(unsupported));
    };
    Ok((client_with_module_meta(session, diags, client, addr)?, ty))
}

/// Returns the provider client of a resource with objects in the state.
///
/// # Errors
/// Returns an error if the provider does not have the resource type, or does not accept the metadata of
/// the module.
pub(crate) fn find_client_of_state(
    session: &Session<'_>,
    diags: &mut Diagnostics,
    provider: &ProviderConfigAddr,
    addr: &ResourceAddr,
) -> Result<ConfiguredClient, Reported> {
    let client = configured_client(session, diags, provider, addr)?;
    let Some(ty) = client
        .loaded_schemas()
        .find_resource_type(addr.resource.mode(), addr.resource.resource_type())
    else {
        return Err(diags.error(removed_type_error(client.loaded_schemas(), addr)));
    };
    Ok((client_with_module_meta(session, diags, client, &addr.config_addr())?, ty))
}

fn configured_client(
    session: &Session<'_>,
    diags: &mut Diagnostics,
    provider: &ProviderConfigAddr,
    user: &dyn Display,
) -> Result<Rc<ProviderClient>, Reported> {
    session.pool.configured_client(provider).ok_or_else(|| {
        // The vertex of the provider failed, so its dependents are not visited.
        let detail = format!("{provider} was not configured before {user}.");
        diags.error(
            Diagnostic::error(messages::PROVIDER_NOT_CONFIGURED, detail).blamed_on(Blame::Internal),
        )
    })
}
