//! Installation methods of the settings: the place of packages, and the providers to look for there.

use std::path::PathBuf;

use formwork_core::addr::ProviderAddr;

use super::expanded;
use super::text::{Item, Located, Value};
use crate::env::Env;

/// One place where providers are looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Method {
    pub(crate) kind: MethodKind,
    /// Patterns of the providers looked for there; all if empty.
    pub(crate) include: Vec<String>,
    /// Patterns of the providers not looked for there.
    pub(crate) exclude: Vec<String>,
}

/// The kind of a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum MethodKind {
    /// A folder.
    Filesystem(PathBuf),
    /// A server that holds packages.
    Network(String),
    /// The provider's own registry.
    Direct,
}

impl Method {
    /// A place where every provider is looked for.
    pub(crate) fn every(kind: MethodKind) -> Self {
        Self { kind, include: Vec::new(), exclude: Vec::new() }
    }

    /// Whether a provider is looked for here.
    pub(crate) fn covers(&self, provider: &ProviderAddr) -> bool {
        let any = |patterns: &[String]| patterns.iter().any(|pattern| matches(pattern, provider));
        (self.include.is_empty() || any(&self.include)) && !any(&self.exclude)
    }
}

/// Whether a pattern such as `registry.terraform.io/*/*` or `hashicorp/null` matches a provider.
pub(crate) fn matches(pattern: &str, provider: &ProviderAddr) -> bool {
    let parts: Vec<&str> = pattern.split('/').collect();
    let (host, namespace, kind) = match parts[..] {
        [kind] => (ProviderAddr::DEFAULT_HOST, "hashicorp", kind),
        [namespace, kind] => (ProviderAddr::DEFAULT_HOST, namespace, kind),
        [host, namespace, kind] => (host, namespace, kind),
        _ => return false,
    };
    let fits = |pattern: &str, part: &str| pattern == "*" || pattern.eq_ignore_ascii_case(part);
    fits(host, provider.host())
        && fits(namespace, provider.namespace())
        && fits(kind, provider.kind())
}

/// Checks a pattern. The reason why it is none is in Terraform's words.
fn check(pattern: &str) -> Result<(), String> {
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

/// Reads the block of a method.
pub(super) fn read(name: &str, items: Vec<Item>, line: usize, env: &Env) -> Located<Method> {
    let (mut place, mut include, mut exclude) = (None, Vec::new(), Vec::new());
    for item in items {
        match item {
            Item::Value(name, Value::Text(value), _) if name == "path" || name == "url" => {
                place = Some(value);
            }
            Item::Value(name, Value::List(list), line)
                if name == "include" || name == "exclude" =>
            {
                for pattern in &list {
                    check(pattern).map_err(|reason| (line, reason))?;
                }
                if name == "include" { include = list } else { exclude = list }
            }
            Item::Value(name, _, line)
            | Item::Block(name, _, line)
            | Item::Labelled(name, _, _, line) => {
                return Err((line, format!("{name} is not expected here")));
            }
        }
    }
    let missing = |what: &str| (line, format!("{name} needs {what}"));
    let kind = match name {
        "filesystem_mirror" => {
            MethodKind::Filesystem(expanded(&place.ok_or_else(|| missing("a path"))?, env))
        }
        "network_mirror" => {
            let url = place.ok_or_else(|| missing("a url"))?;
            let host = url.get(..8).filter(|start| start.eq_ignore_ascii_case("https://"));
            if host.is_none() || url.len() == 8 {
                return Err((
                    line,
                    format!(
                        "cannot use {url:?} as a URL for a network provider mirror: the mirror must be at an https: URL"
                    ),
                ));
            }
            MethodKind::Network(url)
        }
        "direct" => MethodKind::Direct,
        _ => return Err((line, format!("{name} is not a way to install providers"))),
    };
    Ok(Method { kind, include, exclude })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wildcard_stands_for_all_that_follows() {
        for pattern in ["*/*", "*/*/*", "acme/*", "example.com/*/*", "localhost:8080/a/b", "a/b"] {
            assert_eq!(check(pattern), Ok(()), "{pattern}");
        }
        for pattern in ["", "null", "a/b/c/d", "*/null", "*/a/*", "h.example/*/null", "a/b c"] {
            assert!(check(pattern).is_err(), "{pattern}");
        }
    }
}
