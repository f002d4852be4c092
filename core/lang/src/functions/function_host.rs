//! Host services of functions: files, the clock, randomness. The crate itself uses none of them.

use time::OffsetDateTime;

/// Kind of the file at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A device, socket or the like.
    Other,
}

/// Why a path could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileFailure {
    /// There is nothing.
    #[error("there is no file at this path")]
    Missing,
    /// Something else went wrong, in the words of the system.
    #[error("{0}")]
    Failed(String),
}

/// Files, by paths as written: relative ones start at the current folder.
pub trait HostFiles {
    /// Reads a whole file.
    ///
    /// # Errors
    /// When it is missing or cannot be read.
    fn read_file(&self, path: &str) -> Result<Vec<u8>, FileFailure>;

    /// Kind of the file at a path, links followed.
    ///
    /// # Errors
    /// When there is none, or it cannot be found out.
    fn file_kind(&self, path: &str) -> Result<FileKind, FileFailure>;

    /// The names in a folder with the kinds of their files, links followed, in any order.
    ///
    /// # Errors
    /// When it is missing, no folder, or cannot be read.
    fn list_folder(&self, path: &str) -> Result<Vec<(String, FileKind)>, FileFailure>;

    /// The current folder, absolute.
    fn current_folder(&self) -> Option<String>;

    /// The folder that `~` stands for.
    fn home_folder(&self) -> Option<String>;
}

/// Clock and randomness. `None` means: not yet, the result is unknown.
pub trait ClockAndRandom {
    /// The time now, for `timestamp`.
    fn current_time(&self) -> Option<OffsetDateTime>;

    /// The time of the plan, for `plantimestamp`.
    fn plan_time(&self) -> Option<OffsetDateTime>;

    /// Unpredictable bytes, for `uuid` and `bcrypt`.
    fn random_bytes(&self) -> Option<[u8; 16]>;
}

/// The world outside as one expression may see it.
#[derive(Clone, Copy)]
pub struct FunctionHost<'h> {
    /// Files.
    pub files: &'h dyn HostFiles,
    /// Clock and randomness.
    pub clock_and_random: &'h dyn ClockAndRandom,
}

struct NoFunctionHost;

impl FunctionHost<'static> {
    /// A world without files, clock and randomness.
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

    fn list_folder(&self, _: &str) -> Result<Vec<(String, FileKind)>, FileFailure> {
        files_unsupported()
    }

    fn current_folder(&self) -> Option<String> {
        None
    }

    fn home_folder(&self) -> Option<String> {
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
