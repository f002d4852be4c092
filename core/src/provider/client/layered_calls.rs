//! Calls of a client through the call layers. No other code of the client calls a provider.

use std::fmt::Display;
use std::sync::Arc;

use formwork_plugin_protocol::provider::TypedRequest;
use formwork_plugin_protocol::{Failure, Provider};
use formwork_value::{Diagnostics, Reported};

use super::{CallContext, ProviderClient};
use crate::provider::call_layers::{CallLayer as _, CallSubject, attempt_layers, client_layers};

impl ProviderClient {
    /// Makes a call, and retries a failed read-only one.
    ///
    /// # Errors
    /// Returns an error if the call fails, which is reported.
    pub(super) async fn call_or_report<T>(
        &self,
        diags: &mut Diagnostics,
        request: TypedRequest<T>,
        about: CallContext<'_>,
    ) -> Result<T, Reported> {
        let method = request.method();
        let answer = self.call(request, about.addr).await;
        answer.map_err(|failure| self.report_failure(diags, method.name(), &failure, about))
    }

    /// Makes a call, and retries a failed read-only one.
    ///
    /// # Errors
    /// Returns an error if the call fails.
    pub(super) async fn call<T>(
        &self,
        request: TypedRequest<T>,
        about: &dyn Display,
    ) -> Result<T, Failure> {
        let subject = CallSubject { provider: self.addr(), about };
        let answering = |running| self.answering_provider(about, running);
        let layers = client_layers(&self.calls, subject, &self.slot, answering);
        request.send_by(|request| layers.call(request)).await
    }

    /// Makes a call to one process, without a retry on another one.
    ///
    /// # Errors
    /// Returns an error if the call fails.
    pub(super) async fn call_process<T>(
        &self,
        process: &Arc<dyn Provider>,
        request: TypedRequest<T>,
        about: &dyn Display,
    ) -> Result<T, Failure> {
        let subject = CallSubject { provider: self.addr(), about };
        let layers = attempt_layers(&self.calls, subject, process.clone());
        request.send_by(|request| layers.call(request)).await
    }
}
