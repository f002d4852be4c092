//! Files on Unix.

use std::ffi::OsStr;
use std::fs::{DirBuilder, File, Metadata, OpenOptions, Permissions};
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{
    DirBuilderExt as _, FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _,
    PermissionsExt as _, fchown,
};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{AtFlags, FcntlArg, OFlag, fcntl, openat, readlinkat, renameat};
use nix::libc;
use nix::sys::stat::{Mode, SFlag, fstatat, mkdirat};
use nix::unistd::{UnlinkatFlags, symlinkat, unlinkat};

use super::dir::OpenPurpose;
use super::{FileKind, FileOptions};

impl FileKind {
    pub(super) fn of(metadata: &Metadata) -> Self {
        match metadata.file_type() {
            kind if kind.is_file() => Self::File,
            kind if kind.is_dir() => Self::Dir,
            kind if kind.is_symlink() => Self::Link,
            kind if kind.is_fifo() => Self::Pipe,
            kind if kind.is_socket() => Self::Socket,
            kind if kind.is_char_device() => Self::CharDevice,
            _ => Self::Device,
        }
    }
}

pub(super) fn is_null_device(metadata: &Metadata) -> bool {
    std::fs::metadata("/dev/null").is_ok_and(|null| null.rdev() == metadata.rdev())
}

pub(super) fn new_is_directory_error() -> io::Error {
    // With the words of the system, as where a directory was opened for writing.
    Errno::EISDIR.into()
}

impl FileOptions for OpenOptions {
    fn with_mode(&mut self, mode: u32) -> &mut Self {
        self.mode(mode)
    }

    fn without_waiting(&mut self) -> &mut Self {
        self.custom_flags(libc::O_NONBLOCK)
    }

    fn appending(&mut self) -> &mut Self {
        self.append(true)
    }
}

/// Creates a directory that only its owner may enter, and its parents likewise.
///
/// # Errors
/// When the directory cannot be created. An existing one is not an error.
pub fn create_private_dir(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Creates a symbolic link.
///
/// # Errors
/// When the path is taken, or the link cannot be created.
pub fn symlink(target: &Path, path: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, path)
}

/// Makes the names in a directory durable.
///
/// # Errors
/// When the directory cannot be opened or synced.
pub fn sync_dir(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// Whether a rename failed because the replaced file is a mount point: a file
/// of a host that is mounted into a container.
#[must_use]
pub fn is_replace_refused_error(error: &io::Error) -> bool {
    // `EBUSY`: the kernel keeps the name of a mount point.
    error.kind() == ErrorKind::ResourceBusy
}

/// Whether replacing a file with a new one is invisible to all users: the old one has no second name,
/// and its owner and group are those of the new one.
#[must_use]
pub fn can_be_replaced_unnoticed(file: &Metadata, by: &Metadata) -> bool {
    file.nlink() == 1 && (file.uid(), file.gid()) == (by.uid(), by.gid())
}

/// The change marker of a file, which differs after each change, and the time of the last change in
/// seconds. Only the kernel sets that time.
#[must_use]
pub fn file_change_stamp(metadata: &Metadata) -> Option<(String, i64)> {
    let record = format!(
        "{} {} {} {} {}.{:09} {}.{:09}",
        metadata.dev(),
        metadata.ino(),
        metadata.mode(),
        metadata.size(),
        metadata.mtime(),
        metadata.mtime_nsec(),
        metadata.ctime(),
        metadata.ctime_nsec(),
    );
    Some((record, metadata.ctime()))
}

/// The number of bytes that a file occupies on the disk.
#[must_use]
pub fn allocated_bytes(metadata: &Metadata) -> u64 {
    // The unit is 512 bytes on every system, whatever the size of a block of the file system is.
    metadata.blocks().saturating_mul(512)
}

/// Reserves blocks of the disk for a range of bytes of a file, which keeps its length: readers see no gap. The
/// result is `false` where the file system reserves nothing.
///
/// # Errors
/// When the disk or the quota is full.
#[cfg(target_os = "linux")]
pub fn reserve_disk_space(file: &File, range: Range<u64>) -> io::Result<bool> {
    use nix::fcntl::{FallocateFlags, fallocate};
    let length = range.end.saturating_sub(range.start);
    let (from, length) = (i64::try_from(range.start), i64::try_from(length));
    let (Ok(from), Ok(length)) = (from, length) else { return Ok(false) };
    match fallocate(file, FallocateFlags::FALLOC_FL_KEEP_SIZE, from, length) {
        Ok(()) => Ok(true),
        Err(full @ (Errno::ENOSPC | Errno::EDQUOT)) => Err(full.into()),
        // Not every file system supports the call, and a later write reports all other errors.
        Err(_) => Ok(false),
    }
}

/// Reserves nothing: only Linux has a call that keeps the length.
///
/// # Errors
/// Never.
#[cfg(not(target_os = "linux"))]
pub fn reserve_disk_space(_file: &File, _range: Range<u64>) -> io::Result<bool> {
    Ok(false)
}

/// The identity of a file: its device, and its number on that device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileId(u64, u64);

impl FileId {
    /// The identity of an open file.
    ///
    /// # Errors
    /// When the system does not report it.
    pub fn of(file: &File) -> io::Result<Self> {
        file.metadata().map(|metadata| Self(metadata.dev(), metadata.ino()))
    }

    /// The identity of the file at a path, links followed.
    ///
    /// # Errors
    /// When the file does not exist.
    pub fn at(path: &Path) -> io::Result<Self> {
        path.metadata().map(|metadata| Self(metadata.dev(), metadata.ino()))
    }
}

/// The group and mode of a file.
#[derive(Clone, Copy, Debug)]
pub struct FileAccess {
    group: u32,
    mode: u32,
}

impl FileAccess {
    /// The access to a file.
    #[must_use]
    pub fn of(about: &Metadata) -> Self {
        Self { group: about.gid(), mode: about.mode() & 0o7777 }
    }

    /// The access that another file allows as well.
    #[must_use]
    pub fn intersection(self, other: Self) -> Self {
        // The permissions of another group do not apply to this one.
        let mask = if self.group == other.group { 0o777 } else { 0o707 };
        Self { mode: self.mode & other.mode & mask, ..self }
    }

    /// The access to a directory that lets the readers of the file in it enter.
    #[must_use]
    pub fn to_dir_access(self) -> Self {
        let mode = self.mode & 0o777;
        Self { mode: mode | (mode & 0o444) >> 2, ..self }
    }

    /// The mode for a file beside it without secrets, and without permission to execute.
    #[must_use]
    pub fn mode_for_public_file(self) -> u32 {
        self.mode & 0o666
    }

    /// Sets group and mode of a file. If the group cannot be set, no group gets access.
    ///
    /// # Errors
    /// When the system refuses, and the file has more access than it should.
    pub fn apply_to_file(self, file: &File) -> io::Result<()> {
        let is_of_group =
            file.metadata()?.gid() == self.group || fchown(file, None, Some(self.group)).is_ok();
        let mode = if is_of_group { self.mode } else { self.mode & 0o707 };
        let set = file.set_permissions(Permissions::from_mode(mode));
        // Some file systems have one mode for all files, and refuse all others.
        set.or_else(|error| match file.metadata()?.mode() & 0o777 & !mode {
            0 => Ok(()),
            _ => Err(error),
        })
    }

    /// As [`FileAccess::apply_to_file`], for a directory that must not be a link.
    ///
    /// # Errors
    /// As [`FileAccess::apply_to_file`], and when the path is a link or no directory.
    pub fn apply_to_dir(self, path: &Path) -> io::Result<()> {
        let flags = libc::O_NOFOLLOW | libc::O_DIRECTORY;
        self.apply_to_file(&OpenOptions::new().read(true).custom_flags(flags).open(path)?)
    }
}

impl OpenPurpose {
    fn flags(self) -> OFlag {
        // Without `O_NONBLOCK`, opening a pipe waits for its other end.
        match self {
            // Nothing here truncates: the old content is removed only once the new one is complete.
            Self::Read => OFlag::O_RDONLY | OFlag::O_NONBLOCK,
            Self::Lock => OFlag::O_RDWR | OFlag::O_CREAT | OFlag::O_NONBLOCK,
            Self::New => OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL,
            Self::Overwrite => OFlag::O_WRONLY | OFlag::O_NONBLOCK,
        }
    }

    fn mode(self) -> Mode {
        Mode::from_bits_truncate(if self == Self::New { 0o600 } else { 0o666 })
    }
}

const OPEN_DIR_FLAGS: OFlag = OFlag::O_RDONLY.union(OFlag::O_DIRECTORY).union(OFlag::O_CLOEXEC);

/// A handle of a directory. Each name is opened with `O_NOFOLLOW`, relative to the handle.
///
/// `openat2` would need one call instead of one per component, but exists on Linux only, and older
/// container profiles refuse it.
#[derive(Debug)]
pub(super) struct DirHandle(OwnedFd);

impl DirHandle {
    /// Opens a directory. Links in the path are followed.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self(nix::fcntl::open(path, OPEN_DIR_FLAGS, Mode::empty())?))
    }

    pub(super) fn subdir(&self, name: &OsStr) -> io::Result<Self> {
        Ok(Self(openat(&self.0, name, OPEN_DIR_FLAGS | OFlag::O_NOFOLLOW, Mode::empty())?))
    }

    /// Creates a subdirectory, for this user only if it is private.
    pub(super) fn create_subdir(&self, name: &OsStr, is_private: bool) -> io::Result<()> {
        let mode = if is_private { 0o700 } else { 0o777 };
        Ok(mkdirat(&self.0, name, Mode::from_bits_truncate(mode))?)
    }

    pub(super) fn open_file(&self, name: &OsStr, purpose: OpenPurpose) -> io::Result<File> {
        let flags = purpose.flags() | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        Ok(openat(&self.0, name, flags, purpose.mode())?.into())
    }

    /// The directory itself as a file, to be locked.
    pub(super) fn as_file(&self) -> io::Result<File> {
        // Opened and not duplicated: all duplicates of a handle share its locks.
        Ok(openat(&self.0, ".", OPEN_DIR_FLAGS, Mode::empty())?.into())
    }

    pub(super) fn names(&self) -> io::Result<Vec<std::ffi::OsString>> {
        // A new open file description, because reading a directory moves the position of its
        // handle.
        let handle = openat(&self.0, ".", OPEN_DIR_FLAGS, Mode::empty())?;
        let mut names = Vec::new();
        for entry in nix::dir::Dir::from_fd(handle)?.iter() {
            let name = OsStr::from_bytes(entry?.file_name().to_bytes()).to_owned();
            if name != "." && name != ".." {
                names.push(name);
            }
        }
        Ok(names)
    }

    /// The kind of an entry, links not followed.
    pub(super) fn kind(&self, name: &OsStr) -> io::Result<FileKind> {
        let status = fstatat(self.0.as_fd(), name, AtFlags::AT_SYMLINK_NOFOLLOW)?;
        Ok(match SFlag::from_bits_truncate(status.st_mode & SFlag::S_IFMT.bits()) {
            SFlag::S_IFREG => FileKind::File,
            SFlag::S_IFDIR => FileKind::Dir,
            SFlag::S_IFLNK => FileKind::Link,
            SFlag::S_IFIFO => FileKind::Pipe,
            SFlag::S_IFSOCK => FileKind::Socket,
            SFlag::S_IFCHR => FileKind::CharDevice,
            _ => FileKind::Device,
        })
    }

    pub(super) fn link_target(&self, name: &OsStr) -> io::Result<PathBuf> {
        Ok(readlinkat(&self.0, name)?.into())
    }

    /// Removes a file or a link.
    pub(super) fn remove_file(&self, name: &OsStr) -> io::Result<()> {
        Ok(unlinkat(&self.0, name, UnlinkatFlags::NoRemoveDir)?)
    }

    /// Whether [`DirHandle::remove_file`] failed because the entry may be a directory.
    pub(super) fn is_maybe_dir_error(error: &io::Error) -> bool {
        // Linux and POSIX disagree about the error for a directory. `EACCES` is about the directory that the
        // entry is in: nothing in it can be removed.
        let errno = error.raw_os_error().map(Errno::from_raw);
        matches!(errno, Some(Errno::EISDIR | Errno::EPERM))
    }

    /// Removes an empty directory.
    pub(super) fn remove_dir(&self, name: &OsStr) -> io::Result<()> {
        Ok(unlinkat(&self.0, name, UnlinkatFlags::RemoveDir)?)
    }

    pub(super) fn rename(&self, name: &OsStr, to: &Self, new: &OsStr) -> io::Result<()> {
        Ok(renameat(&self.0, name, &to.0, new)?)
    }

    pub(super) fn symlink(&self, target: &Path, name: &OsStr) -> io::Result<()> {
        Ok(symlinkat(target, &self.0, name)?)
    }
}

/// Sets the mode of an open file. Windows has none, and changes nothing.
///
/// # Errors
/// When the system refuses.
pub fn set_mode(file: &File, mode: u32) -> io::Result<()> {
    file.set_permissions(Permissions::from_mode(mode))
}

/// Whether a file was not opened because it is a socket, or a device without a driver.
pub(super) fn is_special_file_error(error: &io::Error) -> bool {
    error.raw_os_error() == Some(Errno::ENXIO as i32)
}

/// Whether a name leads elsewhere than to an entry of its directory.
pub(super) fn leads_out_of_directory(name: &OsStr) -> bool {
    name.as_bytes().contains(&b'/')
}

/// Takes the lock of a file, without waiting.
pub(super) fn lock(file: &File) -> io::Result<()> {
    set_lock(file, libc::F_WRLCK)
}

/// Releases the lock of a file.
pub(super) fn unlock(file: &File) -> io::Result<()> {
    set_lock(file, libc::F_UNLCK)
}

/// Whether another process holds the lock of a file.
pub(super) fn is_locked(file: &File) -> io::Result<bool> {
    let mut range = whole_file_range(libc::F_WRLCK);
    #[cfg(target_os = "linux")]
    let request = FcntlArg::F_OFD_GETLK(&mut range);
    #[cfg(not(target_os = "linux"))]
    let request = FcntlArg::F_GETLK(&mut range);
    fcntl(file, request).map_err(io::Error::from)?;
    Ok(range.l_type != whole_file_range(libc::F_UNLCK).l_type)
}

/// A lock of a kind on the whole file. The number of the kind has another type on each system.
fn whole_file_range(kind: impl Into<libc::c_int>) -> libc::flock {
    libc::flock {
        l_type: kind.into() as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: 0,
        // Up to the end, however long the file becomes: the range of Terraform.
        l_len: 0,
        l_pid: 0,
    }
}

fn set_lock(file: &File, kind: impl Into<libc::c_int>) -> io::Result<()> {
    let range = whole_file_range(kind);
    // Other systems have only process locks, which Terraform uses as well. They are lost when any
    // descriptor of the file is closed.
    #[cfg(target_os = "linux")]
    let request = FcntlArg::F_OFD_SETLK(&range);
    #[cfg(not(target_os = "linux"))]
    let request = FcntlArg::F_SETLK(&range);
    fcntl(file, request).map(drop).map_err(io::Error::from)
}

/// Whether [`lock`] failed because another process holds the lock.
pub(super) fn is_lock_held_error(error: &io::Error) -> bool {
    // POSIX allows either for a lock that conflicts.
    matches!(error.raw_os_error().map(Errno::from_raw), Some(Errno::EAGAIN | Errno::EACCES))
}

/// Whether an error means that the file system has no locks, or none left.
pub(super) fn is_lock_unsupported_error(error: &io::Error) -> bool {
    let errno = error.raw_os_error().map(Errno::from_raw);
    // A kernel or file system without this kind of lock returns `EINVAL`.
    matches!(errno, Some(Errno::ENOLCK | Errno::EOPNOTSUPP | Errno::ENOSYS | Errno::EINVAL))
}
