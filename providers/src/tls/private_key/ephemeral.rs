//! `tls_private_key` as an ephemeral resource: another key each time, never stored.

use formwork_sdk::prelude::*;

use super::{Forms, Wanted, generated};

/// A private key that neither a plan nor a state holds.
#[derive(Model)]
pub(crate) struct Key {
    #[attr(flatten)]
    wanted: Wanted,
    #[attr(flatten, computed)]
    forms: Forms,
}

/// The ephemeral resource type.
pub(crate) struct EphemeralPrivateKey;

impl Ephemeral for EphemeralPrivateKey {
    type Model = Key;

    fn validate(&self, call: Validate<Key>) -> Answer<()> {
        call.config.wanted.validate()
    }

    async fn open(&self, call: Open<Key>) -> Answer<KeyComputed> {
        let (forms, _) = generated(&call.config.wanted).await?;
        Ok(KeyComputed { forms })
    }
}
