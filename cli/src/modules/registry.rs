//! The module registry protocol: versions of a module, and the location of the package of a version.

use std::collections::BTreeMap;

use formwork_core::addr::{ModuleSource, PackageAddr, RegistryModuleAddr, Subdir};
use formwork_core::version::LooseVersion;
use serde::Deserialize;

use crate::fetch::host::{HostError, HostService, Hosts};
use crate::fetch::http::{Client, HttpError, HttpResponse, resolve_reference};
use crate::fetch::limited_lists::LimitedList;

/// The module registry service, and its name in messages.
const MODULES_SERVICE: HostService = HostService { id: "modules.v1", name: "modules" };
/// Maximum length of a list of versions, in bytes.
const MAX_VERSION_LIST_SIZE: u64 = 8 << 20;

/// The reason why a request to a registry failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RegistryError {
    /// Service discovery failed.
    #[error("{0}")]
    Host(#[from] HostError),
    /// The registry does not respond, or returned an error status.
    #[error("{0}")]
    Http(#[from] HttpError),
    /// The registry requires credentials, and the credentials helper failed.
    #[error("{refusal}; {complaint}")]
    Refused { refusal: HttpError, complaint: String },
    /// The module does not exist.
    #[error("the module does not exist")]
    NotFound,
    /// The response is not a valid document.
    #[error("its response is not valid: {0}")]
    Unreadable(#[from] serde_json::Error),
    /// The list of versions is malformed.
    #[error("{0}")]
    Malformed(String),
    /// The location is not that of a package.
    #[error("must be a direct remote package address")]
    Location(String),
}

/// Access to module registries, with a cache of their responses.
pub(super) struct ModuleRegistries<'a> {
    http: &'a Client,
    hosts: Hosts<'a>,
    versions: BTreeMap<RegistryModuleAddr, ModuleVersions>,
}

/// The versions of a module.
#[derive(Clone, Debug, Default)]
pub(crate) struct ModuleVersions {
    /// The versions in ascending order.
    pub(crate) versions: Vec<LooseVersion>,
    /// Listed strings that are not valid versions.
    pub(crate) ignored: Vec<String>,
}

impl<'a> ModuleRegistries<'a> {
    pub(super) fn new(http: &'a Client, hosts: Hosts<'a>) -> Self {
        Self { http, hosts, versions: BTreeMap::new() }
    }

    /// Returns the versions of a module.
    pub(super) fn versions(
        &mut self,
        module: &RegistryModuleAddr,
    ) -> Result<ModuleVersions, RegistryError> {
        if let Some(cached) = self.versions.get(module) {
            return Ok(cached.clone());
        }
        let url = self.url(module, "versions")?;
        let answer = self.send_request(module, &url).map_err(|error| match error {
            RegistryError::Http(HttpError::Status { status: 404, .. }) => RegistryError::NotFound,
            error => error,
        })?;
        let listed = parse_versions(&answer.read_json_object_text(MAX_VERSION_LIST_SIZE)?)?;
        self.versions.insert(module.clone(), listed.clone());
        Ok(listed)
    }

    /// Returns the location of the package of a version, and the module's directory in it.
    pub(super) fn package_location(
        &self,
        module: &RegistryModuleAddr,
        version: &LooseVersion,
    ) -> Result<(PackageAddr, Subdir), RegistryError> {
        let url = self.url(module, &format!("{version}/download"))?;
        let answer = self.send_request(module, &url)?;
        let base = answer.url.clone();
        let Some(header) = answer.header("X-Terraform-Get").filter(|header| !header.is_empty())
        else {
            let reason = "the response has no location in the header X-Terraform-Get".to_owned();
            return Err(RegistryError::Malformed(reason));
        };
        let relative = ["/", "./", "../"].iter().any(|start| header.starts_with(start));
        let header = if relative { resolve_reference(&base, &header) } else { header };
        match ModuleSource::parse(&header, false) {
            // A remote registry must not be able to refer to local files.
            Ok(ModuleSource::Package(package, subdir)) if !package.is_local() => {
                Ok((package, subdir))
            }
            _ => Err(RegistryError::Location(header)),
        }
    }

    fn send_request(
        &self,
        module: &RegistryModuleAddr,
        url: &str,
    ) -> Result<HttpResponse, RegistryError> {
        let authorization = self.hosts.authorization_header(&module.host, url);
        let answer =
            self.http.get_with_retries(url, authorization.as_deref(), self.hosts.retry_policy());
        answer.map_err(|refusal| match self.hosts.credentials_error(&module.host, url) {
            Some(complaint) if refusal.is_about_credentials() => {
                RegistryError::Refused { refusal, complaint }
            }
            _ => RegistryError::Http(refusal),
        })
    }

    fn url(&self, module: &RegistryModuleAddr, rest: &str) -> Result<String, RegistryError> {
        let base = self.hosts.service_url(self.http, &module.host, MODULES_SERVICE)?;
        let RegistryModuleAddr { namespace, name, system, .. } = module;
        Ok(format!("{base}{namespace}/{name}/{system}/{rest}"))
    }
}

#[derive(Deserialize)]
struct ModuleVersionsDocument {
    #[serde(default)]
    modules: LimitedList<ListedModule>,
}

#[derive(Deserialize)]
struct ListedModule {
    #[serde(default)]
    versions: Option<LimitedList<ListedVersion>>,
}

#[derive(Deserialize)]
struct ListedVersion {
    version: Option<String>,
}

/// Parses a registry's list of the versions of a module.
///
/// # Errors
/// The document is not such a list.
pub(crate) fn parse_versions(text: &str) -> Result<ModuleVersions, RegistryError> {
    let malformed = |reason: &str| RegistryError::Malformed(reason.to_owned());
    let document: ModuleVersionsDocument = serde_json::from_str(text)?;
    let module = document.modules.0.into_iter().next();
    let module = module.ok_or_else(|| malformed("it lists no module"))?;
    let mut listed = ModuleVersions::default();
    for entry in module.versions.unwrap_or_default().0 {
        let text = entry.version.as_deref().unwrap_or_default();
        match text.parse::<LooseVersion>() {
            Ok(version) => listed.versions.push(version),
            Err(_) => listed.ignored.push(text.to_owned()),
        }
    }
    listed.versions.sort_by(LooseVersion::cmp_precedence);
    // Of several builds of a version, the first one is used.
    listed.versions.dedup_by(|next, first| next.cmp_precedence(first).is_eq());
    Ok(listed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_sorted_and_invalid_ones_are_named() {
        let text = r#"{"modules":[{"versions":[{"version":"1.10.0"},{"version":"bogus"},{"version":null},{"version":"v1.2"},{"version":"1.2.0+b1"},{"version":"2.0.0-beta1"}]}]}"#;
        let ModuleVersions { versions, ignored } = parse_versions(text).unwrap();
        let versions: Vec<_> = versions.iter().map(ToString::to_string).collect();
        assert_eq!(versions, ["1.2.0", "1.10.0", "2.0.0-beta1"]);
        assert_eq!(ignored, ["bogus", ""]);
        assert!(matches!(parse_versions("{"), Err(RegistryError::Unreadable(_))));
        for text in ["{}", r#"{"modules":[]}"#] {
            assert!(matches!(parse_versions(text), Err(RegistryError::Malformed(_))), "{text}");
        }
    }
}
