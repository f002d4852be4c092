//! Platforms in the notation of packages: `linux_amd64`.

use std::fmt::{Display, Formatter};
use std::str::FromStr;

/// An operating system and a processor architecture.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Platform {
    pub(crate) os: String,
    pub(crate) arch: String,
}

impl Platform {
    /// The platform of this program.
    pub(crate) fn current() -> Self {
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
        Self { os: os.to_owned(), arch: arch.to_owned() }
    }
}

impl Display for Platform {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}_{}", self.os, self.arch)
    }
}

/// The reason why a string is not a platform, in Terraform's wording.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadPlatform {
    #[error("must be two words separated by an underscore")]
    Words,
    #[error("OS portion must not contain whitespace")]
    Os,
    #[error("architecture portion must not contain whitespace")]
    Arch,
}

impl FromStr for Platform {
    type Err = BadPlatform;

    fn from_str(text: &str) -> Result<Self, BadPlatform> {
        let parts: Vec<&str> = text.split('_').collect();
        let [os, arch] = parts[..] else { return Err(BadPlatform::Words) };
        // Both parts are used in paths and addresses.
        let is_name = |part: &str| {
            let is_name_char = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '.';
            !part.is_empty() && part.chars().all(is_name_char) && !part.starts_with('.')
        };
        match (is_name(os), is_name(arch)) {
            (false, _) => Err(BadPlatform::Os),
            (_, false) => Err(BadPlatform::Arch),
            (true, true) => Ok(Self { os: os.to_owned(), arch: arch.to_owned() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_platform_has_two_parts() {
        for text in ["linux_amd64", "darwin_arm64", "freebsd_386"] {
            assert_eq!(text.parse::<Platform>().unwrap().to_string(), text);
        }
        for text in
            ["", "linux", "a_b_c", "linux_", "_amd64", "li nux_amd64", "../.._amd64", "a_/b"]
        {
            assert!(text.parse::<Platform>().is_err(), "{text}");
        }
    }
}
