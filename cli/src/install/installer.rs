//! Installation of one provider: selects a version, downloads and verifies its package, and returns the
//! lock.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Seek as _;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use formwork_core::addr::ProviderAddr;
use formwork_core::disk::{Dir, open_file};
use formwork_core::version::{Version, VersionConstraints};

use super::event::{InstallEvent, ReplacedPackage};
use super::hash;
use super::install_failure::InstallFailure;
use super::lockfile::{ProviderLock, is_supported_hash};
use super::package::{self, BadPackage, PackageContent, PackageId};
use super::providers::ProviderDirs;
use super::signature::PackageTrust;
use super::source::{
    OciBlob, PackageEvidence, PackageLocation, PackageSource, ServerAccess, SourceError,
    SourceSearch,
};
use crate::fetch::http::Download;
use crate::fetch::oci::{OciError, wrong_blob_error};
use crate::fetch::unpack_limits::UnpackLimits;
use crate::platform::Platform;

/// A provider to install.
pub(crate) struct InstallJob {
    pub(crate) addr: ProviderAddr,
    pub(crate) constraints: VersionConstraints,
    /// The lock before the installation.
    pub(crate) old: Option<ProviderLock>,
    pub(crate) progress: DownloadProgress,
}

/// The progress of a download.
#[derive(Debug, Default)]
pub(crate) struct DownloadProgress {
    pub(crate) received: AtomicU64,
    /// The total number of bytes, or 0 if it is not known.
    pub(crate) total: AtomicU64,
}

/// An installed provider.
#[derive(Debug)]
pub(crate) struct InstalledProvider {
    pub(crate) lock: ProviderLock,
    /// Warnings of the registry for the user.
    pub(crate) warnings: Vec<String>,
    /// Whether a package was downloaded whose checksums are signed by a key other than HashiCorp's.
    pub(crate) third_party: bool,
    /// Whether the lock contains only the hash for the current platform.
    pub(crate) incomplete: bool,
}

/// A downloaded package that matches the checksums of its source.
pub(crate) struct FetchedPackage {
    pub(crate) content: PackageContent,
    /// The hash of the archive, if the package is an archive.
    pub(crate) zh: Option<String>,
    pub(crate) trust: PackageTrust,
    /// The hashes of all packages of the release, if they are signed.
    pub(crate) signed: Vec<String>,
    /// The hash under which the source stores the archive, if any.
    digest: Option<String>,
}

/// The hashes of a lock, in addition to that of the installed package.
#[derive(Default)]
struct LockHashes<'a> {
    /// The hashes in the previous lock.
    prior: BTreeSet<String>,
    /// The hashes of all packages of the release, if they are signed.
    signed: &'a [String],
    /// The hash under which the source stores the archive.
    digest: Option<&'a String>,
}

/// Installs providers.
pub(crate) struct Installer<'a> {
    pub(crate) provider_dirs: &'a ProviderDirs<'a>,
    pub(crate) servers: &'a ServerAccess<'a>,
    /// All sources.
    pub(crate) search: SourceSearch<'a>,
    /// All sources except registries.
    pub(crate) mirrors: SourceSearch<'a>,
    pub(crate) upgrade: bool,
}

impl Installer<'_> {
    /// Installs a provider. Concurrent calls for several providers are safe.
    pub(crate) fn install(
        &self,
        job: &InstallJob,
        emit: &dyn Fn(InstallEvent),
    ) -> Result<InstalledProvider, InstallFailure> {
        let locked = job.old.as_ref().filter(|_| !self.upgrade);
        if let Some(lock) = locked {
            if !job.constraints.allows_version(&lock.version) {
                emit(InstallEvent::Reusing);
                return Err(InstallFailure::LockConflict(lock.version.clone()));
            }
            // An installed package that matches its lock needs no source.
            if self.provider_dirs.is_installed(&job.addr, lock) {
                emit(InstallEvent::Reusing);
                emit(InstallEvent::AlreadyInstalled(lock.version.clone()));
                return Ok(installed_as_locked(lock));
            }
        }
        let shipped = self.provider_dirs.shipped_program(&job.addr).map(|(version, _)| version);
        let suits = |version: &Version| match locked {
            Some(lock) => *version == lock.version,
            None => job.constraints.allows_version(version),
        };
        let shipped = shipped.filter(|version| suits(version));
        let unlocked = job.old.as_ref().is_none_or(|lock| shipped.as_ref() == Some(&lock.version));
        if let Some(version) = shipped.as_ref().filter(|_| unlocked) {
            // Mirrors that the user configured take precedence, so no request goes to a registry.
            let mirrored = self.mirrors.versions(&job.addr).ok();
            if !mirrored.is_some_and(|listing| listing.versions.iter().any(suits)) {
                return Ok(use_shipped_provider(job, version, emit));
            }
            return self.select_and_install_version(job, &self.mirrors, emit);
        }
        match (self.select_and_install_version(job, &self.search, emit), shipped) {
            // Without network access, the included provider is the only option.
            (Err(InstallFailure::Query(error)), Some(version))
                if matches!(*error, SourceError::Unreachable { .. }) =>
            {
                Ok(use_shipped_provider(job, &version, emit))
            }
            (selected, _) => selected,
        }
    }

    fn select_and_install_version(
        &self,
        job: &InstallJob,
        search: &SourceSearch<'_>,
        emit: &dyn Fn(InstallEvent),
    ) -> Result<InstalledProvider, InstallFailure> {
        let locked = job.old.as_ref().filter(|_| !self.upgrade);
        emit(match locked {
            Some(_) => InstallEvent::Reusing,
            None => InstallEvent::Finding(job.constraints.clone()),
        });
        let listing =
            search.versions(&job.addr).map_err(|error| InstallFailure::Query(Box::new(error)))?;
        let suits = |version: &&Version| match locked {
            Some(lock) => **version == lock.version,
            None => job.constraints.allows_version(version),
        };
        let Some(version) = listing.versions.iter().rev().find(suits) else {
            return Err(match locked {
                Some(lock) => InstallFailure::PackageGone(lock.version.clone()),
                None => InstallFailure::NoMatch(listing.versions),
            });
        };
        let installed = self.install_version(job, search, version, emit)?;
        Ok(InstalledProvider { warnings: listing.warnings, ..installed })
    }

    fn install_version(
        &self,
        job: &InstallJob,
        search: &SourceSearch<'_>,
        version: &Version,
        emit: &dyn Fn(InstallEvent),
    ) -> Result<InstalledProvider, InstallFailure> {
        let old = job.old.as_ref().filter(|lock| lock.version == *version);
        if let Some(lock) = old.filter(|lock| self.provider_dirs.is_installed(&job.addr, lock)) {
            emit(InstallEvent::AlreadyInstalled(version.clone()));
            return Ok(installed_as_locked(lock));
        }
        let prior = old.map(ProviderLock::supported_hashes).unwrap_or_default();
        let failed =
            |error: BadPackage| InstallFailure::Install(version.clone(), error.to_string());
        if let Some(cached) = self.provider_dirs.cached_package(&job.addr, version, &prior) {
            emit(InstallEvent::Cached(version.clone()));
            let (id, content) =
                (PackageId { provider: &job.addr, version }, PackageContent::Directory(cached));
            let packages_dir =
                self.provider_dirs.packages_dir().map_err(|error| failed(error.into()))?;
            let hash = package::install_package(&content, packages_dir, id, None)
                .map_err(|error| InstallFailure::Cache(version.clone(), error.to_string()))?;
            let hashes = LockHashes { prior, ..LockHashes::default() };
            return Ok(newly_locked_provider(job, version, hash, hashes, false));
        }
        let package = search
            .package(&job.addr, version, &Platform::current())
            .map_err(|error| InstallFailure::Fetch(version.clone(), Box::new(error)))?;
        emit(InstallEvent::Installing(version.clone()));
        let fetched = fetch_package(self.servers, package, &job.progress)
            .map_err(|reason| InstallFailure::Install(version.clone(), reason))?;
        let hash = self.place_package(job, version, &fetched, &prior).map_err(failed)?;
        emit(InstallEvent::Installed(version.clone(), fetched.trust.clone()));
        let third_party = fetched.trust.key_id().is_some();
        let digest = fetched.digest.as_ref();
        let hashes = LockHashes { prior, signed: &fetched.signed, digest };
        Ok(newly_locked_provider(job, version, hash, hashes, third_party))
    }

    /// Installs a package, through the shared cache if one is configured.
    fn place_package(
        &self,
        job: &InstallJob,
        version: &Version,
        fetched: &FetchedPackage,
        prior: &BTreeSet<String>,
    ) -> Result<String, BadPackage> {
        let id = PackageId { provider: &job.addr, version };
        // An archive is compared by either hash, a directory only by its `h1:` hash.
        let allowed = match &fetched.zh {
            Some(zh) if prior.contains(zh) => None,
            Some(_) => Some(prior).filter(|prior| !prior.is_empty()),
            None => Some(prior).filter(|prior| prior.iter().any(|hash| hash.starts_with("h1:"))),
        };
        let cache = self.provider_dirs.settings.plugin_cache_dir.as_ref();
        match cache.filter(|_| fetched.zh.is_some()) {
            Some(cache) => {
                // The user configured the cache directory, which may be a link.
                package::install_package(
                    &fetched.content,
                    Dir::open_or_create(cache)?,
                    id,
                    allowed,
                )?;
                let shared =
                    PackageContent::Directory(package::package_dir(cache, &job.addr, version));
                package::install_package(&shared, self.provider_dirs.packages_dir()?, id, None)
            }
            None => package::install_package(
                &fetched.content,
                self.provider_dirs.packages_dir()?,
                id,
                allowed,
            ),
        }
    }
}

/// Returns the result for a provider whose lock entry does not change.
fn installed_as_locked(lock: &ProviderLock) -> InstalledProvider {
    InstalledProvider {
        lock: lock.clone(),
        warnings: Vec::new(),
        third_party: false,
        incomplete: false,
    }
}

fn newly_locked_provider(
    job: &InstallJob,
    version: &Version,
    hash: String,
    hashes: LockHashes<'_>,
    third_party: bool,
) -> InstalledProvider {
    let LockHashes { prior, signed, digest } = hashes;
    let mut local = BTreeSet::from([hash]);
    local.extend(digest.cloned());
    let is_new = prior.is_empty() || prior == local;
    let incomplete = signed.is_empty() && is_new;
    let hashes = prior.into_iter().chain(signed.iter().cloned()).chain(local).collect();
    let lock =
        ProviderLock { version: version.clone(), constraints: job.constraints.clone(), hashes };
    InstalledProvider { lock, warnings: Vec::new(), third_party, incomplete }
}

/// Uses the included provider.
fn use_shipped_provider(
    job: &InstallJob,
    version: &Version,
    emit: &dyn Fn(InstallEvent),
) -> InstalledProvider {
    let same = job.old.as_ref().filter(|lock| lock.version == *version);
    let instead = match &job.old {
        None => ReplacedPackage::Nothing,
        Some(lock) if lock.version != *version => ReplacedPackage::Version(lock.version.clone()),
        Some(lock) if lock.hashes.is_empty() => ReplacedPackage::Nothing,
        Some(_) => ReplacedPackage::LockedPackage,
    };
    emit(InstallEvent::Shipped(version.clone(), instead));
    let new_lock = || ProviderLock {
        version: version.clone(),
        constraints: job.constraints.clone(),
        hashes: BTreeSet::new(),
    };
    installed_as_locked(&same.cloned().unwrap_or_else(new_lock))
}

/// Downloads a package, and verifies it with the checksums of its source.
///
/// # Errors
/// The download fails, or the package does not match the checksums.
pub(crate) fn fetch_package(
    servers: &ServerAccess<'_>,
    package: PackageSource,
    progress: &DownloadProgress,
) -> Result<FetchedPackage, String> {
    let (content, zh) = match package.location {
        PackageLocation::Directory(directory) => (PackageContent::Directory(directory), None),
        PackageLocation::Archive(path) => {
            let (file, zh) =
                open_archive(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            (PackageContent::Archive(file), Some(zh))
        }
        PackageLocation::Url(url) => {
            let (file, zh) = download_archive(servers, &url, progress)?;
            (PackageContent::Archive(file), Some(zh))
        }
        PackageLocation::Blob(blob) => {
            let (file, zh) = download_blob(servers, &blob, progress)?;
            (PackageContent::Archive(file), Some(zh))
        }
    };
    let mut digest = None;
    let (trust, signed) = match package.evidence {
        PackageEvidence::None => (PackageTrust::Unauthenticated, Vec::new()),
        PackageEvidence::Digest(hash) => {
            if zh.as_ref() != Some(&hash) {
                let actual_zh = zh.unwrap_or_default();
                return Err(format!(
                    "archive has incorrect checksum {actual_zh} (expected {hash})"
                ));
            }
            digest = Some(hash);
            (PackageTrust::VerifiedChecksum, Vec::new())
        }
        PackageEvidence::Hashes(hashes) => {
            verify_hashes(&content, zh.as_deref(), &hashes)?;
            (PackageTrust::VerifiedChecksum, Vec::new())
        }
        PackageEvidence::Signed { hash, release_hashes, trust } => {
            if zh.as_ref() != Some(&hash) {
                let actual_zh = zh.unwrap_or_default();
                return Err(format!(
                    "archive has incorrect checksum {actual_zh} (expected {hash})"
                ));
            }
            (trust, release_hashes)
        }
    };
    Ok(FetchedPackage { content, zh, trust, signed, digest })
}

fn open_archive(path: &Path) -> std::io::Result<(File, String)> {
    let mut file = open_file(path)?;
    let zh = hash::zh_hash_of_archive(&mut file)?;
    Ok((file, zh))
}

/// Creates an unnamed temporary file for a download, which the system deletes in any case.
fn create_download_file() -> Result<File, String> {
    tempfile::tempfile()
        .map_err(|error| format!("failed to open temporary file to download: {error}"))
}

/// Downloads an archive.
fn download_archive(
    servers: &ServerAccess<'_>,
    url: &str,
    progress: &DownloadProgress,
) -> Result<(File, String), String> {
    let mut file = create_download_file()?;
    let mut hashing = hash::HashingWriter::new(&mut file, &progress.received);
    let authorization = servers.netrc.authorization(url);
    let sized = |size: Option<u64>| {
        progress.total.store(size.unwrap_or(0), Ordering::Relaxed);
    };
    let limit = UnpackLimits::PROVIDER.archive;
    let archive = Download { url, authorization: authorization.as_deref(), limit };
    servers
        .http
        .download_with_length(archive, sized, &mut hashing)
        .map_err(|error| error.to_string())?;
    let zh = hashing.finish();
    Ok((file, zh))
}

/// Downloads an archive from an OCI registry.
fn download_blob(
    servers: &ServerAccess<'_>,
    blob: &OciBlob,
    progress: &DownloadProgress,
) -> Result<(File, String), String> {
    let OciBlob { repository, descriptor } = blob;
    let limit = UnpackLimits::PROVIDER.archive;
    if descriptor.size > limit {
        return Err(format!(
            "the package in {repository} has {} bytes, but the limit is {limit} bytes",
            descriptor.size
        ));
    }
    let mut file = create_download_file()?;
    let mut hashing = hash::HashingWriter::new(&mut file, &progress.received);
    let sized = |size: u64| progress.total.store(size, Ordering::Relaxed);
    let with_repository = |error: OciError| format!("{repository}: {error}");
    servers
        .oci
        .repository(&servers.http, repository)
        .fetch_blob(descriptor, sized, &mut hashing)
        .map_err(with_repository)?;
    let zh = hashing.finish();
    let digest = descriptor.digest().map_err(with_repository)?;
    if zh.strip_prefix("zh:") != digest.sha256_digits() {
        return Err(with_repository(wrong_blob_error(&digest)));
    }
    Ok((file, zh))
}

/// Verifies a package with the hashes from a mirror.
fn verify_hashes(
    content: &PackageContent,
    zh: Option<&str>,
    hashes: &[String],
) -> Result<(), String> {
    let supported: Vec<&String> = hashes.iter().filter(|hash| is_supported_hash(hash)).collect();
    if supported.is_empty() {
        return Err("none of the checksums of this provider has a supported format".to_owned());
    }
    let is_among = |hash_of_package: &str| supported.iter().any(|hash| *hash == hash_of_package);
    let matches = || -> std::io::Result<bool> {
        match content {
            PackageContent::Directory(directory) => Ok(is_among(&hash::hash_dir(directory)?)),
            PackageContent::Archive(archive) => {
                let mut archive = archive;
                archive.rewind()?;
                Ok(zh.is_some_and(is_among) || is_among(&hash::h1_hash_of_archive(archive)?))
            }
        }
    };
    let failed = |error| format!("failed to verify provider package checksums: {error}");
    match (matches().map_err(failed)?, &supported[..]) {
        (true, _) => Ok(()),
        (false, [hash]) => {
            Err(format!("provider package doesn't match the expected checksum {hash:?}"))
        }
        (false, _) => {
            Err("provider package doesn't match the any of the expected checksums".to_owned())
        }
    }
}
