//! The files a configuration is read from. The only part of the engine's configuration and evaluation
//! that touches a disk; it only reads.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Component, Path, PathBuf};

use formwork_lang::eval::limits::MAX_EVALUATION_BYTES;
use formwork_lang::functions::FileKind;

use crate::disk;

/// Source of the files of a configuration.
pub trait ConfigFiles {
    /// Lists the names of the files in a directory, in any order.
    ///
    /// # Errors
    /// When the directory cannot be read.
    fn list(&self, dir: &Path) -> io::Result<Vec<String>>;

    /// The content of a file.
    ///
    /// # Errors
    /// When the file cannot be read.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;
}

/// The name of a file, if it is Unicode. Other names cannot be written in a configuration, and are passed
/// over like any foreign file.
///
/// # Errors
/// When Terraform would read the file as part of a configuration: without it, resources would be destroyed.
pub fn into_unicode_name(name: OsString) -> io::Result<Option<String>> {
    let name = match name.into_string() {
        Ok(name) => return Ok(Some(name)),
        Err(name) => name,
    };
    // The suffixes contain no replacement characters, so the comparison is exact.
    let shown = name.to_string_lossy();
    if is_editor_leftover(&shown) || !CONFIG_SUFFIXES.iter().any(|end| shown.ends_with(end)) {
        return Ok(None);
    }
    let reason = format!("the name of the file {name:?} is not valid UTF-8. Rename the file");
    Err(io::Error::new(io::ErrorKind::InvalidData, reason))
}

/// The ends of the names of files that are read without being named.
const CONFIG_SUFFIXES: [&str; 9] = [
    ".tf",
    ".tf.json",
    ".tofu",
    ".tofu.json",
    ".tftest.hcl",
    ".tftest.json",
    ".tfmock.hcl",
    ".auto.tfvars",
    ".auto.tfvars.json",
];

/// Whether a file is a leftover of an editor or version control system.
#[must_use]
pub fn is_editor_leftover(name: &str) -> bool {
    name.starts_with('.') || name.ends_with('~') || (name.starts_with('#') && name.ends_with('#'))
}

/// The shortest equivalent path, without access to the disk, as written in the module manifest.
#[must_use]
pub fn normalize_path(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => match clean.components().next_back() {
                Some(Component::Normal(_)) => {
                    clean.pop();
                }
                Some(Component::RootDir) => {}
                _ => clean.push(".."),
            },
            part => clean.push(part),
        }
    }
    if clean.as_os_str().is_empty() { PathBuf::from(".") } else { clean }
}

/// The files of this machine. Relative paths are relative to the current directory of the process.
#[derive(Clone, Copy, Debug, Default)]
pub struct FilesOnDisk;

impl ConfigFiles for FilesOnDisk {
    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(dir)? {
            let entry = entry?;
            // A directory may have the name of a configuration file.
            if !entry.path().is_dir() {
                names.extend(into_unicode_name(entry.file_name())?);
            }
        }
        Ok(names)
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        disk::read_file(path, disk::MAX_CONFIG_FILE_LEN)
    }
}

impl FilesOnDisk {
    /// The content of a file, for functions. Of a file larger than they may read, it returns just
    /// enough to show that. A device or a pipe, which may have no end or block the reader, is no
    /// file.
    pub(crate) fn read_content(self, path: &str) -> io::Result<Vec<u8>> {
        // Often written for an empty file. It has an end, and reading it does not block.
        if path == "/dev/null" {
            return Ok(Vec::new());
        }
        if file_kind_of_metadata(&fs::metadata(path)?) == FileKind::Other {
            return Err(io::Error::other("it is a device or a pipe, not a file"));
        }
        let mut bytes = Vec::new();
        disk::open_file(Path::new(path))?.take(MAX_EVALUATION_BYTES + 1).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// The kind of file at a path, links followed.
    pub(crate) fn file_kind(self, path: &str) -> io::Result<FileKind> {
        fs::metadata(path).map(|metadata| file_kind_of_metadata(&metadata))
    }

    /// The entries of a directory. Links are followed; a dangling link is not an entry.
    pub(crate) fn dir_entries(self, path: &str) -> io::Result<Vec<(String, FileKind)>> {
        let dir = Path::new(path);
        let kinds = names_in_dir(dir)?.into_iter().filter_map(|name| {
            let metadata = fs::metadata(dir.join(&name)).ok()?;
            Some((name, file_kind_of_metadata(&metadata)))
        });
        Ok(kinds.collect())
    }
}

/// The names in a directory.
fn names_in_dir(dir: &Path) -> io::Result<Vec<String>> {
    // A name that is not Unicode cannot be written in a configuration, and is passed over like any
    // foreign file.
    let mut names = Vec::new();
    for entry in fs::read_dir(dir)? {
        names.extend(entry?.file_name().into_string().ok());
    }
    Ok(names)
}

fn file_kind_of_metadata(metadata: &fs::Metadata) -> FileKind {
    if metadata.is_file() {
        FileKind::File
    } else if metadata.is_dir() {
        FileKind::Directory
    } else {
        FileKind::Other
    }
}

#[cfg(test)]
mod tests {
    use super::{ConfigFiles as _, FilesOnDisk};

    #[cfg(unix)]
    #[test]
    fn a_configuration_file_with_a_name_outside_unicode_is_not_ignored() {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt as _;

        let directory = tempfile::tempdir().unwrap();
        let write = |name: &[u8]| {
            std::fs::write(directory.path().join(OsStr::from_bytes(name)), "").unwrap();
        };
        write(b"notes\xe9.txt");
        write(b"main.tf");
        assert_eq!(FilesOnDisk.list(directory.path()).unwrap(), ["main.tf"]);
        write(b"r\xe9seau.tf");
        let refused = FilesOnDisk.list(directory.path()).unwrap_err().to_string();
        assert!(refused.contains("r\\xE9seau.tf") && refused.contains("Rename"), "{refused}");
    }

    #[test]
    fn a_directory_named_like_a_configuration_file_is_ignored() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir(directory.path().join("x.tf")).unwrap();
        std::fs::write(directory.path().join("y.tf"), "").unwrap();
        assert_eq!(FilesOnDisk.list(directory.path()).unwrap(), ["y.tf"]);
    }

    #[test]
    fn a_pipe_is_refused_and_a_link_to_a_file_is_read() {
        let directory = tempfile::tempdir().unwrap();
        let path_of = |name: &str| directory.path().join(name);
        nix::unistd::mkfifo(&path_of("pipe.tf"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        assert!(FilesOnDisk.read(&path_of("pipe.tf")).unwrap_err().to_string().contains("a pipe"));
        std::os::unix::fs::symlink("pipe.tf", path_of("link.tf")).unwrap();
        assert!(FilesOnDisk.read(&path_of("link.tf")).is_err());
        std::fs::write(path_of("file"), "a").unwrap();
        std::os::unix::fs::symlink("file", path_of("file.tf")).unwrap();
        assert_eq!(FilesOnDisk.read(&path_of("file.tf")).unwrap(), b"a");
    }

    #[test]
    fn endless_device_is_not_read() {
        assert!(FilesOnDisk.read_content("/dev/zero").is_err());
        assert!(FilesOnDisk.read_content("/dev").is_err());
    }
}
