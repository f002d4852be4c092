//! Values from outside the configuration that expressions can use: directories, workspace, files,
//! clock, random numbers. Each is read only when an expression uses it.

use formwork_lang::functions::{ClockAndRandom, FileFailure, FileKind, FunctionHost, HostFiles};
use formwork_value::Str;
use time::OffsetDateTime;

use crate::config::files::FilesOnDisk;

/// Values of `path`, `terraform` and the functions; the same throughout a run.
#[derive(Clone)]
pub struct HostValues {
    /// The directory in which the command was started, absolute: `path.cwd`.
    pub cwd: Str,
    /// The base directory of relative file paths, absolute: the working directory after `-chdir`.
    pub directory: Str,
    /// The directory of the root module as `path.root` returns it, usually `.`.
    pub root: Str,
    /// The home directory, for `~` in function arguments.
    pub home: Option<String>,
    /// The selected workspace: `terraform.workspace`.
    pub workspace: Str,
    /// Whether a plan is being applied: `terraform.applying`. Only then do `timestamp`, `uuid` and
    /// similar functions have values.
    pub applying: bool,
    /// The time at which the plan was created; unknown while the configuration is only checked.
    pub plan_time: Option<OffsetDateTime>,
    /// The clock.
    pub clock: fn() -> OffsetDateTime,
}

impl HostValues {
    /// The values of a run in a directory that changes nothing: all paths are relative to it, the
    /// workspace is the default one, no home directory is set, and the plan is created now.
    #[must_use]
    pub fn for_dir(directory: &str, clock: fn() -> OffsetDateTime) -> Self {
        Self {
            cwd: directory.into(),
            directory: directory.into(),
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

    fn list_dir(&self, path: &str) -> Result<Vec<(String, FileKind)>, FileFailure> {
        FilesOnDisk.dir_entries(path).map_err(to_file_failure)
    }

    fn current_dir(&self) -> Option<String> {
        Some(self.directory.as_str().to_owned())
    }

    fn home_dir(&self) -> Option<String> {
        self.home.clone()
    }
}

fn to_file_failure(error: std::io::Error) -> FileFailure {
    match error.kind() {
        std::io::ErrorKind::NotFound => FileFailure::Missing,
        _ => FileFailure::Failed(error.to_string()),
    }
}
