//! Archives whose bytes depend on nothing but their content: entries in order, one time, no owner.

use std::io::Write as _;

use flate2::{Compression, GzBuilder};
use sha2::{Digest as _, Sha256};

use crate::Failure;

/// A file of an installation.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// Its path, with `/` between names.
    pub(crate) path: String,
    pub(crate) bytes: Vec<u8>,
    pub(crate) mode: u32,
}

impl Entry {
    /// A file to be read.
    pub(crate) fn file(path: &str, bytes: impl Into<Vec<u8>>) -> Self {
        Self { path: path.to_owned(), bytes: bytes.into(), mode: 0o644 }
    }

    /// A file to be run.
    pub(crate) fn program(path: &str, bytes: Vec<u8>) -> Self {
        Self { mode: 0o755, ..Self::file(path, bytes) }
    }
}

/// A compressed archive of files, each under the path that `archive_path` returns, with the directories
/// above.
pub(crate) fn tar_gz(
    entries: &[Entry],
    archive_path: impl Fn(&Entry) -> String,
    epoch: u64,
) -> Result<Vec<u8>, Failure> {
    let mut archive = tar::Builder::new(Vec::new());
    let mut directories: Vec<String> = Vec::new();
    for entry in entries {
        let path = archive_path(entry);
        let above = path.match_indices('/').map(|(position, _)| path[..=position].to_owned());
        for directory in above {
            if directory != "./" && !directories.contains(&directory) {
                append(
                    &mut archive,
                    tar::EntryType::Directory,
                    &directory,
                    Content { bytes: &[], mode: 0o755 },
                    epoch,
                )?;
                directories.push(directory);
            }
        }
        let content = Content { bytes: &entry.bytes, mode: entry.mode };
        append(&mut archive, tar::EntryType::Regular, &path, content, epoch)?;
    }
    gz(&archive.into_inner()?)
}

/// Bytes of an entry, and its mode.
struct Content<'a> {
    bytes: &'a [u8],
    mode: u32,
}

fn append(
    archive: &mut tar::Builder<Vec<u8>>,
    kind: tar::EntryType,
    path: &str,
    content: Content<'_>,
    epoch: u64,
) -> Result<(), Failure> {
    let Content { bytes, mode } = content;
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_size(bytes.len().try_into()?);
    header.set_mtime(epoch);
    header.set_uid(0);
    header.set_gid(0);
    header.set_username("root")?;
    header.set_groupname("root")?;
    archive.append_data(&mut header, path, bytes)?;
    Ok(())
}

/// Compressed bytes, without a time or a name.
pub(crate) fn gz(bytes: &[u8]) -> Result<Vec<u8>, Failure> {
    let mut packed = GzBuilder::new().mtime(0).write(Vec::new(), Compression::default());
    packed.write_all(bytes)?;
    Ok(packed.finish()?)
}

/// The checksum of bytes, in hexadecimal digits.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Bytes in hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
