//! The archive of the data source and the resource: from the configuration to a file and its
//! digests.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path as FilePath;

use formwork_sdk::prelude::*;

use super::collect_entries::{self, ArchiveEntry, CollectError, EntryContent, Exclusions};
use super::write_archive::{ArchiveFormat, write_archive};
use crate::digest::Digests;

/// A file that is given.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Nested)]
pub(super) struct SourceBlock {
    /// Content of the file.
    #[attr(required)]
    pub(super) content: String,
    /// The name of the file in the archive.
    #[attr(required)]
    pub(super) filename: String,
}

/// Arguments of the author.
pub(super) struct ArchiveRequest<'m> {
    pub(super) form: &'m str,
    pub(super) output_path: &'m str,
    pub(super) output_file_mode: Option<&'m str>,
    pub(super) source: &'m BTreeSet<SourceBlock>,
    pub(super) content: Option<&'m str>,
    pub(super) content_filename: Option<&'m str>,
    pub(super) file: Option<&'m str>,
    pub(super) dir: Option<&'m str>,
    pub(super) excludes: Option<&'m BTreeSet<String>>,
    pub(super) exclude_symlink_directories: bool,
}

/// Attributes of the finished archive.
pub(super) struct ArchiveResult {
    pub(super) size: i64,
    pub(super) digests: Digests,
}

impl ArchiveRequest<'_> {
    /// Creates the archive.
    pub(super) fn create_archive(&self) -> Answer<ArchiveResult> {
        let fail = |summary: &str, reason: String| Problem::new(summary, reason);
        let failed = "Archive creation error";
        let target = FilePath::new(self.output_path);
        if let Some(directory) =
            target.parent().filter(|directory| !directory.as_os_str().is_empty())
        {
            fs::create_dir_all(directory).map_err(|error| {
                let reason =
                    format!("error creating output path: {}: {error}", directory.display());
                fail("Output path error", reason)
            })?;
        }
        let Some(form) = ArchiveFormat::from_name(self.form) else {
            let reason = format!(
                "error creating archive: archive type not supported: {}; use \"zip\" or \"tar.gz\"",
                self.form
            );
            return Err(fail(failed, reason));
        };
        let mode = self.output_file_mode.filter(|mode| !mode.is_empty()).map(|text| {
            parse_octal_mode(text).ok_or_else(|| {
                let reason = format!(
                    "error creating archive: error parsing output_file_mode value: {text}; give octal \
                     digits, for example \"0644\""
                );
                fail(failed, reason)
            })
        });
        let mode = mode.transpose()?;
        let entries = self
            .entries()
            .map_err(|error| fail(failed, format!("error creating archive: {error}")))?;
        write_archive(form, target, &entries, mode)
            .map_err(|error| fail(failed, format!("error creating archive: {error}")))?;
        let bytes = fs::read(target).map_err(|error| {
            fail("Archive output error", format!("error reading output: {error}"))
        })?;
        let size = i64::try_from(bytes.len()).unwrap_or(i64::MAX);
        Ok(ArchiveResult { size, digests: Digests::of(&bytes) })
    }

    /// Entries of the archive.
    fn entries(&self) -> Result<Vec<ArchiveEntry>, CollectError> {
        let entry = |name: &str, text: &str| ArchiveEntry {
            name: name.to_owned(),
            content: EntryContent::Given(text.to_owned()),
            mode: None,
        };
        if let Some(dir) = self.dir {
            let none = BTreeSet::new();
            let excluded = self.excludes.unwrap_or(&none);
            return collect_entries::collect_dir(
                dir,
                &Exclusions { excluded, linked_dirs: self.exclude_symlink_directories },
            );
        }
        if let Some(file) = self.file {
            return Ok(vec![collect_entries::collect_file(file)?]);
        }
        if let Some(name) = self.content_filename {
            return Ok(vec![entry(name, self.content.unwrap_or_default())]);
        }
        // Of several with one name the last counts, and they are in the order of their names.
        let entries_by_name: BTreeMap<_, _> =
            self.source.iter().map(|source| (&source.filename, &source.content)).collect();
        Ok(entries_by_name.into_iter().map(|(name, text)| entry(name, text)).collect())
    }
}

/// Checks that a string names a form of archives.
pub(super) fn check_archive_type(text: &str) -> Result<(), String> {
    let forms = "must be \"zip\" or \"tar.gz\"";
    ArchiveFormat::from_name(text).map(drop).ok_or_else(|| format!("{forms}, and is {text:?}"))
}

/// Checks that a string is empty or contains permissions.
pub(super) fn check_file_mode(text: &str) -> Result<(), String> {
    match text.is_empty() || parse_octal_mode(text).is_some() {
        true => Ok(()),
        false => Err(format!("must have octal digits, for example \"0644\", and is {text:?}")),
    }
}

/// Refuses patterns of files to leave out where no file could be.
pub(super) fn check_excludes_allowed(is_meant: bool) -> Answer<()> {
    if is_meant {
        return Ok(());
    }
    let detail = "`excludes` can be used only with `source_dir`.";
    let problem = Problem::new("Invalid Attribute Combination", detail);
    Err(problem.at("excludes"))
}

/// Reads permissions as the public provider does: an octal number that begins with 0 or 0o.
fn parse_octal_mode(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("0o").or_else(|| text.strip_prefix('0')).unwrap_or(text);
    match digits {
        "" if text.starts_with('0') => Some(0),
        _ => u32::from_str_radix(digits, 8).ok().filter(|mode| *mode <= 0o7777),
    }
}
