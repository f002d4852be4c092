//! Access to files that an untrusted checkout may have planted: bounded reads, and directory handles
//! that follow no symbolic links.

mod dir;
pub mod locks;
#[cfg(test)]
mod tests;

pub use dir::{Dir, TempDir};

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use nix::errno::Errno;
use nix::libc;

/// The maximum size of a configuration or variables file: 512 MiB.
pub const MAX_TEXT: u64 = 512 << 20;
/// The maximum size of a file below the data folder, of a lock file or of settings: 16 MiB.
pub const MAX_RECORD: u64 = 16 << 20;
/// The maximum size of a state: 2 GiB.
pub const MAX_STATE: u64 = 2 << 30;

/// Reads a regular file of at most `limit` bytes. Links are followed.
///
/// # Errors
/// When the file cannot be read, is a pipe, device or socket, or is larger than the limit.
pub fn read_file(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    // Without `O_NONBLOCK`, opening a pipe waits for a writer.
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    read_regular(file, limit)
}

/// Opens a regular file. Links are followed.
///
/// # Errors
/// When it cannot be opened, or is a pipe, device or socket.
pub fn open_file(path: &Path) -> io::Result<File> {
    // `O_NONBLOCK` so that a pipe is refused below instead of waited for.
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    check_regular(&file.metadata()?)?;
    Ok(file)
}

/// Reads a file or pipe that the user named, of at most `limit` bytes. A pipe is read to its end.
///
/// # Errors
/// When it cannot be read, is a device without an end, or is larger than the limit.
pub fn read_named(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let found = std::fs::metadata(path)?;
    if found.is_file() {
        return read_file(path, limit);
    }
    let mut file = File::open(path)?;
    let is_terminal = || io::IsTerminal::is_terminal(&file);
    // `/dev/zero` never ends; a terminal does when the user ends the input.
    if found.file_type().is_char_device() && !is_null(&found) && !is_terminal() {
        return Err(io::Error::other("it is a device, not a file"));
    }
    read_stream(&mut file, limit)
}

/// Reads a regular file of at most `limit` bytes as text. Links are followed.
///
/// # Errors
/// As [`read_file`], and when the content is not UTF-8.
pub fn read_text(path: &Path, limit: u64) -> io::Result<String> {
    text(read_file(path, limit)?)
}

/// As [`read_named`], as text.
///
/// # Errors
/// As [`read_named`], and when the content is not UTF-8.
pub fn read_named_text(path: &Path, limit: u64) -> io::Result<String> {
    text(read_named(path, limit)?)
}

/// Reads standard input to its end, at most `limit` bytes.
///
/// # Errors
/// When it cannot be read, or is larger than the limit.
pub fn read_stdin(limit: u64) -> io::Result<Vec<u8>> {
    read_stream(&mut io::stdin().lock(), limit)
}

fn text(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes).map_err(|error| io::Error::new(ErrorKind::InvalidData, error))
}

fn read_stream(stream: &mut dyn Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // One byte over the limit is enough to see that there is more.
    stream.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit { Err(too_large(limit)) } else { Ok(bytes) }
}

/// Reads an open file, if it is a regular one of at most `limit` bytes.
fn read_regular(file: File, limit: u64) -> io::Result<Vec<u8>> {
    let found = file.metadata()?;
    if is_null(&found) {
        return Ok(Vec::new());
    }
    check_regular(&found)?;
    if found.len() > limit {
        return Err(too_large(limit));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(found.len()).unwrap_or_default());
    // The file may grow meanwhile, and files below `/proc` have no length.
    file.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit { Err(too_large(limit)) } else { Ok(bytes) }
}

fn check_regular(found: &Metadata) -> io::Result<()> {
    match found.file_type() {
        kind if kind.is_file() => Ok(()),
        kind if kind.is_dir() => Err(Errno::EISDIR.into()),
        kind if kind.is_fifo() => Err(io::Error::other("it is a pipe, not a file")),
        kind if kind.is_socket() => Err(io::Error::other("it is a socket, not a file")),
        _ => Err(io::Error::other("it is a device, not a file")),
    }
}

/// Whether this is `/dev/null`, a customary empty file.
fn is_null(found: &Metadata) -> bool {
    let null = || std::fs::metadata("/dev/null").ok();
    found.file_type().is_char_device() && null().is_some_and(|null| null.rdev() == found.rdev())
}

fn too_large(limit: u64) -> io::Error {
    let reason = format!("it is larger than the limit of {} MiB", limit >> 20);
    io::Error::new(ErrorKind::FileTooLarge, reason)
}
