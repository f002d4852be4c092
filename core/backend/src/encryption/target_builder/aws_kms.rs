//! The arguments of the key provider `aws_kms`.

use formwork_value::{Diagnostics, Reported};

use super::super::aws_kms::{AwsKmsKeyProvider, KeySpec};
use super::arguments::EncryptionArguments;
use crate::arguments::BackendArguments;
use crate::aws::schema::connection_arguments_block;

/// Creates a key provider `aws_kms`.
///
/// # Errors
/// Returns an error if an argument is missing or invalid.
pub(super) fn build_aws_kms_provider(
    diags: &mut Diagnostics,
    arguments: &mut EncryptionArguments<'_>,
) -> Result<AwsKmsKeyProvider, Reported> {
    let key_id = arguments.string_argument(diags, "kms_key_id")?.filter(|id| !id.is_empty());
    let key_id = key_id.ok_or_else(|| arguments.report_missing(diags, "kms_key_id"))?;
    let spec = arguments.string_argument(diags, "key_spec")?;
    let spec = spec.ok_or_else(|| arguments.report_missing(diags, "key_spec"))?;
    let spec = KeySpec::from_name(&spec).ok_or_else(|| {
        let reason = "the argument \"key_spec\" must be \"AES_128\" or \"AES_256\"";
        arguments.report_argument(diags, reason)
    })?;
    let values = arguments.take_schema_values(diags, &connection_arguments_block())?;
    let backend_arguments =
        BackendArguments { values: &values, environment: arguments.environment };
    let provider = AwsKmsKeyProvider::new(&backend_arguments, key_id, spec);
    provider.map_err(|error| arguments.report_argument(diags, &error.to_string()))
}
