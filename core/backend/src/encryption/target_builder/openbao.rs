//! The arguments of the key provider `openbao`.

use formwork_value::{Diagnostics, Reported};

use super::super::openbao::{OpenBaoKeyProvider, OpenBaoSettings};
use super::arguments::EncryptionArguments;

/// Creates a key provider `openbao`.
///
/// # Errors
/// Returns an error if an argument is missing or invalid.
pub(super) fn build_openbao_provider(
    diags: &mut Diagnostics,
    arguments: &mut EncryptionArguments<'_>,
) -> Result<OpenBaoKeyProvider, Reported> {
    let key_name = arguments.string_argument(diags, "key_name")?.filter(|name| !name.is_empty());
    let key_name = key_name.ok_or_else(|| arguments.report_missing(diags, "key_name"))?;
    let key_length = arguments.number_argument(diags, "key_length", 32, 1)? as usize;
    if ![16, 32, 64].contains(&key_length) {
        let reason = "the argument \"key_length\" must be 16, 32 or 64";
        return Err(arguments.report_argument(diags, reason));
    }
    let address = arguments.string_argument(diags, "address")?;
    let token = arguments.string_argument(diags, "token")?;
    let engine =
        arguments.string_argument(diags, "transit_engine_path")?.filter(|path| !path.is_empty());
    let settings = OpenBaoSettings { address, token, key_name, key_length, engine };
    let variables = &arguments.environment.variables;
    let variable = |name: &str| variables.get(name).filter(|text| !text.is_empty()).cloned();
    OpenBaoKeyProvider::new(settings, variable)
        .map_err(|reason| arguments.report_argument(diags, &reason))
}
