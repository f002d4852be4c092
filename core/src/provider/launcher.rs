//! The interface to start providers, which the program that uses the engine implements. The pool decides
//! when to start them, and how many.

use std::sync::Arc;

use async_trait::async_trait;
use formwork_plugin_protocol::message::schema::{IdentitySchemas, ProviderSchema};
use formwork_plugin_protocol::{Failure, Provider, message_limits};
use formwork_value::Secrets;

use super::builtin::BuiltinProvider;
use super::deadlines::CallDeadlines;
use crate::addr::ProviderAddr;

/// Starts provider processes. The command line implements it over installed packages, tests over
/// providers in this process.
#[async_trait(?Send)]
pub trait ProviderLauncher {
    /// Starts one more instance of a provider.
    async fn launch_provider(&self, provider: &ProviderAddr) -> Result<Arc<dyn Provider>, Failure>;

    /// Schemas of a provider that need not be started for them, because the very same program has
    /// returned them before. An instance that is started later is compared with them.
    fn cached_schemas(
        &self,
        _provider: &ProviderAddr,
    ) -> Option<(ProviderSchema, IdentitySchemas)> {
        None
    }

    /// Takes note of the schemas that a provider has returned without a warning.
    fn cache_schemas(
        &self,
        _provider: &ProviderAddr,
        _schema: &ProviderSchema,
        _identities: &IdentitySchemas,
    ) {
    }

    /// Takes note that an instance returns other schemas than the known ones.
    fn remove_cached_schemas(&self, _provider: &ProviderAddr) {}

    /// Maximum number of instances that may live at once, if that is limited. More are started only
    /// where nothing else could go on.
    fn max_processes(&self) -> Option<usize> {
        None
    }

    /// Deadlines of calls.
    fn call_deadlines(&self) -> CallDeadlines {
        CallDeadlines::default()
    }

    /// The largest message in bytes.
    fn message_limit(&self) -> usize {
        message_limits::MAX_MESSAGE_BYTES
    }

    /// The collection of sensitive values, shared with the printers and logs of text of providers.
    fn secrets(&self) -> Secrets {
        Secrets::default()
    }

    /// The provider that is part of the engine.
    fn builtin_provider(&self) -> Arc<dyn Provider> {
        Arc::new(BuiltinProvider::default())
    }

    /// Ends an instance that is not needed any more. One that is not a process needs no end.
    async fn close_provider(&self, _provider: &Arc<dyn Provider>) {}
}
