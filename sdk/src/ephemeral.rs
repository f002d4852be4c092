//! Ephemeral resources: opened while they are needed, never stored.

use std::future::{Future, ready};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use crate::call::Call;
use crate::context::{Deferral, Private, lock_ignoring_poison};
use crate::model::NoneWriteOnly;
use crate::resource::Validate;
use crate::resource::calls::deref_to_call;
use crate::{Answer, Computed, Input, Model, Problem};

/// An ephemeral resource. Only [`open`](Self::open) is required. The defaults suit a resource that
/// does not expire and needs no cleanup.
///
/// ```
/// use std::time::{Duration, SystemTime};
///
/// use formwork_sdk::prelude::*;
/// use formwork_sdk::testing::{TestEphemeral, wait};
/// use formwork_sdk::value::Value;
///
/// /// A lease of a key.
/// #[derive(Model)]
/// struct Lease {
///     /// The owner.
///     #[attr(required)]
///     owner: String,
///     /// The key.
///     #[attr(computed, sensitive)]
///     key: String,
/// }
///
/// struct Leases;
///
/// impl Ephemeral for Leases {
///     type Model = Lease;
///
///     async fn open(&self, call: Open<Lease>) -> Answer<LeaseComputed> {
///         call.private.set("owner", &call.config.owner);
///         call.lasts.renew_at(SystemTime::now() + Duration::from_secs(60));
///         Ok(LeaseComputed { key: "k-1".to_owned() })
///     }
///
///     async fn renew(&self, call: Renew) -> Answer<()> {
///         call.lasts.renew_at(SystemTime::now() + Duration::from_secs(60));
///         Ok(())
///     }
///
///     async fn close(&self, call: Close) -> Answer<()> {
///         assert_eq!(call.private.get("owner").as_deref(), Some("ana"));
///         Ok(())
///     }
/// }
///
/// let provider =
///     ProviderDef::new("registry.terraform.io/acme/keys").ephemeral("keys_lease", Leases);
/// wait(async {
///     let mut lease = TestEphemeral::new(provider, "keys_lease").await?;
///     lease.open(&[("owner", Value::string("ana"))]).await?;
///     assert!(lease.renew().await?.is_some());
///     lease.close().await
/// })
/// .unwrap();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an ephemeral resource",
    note = "write `impl Ephemeral for {Self}`"
)]
pub trait Ephemeral: Send + Sync + 'static {
    /// Arguments and result. It has no write-only attributes, because nothing is stored.
    type Model: Model<WriteOnly = NoneWriteOnly>;

    /// Validates the configuration beyond the schema. Values may be unknown.
    ///
    /// # Errors
    /// When the configuration is invalid. `call.report(…)` reports it too, and continues.
    fn validate(&self, _call: Validate<Self::Model>) -> Answer<()> {
        Ok(())
    }

    /// Opens the resource, and returns the computed attributes. If it expires,
    /// `call.lasts.renew_at(…)` sets the time. `call.private` keeps data for the next call.
    ///
    /// # Errors
    /// When the resource cannot be opened.
    fn open(
        &self,
        call: Open<Self::Model>,
    ) -> impl Future<Output = Answer<Computed<Self::Model>>> + Send;

    /// Extends the resource, and sets the next expiry. Called only if the previous call set an
    /// expiry.
    ///
    /// # Errors
    /// When the resource cannot be extended.
    fn renew(&self, _call: Renew) -> impl Future<Output = Answer<()>> + Send {
        ready(Err(Problem::new(
            "Renewal not supported",
            "The provider requested a renewal that it does not support. This is a bug in the \
             provider.",
        )))
    }

    /// Closes the resource.
    ///
    /// # Errors
    /// When the resource remains open.
    fn close(&self, _call: Close) -> impl Future<Output = Answer<()>> + Send {
        ready(Ok(()))
    }
}

/// A request to open an ephemeral resource.
///
/// See [`Ephemeral`] for an example.
#[non_exhaustive]
pub struct Open<M: Model> {
    /// The configuration, wholly known and with defaults.
    pub config: Input<M>,
    /// Private data, kept until the next call.
    pub private: Private,
    /// Expiry of the resource.
    pub lasts: Expiry,
    /// Deferral of the answer.
    pub deferral: Deferral,
    /// The call itself, for handlers that destructure this struct.
    pub call: Call,
}

/// A request to renew an ephemeral resource.
///
/// See [`Ephemeral`] for an example.
#[non_exhaustive]
pub struct Renew {
    /// Private data, kept until the next call.
    pub private: Private,
    /// Expiry of the resource.
    pub lasts: Expiry,
    /// The call itself, for handlers that destructure this struct.
    pub call: Call,
}

/// A request to close an ephemeral resource.
///
/// See [`Ephemeral`] for an example.
#[non_exhaustive]
pub struct Close {
    /// Private data of the opening. Data from renewals is not included.
    pub private: Private,
    /// The call itself, for handlers that destructure this struct.
    pub call: Call,
}

deref_to_call!(Open, without_model: Renew Close);

/// Expiry of an ephemeral resource: never, unless [`renew_at`](Self::renew_at) sets one.
///
/// ```
/// use std::time::{Duration, SystemTime};
///
/// use formwork_sdk::ephemeral::Expiry;
///
/// /// Renews a token a minute before it expires.
/// fn renew_in_time(lasts: &Expiry, expires: SystemTime) {
///     lasts.renew_at(expires - Duration::from_secs(60));
/// }
/// # renew_in_time(&Expiry::default(), SystemTime::now());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Expiry(Arc<Mutex<Option<SystemTime>>>);

impl Expiry {
    /// Sets the time at which the resource must be renewed.
    pub fn renew_at(&self, moment: SystemTime) {
        *lock_ignoring_poison(&self.0) = Some(moment);
    }

    pub(crate) fn take(&self) -> Option<SystemTime> {
        lock_ignoring_poison(&self.0).take()
    }
}
