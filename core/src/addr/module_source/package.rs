//! Addresses of packages: a URL, optionally with the fetch method before it (`git::`), or one
//! of the shorthands for such a URL.

use std::fmt::{Display, Formatter};

use super::{ModuleSource, Subdir, split_subdir};
use crate::addr::parse::AddressError;
use crate::messages;

/// The address from which a package is fetched. All users of the same package have the same
/// address.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PackageAddr {
    /// The means of fetching that the address insists on: `git` in `git::https://…`.
    pub forced: Option<String>,
    /// The URL, with its query.
    pub url: String,
}

impl PackageAddr {
    /// The fetch method of the package, in lower case: the one that is written before the URL,
    /// otherwise the scheme of the URL.
    #[must_use]
    pub fn fetch_method(&self) -> String {
        let scheme = || url_scheme(&self.url).unwrap_or_default();
        self.forced.as_deref().unwrap_or_else(scheme).to_ascii_lowercase()
    }

    /// Whether the package is on this machine, with any way to fetch it.
    #[must_use]
    pub fn is_local(&self) -> bool {
        let has_scheme =
            |name: &str| self.url.split(':').next().is_some_and(|it| it.eq_ignore_ascii_case(name));
        // Without a scheme, git treats `host:path` as a remote repository and everything else as a directory.
        has_scheme("file") || !self.url.contains(':')
    }

    /// The address with a subdirectory in it: `git::https://example.com/a.git//directory?ref=v1`.
    pub(super) fn with_subdir(&self, within: &Subdir) -> String {
        let source = self.to_string();
        if within.is_empty() {
            return source;
        }
        let (address, query) = source.split_at(source.find('?').unwrap_or(source.len()));
        format!("{address}//{}{query}", within.0)
    }
}

impl Display for PackageAddr {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match &self.forced {
            Some(forced) => write!(f, "{forced}::{}", self.url),
            None => f.write_str(&self.url),
        }
    }
}

pub(super) fn parse_package_source(text: &str) -> Result<ModuleSource, AddressError> {
    let invalid = |reason: String| AddressError {
        summary: messages::INVALID_MODULE_SOURCE_ADDRESS,
        detail: format!("Failed to parse module source address: {reason}."),
    };
    let (address, within) = split_subdir(text);
    let within = Subdir::parse(&within).map_err(invalid)?;
    if address.is_empty() {
        return Err(invalid("invalid source address: ".to_owned()));
    }
    let (forced, address) = split_fetch_method(&address);
    // Terraform runs its detectors only on addresses without a scheme.
    if url_scheme(address).is_some() {
        let package = PackageAddr { forced: forced.map(str::to_owned), url: address.to_owned() };
        return Ok(ModuleSource::Package(package, within));
    }
    let Some(long) = expand_shorthand(address).map_err(invalid)? else {
        return Err(AddressError {
            summary: messages::INVALID_MODULE_SOURCE_ADDRESS,
            detail: format!(
                "Formwork failed to determine your intended installation method for remote module package {address:?}.\n\nIf you intended this as a path relative to the current module, use \"./{address}\" instead. The \"./\" prefix indicates that the address is a relative filesystem path."
            ),
        });
    };
    // A shorthand may contain a subdirectory: `github.com/a/b/c` names the directory `c`.
    let (url, outer) = split_subdir(&long.url);
    let outer = Subdir::parse(&outer).map_err(invalid)?;
    let forced = forced.or(long.forced).map(str::to_owned);
    Ok(ModuleSource::Package(PackageAddr { forced, url }, outer.join(&within)))
}

/// Splits off the means of fetching: `git::URL`.
fn split_fetch_method(address: &str) -> (Option<&str>, &str) {
    match address.split_once("::") {
        Some((means, rest))
            if !means.is_empty()
                && !rest.is_empty()
                && means.bytes().all(|c| c.is_ascii_alphanumeric()) =>
        {
            (Some(means), rest)
        }
        _ => (None, address),
    }
}

/// The scheme of a URL.
fn url_scheme(url: &str) -> Option<&str> {
    let (scheme, _) = url.split_once(':')?;
    let mut bytes = scheme.bytes();
    let inside = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'+' | b'-' | b'.');
    (bytes.next()?.is_ascii_alphabetic() && bytes.all(inside)).then_some(scheme)
}

/// The full address of a shorthand.
struct ExpandedShorthand {
    forced: Option<&'static str>,
    url: String,
}

/// Writes out a shorthand; `None` if it is not one.
fn expand_shorthand(address: &str) -> Result<Option<ExpandedShorthand>, String> {
    let git = |url| Ok(Some(ExpandedShorthand { forced: Some("git"), url }));
    let (path, query) = address.split_at(address.find('?').unwrap_or(address.len()));
    // In the order of Terraform's detectors, of which the first match is used.
    if path.starts_with("github.com/") {
        return git(format!("{}{query}", expand_github_shorthand(path)?));
    }
    if let Some((host, path)) = address.strip_prefix("git@").and_then(|rest| rest.split_once(':')) {
        let path = path.strip_prefix('/').unwrap_or(path);
        if !path.is_empty() && !host.is_empty() {
            return git(format!("ssh://git@{host}/{path}"));
        }
    }
    if path.starts_with("bitbucket.org/") {
        let suffix = if path.ends_with(".git") { "" } else { ".git" };
        return git(format!("https://{path}{suffix}{query}"));
    }
    if path.contains("googleapis.com/") {
        return Ok(Some(ExpandedShorthand {
            forced: Some("gcs"),
            url: format!("https://{address}"),
        }));
    }
    if path.contains(".amazonaws.com/") {
        return Ok(Some(ExpandedShorthand {
            forced: Some("s3"),
            url: format!("https://{address}"),
        }));
    }
    if address.starts_with('/') {
        return Ok(Some(ExpandedShorthand { forced: None, url: format!("file://{address}") }));
    }
    Ok(None)
}

/// `github.com/USER/REPOSITORY[/DIRECTORY]`
fn expand_github_shorthand(path: &str) -> Result<String, String> {
    let mut parts = path.splitn(4, '/');
    let (Some(host), Some(user), Some(name)) = (parts.next(), parts.next(), parts.next()) else {
        return Err("GitHub URLs should be github.com/username/repo".to_owned());
    };
    let suffix = if name.ends_with(".git") { "" } else { ".git" };
    let within = parts.next().map(|directory| format!("//{directory}")).unwrap_or_default();
    Ok(format!("https://{host}/{user}/{name}{suffix}{within}"))
}
