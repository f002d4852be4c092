//! All providers in one program, which serves the one by whose name it is started.

use std::ffi::OsStr;
use std::path::Path;
use std::process::ExitCode;

use formwork_sdk::ProviderDef;

#[cfg(feature = "postgresql")]
use crate::postgresql;
use crate::{archive, external, http, local, null, random, time, tls};

/// The names of the providers of this build.
pub static PROVIDER_NAMES: &[&str] = &[
    "archive",
    "external",
    "http",
    "local",
    "null",
    #[cfg(feature = "postgresql")]
    "postgresql",
    "random",
    "time",
    "tls",
];

/// Serves a provider if the name of the program is `terraform-provider-NAME`, optionally followed
/// by a version, as in packages.
#[must_use]
pub fn serve_if_named_provider(program: &OsStr) -> Option<ExitCode> {
    Some(formwork_sdk::serve(provider_of_program(program)?))
}

/// The provider that a program is named after.
fn provider_of_program(program: &OsStr) -> Option<ProviderDef> {
    let file = Path::new(program).file_name()?.to_str()?;
    provider_named(file.strip_prefix("terraform-provider-")?.split(['_', '.']).next()?)
}

/// The provider of a name.
fn provider_named(name: &str) -> Option<ProviderDef> {
    Some(match name {
        "archive" => archive::provider(),
        "external" => external::provider(),
        "http" => http::provider(),
        "local" => local::provider(),
        "null" => null::provider(),
        #[cfg(feature = "postgresql")]
        "postgresql" => postgresql::provider(),
        "random" => random::provider(),
        "time" => time::provider(),
        "tls" => tls::provider(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_included_providers_are_found_by_name() {
        for name in PROVIDER_NAMES {
            assert!(provider_named(name).is_some(), "{name}");
        }
        for (program, is_one) in [
            ("/usr/lib/terraform-provider-tls", true),
            ("terraform-provider-tls_v4.2.1", true),
            ("terraform-provider-tls.exe", true),
            ("terraform-provider-aws", false),
            ("terraform-provider-", false),
            ("/usr/bin/formwork", false),
        ] {
            assert_eq!(provider_of_program(OsStr::new(program)).is_some(), is_one, "{program}");
        }
    }
}
