//! Saved plans of a working directory: the files that a plan is saved with, and the configuration, values and
//! providers that it is applied with.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;

use formwork_core::config::inputs::ResolvedVariable;
use formwork_core::config::{Config, ConfigSource};
use formwork_core::disk::{MAX_STATE_LEN, open_file, read_file};
use formwork_core::plan::plan_file::PlanFileError;
use formwork_core::plan::{Plan, plan_file};
use formwork_core::state::file::StateFile;
use formwork_operation::saved_plan::{
    GeneratedConfigUse, PlanToSave, SavedPlan, SealKeySource, VariablesGivenAtApply,
    damaged_plan_error,
};
use formwork_value::{Diagnostic, Diagnostics, Reported, Str};
use serde_json::value::RawValue;

use super::encryption;
use super::operation::PreparedConfig;
use super::variable_inputs;
use crate::command_line::{StatePaths, VariableSource};
use crate::env::Env;
use crate::install::lockfile::LockFile;
use crate::messages;
use crate::modules::installed::InstalledModules;
use crate::modules::manifest::ModuleManifest;
use crate::view::operation_report::OperationReport;
use crate::workspace::backend::{BackendConfig, InitializedBackend};
use crate::workspace::{OverrideWarningCondition, Workspace};

/// The state that a plan is created for.
#[derive(Clone, Copy)]
pub(super) struct PlanBaseState<'a> {
    /// The state.
    pub(super) file: &'a StateFile,
    /// The paths that options specify.
    pub(super) state_paths: &'a StatePaths,
    /// Fingerprint of the recovered state, if recovery of interrupted runs changed the stored one.
    pub(super) recovered: Option<&'a str>,
}

/// A saved plan to apply.
#[derive(Clone, Copy)]
pub(super) struct SavedPlanToApply<'a> {
    /// The file.
    pub(super) path: &'a Path,
    /// The sources of variable values.
    pub(super) sources: &'a [VariableSource],
    /// Whether a plan from another user or machine is allowed.
    pub(super) allow_foreign: bool,
}

impl Env {
    /// The sources of the secret that seals saved plans.
    pub(super) fn seal_key(&self) -> SealKeySource {
        SealKeySource { text: self.plan_key.clone(), file: self.plan_key_file.clone() }
    }
}

/// Writes a plan.
///
/// # Errors
/// Returns a message for the user if the plan cannot be written.
pub(super) async fn write_plan(
    path: &Path,
    prepared: &PreparedConfig<'_>,
    made_for: PlanBaseState<'_>,
    plan: &Plan,
) -> Result<(), String> {
    let PlanBaseState { file, state_paths, recovered } = made_for;
    let config_sources = &prepared.workspace.config_sources;
    let backend = backend_to_json(prepared).await?;
    let contents = PlanToSave {
        plan,
        file,
        recovered,
        config: &prepared.config,
        variables: &prepared.variables,
        time: prepared.time,
        workspace: &prepared.workspace_name,
        state: state_paths.state.as_deref(),
        state_out: state_paths.out.as_deref(),
        backend: Some(&backend),
        texts: &config_sources.texts,
        modules: &config_sources.modules.render(),
        locks: &config_sources.locks.render(),
        cipher: &prepared.workspace.plan_cipher(),
    };
    contents.write(path, &prepared.workspace.env.seal_key())
}

/// The backend of the state with its arguments, as JSON.
async fn backend_to_json(prepared: &PreparedConfig<'_>) -> Result<Box<RawValue>, String> {
    let mut diags = Diagnostics::new();
    let config = prepared.workspace.backend_config(&mut diags, prepared.config.backend()).await;
    // The state has already been opened with this configuration.
    let config = config.map_err(|_| "the backend is not set up".to_owned())?;
    let backend = InitializedBackend::for_config(&config).map_err(|error| error.to_string())?;
    serde_json::value::to_raw_value(&backend).map_err(|error| error.to_string())
}

/// A saved plan, with the providers that created it.
pub(crate) struct OpenedPlan {
    pub(crate) plan: SavedPlan,
    locks: LockFile,
    /// The backend of the state, if the plan specifies it.
    backend: Option<InitializedBackend>,
}

/// Reads a saved plan, and prepares its application with the configuration it was created from.
///
/// # Errors
/// Returns an error if the file is not a plan, or the plan cannot be applied.
pub(super) fn prepare_saved_plan<'e>(
    diags: &mut Diagnostics,
    env: &'e Env,
    to_apply: SavedPlanToApply<'_>,
    report: &OperationReport,
) -> Result<(PreparedConfig<'e>, OpenedPlan), Option<Box<Workspace<'e>>>> {
    let mut workspace = Workspace::open(env, diags).map_err(|_| None)?;
    match read_plan(diags, &mut workspace, to_apply, report) {
        Ok((saved, config, variables)) => {
            let required = saved.plan.provider_requirements(&config);
            let launcher = workspace.make_launcher(diags, &required).and_then(|launcher| {
                saved.check_provider_locks(diags, &workspace).map(|()| launcher)
            });
            let Ok(launcher) = launcher else { return Err(Some(Box::new(workspace))) };
            let prepared = PreparedConfig {
                variables,
                config,
                launcher,
                provisioners: formwork_provisioners::provisioners(
                    &workspace.env.provisioner_environment(),
                ),
                workspace_name: saved.plan.workspace().to_owned(),
                time: saved.plan.creation_time(),
                workspace,
            };
            Ok((prepared, saved))
        }
        Err(_) => Err(Some(Box::new(workspace))),
    }
}

fn read_plan(
    diags: &mut Diagnostics,
    workspace: &mut Workspace<'_>,
    SavedPlanToApply { path, sources, allow_foreign }: SavedPlanToApply<'_>,
    report: &OperationReport,
) -> Result<(OpenedPlan, Config, BTreeMap<Str, ResolvedVariable>), Reported> {
    let opening = PlanToOpen { path, sources, generated: GeneratedConfigUse::Include };
    let (saved, config) = open_plan(diags, workspace, opening)?;
    let mut warnings = Diagnostics::new();
    workspace.warn_of_overrides(&mut warnings, OverrideWarningCondition::Always);
    report.report_diagnostics(&workspace.sources, &warnings);
    let key = workspace.env.seal_key();
    saved.plan.seal_verdict().check_may_be_applied(diags, &key, path, allow_foreign)?;
    saved.plan.check_errors_and_workspace(diags, &workspace.name())?;
    let variables_at_apply = VariablesGivenAtApply {
        environment: variable_inputs::environment_values(workspace),
        files: variable_inputs::automatic_file_values(diags, workspace)?,
        options: variable_inputs::option_values(diags, workspace, sources)?,
    };
    let variables =
        saved.plan.resolve_variables(diags, &mut workspace.sources, &config, variables_at_apply)?;
    Ok((saved, config, variables))
}

/// A saved plan to open.
#[derive(Clone, Copy)]
pub(crate) struct PlanToOpen<'a> {
    /// The file.
    pub(crate) path: &'a Path,
    /// The sources of variable values, which the encryption may require.
    pub(crate) sources: &'a [VariableSource],
    /// Treatment of generated configurations.
    pub(crate) generated: GeneratedConfigUse,
}

/// Opens a saved plan, with the configuration in it.
///
/// # Errors
/// Returns an error if the file is not a plan, or cannot be decrypted.
pub(crate) fn open_plan(
    diags: &mut Diagnostics,
    workspace: &mut Workspace<'_>,
    opening: PlanToOpen<'_>,
) -> Result<(OpenedPlan, Config), Reported> {
    let PlanToOpen { path, sources, .. } = opening;
    let name = path.display().to_string();
    let failed =
        |diags: &mut Diagnostics, error: PlanFileError| diags.error(error.diagnostic(&name));
    if !is_plan_file_encrypted(path) {
        let parts = plan_file::read_plan_file(path).map_err(|error| failed(diags, error))?;
        let (saved, config) = open_plan_parts(diags, workspace, opening, parts)?;
        // As in OpenTofu, the configuration of the working directory decides: a plan file of unknown origin
        // can contain any configuration.
        if workspace.has_config() {
            let mut parse_diags = Diagnostics::new();
            let loaded = encryption::load_dir_encryption(&mut parse_diags, workspace, sources);
            // The plan contains its own configuration, so later errors in the working directory do not
            // matter, unless they hide an encryption block.
            if loaded.is_ok() || encryption::may_have_encryption_block(workspace) {
                let _ = diags.append(parse_diags);
                loaded?;
            }
        }
        encryption::load_encryption(diags, workspace, &config.root, sources)?;
        workspace
            .plan_cipher()
            .check_plaintext_allowed(&name)
            .map_err(|problem| diags.error(*problem))?;
        return Ok((saved, config));
    }
    let content = read_file(path, MAX_STATE_LEN).map_err(|error| {
        let error = PlanFileError::Io { operation: "read", path: path.to_owned(), source: error };
        failed(diags, error)
    })?;
    let plan = decrypt_plan(diags, workspace, opening, &content)?;
    let parts =
        plan_file::read_plan_file_bytes(path, &plan).map_err(|error| failed(diags, error))?;
    open_plan_parts(diags, workspace, opening, parts)
}

/// Whether a plan file is encrypted: its first byte shows that it is JSON.
fn is_plan_file_encrypted(path: &Path) -> bool {
    let mut first = [0];
    let read = open_file(path).and_then(|mut file| file.read_exact(&mut first));
    path.is_file() && read.is_ok() && first == *b"{"
}

/// Decrypts a saved plan with the encryption of the current configuration.
///
/// # Errors
/// Returns an error if the plan cannot be decrypted.
pub(crate) fn decrypt_plan(
    diags: &mut Diagnostics,
    workspace: &mut Workspace<'_>,
    opening: PlanToOpen<'_>,
    content: &[u8],
) -> Result<Vec<u8>, Reported> {
    let PlanToOpen { path, sources, .. } = opening;
    encryption::load_dir_encryption(diags, workspace, sources)?;
    let plan = workspace.plan_cipher().decrypt(&path.display().to_string(), content);
    plan.map(Cow::into_owned).map_err(|problem| diags.error(*problem))
}

/// Opens a saved plan that was read from a file.
///
/// # Errors
/// Returns an error if a part of the plan is missing or not valid.
pub(crate) fn open_plan_parts(
    diags: &mut Diagnostics,
    workspace: &mut Workspace<'_>,
    opening: PlanToOpen<'_>,
    parts: plan_file::PlanFileParts,
) -> Result<(OpenedPlan, Config), Reported> {
    let PlanToOpen { path, generated, .. } = opening;
    let plan = SavedPlan::from_parts(diags, path, parts, &workspace.env.seal_key())?;
    let backend =
        plan.backend_description().map(|backend| serde_json::from_str(backend.get())).transpose();
    let backend = backend.map_err(|error| diags.error(damaged_plan_error(path, &error)))?;
    let modules = ModuleManifest::parse(&plan.modules)
        .map_err(|error| diags.error(damaged_plan_error(path, &error)))?;
    let locks = LockFile::parse(diags, &mut workspace.sources, plan.locks.clone())?;
    let root = workspace.root.clone();
    let files = plan.config_files(&root, generated);
    let config_source =
        ConfigSource { files: &files, dir: &root, directories: &InstalledModules(modules) };
    let config = Config::load(diags, &mut workspace.sources, config_source)?;
    Ok((OpenedPlan { plan, locks, backend }, config))
}

impl OpenedPlan {
    /// Location of the state: from the options, otherwise from the options with which the plan was created.
    pub(super) fn state_paths(&self, paths: StatePaths) -> StatePaths {
        match paths {
            StatePaths { state: None, out, backup } => StatePaths {
                state: self.plan.state_option_path().map(Path::to_owned),
                out: out.or_else(|| self.plan.state_out_option_path().map(Path::to_owned)),
                backup,
            },
            paths => paths,
        }
    }

    /// The backend that the plan specifies, regardless of the configured backend.
    ///
    /// # Errors
    /// Returns an error if the backend is not supported.
    pub(super) async fn backend(
        &self,
        diags: &mut Diagnostics,
        workspace: &Workspace<'_>,
    ) -> Result<Option<BackendConfig>, Reported> {
        let Some(backend) = &self.backend else { return Ok(None) };
        let config = workspace.initialized_config(diags, backend).await?.ok_or_else(|| {
            let detail = format!(
                "The plan was created for a state in the backend {:?}, with arguments that this version does not support. Create a new plan. Nothing was changed.",
                backend.kind
            );
            diags.error(Diagnostic::error(messages::SAVED_PLAN_NAMES_UNKNOWN_BACKEND, detail))
        })?;
        Ok(Some(config))
    }

    /// Rejects other provider packages: a plan is only valid for the provider versions that created it.
    fn check_provider_locks(
        &self,
        diags: &mut Diagnostics,
        workspace: &Workspace<'_>,
    ) -> Result<(), Reported> {
        if self.locks.selects_same_packages(&workspace.config_sources.locks) {
            return Ok(());
        }
        let detail = "The given plan file was created with a different set of external dependency selections than the current configuration. A saved plan can be applied only to the same configuration it was created from.\n\nCreate a new plan from the updated configuration.";
        Err(diags.error(Diagnostic::error(messages::SAVED_PLAN_HAS_OTHER_LOCKS, detail)))
    }
}
