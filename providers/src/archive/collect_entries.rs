//! Archive entries: given content, one file, or a directory without its excluded files.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::file_mode;

/// Maximum depth of directories. It ends the search where links form a cycle.
const MAX_DIR_DEPTH: usize = 64;

/// A file of the archive.
pub(super) struct ArchiveEntry {
    /// The name in the archive.
    pub(super) name: String,
    pub(super) content: EntryContent,
    /// The permissions, if it is a file with any.
    pub(super) mode: Option<u32>,
}

/// Content of a file.
pub(super) enum EntryContent {
    Given(String),
    File(PathBuf),
}

/// Why files cannot be collected.
#[derive(Debug, thiserror::Error)]
pub(super) enum CollectError {
    #[error("error archiving file: could not archive missing file: {0}")]
    NoFile(String),
    #[error("error archiving directory: could not archive missing directory: {0}")]
    NoDir(String),
    #[error("error archiving directory: could not archive directory that is a file: {0}")]
    FileForDir(String),
    #[error("error archiving directory: archive has not been created as it would be empty")]
    Empty,
    #[error("error archiving directory: {path}: {error}")]
    Unreadable { path: PathBuf, error: io::Error },
    #[error(
        "error archiving directory: {0} is deeper than {MAX_DIR_DEPTH} directories; check for \
         links that form a cycle"
    )]
    TooDeep(PathBuf),
    #[error("error archiving directory: error checking excludes matches: {0}")]
    Pattern(#[from] globset::Error),
}

/// A single file, named by the last part of its path.
pub(super) fn collect_file(path: &str) -> Result<ArchiveEntry, CollectError> {
    let metadata = fs::metadata(path).ok().filter(|metadata| !metadata.is_dir());
    let Some(metadata) = metadata else { return Err(CollectError::NoFile(path.to_owned())) };
    let path = PathBuf::from(path);
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mode = file_mode::mode_from_metadata(&metadata);
    Ok(ArchiveEntry { name, content: EntryContent::File(path), mode })
}

/// Exclusions of a directory.
pub(super) struct Exclusions<'o> {
    /// Patterns of names as in the archive. `**` matches any number of directories.
    pub(super) excluded: &'o BTreeSet<String>,
    /// Whether links to directories are left out, instead of adding their content.
    pub(super) linked_dirs: bool,
}

/// All files of a directory, sorted by name.
pub(super) fn collect_dir(
    path: &str,
    exclusions: &Exclusions<'_>,
) -> Result<Vec<ArchiveEntry>, CollectError> {
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(CollectError::NoDir(path.to_owned()));
        }
        Err(error) => return Err(CollectError::Unreadable { path: path.into(), error }),
        Ok(metadata) if !metadata.is_dir() => {
            return Err(CollectError::FileForDir(path.to_owned()));
        }
        Ok(_) => {}
    }
    let mut search = DirSearch {
        excluded: compile_exclude_patterns(exclusions.excluded)?,
        exclusions,
        entries: Vec::new(),
    };
    search.walk_dir(Path::new(path), "", 0)?;
    match search.entries.is_empty() {
        true => Err(CollectError::Empty),
        false => Ok(search.entries),
    }
}

/// Checks that all are patterns.
pub(super) fn check_exclude_patterns(texts: &BTreeSet<String>) -> Result<(), String> {
    compile_exclude_patterns(texts)
        .map(drop)
        .map_err(|error| format!("must have patterns: {error}"))
}

/// Compiles the patterns. A directory matches `name/**` like its content, so that it is not
/// searched.
fn compile_exclude_patterns(excluded: &BTreeSet<String>) -> Result<GlobSet, globset::Error> {
    let mut set = GlobSetBuilder::new();
    for pattern in excluded.iter().filter(|pattern| !pattern.is_empty()) {
        set.add(GlobBuilder::new(pattern).literal_separator(true).build()?);
        if let Some(directory) = pattern.strip_suffix("/**") {
            set.add(GlobBuilder::new(directory).literal_separator(true).build()?);
        }
    }
    set.build()
}

struct DirSearch<'o> {
    excluded: GlobSet,
    exclusions: &'o Exclusions<'o>,
    entries: Vec<ArchiveEntry>,
}

impl DirSearch<'_> {
    fn walk_dir(
        &mut self,
        directory: &Path,
        prefix: &str,
        depth: usize,
    ) -> Result<(), CollectError> {
        if depth == MAX_DIR_DEPTH {
            return Err(CollectError::TooDeep(directory.to_owned()));
        }
        let unreadable =
            |path: &Path, error| CollectError::Unreadable { path: path.to_owned(), error };
        let listed = fs::read_dir(directory).and_then(Iterator::collect::<io::Result<Vec<_>>>);
        let mut listed = listed.map_err(|error| unreadable(directory, error))?;
        listed.sort_by_key(fs::DirEntry::file_name);
        for entry in listed {
            let path = entry.path();
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            if self.excluded.is_match(&name) {
                continue;
            }
            let kind = entry.file_type().map_err(|error| unreadable(&path, error))?;
            // Links are followed.
            let metadata = fs::metadata(&path).map_err(|error| unreadable(&path, error))?;
            if !metadata.is_dir() {
                let mode = file_mode::mode_from_metadata(&metadata);
                self.entries.push(ArchiveEntry { name, content: EntryContent::File(path), mode });
            } else if !kind.is_symlink() || !self.exclusions.linked_dirs {
                self.walk_dir(&path, &format!("{name}/"), depth + 1)?;
            }
        }
        Ok(())
    }
}
