//! Downloads module packages from directories, git repositories, URLs of archives and OCI registries.
//! A package is written to a directory that the caller chooses, and no entry of it can refer to files
//! outside of that directory. Version selection and installation are in other modules.

pub(crate) mod archive;
pub(crate) mod checksum;
mod credential_helper;
pub(crate) mod credentials;
mod directory;
pub(crate) mod git;
pub(crate) mod host;
pub(crate) mod http;
pub(crate) mod limited_lists;
pub(crate) mod login;
pub(crate) mod netrc;
pub(crate) mod oci;
mod package_link;
pub(crate) mod token_store;
pub(crate) mod unpack_limits;
mod url_parameters;

use std::io;
use std::path::Path;

use formwork_core::addr::{ModuleSource, PackageAddr};
use formwork_core::disk::symlink;

use archive::ArchiveFormat;
use checksum::ExpectedChecksum;
use http::{Download, HttpError};
use netrc::Netrc;
use oci::{OciError, OciRegistries};
use unpack_limits::{ArchiveError, UnpackLimits};

use crate::redact;

pub(crate) use directory::{HiddenFiles, copy_dir, find_single_match};

/// Reason why a package cannot be fetched.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FetchError {
    /// The address has an unsupported scheme.
    #[error("{0}")]
    Unsupported(String),
    /// The address is invalid.
    #[error("{0}")]
    Address(String),
    /// The request to the server failed.
    #[error("{0}")]
    Server(#[from] HttpError),
    /// The request to the OCI registry failed.
    #[error("{0}")]
    Registry(#[from] OciError),
    /// The program `git` failed.
    #[error("{0}")]
    Git(String),
    /// The file does not match the checksum in the address.
    #[error("{0}")]
    Checksum(String),
    /// The package is malformed, or unsafe to unpack.
    #[error("{0}")]
    Package(#[from] ArchiveError),
    /// Reading or writing a local file failed.
    #[error("{0}")]
    Disk(#[from] io::Error),
}

/// The origin of an address. It determines whether the address may refer to local files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AddressOrigin {
    /// Local configuration.
    Local,
    /// A server, or configuration that was downloaded.
    Remote,
}

impl AddressOrigin {
    fn check_package_allowed(self, package: &PackageAddr) -> Result<(), FetchError> {
        if self == Self::Local || !package.is_local() {
            return Ok(());
        }
        let address = redact::redact_address(&package.to_string());
        Err(FetchError::Address(format!(
            "{address:?} is a local path, and only local configuration can refer to it; publish the package, or refer to it in the root module"
        )))
    }
}

/// Settings for `git`.
#[derive(Clone, Copy, Debug)]
struct GitSettings {
    /// Whether the environment specifies the SSH program.
    own_ssh: bool,
    /// Maximum size of a repository on disk, in bytes.
    max_size: u64,
}

/// Maximum number of addresses that refer to another address.
const MAX_ADDRESS_HOPS: usize = 10;

/// Downloads packages.
pub(crate) struct Fetcher<'a> {
    /// The client for HTTP requests.
    pub(crate) http: &'a http::Client,
    /// Credentials for servers of packages.
    pub(crate) netrc: Netrc,
    /// Access to OCI registries.
    pub(crate) oci: OciRegistries<'a>,
    /// Whether the environment specifies the SSH program of git.
    pub(crate) own_ssh: bool,
    /// Limits on the content of a package.
    pub(crate) limits: UnpackLimits,
}

impl Fetcher<'_> {
    /// Downloads a package to `into`, which must not exist yet. For a local directory, `into` becomes a
    /// symbolic link, as in Terraform, so that changes in the directory take effect.
    ///
    /// # Errors
    /// The package cannot be fetched, is unsafe, or is not allowed for the origin of the address. The
    /// contents of `into` must then be discarded.
    pub(crate) fn fetch(
        &self,
        package: &PackageAddr,
        into: &Path,
        origin: AddressOrigin,
    ) -> Result<(), FetchError> {
        self.fetch_following_redirects(package, into, origin, 0)
    }

    fn fetch_following_redirects(
        &self,
        package: &PackageAddr,
        into: &Path,
        origin: AddressOrigin,
        hops: usize,
    ) -> Result<(), FetchError> {
        origin.check_package_allowed(package)?;
        let kind = package.fetch_method();
        match kind.as_str() {
            "file" => self.fetch_local(package, into),
            "git" => {
                refuse_checksum_of_non_file(checksum::split_checksum(&package.url)?.1.as_ref())?;
                // The clone contains the packed objects in addition to the checked out files.
                let max_size = self.limits.archive.saturating_add(self.limits.unpacked);
                git::clone_repository(&package.url, into, GitSettings { own_ssh: self.own_ssh, max_size })?;
                directory::check_confined(into, &self.limits)?;
                Ok(())
            }
            "http" | "https" => self.fetch_remote(package, into, origin, hops),
            "oci" => {
                let mut file = tempfile::NamedTempFile::new_in(into.parent().unwrap_or(into))?;
                let (to, limit) = (file.as_file_mut(), self.limits.archive);
                oci::module::download_module(&self.oci, self.http, &package.url, to, limit)?;
                Ok(archive::unpack_archive(file.path(), ArchiveFormat::Zip, into, &self.limits)?)
            }
            "hg" => Err(FetchError::Unsupported("Mercurial repositories are not supported; publish the module in a git repository, or as an archive with an https:// address".to_owned())),
            "s3" => Err(FetchError::Unsupported("objects in S3 are not supported; use the https:// address of the object, presigned if it is not public".to_owned())),
            "gcs" => Err(FetchError::Unsupported("objects in Google Cloud Storage are not supported; use the https:// address of the object, signed if it is not public".to_owned())),
            "ssh" => Err(FetchError::Unsupported(format!("download not supported for scheme 'ssh'; for a git repository, use git::{}", redact::redact_address(&package.url)))),
            _ => Err(FetchError::Unsupported(format!("download not supported for scheme '{kind}'"))),
        }
    }

    fn fetch_local(&self, package: &PackageAddr, into: &Path) -> Result<(), FetchError> {
        let url = package.url.get("file://".len()..).unwrap_or_default();
        let path = Path::new(url.split('?').next().unwrap_or_default());
        let directory = path
            .metadata()
            .map_err(|error| FetchError::Address(format!("{}: {error}", path.display())))?;
        let (url, checksum) = checksum::split_checksum(&package.url)?;
        if directory.is_dir() {
            refuse_checksum_of_non_file(checksum.as_ref())?;
            symlink(path, into)?;
            return Ok(());
        }
        let (url, format) = split_archive_format(&url);
        let Some(format) = format else {
            let reason = format!(
                "{} is neither a directory nor an archive; {}",
                redact::redact_address(&url),
                archive::KNOWN_FORMATS_TEXT
            );
            return Err(FetchError::Address(reason));
        };
        if let Some(checksum) = checksum {
            checksum.verify_file(self.http, &url, path)?;
        }
        Ok(archive::unpack_archive(path, format, into, &self.limits)?)
    }

    fn fetch_remote(
        &self,
        package: &PackageAddr,
        into: &Path,
        origin: AddressOrigin,
        hops: usize,
    ) -> Result<(), FetchError> {
        let (url, checksum) = checksum::split_checksum(&package.url)?;
        if origin == AddressOrigin::Remote {
            checksum.as_ref().map_or(Ok(()), ExpectedChecksum::check_list_is_remote)?;
        }
        let (url, format) = split_archive_format(&url);
        // An address from a remote server must not cause a password to be sent without encryption.
        let may_ask = origin == AddressOrigin::Local || http::is_encrypted_or_local(&url);
        let authorization = self.netrc.authorization(&url).filter(|_| may_ask);
        let authorization = authorization.as_deref();
        if let Some(format) = format {
            let parent = into.parent().unwrap_or(into);
            let mut file = tempfile::NamedTempFile::new_in(parent)?;
            let download = Download { url: &url, authorization, limit: self.limits.archive };
            self.http.download(download, file.as_file_mut())?;
            if let Some(checksum) = checksum {
                checksum.verify_file(self.http, &url, file.path())?;
            }
            return Ok(archive::unpack_archive(file.path(), format, into, &self.limits)?);
        }
        refuse_checksum_of_non_file(checksum.as_ref())?;
        if hops == MAX_ADDRESS_HOPS {
            let reason = format!(
                "more than {MAX_ADDRESS_HOPS} addresses in a row refer only to another address"
            );
            return Err(FetchError::Address(reason));
        }
        let next = package_link::find_package_url(self.http, &url, authorization)?;
        let redirect_target = ModuleSource::parse(&next, false);
        let Ok(ModuleSource::Package(redirect_target, subdir)) = redirect_target else {
            return Err(FetchError::Address(format!(
                "invalid source string: {}",
                redact::redact_address(&next)
            )));
        };
        let next = |into: &Path| {
            self.fetch_following_redirects(&redirect_target, into, AddressOrigin::Remote, hops + 1)
        };
        if subdir.is_empty() {
            return next(into);
        }
        // Only the subdirectory is the package, so files next to it must not be reachable.
        let temp_dir = tempfile::tempdir_in(into.parent().unwrap_or(into))?;
        let package_dir = temp_dir.path().join("package");
        next(&package_dir)?;
        let part = find_single_match(&package_dir, subdir.as_str()).map_err(FetchError::Address)?;
        copy_dir(&part, into, &self.limits, HiddenFiles::Copied)?;
        directory::check_confined(into, &self.limits)?;
        Ok(())
    }
}

/// Rejects a checksum for anything other than a file.
fn refuse_checksum_of_non_file(checksum: Option<&ExpectedChecksum>) -> Result<(), FetchError> {
    match checksum {
        Some(_) => Err(FetchError::Address(
            "a checksum cannot be specified for directory download: only files, such as archives, support checksums"
                .to_owned(),
        )),
        None => Ok(()),
    }
}

/// Removes the `archive` parameter from a URL, and returns the archive format that the parameter or the
/// extension of the path specifies.
fn split_archive_format(url: &str) -> (String, Option<ArchiveFormat>) {
    let (url, format_parameter) = url_parameters::take_parameter(url, "archive");
    let format = match format_parameter.first().map(String::as_str) {
        Some("false") => None,
        Some(format_parameter) => ArchiveFormat::from_name(&format!(".{format_parameter}")),
        None => ArchiveFormat::from_name(url.split('?').next().unwrap_or_default()),
    };
    (url, format)
}
