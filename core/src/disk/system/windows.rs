//! Files on Windows.

use std::ffi::OsStr;
use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::ops::Range;
use std::os::windows::fs::OpenOptionsExt as _;
use std::os::windows::io::AsRawHandle as _;
use std::path::{Path, PathBuf};

use formwork_value::codec::hex;
use sha2::{Digest as _, Sha256};
use windows_sys::Win32::Foundation::{
    ERROR_ACCESS_DENIED, ERROR_INVALID_FUNCTION, ERROR_LOCK_VIOLATION, ERROR_NOT_SUPPORTED,
    ERROR_SHARING_VIOLATION, HANDLE,
};
use windows_sys::Win32::Storage::FileSystem::{
    FILE_FLAG_OPEN_REPARSE_POINT, LOCKFILE_EXCLUSIVE_LOCK, LOCKFILE_FAIL_IMMEDIATELY, LockFileEx,
    UnlockFileEx,
};
use windows_sys::Win32::System::IO::{OVERLAPPED, OVERLAPPED_0, OVERLAPPED_0_0};

use super::dir::OpenPurpose;
use super::{FileKind, FileOptions};

/// Characters that lead out of a directory, or to a stream of a file.
const PATH_SEPARATORS: [u8; 3] = [b'/', b'\\', b':'];

impl FileKind {
    pub(super) fn of(metadata: &Metadata) -> Self {
        match metadata.file_type() {
            kind if kind.is_file() => Self::File,
            kind if kind.is_dir() => Self::Dir,
            kind if kind.is_symlink() => Self::Link,
            _ => Self::Device,
        }
    }
}

pub(super) fn is_null_device(_found: &Metadata) -> bool {
    // `NUL` is found as a file without content, and read as one.
    false
}

pub(super) fn new_is_directory_error() -> io::Error {
    io::ErrorKind::IsADirectory.into()
}

impl FileOptions for OpenOptions {
    fn with_mode(&mut self, _mode: u32) -> &mut Self {
        // A file inherits the access of its directory, which the profile of a user closes to others.
        self
    }

    fn without_waiting(&mut self) -> &mut Self {
        // Pipes have a separate namespace here, which a checkout cannot contain.
        self
    }

    fn appending(&mut self) -> &mut Self {
        self.write(true)
    }
}

/// Creates a directory, and its parents likewise. It has the access of the directory that it is in: the
/// ones of a user are accessible only to that user.
///
/// # Errors
/// When the directory cannot be created. An existing one is not an error.
pub fn create_private_dir(path: &Path) -> io::Result<()> {
    std::fs::create_dir_all(path)
}

/// Creates a symbolic link.
///
/// # Errors
/// When the path is taken, or the user may not create links.
pub fn symlink(target: &Path, path: &Path) -> io::Result<()> {
    // The kind of a link is chosen when it is created. A target is relative to the directory of its link.
    match path.parent().unwrap_or(Path::new("")).join(target).is_dir() {
        true => std::os::windows::fs::symlink_dir(target, path),
        false => std::os::windows::fs::symlink_file(target, path),
    }
}

/// Makes the names in a directory durable. The file system keeps a journal of them itself.
///
/// # Errors
/// Never.
pub fn sync_dir(_path: &Path) -> io::Result<()> {
    Ok(())
}

/// Whether a rename failed because the replaced file is open with a lock.
#[must_use]
pub fn is_replace_refused_error(error: &io::Error) -> bool {
    has_error_code_of(error, &[ERROR_ACCESS_DENIED, ERROR_SHARING_VIOLATION])
}

/// Whether replacing a file with a new one is invisible to all users. The access to a file here is that
/// of its directory.
#[must_use]
pub fn can_be_replaced_unnoticed(_file: &Metadata, _by: &Metadata) -> bool {
    true
}

/// The change marker of a file, which differs after each change. Windows has none: programs can set
/// all times of a file.
#[must_use]
pub fn file_change_stamp(_found: &Metadata) -> Option<(String, i64)> {
    None
}

/// The approximate number of bytes that a file occupies on the disk.
#[must_use]
pub fn allocated_bytes(metadata: &Metadata) -> u64 {
    metadata.len()
}

/// Reserves nothing: Windows has no call that reserves space and keeps the file length.
///
/// # Errors
/// Never.
pub fn reserve_disk_space(_file: &File, _range: Range<u64>) -> io::Result<bool> {
    Ok(false)
}

/// The identity of a file: its volume, and its number on that volume.
#[derive(Debug, PartialEq, Eq)]
pub struct FileId(same_file::Handle);

impl FileId {
    /// The identity of an open file.
    ///
    /// # Errors
    /// When the system does not report it.
    pub fn of(file: &File) -> io::Result<Self> {
        same_file::Handle::from_file(file.try_clone()?).map(Self)
    }

    /// The identity of the file at a path, links followed.
    ///
    /// # Errors
    /// When the file does not exist.
    pub fn at(path: &Path) -> io::Result<Self> {
        same_file::Handle::from_path(path).map(Self)
    }
}

/// The access to a file. A new file has that of its directory.
#[derive(Clone, Copy, Debug)]
pub struct FileAccess;

impl FileAccess {
    /// The access to a file.
    #[must_use]
    pub fn of(_about: &Metadata) -> Self {
        Self
    }

    /// The access that another file allows as well.
    #[must_use]
    pub fn intersection(self, _other: Self) -> Self {
        self
    }

    /// The access to a directory that lets the readers of the file in it enter.
    #[must_use]
    pub fn to_dir_access(self) -> Self {
        self
    }

    /// The mode for a file beside it. Windows has none.
    #[must_use]
    pub fn mode_for_public_file(self) -> u32 {
        0o666
    }

    /// Sets the access to a file.
    ///
    /// # Errors
    /// Never.
    pub fn apply_to_file(self, _file: &File) -> io::Result<()> {
        Ok(())
    }

    /// Sets the access to a directory.
    ///
    /// # Errors
    /// Never.
    pub fn apply_to_dir(self, _path: &Path) -> io::Result<()> {
        Ok(())
    }
}

/// The path of a directory. Windows has no calls that are relative to an open directory, so each entry is
/// checked before it is opened: a link that a checkout contains is refused. A link that another program
/// creates in between is not noticed.
#[derive(Debug)]
pub(super) struct DirHandle(PathBuf);

impl DirHandle {
    /// Opens a directory. Links in the path are followed.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        match path.metadata()?.is_dir() {
            // The current directory may change.
            true => std::path::absolute(path).map(Self),
            false => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    pub(super) fn subdir(&self, name: &OsStr) -> io::Result<Self> {
        match self.kind(name)? {
            FileKind::Dir => Ok(Self(self.0.join(name))),
            _ => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    /// Creates a subdirectory.
    pub(super) fn create_subdir(&self, name: &OsStr, _is_private: bool) -> io::Result<()> {
        std::fs::create_dir(self.0.join(name))
    }

    pub(super) fn open_file(&self, name: &OsStr, purpose: OpenPurpose) -> io::Result<File> {
        let mut options = OpenOptions::new();
        match purpose {
            OpenPurpose::Read => options.read(true),
            OpenPurpose::Lock => options.read(true).write(true).create(true).truncate(false),
            OpenPurpose::New => options.write(true).create_new(true),
            OpenPurpose::Overwrite => options.write(true),
        };
        let file = options.custom_flags(FILE_FLAG_OPEN_REPARSE_POINT).open(self.0.join(name))?;
        // The link itself is open now, which is not a file to read or write.
        match FileKind::of(&file.metadata()?) {
            FileKind::Link => Err(io::ErrorKind::InvalidInput.into()),
            _ => Ok(file),
        }
    }

    /// A file that represents the directory, to be locked: a directory has no content to lock.
    pub(super) fn as_file(&self) -> io::Result<File> {
        // Not in the directory itself, whose content is hashed and moved.
        // All versions of this program must lock the same file.
        // A directory can have several paths: letters in either case, short names, junctions.
        let path = self.0.canonicalize()?;
        let hash = Sha256::digest(path.as_os_str().as_encoded_bytes());
        let directory = std::env::temp_dir().join("formwork-locks");
        std::fs::create_dir_all(&directory)?;
        let path = directory.join(hex::encode(&hash[..16]));
        OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)
    }

    pub(super) fn names(&self) -> io::Result<Vec<std::ffi::OsString>> {
        std::fs::read_dir(&self.0)?.map(|entry| Ok(entry?.file_name())).collect()
    }

    /// The kind of an entry, links not followed.
    pub(super) fn kind(&self, name: &OsStr) -> io::Result<FileKind> {
        std::fs::symlink_metadata(self.0.join(name)).map(|metadata| FileKind::of(&metadata))
    }

    pub(super) fn link_target(&self, name: &OsStr) -> io::Result<PathBuf> {
        std::fs::read_link(self.0.join(name))
    }

    /// Removes a file or a link.
    pub(super) fn remove_file(&self, name: &OsStr) -> io::Result<()> {
        // A removed file that is still open keeps its name until it is closed.
        let path = self.0.join(name);
        // A link to a directory is removed as a directory, and its target is not changed.
        match self.kind(name)? {
            FileKind::Link => std::fs::remove_file(&path).or_else(|_| std::fs::remove_dir(&path)),
            _ => std::fs::remove_file(&path),
        }
    }

    /// Whether [`DirHandle::remove_file`] failed because the entry may be a directory.
    pub(super) fn is_maybe_dir_error(error: &io::Error) -> bool {
        error.kind() == io::ErrorKind::PermissionDenied
    }

    /// Removes an empty directory.
    pub(super) fn remove_dir(&self, name: &OsStr) -> io::Result<()> {
        std::fs::remove_dir(self.0.join(name))
    }

    pub(super) fn rename(&self, name: &OsStr, to: &Self, new: &OsStr) -> io::Result<()> {
        // An existing file is replaced, even while another process has it open.
        std::fs::rename(self.0.join(name), to.0.join(new))
    }

    pub(super) fn symlink(&self, target: &Path, name: &OsStr) -> io::Result<()> {
        symlink(target, &self.0.join(name))
    }
}

/// Sets the mode of an open file. Windows has none, and changes nothing.
///
/// # Errors
/// Never.
pub fn set_mode(_file: &File, _mode: u32) -> io::Result<()> {
    Ok(())
}

/// Whether a file was not opened because it is not a regular file.
pub(super) fn is_special_file_error(_error: &io::Error) -> bool {
    false
}

/// Whether a name leads elsewhere than to an entry of its directory.
pub(super) fn leads_out_of_directory(name: &OsStr) -> bool {
    // All three are ASCII, so that none of them is a part of another character.
    let bytes = name.as_encoded_bytes();
    // The system drops dots and spaces at the end.
    bytes.iter().any(|byte| PATH_SEPARATORS.contains(byte))
        || matches!(bytes.last(), Some(b'.' | b' '))
        || is_device_name(name)
}

/// Whether a name means a device in every directory, with any extension.
fn is_device_name(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    let stem = name.split('.').next().unwrap_or_default().trim_end().to_ascii_uppercase();
    let is_port = |port: &str| matches!(port.as_bytes(), [b'0'..=b'9']);
    matches!(stem.as_str(), "CON" | "PRN" | "AUX" | "NUL")
        || ["COM", "LPT"].iter().any(|kind| stem.strip_prefix(kind).is_some_and(is_port))
}

/// The byte that is locked, far beyond the end of any file. Windows keeps other handles from reading a
/// locked part of a file. Terraform locks all bytes below `0xFFFF_FFFF_0000_0000`, so this one, too.
fn locked_byte() -> OVERLAPPED {
    let half = OVERLAPPED_0_0 { Offset: u32::MAX - 1, OffsetHigh: i32::MAX as u32 };
    OVERLAPPED { Anonymous: OVERLAPPED_0 { Anonymous: half }, ..OVERLAPPED::default() }
}

/// Takes the lock of a file, without waiting.
pub(super) fn lock(file: &File) -> io::Result<()> {
    let mut at = locked_byte();
    // As with Terraform, two readers exclude each other, too: every holder may write.
    let flags = LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY;
    #[expect(unsafe_code, reason = "the standard library locks the bytes that are read, too")]
    // SAFETY: the handle is open as long as `file`, and a call that fails immediately no longer uses `at`.
    let locked = unsafe { LockFileEx(file.as_raw_handle() as HANDLE, flags, 0, 1, 0, &raw mut at) };
    if locked == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Whether another process holds the lock of a file. The only way to check this is to take the lock.
pub(super) fn is_locked(file: &File) -> io::Result<bool> {
    match lock(file) {
        Ok(()) => unlock(file).map(|()| false),
        Err(error) if is_lock_held_error(&error) => Ok(true),
        Err(error) => Err(error),
    }
}

/// Releases the lock of a file.
pub(super) fn unlock(file: &File) -> io::Result<()> {
    let mut at = locked_byte();
    #[expect(unsafe_code, reason = "as `lock`")]
    // SAFETY: as `lock`.
    let unlocked = unsafe { UnlockFileEx(file.as_raw_handle() as HANDLE, 0, 1, 0, &raw mut at) };
    if unlocked == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

fn has_error_code_of(error: &io::Error, codes: &[u32]) -> bool {
    let code = error.raw_os_error().and_then(|code| u32::try_from(code).ok());
    code.is_some_and(|code| codes.contains(&code))
}

/// Whether [`lock`] failed because another process holds the lock.
pub(super) fn is_lock_held_error(error: &io::Error) -> bool {
    // A call that does not wait returns this error, and never ERROR_IO_PENDING, for a file that was opened
    // for use without overlapping.
    has_error_code_of(error, &[ERROR_LOCK_VIOLATION])
}

/// Whether an error means that the file system has no locks.
pub(super) fn is_lock_unsupported_error(error: &io::Error) -> bool {
    has_error_code_of(error, &[ERROR_INVALID_FUNCTION, ERROR_NOT_SUPPORTED])
}
