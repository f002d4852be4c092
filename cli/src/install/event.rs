//! Events of an installation, in Terraform's words for people and for programs.

use formwork_core::addr::ProviderAddr;
use formwork_core::version::{Version, VersionConstraints};

use super::signature::PackageTrust;

/// Something that happens while a provider is installed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum InstallEvent {
    /// The version that is locked is used.
    Reusing,
    /// Versions are looked for.
    Finding(VersionConstraints),
    /// The package is there already.
    AlreadyInstalled(Version),
    /// The package is in the shared cache.
    Cached(Version),
    /// The package is being fetched.
    Installing(Version),
    /// The package was fetched and verified.
    Installed(Version, PackageTrust),
    /// The provider comes with this program.
    Shipped(Version, ReplacedPackage),
}

/// The package that a provider shipped with this program replaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ReplacedPackage {
    /// None is locked.
    Nothing,
    /// One of the same version is locked.
    LockedPackage,
    /// Another version was locked.
    Version(Version),
}

impl InstallEvent {
    /// The line for people.
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
                let what = format!("- Using {name} v{version}, which comes with Formwork");
                match instead {
                    ReplacedPackage::Nothing => what,
                    ReplacedPackage::LockedPackage => {
                        format!("{what}, in place of the package that is locked")
                    }
                    ReplacedPackage::Version(locked) => {
                        format!("{what}, where v{locked} was locked")
                    }
                }
            }
        }
    }

    /// The message for programs.
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
