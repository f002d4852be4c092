//! Puts a package where the other commands look for it, and finds the program in it.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use formwork_core::addr::ProviderAddr;
use formwork_core::disk::{Dir, Scratch};
use formwork_core::version::Version;

use super::mirror::Found;
use super::platform;
use crate::fetch::archive::{self, BadArchive, Format, Limits};

/// Where a package belongs below a folder of packages.
pub(crate) fn place(below: &Path, provider: &ProviderAddr, version: &Version) -> PathBuf {
    parents(provider, version)
        .iter()
        .fold(below.to_owned(), |at, name| at.join(name))
        .join(platform())
}

/// The names of the folders around a package.
fn parents(provider: &ProviderAddr, version: &Version) -> [String; 4] {
    [
        provider.host().to_string(),
        provider.namespace().to_string(),
        provider.kind().to_string(),
        version.to_string(),
    ]
}

/// Installs a package below a folder of packages: links an unpacked one, unpacks a packed one. An
/// existing package is replaced.
///
/// # Errors
/// When something cannot be written, or the archive is not one or is hostile; nothing half done is
/// left at the place.
pub(crate) fn install(
    found: &Found,
    below: Dir,
    (provider, version): (&ProviderAddr, &Version),
) -> io::Result<()> {
    let mut parent = below;
    for name in parents(provider, version) {
        parent = parent.create_subdir(name)?;
    }
    let name = platform();
    match found {
        Found::Unpacked(folder) => {
            let target = folder.canonicalize()?;
            if parent.path().join(&name).canonicalize().is_ok_and(|there| there == target) {
                return Ok(());
            }
            parent.remove(&name)?;
            parent.link(&target, &name)
        }
        Found::Packed(archive) => {
            let (aside, _mine) = make_room(parent)?;
            let package = aside.dir().path().join(PACKAGE);
            archive::unpack(archive, Format::Zip, &package, &Limits::PROVIDER)
                .map_err(|error| refused(archive, &error))?;
            make_runnable(&package)?;
            aside.parent().remove(&name)?;
            aside.dir().rename(PACKAGE, aside.parent(), &name)
        }
    }
}

/// The name of a package while it is unpacked.
const PACKAGE: &str = "package";

/// What the names of folders begin with in which packages are unpacked.
const ASIDE: &str = ".unpacking-";

/// A folder to unpack in, and the lock that says that somebody does. What runs left that were killed
/// is cleared away: nobody holds their locks.
fn make_room(parent: Dir) -> io::Result<(Scratch, File)> {
    // Held for a moment only, so that nobody takes a folder that is not locked yet for one of those.
    let whole = parent.as_file()?;
    whole.lock()?;
    for name in parent.names()? {
        if name.as_encoded_bytes().starts_with(ASIDE.as_bytes()) && parent.is_dir(&name) {
            let left = parent.subdir(&name)?.map(|left| left.as_file()).transpose()?;
            if left.is_some_and(|left| left.try_lock().is_ok()) {
                parent.remove(name)?;
            }
        }
    }
    let aside = parent.scratch(ASIDE)?;
    let mine = aside.dir().as_file()?;
    mine.lock()?;
    Ok((aside, mine))
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

    /// Installs an archive as the package of a provider, and returns its place.
    fn installed(archive: PathBuf, below: &Path) -> (io::Result<()>, PathBuf) {
        let (provider, version) = (provider(), Version::new(1, 0, 0));
        let dir = Dir::create(below).unwrap();
        let result = install(&Found::Packed(archive), dir, (&provider, &version));
        (result, place(below, &provider, &version))
    }

    fn provider() -> ProviderAddr {
        "acme/thing".parse().unwrap()
    }

    #[test]
    fn an_archive_is_unpacked_and_its_program_found() {
        let folder = tempfile::tempdir().unwrap();
        let package = archive(folder.path(), &["README", "terraform-provider-thing_v1.0.0_x5"]);
        let (result, place) = installed(package, &folder.path().join("installed"));
        result.unwrap();
        let program = program(&place, &provider()).unwrap();
        assert!(program.ends_with("terraform-provider-thing_v1.0.0_x5"));
        assert!(super::program(&place, &"acme/thin".parse().unwrap()).is_none());
    }

    #[test]
    fn what_a_killed_run_left_is_cleared_away_and_what_another_one_does_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let below = folder.path().join("installed");
        let around = place(&below, &provider(), &Version::new(1, 0, 0)).with_file_name("");
        let left = around.join(".unpacking-left");
        std::fs::create_dir_all(left.join("package")).unwrap();
        let (other, _held) = make_room(Dir::open(&around).unwrap()).unwrap();
        assert!(!left.exists());
        std::fs::create_dir_all(&left).unwrap();
        let package = archive(folder.path(), &["terraform-provider-thing"]);
        installed(package, &below).0.unwrap();
        assert!(other.dir().path().exists());
        let names = std::fs::read_dir(around).unwrap();
        assert_eq!(names.count(), 2, "the package, and what the other one unpacks");
    }

    #[test]
    fn a_planted_link_above_a_package_is_not_followed_and_one_in_its_place_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let (below, victim) = (folder.path().join("installed"), folder.path().join("victim"));
        std::fs::create_dir(&victim).unwrap();
        let package = archive(folder.path(), &["terraform-provider-thing"]);
        let place = place(&below, &provider(), &Version::new(1, 0, 0));
        for planted in place.ancestors().take(5) {
            std::fs::create_dir_all(planted.parent().unwrap()).unwrap();
            std::os::unix::fs::symlink(&victim, planted).unwrap();
            let result = installed(package.clone(), &below).0.map_err(|error| error.to_string());
            assert_eq!(std::fs::read_dir(&victim).unwrap().count(), 0, "{}", planted.display());
            match result {
                Ok(()) => assert!(planted == place && !place.is_symlink()),
                Err(why) => assert!(why.contains("is a symbolic link to"), "{why}"),
            }
            std::fs::remove_dir_all(&below).unwrap();
        }
    }

    #[test]
    fn an_archive_that_climbs_out_of_its_folder_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let package = archive(folder.path(), &["../../evil"]);
        let (result, place) = installed(package, &folder.path().join("installed"));
        let error = result.unwrap_err();
        assert!(error.to_string().contains("unsafe path"), "{error}");
        assert!(!place.exists() && !folder.path().join("evil").exists());
    }
}
