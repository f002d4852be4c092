//! Addresses of modules in registries: `[HOST/]NAMESPACE/NAME/SYSTEM`.

use std::fmt::{Display, Formatter};

use crate::addr::ProviderAddr;
use crate::addr::provider::normalize_host;

/// A module in a registry, without a version.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RegistryModuleAddr {
    /// The host of the registry, with an optional port.
    pub host: String,
    /// The publisher.
    pub namespace: String,
    /// The name of the module.
    pub name: String,
    /// The system that the module is for, most often a provider.
    pub system: String,
}

/// Prints the host as well, even the default one.
impl Display for RegistryModuleAddr {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let Self { host, namespace, name, system } = self;
        write!(f, "{host}/{namespace}/{name}/{system}")
    }
}

/// The longest namespace, name or system.
const MAX_ADDRESS_PART_LEN: usize = 64;

pub(super) fn parse_registry_module(text: &str) -> Result<RegistryModuleAddr, String> {
    let parts: Vec<&str> = text.split('/').collect();
    let (host, namespace, name, system) = match parts[..] {
        [namespace, name, system] => (None, namespace, name, system),
        [host, namespace, name, system] => (Some(host), namespace, name, system),
        _ => {
            return Err("a module registry source address must have either three or four slash-separated components".to_owned());
        }
    };
    let host = host.map_or(Ok(ProviderAddr::DEFAULT_HOST.to_owned()), normalize_host_or_message)?;
    if !is_valid_address_part(namespace) {
        if parts.len() == 3
            && namespace.contains('.')
            && normalize_host_or_message(namespace).is_ok()
        {
            return Err("source address must have three more components after the hostname: the namespace, the name, and the target system".to_owned());
        }
        return Err(invalid_part_message("namespace", namespace));
    }
    if !is_valid_address_part(name) {
        return Err(invalid_part_message("module name", name));
    }
    let lower = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit();
    if system.is_empty() || system.len() > MAX_ADDRESS_PART_LEN || !system.bytes().all(lower) {
        return Err(format!(
            "invalid target system {system:?}: must be between one and 64 ASCII letters or digits"
        ));
    }
    let [namespace, name, system] = [namespace, name, system].map(str::to_owned);
    Ok(RegistryModuleAddr { host, namespace, name, system })
}

fn invalid_part_message(part: &str, text: &str) -> String {
    format!(
        "invalid {part} {text:?}: must be between one and 64 characters, including ASCII letters, digits, dashes, and underscores, where dashes and underscores may not be the prefix or suffix"
    )
}

fn is_valid_address_part(text: &str) -> bool {
    let inside = |c: u8| c.is_ascii_alphanumeric() || c == b'-' || c == b'_';
    let at_the_rim = |c: Option<&u8>| c.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = text.as_bytes();
    bytes.len() <= MAX_ADDRESS_PART_LEN
        && bytes.iter().copied().all(inside)
        && at_the_rim(bytes.first())
        && at_the_rim(bytes.last())
}

fn normalize_host_or_message(text: &str) -> Result<String, String> {
    let Some(host) = normalize_host(text) else {
        return Err(format!("invalid module registry hostname {text:?}"));
    };
    if !host.contains('.') {
        return Err("invalid module registry hostname: must contain at least one dot".to_owned());
    }
    if ["github.com", "bitbucket.org"].contains(&host.as_str()) {
        return Err(format!(
            "can't use {host:?} as a module registry host, because it's reserved for installing directly from version control repositories"
        ));
    }
    Ok(host)
}
