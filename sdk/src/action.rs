//! Actions: work on request that leaves no object. This file has the trait that an author
//! implements.

use std::future::{Future, ready};

use tokio::sync::mpsc::UnboundedSender;

use crate::call::Call;
use crate::context::Deferral;
use crate::resource::Validate;
use crate::resource::calls::deref_to_call;
use crate::{Answer, Draft, Input, Model};

/// An action. Only [`invoke`](Self::invoke) is required.
///
/// ```
/// use formwork_sdk::prelude::*;
///
/// /// A restart.
/// #[derive(Model)]
/// struct Restart {
///     /// Name of the machine.
///     #[attr(required)]
///     machine: String,
/// }
///
/// struct Restarts;
///
/// impl Action for Restarts {
///     type Model = Restart;
///
///     async fn plan(&self, call: PlanAction<Restart>) -> Answer<()> {
///         match call.config.machine.get() {
///             Some(name) if name.is_empty() => {
///                 Err(Problem::new("No machine", "A machine has a name.").at("machine"))
///             }
///             _ => Ok(()),
///         }
///     }
///
///     async fn invoke(&self, call: Invoke<Restart>) -> Answer<()> {
///         call.progress.send(format!("restarting {}", call.config.machine));
///         Ok(())
///     }
/// }
///
/// let provider = ProviderDef::new("registry.terraform.io/acme/machines")
///     .action("machines_restart", Restarts);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an action",
    note = "write `impl Action for {Self}`"
)]
pub trait Action: Send + Sync + 'static {
    /// Arguments of the configuration. They have no computed attributes.
    type Model: Model;

    /// Validates the configuration beyond the schema. Values may be unknown.
    ///
    /// # Errors
    /// When the configuration is invalid. `call.report(…)` reports it too, and continues.
    fn validate(&self, _call: Validate<Self::Model>) -> Answer<()> {
        Ok(())
    }

    /// Checks the action before it is invoked. Values may be unknown.
    ///
    /// # Errors
    /// When the action cannot be done.
    fn plan(&self, _call: PlanAction<Self::Model>) -> impl Future<Output = Answer<()>> + Send {
        ready(Ok(()))
    }

    /// Does the action.
    ///
    /// # Errors
    /// When the action fails, completely or in part.
    fn invoke(&self, call: Invoke<Self::Model>) -> impl Future<Output = Answer<()>> + Send;
}

/// A request to plan an action.
///
/// See [`Action`] for an example.
#[non_exhaustive]
pub struct PlanAction<M: Model> {
    /// The configuration, with defaults.
    pub config: Draft<M>,
    /// Deferral of the answer.
    pub deferral: Deferral,
    /// The call itself, for handlers that destructure this struct.
    pub call: Call,
}

/// A request to invoke an action.
///
/// See [`Action`] for an example.
#[non_exhaustive]
pub struct Invoke<M: Model> {
    /// The configuration, wholly known and with defaults.
    pub config: Input<M>,
    /// Progress messages for the user.
    pub progress: Progress,
    /// The call itself, for handlers that destructure this struct.
    pub call: Call,
}

deref_to_call!(PlanAction Invoke);

/// Sends progress messages of an action to the user.
///
/// ```
/// use formwork_sdk::action::Progress;
///
/// /// Counts machines for the user.
/// fn report_progress(progress: &Progress, n_done: usize, n_all: usize) {
///     progress.send(format!("{n_done} of {n_all} machines were restarted"));
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Progress(pub(crate) UnboundedSender<String>);

impl Progress {
    /// Sends a message to the user. Messages after the end of the call are dropped.
    pub fn send(&self, text: impl Into<String>) {
        // The host may have closed the stream already.
        drop(self.0.send(text.into()));
    }
}
