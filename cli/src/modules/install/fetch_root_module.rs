//! Fetches a module to initialize a root module from.

use std::path::{Path, PathBuf};

use formwork_value::diag::Blame;
use formwork_value::{Diagnostic, Diagnostics, Reported};

use super::make_fetcher;
use crate::env::MODULE_SIZE_VARIABLE;
use crate::fetch::http::{Client, HttpError};
use crate::fetch::unpack_limits::ArchiveError;
use crate::fetch::{self, FetchError};
use crate::messages;
use crate::modules::source::ModuleInPackage;
use crate::settings::UserSettings;

/// Fetches the package of a module to initialize a root module from, and returns the module's directory.
///
/// # Errors
/// The package cannot be fetched.
pub(crate) fn fetch_root_module(
    diags: &mut Diagnostics,
    user: UserSettings<'_>,
    source: &ModuleInPackage<'_>,
    into: &Path,
) -> Result<PathBuf, Reported> {
    let http = Client::new(user.env.proxies(), std::thread::sleep);
    let fetcher = make_fetcher(&http, user.env, user.settings);
    let fetched = fetcher.fetch(source.package, into, source.origin).and_then(|()| {
        fetch::find_single_match(into, source.subdir.as_str()).map_err(FetchError::Address)
    });
    fetched.map_err(|error| {
        let package = source.display_address();
        let detail = format!(
            "Could not download the module's source code from {package:?}: {error}.{}",
            size_limit_hint(&error)
        );
        let summary = messages::FAILED_TO_DOWNLOAD_MODULE;
        diags.error(Diagnostic::error(summary, detail).blamed_on(Blame::Environment))
    })
}

/// Returns the remedy for a package that is too large.
fn size_limit_hint(error: &FetchError) -> String {
    let too_large = match error {
        FetchError::Package(ArchiveError::TooMuch { quantity: unit, .. }) => {
            unit.starts_with("bytes")
        }
        FetchError::Server(HttpError::TooLong { .. }) => true,
        _ => false,
    };
    if too_large {
        format!(" Set {MODULE_SIZE_VARIABLE} to change the limit, in mebibytes.")
    } else {
        String::new()
    }
}
