//! `tls_private_key` as an ephemeral resource: another key each time, never stored.

use formwork_sdk::prelude::*;

use super::{KeyArguments, KeyForms, generate_key_forms};

/// A private key that neither a plan nor a state holds.
#[derive(Model)]
pub(crate) struct EphemeralKeyModel {
    #[attr(flatten)]
    wanted: KeyArguments,
    #[attr(flatten, computed)]
    forms: KeyForms,
}

/// The ephemeral resource type.
pub(crate) struct EphemeralPrivateKey;

impl Ephemeral for EphemeralPrivateKey {
    type Model = EphemeralKeyModel;

    fn validate(&self, call: Validate<EphemeralKeyModel>) -> Answer<()> {
        call.config.wanted.validate()
    }

    async fn open(&self, call: Open<EphemeralKeyModel>) -> Answer<EphemeralKeyModelComputed> {
        let (forms, _) = generate_key_forms(&call.config.wanted).await?;
        Ok(EphemeralKeyModelComputed { forms })
    }
}
