//! Archives in the forms zip and tar.gz. The same files give the same bytes: no times, no owners, a fixed
//! order.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use super::collect_entries::{ArchiveEntry, EntryContent};

/// A form of archives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ArchiveFormat {
    Zip,
    TarGz,
}

impl ArchiveFormat {
    /// The form of this name.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        match name {
            "zip" => Some(Self::Zip),
            "tar.gz" => Some(Self::TarGz),
            _ => None,
        }
    }
}

/// Why an archive cannot be written.
#[derive(Debug, thiserror::Error)]
pub(super) enum WriteArchiveError {
    #[error("error reading file for archival: {0}: {1}")]
    Source(String, io::Error),
    #[error("{0}")]
    Target(#[from] io::Error),
    #[error("error creating file inside archive: {0}")]
    Zip(#[from] zip::result::ZipError),
}

/// Writes an archive. With `mode` all files have these permissions.
pub(super) fn write_archive(
    form: ArchiveFormat,
    target: &Path,
    entries: &[ArchiveEntry],
    mode: Option<u32>,
) -> Result<(), WriteArchiveError> {
    let file = BufWriter::new(File::create(target)?);
    match form {
        ArchiveFormat::Zip => write_zip(file, entries, mode),
        ArchiveFormat::TarGz => write_tar_gz(file, entries, mode),
    }
}

fn write_zip(
    file: BufWriter<File>,
    entries: &[ArchiveEntry],
    mode: Option<u32>,
) -> Result<(), WriteArchiveError> {
    let mut archive = ZipWriter::new(file);
    for entry in entries {
        let content = read_entry_content(entry)?;
        let permissions = mode.or(entry.mode).unwrap_or(0o644) & 0o7777;
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .last_modified_time(DateTime::default())
            .large_file(content.len() > u32::MAX as usize)
            .unix_permissions(permissions);
        archive.start_file(&*entry.name, options)?;
        archive.write_all(&content)?;
    }
    archive.finish()?.flush()?;
    Ok(())
}

fn write_tar_gz(
    file: BufWriter<File>,
    entries: &[ArchiveEntry],
    mode: Option<u32>,
) -> Result<(), WriteArchiveError> {
    let mut archive = tar::Builder::new(GzEncoder::new(file, Compression::default()));
    for entry in entries {
        let content = read_entry_content(entry)?;
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(mode.or(entry.mode).unwrap_or(0o644) & 0o7777);
        header.set_mtime(0);
        archive.append_data(&mut header, &entry.name, &*content)?;
    }
    archive.into_inner()?.finish()?.flush()?;
    Ok(())
}

fn read_entry_content(entry: &ArchiveEntry) -> Result<Vec<u8>, WriteArchiveError> {
    match &entry.content {
        EntryContent::Given(text) => Ok(text.as_bytes().to_vec()),
        EntryContent::File(path) => fs::read(path)
            .map_err(|error| WriteArchiveError::Source(path.display().to_string(), error)),
    }
}
