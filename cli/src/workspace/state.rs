//! Where the state of the folder is. Reads nothing of it.

use std::path::{Path, PathBuf};

use formwork_core::config::Backend;
use formwork_core::state::local::{Files, LocalStore, Workspaces};
use formwork_value::{Diagnostic, Diagnostics, Reported};

use super::Workspace;
use crate::args::{Backup, StatePlace};

impl Workspace<'_> {
    /// Where the state is: as the flags say, else as the `backend` block says, else in the folder.
    ///
    /// # Errors
    /// When the `backend` block is one we cannot work with.
    pub(crate) fn store(
        &self,
        diags: &mut Diagnostics,
        backend: Option<&Backend>,
        place: &StatePlace,
    ) -> Result<LocalStore, Reported> {
        let usual = self.workspaces(diags, backend)?.files(&self.name());
        Ok(LocalStore::new(placed(usual, place)))
    }

    /// Where the states of all workspaces are.
    ///
    /// # Errors
    /// When the `backend` block is one we cannot work with.
    pub(crate) fn workspaces(
        &self,
        diags: &mut Diagnostics,
        backend: Option<&Backend>,
    ) -> Result<Workspaces, Reported> {
        let Local { path, workspace_dir } = match backend {
            Some(backend) => Local::read(diags, backend)?,
            None => Local::default(),
        };
        Ok(Workspaces::of(&self.root, path.as_deref(), workspace_dir.as_deref()))
    }
}

/// The files of a state after the flags have had their say.
fn placed(usual: Files, place: &StatePlace) -> Files {
    let source = place.state.clone().unwrap_or_else(|| usual.state.clone());
    let mut files = match (&place.out, &place.state) {
        (Some(out), _) if *out != source => {
            Files { read_from: Some(source), ..Files::of(out.clone()) }
        }
        (_, Some(state)) => Files::of(state.clone()),
        (_, None) => usual,
    };
    match &place.backup {
        Backup::Usual => {}
        Backup::At(path) if path == Path::new("-") => files.backup = None,
        Backup::At(path) => files.backup = Some(path.clone()),
        Backup::Kept(seconds) => {
            let mut path = files.state.clone().into_os_string();
            path.push(format!(".{seconds}.backup"));
            files.backup = Some(path.into());
        }
    }
    files
}

/// What a `backend "local"` block says.
#[derive(Debug, Default)]
struct Local {
    path: Option<PathBuf>,
    workspace_dir: Option<PathBuf>,
}

impl Local {
    fn read(diags: &mut Diagnostics, backend: &Backend) -> Result<Self, Reported> {
        if backend.kind != "local" {
            let detail = format!(
                "States are kept on the local disk only, not by {:?}. What needs no state works: `init -backend=false`, `validate`, `get`, `fmt`. For the rest, replace the block by `backend \"local\" {{}}`.",
                backend.kind.as_str()
            );
            let diagnostic = Diagnostic::error("Unsupported backend type", detail);
            return Err(diags.error(diagnostic.at(backend.span)));
        }
        let mut local = Self::default();
        for attribute in backend.body.set() {
            match (attribute.name.name.as_str(), attribute.expr.as_literal()) {
                ("path", Some(text)) => local.path = Some(PathBuf::from(text.as_str())),
                ("workspace_dir", Some(text)) => {
                    local.workspace_dir = Some(PathBuf::from(text.as_str()));
                }
                (name, _) => {
                    let detail = format!(
                        "The local backend takes \"path\" and \"workspace_dir\", each a text in quotes without anything to evaluate; {name:?} is not one of these."
                    );
                    let diagnostic = Diagnostic::error("Invalid backend configuration", detail);
                    return Err(diags.error(diagnostic.at(attribute.span)));
                }
            }
        }
        Ok(local)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Placed = (String, Option<String>, Option<String>);

    #[test]
    fn flags_move_what_is_read_written_and_kept() {
        let check = |state: Option<&str>, out: Option<&str>, backup: Option<&str>| -> Placed {
            let path = |text: Option<&str>| text.map(PathBuf::from);
            let backup = path(backup).map_or(Backup::Usual, Backup::At);
            let place = StatePlace { state: path(state), out: path(out), backup };
            let files = placed(Files::of("usual"), &place);
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
    fn a_backup_that_is_kept_has_a_name_of_its_own() {
        let place = StatePlace { backup: Backup::Kept(17), ..StatePlace::default() };
        let files = placed(Files::of("usual"), &place);
        assert_eq!(files.backup, Some("usual.17.backup".into()));
    }
}
