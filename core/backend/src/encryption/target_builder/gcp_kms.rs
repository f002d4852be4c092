//! The arguments of the key provider `gcp_kms`.

use formwork_value::{Diagnostics, Reported};

use super::super::gcp_kms::{GcpKmsKeyProvider, MAX_KEY_LENGTH};
use super::arguments::EncryptionArguments;
use crate::arguments::BackendArguments;
use crate::gcp::credentials::credential_arguments_block;

/// Creates a key provider `gcp_kms`.
///
/// # Errors
/// Returns an error if an argument is missing or invalid.
pub(super) fn build_gcp_kms_provider(
    diags: &mut Diagnostics,
    arguments: &mut EncryptionArguments<'_>,
) -> Result<GcpKmsKeyProvider, Reported> {
    let name =
        arguments.string_argument(diags, "kms_encryption_key")?.filter(|name| !name.is_empty());
    let name = name.ok_or_else(|| arguments.report_missing(diags, "kms_encryption_key"))?;
    if !arguments.unused.iter().any(|(name, _)| *name == "key_length") {
        return Err(arguments.report_missing(diags, "key_length"));
    }
    let key_length = arguments.number_argument(diags, "key_length", 0, 1)?;
    if key_length > MAX_KEY_LENGTH {
        let reason = format!(
            "the argument \"key_length\" must be at most {MAX_KEY_LENGTH}, the limit of the service"
        );
        return Err(arguments.report_argument(diags, &reason));
    }
    let values = arguments.take_schema_values(diags, &credential_arguments_block())?;
    let backend_arguments =
        BackendArguments { values: &values, environment: arguments.environment };
    let provider = GcpKmsKeyProvider::new(&backend_arguments, &name, key_length as usize);
    provider.map_err(|error| arguments.report_argument(diags, &error.to_string()))
}
