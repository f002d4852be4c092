//! The hashes of a package. The `h1:` hash of an unpacked directory is the same as that of its archive.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use formwork_core::disk::open_file;
use formwork_value::codec::hex;
use sha2::{Digest as _, Sha256};

use crate::fetch::unpack_limits::UnpackLimits;

/// Returns the `h1:` hash of an unpacked package. The directory itself may be a link.
///
/// # Errors
/// A file cannot be read. The error contains its path.
pub(crate) fn hash_dir(root: &Path) -> io::Result<String> {
    let mut files = Vec::new();
    collect_files(
        &root.canonicalize().map_err(|error| error_with_path(root, error))?,
        String::new(),
        &mut files,
    )?;
    let lines = files.into_iter().map(|(name, path)| {
        let mut file = open_file(&path).map_err(|error| error_with_path(&path, error))?;
        Ok((sha256_of_reader(&mut file).map_err(|error| error_with_path(&path, error))?, name))
    });
    Ok(hash_of_lines(lines.collect::<io::Result<Vec<_>>>()?))
}

/// Returns the hash of the contents of a module. The history of a repository is excluded, and for a link, the
/// target path is hashed instead of the target file.
///
/// # Errors
/// A file cannot be read. The error contains its path.
pub(crate) fn hash_module(root: &Path) -> io::Result<String> {
    let mut files = Vec::new();
    collect_files(
        &root.canonicalize().map_err(|error| error_with_path(root, error))?,
        String::new(),
        &mut files,
    )?;
    let lines = files.into_iter().filter(|(name, _)| !is_vcs_history(name)).map(|(name, path)| {
        let is_link = path.symlink_metadata().is_ok_and(|metadata| metadata.is_symlink());
        let sum = match is_link {
            true => std::fs::read_link(&path)
                .and_then(|target| sha256_of_reader(&mut target.as_os_str().as_encoded_bytes())),
            false => open_file(&path).and_then(|mut file| sha256_of_reader(&mut file)),
        };
        Ok((sum.map_err(|error| error_with_path(&path, error))?, name))
    });
    Ok(hash_of_lines(lines.collect::<io::Result<Vec<_>>>()?))
}

/// Whether a file belongs to the history of a repository.
fn is_vcs_history(name: &str) -> bool {
    name.split('/').any(|part| part == ".git")
}

/// Returns the `h1:` hash of a packed package.
///
/// # Errors
/// The file is not an archive or cannot be read.
pub(crate) fn h1_hash_of_archive(archive: impl Read + io::Seek) -> io::Result<String> {
    let mut archive = zip::ZipArchive::new(archive).map_err(io::Error::other)?;
    let mut lines = Vec::new();
    let mut remaining = UnpackLimits::PROVIDER.unpacked;
    for index in 0..archive.len() {
        let file = archive.by_index(index).map_err(io::Error::other)?;
        if !file.is_dir() {
            let name = file.name().map_err(io::Error::other)?.into_owned();
            let mut file = file.take(remaining + 1);
            let sum = sha256_of_reader(&mut file)?;
            // A small archive can decompress to more than the size of any disk.
            remaining = file
                .limit()
                .checked_sub(1)
                .ok_or_else(|| io::Error::other("the archive is too large"))?;
            lines.push((sum, name));
        }
    }
    Ok(hash_of_lines(lines))
}

/// Returns the `zh:` hash of a packed package: the hash of the archive file.
///
/// # Errors
/// The file cannot be read.
pub(crate) fn zh_hash_of_archive(archive: &mut impl Read) -> io::Result<String> {
    Ok(format!("zh:{}", sha256_of_reader(archive)?))
}

/// A writer that also hashes the written bytes.
pub(crate) struct HashingWriter<'a, W> {
    to: &'a mut W,
    hasher: Sha256,
    /// The number of written bytes.
    count: &'a AtomicU64,
}

impl<'a, W: io::Write> HashingWriter<'a, W> {
    pub(crate) fn new(to: &'a mut W, count: &'a AtomicU64) -> Self {
        Self { to, hasher: Sha256::new(), count }
    }

    /// Returns the `zh:` hash of all written bytes.
    pub(crate) fn finish(self) -> String {
        format!("zh:{}", hex::encode(&self.hasher.finalize()))
    }
}

impl<W: io::Write> io::Write for HashingWriter<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = self.to.write(bytes)?;
        self.hasher.update(&bytes[..n]);
        self.count.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

fn error_with_path(path: &Path, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

fn collect_files(
    directory: &Path,
    prefix: String,
    files: &mut Vec<(String, PathBuf)>,
) -> io::Result<()> {
    for entry in std::fs::read_dir(directory).map_err(|error| error_with_path(directory, error))? {
        let entry = entry?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            collect_files(&entry.path(), format!("{name}/"), files)?;
        } else {
            files.push((name, entry.path()));
        }
    }
    Ok(())
}

fn sha256_of_reader(reader: &mut impl Read) -> io::Result<String> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match reader.read(&mut buffer)? {
            0 => return Ok(hex::encode(&hasher.finalize())),
            n => hasher.update(&buffer[..n]),
        }
    }
}

/// Returns the hash of the lines of all files, sorted by name.
fn hash_of_lines(mut lines: Vec<(String, String)>) -> String {
    lines.sort_by(|a, b| a.1.cmp(&b.1));
    let mut hasher = Sha256::new();
    for (digest, name) in lines {
        hasher.update(format!("{digest}  {name}\n"));
    }
    format!("h1:{}", STANDARD.encode(hasher.finalize()))
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write as _};

    use super::*;

    #[test]
    fn the_hash_of_a_module_is_that_of_its_files_and_links_without_its_history() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        std::fs::create_dir(path(".git")).unwrap();
        std::fs::write(path("main.tf"), "one").unwrap();
        let plain = hash_module(directory.path()).unwrap();
        std::fs::write(path(".git/HEAD"), "ref").unwrap();
        assert_eq!(hash_module(directory.path()).unwrap(), plain);
        std::os::unix::fs::symlink("nowhere", path("link")).unwrap();
        let linked = hash_module(directory.path()).unwrap();
        assert_ne!(linked, plain);
        std::fs::remove_file(path("link")).unwrap();
        std::os::unix::fs::symlink("elsewhere", path("link")).unwrap();
        assert_ne!(hash_module(directory.path()).unwrap(), linked);
    }

    #[test]
    fn a_directory_and_its_archive_have_the_same_hash() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("b"), "two").unwrap();
        std::fs::create_dir(directory.path().join("a")).unwrap();
        std::fs::write(directory.path().join("a/c"), "one").unwrap();
        let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
        let options = zip::write::SimpleFileOptions::default();
        for (name, text) in [("b", "two"), ("a/c", "one")] {
            archive.start_file(name, options).unwrap();
            archive.write_all(text.as_bytes()).unwrap();
        }
        let hash = h1_hash_of_archive(archive.finish().unwrap()).unwrap();
        assert_eq!(hash_dir(directory.path()).unwrap(), hash);
        // sha256sum of the two files, joined by hand and hashed with openssl.
        assert!(hash.starts_with("h1:") && hash.len() == 47);
        std::fs::write(directory.path().join("b"), "three").unwrap();
        assert_ne!(hash_dir(directory.path()).unwrap(), hash);
    }
}
