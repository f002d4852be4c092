//! Puts a package where the other commands look for it, and finds the program in it.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use formwork_core::addr::ProviderAddr;
use formwork_core::version::Version;
use tempfile::TempDir;

use super::mirror::Found;
use super::platform;
use crate::fetch::archive::{self, BadArchive, Format, Limits};

/// Where a package belongs below a folder of packages.
pub(crate) fn place(below: &Path, provider: &ProviderAddr, version: &Version) -> PathBuf {
    below
        .join(provider.host().as_str())
        .join(provider.namespace().as_str())
        .join(provider.kind().as_str())
        .join(version.to_string())
        .join(platform())
}

/// Installs a package: links an unpacked one, unpacks a packed one. What was there is replaced.
///
/// # Errors
/// When something cannot be written, or the archive is not one or is hostile; nothing half done is
/// left at the place.
pub(crate) fn install(found: &Found, place: &Path) -> io::Result<()> {
    let parent = place.parent().unwrap_or(place);
    std::fs::create_dir_all(parent)?;
    match found {
        Found::Unpacked(folder) => {
            let target = folder.canonicalize()?;
            if place.canonicalize().is_ok_and(|there| there == target) {
                return Ok(());
            }
            remove(place)?;
            std::os::unix::fs::symlink(target, place)
        }
        Found::Packed(archive) => {
            let (aside, _mine) = make_room(parent)?;
            let package = aside.path().join("package");
            archive::unpack(archive, Format::Zip, &package, &Limits::PROVIDER)
                .map_err(|error| refused(archive, &error))?;
            make_runnable(&package)?;
            remove(place)?;
            std::fs::rename(package, place)
        }
    }
}

/// What the names of folders begin with in which packages are unpacked.
const ASIDE: &str = ".unpacking-";

/// A folder to unpack in, and the lock that says that somebody does. What runs left that were killed
/// is cleared away: nobody holds their locks.
fn make_room(parent: &Path) -> io::Result<(TempDir, File)> {
    // Held for a moment only, so that nobody takes a folder that is not locked yet for one of those.
    let whole = File::open(parent)?;
    whole.lock()?;
    for entry in std::fs::read_dir(parent)? {
        let entry = entry?;
        let left = entry.file_name().to_str().is_some_and(|name| name.starts_with(ASIDE));
        if left && entry.file_type()?.is_dir() && File::open(entry.path())?.try_lock().is_ok() {
            std::fs::remove_dir_all(entry.path())?;
        }
    }
    let aside = tempfile::Builder::new().prefix(ASIDE).tempdir_in(parent)?;
    let mine = File::open(aside.path())?;
    mine.lock()?;
    Ok((aside, mine))
}

fn remove(place: &Path) -> io::Result<()> {
    match place.symlink_metadata() {
        Ok(file) if file.is_dir() => std::fs::remove_dir_all(place),
        Ok(_) => std::fs::remove_file(place),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

fn refused(archive: &Path, error: &BadArchive) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("{}: {error}", archive.display()))
}

/// Sees to it that programs can be run: archives made elsewhere may not say what can.
fn make_runnable(package: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    for entry in std::fs::read_dir(package)? {
        let entry = entry?;
        let named = entry.file_name().to_str().is_some_and(|name| name.starts_with(PROGRAM));
        if named && entry.file_type()?.is_file() {
            std::fs::set_permissions(entry.path(), std::fs::Permissions::from_mode(0o755))?;
        }
    }
    Ok(())
}

/// What the names of programs begin with.
const PROGRAM: &str = "terraform-provider-";

/// The program of a provider in its package: the first file by name that is called
/// `terraform-provider-TYPE`, alone or with something behind `_` or `.`.
pub(crate) fn program(package: &Path, provider: &ProviderAddr) -> Option<PathBuf> {
    let wanted = format!("{PROGRAM}{}", provider.kind());
    let mut names: Vec<_> = std::fs::read_dir(package)
        .ok()?
        .flatten()
        .filter(|entry| entry.path().is_file())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| {
            name.strip_prefix(&wanted)
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

    fn archive(folder: &Path, names: &[&str]) -> PathBuf {
        let path = folder.join("package.zip");
        let mut archive = zip::ZipWriter::new(File::create(&path).unwrap());
        for name in names {
            archive.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
            archive.write_all(b"#!").unwrap();
        }
        archive.finish().unwrap();
        path
    }

    #[test]
    fn an_archive_is_unpacked_and_its_program_found() {
        let folder = tempfile::tempdir().unwrap();
        let package = archive(folder.path(), &["README", "terraform-provider-thing_v1.0.0_x5"]);
        let place = folder.path().join("installed/here");
        install(&Found::Packed(package), &place).unwrap();
        let program = program(&place, &"acme/thing".parse().unwrap()).unwrap();
        assert!(program.ends_with("terraform-provider-thing_v1.0.0_x5"));
        assert!(super::program(&place, &"acme/thin".parse().unwrap()).is_none());
    }

    #[test]
    fn what_a_killed_run_left_is_cleared_away_and_what_another_one_does_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let left = folder.path().join("installed/.unpacking-left");
        std::fs::create_dir_all(left.join("package")).unwrap();
        let (other, _held) = make_room(&folder.path().join("installed")).unwrap();
        assert!(!left.exists());
        std::fs::create_dir_all(&left).unwrap();
        let package = archive(folder.path(), &["terraform-provider-thing"]);
        install(&Found::Packed(package), &folder.path().join("installed/here")).unwrap();
        assert!(other.path().exists());
        let names = std::fs::read_dir(folder.path().join("installed")).unwrap();
        assert_eq!(names.count(), 2, "the package, and what the other one unpacks");
    }

    #[test]
    fn an_archive_that_climbs_out_of_its_folder_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let package = archive(folder.path(), &["../../evil"]);
        let place = folder.path().join("installed/here");
        let error = install(&Found::Packed(package), &place).unwrap_err();
        assert!(error.to_string().contains("unsafe path"), "{error}");
        assert!(!place.exists() && !folder.path().join("evil").exists());
    }
}
