//! Extraction of untrusted archives. No other module extracts archives.
//!
//! No entry is written outside of the target directory, through a link, or beyond the limits. Links are
//! created last and checked by [`super::directory::check_confined`].

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
mod unpack_budget;

use std::fs::File;
use std::io::{self, BufReader, Read, Seek as _};
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use formwork_core::disk::{open_file, set_mode, symlink};
use unpack_budget::{CountedReader, UnpackBudget};

use super::directory;
use super::unpack_limits::{ArchiveError, UnpackLimits};

/// Maximum memory for decoding an `.xz` archive, in KiB. The archive specifies how much memory it needs:
/// `xz -9` needs half of this limit.
const XZ_MEMORY_LIMIT: u32 = 128 << 10;

/// Format of an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArchiveFormat {
    Zip,
    Tar,
    TarGzip,
    TarBzip2,
    TarXz,
}

/// The supported formats, for a message.
pub(super) const KNOWN_FORMATS_TEXT: &str = "archives end in .zip, .tar, .tar.gz, .tgz, .tar.bz2, .tbz2, .tar.xz or .txz, or specify the format with ?archive=";

impl ArchiveFormat {
    /// Returns the format for the extension of a file name.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        let formats = [
            (".tar.gz", Self::TarGzip),
            (".tgz", Self::TarGzip),
            (".tar.bz2", Self::TarBzip2),
            (".tbz2", Self::TarBzip2),
            (".tar.xz", Self::TarXz),
            (".txz", Self::TarXz),
            (".tar", Self::Tar),
            (".zip", Self::Zip),
        ];
        formats.into_iter().find(|(ending, _)| name.ends_with(ending)).map(|(_, format)| format)
    }
}

/// Extracts an archive into a directory that does not exist yet.
///
/// # Errors
/// The archive is malformed or unsafe. The contents of the directory must then be discarded.
pub(crate) fn unpack_archive(
    path: &Path,
    format: ArchiveFormat,
    into: &Path,
    limits: &UnpackLimits,
) -> Result<(), ArchiveError> {
    unpack_open_archive(open_file(path)?, format, into, limits)
}

/// As [`unpack_archive`], from an open file, which is read from its start.
///
/// # Errors
/// The archive is malformed or unsafe. The contents of the directory must then be discarded.
pub(crate) fn unpack_open_archive(
    mut file: File,
    format: ArchiveFormat,
    into: &Path,
    limits: &UnpackLimits,
) -> Result<(), ArchiveError> {
    file.rewind()?;
    let size = file.metadata()?.len();
    std::fs::create_dir(into)?;
    let mut sink = ExtractSink::new(into, size, limits);
    let file = BufReader::new(file);
    match format {
        ArchiveFormat::Zip => unpack_zip(file, &mut sink)?,
        ArchiveFormat::Tar => unpack_tar(file, &mut sink)?,
        ArchiveFormat::TarGzip => {
            unpack_tar(flate2::bufread::MultiGzDecoder::new(file), &mut sink)?;
        }
        ArchiveFormat::TarBzip2 => {
            unpack_tar(bzip2::bufread::MultiBzDecoder::new(file), &mut sink)?;
        }
        ArchiveFormat::TarXz => {
            let reader = lzma_rust2::XzReader::new_mem_limit(file, true, XZ_MEMORY_LIMIT);
            unpack_tar(reader, &mut sink)?;
        }
    }
    sink.create_links()
}

/// The content of an entry. It records read errors, to distinguish them from write errors.
struct EntryReader<R> {
    content: R,
    has_failed: bool,
}

impl<R: Read> Read for EntryReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.content.read(buffer);
        self.has_failed |= read.is_err();
        read
    }
}

fn malformed_archive_error(error: &dyn std::fmt::Display) -> ArchiveError {
    ArchiveError::Malformed(error.to_string())
}

fn unpack_zip(file: BufReader<File>, sink: &mut ExtractSink<'_>) -> Result<(), ArchiveError> {
    let mut archive =
        zip::ZipArchive::new(file).map_err(|error| malformed_archive_error(&error))?;
    // The number of entries is checked before any file is created.
    sink.check_entry_limit(archive.len())?;
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index).map_err(|error| malformed_archive_error(&error))?;
        let name = entry.name().map_err(|error| malformed_archive_error(&error))?.into_owned();
        if entry.is_symlink() {
            let target = sink.read_link_target(&mut entry)?;
            sink.defer_link(&name, target)?;
        } else if entry.is_dir() {
            sink.create_dir(&name)?;
        } else {
            let mode = entry.unix_mode();
            sink.write_file(&name, &mut entry, mode)?;
        }
    }
    Ok(())
}

fn unpack_tar(stream: impl Read, sink: &mut ExtractSink<'_>) -> Result<(), ArchiveError> {
    let budget = UnpackBudget::new(sink.limits.max_decoded_bytes());
    let counted = CountedReader { stream, budget: Rc::clone(&budget) };
    let mut archive = tar::Archive::new(counted);
    let mut entries = archive.entries().map_err(|error| malformed_archive_error(&error))?;
    loop {
        let Some(entry) = budget.count_as_headers(|| entries.next()) else { return Ok(()) };
        let mut entry = entry.map_err(|error| budget.io_error_or_limit(&error))?;
        unpack_tar_entry(&mut entry, sink).map_err(|error| budget.archive_error_or_limit(error))?;
        // Otherwise, the rest of the content would be counted as headers of the next entry.
        io::copy(&mut entry, &mut io::sink()).map_err(|error| budget.io_error_or_limit(&error))?;
    }
}

fn unpack_tar_entry(
    entry: &mut tar::Entry<'_, impl Read>,
    sink: &mut ExtractSink<'_>,
) -> Result<(), ArchiveError> {
    use tar::EntryType;
    let name = entry.path().map_err(|error| malformed_archive_error(&error))?;
    let name =
        name.to_str().ok_or_else(|| malformed_archive_error(&"a name is not UTF-8"))?.to_owned();
    match entry.header().entry_type() {
        EntryType::Regular | EntryType::Continuous | EntryType::GNUSparse => {
            let mode = entry.header().mode().ok();
            sink.write_file(&name, entry, mode)?;
        }
        EntryType::Directory => sink.create_dir(&name)?,
        EntryType::Symlink => {
            let target = entry.link_name().map_err(|error| malformed_archive_error(&error))?;
            let target = target.ok_or_else(|| malformed_archive_error(&"a link has no target"))?;
            sink.defer_link(&name, target.into_owned())?;
        }
        EntryType::Link => {
            let target = entry.link_name().map_err(|error| malformed_archive_error(&error))?;
            let target = target.ok_or_else(|| malformed_archive_error(&"a link has no target"))?;
            let target =
                target.to_str().ok_or_else(|| malformed_archive_error(&"a name is not UTF-8"))?;
            sink.create_hard_link(&name, target)?;
        }
        EntryType::XGlobalHeader => {}
        _ => return Err(ArchiveError::Special(name)),
    }
    Ok(())
}

/// Destination of the entries, with the remaining limits.
struct ExtractSink<'a> {
    root: &'a Path,
    limits: &'a UnpackLimits,
    /// The size of the archive.
    packed: u64,
    written: u64,
    entries: usize,
    links: Vec<(PathBuf, PathBuf)>,
}

impl<'a> ExtractSink<'a> {
    fn new(root: &'a Path, packed: u64, limits: &'a UnpackLimits) -> Self {
        Self { root, limits, packed, written: 0, entries: 0, links: Vec::new() }
    }

    /// Returns the destination path of an entry.
    fn target_path(&mut self, name: &str) -> Result<PathBuf, ArchiveError> {
        self.count_entry()?;
        if name.len() > self.limits.path {
            let limit = self.limits.path as u64;
            return Err(ArchiveError::TooMuch { limit, quantity: "bytes in the path of one file" });
        }
        let safe = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
        if name.contains(['\\', '\0']) || !Path::new(name).components().all(safe) {
            return Err(ArchiveError::Escapes(name.to_owned()));
        }
        let path = self.root.join(name);
        let missing = path.ancestors().skip(1).take_while(|directory| !directory.is_dir());
        let missing: Vec<_> = missing.map(Path::to_owned).collect();
        for directory in missing.into_iter().rev() {
            // A path can contain hundreds of directories, so directories count as entries.
            self.count_entry()?;
            std::fs::create_dir(directory)?;
        }
        Ok(path)
    }

    /// Counts a file, directory or link.
    fn count_entry(&mut self) -> Result<(), ArchiveError> {
        self.entries += 1;
        self.check_entry_limit(self.entries)
    }

    fn check_entry_limit(&self, n: usize) -> Result<(), ArchiveError> {
        if n > self.limits.entries {
            let limit = self.limits.entries as u64;
            return Err(ArchiveError::TooMuch { limit, quantity: "files, directories and links" });
        }
        Ok(())
    }

    fn create_dir(&mut self, name: &str) -> Result<(), ArchiveError> {
        let path = self.target_path(name)?;
        if path.is_dir() {
            return Ok(());
        }
        Ok(std::fs::create_dir(path)?)
    }

    fn write_file(
        &mut self,
        name: &str,
        content: &mut impl Read,
        mode: Option<u32>,
    ) -> Result<(), ArchiveError> {
        let path = self.target_path(name)?;
        // An existing entry of the same name is replaced and never written through.
        if path.symlink_metadata().is_ok_and(|metadata| !metadata.is_dir()) {
            std::fs::remove_file(&path)?;
        }
        let mut out = File::create_new(&path)?;
        let remaining = self.remaining_bytes();
        let mut content = EntryReader { content: content.take(remaining + 1), has_failed: false };
        let written =
            io::copy(&mut content, &mut out).map_err(|error| match content.has_failed {
                true => malformed_archive_error(&error),
                false => ArchiveError::Disk(error),
            })?;
        self.count_bytes(written)?;
        set_entry_mode(&out, mode)
    }

    /// Creates a hard link to a file that was extracted earlier.
    fn create_hard_link(&mut self, name: &str, target: &str) -> Result<(), ArchiveError> {
        let target = self.target_path(target)?;
        let metadata = target.symlink_metadata();
        if !metadata.is_ok_and(|metadata| metadata.is_file()) {
            return Err(malformed_archive_error(&"the target of a hard link does not exist"));
        }
        let mut content = open_file(&target)?;
        self.write_file(name, &mut content, None)
    }

    /// Number of bytes that can still be written.
    fn remaining_bytes(&self) -> u64 {
        let by_ratio = self.packed.saturating_mul(self.limits.ratio).max(self.limits.any_ratio);
        self.limits.unpacked.min(by_ratio).saturating_sub(self.written)
    }

    fn count_bytes(&mut self, written: u64) -> Result<(), ArchiveError> {
        if written > self.remaining_bytes() {
            return Err(if self.limits.unpacked.saturating_sub(self.written) < written {
                ArchiveError::TooMuch { limit: self.limits.unpacked, quantity: "bytes unpacked" }
            } else {
                let quantity = "times the size of the archive when unpacked";
                ArchiveError::TooMuch { limit: self.limits.ratio, quantity }
            });
        }
        self.written += written;
        Ok(())
    }

    /// Reads the target of a symbolic link, which a zip archive stores as content.
    fn read_link_target(&self, content: &mut impl Read) -> Result<PathBuf, ArchiveError> {
        let mut text = String::new();
        let limit = self.limits.path as u64;
        content
            .take(limit + 1)
            .read_to_string(&mut text)
            .map_err(|error| malformed_archive_error(&error))?;
        if text.len() > self.limits.path {
            return Err(ArchiveError::TooMuch { limit, quantity: "bytes in the target of a link" });
        }
        Ok(PathBuf::from(text))
    }

    fn defer_link(&mut self, name: &str, target: PathBuf) -> Result<(), ArchiveError> {
        if !self.limits.links {
            return Err(ArchiveError::Link(name.to_owned()));
        }
        let path = self.target_path(name)?;
        self.links.push((path, target));
        Ok(())
    }

    /// Creates the links, after all other entries, so that no entry is written through a link.
    fn create_links(self) -> Result<(), ArchiveError> {
        for (path, target) in &self.links {
            if path.symlink_metadata().is_err() {
                symlink(target, path)?;
            }
        }
        directory::check_confined(self.root, self.limits)
    }
}

fn set_entry_mode(file: &File, mode: Option<u32>) -> Result<(), ArchiveError> {
    // Only the executable bit is kept: the owner can always read, and other users cannot write.
    let mode = mode.map_or(0o644, |mode| if mode & 0o100 == 0 { 0o644 } else { 0o755 });
    Ok(set_mode(file, mode)?)
}
