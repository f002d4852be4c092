//! Directory handles. Each path component below the first directory is opened with `O_NOFOLLOW`,
//! relative to the handle of its parent.
//!
//! `openat2` would need one call instead of one per component, but exists on Linux only, and older
//! container profiles refuse it.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, ErrorKind, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, openat, readlinkat, renameat};
use nix::sys::stat::{FileStat, Mode, SFlag, fstatat, mkdirat};
use nix::unistd::{UnlinkatFlags, symlinkat, unlinkat};

use super::read_regular;

/// An open directory. Names below it are single path components, and a symbolic link at one of them is
/// never followed.
#[derive(Debug)]
pub struct Dir {
    handle: OwnedFd,
    path: PathBuf,
}

const OPEN_DIR: OFlag = OFlag::O_RDONLY.union(OFlag::O_DIRECTORY).union(OFlag::O_CLOEXEC);

impl Dir {
    /// Opens a directory that the user chose. Links in the path are followed.
    ///
    /// # Errors
    /// When it is missing, is no directory, or cannot be opened.
    pub fn open(path: &Path) -> io::Result<Self> {
        let handle = nix::fcntl::open(path, OPEN_DIR, Mode::empty())?;
        Ok(Self { handle, path: path.to_owned() })
    }

    /// Opens a directory that the user chose, and creates it and its parents if they are missing.
    ///
    /// # Errors
    /// When it cannot be created or opened.
    pub fn create(path: &Path) -> io::Result<Self> {
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
    /// When it is a link or another kind of file, or cannot be opened.
    pub fn subdir(&self, name: impl AsRef<OsStr>) -> io::Result<Option<Self>> {
        let name = component(name.as_ref())?;
        let opened = openat(&self.handle, name, OPEN_DIR | OFlag::O_NOFOLLOW, Mode::empty());
        match opened {
            Ok(handle) => Ok(Some(Self { handle, path: self.path_of(name) })),
            Err(Errno::ENOENT) => Ok(None),
            Err(errno) => Err(self.refused(name, errno)),
        }
    }

    /// Opens a subdirectory, and creates it if it is missing.
    ///
    /// # Errors
    /// As [`Dir::subdir`], and when it cannot be created.
    pub fn create_subdir(&self, name: impl AsRef<OsStr>) -> io::Result<Self> {
        let name = component(name.as_ref())?;
        // `EEXIST` is also returned for a planted link. The `subdir` below opens it without
        // following, and reports it.
        match mkdirat(&self.handle, name, Mode::from_bits_truncate(0o777)) {
            Ok(()) | Err(Errno::EEXIST) => {}
            Err(errno) => return Err(errno.into()),
        }
        self.subdir(name)?.ok_or_else(|| ErrorKind::NotFound.into())
    }

    /// Reads a regular file of at most `limit` bytes, `None` if it is missing.
    ///
    /// # Errors
    /// When it is a link or no regular file, is larger, or cannot be read.
    pub fn read(&self, name: &str, limit: u64) -> io::Result<Option<Vec<u8>>> {
        // Without `O_NONBLOCK`, opening a pipe waits for a writer.
        match self.open_file(name, OFlag::O_RDONLY | OFlag::O_NONBLOCK) {
            Ok(file) => read_regular(file, limit).map(Some),
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

    /// Replaces a file atomically, or writes into it if it is a mount point. The rename may not be on disk
    /// yet. A link at the name is replaced, not followed.
    ///
    /// # Errors
    /// When it cannot be written; the former content is still there then.
    pub fn replace(&self, name: &str, content: &[u8], mode: u32) -> io::Result<()> {
        let name = component(OsStr::new(name))?;
        // In the same directory, because a rename across file systems is not atomic.
        let aside = format!(".{}.{}", name.display(), unique());
        let flags = OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_CLOEXEC;
        // Not subject to the umask, as a temporary file that is renamed.
        let handle = openat(&self.handle, aside.as_str(), flags, Mode::from_bits_truncate(0o600))?;
        let mut file = File::from(handle);
        let written = file
            .write_all(content)
            .and_then(|()| file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(mode)))
            // Synced before the rename: some file systems write the new name to disk before the
            // content, and a crash would leave an empty file.
            .and_then(|()| file.sync_all())
            .and_then(|()| match renameat(&self.handle, aside.as_str(), &self.handle, name) {
                // A mount point, such as one file of a host in a container, cannot be replaced.
                Err(Errno::EBUSY) => {
                    self.overwrite(name, content)?;
                    self.remove(&aside)
                }
                renamed => Ok(renamed?),
            });
        // That the file beside it stays is not reported: the first failure is the cause.
        written.inspect_err(|_| drop(self.remove(&aside)))
    }

    /// Writes into a file that is there.
    fn overwrite(&self, name: &OsStr, content: &[u8]) -> io::Result<()> {
        let flags = OFlag::O_WRONLY | OFlag::O_NONBLOCK | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        let mut file = File::from(openat(&self.handle, name, flags, Mode::empty())?);
        file.write_all(content)?;
        file.set_len(content.len() as u64)?;
        file.sync_all()
    }

    /// Opens a regular file that is only locked, and creates it if it is missing. Its content is kept.
    ///
    /// # Errors
    /// When it is a link or no regular file, or cannot be opened.
    pub fn lock_file(&self, name: &str) -> io::Result<File> {
        let flags = OFlag::O_RDWR | OFlag::O_CREAT | OFlag::O_NONBLOCK;
        let file = self.open_file(name, flags)?;
        if file.metadata()?.is_file() { Ok(file) } else { Err(self.special(OsStr::new(name))) }
    }

    /// The directory itself as a file, to be locked.
    ///
    /// # Errors
    /// When the handle cannot be duplicated.
    pub fn as_file(&self) -> io::Result<File> {
        // Opened and not duplicated: all duplicates of a handle share its locks.
        Ok(openat(&self.handle, ".", OPEN_DIR, Mode::empty())?.into())
    }

    /// The names in the directory, sorted.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn names(&self) -> io::Result<Vec<std::ffi::OsString>> {
        // A new open file description, because reading a directory moves the position of its
        // handle.
        let handle = openat(&self.handle, ".", OPEN_DIR, Mode::empty())?;
        let mut names = Vec::new();
        for entry in nix::dir::Dir::from_fd(handle)?.iter() {
            let name = OsStr::from_bytes(entry?.file_name().to_bytes()).to_owned();
            if name != "." && name != ".." {
                names.push(name);
            }
        }
        // The order of `readdir` differs between file systems, and names reach the output.
        names.sort();
        Ok(names)
    }

    /// Whether anything has the name, a link included.
    #[must_use]
    pub fn holds(&self, name: impl AsRef<OsStr>) -> bool {
        self.stat(name.as_ref()).is_ok()
    }

    /// Whether the name is a directory, links not followed.
    #[must_use]
    pub fn is_dir(&self, name: impl AsRef<OsStr>) -> bool {
        self.stat(name.as_ref()).is_ok_and(|found| kind(&found) == SFlag::S_IFDIR)
    }

    /// Removes a file, a link, or a directory with its content. Links are removed, not followed.
    ///
    /// # Errors
    /// When it cannot be removed. A missing name is no error.
    pub fn remove(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
        let name = component(name.as_ref())?;
        let errno = match unlinkat(&self.handle, name, UnlinkatFlags::NoRemoveDir) {
            Ok(()) | Err(Errno::ENOENT) => return Ok(()),
            Err(errno) => errno,
        };
        // Linux and POSIX disagree about the error for a directory.
        if !matches!(errno, Errno::EISDIR | Errno::EPERM) {
            return Err(errno.into());
        }
        // Should a link have come there meanwhile, it is refused: its target is never emptied. Another
        // process may have removed the directory, too.
        let inner = match self.subdir(name) {
            Ok(Some(inner)) => inner,
            Ok(None) => return Ok(()),
            Err(_) if errno == Errno::EPERM => return Err(errno.into()),
            Err(refused) => return Err(refused),
        };
        for entry in inner.names()? {
            inner.remove(entry)?;
        }
        match unlinkat(&self.handle, name, UnlinkatFlags::RemoveDir) {
            // Gone is the aim, and another run may have removed it too.
            Ok(()) | Err(Errno::ENOENT) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Moves an entry to another directory. A link is moved, not followed.
    ///
    /// # Errors
    /// When it cannot be moved.
    pub fn rename(
        &self,
        name: impl AsRef<OsStr>,
        to: &Self,
        new: impl AsRef<OsStr>,
    ) -> io::Result<()> {
        let (name, new) = (component(name.as_ref())?, component(new.as_ref())?);
        Ok(renameat(&self.handle, name, &to.handle, new)?)
    }

    /// Creates a symbolic link.
    ///
    /// # Errors
    /// When the name is taken, or the link cannot be created.
    pub fn symlink(&self, target: &Path, name: impl AsRef<OsStr>) -> io::Result<()> {
        Ok(symlinkat(target, &self.handle, component(name.as_ref())?)?)
    }

    /// Creates a directory with a unique name that begins with `prefix`.
    ///
    /// # Errors
    /// When it cannot be created.
    pub fn scratch(self, prefix: &str) -> io::Result<TempDir> {
        let name = format!("{prefix}{}", unique());
        // For this user only: what is put here is used later, and must not be swapped by
        // others.
        mkdirat(&self.handle, name.as_str(), Mode::S_IRWXU)?;
        let opened = self.subdir(&name)?;
        let dir = opened.ok_or_else(|| io::Error::from(ErrorKind::NotFound))?;
        Ok(TempDir { parent: self, name, dir })
    }

    fn path_of(&self, name: &OsStr) -> PathBuf {
        // Messages name `x` as the user would, not `./x`.
        if self.path == Path::new(".") { name.into() } else { self.path.join(name) }
    }

    fn stat(&self, name: &OsStr) -> io::Result<FileStat> {
        let name = component(name)?;
        Ok(fstatat(self.handle.as_fd(), name, AtFlags::AT_SYMLINK_NOFOLLOW)?)
    }

    fn open_file(&self, name: &str, flags: OFlag) -> io::Result<File> {
        let name = component(OsStr::new(name))?;
        let flags = flags | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        let opened = openat(&self.handle, name, flags, Mode::from_bits_truncate(0o666));
        Ok(opened.map_err(|errno| self.refused(name, errno))?.into())
    }

    /// The error of an entry that could not be opened. It names a link, where that is the cause.
    fn refused(&self, name: &OsStr, errno: Errno) -> io::Error {
        // The error itself says too little: Linux gives `ELOOP` for a link, but `ENOTDIR` where a
        // directory was asked for.
        let is_link = self.stat(name).is_ok_and(|found| kind(&found) == SFlag::S_IFLNK);
        if !is_link {
            return match errno {
                // What opening a socket gives, or a device without a driver.
                Errno::ENXIO => self.special(name),
                errno => errno.into(),
            };
        }
        let target = readlinkat(&self.handle, name).unwrap_or_default();
        io::Error::other(format!(
            "{} is a symbolic link to {}, which is not followed: remove the link and try again",
            self.path_of(name).display(),
            target.display()
        ))
    }

    fn special(&self, name: &OsStr) -> io::Error {
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

fn kind(found: &FileStat) -> SFlag {
    SFlag::from_bits_truncate(found.st_mode & SFlag::S_IFMT.bits())
}

/// Refuses a name that is not a single path component.
fn component(name: &OsStr) -> io::Result<&OsStr> {
    let bytes = name.as_bytes();
    // Each of these would lead out of the folder or over a link on the way, which the handles are
    // there to prevent.
    if bytes.is_empty() || bytes == b"." || bytes == b".." || bytes.contains(&b'/') {
        let reason = format!("{} is not the name of a file", name.display());
        return Err(io::Error::new(ErrorKind::InvalidInput, reason));
    }
    Ok(name)
}

fn unique() -> String {
    // Random, because other runs, also on other machines, may write to the same folder.
    uuid::Uuid::new_v4().simple().to_string()
}
