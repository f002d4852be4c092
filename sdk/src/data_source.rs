//! Data sources. This file has the trait that an author implements.

use std::future::Future;

use crate::call::Call;
use crate::context::{Deferral, ProviderMeta};
use crate::model::NoneWriteOnly;
use crate::resource::Validate;
use crate::resource::calls::deref_to_call;
use crate::{Answer, Computed, Input, Model};

/// A data source.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a data source",
    note = "write `impl DataSource for {Self}`"
)]
pub trait DataSource: Send + Sync + 'static {
    /// Arguments and result. It has no write-only attributes, because nothing is written.
    type Model: Model<WriteOnly = NoneWriteOnly>;

    /// Validates the configuration beyond the schema. Values may be unknown.
    ///
    /// # Errors
    /// When the configuration is invalid. `call.report(…)` reports it too, and continues.
    fn validate(&self, _call: Validate<Self::Model>) -> Answer<()> {
        Ok(())
    }

    /// Reads the data, and returns the computed attributes.
    ///
    /// # Errors
    /// When the data does not exist or cannot be read.
    fn read(
        &self,
        call: ReadData<Self::Model>,
    ) -> impl Future<Output = Answer<Computed<Self::Model>>> + Send;
}

/// A request to read data.
#[non_exhaustive]
pub struct ReadData<M: Model> {
    /// The configuration, wholly known and with defaults.
    pub config: Input<M>,
    /// The `provider_meta` of the module.
    pub meta: ProviderMeta,
    /// Deferral of the answer.
    pub deferral: Deferral,
    /// The call itself, for handlers that destructure this struct.
    pub call: Call,
}

deref_to_call!(ReadData);
