//! Events of an operation, and requests for approval.

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
    /// An event of the engine: an object is read, changed and so on.
    Engine(&'a Event<'a>),
    /// Another process holds the lock of the state, and the operation waits for it.
    LockWait {
        /// A human-readable description of the holder.
        holder: &'a str,
        /// Maximum time to wait.
        limit: Duration,
    },
    /// A plan was created, and is about to be applied.
    Planned {
        /// The plan.
        plan: &'a Plan,
        /// The providers, whose schemas define how values are displayed.
        pool: &'a ProviderPool<'a>,
    },
    /// A saved plan matches the state, and is about to be applied.
    SavedPlan(&'a Plan),
    /// A plan was applied without an error.
    Applied {
        /// The numbers of changes by kind.
        counts: ChangeCounts,
        /// The state after the changes.
        state: &'a State,
    },
    /// The state was refreshed.
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
    /// Receives an event. Must return quickly.
    fn on_event(&self, event: &OperationEvent<'_>);

    /// Offers warnings that the user should see before the operation continues. An implementation
    /// that prints them removes them; the rest is returned to the caller of the operation.
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

/// Forwards the events of the engine to the observer of an operation.
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
    /// Sentences to repeat with the question, one per line: options of the plan that match nothing.
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
    /// Approves or refuses a plan that was created and reported to the observer. Called only for
    /// plans that change something.
    ///
    /// # Errors
    /// Returns an error if the plan is not approved. Then no change is made.
    async fn approve(
        &self,
        diags: &mut Diagnostics,
        request: ApprovalPrompt<'_>,
    ) -> Result<(), Reported>;

    /// Decides whether to create a new plan after the approval of the first one, because other runs have
    /// changed parts of the state.
    async fn wants_new_plan(&self, _overtaken: &Diagnostic) -> bool {
        false
    }
}
