//! Puts a new text in the place of a file so that every reader, also after a crash at any moment,
//! finds the old text or the new one. [`Durability`] says which crashes these are.

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

/// Writes a string, in pieces of a good size.
pub(super) type WriteContent<'t> = &'t dyn Fn(&mut dyn io::Write) -> io::Result<()>;

/// The end of the name of a file that is written beside another one before it takes its place.
const NEXT_SUFFIX: &str = ".next";

/// The disk. In tests it can fail.
#[derive(Clone, Debug, Default)]
pub(super) struct DiskOperations {
    durability: Durability,
    #[cfg(test)]
    pub(super) fail_at: std::sync::Arc<std::sync::Mutex<Option<usize>>>,
}

impl DiskOperations {
    /// The disk, for files that have to survive the failures that `durability` names.
    pub(super) fn new(durability: Durability) -> Self {
        Self {
            durability,
            #[cfg(test)]
            fail_at: std::sync::Arc::default(),
        }
    }

    /// Stands before everything that asks something of the disk.
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

    /// Makes a file beside another one, which only its owner may read, and then lets others in as
    /// `access` says.
    fn create_next_file(
        &self,
        path: &Path,
        access: Option<FileAccess>,
    ) -> io::Result<(PathBuf, File)> {
        self.check_injected_fault()?;
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true).owner_only();
        // A killed run leaves a file under this name. It cannot be removed if it belongs to another
        // user of a shared folder, and is then no reason to store nothing.
        let mut last = io::ErrorKind::AlreadyExists.into();
        for next in temporary_paths_beside(path) {
            match std::fs::remove_file(&next)
                .or_else(ignore_not_found)
                .and_then(|()| options.open(&next))
            {
                Ok(file) => {
                    access.map_or(Ok(()), |access| access.apply_to_file(&file))?;
                    return Ok((next, file));
                }
                Err(error) => last = error,
            }
            if std::fs::symlink_metadata(&next).is_err() {
                // The folder takes no new file, under whatever name.
                break;
            }
        }
        Err(last)
    }

    fn write_content(&self, mut file: &File, text: WriteContent<'_>) -> io::Result<()> {
        self.check_injected_fault()?;
        text(&mut file)?;
        self.check_injected_fault()?;
        self.durability.sync_file(file)
    }

    fn overwrite(&self, mut file: &File, mut with: &File) -> io::Result<()> {
        self.check_injected_fault()?;
        // Space is taken before a byte is changed.
        reserve_disk_space(file, 0..with.metadata()?.len())?;
        file.rewind()?;
        with.rewind()?;
        let length = io::copy(&mut with, &mut file)?;
        self.check_injected_fault()?;
        // The old text may have been longer.
        file.set_len(length)?;
        self.check_injected_fault()?;
        self.durability.sync_file(file)
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.check_injected_fault()?;
        std::fs::remove_file(to).or_else(ignore_not_found)?;
        std::fs::hard_link(from, to)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.check_injected_fault()?;
        std::fs::rename(from, to)
    }

    /// Makes the names in the folder of a file durable.
    fn sync_parent_folder(&self, of: &Path) -> io::Result<()> {
        self.check_injected_fault()?;
        let folder = of.parent().filter(|folder| !folder.as_os_str().is_empty());
        self.durability.sync_dir(folder.unwrap_or(Path::new(".")))
    }
}

/// A new text is in its place.
pub(super) struct ReplacedFile {
    /// The file that is there, already locked, if it is not the one that was there before.
    pub(super) file: Option<LockedFile>,
    /// Whether the place survives a loss of power, if it has to.
    pub(super) durable: io::Result<()>,
}

/// Puts `text` in the place of the state file at `path`, of which `original` is the locked file. If this
/// fails, the old content is still there.
///
/// A program that waits for the lock has opened `original` already and will go on to use *that* file,
/// so renaming alone would let it read the old state and write into a file that no path leads to.
/// Hence `original` gets the new text too and is put back, while a complete file stands in its place.
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

    let access = path.metadata().ok().map(|found| FileAccess::of(&found));
    let (next, stand_in) = disk.create_next_file(&path, access).map_err(write_failed)?;
    let placed = lock(stand_in).and_then(|stand_in| {
        disk.write_content(&stand_in, text)?;
        let linked = original.is_some_and(|original| {
            // Only this file may come back: another one would bring its old text along.
            disk.link(&path, &previous).is_ok()
                && is_file_at_path(original, &previous).unwrap_or(false)
        });
        // The content is on the disk by now, so the name never leads to half of a text.
        match disk.rename(&next, &path) {
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
            return mounted.overwrite(disk, &next, &stand_in);
        }
        Err(error) => {
            // Best effort: the next write removes the rest.
            std::fs::remove_file(&next).ok();
            std::fs::remove_file(&previous).ok();
            return Err(write_failed(error));
        }
    };
    // A rename survives the loss of power only once its folder is on the disk.
    let durable = disk.sync_parent_folder(&path);

    // The new text is in its place from here on. If the file system has no hard links, or the rest
    // fails, the stand-in stays, and the lock is on it and on the original.
    let restored = linked
        && original.is_some_and(|original| disk.overwrite(original, &stand_in).is_ok())
        && disk.rename(&previous, &path).is_ok();
    if !restored {
        std::fs::remove_file(&previous).ok();
        // A program that still has the original open must find a torn file rather than the old
        // state, which it would take for the current one. The old content must not occupy space
        // either.
        if let Some(original) = original {
            original.set_len(1).ok();
        }
        return Ok(ReplacedFile { file: Some(stand_in), durable });
    }
    // Nothing is lost without this: both names lead to a file with the new text.
    disk.sync_parent_folder(&path).ok();
    Ok(ReplacedFile { file: None, durable })
}

/// Place of a complete new text.
enum NewTextLocation {
    /// It is where the old one was.
    InPlace {
        /// Whether the old file has another name.
        linked: bool,
    },
    /// It is beside the old one, which no file can take the place of.
    NextFile,
}

/// A state file that is a mount point.
struct MountPointFile<'a> {
    path: &'a Path,
    /// The file with its lock, if it is locked.
    original: Option<&'a File>,
}

impl MountPointFile<'_> {
    /// Writes the text in the file `next` into this one. If a crash cuts that short, the complete text is
    /// still there, and [`super::LocalStore`] names it.
    fn overwrite(
        self,
        disk: &DiskOperations,
        next: &Path,
        text: &File,
    ) -> Result<ReplacedFile, StoreError> {
        let Self { path, original } = self;
        // The name must be durable before the old text is touched.
        let written = disk.sync_parent_folder(path).and_then(|()| match original {
            Some(original) => disk.overwrite(original, text),
            None => disk.overwrite(&OpenOptions::new().write(true).open(path)?, text),
        });
        written.map_err(store_error(StoreOperation::Overwrite, path))?;
        std::fs::remove_file(next).ok();
        Ok(ReplacedFile { file: None, durable: Ok(()) })
    }
}

/// Treatment of a pipe or socket in the place of a file that is to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PipeHandling {
    /// The user named it: the text goes into it.
    WriteInto,
    /// A checkout may have brought it along: the file takes its place.
    Replace,
}

impl DiskOperations {
    /// Writes a file without a lock: aside first, then into its place. An existing file keeps its
    /// mode, within that of the file `of` which it is a copy of; a new copy gets the mode of that
    /// file.
    pub(super) fn replace_file_without_lock(
        &self,
        path: &Path,
        pipe: PipeHandling,
        of: Option<&Metadata>,
        text: WriteContent<'_>,
    ) -> Result<(), StoreError> {
        let write_failed = |error| store_error(StoreOperation::Write, path)(error);
        if is_device_or_pipe(path) && (pipe == PipeHandling::WriteInto || is_device(path)) {
            // Replacing a device or pipe by a file would break it for all other programs.
            let mut there = OpenOptions::new().write(true).open(path).map_err(write_failed)?;
            return text(&mut there).map_err(write_failed);
        }
        let there = path.metadata().ok().map(|found| FileAccess::of(&found));
        let access = match (there, of.map(FileAccess::of)) {
            (Some(there), Some(of)) => Some(there.intersection(of)),
            (there, of) => there.or(of),
        };
        let (next, file) = self.create_next_file(path, access).map_err(write_failed)?;
        let placed =
            self.write_content(&file, text).and_then(|()| match self.rename(&next, path) {
                Err(error) if is_replace_refused_error(&error) => {
                    self.overwrite(&OpenOptions::new().write(true).open(path)?, &file)?;
                    std::fs::remove_file(&next)
                }
                renamed => renamed.and_then(|()| self.sync_parent_folder(path)),
            });
        placed.map_err(|error| {
            std::fs::remove_file(&next).ok();
            write_failed(error)
        })
    }
}

/// The paths under which a text is written beside a file, in the order in which they are tried.
pub(super) fn temporary_paths_beside(path: &Path) -> impl Iterator<Item = PathBuf> {
    let spare = (1..=9).map(|number| sibling_path(path, &format!("{NEXT_SUFFIX}.{number}")));
    std::iter::once(sibling_path(path, NEXT_SUFFIX)).chain(spare)
}

/// The path of a file of Formwork alone beside another one.
pub(super) fn sibling_path(path: &Path, suffix: &str) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{}{suffix}", name.strip_prefix('.').unwrap_or(&name)))
}

fn ignore_not_found(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) }
}

/// Target of a path that may be a link, existing or not. The journals of a state stand beside it,
/// so that they are found through every link.
pub(super) fn follow_links(path: &Path) -> PathBuf {
    let mut at = path.to_owned();
    // As many as the system follows.
    for _ in 0..40 {
        let Ok(target) = std::fs::read_link(&at) else { break };
        // A relative target starts at the folder of the link.
        at = at.with_file_name("").join(target);
    }
    at
}
