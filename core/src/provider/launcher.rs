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

    /// Returns cached schemas of a provider, which the same program returned before, so that it does not
    /// need to be started for them. A later instance is compared with them.
    fn cached_schemas(
        &self,
        _provider: &ProviderAddr,
    ) -> Option<(ProviderSchema, IdentitySchemas)> {
        None
    }

    /// Caches the schemas that a provider returned without a warning.
    fn cache_schemas(
        &self,
        _provider: &ProviderAddr,
        _schema: &ProviderSchema,
        _identities: &IdentitySchemas,
    ) {
    }

    /// Handles an instance with schemas that differ from the cached ones.
    fn remove_cached_schemas(&self, _provider: &ProviderAddr) {}

    /// Returns the maximum number of concurrent instances, if limited. More are started only if the run
    /// could not continue otherwise.
    fn max_processes(&self) -> Option<usize> {
        None
    }

    /// Returns the deadlines of calls.
    fn call_deadlines(&self) -> CallDeadlines {
        CallDeadlines::default()
    }

    /// The message limit in bytes.
    fn message_limit(&self) -> usize {
        message_limits::MAX_MESSAGE_BYTES
    }

    /// Returns the collection of sensitive values, shared with the code that prints and logs provider
    /// output.
    fn secrets(&self) -> Secrets {
        Secrets::default()
    }

    /// Returns the built-in provider.
    fn builtin_provider(&self) -> Arc<dyn Provider> {
        Arc::new(BuiltinProvider::default())
    }

    /// Stops an instance that is no longer needed. In-process providers do not need to be stopped.
    async fn close_provider(&self, _provider: &Arc<dyn Provider>) {}
}
