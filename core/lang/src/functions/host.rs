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
pub trait Files {
    /// Reads a whole file.
    ///
    /// # Errors
    /// When it is missing or cannot be read.
    fn read(&self, path: &str) -> Result<Vec<u8>, FileFailure>;

    /// Kind of the file at a path, links followed.
    ///
    /// # Errors
    /// When there is none, or it cannot be found out.
    fn kind(&self, path: &str) -> Result<FileKind, FileFailure>;

    /// The names in a folder with what they stand for, links followed, in any order.
    ///
    /// # Errors
    /// When it is missing, no folder, or cannot be read.
    fn list(&self, path: &str) -> Result<Vec<(String, FileKind)>, FileFailure>;

    /// The current folder, absolute.
    fn current_folder(&self) -> Option<String>;

    /// The folder that `~` stands for.
    fn home_folder(&self) -> Option<String>;
}

/// Clock and randomness. `None` means: not yet, the result is unknown.
pub trait Ambient {
    /// The time now, for `timestamp`.
    fn current_time(&self) -> Option<OffsetDateTime>;

    /// The time of the plan, for `plantimestamp`.
    fn plan_time(&self) -> Option<OffsetDateTime>;

    /// Unpredictable bytes, for `uuid` and `bcrypt`.
    fn random(&self) -> Option<[u8; 16]>;
}

/// The world outside as one expression may see it.
#[derive(Clone, Copy)]
pub struct Host<'h> {
    /// Files.
    pub files: &'h dyn Files,
    /// Clock and randomness.
    pub ambient: &'h dyn Ambient,
}

struct NoHost;

impl Host<'static> {
    /// A world without files, clock and randomness.
    #[must_use]
    pub fn none() -> Self {
        Self { files: &NoHost, ambient: &NoHost }
    }
}

fn unsupported<T>() -> Result<T, FileFailure> {
    Err(FileFailure::Failed("files cannot be read here".into()))
}

impl Files for NoHost {
    fn read(&self, _: &str) -> Result<Vec<u8>, FileFailure> {
        unsupported()
    }

    fn kind(&self, _: &str) -> Result<FileKind, FileFailure> {
        unsupported()
    }

    fn list(&self, _: &str) -> Result<Vec<(String, FileKind)>, FileFailure> {
        unsupported()
    }

    fn current_folder(&self) -> Option<String> {
        None
    }

    fn home_folder(&self) -> Option<String> {
        None
    }
}

impl Ambient for NoHost {
    fn current_time(&self) -> Option<OffsetDateTime> {
        None
    }

    fn plan_time(&self) -> Option<OffsetDateTime> {
        None
    }

    fn random(&self) -> Option<[u8; 16]> {
        None
    }
}
