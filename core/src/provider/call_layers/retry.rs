//! Repeats a read-only call with a new process if the process ended without a response. A call that
//! changes objects is never repeated.

use std::rc::Rc;
use std::sync::Arc;

use formwork_plugin_protocol::provider::{Request, Response};
use formwork_plugin_protocol::{Failure, Provider};
use futures_util::FutureExt as _;
use futures_util::future::LocalBoxFuture;

use super::{CallLayer, CallSubject};
use crate::provider::pending_calls::ProviderCalls;
use crate::provider::provider_diagnostics::retried_call_warning;
use crate::provider::provider_slot::ProviderSlot;

/// Repeats a failed call if this is allowed. A warning reports that the retry succeeded.
pub(super) struct RetryLayer<'c, A> {
    pub(super) calls: &'c ProviderCalls,
    pub(super) subject: CallSubject<'c>,
    pub(super) slot: &'c Rc<ProviderSlot>,
    /// Creates the layers of one attempt over the process of the slot.
    pub(super) attempt: A,
}

impl<'c, L, A> CallLayer for RetryLayer<'c, A>
where
    L: CallLayer + 'c,
    A: Fn(Arc<dyn Provider>) -> L,
{
    fn call(&self, request: Request) -> LocalBoxFuture<'_, Result<Response, Failure>> {
        async move {
            // Kept, because the slot may contain another process when this one has failed.
            let before = self.slot.current_provider();
            let method = request.method();
            if !method.is_repeatable() {
                let attempt = (self.attempt)(before);
                return attempt.call(request).await;
            }
            let attempt = (self.attempt)(before.clone());
            let first = match attempt.call(request.clone()).await {
                Err(failure) if failure.is_transient() => failure,
                answer => return answer,
            };
            // It holds a reference to the process, which must be able to end.
            drop(attempt);
            let CallSubject { provider, about } = self.subject;
            let fresh = self.calls.restarts.request_replacement(provider, self.slot, before).await;
            let Some(fresh) = fresh else { return Err(first) };
            let (call, reason) = (method.name(), first.kind_for_logs());
            tracing::info!(%provider, call, address = %about, reason, "call is repeated");
            let attempt = (self.attempt)(fresh);
            let answer = attempt.call(request).await?;
            let about = about.to_string();
            let warning = retried_call_warning(provider, call, Some(&about), &first);
            self.calls.provider_warnings.add_warning(provider, &about, warning);
            Ok(answer)
        }
        .boxed_local()
    }
}
