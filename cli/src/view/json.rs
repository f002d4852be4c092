//! Machine-readable views. Structure and names are those of Terraform's JSON output.

pub(crate) mod changes;
pub(crate) mod checks;
pub(crate) mod configuration;
pub(crate) mod diagnostic;
pub(crate) mod json_builder;
pub(crate) mod plan;
pub(crate) mod schema;
pub(crate) mod state;
pub(crate) mod stream;
pub(crate) mod test_stream;
pub(crate) mod value;

/// The language version, which JSON output states as the version of Terraform.
pub(crate) fn terraform_version() -> json_builder::Json {
    json_builder::Json::text(formwork_core::version::LANGUAGE_VERSION.to_string())
}
