//! A data source as its author writes it.

use async_trait::async_trait;
use formwork_value::Diagnostics;

use crate::model::NoneWriteOnly;
use crate::{Answer, Computed, Draft, Input, Model};

/// A data source.
#[async_trait]
pub trait DataSource: Send + Sync + 'static {
    /// What is asked for and what is answered. Nothing of it is write-only: there is nothing that
    /// could be written.
    type Model: Model<WriteOnly = NoneWriteOnly>;

    /// Checks what the author wrote, beyond what the schema says. Values may be unknown.
    ///
    /// # Errors
    /// When it cannot be so. What is reported without an error returned counts as well.
    fn validate(&self, _diags: &mut Diagnostics, _config: &Draft<Self::Model>) -> Answer<()> {
        Ok(())
    }

    /// Reads the data. `config` is what the author wrote, wholly known and with defaults; the answer
    /// is what was found out.
    ///
    /// # Errors
    /// When there are no such data, or they cannot be read.
    async fn read(
        &self,
        diags: &mut Diagnostics,
        config: Input<Self::Model>,
    ) -> Answer<Computed<Self::Model>>;
}
