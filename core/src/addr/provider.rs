//! Names of providers and of their configurations, and how the source of a provider is read.

use std::str::FromStr;
use std::sync::Arc;

use formwork_value::Str;
use formwork_value::diag::Message;

use super::parse::AddressError;
use super::{ModulePath, ResourceName};
use crate::messages;

/// The source address of a provider: `registry.terraform.io/hashicorp/random`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProviderAddr(pub Arc<(Str, Str, Str)>);

impl ProviderAddr {
    /// The host of addresses that name none.
    pub const DEFAULT_HOST: &str = "registry.terraform.io";

    /// The namespace of addresses that name none.
    pub const DEFAULT_NAMESPACE: &str = "hashicorp";

    /// Creates an address from its normalised parts.
    #[must_use]
    pub fn new(host: impl Into<Str>, namespace: impl Into<Str>, kind: impl Into<Str>) -> Self {
        Self(Arc::new((host.into(), namespace.into(), kind.into())))
    }

    /// The host.
    #[must_use]
    pub fn host(&self) -> &Str {
        &self.0.0
    }

    /// The namespace.
    #[must_use]
    pub fn namespace(&self) -> &Str {
        &self.0.1
    }

    /// The provider's type: its name.
    #[must_use]
    pub fn provider_type(&self) -> &Str {
        &self.0.2
    }

    /// The provider that is part of the engine.
    #[must_use]
    pub fn builtin() -> Self {
        Self::new("terraform.io", "builtin", "terraform")
    }

    /// Whether it is part of the engine.
    #[must_use]
    pub fn is_builtin(&self) -> bool {
        // For every type: the whole namespace belongs to the engine.
        self.host() == "terraform.io" && self.namespace() == "builtin"
    }

    /// The provider that a local name implies without an entry in `required_providers`.
    #[must_use]
    pub fn implied_by_name(name: &Str) -> Self {
        if name == "terraform" {
            return Self::builtin();
        }
        // A resource type may begin with a capital letter, and addresses have none.
        Self::new(Self::DEFAULT_HOST, Self::DEFAULT_NAMESPACE, name.to_lowercase())
    }

    /// Reads an address in a state. Terraform 0.13 stored a provider without a namespace, as of an
    /// earlier state, as `registry.terraform.io/-/TYPE`.
    ///
    /// # Errors
    /// When the string is not a provider address.
    pub fn from_state(source: &str) -> Result<Self, AddressError> {
        // Only states have it: in a configuration no namespace is a dash.
        let kind = source.strip_prefix("registry.terraform.io/-/").or(source.strip_prefix("-/"));
        match kind {
            Some(kind) => {
                let kind = normalize_source_part(messages::INVALID_PROVIDER_TYPE, kind, source)?;
                Ok(Self::implied_by_name(&Str::new(&kind)))
            }
            None => source.parse(),
        }
    }

    /// The form for display, without the default host: `hashicorp/null`.
    #[must_use]
    pub fn display_string(&self) -> String {
        if self.host() == Self::DEFAULT_HOST {
            format!("{}/{}", self.namespace(), self.provider_type())
        } else {
            self.to_string()
        }
    }
}

impl FromStr for ProviderAddr {
    type Err = AddressError;

    /// Reads `[HOST/][NAMESPACE/]TYPE` and normalises it.
    fn from_str(source: &str) -> Result<Self, AddressError> {
        let parts: Vec<&str> = source.split('/').collect();
        // An empty part is an error in the form, not in the missing name.
        let form = if parts.contains(&"") { &[] } else { &parts[..] };
        let (host, namespace, kind) = match *form {
            ["terraform"] => return Ok(Self::builtin()),
            [kind] => (Self::DEFAULT_HOST, Self::DEFAULT_NAMESPACE, kind),
            [namespace, kind] => (Self::DEFAULT_HOST, namespace, kind),
            [host, namespace, kind] => (host, namespace, kind),
            _ => {
                return Err(provider_source_error(
                    messages::INVALID_PROVIDER_SOURCE_STRING,
                    format!("`{source}` must have the form `[HOST/][NAMESPACE/]TYPE`."),
                ));
            }
        };
        let kind = normalize_source_part(messages::INVALID_PROVIDER_TYPE, kind, source)?;
        let namespace =
            normalize_source_part(messages::INVALID_PROVIDER_NAMESPACE, namespace, source)?;
        for prefix in ["terraform-provider-", "terraform-"] {
            if let Some(rest) = kind.strip_prefix(prefix) {
                return Err(provider_source_error(
                    messages::INVALID_PROVIDER_TYPE,
                    format!(
                        "`{source}` names the type `{kind}`. The prefix `{prefix}` belongs to the \
                         name of the program, not to that of the provider: write `{rest}`."
                    ),
                ));
            }
        }
        Ok(Self::new(normalize_host_or_error(host, source)?, namespace, kind))
    }
}

fn provider_source_error(summary: &'static Message, detail: String) -> AddressError {
    AddressError { summary, detail }
}

/// Normalises a namespace or type: lower case letters, digits, and single dashes inside.
fn normalize_source_part(
    summary: &'static Message,
    text: &str,
    source: &str,
) -> Result<String, AddressError> {
    let well_formed = !text.is_empty()
        && !text.starts_with('-')
        && !text.ends_with('-')
        && !text.contains("--")
        && text.chars().all(|c| c.is_alphanumeric() || c == '-');
    if well_formed {
        return Ok(text.to_lowercase());
    }
    Err(provider_source_error(
        summary,
        format!(
            "`{text}` in `{source}` must consist of letters, digits and single dashes, and neither \
             begin nor end with a dash."
        ),
    ))
}

/// Normalises a host name with an optional port; `None` if it is none. The port of the protocol is the
/// same host as no port.
pub(in crate::addr) fn normalize_host(text: &str) -> Option<String> {
    let (name, port) = text.split_once(':').map_or((text, None), |(name, port)| (name, Some(port)));
    let good_label = |label: &str| {
        !label.is_empty()
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.chars().all(|c| c.is_alphanumeric() || c == '-')
    };
    if !name.split('.').all(good_label) {
        return None;
    }
    let name = name.to_lowercase();
    match port.map(str::parse::<u16>) {
        None | Some(Ok(443)) => Some(name),
        Some(Ok(port)) if port > 0 => Some(format!("{name}:{port}")),
        Some(_) => None,
    }
}

fn normalize_host_or_error(text: &str, source: &str) -> Result<String, AddressError> {
    normalize_host(text).ok_or_else(|| {
        provider_source_error(
            messages::INVALID_PROVIDER_SOURCE_HOSTNAME,
            format!("`{text}` in `{source}` is not a host name."),
        )
    })
}

/// A provider as a module names it: `aws`, `aws.west`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocalProviderConfig {
    /// The local name.
    pub name: Str,
    /// The alias, if any.
    pub alias: Option<Str>,
}

impl LocalProviderConfig {
    /// The provider that a resource belongs to when it names none: the resource type up to its
    /// first underscore.
    #[must_use]
    pub fn implied_by_resource(resource: &ResourceName) -> Self {
        let kind = resource.resource_type();
        let name = kind.split_once('_').map_or(kind.as_str(), |(name, _)| name);
        Self { name: name.into(), alias: None }
    }
}

/// A configuration of a provider.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProviderConfigAddr {
    /// The module that contains the configuration.
    pub module: ModulePath,
    /// The provider.
    pub provider: ProviderAddr,
    /// The alias, if any.
    pub alias: Option<Str>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn sources_are_read_with_defaults_and_in_lower_case() {
        let mut out = String::new();
        for source in [
            "null",
            "Foo/Null",
            "Example.COM:443/x/y",
            "localhost:8080/x/y",
            "terraform",
            "terraform.io/builtin/terraform",
            "",
            "a/",
            "a_b/c",
            "a/b/c/d",
            // The namespace that older states have for providers without one.
            "-/null",
            "a--b",
            "hashicorp/terraform-provider-null",
            "ex ample.com/x/y",
            "example.com:0/x/y",
        ] {
            let message = match source.parse::<ProviderAddr>() {
                Ok(addr) => format!("{addr} ({})", addr.display_string()),
                Err(bad) => format!("{}: {}", bad.summary, bad.detail),
            };
            out += &format!("{source:?}: {message}\n");
        }
        expect![[r#"
            "null": registry.terraform.io/hashicorp/null (hashicorp/null)
            "Foo/Null": registry.terraform.io/foo/null (foo/null)
            "Example.COM:443/x/y": example.com/x/y (example.com/x/y)
            "localhost:8080/x/y": localhost:8080/x/y (localhost:8080/x/y)
            "terraform": terraform.io/builtin/terraform (terraform.io/builtin/terraform)
            "terraform.io/builtin/terraform": terraform.io/builtin/terraform (terraform.io/builtin/terraform)
            "": Invalid provider source string: `` must have the form `[HOST/][NAMESPACE/]TYPE`.
            "a/": Invalid provider source string: `a/` must have the form `[HOST/][NAMESPACE/]TYPE`.
            "a_b/c": Invalid provider namespace: `a_b` in `a_b/c` must consist of letters, digits and single dashes, and neither begin nor end with a dash.
            "a/b/c/d": Invalid provider source string: `a/b/c/d` must have the form `[HOST/][NAMESPACE/]TYPE`.
            "-/null": Invalid provider namespace: `-` in `-/null` must consist of letters, digits and single dashes, and neither begin nor end with a dash.
            "a--b": Invalid provider type: `a--b` in `a--b` must consist of letters, digits and single dashes, and neither begin nor end with a dash.
            "hashicorp/terraform-provider-null": Invalid provider type: `hashicorp/terraform-provider-null` names the type `terraform-provider-null`. The prefix `terraform-provider-` belongs to the name of the program, not to that of the provider: write `null`.
            "ex ample.com/x/y": Invalid provider source hostname: `ex ample.com` in `ex ample.com/x/y` is not a host name.
            "example.com:0/x/y": Invalid provider source hostname: `example.com:0` in `example.com:0/x/y` is not a host name.
        "#]]
        .assert_eq(&out);
    }

    #[test]
    fn a_resource_type_implies_a_provider() {
        use super::super::ResourceMode;
        let implied = |kind: &str| {
            LocalProviderConfig::implied_by_resource(&ResourceName::new(
                ResourceMode::Managed,
                kind,
                "x",
            ))
            .to_string()
        };
        assert_eq!(implied("aws_s3_bucket"), "aws");
        assert_eq!(implied("aws"), "aws");
        assert_eq!(ProviderAddr::implied_by_name(&"terraform".into()), ProviderAddr::builtin());
    }
}
