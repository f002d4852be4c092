//! Questions: calls that change nothing, so that one that brought no answer because the process died
//! may be asked a second time, of a fresh process. Calls that change something are never repeated.

use std::fmt::Display;
use std::future::Future;
use std::sync::Arc;

use formwork_plugin_protocol::{Failure, Provider};
use formwork_value::{Diagnostics, Reported};

use super::{About, Handle};
use crate::provider::blame::about_second_try;

impl Handle {
    /// Asks a question, a second time if need be.
    ///
    /// # Errors
    /// When it brought no answer both times.
    pub(super) async fn inquire<T, A>(
        &self,
        diags: &mut Diagnostics,
        call: &'static str,
        about: About<'_>,
        ask: impl Fn(Arc<dyn Provider>) -> A,
    ) -> Result<T, Reported>
    where
        A: Future<Output = Result<T, Failure>>,
    {
        let (answer, first) = self.ask_twice(call, about.addr, ask).await;
        let answer = answer.map_err(|failure| self.failed(diags, call, &failure, about))?;
        if let Some(first) = first {
            diags.warn(about_second_try(self.addr(), call, Some(&about.addr.to_string()), &first));
        }
        Ok(answer)
    }

    /// Asks a question, a second time if need be. Returns the last answer, and why there was none the
    /// first time, if there was none.
    pub(super) async fn ask_twice<T, A>(
        &self,
        call: &'static str,
        about: &dyn Display,
        ask: impl Fn(Arc<dyn Provider>) -> A,
    ) -> (Result<T, Failure>, Option<Failure>)
    where
        A: Future<Output = Result<T, Failure>>,
    {
        let before = self.provider();
        let first = match self.answer(call, about, ask(before.clone())).await {
            Err(failure) if failure.is_passing() => failure,
            answer => return (answer, None),
        };
        match self.calls.mending.replace(self.addr(), &self.seat, before).await {
            Some(fresh) => (self.answer(call, about, ask(fresh)).await, Some(first)),
            None => (Err(first), None),
        }
    }
}
