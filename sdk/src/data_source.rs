//! A data source as its author writes it.

use std::future::Future;

use crate::call::Call;
use crate::context::{Deferral, Meta};
use crate::model::NoneWriteOnly;
use crate::resource::Validate;
use crate::resource::calls::calls;
use crate::{Answer, Computed, Input, Model};

/// A data source.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no data source",
    note = "write `impl DataSource for {Self}`"
)]
pub trait DataSource: Send + Sync + 'static {
    /// Arguments and result. It has no write-only attributes, as nothing is written.
    type Model: Model<WriteOnly = NoneWriteOnly>;

    /// Checks what the author wrote, beyond what the schema says. Values may be unknown.
    ///
    /// # Errors
    /// When it cannot be so. `call.report(…)` says so too, and goes on.
    fn validate(&self, _call: Validate<Self::Model>) -> Answer<()> {
        Ok(())
    }

    /// Reads the data, and returns what was found out.
    ///
    /// # Errors
    /// When there are no such data, or they cannot be read.
    fn read(
        &self,
        call: ReadData<Self::Model>,
    ) -> impl Future<Output = Answer<Computed<Self::Model>>> + Send;
}

/// Asks for data.
#[non_exhaustive]
pub struct ReadData<M: Model> {
    /// The configuration, wholly known and with defaults.
    pub config: Input<M>,
    /// The `provider_meta` of the module.
    pub meta: Meta,
    /// To put the answer off.
    pub deferral: Deferral,
    /// The rest, for those who take the values out.
    pub call: Call,
}

calls!(ReadData);
