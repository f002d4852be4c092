//! Events of an operation, and the questions that it asks.

use std::time::Duration;

use formwork_core::apply::ChangeCounts;
use formwork_core::event::{Event, EventObserver};
use formwork_core::plan::{Plan, PlanMode};
use formwork_core::provider::ProviderPool;
use formwork_core::state::State;
use formwork_value::{Diagnostic, Diagnostics, Reported};

/// An event of an operation.
///
/// See [`OperationObserver`] for an example.
pub enum OperationEvent<'a> {
    /// The engine works: an object is read, changed and so on.
    Engine(&'a Event<'a>),
    /// Another process holds the lock of the state, and the operation waits for it.
    LockWait {
        /// The holder, for people.
        holder: &'a str,
        /// Maximum time to wait.
        limit: Duration,
    },
    /// A plan was made that is to be applied.
    Planned {
        /// The plan.
        plan: &'a Plan,
        /// The providers, whose schemas say how values are shown.
        pool: &'a ProviderPool<'a>,
    },
    /// A saved plan holds for the state, and is about to be applied.
    SavedPlan(&'a Plan),
    /// A plan was applied without an error.
    Applied {
        /// The number of changes made.
        counts: ChangeCounts,
        /// The state after them.
        state: &'a State,
    },
    /// The state was brought up to date.
    Refreshed {
        /// The state.
        state: &'a State,
    },
}

/// Observes an operation.
///
/// ```
/// use formwork_operation::prelude::*;
///
/// /// Prints each change once it is made.
/// struct Progress;
///
/// impl OperationObserver for Progress {
///     fn on_event(&self, event: &OperationEvent<'_>) {
///         if let OperationEvent::Engine(Event::ChangeDone { addr, action, .. }) = event {
///             println!("{addr}: {action:?} done");
///         }
///     }
/// }
/// ```
pub trait OperationObserver {
    /// Takes notice of an event. Must be quick.
    fn on_event(&self, event: &OperationEvent<'_>);

    /// Offers warnings at a point where the user should read them before the operation goes on. An
    /// implementation that shows them takes them out; the caller of the operation gets the others.
    fn offer_diagnostics(&self, diags: &mut Diagnostics) {
        let _ = diags;
    }
}

/// An observer that ignores everything.
///
/// ```
/// use formwork_core::state::State;
/// use formwork_operation::prelude::*;
/// use formwork_operation::NoOperationObserver;
///
/// let mut diags = Diagnostics::new();
/// NoOperationObserver.on_event(&OperationEvent::Refreshed { state: &State::default() });
/// NoOperationObserver.offer_diagnostics(&mut diags);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct NoOperationObserver;

impl OperationObserver for NoOperationObserver {
    fn on_event(&self, _: &OperationEvent<'_>) {}
}

/// Passes the events of the engine on to the observer of an operation.
pub(crate) struct EngineEventForwarder<'a>(pub(crate) &'a dyn OperationObserver);

impl EventObserver for EngineEventForwarder<'_> {
    fn on_event(&self, event: &Event<'_>) {
        self.0.on_event(&OperationEvent::Engine(event));
    }
}

/// A request to approve a plan.
///
/// See [`Approval`] for an example.
#[derive(Clone, Copy, Debug)]
pub struct ApprovalPrompt<'a> {
    /// The kind of plan.
    pub mode: PlanMode,
    /// Sentences to repeat with the question, one a line: options of the plan that match nothing.
    pub reminder: &'a str,
}

/// Approves plans.
///
/// ```
/// use async_trait::async_trait;
/// use formwork_operation::prelude::*;
/// use formwork_value::diag::Severity;
///
/// /// Lets no run destroy everything.
/// struct NoDestruction;
///
/// #[async_trait(?Send)]
/// impl Approval for NoDestruction {
///     async fn approve(
///         &self,
///         diags: &mut Diagnostics,
///         request: ApprovalPrompt<'_>,
///     ) -> Result<(), Reported> {
///         if request.mode != PlanMode::Destroy {
///             return Ok(());
///         }
///         let detail = "This program destroys nothing. Nothing was changed.";
///         Err(diags.error(Diagnostic::foreign(Severity::Error, "Not approved", detail)))
///     }
/// }
/// ```
#[async_trait::async_trait(?Send)]
pub trait Approval {
    /// Decides about a plan that was made and reported to the observer. Is asked only for plans that
    /// change something.
    ///
    /// # Errors
    /// When the plan is not approved. Nothing is changed then.
    async fn approve(
        &self,
        diags: &mut Diagnostics,
        request: ApprovalPrompt<'_>,
    ) -> Result<(), Reported>;

    /// Decides whether to make a new plan in place of one that was approved, where other runs have changed parts of the
    /// state since.
    async fn wants_new_plan(&self, _overtaken: &Diagnostic) -> bool {
        false
    }
}
