//! The data directory, `.terraform`. All access to files below it is through this module.

use std::io;
use std::path::{Path, PathBuf};

use formwork_core::disk::Dir;

use crate::env::Env;

/// The name of the directory, unless `TF_DATA_DIR` specifies another path.
const DATA_DIR_NAME: &str = ".terraform";

/// The data directory. The user may choose a link to it with `TF_DATA_DIR`. Links below it are not followed.
#[derive(Clone, Debug)]
pub(crate) struct DataDir {
    path: PathBuf,
    /// Whether the path is from `TF_DATA_DIR`.
    is_chosen: bool,
}

impl DataDir {
    /// The data directory of the working directory.
    pub(crate) fn from_env(env: &Env) -> Self {
        match &env.data_dir {
            Some(path) => Self { path: path.clone(), is_chosen: true },
            None => Self { path: PathBuf::from(DATA_DIR_NAME), is_chosen: false },
        }
    }

    /// A data directory at a path that the user specified.
    #[cfg(test)]
    pub(crate) fn at_path(path: PathBuf) -> Self {
        Self { path, is_chosen: true }
    }

    /// The path, for messages and for files that are only read.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Opens the directory for reading, `None` if it is missing.
    ///
    /// # Errors
    /// Returns an error if the directory cannot be opened.
    pub(crate) fn open(&self) -> io::Result<Option<Dir>> {
        match Dir::open(&self.path) {
            Ok(dir) => Ok(Some(dir)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Opens the directory to lock or remove its content, `None` if it is missing.
    ///
    /// # Errors
    /// Returns an error if the directory cannot be opened, or is a link that the user did not choose.
    pub(crate) fn open_to_change(&self) -> io::Result<Option<Dir>> {
        if self.is_chosen {
            return self.open();
        }
        self.refuse_planted_link()?;
        Dir::open(Path::new("."))?.subdir(&self.path)
    }

    /// Opens the directory for writing, and creates it if it is missing.
    ///
    /// # Errors
    /// Returns an error if the directory cannot be created, or is a link that the user did not choose: a
    /// checkout can contain a link to any directory of this machine.
    pub(crate) fn open_or_create(&self) -> io::Result<Dir> {
        if self.is_chosen {
            return Dir::open_or_create(&self.path);
        }
        self.refuse_planted_link()?;
        Dir::open(Path::new("."))?.open_or_create_subdir(&self.path)
    }

    fn refuse_planted_link(&self) -> io::Result<()> {
        match std::fs::read_link(&self.path) {
            Ok(target) => Err(io::Error::other(format!(
                "{DATA_DIR_NAME} is a symbolic link to {}, and Formwork does not write through a link that a checkout may contain: remove the link, or set TF_DATA_DIR={DATA_DIR_NAME} to use its target",
                target.display()
            ))),
            Err(_) => Ok(()),
        }
    }
}
