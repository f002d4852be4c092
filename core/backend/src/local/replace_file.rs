//! Replaces the content of a file so that every reader finds the old or the new content, even after
//! a crash at any moment. [`Durability`] specifies which crashes are covered.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Seek as _};
use std::path::{Path, PathBuf};

use formwork_core::disk::locks::{LockedFile, lock};
use formwork_core::disk::{
    Durability, FileAccess, FileOptions as _, is_device, is_replace_refused_error,
    reserve_disk_space,
};

use super::lock::is_file_at_path;
use super::{is_device_or_pipe, store_error};
use crate::store::{StoreError, StoreOperation};

/// Writes a string in chunks of a suitable size.
pub(super) type WriteContent<'t> = &'t dyn Fn(&mut dyn io::Write) -> io::Result<()>;

/// The suffix of a file that is written next to another one before it replaces it.
const NEXT_SUFFIX: &str = ".next";

/// The disk. In tests it can fail.
#[derive(Clone, Debug, Default)]
pub(super) struct DiskOperations {
    durability: Durability,
    #[cfg(test)]
    pub(super) fail_at: std::sync::Arc<std::sync::Mutex<Option<usize>>>,
}

impl DiskOperations {
    /// The disk, for files that have to survive the failures that `durability` specifies.
    pub(super) fn new(durability: Durability) -> Self {
        Self {
            durability,
            #[cfg(test)]
            fail_at: std::sync::Arc::default(),
        }
    }

    /// Called before every disk operation.
    #[cfg(not(test))]
    fn check_injected_fault(&self) -> io::Result<()> {
        Ok(())
    }

    #[cfg(test)]
    fn check_injected_fault(&self) -> io::Result<()> {
        match self.fail_at.lock().unwrap().as_mut() {
            Some(0) => Err(io::ErrorKind::StorageFull.into()),
            Some(n_left) => {
                *n_left -= 1;
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Creates a file next to another one. Only its owner may read it until the permissions of
    /// `access` are set.
    fn create_next_file(
        &self,
        path: &Path,
        access: Option<FileAccess>,
    ) -> io::Result<(PathBuf, File)> {
        self.check_injected_fault()?;
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true).owner_only();
        // A killed run may leave a file with this name. If it belongs to another user of a shared
        // directory, it cannot be deleted, and must not prevent the state from being stored.
        let mut last_error = io::ErrorKind::AlreadyExists.into();
        for next_path in temporary_paths_beside(path) {
            match std::fs::remove_file(&next_path)
                .or_else(ignore_not_found)
                .and_then(|()| options.open(&next_path))
            {
                Ok(file) => {
                    access.map_or(Ok(()), |access| access.apply_to_file(&file))?;
                    return Ok((next_path, file));
                }
                Err(error) => last_error = error,
            }
            if std::fs::symlink_metadata(&next_path).is_err() {
                // The directory accepts no new file, whatever its name.
                break;
            }
        }
        Err(last_error)
    }

    fn write_content(&self, mut file: &File, text: WriteContent<'_>) -> io::Result<()> {
        self.check_injected_fault()?;
        text(&mut file)?;
        self.check_injected_fault()?;
        self.durability.sync_file(file)
    }

    fn overwrite(&self, mut file: &File, mut content: &File) -> io::Result<()> {
        self.check_injected_fault()?;
        // Space is allocated before a byte is changed.
        reserve_disk_space(file, 0..content.metadata()?.len())?;
        file.rewind()?;
        content.rewind()?;
        let length = io::copy(&mut content, &mut file)?;
        self.check_injected_fault()?;
        // The old content may have been longer.
        file.set_len(length)?;
        self.check_injected_fault()?;
        self.durability.sync_file(file)
    }

    fn link(&self, source: &Path, destination: &Path) -> io::Result<()> {
        self.check_injected_fault()?;
        std::fs::remove_file(destination).or_else(ignore_not_found)?;
        std::fs::hard_link(source, destination)
    }

    fn rename(&self, source: &Path, destination: &Path) -> io::Result<()> {
        self.check_injected_fault()?;
        std::fs::rename(source, destination)
    }

    /// Makes the entries in the directory of a file durable.
    fn sync_parent_dir(&self, path: &Path) -> io::Result<()> {
        self.check_injected_fault()?;
        let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty());
        self.durability.sync_dir(directory.unwrap_or(Path::new(".")))
    }
}

/// The content was replaced.
pub(super) struct ReplacedFile {
    /// The file that is now at the path, already locked, if it is not the previous one.
    pub(super) file: Option<LockedFile>,
    /// Whether the change survives a power failure, if it has to.
    pub(super) durable: io::Result<()>,
}

/// Replaces the content of the state file at `path`, of which `original` is the locked file. If this
/// fails, the old content is preserved.
///
/// A program that waits for the lock has already opened `original` and will use *that* file, so
/// renaming only would let it read the old state and write into an unlinked file. Hence `original`
/// also gets the new content and is moved back, while a complete file temporarily replaces it.
pub(super) fn replace_file(
    disk: &DiskOperations,
    path: &Path,
    text: WriteContent<'_>,
    original: Option<&File>,
) -> Result<ReplacedFile, StoreError> {
    let write_failed = |error| store_error(StoreOperation::Write, path)(error);
    // Renaming over a symbolic link would replace the link instead of the file.
    let path = path.canonicalize().unwrap_or_else(|_| follow_links(path));
    let previous = sibling_path(&path, ".previous");

    let access = path.metadata().ok().map(|metadata| FileAccess::of(&metadata));
    let (next_path, stand_in) = disk.create_next_file(&path, access).map_err(write_failed)?;
    let placed = lock(stand_in).and_then(|stand_in| {
        disk.write_content(&stand_in, text)?;
        let linked = original.is_some_and(|original| {
            // Only this file may be moved back: another one would bring back its old content.
            disk.link(&path, &previous).is_ok()
                && is_file_at_path(original, &previous).unwrap_or(false)
        });
        // The content is already on the disk, so the name never refers to partial content.
        match disk.rename(&next_path, &path) {
            Err(error) if is_replace_refused_error(&error) => {
                Ok((stand_in, NewTextLocation::NextFile))
            }
            renamed => renamed.map(|()| (stand_in, NewTextLocation::InPlace { linked })),
        }
    });
    let (stand_in, linked) = match placed {
        Ok((stand_in, NewTextLocation::InPlace { linked })) => (stand_in, linked),
        Ok((stand_in, NewTextLocation::NextFile)) => {
            std::fs::remove_file(&previous).ok();
            let mounted = MountPointFile { path: &path, original };
            return mounted.overwrite(disk, &next_path, &stand_in);
        }
        Err(error) => {
            // Best effort: the next write removes the rest.
            std::fs::remove_file(&next_path).ok();
            std::fs::remove_file(&previous).ok();
            return Err(write_failed(error));
        }
    };
    // A rename survives a power failure only after its directory is synced.
    let durable = disk.sync_parent_dir(&path);

    // The content is replaced from here on. If the file system does not support hard links, or if
    // the rest fails, the new file remains, and the lock is on it and on the original.
    let restored = linked
        && original.is_some_and(|original| disk.overwrite(original, &stand_in).is_ok())
        && disk.rename(&previous, &path).is_ok();
    if !restored {
        std::fs::remove_file(&previous).ok();
        // A program that still has the original open must find a damaged file instead of the old
        // state, which it would mistake for the current one. The old content must not occupy space
        // either.
        if let Some(original) = original {
            original.set_len(1).ok();
        }
        return Ok(ReplacedFile { file: Some(stand_in), durable });
    }
    // Nothing is lost without this: both names refer to a file with the new content.
    disk.sync_parent_dir(&path).ok();
    Ok(ReplacedFile { file: None, durable })
}

/// Location of complete new content.
enum NewTextLocation {
    /// At the path of the old file.
    InPlace {
        /// Whether the old file has another name.
        linked: bool,
    },
    /// Next to the old file, which cannot be replaced.
    NextFile,
}

/// A state file that is a mount point.
struct MountPointFile<'a> {
    path: &'a Path,
    /// The file with its lock, if it is locked.
    original: Option<&'a File>,
}

impl MountPointFile<'_> {
    /// Writes the content of the file `next` into this one. If a crash interrupts this, the complete
    /// content still exists, and [`super::LocalStore`] reports its path.
    fn overwrite(
        self,
        disk: &DiskOperations,
        next_path: &Path,
        text: &File,
    ) -> Result<ReplacedFile, StoreError> {
        let Self { path, original } = self;
        // The name must be durable before the old content is overwritten.
        let written = disk.sync_parent_dir(path).and_then(|()| match original {
            Some(original) => disk.overwrite(original, text),
            None => disk.overwrite(&OpenOptions::new().write(true).open(path)?, text),
        });
        written.map_err(store_error(StoreOperation::Overwrite, path))?;
        std::fs::remove_file(next_path).ok();
        Ok(ReplacedFile { file: None, durable: Ok(()) })
    }
}

/// Treatment of a pipe or socket at the path of a file to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PipeHandling {
    /// The user specified it, so the content is written into it.
    WriteInto,
    /// It may come from a checkout, so the file replaces it.
    Replace,
}

impl DiskOperations {
    /// Writes a file without a lock: to a temporary file first, which then replaces it. An existing
    /// file keeps its mode, limited by that of the file `of` which it is a copy of. A new copy gets
    /// the mode of that file.
    pub(super) fn replace_file_without_lock(
        &self,
        path: &Path,
        pipe: PipeHandling,
        metadata: Option<&Metadata>,
        text: WriteContent<'_>,
    ) -> Result<(), StoreError> {
        let write_failed = |error| store_error(StoreOperation::Write, path)(error);
        if is_device_or_pipe(path) && (pipe == PipeHandling::WriteInto || is_device(path)) {
            // Replacing a device or pipe with a file would break it for all other programs.
            let mut file = OpenOptions::new().write(true).open(path).map_err(write_failed)?;
            return text(&mut file).map_err(write_failed);
        }
        let path_access = path.metadata().ok().map(|metadata| FileAccess::of(&metadata));
        let access = match (path_access, metadata.map(FileAccess::of)) {
            (Some(path_access), Some(given_access)) => Some(path_access.intersection(given_access)),
            (path_access, given_access) => path_access.or(given_access),
        };
        let (next_path, file) = self.create_next_file(path, access).map_err(write_failed)?;
        let placed =
            self.write_content(&file, text).and_then(|()| match self.rename(&next_path, path) {
                Err(error) if is_replace_refused_error(&error) => {
                    self.overwrite(&OpenOptions::new().write(true).open(path)?, &file)?;
                    std::fs::remove_file(&next_path)
                }
                renamed => renamed.and_then(|()| self.sync_parent_dir(path)),
            });
        placed.map_err(|error| {
            std::fs::remove_file(&next_path).ok();
            write_failed(error)
        })
    }
}

/// The paths to which content is written next to a file, in the order in which they are tried.
pub(super) fn temporary_paths_beside(path: &Path) -> impl Iterator<Item = PathBuf> {
    let numbered_paths =
        (1..=9).map(|number| sibling_path(path, &format!("{NEXT_SUFFIX}.{number}")));
    std::iter::once(sibling_path(path, NEXT_SUFFIX)).chain(numbered_paths)
}

/// The path of a file next to another one that only Formwork uses.
pub(super) fn sibling_path(path: &Path, suffix: &str) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{}{suffix}", name.strip_prefix('.').unwrap_or(&name)))
}

fn ignore_not_found(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) }
}

/// The target of a path that may be a link, whether it exists or not. The journals of a state are
/// next to the target, so that they are found through every link.
pub(super) fn follow_links(path: &Path) -> PathBuf {
    let mut target_path = path.to_owned();
    // The same limit as in the system.
    for _ in 0..40 {
        let Ok(target) = std::fs::read_link(&target_path) else { break };
        // A relative target starts at the directory of the link.
        target_path = target_path.with_file_name("").join(target);
    }
    target_path
}
