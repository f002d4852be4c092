//! Questions: calls that change nothing, so that one that brought no answer because the process died
//! may be asked a second time, of a fresh process. Calls that change something are never repeated.

use std::fmt::Display;
use std::future::Future;
use std::sync::Arc;

use formwork_plugin_protocol::{Failure, Provider};
use formwork_value::{Diagnostics, Reported};

use super::{CallContext, ProviderClient};
use crate::provider::provider_diagnostics::retried_call_warning;

impl ProviderClient {
    /// Asks a question, a second time if need be.
    ///
    /// # Errors
    /// When it brought no answer both times.
    pub(super) async fn call_with_retry_or_report<T, A>(
        &self,
        diags: &mut Diagnostics,
        call: &'static str,
        about: CallContext<'_>,
        ask: impl Fn(Arc<dyn Provider>) -> A,
    ) -> Result<T, Reported>
    where
        A: Future<Output = Result<T, Failure>>,
    {
        let answer = self.call_with_retry(call, about.addr, ask).await;
        answer.map_err(|failure| self.report_failure(diags, call, &failure, about))
    }

    /// Asks a question, a second time if need be. That this brought an answer is worth a remark.
    ///
    /// # Errors
    /// When it brought no answer both times.
    pub(super) async fn call_with_retry<T, A>(
        &self,
        call: &'static str,
        about: &dyn Display,
        ask: impl Fn(Arc<dyn Provider>) -> A,
    ) -> Result<T, Failure>
    where
        A: Future<Output = Result<T, Failure>>,
    {
        // Remembered, because the slot may hold another process by the time this one has failed.
        let before = self.current_provider();
        let asked = self.answering_provider(about, before.clone());
        let first = match self.wait_for_answer(call, about, ask(asked)).await {
            Err(failure) if failure.is_transient() => failure,
            answer => return answer,
        };
        let fresh = self.calls.restarts.request_replacement(self.addr(), &self.slot, before).await;
        let Some(fresh) = fresh else { return Err(first) };
        let (provider, address, reason) = (self.addr(), about, first.kind_for_logs());
        tracing::info!(%provider, call, %address, reason, "call is repeated");
        let fresh = self.answering_provider(about, fresh);
        let answer = self.wait_for_answer(call, about, ask(fresh)).await?;
        let about = about.to_string();
        let remark = retried_call_warning(self.addr(), call, Some(&about), &first);
        self.calls.provider_warnings.add_warning(self.addr(), &about, remark);
        Ok(answer)
    }
}
