//! The world outside the configuration, as expressions may see it: folders, workspace, files,
//! clock, randomness. Asks for none of it before an expression does.

use formwork_lang::functions::{ClockAndRandom, FileFailure, FileKind, FunctionHost, HostFiles};
use formwork_value::Str;
use time::OffsetDateTime;

use crate::config::files::FilesOnDisk;

/// Values behind `path`, `terraform` and the functions; the same throughout a run.
#[derive(Clone)]
pub struct HostValues {
    /// The folder the command was started in, absolute: `path.cwd`.
    pub cwd: Str,
    /// The base folder of relative file paths, absolute: the working directory after `-chdir`.
    pub folder: Str,
    /// The folder of the root module as the author sees it: `path.root`, usually `.`.
    pub root: Str,
    /// The folder that `~` stands for in arguments of functions.
    pub home: Option<String>,
    /// The selected workspace: `terraform.workspace`.
    pub workspace: Str,
    /// Whether changes are being made: `terraform.applying`. Only then do `timestamp`, `uuid` and
    /// their like have values.
    pub applying: bool,
    /// When the plan was made; unknown while the configuration is only checked.
    pub plan_time: Option<OffsetDateTime>,
    /// The clock.
    pub clock: fn() -> OffsetDateTime,
}

impl HostValues {
    /// The world of a run in a folder that changes nothing: all paths are relative to it, the
    /// workspace is the default one, there is no home folder, and the plan is made now.
    #[must_use]
    pub fn for_folder(folder: &str, clock: fn() -> OffsetDateTime) -> Self {
        Self {
            cwd: folder.into(),
            folder: folder.into(),
            root: ".".into(),
            home: None,
            workspace: "default".into(),
            applying: false,
            plan_time: Some(clock()),
            clock,
        }
    }

    /// The interface that functions may use.
    #[must_use]
    pub fn function_host(&self) -> FunctionHost<'_> {
        FunctionHost { files: self, clock_and_random: self }
    }
}

impl ClockAndRandom for HostValues {
    fn current_time(&self) -> Option<OffsetDateTime> {
        self.applying.then(self.clock)
    }

    fn plan_time(&self) -> Option<OffsetDateTime> {
        self.plan_time
    }

    fn random_bytes(&self) -> Option<[u8; 16]> {
        self.applying.then(|| uuid::Uuid::new_v4().into_bytes())
    }
}

impl HostFiles for HostValues {
    fn read_file(&self, path: &str) -> Result<Vec<u8>, FileFailure> {
        FilesOnDisk.read_content(path).map_err(to_file_failure)
    }

    fn file_kind(&self, path: &str) -> Result<FileKind, FileFailure> {
        FilesOnDisk.file_kind(path).map_err(to_file_failure)
    }

    fn list_folder(&self, path: &str) -> Result<Vec<(String, FileKind)>, FileFailure> {
        FilesOnDisk.folder_entries(path).map_err(to_file_failure)
    }

    fn current_folder(&self) -> Option<String> {
        Some(self.folder.as_str().to_owned())
    }

    fn home_folder(&self) -> Option<String> {
        self.home.clone()
    }
}

fn to_file_failure(error: std::io::Error) -> FileFailure {
    match error.kind() {
        std::io::ErrorKind::NotFound => FileFailure::Missing,
        _ => FileFailure::Failed(error.to_string()),
    }
}
