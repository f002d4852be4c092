//! The way from a resource to the configured client of its provider.

use std::fmt::Display;
use std::rc::Rc;

use formwork_value::diag::Blame;
use formwork_value::{Diagnostic, Diagnostics, Reported};

use super::provider_meta::spoken_from;
use crate::addr::{ConfigResourceAddr, ProviderConfigAddr, ResourceAddr};
use crate::config::Resource;
use crate::messages;
use crate::provider::{ProviderClient, ResourceType, lost_type, unsupported_type};
use crate::session::Session;

/// A configured provider, spoken to by the module of a resource, and the type of the resource there.
pub(crate) type ConfiguredClient = (Rc<ProviderClient>, Rc<ResourceType>);

/// Client of a configured provider, for calls about one of its resource types.
#[derive(Clone, Copy)]
pub(crate) struct ResourceClient<'a> {
    pub(crate) handle: &'a ProviderClient,
    pub(crate) ty: &'a ResourceType,
}

/// A resource of the configuration.
#[derive(Clone, Copy)]
pub(crate) struct ConfiguredResource<'a> {
    pub(crate) addr: &'a ConfigResourceAddr,
    pub(crate) config: &'a Resource,
}

/// Finds the provider of a resource that is written.
///
/// # Errors
/// When the provider has no such type, or does not accept the metadata of the module.
pub(crate) fn find_written(
    session: &Session<'_>,
    diags: &mut Diagnostics,
    provider: &ProviderConfigAddr,
    resource: ConfiguredResource<'_>,
) -> Result<ConfiguredClient, Reported> {
    let ConfiguredResource { addr, config } = resource;
    let handle = configured(session, diags, provider, addr)?;
    let Some(ty) = handle.loaded().find(addr.resource.mode(), addr.resource.kind()) else {
        let unsupported = unsupported_type(handle.loaded(), &addr.resource, config.type_span);
        return Err(diags.error(unsupported));
    };
    Ok((spoken_from(session, diags, handle, addr)?, ty))
}

/// Finds the provider of a resource of which the state holds objects.
///
/// # Errors
/// When the provider has no such type, or does not accept the metadata of the module.
pub(crate) fn find_stored(
    session: &Session<'_>,
    diags: &mut Diagnostics,
    provider: &ProviderConfigAddr,
    addr: &ResourceAddr,
) -> Result<ConfiguredClient, Reported> {
    let handle = configured(session, diags, provider, addr)?;
    let Some(ty) = handle.loaded().find(addr.resource.mode(), addr.resource.kind()) else {
        return Err(diags.error(lost_type(handle.loaded(), addr)));
    };
    Ok((spoken_from(session, diags, handle, &addr.config())?, ty))
}

fn configured(
    session: &Session<'_>,
    diags: &mut Diagnostics,
    provider: &ProviderConfigAddr,
    user: &dyn Display,
) -> Result<Rc<ProviderClient>, Reported> {
    session.pool.configured(provider).ok_or_else(|| {
        // The provider's vertex failed, so its users are not visited.
        let detail = format!("{provider} was not configured before {user}.");
        diags.error(
            Diagnostic::error(messages::PROVIDER_NOT_CONFIGURED, detail).blame(Blame::Internal),
        )
    })
}
