//! Ephemeral resources: opened while they are needed, never stored.

use std::future::{Future, ready};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use crate::call::Call;
use crate::context::{Deferral, Private, locked};
use crate::model::NoneWriteOnly;
use crate::resource::Validate;
use crate::resource::calls::calls;
use crate::{Answer, Computed, Input, Model, Problem};

/// An ephemeral resource. Only [`open`](Self::open) must be written: what is left out suits one that
/// does not run out and leaves nothing behind.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no ephemeral resource",
    note = "write `impl Ephemeral for {Self}`"
)]
pub trait Ephemeral: Send + Sync + 'static {
    /// Arguments and result. It has no write-only attributes, as nothing is stored anyway.
    type Model: Model<WriteOnly = NoneWriteOnly>;

    /// Checks what the author wrote, beyond what the schema says. Values may be unknown.
    ///
    /// # Errors
    /// When it cannot be so. `call.report(…)` says so too, and goes on.
    fn validate(&self, _call: Validate<Self::Model>) -> Answer<()> {
        Ok(())
    }

    /// Opens it, and returns what is handed out besides what the author wrote. If it runs out,
    /// `call.lasts.until(…)` says when; what the next call must know is put into `call.private`.
    ///
    /// # Errors
    /// When it cannot be had.
    fn open(
        &self,
        call: Open<Self::Model>,
    ) -> impl Future<Output = Answer<Computed<Self::Model>>> + Send;

    /// Makes it last longer, and says until when. Asked only if the call before did.
    ///
    /// # Errors
    /// When it does not last longer.
    fn renew(&self, _call: Renew) -> impl Future<Output = Answer<()>> + Send {
        ready(Err(Problem::new(
            "Renewal not supported",
            "The provider asked for a renewal that it does not support. This is a bug in the provider.",
        )))
    }

    /// Ends it.
    ///
    /// # Errors
    /// When it goes on.
    fn close(&self, _call: Close) -> impl Future<Output = Answer<()>> + Send {
        ready(Ok(()))
    }
}

/// Asks for an ephemeral resource.
#[non_exhaustive]
pub struct Open<M: Model> {
    /// The configuration, wholly known and with defaults.
    pub config: Input<M>,
    /// Private data, kept until the next call.
    pub private: Private,
    /// Until when it lasts.
    pub lasts: Lasts,
    /// To put the answer off.
    pub deferral: Deferral,
    /// The rest, for those who take the values out.
    pub call: Call,
}

/// Asks that an ephemeral resource last longer.
#[non_exhaustive]
pub struct Renew {
    /// Private data, kept until the next call.
    pub private: Private,
    /// Until when it lasts.
    pub lasts: Lasts,
    /// The rest, for those who take the values out.
    pub call: Call,
}

/// Asks that an ephemeral resource end.
#[non_exhaustive]
pub struct Close {
    /// Private data of the opening. Data from renewals is not included.
    pub private: Private,
    /// The rest, for those who take the values out.
    pub call: Call,
}

calls!(Open, without_model: Renew Close);

/// Until when an ephemeral resource lasts: for good, unless something else is said.
#[derive(Clone, Debug, Default)]
pub struct Lasts(Arc<Mutex<Option<SystemTime>>>);

impl Lasts {
    /// It must be renewed by then.
    pub fn until(&self, moment: SystemTime) {
        *locked(&self.0) = Some(moment);
    }

    pub(crate) fn take(&self) -> Option<SystemTime> {
        locked(&self.0).take()
    }
}
