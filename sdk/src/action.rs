//! An action as its author writes it: something that is done on request and leaves no object.

use std::future::{Future, ready};

use tokio::sync::mpsc::UnboundedSender;

use crate::call::Call;
use crate::context::Deferral;
use crate::resource::Validate;
use crate::resource::calls::calls;
use crate::{Answer, Draft, Input, Model};

/// An action. Only [`invoke`](Self::invoke) must be written.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no action",
    note = "write `impl Action for {Self}`"
)]
pub trait Action: Send + Sync + 'static {
    /// Arguments of the configuration. They have no computed attributes.
    type Model: Model;

    /// Checks what the author wrote, beyond what the schema says. Values may be unknown.
    ///
    /// # Errors
    /// When it cannot be so. `call.report(…)` says so too, and goes on.
    fn validate(&self, _call: Validate<Self::Model>) -> Answer<()> {
        Ok(())
    }

    /// Looks at what would be done, before anything is. Values may be unknown.
    ///
    /// # Errors
    /// When it could not be done.
    fn plan(&self, _call: PlanAction<Self::Model>) -> impl Future<Output = Answer<()>> + Send {
        ready(Ok(()))
    }

    /// Does it.
    ///
    /// # Errors
    /// When it is not done, or only in part.
    fn invoke(&self, call: Invoke<Self::Model>) -> impl Future<Output = Answer<()>> + Send;
}

/// Asks whether an action can be done.
#[non_exhaustive]
pub struct PlanAction<M: Model> {
    /// The configuration, with defaults.
    pub config: Draft<M>,
    /// To put the answer off.
    pub deferral: Deferral,
    /// The rest, for those who take the values out.
    pub call: Call,
}

/// Asks for an action.
#[non_exhaustive]
pub struct Invoke<M: Model> {
    /// The configuration, wholly known and with defaults.
    pub config: Input<M>,
    /// To tell people how it goes.
    pub progress: Progress,
    /// The rest, for those who take the values out.
    pub call: Call,
}

calls!(PlanAction Invoke);

/// Tells people how an action goes, while it goes.
#[derive(Clone, Debug)]
pub struct Progress(pub(crate) UnboundedSender<String>);

impl Progress {
    /// Sends a message to the user. Messages after the end of the call are dropped.
    pub fn tell(&self, text: impl Into<String>) {
        // The receiver may be gone already.
        drop(self.0.send(text.into()));
    }
}
