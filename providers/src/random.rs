//! The `random` provider: values drawn once and kept in the state, and ephemeral passwords.

mod bytes;
mod id;
mod integer;
mod password;
mod pet;
mod pet_words;
mod seeded_random;
mod shuffle;
mod string;
mod string_rules;
mod uuid;

use formwork_sdk::ProviderDef;

/// The provider.
#[must_use]
pub fn provider() -> ProviderDef {
    ProviderDef::new("registry.terraform.io/hashicorp/random")
        .resource("random_bytes", bytes::BytesResource)
        .resource("random_id", id::IdResource)
        .resource("random_integer", integer::IntegerResource)
        .resource("random_password", password::PasswordResource)
        .resource("random_pet", pet::PetResource)
        .resource("random_shuffle", shuffle::ShuffleResource)
        .resource("random_string", string::StringResource)
        .resource("random_uuid", uuid::UuidResource)
        .resource("random_uuid4", uuid::UuidResource)
        .resource("random_uuid7", uuid::Uuid7Resource)
        .ephemeral("random_bytes", bytes::EphemeralBytes)
        .ephemeral("random_password", password::ephemeral::EphemeralPassword)
}
