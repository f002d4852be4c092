//! Workspaces of a state on this machine: the default one has a file, and each other one has a
//! directory with its name. The command line stores the selected one.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use formwork_core::disk::Dir;
use formwork_core::state::intent_log::IntentLog;

use super::{LocalStore, StateFilePaths, display_path, store_error};
use crate::store::{StateStore, StoreError, StoreOperation};
use crate::{Backend, DEFAULT_WORKSPACE, WorkspaceError};

/// The file of a state.
const STATE_FILE: &str = "terraform.tfstate";

/// The directory of all workspaces but the default one.
const WORKSPACES_DIR: &str = "terraform.tfstate.d";

/// Paths of the states of all workspaces.
///
/// ```
/// use std::path::Path;
///
/// use formwork_backend::local::Workspaces;
///
/// let workspaces = Workspaces::from_paths(Path::new("r"), None, None);
/// let state = workspaces.state_paths("w").state;
/// assert_eq!(state, Path::new("r/terraform.tfstate.d/w/terraform.tfstate"));
/// assert!(!Workspaces::is_valid_name("a/b"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workspaces {
    default: PathBuf,
    directory: PathBuf,
}

impl Workspaces {
    /// Creates the paths of workspaces whose default state and directory have these paths, or the
    /// default ones below `root`.
    #[must_use]
    pub fn from_paths(root: &Path, default: Option<&Path>, directory: Option<&Path>) -> Self {
        Self {
            default: root.join(default.unwrap_or(Path::new(STATE_FILE))),
            directory: root.join(directory.unwrap_or(Path::new(WORKSPACES_DIR))),
        }
    }

    /// Whether this is a valid workspace name, which becomes the name of a directory.
    #[must_use]
    pub fn is_valid_name(name: &str) -> bool {
        // Terraform accepts the names that Go's `url.PathEscape` does not change.
        let safe = |c: char| c.is_ascii_alphanumeric() || "-_.~$&+=:@".contains(c);
        !name.is_empty() && name != "." && name != ".." && name.chars().all(safe)
    }

    /// Paths of a workspace's state. The name must be valid.
    #[must_use]
    pub fn state_paths(&self, name: &str) -> StateFilePaths {
        StateFilePaths::from_state_path(match name {
            DEFAULT_WORKSPACE => self.default.clone(),
            workspace => self.directory.join(workspace).join(STATE_FILE),
        })
    }

    /// Lists all workspaces: the default one, then the others by name.
    ///
    /// # Errors
    /// Returns an error if their directory cannot be read.
    pub fn list(&self) -> Result<Vec<String>, WorkspaceError> {
        let failed = |error| store_error(StoreOperation::List, &self.directory)(error).into();
        let mut names = Vec::new();
        match self.directory.read_dir() {
            Ok(entries) => {
                for entry in entries {
                    let entry = entry.map_err(failed)?;
                    // Workspace names are ASCII, so an entry with another name is not a workspace.
                    let name = entry.file_name().into_string();
                    names.extend(name.ok().filter(|_| entry.path().is_dir()));
                }
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(failed(error)),
        }
        names.sort();
        names.insert(0, DEFAULT_WORKSPACE.to_owned());
        Ok(names)
    }

    /// Creates a workspace. The name must be valid.
    ///
    /// # Errors
    /// Returns an error if the workspace exists, or if its directory cannot be created.
    pub fn create(&self, name: &str) -> Result<(), WorkspaceError> {
        if self.list()?.iter().any(|workspace| workspace == name) {
            return Err(WorkspaceError::Exists(name.to_owned()));
        }
        let created = self
            .open_dir(Dir::open_or_create, |parent, name| parent.open_or_create_subdir(name))
            .and_then(|directory| directory.open_or_create_subdir(name));
        match created {
            Ok(_) => Ok(()),
            Err(error) => {
                Err(store_error(StoreOperation::Create, &self.directory.join(name))(error).into())
            }
        }
    }

    /// Deletes a workspace with its state, even if the state has objects.
    ///
    /// # Errors
    /// Returns an error if the workspace does not exist or is the default one, or if its directory
    /// cannot be deleted.
    pub fn delete(&self, name: &str) -> Result<(), WorkspaceError> {
        if name == DEFAULT_WORKSPACE {
            return Err(WorkspaceError::Default);
        }
        if !self.list()?.iter().any(|workspace| workspace == name) {
            return Err(WorkspaceError::Missing(name.to_owned()));
        }
        let open = |parent: &Dir, name: &OsStr| {
            parent.subdir(name)?.ok_or_else(|| io::ErrorKind::NotFound.into())
        };
        let removed = self.open_dir(Dir::open, open).and_then(|directory| directory.remove(name));
        removed.map_err(|error| {
            store_error(StoreOperation::Delete, &self.directory.join(name))(error).into()
        })
    }
}

impl Workspaces {
    /// Opens the directory of all workspaces but the default one.
    fn open_dir(
        &self,
        open: fn(&Path) -> io::Result<Dir>,
        open_below: fn(&Dir, &OsStr) -> io::Result<Dir>,
    ) -> io::Result<Dir> {
        // The directory itself must not be a link: a planted one could lead to directories that are
        // not workspaces.
        let Some(name) = self.directory.file_name() else { return open(&self.directory) };
        let parent = self.directory.parent().filter(|parent| !parent.as_os_str().is_empty());
        open_below(&open(parent.unwrap_or(Path::new(".")))?, name)
    }
}

/// The local backend.
///
/// ```
/// use std::path::Path;
///
/// use formwork_backend::Backend as _;
/// use formwork_backend::local::{LocalBackend, Workspaces};
///
/// let backend = LocalBackend { workspaces: Workspaces::from_paths(Path::new("r"), None, None) };
/// assert_eq!(backend.kind(), "local");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalBackend {
    /// The paths of all states.
    pub workspaces: Workspaces,
}

#[async_trait::async_trait]
impl Backend for LocalBackend {
    fn kind(&self) -> &str {
        "local"
    }

    async fn workspaces(&self) -> Result<Vec<String>, WorkspaceError> {
        self.workspaces.list()
    }

    async fn create_workspace(&self, name: &str) -> Result<(), WorkspaceError> {
        self.workspaces.create(name)
    }

    async fn delete_workspace(&self, name: &str) -> Result<(), WorkspaceError> {
        self.workspaces.delete(name)
    }

    async fn open_store(&self, workspace: &str) -> Result<Box<dyn StateStore>, StoreError> {
        Ok(Box::new(LocalStore::new(self.workspaces.state_paths(workspace))))
    }

    fn location(&self, workspace: &str) -> String {
        display_path(&self.workspaces.state_paths(workspace).state)
    }

    fn intent_log(&self, workspace: &str) -> Arc<dyn IntentLog> {
        self.workspaces.state_paths(workspace).intent_log()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workspace_is_a_directory_and_the_default_one_always_exists() {
        let directory = tempfile::tempdir().unwrap();
        let workspaces = Workspaces::from_paths(directory.path(), None, None);
        assert_eq!(workspaces.list().unwrap(), ["default"]);
        workspaces.create("b").unwrap();
        workspaces.create("a").unwrap();
        std::fs::write(directory.path().join(WORKSPACES_DIR).join("file"), "").unwrap();
        assert_eq!(workspaces.list().unwrap(), ["default", "a", "b"]);
        let errors = [workspaces.create("a"), workspaces.delete("c"), workspaces.delete("default")];
        let errors: Vec<_> = errors.map(|result| result.unwrap_err().to_string()).into();
        assert_eq!(
            errors,
            [
                "Workspace \"a\" already exists",
                "Workspace \"c\" doesn't exist",
                "cannot delete default state"
            ]
        );
        workspaces.delete("a").unwrap();
        assert_eq!(workspaces.list().unwrap(), ["default", "b"]);
    }

    #[test]
    fn a_workspace_through_a_planted_link_is_neither_created_nor_deleted() {
        use std::os::unix::fs::symlink;
        let directory = tempfile::tempdir().unwrap();
        let (root, other_directory) =
            (directory.path().join("root"), directory.path().join("other"));
        std::fs::create_dir_all(other_directory.join("a/kept")).unwrap();
        std::fs::create_dir_all(&root).unwrap();
        symlink(&other_directory, root.join(WORKSPACES_DIR)).unwrap();
        let workspaces = Workspaces::from_paths(&root, None, None);
        assert!(matches!(workspaces.delete("a"), Err(WorkspaceError::Store(_))));
        assert!(other_directory.join("a/kept").is_dir());
        assert!(matches!(workspaces.create("new"), Err(WorkspaceError::Store(_))));
        assert!(!other_directory.join("new").exists());
        // If a workspace is a link itself, the link is deleted.
        std::fs::remove_file(root.join(WORKSPACES_DIR)).unwrap();
        std::fs::create_dir(root.join(WORKSPACES_DIR)).unwrap();
        symlink(other_directory.join("a"), root.join(WORKSPACES_DIR).join("b")).unwrap();
        workspaces.delete("b").unwrap();
        assert_eq!(workspaces.list().unwrap(), ["default"]);
        assert!(other_directory.join("a/kept").is_dir());
    }

    #[test]
    fn the_directory_of_workspaces_may_be_any_that_the_configuration_names() {
        let root = tempfile::tempdir().unwrap();
        for directory in ["a", "a/", "b/c", ".", "./d", "e/..", "../f"] {
            let workspaces =
                Workspaces::from_paths(&root.path().join("root"), None, Some(directory.as_ref()));
            std::fs::create_dir_all(root.path().join("root/e")).unwrap();
            workspaces.create("w").unwrap();
            assert!(root.path().join("root").join(directory).join("w").is_dir(), "{directory}");
            workspaces.delete("w").unwrap();
        }
    }

    #[test]
    fn each_workspace_has_a_file_of_its_own() {
        let root = Path::new("r");
        let default = Workspaces::from_paths(root, None, None);
        let custom = Workspaces::from_paths(root, Some(Path::new("s")), Some(Path::new("d")));
        let state = |workspaces: &Workspaces, name| {
            workspaces.state_paths(name).state.display().to_string()
        };
        assert_eq!(state(&default, "default"), "r/terraform.tfstate");
        assert_eq!(state(&default, "w"), "r/terraform.tfstate.d/w/terraform.tfstate");
        assert_eq!(state(&custom, "default"), "r/s");
        assert_eq!(state(&custom, "w"), "r/d/w/terraform.tfstate");
    }

    #[test]
    fn a_name_is_safe_as_the_name_of_a_directory() {
        let valid_names = ["a", "A-1_x", "a@b", "v1.2"];
        let invalid_names = ["", ".", "..", "a/b", "a b", "ä", "a%b", "a\\b"];
        assert!(valid_names.iter().all(|name| Workspaces::is_valid_name(name)));
        assert!(!invalid_names.iter().any(|name| Workspaces::is_valid_name(name)));
    }
}
