//! Directory handles. No path component below the first directory is a symbolic link.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use super::FileKind;
use super::read_regular_file;
use super::system::{self, DirHandle};

/// Purpose of opening a file of a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OpenPurpose {
    /// Read the file.
    Read,
    /// Lock the file, and create it if it is missing.
    Lock,
    /// Create a new file that only its owner can read.
    New,
    /// Lock an existing file, or replace its content.
    Overwrite,
}

/// Greatest number of names that are tried for a new directory.
const MAX_NAME_ATTEMPTS: usize = 10;
/// Length of the random part of a name that users type.
const SHORT_SUFFIX_LEN: usize = 8;

/// An open directory. Names below it are single path components, and a symbolic link at one of them is
/// never followed.
#[derive(Debug)]
pub struct Dir {
    handle: DirHandle,
    path: PathBuf,
}

impl Dir {
    /// Opens a directory that the user chose. Links in the path are followed.
    ///
    /// # Errors
    /// When the directory is missing, is not a directory, or cannot be opened.
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self { handle: DirHandle::open(path)?, path: path.to_owned() })
    }

    /// Opens a directory that the user chose, and creates it and its parents if they are missing.
    ///
    /// # Errors
    /// When the directory cannot be created or opened.
    pub fn open_or_create(path: &Path) -> io::Result<Self> {
        std::fs::create_dir_all(path)?;
        Self::open(path)
    }

    /// The path by which the directory was opened, for messages and for programs that need a path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a subdirectory, `None` if it is missing.
    ///
    /// # Errors
    /// When the entry is a link or another kind of file, or cannot be opened.
    pub fn subdir(&self, name: impl AsRef<OsStr>) -> io::Result<Option<Self>> {
        let name = check_single_component(name.as_ref())?;
        match self.handle.subdir(name) {
            Ok(handle) => Ok(Some(Self { handle, path: self.path_of(name) })),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.refused_entry_error(name, error)),
        }
    }

    /// Opens a subdirectory, and creates it if it is missing.
    ///
    /// # Errors
    /// As [`Dir::subdir`], and when it cannot be created.
    pub fn open_or_create_subdir(&self, name: impl AsRef<OsStr>) -> io::Result<Self> {
        let name = check_single_component(name.as_ref())?;
        // A planted link exists already, too. The `subdir` below opens it without following, and reports
        // it.
        match self.handle.create_subdir(name, false) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        self.subdir(name)?.ok_or_else(|| ErrorKind::NotFound.into())
    }

    /// Creates a subdirectory with a new name that begins with `prefix`, for this user only.
    ///
    /// # Errors
    /// When the directory cannot be created.
    pub fn create_unique_subdir(&self, prefix: &str) -> io::Result<Self> {
        for _ in 0..MAX_NAME_ATTEMPTS {
            let mut suffix = unique_suffix();
            suffix.truncate(SHORT_SUFFIX_LEN);
            let name = format!("{prefix}{suffix}");
            let name = check_single_component(OsStr::new(&name))?;
            match self.handle.create_subdir(name, true) {
                Ok(()) => return self.subdir(name)?.ok_or_else(|| ErrorKind::NotFound.into()),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(ErrorKind::AlreadyExists.into())
    }

    /// Reads a regular file of at most `limit` bytes, `None` if it is missing.
    ///
    /// # Errors
    /// When the entry is not a regular file, exceeds the limit, or cannot be read.
    pub fn read(&self, name: &str, limit: u64) -> io::Result<Option<Vec<u8>>> {
        match self.open_file(name, OpenPurpose::Read) {
            Ok(file) => read_regular_file(file, limit).map(Some),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// As [`Dir::read`], as text.
    ///
    /// # Errors
    /// As [`Dir::read`], and when the content is not UTF-8.
    pub fn read_text(&self, name: &str, limit: u64) -> io::Result<Option<String>> {
        let text = self.read(name, limit)?.map(String::from_utf8).transpose();
        text.map_err(|error| io::Error::new(ErrorKind::InvalidData, error))
    }

    /// Replaces a file atomically, or overwrites it in place if it cannot be replaced. The rename may not be on
    /// disk yet. A link at the name is replaced, not followed.
    ///
    /// # Errors
    /// When the file cannot be written. Its former content remains then, or the error names a file with the
    /// complete new content.
    pub fn replace(&self, name: &str, content: &[u8], mode: u32) -> io::Result<()> {
        let name = check_single_component(OsStr::new(name))?;
        self.remove_leftovers(name);
        // In the same directory, because a rename across file systems is not atomic.
        let aside = format!(".{}.{}", name.display(), unique_suffix());
        let mut file = self.handle.open_file(OsStr::new(&aside), OpenPurpose::New)?;
        // The lock shows other processes that it is not a leftover. File systems without locks keep leftovers.
        drop(system::lock(&file));
        let written = file
            .write_all(content)
            // Not subject to the umask, as a temporary file that is renamed.
            .and_then(|()| system::set_mode(&file, mode))
            // Synced before the rename: some file systems write the new name to disk before the
            // content, and a crash would leave an empty file.
            .and_then(|()| file.sync_all())
            .and_then(|()| self.handle.rename(OsStr::new(&aside), &self.handle, name));
        match written {
            // A mount point, such as one file of a host in a container.
            Err(error) if system::is_replace_refused_error(&error) => {
                self.overwrite(name, content, &aside)
            }
            // A failure to remove the temporary file is not reported: the first failure is the cause.
            written => written.inspect_err(|_| drop(self.remove(&aside))),
        }
    }

    /// Removes the files that killed processes left beside a name in [`Dir::replace`]. Files that cannot be
    /// removed harm nothing.
    fn remove_leftovers(&self, name: &OsStr) {
        let start = format!(".{}.", name.display());
        let names = self.entry_names().unwrap_or_default();
        let is_aside = |other: &&str| {
            let suffix = other.strip_prefix(&start).unwrap_or_default();
            suffix.len() == 32 && suffix.bytes().all(|byte| byte.is_ascii_hexdigit())
        };
        for aside in names.iter().filter_map(|other| other.to_str()).filter(is_aside) {
            let opened = self.handle.open_file(OsStr::new(aside), OpenPurpose::Overwrite);
            if opened.is_ok_and(|file| system::lock(&file).is_ok()) {
                drop(self.remove(aside));
            }
        }
    }

    /// Overwrites an existing file. Until this is done, the complete content is in the file `aside`.
    fn overwrite(&self, name: &OsStr, content: &[u8], aside: &str) -> io::Result<()> {
        let opened = self.handle.open_file(name, OpenPurpose::Overwrite).and_then(|file| {
            // Space is taken before a byte is changed.
            system::reserve_disk_space(&file, 0..content.len() as u64)?;
            Ok(file)
        });
        let mut file = opened.inspect_err(|_| drop(self.remove(aside)))?;
        let written = file
            .write_all(content)
            // The old content may have been longer.
            .and_then(|()| file.set_len(content.len() as u64))
            .and_then(|()| file.sync_all());
        written.map_err(|error| {
            let complete = self.path_of(OsStr::new(aside));
            let reason = format!("{error}; {} has the complete content", complete.display());
            io::Error::new(error.kind(), reason)
        })?;
        self.remove(aside)
    }

    /// Opens a regular file to be locked, and creates it if it is missing. Its content does not change.
    ///
    /// # Errors
    /// When the entry is not a regular file, or cannot be opened.
    pub fn open_lock_file(&self, name: &str) -> io::Result<File> {
        self.check_can_be_locked(name, self.open_file(name, OpenPurpose::Lock)?)
    }

    /// As [`Dir::open_lock_file`], but does not create a missing file and returns `None`.
    ///
    /// # Errors
    /// As [`Dir::open_lock_file`].
    pub fn open_existing_lock_file(&self, name: &str) -> io::Result<Option<File>> {
        match self.open_file(name, OpenPurpose::Overwrite) {
            Ok(file) => self.check_can_be_locked(name, file).map(Some),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn check_can_be_locked(&self, name: &str, file: File) -> io::Result<File> {
        if file.metadata()?.is_file() {
            Ok(file)
        } else {
            Err(self.special_file_error(OsStr::new(name)))
        }
    }

    /// A file that represents the directory, to be locked.
    ///
    /// # Errors
    /// When the directory cannot be opened.
    pub fn as_file(&self) -> io::Result<File> {
        self.handle.as_file()
    }

    /// The names in the directory, sorted.
    ///
    /// # Errors
    /// When the directory cannot be read.
    pub fn entry_names(&self) -> io::Result<Vec<std::ffi::OsString>> {
        let mut names = self.handle.names()?;
        // The order of `readdir` differs between file systems, and names reach the output.
        names.sort();
        Ok(names)
    }

    /// Whether an entry with the name exists, including links.
    #[must_use]
    pub fn has_entry(&self, name: impl AsRef<OsStr>) -> bool {
        self.kind(name.as_ref()).is_ok()
    }

    /// Whether the name is a directory, links not followed.
    #[must_use]
    pub fn is_dir(&self, name: impl AsRef<OsStr>) -> bool {
        self.kind(name.as_ref()).is_ok_and(|kind| kind == FileKind::Dir)
    }

    /// Fails if the name is a symbolic link, with the same error as opening it.
    ///
    /// # Errors
    /// When the name is a link.
    pub fn refuse_link(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
        let name = check_single_component(name.as_ref())?;
        match self.kind(name) {
            Ok(FileKind::Link) => Err(self.link_error(name)),
            _ => Ok(()),
        }
    }

    /// Removes a file, a link, or a directory with its content. Links are removed, not followed.
    ///
    /// # Errors
    /// When the entry cannot be removed. A missing name is not an error.
    pub fn remove(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
        let name = check_single_component(name.as_ref())?;
        let error = match self.handle.remove_file(name) {
            Ok(()) => return Ok(()),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) => error,
        };
        if !DirHandle::is_maybe_dir_error(&error) {
            return Err(error);
        }
        // A link that was created in the meantime is refused: its target is never emptied. Another
        // process may have removed the directory, too.
        let inner = match self.subdir(name) {
            Ok(Some(inner)) => inner,
            Ok(None) => return Ok(()),
            Err(_) if error.kind() == ErrorKind::PermissionDenied => return Err(error),
            Err(refused) => return Err(refused),
        };
        for entry in inner.entry_names()? {
            inner.remove(entry)?;
        }
        match self.handle.remove_dir(name) {
            // Gone is the aim, and another run may have removed it too.
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Removes an empty directory.
    ///
    /// # Errors
    /// When the entry is missing, not a directory or not empty, or cannot be removed.
    pub fn remove_empty_subdir(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
        self.handle.remove_dir(check_single_component(name.as_ref())?)
    }

    /// Moves an entry to another directory. A link is moved, not followed.
    ///
    /// # Errors
    /// When the entry cannot be moved.
    pub fn rename(
        &self,
        name: impl AsRef<OsStr>,
        to: &Self,
        new: impl AsRef<OsStr>,
    ) -> io::Result<()> {
        let (name, new) =
            (check_single_component(name.as_ref())?, check_single_component(new.as_ref())?);
        self.handle.rename(name, &to.handle, new)
    }

    /// Creates a symbolic link.
    ///
    /// # Errors
    /// When the name is taken, or the link cannot be created.
    pub fn symlink(&self, target: &Path, name: impl AsRef<OsStr>) -> io::Result<()> {
        self.handle.symlink(target, check_single_component(name.as_ref())?)
    }

    /// Creates a directory with a unique name that begins with `prefix`.
    ///
    /// # Errors
    /// When the directory cannot be created.
    pub fn create_temp_dir(self, prefix: &str) -> io::Result<TempDir> {
        let name = format!("{prefix}{}", unique_suffix());
        // For this user only: the content is used later, and must not be replaced by
        // other users.
        self.handle.create_subdir(OsStr::new(&name), true)?;
        let opened = self.subdir(&name)?;
        let dir = opened.ok_or_else(|| io::Error::from(ErrorKind::NotFound))?;
        Ok(TempDir { parent: self, name, dir })
    }

    fn path_of(&self, name: &OsStr) -> PathBuf {
        // Messages name `x` as the user would, not `./x`.
        if self.path == Path::new(".") { name.into() } else { self.path.join(name) }
    }

    fn kind(&self, name: &OsStr) -> io::Result<FileKind> {
        self.handle.kind(check_single_component(name)?)
    }

    fn open_file(&self, name: &str, purpose: OpenPurpose) -> io::Result<File> {
        let name = check_single_component(OsStr::new(name))?;
        self.handle.open_file(name, purpose).map_err(|error| self.refused_entry_error(name, error))
    }

    /// The error of an entry that could not be opened. It names a link, where that is the cause.
    fn refused_entry_error(&self, name: &OsStr, error: io::Error) -> io::Error {
        // The error itself is ambiguous: Linux returns `ELOOP` for a link, but `ENOTDIR` if a
        // directory was requested.
        if !self.kind(name).is_ok_and(|kind| kind == FileKind::Link) {
            return if system::is_special_file_error(&error) {
                self.special_file_error(name)
            } else {
                error
            };
        }
        self.link_error(name)
    }

    fn link_error(&self, name: &OsStr) -> io::Error {
        let target = self.handle.link_target(name).unwrap_or_default();
        io::Error::other(format!(
            "{} is a symbolic link to {}, which is not followed: remove the link and try again",
            self.path_of(name).display(),
            target.display()
        ))
    }

    fn special_file_error(&self, name: &OsStr) -> io::Error {
        let path = self.path_of(name);
        io::Error::other(format!("{} is a pipe or device, not a file", path.display()))
    }
}

/// A directory that is removed with its content when this is dropped.
#[derive(Debug)]
pub struct TempDir {
    parent: Dir,
    name: String,
    dir: Dir,
}

impl TempDir {
    /// The directory.
    #[must_use]
    pub fn dir(&self) -> &Dir {
        &self.dir
    }

    /// The directory in which it is.
    #[must_use]
    pub fn parent(&self) -> &Dir {
        &self.parent
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        // The next run removes the directory.
        self.parent.remove(&self.name).ok();
    }
}

/// Refuses a name that is not a single path component.
fn check_single_component(name: &OsStr) -> io::Result<&OsStr> {
    // Each of these would lead out of the directory or through a link in the path, which the handles
    // must prevent.
    if name.is_empty() || name == "." || name == ".." || system::leads_out_of_directory(name) {
        let reason = format!("{} is not the name of a file", name.display());
        return Err(io::Error::new(ErrorKind::InvalidInput, reason));
    }
    Ok(name)
}

fn unique_suffix() -> String {
    // Random, because other runs, even on other machines, may write to the same directory.
    uuid::Uuid::new_v4().simple().to_string()
}
