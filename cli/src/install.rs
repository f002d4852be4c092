//! Where providers come from: finds their packages, installs them below the data folder, and holds
//! them against the lock file. Downloads nothing: only folders are looked at.

pub(crate) mod hash;
pub(crate) mod lockfile;
pub(crate) mod mirror;
pub(crate) mod package;
pub(crate) mod program;
pub(crate) mod providers;
pub(crate) mod settings;
pub(crate) mod shipped;

/// The platform in the names that packages have: `linux_amd64`.
pub(crate) fn platform() -> String {
    let arch = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        "x86" => "386",
        other => other,
    };
    let os = match std::env::consts::OS {
        "macos" => "darwin",
        other => other,
    };
    format!("{os}_{arch}")
}
