//! A cache of the hashes of unpacked packages. A cached hash is valid while the metadata of every file is
//! the same: its inode, its size, and its change times. Only the kernel sets the time of the last status
//! change.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use formwork_core::disk::{MAX_SMALL_FILE_LEN, create_private_dir, file_change_stamp, read_text};
use formwork_value::codec::hex;
use sha2::{Digest as _, Sha256};

use super::hash;
use crate::clock;
use crate::env::Env;

/// The period within which two changes can have the same timestamp, in seconds.
const TIMESTAMP_GRANULARITY_SECONDS: i64 = 2;

/// The cached hashes of a user.
#[derive(Clone, Debug)]
pub(crate) struct HashMemo {
    directory: Option<PathBuf>,
}

impl HashMemo {
    /// Returns the cache in the user's cache directory, if it exists.
    pub(crate) fn in_user_cache(env: &Env) -> Self {
        Self { directory: env.cache_home.as_ref().map(|home| home.join("formwork/packages")) }
    }

    /// Returns the hash of an unpacked package, as [`hash::hash_dir`] computes it.
    ///
    /// # Errors
    /// A file cannot be read. The error contains its path.
    pub(crate) fn hash_of_dir(&self, root: &Path) -> io::Result<String> {
        let Some(directory) = &self.directory else { return hash::hash_dir(root) };
        let root = root.canonicalize()?;
        let name = Sha256::digest(root.as_os_str().as_encoded_bytes());
        let file = directory.join(hex::encode(&name));
        let Some(before) = FileMetadataRecords::read_records(&root)? else {
            return hash::hash_dir(&root);
        };
        if let Some(remembered) = before.remembered_hash(&file) {
            return Ok(remembered);
        }
        let hash = hash::hash_dir(&root)?;
        // A file that has just changed could change again with the same timestamp.
        let is_stable =
            before.newest + TIMESTAMP_GRANULARITY_SECONDS < clock::current_time().unix_timestamp();
        if is_stable && FileMetadataRecords::read_records(&root)?.as_ref() == Some(&before) {
            // The cache is optional, so write errors are ignored.
            drop(before.remember(&file, &hash));
        }
        Ok(hash)
    }
}

/// The metadata of all files of a directory.
#[derive(Debug, PartialEq, Eq)]
struct FileMetadataRecords {
    /// The checksum of the metadata.
    sum: String,
    /// The time of the latest change.
    newest: i64,
}

impl FileMetadataRecords {
    /// Reads the metadata of the files, if the system provides it.
    fn read_records(root: &Path) -> io::Result<Option<Self>> {
        let mut lines = Vec::new();
        let mut newest = 0;
        let mut open = vec![root.to_owned()];
        while let Some(directory) = open.pop() {
            for entry in fs::read_dir(&directory)? {
                let entry = entry?;
                let path = entry.path();
                let metadata = entry.metadata()?;
                if metadata.is_dir() {
                    open.push(path.clone());
                }
                let name = path.strip_prefix(root).unwrap_or(&path).display().to_string();
                // A link is hashed as its target file, but the metadata of the link does not change
                // with that file.
                let target = metadata.is_symlink().then(|| fs::metadata(&path).ok()).flatten();
                for metadata in [Some(&metadata), target.as_ref()].into_iter().flatten() {
                    let Some((record, changed)) = file_change_stamp(metadata) else {
                        return Ok(None);
                    };
                    newest = newest.max(changed);
                    lines.push(format!("{name:?} {record}\n"));
                }
            }
        }
        lines.sort();
        let sum = Sha256::digest(lines.concat());
        Ok(Some(Self { sum: hex::encode(&sum), newest }))
    }

    /// Returns the cached hash, if it is for this metadata.
    fn remembered_hash(&self, file: &Path) -> Option<String> {
        let text = read_text(file, MAX_SMALL_FILE_LEN).ok()?;
        let (sum, hash) = text.trim_end().split_once(' ')?;
        (sum == self.sum && hash.starts_with("h1:")).then(|| hash.to_owned())
    }

    fn remember(&self, file: &Path, hash: &str) -> io::Result<()> {
        let directory = file.parent().unwrap_or(Path::new("."));
        create_private_dir(directory)?;
        let mut temp_file = tempfile::NamedTempFile::new_in(directory)?;
        writeln!(temp_file, "{} {hash}", self.sum)?;
        temp_file.persist(file).map(drop).map_err(|error| error.error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_file_has_another_record_even_with_its_old_size_and_time() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("program");
        fs::write(&path, "one").unwrap();
        let before = FileMetadataRecords::read_records(directory.path()).unwrap();
        assert_eq!(FileMetadataRecords::read_records(directory.path()).unwrap(), before);
        let time = path.metadata().unwrap().modified().unwrap();
        let other_path = directory.path().join("aside");
        fs::write(&other_path, "two").unwrap();
        fs::File::open(&other_path).unwrap().set_modified(time).unwrap();
        fs::rename(other_path, &path).unwrap();
        assert_ne!(FileMetadataRecords::read_records(directory.path()).unwrap(), before);
    }

    #[test]
    fn the_record_of_a_link_contains_its_target() {
        let directory = tempfile::tempdir().unwrap();
        let (package, target) = (directory.path().join("package"), directory.path().join("target"));
        fs::create_dir(&package).unwrap();
        fs::write(&target, "one").unwrap();
        std::os::unix::fs::symlink("../target", package.join("program")).unwrap();
        let before = FileMetadataRecords::read_records(&package).unwrap();
        assert_eq!(FileMetadataRecords::read_records(&package).unwrap(), before);
        let other_path = directory.path().join("aside");
        fs::write(&other_path, "two").unwrap();
        fs::rename(other_path, target).unwrap();
        assert_ne!(FileMetadataRecords::read_records(&package).unwrap(), before);
    }

    #[test]
    fn a_hash_is_remembered_only_for_unchanged_files() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("memo/a");
        let record = FileMetadataRecords { sum: "ff".to_owned(), newest: 0 };
        record.remember(&file, "h1:x").unwrap();
        assert_eq!(record.remembered_hash(&file).as_deref(), Some("h1:x"));
        assert_eq!(
            FileMetadataRecords { sum: "fe".to_owned(), newest: 0 }.remembered_hash(&file),
            None
        );
    }

    #[test]
    fn a_package_that_just_changed_is_not_remembered() {
        let directory = tempfile::tempdir().unwrap();
        let (package, memo) = (directory.path().join("package"), directory.path().join("memo"));
        fs::create_dir(&package).unwrap();
        fs::write(package.join("program"), "one").unwrap();
        let memo = HashMemo { directory: Some(memo) };
        let hash = memo.hash_of_dir(&package).unwrap();
        assert_eq!(hash, hash::hash_dir(&package).unwrap());
        assert!(memo.directory.is_some_and(|directory| !directory.exists()));
    }
}
