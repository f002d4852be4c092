//! Errors of the installation of a provider, and their diagnostics.

use std::collections::{BTreeMap, BTreeSet};

use formwork_core::addr::ProviderAddr;
use formwork_core::version::{LANGUAGE_VERSION, Version, VersionConstraints};
use formwork_value::Diagnostic;
use formwork_value::diag::Blame;

use super::module_constraints::ModuleConstraints;
use super::source::SourceError;
use crate::messages;
use crate::platform::Platform;

/// The reason why a provider cannot be installed.
#[derive(Debug)]
pub(crate) enum InstallFailure {
    /// The locked version does not meet the constraints.
    LockConflict(Version),
    /// The locked version is no longer available.
    PackageGone(Version),
    /// None of the available versions meets the constraints.
    NoMatch(BTreeSet<Version>),
    /// The versions cannot be listed.
    Query(Box<SourceError>),
    /// The package of the version cannot be found.
    Fetch(Version, Box<SourceError>),
    /// The package of the version is invalid, or cannot be written.
    Install(Version, String),
    /// The package of the version cannot be used from the shared cache.
    Cache(Version, String),
}

/// The context of a message.
pub(crate) struct FailureContext<'a> {
    pub(crate) required: &'a BTreeMap<ProviderAddr, VersionConstraints>,
    pub(crate) module_constraints: &'a ModuleConstraints,
    /// The version of the included provider, if an upgrade would select it.
    pub(crate) shipped: Option<Version>,
}

impl InstallFailure {
    /// Returns the diagnostic.
    pub(crate) fn diagnostic(
        self,
        addr: &ProviderAddr,
        context: &FailureContext<'_>,
    ) -> Diagnostic {
        let constraints = context.required.get(addr).cloned().unwrap_or_default();
        let name = addr.display_string();
        let query = |reason: String, advice: String| {
            let detail = format!(
                "Could not retrieve the list of available versions for provider {name}: {reason}{advice}"
            );
            Diagnostic::error(messages::FAILED_TO_QUERY_AVAILABLE_PROVIDER_PACKAGES, detail)
        };
        let diagnostic = match self {
            Self::LockConflict(version) => query(
                format!(
                    "locked provider {addr} {version} does not match configured version constraint {constraints}; must use formwork init -upgrade to allow selection of new versions"
                ),
                modules_hint(&name),
            ),
            Self::PackageGone(version) => query(
                format!("the previously-selected version {version} is no longer available"),
                modules_hint(&name),
            ),
            Self::NoMatch(versions) => query(
                format!("no available releases match the given constraints {constraints}"),
                format!(
                    "{}{}",
                    context.module_constraints.explain_conflict(addr, &versions),
                    modules_hint(&name)
                ),
            ),
            Self::Query(error) => query_failed_error(addr, *error, context),
            Self::Fetch(version, error) => fetch_failed_error(addr, &version, *error, &constraints),
            Self::Install(version, reason) => install_failed_error(&name, &version, &reason),
            Self::Cache(version, reason) => Diagnostic::error(
                messages::INSTALL_FROM_CACHE_FAILED,
                format!(
                    "Error while importing {name} v{version} from the shared cache directory: {reason}."
                ),
            ),
        };
        diagnostic.blamed_on(Blame::Environment)
    }
}

fn modules_hint(name: &str) -> String {
    format!(
        "\n\nTo see which modules are currently depending on {name} and what versions are specified, run the following command:\n    formwork providers"
    )
}

fn install_failed_error(name: &str, version: &Version, reason: &str) -> Diagnostic {
    let detail = format!("Error while installing {name} v{version}: {reason}.");
    Diagnostic::error(messages::FAILED_TO_INSTALL_PROVIDER, detail)
}

fn query_failed_error(
    addr: &ProviderAddr,
    error: SourceError,
    context: &FailureContext<'_>,
) -> Diagnostic {
    let name = addr.display_string();
    let query = |reason: &SourceError, advice: String| {
        let detail = format!(
            "Could not retrieve the list of available versions for provider {name}: {reason}{advice}"
        );
        Diagnostic::error(messages::FAILED_TO_QUERY_AVAILABLE_PROVIDER_PACKAGES, detail)
    };
    match &error {
        SourceError::NotFound { sources, .. } => {
            let source_lines: Vec<String> =
                sources.iter().map(|source| format!("  - {source}")).collect();
            query(&error, format!("\n\n{}", source_lines.join("\n")))
        }
        SourceError::NotKnown { .. } => {
            let is_default = *addr == ProviderAddr::implied_by_name(addr.provider_type());
            let same_type = |candidate: &&ProviderAddr| {
                *candidate != addr && candidate.provider_type() == addr.provider_type()
            };
            let candidate = context.required.keys().find(same_type).filter(|_| is_default);
            let advice = match candidate {
                Some(candidate) => format!(
                    "\n\nDid you intend to use {}? If so, you must specify that source address in each module which requires that provider. To see which modules are currently depending on {name}, run the following command:\n    formwork providers",
                    candidate.display_string()
                ),
                None => format!(
                    "\n\nAll modules should specify their required_providers so that external consumers will get the correct providers when using a module. To see which modules are currently depending on {name}, run the following command:\n    formwork providers"
                ),
            };
            query(&error, advice)
        }
        SourceError::NoRegistry { host, other_version } => {
            let detail = if *other_version {
                format!(
                    "The host {host:?} given in provider source address \"{addr}\" does not offer a Terraform provider registry that is compatible with this version, but it may be compatible with a different one."
                )
            } else if host == "github.com" {
                format!(
                    "The given source address \"{addr}\" specifies a GitHub repository rather than a provider. Refer to the documentation of the provider to find the correct source address to use."
                )
            } else {
                format!(
                    "The host {host:?} given in provider source address \"{addr}\" does not offer a Terraform provider registry."
                )
            };
            Diagnostic::error(messages::INVALID_PROVIDER_REGISTRY_HOST, detail)
        }
        SourceError::Unreachable { .. } => {
            let offline = context.shipped.as_ref().map_or(String::new(), |version| format!(
                "\n\nVersion {version} is included in Formwork and does not need a registry. To use it, run `formwork init -upgrade`."
            ));
            query(&error, format!("{offline}{}", modules_hint(&name)))
        }
        _ => query(&error, modules_hint(&name)),
    }
}

fn fetch_failed_error(
    addr: &ProviderAddr,
    version: &Version,
    error: SourceError,
    constraints: &VersionConstraints,
) -> Diagnostic {
    let name = addr.display_string();
    let detail = match &error {
        SourceError::Protocol { closest: None, .. } => {
            format!("No compatible versions of provider {addr} were found.")
        }
        SourceError::Protocol { closest: Some(closest), .. } => {
            let (advice, more) = if version > closest {
                (
                    format!(
                        "You need to downgrade to v{closest} or earlier. Select it with the following constraint:"
                    ),
                    "\nAlternatively, upgrade to the latest version of Formwork for compatibility with newer provider releases.",
                )
            } else {
                (
                    format!(
                        "Provider version {closest} is the latest compatible version. Select it with the following version constraint:"
                    ),
                    "",
                )
            };
            format!(
                "Provider {name:?} v{version} is not compatible with Formwork, which supports versions 5 and 6 of the plugin protocol, as Terraform {LANGUAGE_VERSION} does.\n{advice}\n\tversion = \"{closest}\"\n\nFormwork checked all of the plugin versions matching the given constraint:\n\t{constraints}\n\nConsult the documentation for this provider for more information on compatibility between provider and Terraform versions.{more}"
            )
        }
        SourceError::Platform { .. } => format!(
            "Provider {addr} v{version} does not have a package available for your current platform, {}.\n\nProvider releases are separate from Formwork releases, so not all providers are available for all platforms. Other versions of this provider may have different platforms supported.",
            Platform::current()
        ),
        SourceError::MirrorPlatform { url, .. } => format!(
            "Your chosen provider mirror at {url} does not have a {addr} v{version} package available for your current platform, {}.\n\nProvider releases are separate from Formwork releases, so this provider might not support your current platform. Alternatively, the mirror itself might have only a subset of the packages available in the origin registry, at {}.",
            Platform::current(),
            addr.host()
        ),
        _ => return install_failed_error(&name, version, &error.to_string()),
    };
    Diagnostic::error(messages::INCOMPATIBLE_PROVIDER_VERSION, detail)
}

/// Returns the warning about locks with hashes of only one platform.
pub(crate) fn incomplete_locks_warning(providers: &[String]) -> Diagnostic {
    let list = providers.join("\n  - ");
    let platform = Platform::current();
    let detail = format!(
        "Due to your customized provider installation methods, Formwork was forced to calculate lock file checksums locally for the following providers:\n  - {list}\n\nThe current .terraform.lock.hcl file only includes checksums for {platform}, so Formwork running on another platform will fail to install these providers.\n\nTo calculate additional checksums for another platform, run:\n  formwork providers lock -platform=linux_amd64\n(where linux_amd64 is the platform to generate)"
    );
    Diagnostic::warning(messages::INCOMPLETE_LOCK_FILE_INFORMATION_FOR_PROVIDERS, detail)
}
