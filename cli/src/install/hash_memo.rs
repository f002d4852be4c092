//! Hashes of unpacked packages, remembered between commands. A hash holds as long as the system's record
//! of every file is the same: its place on the disk, its size, and the times of its last changes. Only
//! the kernel sets the time of the last change.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use formwork_core::disk::{MAX_SMALL_FILE_LEN, create_private_dir, file_change_stamp, read_text};
use formwork_value::codec::hex;
use sha2::{Digest as _, Sha256};

use super::hash;
use crate::clock;
use crate::env::Env;

/// The seconds for which a change may have the same time as another one.
const TIMESTAMP_GRANULARITY_SECONDS: i64 = 2;

/// The remembered hashes of a user.
#[derive(Clone, Debug)]
pub(crate) struct HashMemo {
    folder: Option<PathBuf>,
}

impl HashMemo {
    /// The memo in the user's cache folder, if there is one.
    pub(crate) fn in_user_cache(env: &Env) -> Self {
        Self { folder: env.cache_home.as_ref().map(|home| home.join("formwork/packages")) }
    }

    /// The hash of an unpacked package, as [`hash::hash_folder`] computes it.
    ///
    /// # Errors
    /// When a file cannot be read; the error names it.
    pub(crate) fn hash_of_folder(&self, root: &Path) -> io::Result<String> {
        let Some(folder) = &self.folder else { return hash::hash_folder(root) };
        let root = root.canonicalize()?;
        let name = Sha256::digest(root.as_os_str().as_encoded_bytes());
        let file = folder.join(hex::encode(&name));
        let Some(before) = FileMetadataRecords::read_records(&root)? else {
            return hash::hash_folder(&root);
        };
        if let Some(known) = before.remembered_hash(&file) {
            return Ok(known);
        }
        let hash = hash::hash_folder(&root)?;
        // A file that changes in this moment may change again without another time.
        let settled =
            before.newest + TIMESTAMP_GRANULARITY_SECONDS < clock::current_time().unix_timestamp();
        if settled && FileMetadataRecords::read_records(&root)?.as_ref() == Some(&before) {
            // A memo that cannot be written to is as good as none.
            drop(before.remember(&file, &hash));
        }
        Ok(hash)
    }
}

/// The system's records of all files of a folder.
#[derive(Debug, PartialEq, Eq)]
struct FileMetadataRecords {
    /// The checksum over the records.
    sum: String,
    /// The time of the newest change.
    newest: i64,
}

impl FileMetadataRecords {
    /// The records of the files, if the system keeps any.
    fn read_records(root: &Path) -> io::Result<Option<Self>> {
        let mut lines = Vec::new();
        let mut newest = 0;
        let mut open = vec![root.to_owned()];
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(&folder)? {
                let entry = entry?;
                let path = entry.path();
                let found = entry.metadata()?;
                if found.is_dir() {
                    open.push(path.clone());
                }
                let name = path.strip_prefix(root).unwrap_or(&path).display().to_string();
                // The hash is that of the file a link leads to. The link stays the same when that
                // file changes.
                let target = found.is_symlink().then(|| fs::metadata(&path).ok()).flatten();
                for found in [Some(&found), target.as_ref()].into_iter().flatten() {
                    let Some((record, changed)) = file_change_stamp(found) else {
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

    /// The remembered hash, if it is one of these records.
    fn remembered_hash(&self, file: &Path) -> Option<String> {
        let text = read_text(file, MAX_SMALL_FILE_LEN).ok()?;
        let (sum, hash) = text.trim_end().split_once(' ')?;
        (sum == self.sum && hash.starts_with("h1:")).then(|| hash.to_owned())
    }

    fn remember(&self, file: &Path, hash: &str) -> io::Result<()> {
        let folder = file.parent().unwrap_or(Path::new("."));
        create_private_dir(folder)?;
        let mut aside = tempfile::NamedTempFile::new_in(folder)?;
        writeln!(aside, "{} {hash}", self.sum)?;
        aside.persist(file).map(drop).map_err(|error| error.error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_file_has_another_record_even_with_its_old_size_and_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("program");
        fs::write(&path, "one").unwrap();
        let before = FileMetadataRecords::read_records(folder.path()).unwrap();
        assert_eq!(FileMetadataRecords::read_records(folder.path()).unwrap(), before);
        let time = path.metadata().unwrap().modified().unwrap();
        let aside = folder.path().join("aside");
        fs::write(&aside, "two").unwrap();
        fs::File::open(&aside).unwrap().set_modified(time).unwrap();
        fs::rename(aside, &path).unwrap();
        assert_ne!(FileMetadataRecords::read_records(folder.path()).unwrap(), before);
    }

    #[test]
    fn the_record_of_a_link_has_the_file_that_it_leads_to() {
        let folder = tempfile::tempdir().unwrap();
        let (package, target) = (folder.path().join("package"), folder.path().join("target"));
        fs::create_dir(&package).unwrap();
        fs::write(&target, "one").unwrap();
        std::os::unix::fs::symlink("../target", package.join("program")).unwrap();
        let before = FileMetadataRecords::read_records(&package).unwrap();
        assert_eq!(FileMetadataRecords::read_records(&package).unwrap(), before);
        let aside = folder.path().join("aside");
        fs::write(&aside, "two").unwrap();
        fs::rename(aside, target).unwrap();
        assert_ne!(FileMetadataRecords::read_records(&package).unwrap(), before);
    }

    #[test]
    fn a_hash_is_remembered_for_its_records_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("memo/a");
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
        let folder = tempfile::tempdir().unwrap();
        let (package, memo) = (folder.path().join("package"), folder.path().join("memo"));
        fs::create_dir(&package).unwrap();
        fs::write(package.join("program"), "one").unwrap();
        let memo = HashMemo { folder: Some(memo) };
        let hash = memo.hash_of_folder(&package).unwrap();
        assert_eq!(hash, hash::hash_folder(&package).unwrap());
        assert!(memo.folder.is_some_and(|folder| !folder.exists()));
    }
}
