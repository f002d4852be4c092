//! Handler of the `provider` block, and its call.

use std::future::Future;

use crate::call::Call;
use crate::context::Deferral;
use crate::resource::Validate;
use crate::resource::calls::deref_to_call;
use crate::{Answer, Draft, Input, Model, ObjectConversion as _, Problem, model, plan};

/// Configuration of a provider. Resources share data such as a client with the implementor, which
/// sets it here.
///
/// ```
/// use std::sync::{Arc, OnceLock};
///
/// use formwork_sdk::prelude::*;
///
/// /// The service.
/// #[derive(Model)]
/// struct Service {
///     /// Its URL.
///     #[attr(required)]
///     url: String,
/// }
///
/// /// The URL that the resources use.
/// #[derive(Clone, Default)]
/// struct Client(Arc<OnceLock<String>>);
///
/// impl Configure for Client {
///     type Model = Service;
///
///     async fn configure(&self, call: Setup<Service>) -> Answer<()> {
///         let ServiceInput { url } = call.known_config()?;
///         self.0.get_or_init(|| url);
///         Ok(())
///     }
/// }
///
/// let client = Client::default();
/// let provider = ProviderDef::new("registry.terraform.io/acme/notes")
///     .with_configuration(client.clone());
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a configuration of a provider",
    note = "write `impl Configure for {Self}`"
)]
pub trait Configure: Send + Sync + 'static {
    /// Arguments of the `provider` block.
    type Model: Model;

    /// Validates the configuration beyond the schema. Values may be unknown.
    ///
    /// # Errors
    /// When the configuration is invalid. `call.report(…)` reports it too, and continues.
    fn validate(&self, _call: Validate<Self::Model>) -> Answer<()> {
        Ok(())
    }

    /// Takes the configuration. While planning, values may still be unknown.
    ///
    /// # Errors
    /// When the configuration is unusable. No other call follows.
    fn configure(&self, call: Setup<Self::Model>) -> impl Future<Output = Answer<()>> + Send;
}

/// A request to configure the provider.
///
/// ```
/// use formwork_sdk::prelude::*;
///
/// # /// The service.
/// # #[derive(Model)]
/// # struct Service {
/// #     #[attr(required)]
/// #     url: String,
/// # }
/// #
/// struct Client;
///
/// impl Configure for Client {
///     type Model = Service;
///
///     async fn configure(&self, call: Setup<Service>) -> Answer<()> {
///         if !call.unknown.is_empty() {
///             // Returns from here if the host supports deferral.
///             call.deferral.request(DeferredReason::ProviderConfigUnknown)?;
///         }
///         call.known_config().map(drop)
///     }
/// }
/// ```
#[non_exhaustive]
pub struct Setup<M: Model> {
    /// The configuration, with defaults.
    pub config: Draft<M>,
    /// The attributes and blocks that are not wholly known yet, because they depend on objects that
    /// are still to be created. A provider that must not guess defers everything; if the host does
    /// not allow deferral, it remembers them and lets calls fail.
    pub unknown: Vec<String>,
    /// The version of the host, as it compares with `required_version`.
    pub host_version: String,
    /// Defers all calls until the provider is configured again:
    /// `call.deferral.request(DeferredReason::ProviderConfigUnknown)?`.
    pub deferral: Deferral,
    /// The call itself, for handlers that destructure this struct.
    pub call: Call,
}

deref_to_call!(Setup);

impl<M: Model> Setup<M> {
    /// The configuration, wholly known.
    ///
    /// # Errors
    /// When some of it is not known yet: names the attributes.
    pub fn known_config(&self) -> Answer<Input<M>> {
        let Some(first) = self.unknown.first() else {
            return model::struct_from_object(&plan::replace_unknown_with_null(
                &self.config.to_value(),
            ));
        };
        let names: Vec<_> = self.unknown.iter().map(|name| format!("`{name}`")).collect();
        let detail = format!(
            "{} will be known only when what it depends on has been created. Create that first, for \
             example with -target, or give a value that is known.",
            names.join(", ")
        );
        Err(Problem::new("Provider configuration not known yet", detail).at(first))
    }
}
