//! The `random` provider: values drawn once and kept in the state, and ephemeral passwords.

mod bytes;
mod id;
mod integer;
mod password;
mod pet;
mod seed;
mod shuffle;
mod string;
mod text;
mod uuid;
mod words;

use formwork_sdk::ProviderDef;

/// The provider.
#[must_use]
pub fn provider() -> ProviderDef {
    ProviderDef::new("registry.terraform.io/hashicorp/random")
        .resource("random_bytes", bytes::RandomBytes)
        .resource("random_id", id::RandomId)
        .resource("random_integer", integer::RandomInteger)
        .resource("random_password", password::RandomPassword)
        .resource("random_pet", pet::RandomPet)
        .resource("random_shuffle", shuffle::RandomShuffle)
        .resource("random_string", string::RandomString)
        .resource("random_uuid", uuid::RandomUuid)
        .resource("random_uuid4", uuid::RandomUuid)
        .resource("random_uuid7", uuid::RandomUuid7)
        .ephemeral("random_bytes", bytes::EphemeralBytes)
        .ephemeral("random_password", password::ephemeral::EphemeralPassword)
}
