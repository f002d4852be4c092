//! All providers in one program, which serves the one by whose name it is started.

use std::ffi::OsStr;
use std::path::Path;
use std::process::ExitCode;

use formwork_sdk::ProviderDef;

use crate::{archive, external, http, local, null, postgresql, random, time, tls};

/// The names of the providers.
pub static NAMES: [&str; 9] =
    ["archive", "external", "http", "local", "null", "postgresql", "random", "time", "tls"];

/// Serves a provider if the name of the program is `terraform-provider-NAME`.
#[must_use]
pub fn serve(program: &OsStr) -> Option<ExitCode> {
    let file = Path::new(program).file_name()?.to_str()?;
    let provider = provider(file.strip_prefix("terraform-provider-")?)?;
    Some(formwork_sdk::serve(provider))
}

/// The provider of a name.
fn provider(name: &str) -> Option<ProviderDef> {
    Some(match name {
        "archive" => archive::provider(),
        "external" => external::provider(),
        "http" => http::provider(),
        "local" => local::provider(),
        "null" => null::provider(),
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
    fn every_provider_is_found_by_its_name_and_nothing_else_is() {
        for name in NAMES {
            assert!(provider(name).is_some(), "{name}");
        }
        assert!(provider("aws").is_none());
        assert!(serve(OsStr::new("/usr/bin/formwork")).is_none());
        assert!(serve(OsStr::new("terraform-provider-aws")).is_none());
    }
}
