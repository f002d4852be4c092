//! `tls_private_key` as an ephemeral resource: another key each time, stored by nobody.

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
pub(crate) struct PassingPrivateKey;

#[async_trait]
impl Ephemeral for PassingPrivateKey {
    type Model = Key;

    async fn open(&self, diags: &mut Diagnostics, config: KeyInput) -> Answer<Opened<KeyComputed>> {
        let (forms, _) = generated(diags, &config.wanted).await?;
        Ok(Opened::for_good(KeyComputed { forms }))
    }
}
