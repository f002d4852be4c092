//! Installation of a package in the directory that other commands use, and lookup of its program.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use formwork_core::addr::ProviderAddr;
use formwork_core::disk::{Dir, TempDir, open_file, set_mode};
use formwork_core::version::Version;

use super::hash;
use crate::fetch::archive::{self, ArchiveFormat};
use crate::fetch::unpack_limits::{ArchiveError, UnpackLimits};
use crate::platform::Platform;

/// Returns the directory of a package below a package directory.
pub(crate) fn package_dir(
    packages_dir: &Path,
    provider: &ProviderAddr,
    version: &Version,
) -> PathBuf {
    package_dir_any_platform(packages_dir, provider, version, &Platform::current())
}

/// As [`package_dir`], for any platform.
pub(crate) fn package_dir_any_platform(
    packages_dir: &Path,
    provider: &ProviderAddr,
    version: &Version,
    platform: &Platform,
) -> PathBuf {
    package_parent_dir_names(provider, version)
        .iter()
        .fold(packages_dir.to_owned(), |path, name| path.join(name))
        .join(platform.to_string())
}

/// Returns the names of the parent directories of a package.
fn package_parent_dir_names(provider: &ProviderAddr, version: &Version) -> [String; 4] {
    [
        provider.host().to_string(),
        provider.namespace().to_string(),
        provider.provider_type().to_string(),
        version.to_string(),
    ]
}

/// The contents of a package.
#[derive(Debug)]
pub(crate) enum PackageContent {
    /// A directory, for which a link is created.
    Directory(PathBuf),
    /// An archive, which is unpacked.
    Archive(File),
}

/// The reason why a package cannot be installed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BadPackage {
    /// The package does not contain the program of the provider.
    #[error("the package contains no program called terraform-provider-{0}")]
    NoProgram(String),
    /// The package does not match the lock.
    #[error("{0}")]
    Mismatch(String),
    /// The archive is malformed or unsafe.
    #[error("{0}")]
    Archive(#[from] ArchiveError),
    /// Reading or writing a local file failed.
    #[error("{0}")]
    Disk(#[from] io::Error),
}

/// The provider and version of a package.
#[derive(Clone, Copy)]
pub(crate) struct PackageId<'a> {
    pub(crate) provider: &'a ProviderAddr,
    pub(crate) version: &'a Version,
}

/// Installs a package below a package directory, and returns its `h1:` hash. If `allowed` is given, it must
/// contain the hash. If the same package is already installed, nothing is changed. A different package is
/// replaced.
///
/// # Errors
/// The package is not allowed, malformed or unsafe, or a file cannot be written. The directory is then
/// unchanged.
pub(crate) fn install_package(
    content: &PackageContent,
    packages_dir: Dir,
    id: PackageId<'_>,
    allowed: Option<&BTreeSet<String>>,
) -> Result<String, BadPackage> {
    let PackageId { provider, version } = id;
    let mut parent = packages_dir;
    for name in package_parent_dir_names(provider, version) {
        parent = parent.open_or_create_subdir(name)?;
    }
    let name = Platform::current().to_string();
    let check = |package: &Path| -> Result<String, BadPackage> {
        let missing_program = || BadPackage::NoProgram(provider.provider_type().to_string());
        find_program(package, provider).ok_or_else(missing_program)?;
        let hash = hash::hash_dir(package)?;
        if allowed.is_some_and(|allowed| !allowed.contains(&hash)) {
            return Err(BadPackage::Mismatch(locked_hash_mismatch_message(provider, version)));
        }
        Ok(hash)
    };
    match content {
        PackageContent::Directory(directory) => {
            let target = directory.canonicalize()?;
            let hash = check(&target)?;
            let parent_file = parent.as_file()?;
            parent_file.lock()?;
            if parent.path().join(&name).canonicalize().is_ok_and(|resolved| resolved == target) {
                return Ok(hash);
            }
            parent.remove(&name)?;
            parent.symlink(&target, &name)?;
            Ok(hash)
        }
        PackageContent::Archive(archive) => {
            let (unpack_dir, _mine) = create_unpack_dir(parent)?;
            let package = unpack_dir.dir().path().join(UNPACKED_PACKAGE_NAME);
            archive::unpack_open_archive(
                archive.try_clone()?,
                ArchiveFormat::Zip,
                &package,
                &UnpackLimits::PROVIDER,
            )?;
            make_runnable(&package)?;
            let hash = check(&package)?;
            // The lock is held until the package is complete, so that no other process finds part of it.
            // An identical package is not replaced, because its program may be running.
            let parent_file = unpack_dir.parent().as_file()?;
            parent_file.lock()?;
            let path_in_unpack_dir = unpack_dir.parent().path().join(&name);
            let is_there = unpack_dir.parent().is_dir(&name)
                && hash::hash_dir(&path_in_unpack_dir).is_ok_and(|resolved| resolved == hash);
            if !is_there {
                unpack_dir.parent().remove(&name)?;
                unpack_dir.dir().rename(UNPACKED_PACKAGE_NAME, unpack_dir.parent(), &name)?;
            }
            Ok(hash)
        }
    }
}

/// Returns the message for a package that does not match the lock.
pub(crate) fn locked_hash_mismatch_message(addr: &ProviderAddr, version: &Version) -> String {
    format!(
        "the package of {addr} {version} doesn't match any of the checksums previously recorded in the dependency lock file"
    )
}

/// The name of a package during extraction.
const UNPACKED_PACKAGE_NAME: &str = "package";

/// Prefix of the names of directories in which packages are extracted.
const UNPACKING_PREFIX: &str = ".unpacking-";

/// Creates a directory for extraction, and the lock that shows that it is in use. Directories of killed
/// processes are deleted: no process holds their locks.
fn create_unpack_dir(parent: Dir) -> io::Result<(TempDir, File)> {
    // The lock is held briefly, so that no other process deletes a directory that is not locked yet.
    let parent_lock = parent.as_file()?;
    parent_lock.lock()?;
    for name in parent.entry_names()? {
        if name.as_encoded_bytes().starts_with(UNPACKING_PREFIX.as_bytes()) && parent.is_dir(&name)
        {
            let leftover = parent.subdir(&name)?.map(|leftover| leftover.as_file()).transpose()?;
            if leftover.is_some_and(|leftover| leftover.try_lock().is_ok()) {
                parent.remove(name)?;
            }
        }
    }
    let unpack_dir = parent.create_temp_dir(UNPACKING_PREFIX)?;
    let own_lock = unpack_dir.dir().as_file()?;
    own_lock.lock()?;
    Ok((unpack_dir, own_lock))
}

/// Sets the executable bits of programs, which archives from other systems may lack.
fn make_runnable(package: &Path) -> io::Result<()> {
    for entry in std::fs::read_dir(package)? {
        let entry = entry?;
        let is_program =
            entry.file_name().to_str().is_some_and(|name| name.starts_with(PROGRAM_PREFIX));
        if is_program && entry.file_type()?.is_file() {
            set_mode(&open_file(&entry.path())?, 0o755)?;
        }
    }
    Ok(())
}

/// Prefix of the names of programs.
const PROGRAM_PREFIX: &str = "terraform-provider-";

/// Finds the program of a provider in its package: the first file by name that is called
/// `terraform-provider-TYPE`, with an optional suffix after `_` or `.`.
pub(crate) fn find_program(package: &Path, provider: &ProviderAddr) -> Option<PathBuf> {
    let file_name_start = format!("{PROGRAM_PREFIX}{}", provider.provider_type());
    let mut names: Vec<_> = std::fs::read_dir(package)
        .ok()?
        .flatten()
        .filter(|entry| entry.path().is_file())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| {
            name.strip_prefix(&file_name_start)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(['_', '.']))
        })
        .collect();
    names.sort();
    Some(package.join(names.into_iter().next()?))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn archive(directory: &Path, names: &[&str]) -> PathBuf {
        let path = directory.join("package.zip");
        let mut archive = zip::ZipWriter::new(File::create(&path).unwrap());
        for name in names {
            archive.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
            archive.write_all(b"#!").unwrap();
        }
        archive.finish().unwrap();
        path
    }

    /// Installs an archive as the package of a provider, and returns its place.
    fn install_archive(
        archive: PathBuf,
        packages_dir: &Path,
    ) -> (Result<String, BadPackage>, PathBuf) {
        let (provider, version) = (provider(), Version::new(1, 0, 0));
        let dir = Dir::open_or_create(packages_dir).unwrap();
        let content = PackageContent::Archive(File::open(archive).unwrap());
        let result = install_package(
            &content,
            dir,
            PackageId { provider: &provider, version: &version },
            None,
        );
        (result, package_dir(packages_dir, &provider, &version))
    }

    fn provider() -> ProviderAddr {
        "acme/thing".parse().unwrap()
    }

    #[test]
    fn an_archive_is_unpacked_and_its_program_found() {
        let directory = tempfile::tempdir().unwrap();
        let package = archive(directory.path(), &["README", "terraform-provider-thing_v1.0.0_x5"]);
        let (result, program_path) = install_archive(package, &directory.path().join("installed"));
        result.unwrap();
        let program = find_program(&program_path, &provider()).unwrap();
        assert!(program.ends_with("terraform-provider-thing_v1.0.0_x5"));
        assert!(find_program(&program_path, &"acme/thin".parse().unwrap()).is_none());
    }

    #[test]
    fn leftovers_of_a_killed_run_are_removed_and_those_of_a_running_one_are_kept() {
        let directory = tempfile::tempdir().unwrap();
        let packages_dir = directory.path().join("installed");
        let package_parent =
            package_dir(&packages_dir, &provider(), &Version::new(1, 0, 0)).with_file_name("");
        let leftover = package_parent.join(".unpacking-left");
        std::fs::create_dir_all(leftover.join("package")).unwrap();
        let (running, _held) = create_unpack_dir(Dir::open(&package_parent).unwrap()).unwrap();
        assert!(!leftover.exists());
        std::fs::create_dir_all(&leftover).unwrap();
        let package = archive(directory.path(), &["terraform-provider-thing"]);
        install_archive(package, &packages_dir).0.unwrap();
        assert!(running.dir().path().exists());
        let names = std::fs::read_dir(package_parent).unwrap();
        assert_eq!(names.count(), 2, "the package, and what the other one unpacks");
    }

    #[test]
    fn links_in_the_path_of_a_package_are_not_followed_and_its_own_is_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let (packages_dir, victim) =
            (directory.path().join("installed"), directory.path().join("victim"));
        std::fs::create_dir(&victim).unwrap();
        let package = archive(directory.path(), &["terraform-provider-thing"]);
        let target = package_dir(&packages_dir, &provider(), &Version::new(1, 0, 0));
        for planted in target.ancestors().take(5) {
            std::fs::create_dir_all(planted.parent().unwrap()).unwrap();
            std::os::unix::fs::symlink(&victim, planted).unwrap();
            let result = install_archive(package.clone(), &packages_dir)
                .0
                .map_err(|error| error.to_string());
            assert_eq!(std::fs::read_dir(&victim).unwrap().count(), 0, "{}", planted.display());
            match result {
                Ok(_) => assert!(planted == target && !target.is_symlink()),
                Err(reason) => assert!(reason.contains("is a symbolic link to"), "{reason}"),
            }
            std::fs::remove_dir_all(&packages_dir).unwrap();
        }
    }

    #[test]
    fn an_archive_with_paths_outside_its_directory_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let package = archive(directory.path(), &["../../evil"]);
        let (result, target) = install_archive(package, &directory.path().join("installed"));
        let error = result.unwrap_err();
        assert!(error.to_string().contains("unsafe path"), "{error}");
        assert!(!target.exists() && !directory.path().join("evil").exists());
    }
}
