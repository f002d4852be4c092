//! Host services of functions: files, the clock, randomness. The crate itself uses none of them.

use time::OffsetDateTime;

/// Kind of the file at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A device, socket or similar.
    Other,
}

/// The error of an access to a path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileFailure {
    /// The file does not exist.
    #[error("there is no file at this path")]
    Missing,
    /// Another error, with the message of the operating system.
    #[error("{0}")]
    Failed(String),
}

/// Access to files, by paths as written. Relative paths start at the current directory.
pub trait HostFiles {
    /// Reads a whole file.
    ///
    /// # Errors
    /// Returns an error if the file does not exist or cannot be read.
    fn read_file(&self, path: &str) -> Result<Vec<u8>, FileFailure>;

    /// Returns the kind of the file at a path, following links.
    ///
    /// # Errors
    /// Returns an error if the file does not exist or its kind cannot be determined.
    fn file_kind(&self, path: &str) -> Result<FileKind, FileFailure>;

    /// Returns the names in a directory with the kinds of their files, following links, in any order.
    ///
    /// # Errors
    /// Returns an error if the directory does not exist, is not a directory, or cannot be read.
    fn list_dir(&self, path: &str) -> Result<Vec<(String, FileKind)>, FileFailure>;

    /// Returns the absolute path of the current directory.
    fn current_dir(&self) -> Option<String>;

    /// Returns the home directory, for `~`.
    fn home_dir(&self) -> Option<String>;
}

/// Clock and randomness. `None` means that the result is not available yet and is unknown.
pub trait ClockAndRandom {
    /// Returns the current time, for `timestamp`.
    fn current_time(&self) -> Option<OffsetDateTime>;

    /// Returns the time of the plan, for `plantimestamp`.
    fn plan_time(&self) -> Option<OffsetDateTime>;

    /// Unpredictable bytes, for `uuid` and `bcrypt`.
    fn random_bytes(&self) -> Option<[u8; 16]>;
}

/// The host services that one expression may use.
#[derive(Clone, Copy)]
pub struct FunctionHost<'h> {
    /// Files.
    pub files: &'h dyn HostFiles,
    /// Clock and randomness.
    pub clock_and_random: &'h dyn ClockAndRandom,
}

struct NoFunctionHost;

impl FunctionHost<'static> {
    /// Returns host services without files, clock and randomness.
    #[must_use]
    pub fn without_services() -> Self {
        Self { files: &NoFunctionHost, clock_and_random: &NoFunctionHost }
    }
}

fn files_unsupported<T>() -> Result<T, FileFailure> {
    Err(FileFailure::Failed("files cannot be read here".into()))
}

impl HostFiles for NoFunctionHost {
    fn read_file(&self, _: &str) -> Result<Vec<u8>, FileFailure> {
        files_unsupported()
    }

    fn file_kind(&self, _: &str) -> Result<FileKind, FileFailure> {
        files_unsupported()
    }

    fn list_dir(&self, _: &str) -> Result<Vec<(String, FileKind)>, FileFailure> {
        files_unsupported()
    }

    fn current_dir(&self) -> Option<String> {
        None
    }

    fn home_dir(&self) -> Option<String> {
        None
    }
}

impl ClockAndRandom for NoFunctionHost {
    fn current_time(&self) -> Option<OffsetDateTime> {
        None
    }

    fn plan_time(&self) -> Option<OffsetDateTime> {
        None
    }

    fn random_bytes(&self) -> Option<[u8; 16]> {
        None
    }
}
