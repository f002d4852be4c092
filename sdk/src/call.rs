//! Data of every call in addition to its values: diagnostics of the answer, the host's stop signal,
//! and the timeout. The structs of the traits dereference to [`Call`].

use std::any::Any;
use std::fmt;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use formwork_plugin_protocol::message::{DeferredReason, ProviderDiagnostic};
use formwork_value::{Diagnostic, Diagnostics, Value};
use futures_util::{FutureExt as _, poll};
use tokio::time::Instant;

use crate::context::lock_ignoring_poison;
use crate::stop::Stop;
use crate::timeouts::{self, Wait};
use crate::{Answer, Problem, panic_positions};

/// A request to a provider.
///
/// ```
/// use std::time::Duration;
///
/// use formwork_sdk::prelude::*;
/// # use formwork_sdk::testing::{TestObject, wait};
/// # use formwork_sdk::value::Value;
///
/// # /// A note.
/// # #[derive(Model)]
/// # struct Note {
/// #     #[attr(required)]
/// #     title: String,
/// #     #[attr(computed, keep)]
/// #     id: String,
/// # }
/// #
/// struct Notes;
///
/// impl Resource for Notes {
///     type Model = Note;
///
///     async fn create(&self, call: Create<Note>) -> Answer<NoteComputed> {
///         // The default, because the model has no block `timeouts`.
///         assert_eq!(call.timeout(Duration::from_secs(60)), Duration::from_secs(60));
///         if call.planned.title.is_empty() {
///             call.warn(Problem::new("No title", "The note has no title.").at("title"));
///         }
///         Ok(NoteComputed { id: "n-1".to_owned() })
///     }
/// }
/// # let provider =
/// #     ProviderDef::new("registry.terraform.io/acme/notes").resource("notes_note", Notes);
/// # let mut note = wait(TestObject::new(provider, "notes_note")).unwrap();
/// # wait(note.apply([("title", Value::string(""))])).unwrap();
/// ```
#[derive(Clone)]
pub struct Call {
    /// The stop signal of the host.
    pub stop: Stop,
    doing: DefaultSummaryParts,
    diags: Arc<Mutex<Diagnostics>>,
    begin: Instant,
    /// Timeout set by the author of the configuration.
    written: Option<Duration>,
}

/// Description of the work. It becomes a string only when there is a problem.
#[derive(Clone)]
struct DefaultSummaryParts {
    /// Verb and prefix of the name: `read `, `validate data.`.
    verb: &'static str,
    /// The name of the type; empty if there is none.
    of: Arc<str>,
}

/// Result of a handler that may defer its answer.
pub(crate) struct DeferrableAnswer<T> {
    /// `None` if the handler failed or deferred its answer.
    pub(crate) answer: Option<T>,
    pub(crate) deferred: Option<DeferredReason>,
    pub(crate) diagnostics: Vec<ProviderDiagnostic>,
}

impl Call {
    /// Creates a call. `doing` and `of` make the summary of its problems: `read ` and `time_sleep`.
    pub(crate) fn new(stop: Stop, doing: &'static str, of: &str) -> Self {
        let doing = DefaultSummaryParts { verb: doing, of: of.into() };
        Self { stop, doing, diags: Arc::default(), begin: Instant::now(), written: None }
    }

    /// The same call with the timeout that the author of an object sets for the operation.
    pub(crate) fn with_configured_timeout(&self, object: &Value, operation: &str) -> Self {
        // Only the timeout differs. The diagnostics are shared, so that all of them reach one
        // answer.
        Self { written: timeouts::configured_timeout(object, operation), ..self.clone() }
    }

    /// The same call with another verb in its default summary, once the operation is known.
    pub(crate) fn with_default_summary_verb(self, verb: &'static str) -> Self {
        Self { doing: DefaultSummaryParts { verb, ..self.doing }, ..self }
    }

    /// Summary of a problem without its own: `Unable to read time_sleep`.
    pub(crate) fn default_summary(&self) -> String {
        let DefaultSummaryParts { verb, of } = &self.doing;
        format!("Unable to {verb}{of}")
    }

    /// Adds a warning to the answer.
    pub fn warn(&self, problem: Problem) {
        let mut diags = lock_ignoring_poison(&self.diags);
        problem.diagnostics(&self.default_summary()).for_each(|problem| diags.warn(problem));
    }

    /// Reports an error and continues: to find further errors, or to return an object in spite of
    /// the error. A created object is then stored as tainted.
    pub fn report(&self, problem: Problem) {
        let mut diags = lock_ignoring_poison(&self.diags);
        for problem in problem.diagnostics(&self.default_summary()) {
            let _receipt = diags.error(problem);
        }
    }

    /// Whether an error was reported in addition to the answer.
    pub(crate) fn has_reported_errors(&self) -> bool {
        lock_ignoring_poison(&self.diags).has_errors()
    }

    /// Timeout of this operation: the one that the author of the configuration sets in `timeouts`,
    /// otherwise the default `usual`.
    #[must_use]
    pub fn timeout(&self, usual: Duration) -> Duration {
        self.written.unwrap_or(usual)
    }

    /// Waits for a condition, which the argument describes: `the database is ready`. See [`Wait`].
    pub fn wait<'c>(&'c self, condition: &'c str) -> Wait<'c> {
        Wait::for_call(self, condition)
    }

    /// Start time of the call.
    pub(crate) fn started_at(&self) -> Instant {
        self.begin
    }

    // These functions combine futures and await nothing of their own: an async function reserves
    // room twice for each argument, as received and where it is awaited, and handlers are large.

    /// Waits for a handler. A panic becomes its answer, so that earlier diagnostics are not lost.
    pub(crate) fn catch_panic<T>(
        &self,
        handler: impl Future<Output = Answer<T>>,
    ) -> impl Future<Output = Answer<T>> {
        panic_positions::install_panic_hook();
        // The thread may have the position of an earlier panic that was caught elsewhere.
        panic_positions::forget_panic_position();
        // A handler that panicked is dropped and never polled again, so no broken state is seen.
        let outcome = AssertUnwindSafe(handler).catch_unwind();
        outcome.map(|outcome| outcome.unwrap_or_else(|panic| Err(panic_problem(&*panic))))
    }

    /// Waits for a read-only handler, or until the host requests a stop: its work can be dropped.
    pub(crate) async fn run_unless_stopped<T>(
        &self,
        handler: impl Future<Output = Answer<T>>,
    ) -> Answer<T> {
        let mut handler = pin!(handler);
        // A handler that does not wait is polled to completion before the stop signal is examined.
        // The state for that is allocated only afterwards.
        if let Poll::Ready(answer) = poll!(&mut handler) {
            return answer;
        }
        tokio::select! {
            // The handler is polled first: an answer that is ready counts, even if the host has
            // already requested a stop.
            biased;
            answer = handler => answer,
            () = self.stop.wait_until_requested().boxed() => {
                let detail = "The run is stopping, so the call did not wait for the answer.";
                Err(Problem::new("Interrupted", detail))
            }
        }
    }

    /// Answer of a handler, if it gave one, and all diagnostics.
    pub(crate) fn collect_answer<T>(
        &self,
        handler: impl Future<Output = Answer<T>>,
    ) -> impl Future<Output = (Option<T>, Vec<ProviderDiagnostic>)> {
        self.catch_panic(handler).map(|answer| {
            let answer = answer.map_err(|problem| self.report(problem)).ok();
            (answer, self.take_diagnostics())
        })
    }

    /// Answer of a handler that may defer it.
    pub(crate) fn collect_deferrable<T>(
        &self,
        handler: impl Future<Output = Answer<T>>,
    ) -> impl Future<Output = DeferrableAnswer<T>> {
        self.catch_panic(handler).map(|answer| {
            let (answer, deferred) = match answer {
                Ok(answer) => (Some(answer), None),
                Err(problem) => match problem.deferral_reason() {
                    // A call that failed already is not deferred: the host would drop its errors.
                    Some(reason) => (None, Some(reason).filter(|_| !self.has_reported_error())),
                    None => {
                        self.report(problem);
                        (None, None)
                    }
                },
            };
            DeferrableAnswer { answer, deferred, diagnostics: self.take_diagnostics() }
        })
    }

    /// Whether an error was reported.
    pub(crate) fn has_reported_error(&self) -> bool {
        lock_ignoring_poison(&self.diags).has_errors()
    }

    /// All diagnostics, as types of the contract.
    pub(crate) fn take_diagnostics(&self) -> Vec<ProviderDiagnostic> {
        // Taken and not copied: a stream sends the diagnostics of each event once.
        let diags = std::mem::take(&mut *lock_ignoring_poison(&self.diags));
        diags.into_iter().map(to_provider_diagnostic).collect()
    }
}

fn panic_problem(panic: &(dyn Any + Send)) -> Problem {
    let panic_text = panic_positions::describe_panic(panic);
    let detail =
        format!("A handler of the provider panicked{panic_text}. This is a bug in the provider.");
    Problem::new("Provider panicked", detail)
}

fn to_provider_diagnostic(problem: Diagnostic) -> ProviderDiagnostic {
    let Diagnostic { severity, summary, detail, path, .. } = problem;
    ProviderDiagnostic { severity, summary, detail, path: path.unwrap_or_default(), code: None }
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Call").field(&self.default_summary()).finish()
    }
}
