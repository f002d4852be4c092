//! Provider installation methods of the CLI configuration: the location of packages, and the providers that
//! are installed from it.

use std::path::PathBuf;

use formwork_core::addr::ProviderAddr;

use super::expand_variables;
use super::oci_repository::RepositoryTemplate;
use super::parse_items::{ResultWithLine, SettingsItem, SettingsValue};
use crate::env::Env;

/// One source of provider packages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InstallMethod {
    pub(crate) kind: InstallMethodKind,
    /// Patterns of the providers to install with this method. Empty for all providers.
    pub(crate) include: Vec<String>,
    /// Patterns of the providers not to install with this method.
    pub(crate) exclude: Vec<String>,
}

/// The kind of a source, with its location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum InstallMethodKind {
    /// A local directory.
    Filesystem(PathBuf),
    /// A network mirror.
    Network(String),
    /// Repositories in OCI registries.
    Oci(RepositoryTemplate),
    /// The provider's own registry.
    Direct,
}

impl InstallMethod {
    /// Creates a method that applies to every provider.
    pub(crate) fn for_all_providers(kind: InstallMethodKind) -> Self {
        Self { kind, include: Vec::new(), exclude: Vec::new() }
    }

    /// Whether this method applies to a provider.
    pub(crate) fn serves(&self, provider: &ProviderAddr) -> bool {
        let any =
            |patterns: &[String]| patterns.iter().any(|pattern| matches_pattern(pattern, provider));
        (self.include.is_empty() || any(&self.include)) && !any(&self.exclude)
    }
}

/// Whether a pattern such as `registry.terraform.io/*/*` or `hashicorp/null` matches a provider.
pub(crate) fn matches_pattern(pattern: &str, provider: &ProviderAddr) -> bool {
    let Some([host, namespace, kind]) = split_pattern(pattern) else { return false };
    let matches_part =
        |pattern: &str, part: &str| pattern == "*" || pattern.eq_ignore_ascii_case(part);
    matches_part(host, provider.host())
        && matches_part(namespace, provider.namespace())
        && matches_part(kind, provider.provider_type())
}

/// Splits a pattern into host, namespace and type.
pub(super) fn split_pattern(pattern: &str) -> Option<[&str; 3]> {
    let parts: Vec<&str> = pattern.split('/').collect();
    match parts[..] {
        [kind] => Some([ProviderAddr::DEFAULT_HOST, ProviderAddr::DEFAULT_NAMESPACE, kind]),
        [namespace, kind] => Some([ProviderAddr::DEFAULT_HOST, namespace, kind]),
        [host, namespace, kind] => Some([host, namespace, kind]),
        _ => None,
    }
}

/// Checks a pattern. The error is in Terraform's words.
fn check_pattern(pattern: &str) -> Result<(), String> {
    let parts: Vec<&str> = pattern.split('/').collect();
    let (host, namespace, kind) = match parts[..] {
        [namespace, kind] => (ProviderAddr::DEFAULT_HOST, namespace, kind),
        [host, namespace, kind] => (host, namespace, kind),
        _ => {
            return Err(format!(
                "invalid provider matching pattern {pattern:?}: must have either two or three slash-separated segments"
            ));
        }
    };
    if host == "*" && (namespace, kind) != ("*", "*") {
        return Err(format!(
            "invalid provider matching pattern {pattern:?}: hostname can be a wildcard only if both namespace and provider type are also wildcards"
        ));
    }
    if namespace == "*" && kind != "*" {
        return Err(format!(
            "invalid provider matching pattern {pattern:?}: namespace can be a wildcard only if the provider type is also a wildcard"
        ));
    }
    let literal =
        |part: &str, instead: &str| if part == "*" { instead.to_owned() } else { part.to_owned() };
    let sample = format!(
        "{}/{}/{}",
        literal(host, ProviderAddr::DEFAULT_HOST),
        literal(namespace, "any"),
        literal(kind, "any")
    );
    sample
        .parse::<ProviderAddr>()
        .map(drop)
        .map_err(|error| format!("invalid provider matching pattern {pattern:?}: {error}"))
}

/// The arguments of a method.
#[derive(Default)]
struct InstallMethodArguments {
    /// The location: a path, a URL or a template.
    location: Option<String>,
    include: Vec<String>,
    exclude: Vec<String>,
}

/// Returns the name of the argument for the location of a method.
fn location_argument_name(method: &str) -> Option<&'static str> {
    match method {
        "filesystem_mirror" => Some("path"),
        "network_mirror" => Some("url"),
        "oci_mirror" => Some("repository_template"),
        _ => None,
    }
}

fn read_arguments(
    method: &str,
    items: Vec<SettingsItem>,
) -> ResultWithLine<InstallMethodArguments> {
    let mut arguments = InstallMethodArguments::default();
    for item in items {
        match item {
            SettingsItem::Value(name, SettingsValue::Text(value), _)
                if Some(name.as_str()) == location_argument_name(method) =>
            {
                arguments.location = Some(value);
            }
            item if matches!(item.name(), "include" | "exclude") => {
                let (is_include, line) = (item.name() == "include", item.line());
                let list = item.into_list()?;
                for pattern in &list {
                    check_pattern(pattern).map_err(|reason| (line, reason))?;
                }
                match is_include {
                    true => arguments.include = list,
                    false => arguments.exclude = list,
                }
            }
            SettingsItem::Value(name, _, line)
            | SettingsItem::Block(name, _, line)
            | SettingsItem::Labelled(name, _, _, line) => {
                return Err((line, format!("{name} is not expected here")));
            }
        }
    }
    Ok(arguments)
}

/// Reads the block of a method.
pub(super) fn read_method_block(
    name: &str,
    items: Vec<SettingsItem>,
    line: usize,
    env: &Env,
) -> ResultWithLine<InstallMethod> {
    let InstallMethodArguments { location, include, exclude } = read_arguments(name, items)?;
    let location = match (location_argument_name(name), location) {
        (Some(argument), None) => return Err((line, format!("{name} requires a {argument}"))),
        (_, location) => location.unwrap_or_default(),
    };
    let kind = match name {
        "filesystem_mirror" => InstallMethodKind::Filesystem(expand_variables(&location, env)),
        "network_mirror" => {
            let host = location.get(..8).filter(|start| start.eq_ignore_ascii_case("https://"));
            if host.is_none() || location.len() == 8 {
                return Err((
                    line,
                    format!(
                        "cannot use {location:?} as a URL for a network provider mirror: the mirror must be at an https: URL"
                    ),
                ));
            }
            InstallMethodKind::Network(location)
        }
        "oci_mirror" => {
            let template = RepositoryTemplate::parse(&location, &include);
            InstallMethodKind::Oci(template.map_err(|reason| (line, reason))?)
        }
        "direct" => InstallMethodKind::Direct,
        _ => return Err((line, format!("{name} is not a provider installation method"))),
    };
    Ok(InstallMethod { kind, include, exclude })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wildcard_matches_all_following_parts() {
        for pattern in ["*/*", "*/*/*", "acme/*", "example.com/*/*", "localhost:8080/a/b", "a/b"] {
            assert_eq!(check_pattern(pattern), Ok(()), "{pattern}");
        }
        for pattern in ["", "null", "a/b/c/d", "*/null", "*/a/*", "h.example/*/null", "a/b c"] {
            assert!(check_pattern(pattern).is_err(), "{pattern}");
        }
    }
}
