//! What every call has besides its values: what to say beside the answer, the host's wish for an end,
//! and how long it may take. The calls of traits are [`Call`]s with more.

use std::fmt;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use formwork_plugin_protocol::message::{DeferredReason, ProviderDiagnostic};
use formwork_value::{Diagnostic, Diagnostics, Value};
use futures_util::FutureExt as _;
use tokio::time::Instant;

use crate::context::locked;
use crate::stop::Stop;
use crate::timeouts::{self, Wait};
use crate::{Answer, Problem, panics};

/// Something that is asked of a provider.
#[derive(Clone)]
pub struct Call {
    /// Whether to hurry.
    pub stop: Stop,
    /// What to call a problem that has no summary: `Unable to read time_sleep`.
    doing: Arc<str>,
    said: Arc<Mutex<Diagnostics>>,
    begin: Instant,
    /// How long it may take, if the author says so.
    written: Option<Duration>,
}

/// What came of a handler that may put its answer off.
pub(crate) struct Settled<T> {
    /// `None` if it failed, or has put it off.
    pub(crate) answer: Option<T>,
    pub(crate) deferred: Option<DeferredReason>,
    pub(crate) diagnostics: Vec<ProviderDiagnostic>,
}

impl Call {
    /// `doing` is what could fail: `read time_sleep`.
    pub(crate) fn new(stop: Stop, doing: impl fmt::Display) -> Self {
        let doing = format!("Unable to {doing}").into();
        Self { stop, doing, said: Arc::default(), begin: Instant::now(), written: None }
    }

    /// The same call, lasting at most as long as the author of an object says of the operation.
    pub(crate) fn lasting_as(&self, object: &Value, operation: &str) -> Self {
        Self { written: timeouts::written(object, operation), ..self.clone() }
    }

    /// The same call under another name, once it is known what is to be done.
    pub(crate) fn called(&self, doing: &str) -> Self {
        Self { doing: doing.into(), ..self.clone() }
    }

    /// Says something that people should know, beside the answer.
    pub fn warn(&self, problem: Problem) {
        let mut said = locked(&self.said);
        problem.diagnostics(&self.doing).for_each(|problem| said.warn(problem));
    }

    /// Reports a problem and goes on: to find more of them, or to return an object that is there
    /// although something is wrong with it. A created one is stored as tainted then.
    pub fn report(&self, problem: Problem) {
        let mut said = locked(&self.said);
        for problem in problem.diagnostics(&self.doing) {
            let _receipt = said.error(problem);
        }
    }

    /// How long this may take: what the author of the configuration says in `timeouts`, or else what is
    /// usual.
    #[must_use]
    pub fn timeout(&self, usual: Duration) -> Duration {
        self.written.unwrap_or(usual)
    }

    /// Waits until something is so, as a message says it: `the database is ready`. See [`Wait`].
    pub fn wait<'c>(&'c self, what: &'c str) -> Wait<'c> {
        Wait::of(self, what)
    }

    /// Since when this is asked.
    pub(crate) fn begin(&self) -> Instant {
        self.begin
    }

    /// Waits for a handler; its panic is its answer, so that what it said before still gets out.
    pub(crate) async fn caught<T>(&self, handler: impl Future<Output = Answer<T>>) -> Answer<T> {
        panics::watch();
        panics::forget();
        let done = AssertUnwindSafe(handler).catch_unwind().await;
        done.unwrap_or_else(|panic| {
            let told = panics::told(&*panic);
            let detail =
                format!("A handler of the provider panicked{told}. This is a bug in the provider.");
            Err(Problem::new("Provider panicked", detail))
        })
    }

    /// Waits for a handler that changes nothing, or until the host wants an end: what it is about can be
    /// dropped.
    pub(crate) async fn unless_stopped<T>(
        &self,
        handler: impl Future<Output = Answer<T>>,
    ) -> Answer<T> {
        tokio::select! {
            // One that needs not wait is done before anybody looks whether it should go on.
            biased;
            answer = handler => answer,
            () = self.stop.requested() => {
                let detail = "The run is to end, so the answer was not waited for any longer.";
                Err(Problem::new("Interrupted", detail))
            }
        }
    }

    /// What a handler answered, if it did, and all that was said. The handler stays where it is pinned:
    /// each function that it is moved through would make room for it once more.
    pub(crate) async fn settled<T>(
        &self,
        handler: Pin<&mut impl Future<Output = Answer<T>>>,
    ) -> (Option<T>, Vec<ProviderDiagnostic>) {
        let answer = match self.caught(handler).await {
            Ok(answer) => Some(answer),
            Err(problem) => {
                self.report(problem);
                None
            }
        };
        (answer, self.told())
    }

    /// What a handler answered that may put its answer off.
    pub(crate) async fn deferrable<T>(
        &self,
        handler: Pin<&mut impl Future<Output = Answer<T>>>,
    ) -> Settled<T> {
        let (answer, deferred) = match self.caught(handler).await {
            Ok(answer) => (Some(answer), None),
            Err(problem) => match problem.deferral() {
                // What is wrong already will not be right when more is known.
                Some(reason) => (None, Some(reason).filter(|_| !self.has_failed())),
                None => {
                    self.report(problem);
                    (None, None)
                }
            },
        };
        Settled { answer, deferred, diagnostics: self.told() }
    }

    /// Whether an error was reported.
    pub(crate) fn has_failed(&self) -> bool {
        locked(&self.said).has_errors()
    }

    /// All that was said, in the words of the contract.
    pub(crate) fn told(&self) -> Vec<ProviderDiagnostic> {
        let said = std::mem::take(&mut *locked(&self.said));
        said.into_iter().map(in_contract).collect()
    }
}

fn in_contract(problem: Diagnostic) -> ProviderDiagnostic {
    let Diagnostic { severity, summary, detail, path, .. } = problem;
    ProviderDiagnostic { severity, summary, detail, path: path.unwrap_or_default() }
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Call").field(&self.doing).finish()
    }
}
