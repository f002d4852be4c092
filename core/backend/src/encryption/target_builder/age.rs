//! The arguments of the key provider `age`: recipients, and the source of the identities.

use formwork_core::eval::encryption::KeyProviderSettings;
use formwork_value::{Diagnostics, Reported};

use super::super::age::{AgeKeys, IDENTITY_FILE_VARIABLE, IDENTITY_VARIABLE, IdentitySource};
use super::arguments::EncryptionArguments;
use crate::arguments::BackendEnvironment;

/// Creates a key provider `age`, which only the method `sealed` uses.
pub(super) fn build_age_keys(
    diags: &mut Diagnostics,
    settings: &KeyProviderSettings,
    environment: &BackendEnvironment,
) -> Result<AgeKeys, Reported> {
    let address = format!("key_provider.age.{}", settings.name);
    let (unused, span) = (settings.arguments.iter().collect(), settings.span);
    let mut arguments = EncryptionArguments { address: address.clone(), span, unused, environment };
    let recipients = arguments.string_list_argument(diags, "recipients")?.unwrap_or_default();
    if recipients.is_empty() {
        return Err(arguments.report_missing(diags, "recipients"));
    }
    let text = arguments.string_argument(diags, "identity")?.filter(|text| !text.is_empty());
    let file = arguments.string_argument(diags, "identity_file")?.filter(|path| !path.is_empty());
    arguments.report_unused_argument(diags)?;
    let variable = |name| environment.variables.get(name).filter(|text| !text.is_empty()).cloned();
    let file_source = |path: String| IdentitySource::File(environment.root.join(path));
    let text_source = |name: &str, text| IdentitySource::Text { name: name.to_owned(), text };
    let source = match (text, file) {
        (Some(_), Some(_)) => {
            let reason = "only one of the arguments \"identity\" and \"identity_file\" may be set";
            return Err(arguments.report_argument(diags, reason));
        }
        (Some(text), None) => text_source("the argument \"identity\"", text),
        (None, Some(path)) => file_source(path),
        (None, None) => match (variable(IDENTITY_VARIABLE), variable(IDENTITY_FILE_VARIABLE)) {
            (Some(text), _) => text_source(IDENTITY_VARIABLE, text),
            (None, Some(path)) => file_source(path),
            (None, None) => IdentitySource::None,
        },
    };
    let age = AgeKeys::new(address, &recipients, source);
    age.map_err(|reason| arguments.report_argument(diags, &reason))
}
