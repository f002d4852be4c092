//! An action as its author writes it: something that is done on request and leaves no object.

use async_trait::async_trait;
use formwork_value::Diagnostics;
use tokio::sync::mpsc::UnboundedSender;

use crate::stop::Stop;
use crate::{Answer, Draft, Input, Model};

/// An action. Only [`invoke`](Self::invoke) must be written.
#[async_trait]
pub trait Action: Send + Sync + 'static {
    /// What the author of a configuration writes. It has no computed attributes.
    type Config: Model;

    /// Checks what the author wrote, beyond what the schema says. Values may be unknown.
    ///
    /// # Errors
    /// When it cannot be so. What is reported without an error returned counts as well.
    fn validate(&self, _diags: &mut Diagnostics, _config: &Draft<Self::Config>) -> Answer<()> {
        Ok(())
    }

    /// Looks at what would be done, before anything is. Values may be unknown.
    ///
    /// # Errors
    /// When it could not be done.
    async fn plan(&self, _diags: &mut Diagnostics, _config: Draft<Self::Config>) -> Answer<()> {
        Ok(())
    }

    /// Does it.
    ///
    /// # Errors
    /// When it is not done, or only in part.
    async fn invoke(&self, diags: &mut Diagnostics, call: Invoke<Self::Config>) -> Answer<()>;
}

/// Asks for an action.
#[non_exhaustive]
pub struct Invoke<M: Model> {
    /// What the author wrote, wholly known and with defaults.
    pub config: Input<M>,
    /// To tell people how it goes.
    pub progress: Progress,
    /// Whether to hurry.
    pub stop: Stop,
}

/// Tells people how an action goes, while it goes.
#[derive(Clone, Debug)]
pub struct Progress(pub(crate) UnboundedSender<String>);

impl Progress {
    /// Tells them, unless nobody listens any more.
    pub fn tell(&self, text: impl Into<String>) {
        // Whoever has gone does not want to know.
        drop(self.0.send(text.into()));
    }
}
