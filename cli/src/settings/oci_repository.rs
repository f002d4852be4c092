//! Repositories in OCI registries: their addresses, and the template for the repository of a provider.

use std::fmt::{Display, Formatter};

use formwork_core::addr::ProviderAddr;
use formwork_lang::eval::evaluate;
use formwork_lang::functions::Function;
use formwork_lang::refs;
use formwork_lang::scope::{Scope, ScopeStep};
use formwork_lang::syntax::{Expr, Ident, parse_template};
use formwork_value::convert::convert;
use formwork_value::diag::Sources;
use formwork_value::{Diagnostic, Diagnostics, Reported, Type, Value};

use super::install_method::split_pattern;
use crate::messages;

/// The address of a repository in an OCI registry: `example.com/providers/random`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RepositoryAddr {
    /// The domain of the registry in lower case, with an optional port.
    pub(crate) registry: String,
    /// The path of the repository in the registry.
    pub(crate) path: String,
}

impl RepositoryAddr {
    /// Creates an address from its parts.
    ///
    /// # Errors
    /// The domain or the path is malformed.
    pub(crate) fn new(registry: &str, path: &str) -> Result<Self, String> {
        if !is_registry_domain(registry) {
            return Err(format!(
                "{registry:?} is not the domain of an OCI registry; write a domain, or a domain and a port as in \"example.com:5000\""
            ));
        }
        if !path.split('/').all(is_path_segment) {
            return Err(format!(
                "{path:?} is not the name of a repository in an OCI registry; write lower-case letters and digits, with single separators (. _ - /) between them"
            ));
        }
        Ok(Self { registry: registry.to_ascii_lowercase(), path: path.to_owned() })
    }

    /// Parses an address: the domain of the registry, a slash, and the path of the repository.
    ///
    /// # Errors
    /// The address is malformed.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let (registry, path) = text.split_once('/').ok_or_else(|| {
            format!(
                "{text:?} is not the address of a repository in an OCI registry; write the domain of the registry, a slash, and the name of the repository"
            )
        })?;
        Self::new(registry, path)
    }

    /// Returns the host of the registry's API, which for Docker Hub differs from the domain.
    pub(crate) fn server(&self) -> &str {
        match self.registry.as_str() {
            "docker.io" => "registry-1.docker.io",
            domain => domain,
        }
    }

    /// Returns the number of path segments that a prefix such as `example.com/team` and the address have in
    /// common, or `None` if the prefix does not match the repository.
    pub(crate) fn n_segments_covered_by(&self, prefix: &str) -> Option<usize> {
        let (registry, path) = prefix
            .split_once('/')
            .map_or((prefix, None), |(registry, path)| (registry, Some(path)));
        if !registry.eq_ignore_ascii_case(&self.registry) {
            return None;
        }
        let Some(path) = path else { return Some(0) };
        let rest = self.path.strip_prefix(path)?;
        let covers = !path.is_empty() && (rest.is_empty() || rest.starts_with('/'));
        covers.then(|| path.split('/').count())
    }
}

impl Display for RepositoryAddr {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.registry, self.path)
    }
}

/// Parses an address prefix: the domain of a registry, with an optional path. The domain is converted to lower
/// case.
///
/// # Errors
/// The prefix is malformed.
pub(super) fn read_prefix(prefix: &str) -> Result<String, String> {
    match prefix.contains('/') {
        true => RepositoryAddr::parse(prefix).map(|addr| addr.to_string()),
        false => RepositoryAddr::new(prefix, "any").map(|addr| addr.registry),
    }
}

/// Whether a string is a domain or an IP address, with an optional port.
fn is_registry_domain(text: &str) -> bool {
    let (name, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, rest)) if address.parse::<std::net::Ipv6Addr>().is_ok() => ("address", rest),
        Some(_) => return false,
        None => text.split_at(text.find(':').unwrap_or(text.len())),
    };
    let is_named = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let is_port =
        |port: &str| port.parse::<u16>().is_ok() && port.bytes().all(|c| c.is_ascii_digit());
    let port_fits = port.is_empty() || port.strip_prefix(':').is_some_and(is_port);
    !name.is_empty() && name.chars().all(is_named) && port_fits
}

/// Whether a string is a valid path segment of a repository by the OCI distribution specification.
fn is_path_segment(part: &str) -> bool {
    let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let mut separators = part.split(is_word).filter(|separator| !separator.is_empty());
    let is_separated_by = |separator: &str| {
        matches!(separator, "." | "_" | "__") || separator.bytes().all(|c| c == b'-')
    };
    part.starts_with(is_word) && part.ends_with(is_word) && separators.all(is_separated_by)
}

/// The template for the repository of a provider: `example.com/${namespace}/${type}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RepositoryTemplate(String);

/// The symbols of a template, in the order of the parts of a source address, with their descriptions for a
/// message: `include` must select exactly one value of a symbol that the template does not use.
const TEMPLATE_SYMBOLS: [(&str, &str); 3] =
    [("hostname", "registry hostname"), ("namespace", "provider namespace"), ("type", "provider")];

impl RepositoryTemplate {
    /// Parses a template for the providers that the patterns include.
    ///
    /// # Errors
    /// The template is invalid, or results in the same repository for several providers.
    pub(crate) fn parse(text: &str, include: &[String]) -> Result<Self, String> {
        let template = Self(text.to_owned());
        let expr = template.parse_expression()?;
        let names: Vec<String> = refs::traversals_of_expr(&expr)
            .iter()
            .map(|traversal| traversal.root.name.to_string())
            .collect();
        let is_symbol = |name: &&String| TEMPLATE_SYMBOLS.iter().any(|(symbol, _)| symbol == name);
        if let Some(name) = names.iter().find(|name| !is_symbol(name)) {
            return Err(format!(
                "the symbol {name:?} is not available in repository_template; only \"hostname\", \"namespace\" and \"type\" are"
            ));
        }
        for (index, (symbol, meaning)) in TEMPLATE_SYMBOLS.iter().enumerate() {
            if !names.iter().any(|name| name == symbol) && !patterns_agree_on_part(include, index) {
                return Err(format!(
                    "repository_template must refer to ${{{symbol}}} unless the include argument selects exactly one {meaning}"
                ));
            }
        }
        template.repository(&ProviderAddr::new(
            "example.com",
            "example-namespace",
            "example-type",
        ))?;
        Ok(template)
    }

    /// Returns the repository of a provider.
    ///
    /// # Errors
    /// The result of the template is not a repository address.
    pub(crate) fn repository(&self, addr: &ProviderAddr) -> Result<RepositoryAddr, String> {
        let expr = self.parse_expression()?;
        let mut diags = Diagnostics::new();
        let value = evaluate(&mut diags, &expr, &SymbolScope(addr));
        let value = value.map_err(|_| self.invalid_template_message(diags))?;
        match convert(&value, &Type::String) {
            Ok(Value::String(text)) => RepositoryAddr::parse(&text)
                .map_err(|reason| format!("repository_template {self:?}: {reason}", self = self.0)),
            _ => Err(format!("repository_template {:?} does not result in a string", self.0)),
        }
    }

    fn parse_expression(&self) -> Result<Expr, String> {
        let mut sources = Sources::new();
        let source = sources.add("repository_template", self.0.as_str());
        let mut diags = Diagnostics::new();
        parse_template(&mut diags, &sources, source)
            .map_err(|_| self.invalid_template_message(diags))
    }

    fn invalid_template_message(&self, diags: Diagnostics) -> String {
        let first = diags.into_iter().next();
        let reason = first.map_or_else(String::new, |diagnostic| {
            format!(": {}: {}", diagnostic.summary, diagnostic.detail)
        });
        format!("repository_template {:?} is invalid{reason}", self.0)
    }
}

impl Display for RepositoryTemplate {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether all provider patterns have the same literal value in a part.
fn patterns_agree_on_part(include: &[String], index: usize) -> bool {
    let mut values = include.iter().filter_map(|pattern| Some(split_pattern(pattern)?[index]));
    let first = values.next();
    first.is_some_and(|first| first != "*" && values.all(|other| other == first))
}

/// The scope of a template: the parts of the source address of a provider.
struct SymbolScope<'a>(&'a ProviderAddr);

impl Scope for SymbolScope<'_> {
    fn resolve(
        &self,
        diags: &mut Diagnostics,
        root: &Ident,
        _: &[ScopeStep],
    ) -> Result<(Value, usize), Reported> {
        let part = match &*root.name {
            "hostname" => self.0.host(),
            "namespace" => self.0.namespace(),
            "type" => self.0.provider_type(),
            other => {
                let detail =
                    format!("The symbol {other:?} is not available in a repository_template.");
                return Err(
                    diags.error(Diagnostic::error(messages::UNKNOWN_SYMBOL, detail).at(root.span))
                );
            }
        };
        Ok((Value::string(part.clone()), 0))
    }

    fn lookup_function(&self, _: &str) -> Option<&dyn Function> {
        None
    }

    fn calls_forbidden_reason(&self) -> Option<&str> {
        Some("Functions are not available in a repository_template.")
    }

    fn function_names(&self) -> Vec<String> {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_those_of_the_distribution_specification() {
        for text in
            ["h/a", "example.com:5000/a/b", "[::1]:5000/a", "h/a.b_c__d--e/0", "docker.io/x"]
        {
            let addr = RepositoryAddr::parse(text).unwrap();
            assert_eq!(addr.to_string(), text);
        }
        for text in [
            "",
            "h",
            "h/",
            "/a",
            "h//a",
            "h/A",
            "h/a_",
            "h/a..b",
            "h/a___b",
            "h/a:tag",
            "h/../b",
            "h:x/a",
            "h:70000/a",
            "me@h/a",
            "h/a@sha256:0",
            "[h]/a",
            "h/a?x",
            "h /a",
            "h/%61",
        ] {
            assert!(RepositoryAddr::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn registry_domains_are_case_insensitive() {
        let addr = RepositoryAddr::parse("H.Example:5000/a").unwrap();
        assert_eq!(addr, RepositoryAddr::parse("h.example:5000/a").unwrap());
        assert_eq!(addr.to_string(), "h.example:5000/a");
        assert_eq!(addr.n_segments_covered_by("h.EXAMPLE:5000/a"), Some(1));
        let hub = RepositoryAddr::parse("Docker.IO/a").unwrap();
        assert_eq!(hub.server(), "registry-1.docker.io");
    }

    #[test]
    fn a_prefix_matches_only_complete_segments() {
        let addr = RepositoryAddr::parse("h.example:1/team/a/b").unwrap();
        let table = [
            ("h.example:1", Some(0)),
            ("h.example:1/team", Some(1)),
            ("h.example:1/team/a/b", Some(3)),
            ("h.example:1/tea", None),
            ("h.example:1/team/a/b/c", None),
            ("h.example:1/", None),
            ("h.example", None),
            ("", None),
        ];
        for (prefix, expected) in table {
            assert_eq!(addr.n_segments_covered_by(prefix), expected, "{prefix}");
        }
    }

    #[test]
    fn a_template_names_one_repository_for_each_provider() {
        let include = |patterns: &[&str]| -> Vec<String> {
            patterns.iter().map(|pattern| (*pattern).to_owned()).collect()
        };
        let addr = "corp.example/acme/thing".parse().unwrap();
        let table: [(&str, &[&str], &str); 6] = [
            ("h/${hostname}/${namespace}/${type}", &[], "h/corp.example/acme/thing"),
            ("h/${namespace}/${type}", &["corp.example/*/*"], "h/acme/thing"),
            ("h/x-${type}", &["corp.example/acme/*"], "h/x-thing"),
            ("h/x", &["corp.example/acme/thing"], "h/x"),
            (
                "h/${namespace == \"acme\" ? \"a\" : \"b\"}/${type}",
                &["corp.example/*/*"],
                "h/a/thing",
            ),
            ("${hostname}/${namespace}/${type}", &[], "corp.example/acme/thing"),
        ];
        for (text, patterns, expected) in table {
            let template = RepositoryTemplate::parse(text, &include(patterns)).unwrap();
            assert_eq!(template.repository(&addr).unwrap().to_string(), expected, "{text}");
        }
        let invalid_templates: [(&str, &[&str], &str); 9] = [
            ("h/${namespace}/${type}", &[], "must refer to ${hostname}"),
            ("h/${type}", &["corp.example/*/*"], "must refer to ${namespace}"),
            ("h/x", &["corp.example/acme/*"], "must refer to ${type}"),
            ("h/${type}", &["a.example/a/*", "b.example/a/*"], "must refer to ${hostname}"),
            ("h/${name}", &[], "the symbol \"name\" is not available"),
            ("h/${type", &[], "is invalid"),
            ("h/${upper(type)}-${hostname}-${namespace}", &[], "is invalid"),
            ("${hostname}${namespace}${type}", &[], "is not the address of a repository"),
            ("h/${hostname}/${namespace}/${type}:1", &[], "is not the name of a repository"),
        ];
        for (text, patterns, reason) in invalid_templates {
            let error = RepositoryTemplate::parse(text, &include(patterns)).unwrap_err();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }
}
