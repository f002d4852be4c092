//! Access to files that an untrusted checkout may have planted: bounded reads, and directory handles
//! that follow no symbolic links. JSON documents that are objects.

mod dir;
mod durability;
mod json_object;
pub mod locks;
#[cfg_attr(unix, path = "disk/system/unix.rs")]
#[cfg_attr(not(unix), path = "disk/system/windows.rs")]
mod system;
#[cfg(test)]
mod tests;

pub use dir::{Dir, TempDir};
pub use durability::Durability;
pub use json_object::{deserialize_objects, parse_json_object};
pub use system::{
    FileAccess, FileId, allocated_bytes, can_be_replaced_unnoticed, create_private_dir,
    file_change_stamp, is_replace_refused_error, reserve_disk_space, set_mode, symlink, sync_dir,
};

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, BufRead, ErrorKind, Read};
use std::path::Path;

/// The maximum size of a configuration or variables file: 512 MiB.
pub const MAX_CONFIG_FILE_LEN: u64 = 512 << 20;
/// The maximum size of a file below the data directory, of a lock file or of settings: 16 MiB.
pub const MAX_SMALL_FILE_LEN: u64 = 16 << 20;
/// The maximum size of a state: 2 GiB.
pub const MAX_STATE_LEN: u64 = 2 << 30;

/// The kind of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(unix), expect(dead_code, reason = "some kinds are on Unix alone"))]
enum FileKind {
    File,
    Dir,
    Link,
    Pipe,
    Socket,
    CharDevice,
    Device,
}

/// File options that are not available on every system. An unavailable option has no effect.
pub trait FileOptions {
    /// A new file gets this mode, minus the umask. On Windows it inherits the access of its directory.
    fn with_mode(&mut self, mode: u32) -> &mut Self;

    /// Opening a pipe does not wait for its other end (`O_NONBLOCK`).
    fn without_waiting(&mut self) -> &mut Self;

    /// Writes go to the end of the file. On Windows a file that is only appended to can be neither locked nor
    /// cut, so there they go to the position, which starts at 0 and has to be set after a cut.
    fn appending(&mut self) -> &mut Self;

    /// Only the owner can read a new file: it may contain secrets.
    fn owner_only(&mut self) -> &mut Self {
        self.with_mode(0o600)
    }
}

/// Whether two paths lead to one file, through links of any kind. A file that does not exist yet is
/// identified by its path.
#[must_use]
pub fn is_same_file(first: &Path, second: &Path) -> bool {
    match (FileId::at(first), FileId::at(second)) {
        (Ok(first_id), Ok(second_id)) => first_id == second_id,
        (Err(_), Err(_)) => {
            let canonical_path = |path: &Path| {
                let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty());
                let directory = directory.unwrap_or(Path::new(".")).canonicalize().ok()?;
                Some(directory.join(path.file_name()?))
            };
            canonical_path(first)
                .is_some_and(|place_of_one| Some(place_of_one) == canonical_path(second))
        }
        _ => false,
    }
}

/// Reads a regular file of at most `limit` bytes. Links are followed.
///
/// # Errors
/// When the file cannot be read, is a pipe, device or socket, or exceeds the limit.
pub fn read_file(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    read_regular_file(OpenOptions::new().read(true).without_waiting().open(path)?, limit)
}

/// Opens a regular file. Links are followed.
///
/// # Errors
/// When the file cannot be opened, or is a pipe, device or socket.
pub fn open_file(path: &Path) -> io::Result<File> {
    // A pipe is refused below instead of waited for.
    let file = OpenOptions::new().read(true).without_waiting().open(path)?;
    check_is_regular_file(&file.metadata()?)?;
    Ok(file)
}

/// Reads a file or pipe that the user specified, of at most `limit` bytes. A pipe is read to its end.
///
/// # Errors
/// When the file cannot be read, is an endless device, or exceeds the limit.
pub fn read_user_file(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let metadata = std::fs::metadata(path)?;
    if metadata.is_file() {
        return read_file(path, limit);
    }
    let mut file = File::open(path)?;
    let is_terminal = || io::IsTerminal::is_terminal(&file);
    // `/dev/zero` never ends; a terminal does when the user ends the input.
    if FileKind::of(&metadata) == FileKind::CharDevice
        && !is_null_device(&metadata)
        && !is_terminal()
    {
        return Err(io::Error::other("it is a device, not a file"));
    }
    read_stream(&mut file, limit)
}

/// Reads a regular file of at most `limit` bytes as text. Links are followed.
///
/// # Errors
/// As [`read_file`], and when the content is not UTF-8.
pub fn read_text(path: &Path, limit: u64) -> io::Result<String> {
    text_from_utf8(read_file(path, limit)?)
}

/// As [`read_user_file`], as text.
///
/// # Errors
/// As [`read_user_file`], and when the content is not UTF-8.
pub fn read_user_text_file(path: &Path, limit: u64) -> io::Result<String> {
    text_from_utf8(read_user_file(path, limit)?)
}

/// Reads standard input to its end, at most `limit` bytes.
///
/// # Errors
/// When standard input cannot be read, or exceeds the limit.
pub fn read_stdin(limit: u64) -> io::Result<Vec<u8>> {
    read_stream(&mut io::stdin().lock(), limit)
}

/// Reads the next line of standard input, at most `limit` bytes; `None` at its end.
///
/// # Errors
/// When standard input cannot be read, or the line exceeds the limit.
pub fn read_stdin_line(limit: u64) -> io::Result<Option<Vec<u8>>> {
    read_line_of_stream(&mut io::stdin().lock(), limit)
}

fn text_from_utf8(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes).map_err(|error| io::Error::new(ErrorKind::InvalidData, error))
}

fn read_line_of_stream(stream: &mut dyn BufRead, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    // One byte over the limit is enough to detect more data.
    let n_read = stream.take(limit + 1).read_until(b'\n', &mut line)?;
    if line.last() == Some(&b'\n') {
        line.pop();
    }
    match line.len() as u64 {
        length if length > limit => Err(too_large_error(limit)),
        _ => Ok((n_read > 0).then_some(line)),
    }
}

fn read_stream(stream: &mut dyn Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // One byte over the limit is enough to detect more data.
    stream.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit { Err(too_large_error(limit)) } else { Ok(bytes) }
}

/// Reads an open file, if it is a regular one of at most `limit` bytes.
fn read_regular_file(file: File, limit: u64) -> io::Result<Vec<u8>> {
    let metadata = file.metadata()?;
    if is_null_device(&metadata) {
        return Ok(Vec::new());
    }
    check_is_regular_file(&metadata)?;
    if metadata.len() > limit {
        return Err(too_large_error(limit));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or_default());
    // The file may grow during the read, and files below `/proc` have no length.
    file.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit { Err(too_large_error(limit)) } else { Ok(bytes) }
}

fn check_is_regular_file(metadata: &Metadata) -> io::Result<()> {
    let reason = match FileKind::of(metadata) {
        FileKind::File => return Ok(()),
        FileKind::Dir => return Err(system::new_is_directory_error()),
        FileKind::Pipe => "it is a pipe, not a file",
        FileKind::Socket => "it is a socket, not a file",
        FileKind::Link | FileKind::CharDevice | FileKind::Device => "it is a device, not a file",
    };
    Err(io::Error::other(reason))
}

/// Whether this is `/dev/null`, a customary empty file.
fn is_null_device(metadata: &Metadata) -> bool {
    FileKind::of(metadata) == FileKind::CharDevice && system::is_null_device(metadata)
}

/// Whether a path leads to a device, such as `/dev/null`. Writing to one does not wait for a reader.
#[must_use]
pub fn is_device(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| {
        matches!(FileKind::of(&metadata), FileKind::CharDevice | FileKind::Device)
    })
}

fn too_large_error(limit: u64) -> io::Error {
    let reason = format!("it is larger than the limit of {} MiB", limit >> 20);
    io::Error::new(ErrorKind::FileTooLarge, reason)
}
