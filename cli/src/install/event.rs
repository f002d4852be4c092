//! Events of an installation, as human-readable and machine-readable messages in Terraform's words.

use formwork_core::addr::ProviderAddr;
use formwork_core::version::{Version, VersionConstraints};

use super::signature::PackageTrust;

/// An event of the installation of a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum InstallEvent {
    /// The locked version is used.
    Reusing,
    /// The available versions are requested.
    Finding(VersionConstraints),
    /// The package is already installed.
    AlreadyInstalled(Version),
    /// The package is in the shared cache.
    Cached(Version),
    /// The download of the package has started.
    Installing(Version),
    /// The package was downloaded and verified.
    Installed(Version, PackageTrust),
    /// The provider is included in Formwork.
    Shipped(Version, ReplacedPackage),
}

/// The locked package that an included provider replaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ReplacedPackage {
    /// No package is locked.
    Nothing,
    /// A package of the same version is locked.
    LockedPackage,
    /// A package of another version is locked.
    Version(Version),
}

impl InstallEvent {
    /// Returns the human-readable message.
    pub(crate) fn human_message(&self, addr: &ProviderAddr) -> String {
        let name = addr.display_string();
        match self {
            Self::Reusing => {
                format!("- Reusing previous version of {name} from the dependency lock file")
            }
            Self::Finding(constraints) if constraints.is_empty() => {
                format!("- Finding latest version of {name}...")
            }
            Self::Finding(constraints) => {
                format!("- Finding {name} versions matching \"{constraints}\"...")
            }
            Self::AlreadyInstalled(version) => {
                format!("- Using previously-installed {name} v{version}")
            }
            Self::Cached(version) => {
                format!("- Using {name} v{version} from the shared cache directory")
            }
            Self::Installing(version) => format!("- Installing {name} v{version}..."),
            Self::Installed(version, trust) => {
                let key = trust.key_id().map_or(String::new(), |id| format!(", key ID {id}"));
                format!("- Installed {name} v{version} ({trust}{key})")
            }
            Self::Shipped(version, instead) => {
                let message = format!("- Using {name} v{version}, which comes with Formwork");
                match instead {
                    ReplacedPackage::Nothing => message,
                    ReplacedPackage::LockedPackage => {
                        format!("{message}, instead of the locked package")
                    }
                    ReplacedPackage::Version(locked) => {
                        format!("{message}, where v{locked} was locked")
                    }
                }
            }
        }
    }

    /// Returns the machine-readable message.
    pub(crate) fn machine_message(&self, addr: &ProviderAddr) -> String {
        let name = addr.display_string();
        match self {
            Self::Reusing => {
                format!("{name}: Reusing previous version from the dependency lock file")
            }
            Self::Finding(constraints) if constraints.is_empty() => {
                format!("{name}: Finding latest version...")
            }
            Self::Finding(constraints) => format!(
                "Finding matching versions for provider: {name}, version_constraint: \"{constraints}\""
            ),
            Self::AlreadyInstalled(version) => {
                format!("{name} v{version}: Using previously-installed provider version")
            }
            Self::Cached(version) => {
                format!("{name} v{version}: Using from the shared cache directory")
            }
            Self::Installing(version) => {
                format!("Installing provider version: {name} v{version}...")
            }
            Self::Installed(version, trust) => {
                let key = trust.key_id().map_or(String::new(), |id| format!("key_id: {id}"));
                format!("Installed provider version: {name} v{version} ({trust}{key})")
            }
            Self::Shipped(..) => self.human_message(addr).trim_start_matches("- ").to_owned(),
        }
    }
}
