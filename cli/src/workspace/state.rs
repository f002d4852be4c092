//! The location of the state. This module does not read the state.

use std::path::Path;

use formwork_backend::OpenState;
use formwork_backend::local::{StateFilePaths, Workspaces};
use formwork_core::config::StateBackendBlock;
use formwork_core::disk::is_same_file;
use formwork_value::{Diagnostics, Reported};

use super::Workspace;
use super::backend::BackendConfig;
use crate::command_line::{BackupPath, StatePaths};

impl Workspace<'_> {
    /// Opens the state: in the files that options specify, otherwise in the configured backend, otherwise in
    /// the working directory.
    ///
    /// # Errors
    /// The `backend` block is not supported, or differs from the initialized backend.
    pub(crate) async fn open_state(
        &self,
        diags: &mut Diagnostics,
        backend: Option<&StateBackendBlock>,
        state_paths: &StatePaths,
    ) -> Result<OpenState, Reported> {
        let config = self.backend_config(diags, backend).await?;
        self.open_state_in(diags, &config, state_paths).await
    }

    /// Opens the state of the selected workspace in a backend, or in the files that options specify.
    ///
    /// # Errors
    /// An argument of the backend is not valid, or its service does not respond.
    pub(crate) async fn open_state_in(
        &self,
        diags: &mut Diagnostics,
        config: &BackendConfig,
        state_paths: &StatePaths,
    ) -> Result<OpenState, Reported> {
        if let Some(files) = config.local_state_files(&self.root) {
            let mut opened =
                OpenState::from(with_state_paths(files.state_paths(&self.name()), state_paths));
            opened.set_cipher(self.state_cipher());
            return Ok(opened);
        }
        // As in Terraform, the options for state files apply only to local states.
        let backend = config.configure(diags, self)?;
        let opened = OpenState::open(&*backend, &self.name()).await;
        opened.map_err(|error| diags.error(error.diagnostic()))
    }

    /// Returns the location of the state of a workspace, for messages.
    ///
    /// # Errors
    /// As for [`Workspace::open_state`].
    pub(crate) async fn location_of(
        &self,
        diags: &mut Diagnostics,
        name: &str,
        backend: Option<&StateBackendBlock>,
        state_paths: &StatePaths,
    ) -> Result<String, Reported> {
        let config = self.backend_config(diags, backend).await?;
        if let Some(files) = config.local_state_files(&self.root) {
            let state = with_state_paths(files.state_paths(name), state_paths).state;
            return Ok(state.strip_prefix(".").unwrap_or(&state).display().to_string());
        }
        let backend = config.configure(diags, self)?;
        Ok(backend.location(name))
    }
}

/// Opens the state in the file that an option specifies, regardless of the backend.
pub(crate) fn state_in_named_file(
    workspace: &Workspace<'_>,
    state_paths: &StatePaths,
) -> Option<OpenState> {
    let file = state_paths.state.as_ref()?;
    let mut opened = OpenState::from(with_state_paths(
        StateFilePaths::from_state_path(file.clone()),
        state_paths,
    ));
    opened.set_cipher(workspace.state_cipher());
    Some(opened)
}

impl BackendConfig {
    /// Returns the state files of all workspaces, if the backend is the local one.
    pub(crate) fn local_state_files(&self, root: &Path) -> Option<Workspaces> {
        let path = |name: &str| self.text(name).filter(|path| !path.is_empty());
        let (default, directory) = (path("path"), path("workspace_dir"));
        self.is_local()
            .then(|| Workspaces::from_paths(root, default.map(Path::new), directory.map(Path::new)))
    }
}

/// Applies the state file options to the default state files.
fn with_state_paths(default_paths: StateFilePaths, state_paths: &StatePaths) -> StateFilePaths {
    let source = state_paths.state.clone().unwrap_or_else(|| default_paths.state.clone());
    let mut files = match (&state_paths.out, &state_paths.state) {
        (Some(out), _) if *out != source && !is_same_file(out, &source) => StateFilePaths {
            read_from: Some(source),
            ..StateFilePaths::from_state_path(out.clone())
        },
        (_, Some(state)) => StateFilePaths::from_state_path(state.clone()),
        (_, None) => default_paths,
    };
    files.named.source = state_paths.state.is_some();
    match &state_paths.backup {
        BackupPath::Usual => {}
        BackupPath::At(path) if path == Path::new("-") => files.backup = None,
        BackupPath::At(path) => {
            files.backup = Some(path.clone());
            files.named.backup = true;
        }
        BackupPath::Kept(seconds) => {
            let mut path = files.state.clone().into_os_string();
            path.push(format!(".{seconds}.backup"));
            files.backup = Some(path.into());
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    type Placed = (String, Option<String>, Option<String>);

    #[test]
    fn flags_set_the_paths_of_state_output_and_backup() {
        let check = |state: Option<&str>, out: Option<&str>, backup: Option<&str>| -> Placed {
            let path = |text: Option<&str>| text.map(PathBuf::from);
            let backup = path(backup).map_or(BackupPath::Usual, BackupPath::At);
            let state_paths = StatePaths { state: path(state), out: path(out), backup };
            let files = with_state_paths(StateFilePaths::from_state_path("usual"), &state_paths);
            let name = |path: PathBuf| path.display().to_string();
            (name(files.state), files.read_from.map(name), files.backup.map(name))
        };
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(check(None, None, None), ("usual".into(), None, some("usual.backup")));
        assert_eq!(check(Some("s"), None, None), ("s".into(), None, some("s.backup")));
        assert_eq!(check(Some("s"), Some("o"), None), ("o".into(), some("s"), some("o.backup")));
        assert_eq!(check(Some("s"), Some("s"), None), ("s".into(), None, some("s.backup")));
        assert_eq!(check(None, Some("o"), Some("b")), ("o".into(), some("usual"), some("b")));
        assert_eq!(check(None, None, Some("-")), ("usual".into(), None, None));
    }

    #[test]
    fn a_kept_backup_has_a_unique_name() {
        let state_paths = StatePaths { backup: BackupPath::Kept(17), ..StatePaths::default() };
        let files = with_state_paths(StateFilePaths::from_state_path("usual"), &state_paths);
        assert_eq!(files.backup, Some("usual.17.backup".into()));
    }
}
