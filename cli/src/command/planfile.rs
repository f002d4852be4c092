//! Saved plans: the plan, the state it was made for, and the configuration it was made of, in one
//! file. Reads no configuration from the disk.

pub(crate) mod seal;
#[cfg(test)]
mod tests;
mod variables;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use formwork_core::addr::ProviderAddr;
use formwork_core::config::inputs::Input;
use formwork_core::config::{Config, Files, Place};
use formwork_core::plan::{Plan, file};
use formwork_core::state::file::StateFile;
use formwork_core::version::Constraints;
use formwork_value::codec::json;
use formwork_value::{Diagnostic, Diagnostics, Marks, Reported, Str};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use time::OffsetDateTime;

use self::seal::PlanOrigin;
use self::variables::variables;
use super::operation::Prepared;
use crate::args::{StatePlace, VariableSource};
use crate::env::Env;
use crate::install::lockfile::{self, LockFile};
use crate::modules::installed::Installed;
use crate::modules::manifest::Manifest;
use crate::workspace::Workspace;
use crate::workspace::backend::{BackendConfig, InitializedBackend};

const PLAN: &str = "plan.json";
const PRIOR: &str = "prior.tfstate";
const ABOUT: &str = "about.json";
const CONFIG: &str = "config/";
const MODULES: &str = "modules.json";
const LOCKS: &str = lockfile::NAME;

/// Metadata of a saved plan.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct PlanMetadata {
    engine: String,
    time: i64,
    workspace: String,
    /// The files that options named for the state.
    state: Option<PathBuf>,
    state_out: Option<PathBuf>,
    /// The backend that keeps the state; `None` in plans of versions that knew the local one only.
    #[serde(default)]
    backend: Option<InitializedBackend>,
    lineage: String,
    serial: u64,
    /// Whether there was no state yet: its lineage means nothing then.
    fresh: bool,
    /// The fingerprint of the state, if interrupted runs had changed it since it was stored.
    #[serde(default)]
    recovered: Option<String>,
    /// Given values of the variables, as JSON.
    variables: BTreeMap<String, Box<RawValue>>,
    /// The ephemeral variables that were given a value, which is stored nowhere.
    #[serde(default)]
    ephemeral: BTreeSet<String>,
}

/// A saved plan, read.
pub(crate) struct Saved {
    plan: Plan,
    about: PlanMetadata,
    /// The providers it was made with.
    locks: LockFile,
    origin: PlanOrigin,
}

/// The state that a plan is made for.
#[derive(Clone, Copy)]
pub(super) struct PlannedState<'a> {
    /// The state.
    pub(super) file: &'a StateFile,
    /// The place that options gave for it.
    pub(super) place: &'a StatePlace,
    /// Its fingerprint, if interrupted runs have changed it since it was stored.
    pub(super) recovered: Option<&'a str>,
}

/// A saved plan that is to be applied.
#[derive(Clone, Copy)]
pub(super) struct ToApply<'a> {
    /// The file.
    pub(super) path: &'a Path,
    /// The sources of values of variables.
    pub(super) sources: &'a [VariableSource],
    /// Whether it may be made elsewhere.
    pub(super) allow_foreign: bool,
}

/// Writes a plan.
///
/// # Errors
/// In words, when it cannot be written.
pub(super) fn write(
    path: &Path,
    prepared: &Prepared<'_>,
    made_for: PlannedState<'_>,
    plan: &Plan,
) -> Result<(), String> {
    let PlannedState { file, place, recovered } = made_for;
    let about = PlanMetadata {
        engine: env!("CARGO_PKG_VERSION").into(),
        time: prepared.time.unix_timestamp(),
        workspace: prepared.workspace_name.clone(),
        state: place.state.clone(),
        state_out: place.out.clone(),
        backend: backend_of(prepared)?,
        lineage: file.lineage.clone(),
        serial: file.serial,
        fresh: file.serial == 0,
        recovered: recovered.map(str::to_owned),
        variables: prepared
            .given
            .iter()
            .filter_map(|(name, value)| {
                let json = json::encode_simple(value).ok()?;
                Some((name.to_string(), RawValue::from_string(json).ok()?))
            })
            .collect(),
        ephemeral: ephemeral(&prepared.config, |name| {
            prepared.variables.get(name).is_some_and(|input| !input.is_default)
        }),
    };
    let config_sources = &prepared.workspace.config_sources;
    let prior = StateFile { state: plan.prior.clone(), ..file.clone() };
    let parts: Vec<(String, Vec<u8>)> = vec![
        (ABOUT.into(), serde_json::to_vec(&about).map_err(|error| error.to_string())?),
        (PLAN.into(), without_ephemeral(plan).to_bytes().map_err(|error| error.to_string())?),
        (PRIOR.into(), prior.write()),
        (MODULES.into(), config_sources.modules.render().into_bytes()),
        (LOCKS.into(), config_sources.locks.render().into_bytes()),
    ];
    let texts = config_sources.texts.iter();
    let texts: Vec<_> =
        texts.map(|(path, text)| (format!("{CONFIG}{}", path.display()), text)).collect();
    let parts = parts.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice()));
    let texts = texts.iter().map(|(name, text)| (name.as_str(), text.as_slice()));
    let mut parts: Vec<(&str, &[u8])> = parts.chain(texts).collect();
    let seal = seal::seal(prepared.workspace.env, &parts);
    parts.extend(seal.as_ref().map(|seal| (seal::PART, seal.as_slice())));
    file::write(path, &parts).map_err(|error| error.to_string())
}

/// The backend that keeps the state, with its arguments.
fn backend_of(prepared: &Prepared<'_>) -> Result<Option<InitializedBackend>, String> {
    let mut diags = Diagnostics::new();
    let config = prepared.workspace.backend_config(&mut diags, prepared.config.backend());
    // The state was opened with it already.
    let config = config.map_err(|_| "the backend is not set up".to_owned())?;
    InitializedBackend::of(&config).map(Some).map_err(|error| error.to_string())
}

/// The ephemeral variables of which something holds.
fn ephemeral(config: &Config, holds: impl Fn(&str) -> bool) -> BTreeSet<String> {
    let variables = config.root.variables.iter().filter(|(_, variable)| variable.ephemeral);
    variables.map(|(name, _)| name.to_string()).filter(|name| holds(name)).collect()
}

/// The plan without the values of ephemeral variables, which must not be stored.
fn without_ephemeral(plan: &Plan) -> Plan {
    let mut plan = plan.clone();
    plan.variables.retain(|_, value| !value.all_marks().contains(Marks::EPHEMERAL));
    plan
}

/// Reads a saved plan, and gets ready to apply it with the configuration it was made of.
///
/// # Errors
/// When the file is no plan, or the plan cannot be applied.
pub(super) fn prepare<'e>(
    diags: &mut Diagnostics,
    env: &'e Env,
    to_apply: ToApply<'_>,
) -> Result<(Prepared<'e>, Saved), Option<Box<Workspace<'e>>>> {
    let mut workspace = Workspace::open(env, diags).map_err(|_| None)?;
    match read(diags, &mut workspace, to_apply) {
        Ok((saved, config, variables)) => {
            let required = saved.requirements(&config);
            let launcher = workspace
                .launcher(diags, &required)
                .and_then(|launcher| saved.check_locks(diags, &workspace).map(|()| launcher));
            let Ok(launcher) = launcher else { return Err(Some(Box::new(workspace))) };
            workspace.warn_of_overrides(diags);
            let prepared = Prepared {
                variables,
                given: BTreeMap::new(),
                config,
                launcher,
                provisioners: formwork_provisioners::all(&workspace.env.provisioner_environment()),
                workspace_name: saved.about.workspace.clone(),
                time: OffsetDateTime::from_unix_timestamp(saved.about.time)
                    .unwrap_or(OffsetDateTime::UNIX_EPOCH),
                workspace,
            };
            Ok((prepared, saved))
        }
        Err(_) => Err(Some(Box::new(workspace))),
    }
}

fn read(
    diags: &mut Diagnostics,
    workspace: &mut Workspace<'_>,
    ToApply { path, sources, allow_foreign }: ToApply<'_>,
) -> Result<(Saved, Config, BTreeMap<Str, Input>), Reported> {
    let (saved, config) = open(diags, workspace, path, Generated::Read)?;
    saved.origin.may_be_applied(diags, workspace.env, (path, allow_foreign))?;
    if saved.plan.errored {
        return Err(diags.error(Diagnostic::error(
            "Cannot apply incomplete plan",
            "Formwork encountered an error when generating this plan, so it cannot be applied.",
        )));
    }
    saved.check_workspace(diags, &workspace.name())?;
    let variables = variables(diags, workspace, (&saved, &config), sources)?;
    Ok((saved, config, variables))
}

/// Treatment of configurations that were generated while the plan was made.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Generated {
    /// They are taken for part of the configuration, so that they can be applied.
    Read,
    /// The configuration is shown as it was written.
    Apart,
}

/// Opens a saved plan, with the configuration in it.
///
/// # Errors
/// When the file is no plan.
pub(crate) fn open(
    diags: &mut Diagnostics,
    workspace: &mut Workspace<'_>,
    path: &Path,
    generated: Generated,
) -> Result<(Saved, Config), Reported> {
    let name = path.display().to_string();
    let parts = file::read(path).map_err(|error| diags.error(error.diagnostic(&name)))?;
    open_parts(diags, workspace, (path, parts), generated)
}

/// Opens a saved plan that was read from a file.
///
/// # Errors
/// When its parts are not those of a plan.
pub(crate) fn open_parts(
    diags: &mut Diagnostics,
    workspace: &mut Workspace<'_>,
    (path, mut parts): (&Path, file::Parts),
    generated: Generated,
) -> Result<(Saved, Config), Reported> {
    let name = path.display().to_string();
    let damaged = |diags: &mut Diagnostics, why: &dyn std::fmt::Display| {
        let detail = format!("{name} is a saved plan, but it cannot be read: {why}.");
        diags.error(Diagnostic::error("Invalid plan file", detail))
    };
    let origin = seal::check(workspace.env, &mut parts);
    let mut part = |wanted: &str| parts.remove(wanted).unwrap_or_default();
    let (about, plan, prior) = (part(ABOUT), part(PLAN), part(PRIOR));
    let about: PlanMetadata =
        serde_json::from_slice(&about).map_err(|error| damaged(diags, &error))?;
    let prior = StateFile::read(&prior).map_err(|error| damaged(diags, &error))?;
    let plan = Plan::from_bytes(&plan, prior.state).map_err(|error| damaged(diags, &error))?;
    let modules = String::from_utf8_lossy(&part(MODULES)).into_owned();
    let modules = Manifest::parse(&modules).map_err(|error| damaged(diags, &error))?;
    let locks = String::from_utf8_lossy(&part(LOCKS)).into_owned();
    let locks = LockFile::parse(diags, &mut workspace.sources, locks)?;
    let mut texts: BTreeMap<PathBuf, Vec<u8>> = parts
        .into_iter()
        .filter_map(|(name, text)| Some((name.strip_prefix(CONFIG)?.into(), text)))
        .collect();
    let root = workspace.root.clone();
    if generated == Generated::Read {
        let imported = plan.changes.values().filter_map(|change| change.importing.as_ref());
        let text: String = imported
            .filter_map(|importing| Some(format!("{}\n", importing.generated_config.as_ref()?)))
            .collect();
        if !text.is_empty() {
            texts.insert(root.join("(generated).tf"), text.into_bytes());
        }
    }
    let files = Packed { texts };
    let place = Place { files: &files, dir: &root, folders: &Installed(modules) };
    let config = Config::load(diags, &mut workspace.sources, place)?;
    Ok((Saved { plan, about, locks, origin }, config))
}

impl Saved {
    /// The plan.
    pub(crate) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The providers it needs: also those of resources that are not in the configuration any more.
    pub(crate) fn requirements(&self, config: &Config) -> BTreeMap<ProviderAddr, Constraints> {
        let mut required = config.requirements();
        let held = self.plan.prior.resources.values().map(|held| &held.provider.provider);
        for addr in held {
            required.entry(addr.clone()).or_default();
        }
        required
    }

    /// The given value of each variable, as JSON.
    pub(crate) fn given(&self) -> impl Iterator<Item = (&str, &str)> {
        self.about.variables.iter().map(|(name, json)| (name.as_str(), json.get()))
    }

    /// When it was made.
    pub(crate) fn time(&self) -> OffsetDateTime {
        OffsetDateTime::from_unix_timestamp(self.about.time).unwrap_or(OffsetDateTime::UNIX_EPOCH)
    }

    /// Location of the state: as options say, else as they said when the plan was made.
    pub(super) fn place(&self, given: StatePlace) -> StatePlace {
        match given {
            StatePlace { state: None, out, backup } => StatePlace {
                state: self.about.state.clone(),
                out: out.or_else(|| self.about.state_out.clone()),
                backup,
            },
            given => given,
        }
    }

    /// The backend that it names, whatever is set up in the folder by now.
    ///
    /// # Errors
    /// When the backend is not supported.
    pub(super) fn backend(
        &self,
        diags: &mut Diagnostics,
    ) -> Result<Option<BackendConfig>, Reported> {
        let Some(named) = &self.about.backend else { return Ok(None) };
        let config = named.config().ok_or_else(|| {
            let detail = format!(
                "The plan was made for a state in the backend {:?}, with arguments that this version does not know. Make a new plan. Nothing was changed.",
                named.kind
            );
            diags.error(Diagnostic::error("Saved plan names an unknown backend", detail))
        })?;
        Ok(Some(config))
    }

    /// Refuses to apply it in another workspace: names that depend on the workspace would be wrong
    /// there.
    fn check_workspace(&self, diags: &mut Diagnostics, selected: &str) -> Result<(), Reported> {
        let made_in = &self.about.workspace;
        if made_in == selected {
            return Ok(());
        }
        let detail = format!(
            "The plan was made in the workspace {made_in:?}, but {selected:?} is selected. To apply it, run:\n  formwork workspace select {made_in}"
        );
        Err(diags.error(Diagnostic::error("Saved plan is for another workspace", detail)))
    }

    /// Refuses to apply it with other packages of providers: a plan of one version does not bind
    /// another.
    fn check_locks(
        &self,
        diags: &mut Diagnostics,
        workspace: &Workspace<'_>,
    ) -> Result<(), Reported> {
        if self.locks.selects_as(&workspace.config_sources.locks) {
            return Ok(());
        }
        let detail = "The given plan file was created with a different set of external dependency selections than the current configuration. A saved plan can be applied only to the same configuration it was created from.\n\nCreate a new plan from the updated configuration.";
        Err(diags.error(Diagnostic::error("Inconsistent dependency lock file", detail)))
    }

    /// Gives the plan if the state is still the one it was made for. An interrupted run has changed the
    /// state without storing it, be it a run of this very plan; `recovered` is the fingerprint then.
    ///
    /// # Errors
    /// When it is not.
    pub(super) fn check(
        self,
        diags: &mut Diagnostics,
        (file, recovered): (&StateFile, Option<&str>),
    ) -> Result<Plan, Reported> {
        self.check_state(diags, file)?;
        if self.about.recovered.as_deref() == recovered {
            return Ok(self.plan);
        }
        let detail = "The given plan file can no longer be applied because a run that was interrupted has changed real objects after the plan was created. Its results are in its journal. Make a new plan: it goes on from them.";
        Err(diags.error(Diagnostic::error("Saved plan is stale", detail)))
    }

    /// The workspace that it was made in.
    pub(super) fn workspace(&self) -> &str {
        &self.about.workspace
    }

    /// The origin that its seal proves.
    pub(super) fn origin(&self) -> PlanOrigin {
        self.origin
    }

    /// Whether the state is still the one it was made for.
    ///
    /// # Errors
    /// When it is not.
    pub(super) fn check_state(
        &self,
        diags: &mut Diagnostics,
        file: &StateFile,
    ) -> Result<(), Reported> {
        let PlanMetadata { lineage, serial, fresh, .. } = &self.about;
        let (summary, detail) = if !fresh && *lineage != file.lineage {
            (
                "Saved plan does not match the given state",
                "The given plan file can not be applied because it was created from a different state lineage.",
            )
        } else if *serial != file.serial {
            (
                "Saved plan is stale",
                "The given plan file can no longer be applied because the state was changed by another operation after the plan was created.",
            )
        } else {
            return Ok(());
        };
        Err(diags.error(Diagnostic::error(summary, detail)))
    }
}

/// The configuration in a saved plan, by the paths it had when the plan was made.
struct Packed {
    texts: BTreeMap<PathBuf, Vec<u8>>,
}

impl Files for Packed {
    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        let inside = self.texts.keys().filter(|path| path.parent() == Some(dir));
        Ok(inside.filter_map(|path| Some(path.file_name()?.to_str()?.to_owned())).collect())
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.texts.get(path).cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}
