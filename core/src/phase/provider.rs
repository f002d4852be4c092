//! Provider configurations: the vertex that both phases have, and its visit.

use formwork_lang::decode::decode;
use formwork_value::schema::Role;
use formwork_value::{Diagnostic, Diagnostics, Reported, Value};

use crate::addr::ProviderConfigAddr;
use crate::config::ProviderBlock;
use crate::provider::Loaded;
use crate::session::Session;

/// A provider configuration, written or implied.
#[derive(Debug)]
pub(crate) struct ProviderVertex<'c> {
    pub(crate) addr: ProviderConfigAddr,
    /// The block; without one every argument is null.
    pub(crate) block: Option<&'c ProviderBlock>,
}

/// The address of a written provider configuration of the root module.
pub(crate) fn config_of(block: &ProviderBlock) -> ProviderConfigAddr {
    ProviderConfigAddr {
        module: Default::default(),
        provider: block.provider.clone(),
        alias: block.local.alias.clone(),
    }
}

/// Evaluates the configuration of a provider and gives it to the provider.
///
/// # Errors
/// When the configuration has no value, or the provider does not accept it.
pub(crate) async fn visit_provider(
    session: &Session<'_>,
    diags: &mut Diagnostics,
    vertex: &ProviderVertex<'_>,
) -> Result<(), Reported> {
    let Some(loaded) = session.pool.loaded(&vertex.addr.provider) else {
        // Loading failed and was reported; this cannot be reached after a load that went well.
        return Err(diags.error(Diagnostic::error("Provider not loaded", vertex.addr.to_string())));
    };
    let config = config(session, diags, vertex, &loaded)?;
    let block = vertex.block.map(|block| block.span);
    session.pool.configure(diags, &vertex.addr, config, block).await?;
    Ok(())
}

fn config(
    session: &Session<'_>,
    diags: &mut Diagnostics,
    vertex: &ProviderVertex<'_>,
    loaded: &Loaded,
) -> Result<Value, Reported> {
    let schema = loaded.config().block();
    let Some(block) = vertex.block else {
        let required =
            schema.attributes.iter().find(|(_, attribute)| attribute.role == Role::Required);
        if let Some((name, _)) = required {
            let provider = &vertex.addr.provider;
            return Err(diags.error(Diagnostic::error(
                "Invalid provider configuration",
                format!("Provider {provider} requires explicit configuration: at least its argument {name:?} must be given. Add a provider block to the root module."),
            )));
        }
        return Ok(schema.empty_value());
    };
    decode(diags, &block.body, schema, &session.scope())
}
