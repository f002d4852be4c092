//! Saved plans: one file with the plan, the state that it was created for, and its configuration.
//! Applying one reads no configuration from the disk.

mod seal;
mod variables_at_apply;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};

use formwork_backend::encryption::PlanCipher;
use formwork_core::addr::{ProviderAddr, ResourceMode};
use formwork_core::config::inputs::ResolvedVariable;
use formwork_core::config::{Config, ConfigFiles};
use formwork_core::disk::parse_json_object;
use formwork_core::plan::{Plan, plan_file};
use formwork_core::state::State;
use formwork_core::state::file::StateFile;
use formwork_core::state::merge::StateDifference;
use formwork_core::version::VersionConstraints;
use formwork_value::codec::json;
use formwork_value::quote::shell_word;
use formwork_value::{Diagnostic, Diagnostics, Marks, Reported, Str, Value};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use time::OffsetDateTime;

pub use self::seal::{SealKeySource, SealVerdict};
pub use self::variables_at_apply::VariablesGivenAtApply;

use crate::messages;

const PLAN_PART: &str = "plan.json";
const PRIOR_STATE_PART: &str = "prior.tfstate";
/// The name of the part with the stored state, present if the plan starts from another state.
const STORED_STATE_PART: &str = "stored.tfstate";
/// The name of the part with the metadata of a plan.
pub const METADATA_PART: &str = "about.json";
const CONFIG_PART_PREFIX: &str = "config/";
const MODULE_MANIFEST_PART: &str = "modules.json";
const LOCK_FILE_PART: &str = ".terraform.lock.hcl";

/// Metadata of a saved plan.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct PlanMetadata {
    engine: String,
    time: i64,
    workspace: String,
    /// The state files that options specify.
    state: Option<PathBuf>,
    state_out: Option<PathBuf>,
    /// The backend of the state. `None` in plans of versions with only the local backend.
    #[serde(default)]
    backend: Option<Box<RawValue>>,
    lineage: String,
    serial: u64,
    /// Whether no state existed yet. In this case the lineage has no meaning.
    fresh: bool,
    /// The fingerprint of the state, if interrupted runs had changed it since it was stored.
    #[serde(default)]
    recovered: Option<String>,
    /// The given variable values, as JSON.
    variables: BTreeMap<String, Box<RawValue>>,
    /// The ephemeral variables that were set. Their values are not stored.
    #[serde(default)]
    ephemeral: BTreeSet<String>,
}

/// The contents of a plan to save.
///
/// ```
/// # use {std::path::Path, formwork_operation::saved_plan::{PlanToSave, SealKeySource}};
/// fn save_unsealed(contents: PlanToSave<'_>, path: &Path) -> Result<(), String> {
///     contents.write(path, &SealKeySource::default())
/// }
/// ```
#[derive(Clone, Copy)]
pub struct PlanToSave<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The state that the plan was created for.
    pub file: &'a StateFile,
    /// The fingerprint of the state, if interrupted runs have changed it since it was stored:
    /// [`crate::StateSession::fingerprint_if_recovered`].
    pub recovered: Option<&'a str>,
    /// The configuration.
    pub config: &'a Config,
    /// The variable values.
    pub variables: &'a BTreeMap<Str, ResolvedVariable>,
    /// The time at which the plan was created.
    pub time: OffsetDateTime,
    /// The selected workspace.
    pub workspace: &'a str,
    /// The state file that an option specified.
    pub state: Option<&'a Path>,
    /// The file for the written state that an option specified.
    pub state_out: Option<&'a Path>,
    /// The description of the state's backend, as JSON.
    pub backend: Option<&'a RawValue>,
    /// The configuration files, including those of called modules.
    pub texts: &'a BTreeMap<PathBuf, Vec<u8>>,
    /// The manifest of installed modules.
    pub modules: &'a str,
    /// The lock file.
    pub locks: &'a str,
    /// The cipher of the file. It leaves the file unencrypted if no encryption is configured.
    pub cipher: &'a PlanCipher,
}

/// A saved plan that was read from its file.
///
/// ```
/// # use {std::path::Path, formwork_core::plan::plan_file::read_plan_file};
/// use formwork_operation::prelude::*;
/// use formwork_operation::saved_plan::{SavedPlan, SealKeySource, damaged_plan_error};
///
/// fn read_plan(diags: &mut Diagnostics, path: &Path) -> Result<PlanSource, Reported> {
///     let parts = read_plan_file(path);
///     let parts = parts.map_err(|error| diags.error(damaged_plan_error(path, &error)))?;
///     let saved = SavedPlan::from_parts(diags, path, parts, &SealKeySource::default())?;
///     Ok(PlanSource::Saved(Box::new(saved)))
/// }
/// ```
pub struct SavedPlan {
    plan: Plan,
    /// The state as it was stored, if the plan starts from another one.
    stored: Option<State>,
    metadata: PlanMetadata,
    seal_verdict: SealVerdict,
    texts: BTreeMap<PathBuf, Vec<u8>>,
    /// The manifest of the modules that were installed.
    pub modules: String,
    /// The lock file of the providers that created the plan.
    pub locks: String,
}

/// Treatment of the configuration that was generated while the plan was created.
///
/// ```
/// # use {std::path::Path, formwork_operation::saved_plan::*};
/// fn written_files(saved: &SavedPlan, root: &Path) -> ConfigSnapshot {
///     saved.config_files(root, GeneratedConfigUse::Exclude)
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GeneratedConfigUse {
    /// Generated resources are part of the configuration, so that they can be applied.
    Include,
    /// The configuration is returned as the author wrote it.
    Exclude,
}

impl PlanToSave<'_> {
    /// Writes the plan to a file, and seals it.
    ///
    /// # Errors
    /// Returns a message for the user if the file cannot be written.
    pub fn write(&self, path: &Path, key: &SealKeySource) -> Result<(), String> {
        let Self { plan, file, .. } = *self;
        let metadata = self.plan_metadata();
        let prior = StateFile { state: plan.prior.clone(), ..file.clone() };
        let mut parts: Vec<(String, Vec<u8>)> = vec![
            (
                METADATA_PART.into(),
                serde_json::to_vec(&metadata).map_err(|error| error.to_string())?,
            ),
            (
                PLAN_PART.into(),
                plan_without_ephemeral_variables(plan)
                    .to_bytes()
                    .map_err(|error| error.to_string())?,
            ),
            (PRIOR_STATE_PART.into(), prior.to_bytes()),
            (MODULE_MANIFEST_PART.into(), self.modules.as_bytes().to_vec()),
            (LOCK_FILE_PART.into(), self.locks.as_bytes().to_vec()),
        ];
        if differs_in_managed_objects(&file.state, &plan.prior) {
            parts.push((STORED_STATE_PART.into(), file.to_bytes()));
        }
        let texts = self.texts.iter();
        let texts: Vec<_> = texts
            .map(|(path, text)| (format!("{CONFIG_PART_PREFIX}{}", path.display()), text))
            .collect();
        let parts = parts.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice()));
        let texts = texts.iter().map(|(name, text)| (name.as_str(), text.as_slice()));
        let mut parts: Vec<(&str, &[u8])> = parts.chain(texts).collect();
        let seal = seal::seal_plan_parts(key, &parts);
        parts.extend(seal.as_ref().map(|seal| (seal::SEAL_PART, seal.as_slice())));
        let packed =
            plan_file::plan_file_to_bytes(path, &parts).map_err(|error| error.to_string())?;
        // The whole file is encrypted, because file names and the configuration may be secret, too.
        let packed = self.cipher.encrypt(packed)?;
        plan_file::write_plan_file_bytes(path, &packed).map_err(|error| error.to_string())
    }

    fn plan_metadata(&self) -> PlanMetadata {
        let Self { config, file, .. } = *self;
        PlanMetadata {
            engine: env!("CARGO_PKG_VERSION").into(),
            time: self.time.unix_timestamp(),
            workspace: self.workspace.to_owned(),
            state: self.state.map(Path::to_owned),
            state_out: self.state_out.map(Path::to_owned),
            backend: self.backend.map(RawValue::to_owned),
            lineage: file.lineage.clone(),
            serial: file.serial,
            // A state that was never stored has a new random lineage in each command.
            fresh: file.serial == 0,
            recovered: self.recovered.map(str::to_owned),
            variables: raw_variable_values_to_store(config, self.variables)
                .filter_map(|(name, value)| {
                    let json = json::encode_untyped(value).ok()?;
                    Some((name.to_string(), RawValue::from_string(json).ok()?))
                })
                .collect(),
            ephemeral: ephemeral_variables_where(config, |name| {
                self.variables.get(name).is_some_and(|input| !input.is_default)
            }),
        }
    }
}

/// The given values, before conversion. For an ephemeral variable only the default is kept, which
/// is in the configuration anyway.
fn raw_variable_values_to_store<'a>(
    config: &'a Config,
    inputs: &'a BTreeMap<Str, ResolvedVariable>,
) -> impl Iterator<Item = (&'a Str, &'a Value)> {
    inputs.iter().filter_map(|(name, input)| {
        let variable = config.root.variables.get(name)?;
        let raw = if variable.ephemeral { variable.default.as_ref()? } else { &input.raw };
        Some((name, raw))
    })
}

/// The ephemeral variables that satisfy a condition.
fn ephemeral_variables_where(config: &Config, selects: impl Fn(&str) -> bool) -> BTreeSet<String> {
    let variables = config.root.variables.iter().filter(|(_, variable)| variable.ephemeral);
    variables.map(|(name, _)| name.to_string()).filter(|name| selects(name)).collect()
}

/// The plan without the values of ephemeral variables, which must not be stored.
fn plan_without_ephemeral_variables(plan: &Plan) -> Plan {
    let mut plan = plan.clone();
    plan.variables.retain(|_, value| !value.all_marks().contains(Marks::EPHEMERAL));
    plan
}

/// Whether two states differ in more than the results of data sources.
fn differs_in_managed_objects(first: &State, second: &State) -> bool {
    let differing = StateDifference::between(first, second).instances;
    differing.iter().any(|addr| addr.resource.mode() == ResourceMode::Managed)
}

/// Reports a saved plan with an unreadable part.
#[must_use]
pub fn damaged_plan_error(path: &Path, reason: &dyn Display) -> Diagnostic {
    let detail = format!("{} is a saved plan, but it cannot be read: {reason}.", path.display());
    Diagnostic::error(messages::INVALID_PLAN_FILE, detail)
}

impl SavedPlan {
    /// Reads a saved plan from the parts of its file, and verifies its seal.
    ///
    /// # Errors
    /// Returns an error if a part is missing or invalid.
    pub fn from_parts(
        diags: &mut Diagnostics,
        path: &Path,
        mut parts: plan_file::PlanFileParts,
        key: &SealKeySource,
    ) -> Result<Self, Reported> {
        let mut damaged = |reason: &dyn Display| diags.error(damaged_plan_error(path, reason));
        // The seal covers all parts, so it is verified before any of them is removed.
        let seal_verdict = seal::check_plan_seal(key, &mut parts);
        let mut take_part = |part_name: &str| parts.remove(part_name).unwrap_or_default();
        let (metadata, plan, prior) =
            (take_part(METADATA_PART), take_part(PLAN_PART), take_part(PRIOR_STATE_PART));
        let metadata: PlanMetadata =
            parse_json_object(&metadata).map_err(|error| damaged(&error))?;
        let prior = StateFile::parse(&prior).map_err(|error| damaged(&error))?;
        let plan = Plan::from_bytes(&plan, prior.state).map_err(|error| damaged(&error))?;
        let stored = Some(take_part(STORED_STATE_PART)).filter(|stored| !stored.is_empty());
        let stored = stored.map(|stored| StateFile::parse(&stored)).transpose();
        let stored = stored.map_err(|error| damaged(&error))?.map(|file| file.state);
        let modules = String::from_utf8_lossy(&take_part(MODULE_MANIFEST_PART)).into_owned();
        let locks = String::from_utf8_lossy(&take_part(LOCK_FILE_PART)).into_owned();
        let texts = parts
            .into_iter()
            // Parts that a later version adds are not configuration files.
            .filter_map(|(name, text)| Some((name.strip_prefix(CONFIG_PART_PREFIX)?.into(), text)))
            .collect();
        Ok(Self { plan, stored, metadata, seal_verdict, texts, modules, locks })
    }

    /// The configuration files of the plan, whose root module is in a directory, by the paths that
    /// they had when the plan was created.
    #[must_use]
    pub fn config_files(&self, root: &Path, generated: GeneratedConfigUse) -> ConfigSnapshot {
        let mut texts = self.texts.clone();
        if generated == GeneratedConfigUse::Include {
            let changes = self.plan.changes.values();
            let imported = changes.filter_map(|change| change.importing.as_ref());
            let text: String = imported
                .filter_map(|importing| Some(format!("{}\n", importing.generated_config.as_ref()?)))
                .collect();
            if !text.is_empty() {
                texts.insert(root.join("(generated).tf"), text.into_bytes());
            }
        }
        ConfigSnapshot { texts }
    }

    /// The plan.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The providers that the plan requires, including those of deleted configuration.
    #[must_use]
    pub fn provider_requirements(
        &self,
        config: &Config,
    ) -> BTreeMap<ProviderAddr, VersionConstraints> {
        let mut required = config.provider_requirements();
        // Objects whose configuration was deleted require a provider that destroys them.
        let resources = self.plan.prior.resources.values();
        for addr in resources.map(|resource| &resource.provider.provider) {
            required.entry(addr.clone()).or_default();
        }
        required
    }

    /// The given value of each variable, as JSON.
    pub fn variable_values_as_json(&self) -> impl Iterator<Item = (&str, &str)> {
        self.metadata.variables.iter().map(|(name, json)| (name.as_str(), json.get()))
    }

    /// The time at which the plan was created.
    #[must_use]
    pub fn creation_time(&self) -> OffsetDateTime {
        OffsetDateTime::from_unix_timestamp(self.metadata.time)
            .unwrap_or(OffsetDateTime::UNIX_EPOCH)
    }

    /// The workspace in which the plan was created.
    #[must_use]
    pub fn workspace(&self) -> &str {
        &self.metadata.workspace
    }

    /// The state file that an option specified.
    #[must_use]
    pub fn state_option_path(&self) -> Option<&Path> {
        self.metadata.state.as_deref()
    }

    /// The file for the written state that an option specified.
    #[must_use]
    pub fn state_out_option_path(&self) -> Option<&Path> {
        self.metadata.state_out.as_deref()
    }

    /// The description of the state's backend, as JSON.
    #[must_use]
    pub fn backend_description(&self) -> Option<&RawValue> {
        self.metadata.backend.as_deref()
    }

    /// The result of verifying the seal.
    #[must_use]
    pub fn seal_verdict(&self) -> SealVerdict {
        self.seal_verdict
    }

    /// Refuses a plan that has errors, or that belongs to another workspace: names that depend on
    /// the workspace would be wrong there.
    ///
    /// # Errors
    /// Returns an error if the plan is refused.
    pub fn check_errors_and_workspace(
        &self,
        diags: &mut Diagnostics,
        selected_workspace: &str,
    ) -> Result<(), Reported> {
        if self.plan.errored {
            return Err(diags.error(Diagnostic::error(
                messages::CANNOT_APPLY_INCOMPLETE_PLAN,
                "Formwork encountered an error when generating this plan, so it cannot be applied.",
            )));
        }
        let plan_workspace = &self.metadata.workspace;
        if plan_workspace == selected_workspace {
            return Ok(());
        }
        let detail = format!(
            "The plan was created in the workspace {plan_workspace:?}, but {selected_workspace:?} is selected. To apply it, run:\n  formwork workspace select {}",
            shell_word(plan_workspace)
        );
        Err(diags.error(Diagnostic::error(messages::SAVED_PLAN_IS_FOR_ANOTHER_WORKSPACE, detail)))
    }

    /// Returns the plan if the state has not changed since the plan was created. An interrupted run,
    /// possibly of this very plan, may have changed the state without storing it; `recovered` is the
    /// fingerprint in this case.
    ///
    /// # Errors
    /// Returns an error if the state has changed.
    pub fn plan_if_state_unchanged(
        self,
        diags: &mut Diagnostics,
        file: &StateFile,
        recovered: Option<&str>,
    ) -> Result<Plan, Reported> {
        self.check_state_unchanged(diags, file)?;
        self.check_recovery_unchanged(diags, recovered)?;
        Ok(self.plan)
    }

    /// Whether a state is a later one than the plan's, with the same lineage.
    pub(crate) fn is_for_earlier_serial(&self, file: &StateFile) -> bool {
        let PlanMetadata { lineage, serial, fresh, .. } = &self.metadata;
        !fresh && *lineage == file.lineage && *serial < file.serial
    }

    /// Returns the plan, and the stored state that it was created for. Other runs may have changed other parts
    /// of the state since then.
    ///
    /// # Errors
    /// Returns an error if an interrupted run has changed the state without storing it.
    pub(crate) fn plan_and_stored_state(
        self,
        diags: &mut Diagnostics,
        recovered: Option<&str>,
    ) -> Result<(Plan, State), Reported> {
        self.check_recovery_unchanged(diags, recovered)?;
        let stored = self.stored.unwrap_or_else(|| self.plan.prior.clone());
        Ok((self.plan, stored))
    }

    fn check_recovery_unchanged(
        &self,
        diags: &mut Diagnostics,
        recovered: Option<&str>,
    ) -> Result<(), Reported> {
        if self.metadata.recovered.as_deref() == recovered {
            return Ok(());
        }
        let detail = "The given plan file can no longer be applied because an interrupted run has changed real objects after the plan was created. Its results are in its journal. Create a new plan, which continues from them.";
        Err(diags.error(Diagnostic::error(messages::SAVED_PLAN_IS_STALE, detail)))
    }

    /// Checks that the state has not changed since the plan was created.
    ///
    /// # Errors
    /// Returns an error if it has changed.
    pub fn check_state_unchanged(
        &self,
        diags: &mut Diagnostics,
        file: &StateFile,
    ) -> Result<(), Reported> {
        let PlanMetadata { lineage, serial, fresh, .. } = &self.metadata;
        let (summary, detail) = if !fresh && *lineage != file.lineage {
            (
                messages::SAVED_PLAN_DOES_NOT_MATCH_GIVEN_STATE,
                "The given plan file can not be applied because it was created from a different state lineage.",
            )
        } else if *serial != file.serial {
            (
                messages::SAVED_PLAN_IS_STALE,
                "The given plan file can no longer be applied because the state was changed by another operation after the plan was created.",
            )
        } else {
            return Ok(());
        };
        Err(diags.error(Diagnostic::error(summary, detail)))
    }
}

/// The configuration files in a saved plan, by the paths that they had when the plan was created.
///
/// See [`GeneratedConfigUse`] for an example.
#[derive(Debug)]
pub struct ConfigSnapshot {
    texts: BTreeMap<PathBuf, Vec<u8>>,
}

impl ConfigFiles for ConfigSnapshot {
    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        let inside = self.texts.keys().filter(|path| path.parent() == Some(dir));
        Ok(inside.filter_map(|path| Some(path.file_name()?.to_str()?.to_owned())).collect())
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.texts.get(path).cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}
