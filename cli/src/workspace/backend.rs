//! The backend that stores the state: the `backend` or `state_store` block, compared with the initialized
//! backend. This module does not migrate states.

mod backend_record;
mod config;
mod hash;
mod state_store;

use std::path::PathBuf;
use std::sync::Arc;

use formwork_backend::Backend;
use formwork_backend::encryption::{PlanCipher, StateCipher};
use formwork_backend::kind::BackendEnvironment;
use formwork_backend::kinds::find_backend_kind;
use formwork_backend::remote_state::RemoteStateReader;
use formwork_backend::unsupported::{describe_unsupported_backend, unsupported_backend_message};
use formwork_core::config::StateBackendBlock as Block;
use formwork_value::diag::{Blame, Message};
use formwork_value::{Diagnostic, Diagnostics, Reported};

pub(crate) use self::backend_record::InitializedBackend;
use self::backend_record::{RECORD_FILE_NAME, write_record};
pub(crate) use self::config::BackendConfig;
pub(crate) use self::state_store::StartedStores;
use super::Workspace;
use crate::messages;

impl Workspace<'_> {
    /// Returns the inputs of backends other than their arguments. Relative paths start from `root`.
    pub(crate) fn backend_environment(&self, root: impl Into<PathBuf>) -> BackendEnvironment {
        BackendEnvironment { root: root.into(), variables: self.env.environment.clone() }
    }

    /// Returns the reader of the states of other configurations. Relative paths start from the working
    /// directory.
    pub(crate) fn remote_state_reader(&self) -> RemoteStateReader {
        let ciphers = self.encryption.as_ref().map(|encryption| encryption.remotes.clone());
        RemoteStateReader::new(self.backend_environment(""), ciphers.unwrap_or_default())
    }

    /// Returns the cipher of saved plans.
    pub(crate) fn plan_cipher(&self) -> PlanCipher {
        self.encryption.as_ref().map(|encryption| encryption.plan.clone()).unwrap_or_default()
    }

    /// Returns the cipher of states.
    pub(crate) fn state_cipher(&self) -> StateCipher {
        self.encryption.as_ref().map(|encryption| encryption.state.clone()).unwrap_or_default()
    }

    /// Returns the initialized backend, as recorded by `init`.
    ///
    /// # Errors
    /// The record cannot be read.
    pub(crate) fn initialized_backend(
        &self,
        diags: &mut Diagnostics,
    ) -> Result<Option<InitializedBackend>, Reported> {
        InitializedBackend::load(&self.data).map_err(|error| {
            let path = InitializedBackend::path(&self.data);
            let detail = format!(
                "{}: {error}. The file contains the initialized backend. Run \"formwork init -reconfigure\" to recreate it.",
                path.display()
            );
            let diagnostic = Diagnostic::error(messages::INITIALIZED_BACKEND_UNREADABLE, detail);
            diags.error(diagnostic.blamed_on(Blame::Environment))
        })
    }

    /// Returns the backend that stores the state, with its arguments.
    ///
    /// # Errors
    /// The `backend` block is not supported, or differs from the initialized backend.
    pub(crate) async fn backend_config(
        &self,
        diags: &mut Diagnostics,
        backend: Option<&Block>,
    ) -> Result<BackendConfig, Reported> {
        let is_unknown =
            |block: &&Block| block.provider.is_none() && find_backend_kind(&block.kind).is_none();
        if let Some(block) = backend.filter(is_unknown) {
            return Err(diags.error(unknown_backend_error(messages::INVALID_BACKEND_TYPE, block)));
        }
        let remembered = self.initialized_backend(diags)?;
        let config = match (backend, &remembered) {
            // The arguments of a block that was never initialized are checked by `init`.
            (Some(block), None) => Err(not_initialized_reason(block)),
            // If another backend is initialized, there is no need to start the provider.
            (Some(block), Some(old)) if old.is_other_store(block) => {
                Err(backend_type_changed_reason(old, block))
            }
            (Some(block), Some(_)) => resolve_initialized_backend(
                Some(self.block_config(diags, block).await?),
                remembered.as_ref(),
            ),
            (None, _) => resolve_initialized_backend(None, remembered.as_ref()),
        };
        config.map_err(|reason| {
            let supported = remembered.as_ref().is_none_or(InitializedBackend::is_supported);
            let detail = if supported {
                format!(
                    "Reason: {reason}\n\nThe state remains in the backend that \"formwork init\" initialized, so that a change of the configuration does not silently create a new, empty state. Run \"formwork init\" with -migrate-state to copy the state to the new backend, or with -reconfigure to leave it in the current backend.\n\nNothing was changed."
                )
            } else {
                let kind = remembered.map(|old| old.kind).unwrap_or_default();
                format!("Reason: {reason}\n\n{}\n\nNothing was changed.", describe_unsupported_backend(&kind))
            };
            let summary = messages::BACKEND_INITIALIZATION_REQUIRED;
            diags.error(Diagnostic::error(summary, detail))
        })
    }

    /// Reads a `backend` or `state_store` block.
    ///
    /// # Errors
    /// The backend is not supported, its provider cannot be started, or an argument is not valid.
    pub(crate) async fn block_config(
        &self,
        diags: &mut Diagnostics,
        block: &Block,
    ) -> Result<BackendConfig, Reported> {
        match &block.provider {
            Some(provider) => self.read_state_store_block(diags, block, provider).await,
            None => BackendConfig::from_backend_block(diags, block),
        }
    }

    /// Returns the initialized backend with its arguments. `None` if the backend or one of its recorded
    /// arguments is not supported.
    ///
    /// # Errors
    /// The backend is a state store whose provider cannot be used.
    pub(crate) async fn initialized_config(
        &self,
        diags: &mut Diagnostics,
        old: &InitializedBackend,
    ) -> Result<Option<BackendConfig>, Reported> {
        match &old.provider {
            Some(provider) => self.initialized_store(diags, old, &provider.source).await.map(Some),
            None => Ok(old.builtin_backend_config()),
        }
    }

    /// Whether the backend of a block is the initialized one, as far as this can be determined without
    /// starting a provider.
    pub(super) fn is_initialized(&self, block: Option<&Block>) -> bool {
        let Ok(old) = self.initialized_backend(&mut Diagnostics::new()) else { return false };
        match (block, &old) {
            (Some(block), Some(old)) if block.provider.is_some() => old.is_same_backend(block),
            (Some(block), Some(_)) => {
                BackendConfig::from_backend_block(&mut Diagnostics::new(), block).is_ok_and(
                    |block| resolve_initialized_backend(Some(block), old.as_ref()).is_ok(),
                )
            }
            (block, old) => block.is_none() && old.is_none(),
        }
    }

    /// Warns about deprecated arguments of the initialized backend. As in Terraform, commands that print the
    /// state or a part of it do not warn.
    pub(crate) async fn warn_of_deprecated_backend(
        &self,
        diags: &mut Diagnostics,
        backend: Option<&Block>,
    ) {
        if let Ok(config) = self.backend_config(&mut Diagnostics::new(), backend).await {
            config.warn_of_deprecated(diags, &self.backend_environment(&self.root));
        }
    }

    /// Opens the backend that stores the states of all workspaces.
    ///
    /// # Errors
    /// As for [`Workspace::backend_config`], or an argument is missing or invalid.
    pub(crate) async fn open_backend(
        &self,
        diags: &mut Diagnostics,
        backend: Option<&Block>,
    ) -> Result<Arc<dyn Backend>, Reported> {
        let config = self.backend_config(diags, backend).await?;
        config.configure(diags, self)
    }

    /// Records the initialized backend, or removes the record if it is `None`.
    ///
    /// # Errors
    /// The record cannot be written.
    pub(crate) fn record_initialized(
        &self,
        diags: &mut Diagnostics,
        configs: Option<(&BackendConfig, &BackendConfig)>,
    ) -> Result<(), Reported> {
        let path = InitializedBackend::path(&self.data);
        let written = match configs {
            Some((block, config)) => write_record(&self.data, block, config),
            None => self.data.open().and_then(|data| {
                // A link to another data directory is only read, never written.
                if data.is_some_and(|data| data.has_entry(RECORD_FILE_NAME)) {
                    self.data.open_or_create()?.remove(RECORD_FILE_NAME)?;
                }
                Ok(())
            }),
        };
        written.map_err(|error| {
            let detail = format!("{} cannot be written: {error}.", path.display());
            let diagnostic = Diagnostic::error(messages::FAILED_TO_SET_UP_BACKEND, detail);
            diags.error(diagnostic.blamed_on(Blame::Environment))
        })
    }
}

/// Returns the error for a block whose type is unknown, or not included in this build.
fn unknown_backend_error(message_of_unknown: &'static Message, block: &Block) -> Diagnostic {
    let detail = format!(
        "{}\n\nCommands that do not use the state are available: `init -backend=false`, `validate`, `get`, `fmt`.",
        describe_unsupported_backend(&block.kind)
    );
    let message = unsupported_backend_message(&block.kind, message_of_unknown);
    Diagnostic::error(message, detail).at(block.span)
}

/// Returns the reason why a new block must be initialized.
fn not_initialized_reason(block: &Block) -> String {
    let kind = &block.kind;
    match &block.provider {
        Some(provider) => {
            let source = provider.source.display_string();
            format!("Initial configuration of a state store {kind:?} in provider {source}")
        }
        None => format!("Initial configuration of the requested backend {kind:?}"),
    }
}

/// Returns the reason why a block of another type must be initialized.
fn backend_type_changed_reason(old: &InitializedBackend, block: &Block) -> String {
    let kind = &block.kind;
    match &block.provider {
        None => format!("Migrating from {} to backend {kind:?}", old.describe()),
        Some(provider) => format!(
            "Migrating from {} to state store {kind:?} of provider {}",
            old.describe(),
            provider.source
        ),
    }
}

/// Returns the backend and its arguments, or the reason why it must be initialized.
fn resolve_initialized_backend(
    block: Option<BackendConfig>,
    remembered: Option<&InitializedBackend>,
) -> Result<BackendConfig, String> {
    match (block, remembered) {
        (None, None) => Ok(BackendConfig::local_backend()),
        (None, Some(old)) => Err(format!("Unsetting the previously set {}", old.describe())),
        (Some(block), None) => {
            Err(format!("Initial configuration of the requested backend {:?}", block.kind()))
        }
        (Some(block), Some(old)) => old.config_if_unchanged(&block).ok_or_else(|| {
            if block.state_store().is_some() {
                format!("State store {:?} configuration changed", block.kind())
            } else if old.kind == block.kind() {
                "Backend configuration block has changed".to_owned()
            } else {
                format!("Backend type changed from {:?} to {:?}", old.kind, block.kind())
            }
        }),
    }
}

/// The backend action of `init`.
#[derive(Debug, PartialEq)]
pub(crate) enum BackendComparison {
    /// No backend is configured or initialized.
    Nothing,
    /// The initialized backend remains in use.
    Kept,
    /// The initialized backend changes.
    Changed,
}

impl BackendComparison {
    /// Determines the action for a block. `more` specifies whether options set additional arguments.
    pub(crate) fn compare(
        block: Option<&BackendConfig>,
        more: bool,
        old: Option<&InitializedBackend>,
    ) -> Self {
        match (block, old) {
            (None, None) => Self::Nothing,
            (Some(block), Some(old)) if !more && old.config_if_unchanged(block).is_some() => {
                Self::Kept
            }
            _ => Self::Changed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data_dir::DataDir;

    fn local(path: Option<&str>) -> BackendConfig {
        let mut config = BackendConfig::local_backend();
        path.into_iter().for_each(|path| config.set("path", path).unwrap());
        config
    }

    /// The file that Terraform writes for the block `backend "local" {}`.
    fn remembered() -> InitializedBackend {
        load(
            r#"{
            "version": 3, "terraform_version": "1.11.4", "serial": 1,
            "backend": {
                "type": "local", "hash": 666019178,
                "config": { "path": "prod.tfstate", "workspace_dir": null }
            }
        }"#,
        )
    }

    fn load(text: &str) -> InitializedBackend {
        let directory = tempfile::tempdir().unwrap();
        let data = DataDir::at_path(directory.path().to_owned());
        std::fs::write(InitializedBackend::path(&data), text).unwrap();
        InitializedBackend::load(&data).unwrap().unwrap()
    }

    #[test]
    fn the_file_that_opentofu_writes_names_no_version() {
        let record = load(
            r#"{ "version": 3, "backend": { "type": "http", "config": {}, "hash": 1455540142 } }"#,
        );
        assert_eq!((record.kind.as_str(), record.hash), ("http", 1_455_540_142));
    }

    #[test]
    fn the_hash_of_a_block_is_that_of_terraform() {
        assert_eq!(local(None).hash(), 666_019_178);
        assert_eq!(local(Some("q")).hash(), 354_002_009);
    }

    #[test]
    fn the_state_is_at_the_location_that_init_recorded() {
        let old = remembered();
        let check = |block: Option<BackendConfig>, old: Option<&InitializedBackend>| {
            resolve_initialized_backend(block, old)
        };
        assert_eq!(check(None, None), Ok(local(None)));
        // The options of `init` set more arguments than the block.
        assert_eq!(check(Some(local(None)), Some(&old)), Ok(local(Some("prod.tfstate"))));
        // A different block with the same effective arguments.
        let same = local(Some("prod.tfstate"));
        assert_eq!(check(Some(same.clone()), Some(&old)), Ok(same));
        let remote = InitializedBackend { kind: "remote".to_owned(), ..old.clone() };
        for (block, old, reason) in [
            (Some(local(None)), None, "Initial configuration of the requested backend \"local\""),
            (None, Some(&old), "Unsetting the previously set backend \"local\""),
            (Some(local(Some("q"))), Some(&old), "Backend configuration block has changed"),
            (Some(local(None)), Some(&remote), "Backend type changed from \"remote\" to \"local\""),
            (None, Some(&remote), "Unsetting the previously set backend \"remote\""),
        ] {
            assert_eq!(check(block, old), Err(reason.to_owned()));
        }
    }

    #[test]
    fn init_keeps_a_valid_record_and_reports_changes() {
        let (old, block) = (remembered(), local(None));
        assert_eq!(BackendComparison::compare(None, false, None), BackendComparison::Nothing);
        assert_eq!(
            BackendComparison::compare(Some(&block), false, Some(&old)),
            BackendComparison::Kept
        );
        for (block, more, old) in [
            (Some(&block), true, Some(&old)),
            (Some(&block), false, None),
            (None, false, Some(&old)),
        ] {
            assert_eq!(BackendComparison::compare(block, more, old), BackendComparison::Changed);
        }
    }

    #[test]
    fn a_written_record_is_read_back() {
        let directory = tempfile::tempdir().unwrap();
        let (data, block) = (DataDir::at_path(directory.path().join("data")), local(None));
        write_record(&data, &block, &local(Some("prod.tfstate"))).unwrap();
        let read = InitializedBackend::load(&data).unwrap().unwrap();
        assert_eq!((read.kind.as_str(), read.hash), ("local", 666_019_178));
        assert_eq!(read.builtin_backend_config(), remembered().builtin_backend_config());
    }
}
