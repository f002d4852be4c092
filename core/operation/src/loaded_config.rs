//! Loads a configuration in one call, for programs that embed the engine: with its local modules, its
//! variable values, and its state in a file in the same directory.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use formwork_backend::local::StateFilePaths;
use formwork_core::config::files::FilesOnDisk;
use formwork_core::config::inputs::{
    GivenVariable, ResolvedVariable, UnsetVariableTreatment, resolve_variables,
};
use formwork_core::config::module_dirs::LocalModuleDirs;
use formwork_core::config::{Config, ConfigSource};
use formwork_core::eval::HostValues;
use formwork_core::provider::ProviderPool;
use formwork_value::diag::Sources;
use formwork_value::{Diagnostic, Diagnostics, Reported, Str};
use time::OffsetDateTime;

use crate::messages;
use crate::operation::{Operation, OperationInputs};
use crate::state_session::{SessionOptions, StateSession};

/// The state file of a configuration that specifies no other location.
const STATE_FILE: &str = "terraform.tfstate";

/// A configuration that was loaded from a directory.
///
/// A program that needs installed modules, a backend or its own clock creates the parts itself: see
/// [`Operation`] and [`StateSession`].
///
/// ```
/// use std::path::Path;
///
/// use formwork_operation::prelude::*;
///
/// async fn apply(diags: &mut Diagnostics, directory: &Path) -> Result<(), Reported> {
///     let mut sources = Sources::new();
///     let loaded = LoadedConfig::load(diags, &mut sources, directory, Vec::new())?;
///     // The configuration needs no provider but the built-in one.
///     let launcher = Launcher::new(LauncherSettings::default(), Default::default());
///     let pool = ProviderPool::new(&launcher);
///     let mut session = loaded.open_local_session(diags, "apply").await?;
///     let plan = PlanSource::New(PlanOptions::default());
///     let applied = loaded.operation(&sources, &pool).apply(diags, &mut session, plan).await;
///     session.unlock(diags).await;
///     assert!(applied?.is_complete);
///     diags.fail_if_errors()
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let directory = tempfile::tempdir().unwrap();
/// let text = "resource \"terraform_data\" \"a\" {\n  input = 1\n}\n";
/// std::fs::write(directory.path().join("main.tf"), text).unwrap();
/// let mut diags = Diagnostics::new();
/// apply(&mut diags, directory.path()).await.unwrap_or_else(|_| panic!("{diags:?}"));
/// let state = std::fs::read_to_string(directory.path().join("terraform.tfstate")).unwrap();
/// assert!(state.contains("terraform_data"));
/// # }
/// ```
pub struct LoadedConfig {
    /// The configuration.
    pub config: Config,
    /// The values of the root module's variables.
    pub variables: BTreeMap<Str, ResolvedVariable>,
    directory: PathBuf,
}

impl LoadedConfig {
    /// Loads the configuration in a directory with the local modules that it calls, and sets its
    /// variables. The sources keep the text of the files, even on failure, so that messages can show
    /// them.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read or is invalid, if a module is not local, or if a
    /// variable has no value.
    pub fn load(
        diags: &mut Diagnostics,
        sources: &mut Sources,
        directory: &Path,
        given: Vec<GivenVariable>,
    ) -> Result<Self, Reported> {
        // Installed modules are in a data directory, whose path only the program has.
        let config_source =
            ConfigSource { files: &FilesOnDisk, dir: directory, directories: &LocalModuleDirs };
        let config = Config::load(diags, sources, config_source)?;
        // No terminal is available for a prompt.
        let unset = UnsetVariableTreatment::Error;
        let variables = resolve_variables(diags, sources, &config.root, given, unset)?;
        Ok(Self { config, variables, directory: directory.to_owned() })
    }

    /// Returns an operation on the configuration in the default workspace, at the current time.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "the operation of such a program begins here")]
    pub fn operation<'a>(
        &'a self,
        sources: &'a Sources,
        pool: &'a ProviderPool<'a>,
    ) -> Operation<'a> {
        let Self { config, variables, directory } = self;
        let inputs = OperationInputs { config, sources, variables, pool };
        let host = HostValues::for_dir(&directory.to_string_lossy(), OffsetDateTime::now_utc);
        Operation::new(inputs, host)
    }

    /// Opens the state in the file `terraform.tfstate` in the directory. The lock shows the name of
    /// the operation.
    ///
    /// # Errors
    /// Returns an error if the configuration specifies another location or encryption, if another process
    /// holds the lock, or if the state cannot be read.
    pub async fn open_local_session(
        &self,
        diags: &mut Diagnostics,
        operation: &str,
    ) -> Result<StateSession, Reported> {
        let settings = &self.config.root.settings;
        let backend = settings.backend.as_ref().map(|block| block.span);
        // The objects of the state in the other location would be created a second time.
        if let Some(span) = backend.or(settings.encryption.as_ref().map(|block| block.span)) {
            let detail = "This program keeps the state unencrypted in a local file, but this block specifies another location or encryption. Nothing was changed.";
            return Err(
                diags.error(Diagnostic::error(messages::STATE_IS_NOT_LOCAL, detail).at(span))
            );
        }
        // The same file that the commands use in this directory, so that they can continue from it.
        let state = StateFilePaths::from_state_path(self.directory.join(STATE_FILE)).into();
        StateSession::open(diags, state, &SessionOptions::new(operation, &self.directory)).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_state_with_a_backend_or_encryption_is_not_opened_in_the_directory() {
        for (block, is_opened) in [
            ("", true),
            ("terraform {\n  backend \"inmem\" {}\n}\n", false),
            ("terraform {\n  encryption {}\n}\n", false),
        ] {
            let directory = tempfile::tempdir().unwrap();
            std::fs::write(directory.path().join("main.tf"), format!("{block}locals {{}}\n"))
                .unwrap();
            let (mut diags, mut sources) = (Diagnostics::new(), Sources::new());
            let loaded = LoadedConfig::load(&mut diags, &mut sources, directory.path(), Vec::new());
            let session = loaded.unwrap().open_local_session(&mut diags, "test").await;
            assert_eq!((session.is_ok(), diags.has_errors()), (is_opened, !is_opened), "{block}");
            if let Ok(session) = session {
                session.unlock(&mut diags).await;
            }
            assert!(
                diags
                    .iter()
                    .all(|diagnostic| diagnostic.is_about_message(messages::STATE_IS_NOT_LOCAL))
            );
        }
    }
}
