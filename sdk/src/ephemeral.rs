//! An ephemeral resource as its author writes it: opened while somebody needs it, never stored.

use std::time::SystemTime;

use async_trait::async_trait;
use bytes::Bytes;
use formwork_value::{Diagnostic, Diagnostics};

use crate::model::NoneWriteOnly;
use crate::{Answer, Computed, Draft, Input, Model};

/// An ephemeral resource. Only [`open`](Self::open) must be written: what is left out suits one that
/// does not run out and leaves nothing behind.
#[async_trait]
pub trait Ephemeral: Send + Sync + 'static {
    /// What is asked for and what is handed out. Nothing of it is write-only: none of it is stored
    /// anyway.
    type Model: Model<WriteOnly = NoneWriteOnly>;

    /// Checks what the author wrote, beyond what the schema says. Values may be unknown.
    ///
    /// # Errors
    /// When it cannot be so. What is reported without an error returned counts as well.
    fn validate(&self, _diags: &mut Diagnostics, _config: &Draft<Self::Model>) -> Answer<()> {
        Ok(())
    }

    /// Opens it. `config` is what the author wrote, wholly known and with defaults; the answer is what
    /// was found out.
    ///
    /// # Errors
    /// When it cannot be had.
    async fn open(
        &self,
        diags: &mut Diagnostics,
        config: Input<Self::Model>,
    ) -> Answer<Opened<Computed<Self::Model>>>;

    /// Makes it last longer. Asked only if [`Opened::keep`] says until when it lasts.
    ///
    /// # Errors
    /// When it does not last longer.
    async fn renew(&self, diags: &mut Diagnostics, _private: Bytes) -> Answer<Keep> {
        Err(diags.error(Diagnostic::error(
            "Renewal not supported",
            "The provider asked for a renewal that it does not support. This is a bug in the provider.",
        )))
    }

    /// Ends it. `private` is what [`open`](Self::open) kept, whatever renewals have kept since.
    ///
    /// # Errors
    /// When it goes on.
    async fn close(&self, _diags: &mut Diagnostics, _private: Bytes) -> Answer<()> {
        Ok(())
    }
}

/// What an ephemeral resource hands out, and what it keeps.
#[derive(Clone, Debug)]
pub struct Opened<C> {
    /// What is handed out, besides what the author wrote.
    pub value: C,
    /// What is kept.
    pub keep: Keep,
}

impl<C> Opened<C> {
    /// Hands out a value for as long as anybody wants it, and keeps nothing.
    #[must_use]
    pub fn for_good(value: C) -> Self {
        Self { value, keep: Keep::default() }
    }
}

/// What an open ephemeral resource needs until the next call.
#[derive(Clone, Debug, Default)]
pub struct Keep {
    /// Bytes that the host hands back.
    pub private: Bytes,
    /// When it must be renewed, if it runs out.
    pub renew_at: Option<SystemTime>,
}
