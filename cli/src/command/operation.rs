//! Common steps of planning and applying: reading and checking the configuration and starting providers
//! before the engine runs, and the cleanup after it.

use std::collections::BTreeMap;

use formwork_core::addr::{InstanceAddr, ProviderAddr, Target};
use formwork_core::config::Config;
use formwork_core::config::inputs::{self, ResolvedVariable, UnsetVariableTreatment};
use formwork_core::eval::HostValues;
use formwork_core::plan::{PlanMode, PlanOptions};
use formwork_core::provider::ProviderPool;
use formwork_core::provisioner::ProvisionerSet;
use formwork_core::version::VersionConstraints;
use formwork_operation::import::check_resource_block_exists;
use formwork_operation::launcher::Launcher;
use formwork_operation::plan_options::{check_refresh_option, check_target_options};
use formwork_operation::{Operation, OperationInputs};
use formwork_value::{Diagnostic, Diagnostics, Reported, Str};
use time::OffsetDateTime;

use super::config_errors::{self, ConfigErrorContext};
use super::encryption;
use super::output::providers_in_store;
use super::variable_inputs::{ask_for_missing_variables, variable_values};
use crate::clock;
use crate::command_line::{OperationArgs, StateArgs, StatePaths, VariableSource};
use crate::env::Env;
use crate::messages;
use crate::redact;
use crate::view;
use crate::view::operation_report::OperationReport;
use crate::workspace::{OverrideWarningCondition, Workspace};

/// A configuration with its variable values and provider programs.
pub(crate) struct PreparedConfig<'e> {
    pub(crate) workspace: Workspace<'e>,
    pub(crate) config: Config,
    pub(crate) variables: BTreeMap<Str, ResolvedVariable>,
    pub(crate) launcher: Launcher,
    pub(crate) provisioners: ProvisionerSet,
    pub(crate) workspace_name: String,
    pub(crate) time: OffsetDateTime,
}

/// Options of the preparation.
#[derive(Clone, Copy)]
pub(crate) struct PrepareOptions<'a> {
    /// Sources of variable values.
    pub(crate) sources: &'a [VariableSource],
    /// Location of the state.
    pub(crate) state_paths: &'a StatePaths,
    /// Whether a configuration is required. Destroying and refreshing do not require one.
    pub(crate) needs_config: bool,
    /// Whether to generate configuration for imported resources without configuration.
    pub(crate) generate: bool,
    /// Terminal for prompts for missing variable values, if prompts are allowed.
    pub(crate) ask: Option<&'a view::Screen>,
    /// The import target, if any.
    pub(crate) fills: Option<ImportBlockTarget<'a>>,
}

/// Import target whose block may still be empty, so the providers of open operations are required as well.
#[derive(Clone, Copy)]
pub(crate) struct ImportBlockTarget<'a> {
    pub(crate) addr: &'a InstanceAddr,
    /// Whether the block must exist.
    pub(crate) must_be_written: bool,
}

impl<'e> PreparedConfig<'e> {
    /// Reads the configuration, resolves the variable values and finds the providers.
    ///
    /// # Errors
    /// Returns an error if the configuration or a variable value is not valid, or a provider is not
    /// available.
    pub(crate) async fn prepare(
        diags: &mut Diagnostics,
        mut workspace: Workspace<'e>,
        preparing: &PrepareOptions<'_>,
    ) -> Result<Self, (Box<Workspace<'e>>, Reported)> {
        match Self::try_prepare(diags, &mut workspace, preparing).await {
            Ok((config, inputs, launcher)) => Ok(Self {
                workspace_name: workspace.name(),
                provisioners: formwork_provisioners::provisioners(
                    &workspace.env.provisioner_environment(),
                ),
                workspace,
                variables: inputs,
                config,
                launcher,
                time: clock::current_time(),
            }),
            Err(reported) => Err((Box::new(workspace), reported)),
        }
    }

    async fn try_prepare(
        diags: &mut Diagnostics,
        workspace: &mut Workspace<'e>,
        preparing: &PrepareOptions<'_>,
    ) -> Result<(Config, BTreeMap<Str, ResolvedVariable>, Launcher), Reported> {
        if preparing.needs_config && !workspace.has_config_or_warn(diags) {
            let directory = &workspace.config_dir;
            if *directory != workspace.root {
                let detail = format!(
                    "The directory {} does not contain .tf files. Specify the configuration directory with -config=DIR.",
                    directory.display()
                );
                let problem = Diagnostic::error(messages::NO_CONFIGURATION_FILES, detail);
                return Err(diags.error(problem));
            }
            return Err(diags.error(Diagnostic::error(
                messages::NO_CONFIGURATION_FILES,
                "The working directory does not contain .tf files. Change to the configuration directory, or specify it with -chdir=DIR before the command. To destroy everything that is managed here, use `formwork destroy`, which does not require a configuration.",
            )));
        }
        let (mut config, dangling) = workspace.config_with_reference_errors(diags)?;
        if let Some(filling) = preparing.fills.filter(|filling| filling.must_be_written) {
            // Checked first, so that the user is not prompted for variable values needlessly.
            check_resource_block_exists(diags, &config, filling.addr)?;
        }
        config.check_required_versions(diags)?;
        if preparing.generate {
            config.add_placeholder_resources(diags)?;
        }
        encryption::load_encryption(diags, workspace, &config.root, preparing.sources)?;
        let variables = preparing.sources;
        let fills = preparing.fills.map(|filling| filling.addr);
        if let Err(reported) = dangling.fail_if_errors() {
            workspace.check_provider_selections(diags, &config.provider_requirements())?;
            let context = ConfigErrorContext { dangling, fills };
            let checked =
                config_errors::report_config_errors(diags, workspace, &config, context).await;
            // Variable values may be invalid as well. Missing values are not prompted for.
            let unset = if preparing.ask.is_some() {
                UnsetVariableTreatment::Unknown
            } else {
                UnsetVariableTreatment::Error
            };
            if let Ok(values) = variable_values(diags, workspace, variables) {
                let sources = &mut workspace.sources;
                drop(inputs::resolve_variables(diags, sources, &config.root, values, unset));
            }
            return Err(checked.err().unwrap_or(reported));
        }
        let _ = diags.append(dangling);
        let mut required = config.provider_requirements();
        let state = StateNeedingProviders {
            state_paths: preparing.state_paths,
            with_open: preparing.fills.is_some(),
        };
        required.extend(providers_only_in_state(workspace, &config, &required, state).await);
        let launcher = workspace.make_launcher(diags, &required)?;
        let mut values = variable_values(diags, workspace, variables)?;
        if let Some(screen) = preparing.ask {
            ask_for_missing_variables(screen, &config, &mut values).await;
        }
        let sources = &mut workspace.sources;
        match inputs::resolve_variables(
            diags,
            sources,
            &config.root,
            values,
            UnsetVariableTreatment::Error,
        ) {
            Ok(inputs) => {
                // Provider messages may contain these values before the engine has evaluated them.
                inputs
                    .values()
                    .for_each(|input| redact::sensitive_values().add_marked_values(&input.value));
                Ok((config, inputs, launcher))
            }
            Err(reported) => {
                // Errors that do not depend on variable values are reported together.
                let context = ConfigErrorContext { dangling: Diagnostics::new(), fills };
                let checked =
                    config_errors::report_config_errors(diags, workspace, &config, context).await;
                Err(checked.err().unwrap_or(reported))
            }
        }
    }

    /// An operation on the configuration.
    pub(crate) fn operation<'a>(&'a self, pool: &'a ProviderPool<'a>) -> Operation<'a> {
        let inputs = OperationInputs {
            config: &self.config,
            sources: &self.workspace.sources,
            variables: &self.variables,
            pool,
        };
        let host = HostValues {
            workspace: self.workspace_name.as_str().into(),
            plan_time: Some(self.time),
            ..self.workspace.host_values()
        };
        Operation::new(inputs, host).with_provisioners(&self.provisioners)
    }
}

/// Opens the working directory, and prints the warning about overrides, which precedes all other output.
pub(super) fn open_workspace<'e>(
    diags: &mut Diagnostics,
    env: &'e Env,
    report: &OperationReport,
    overrides: OverrideWarningCondition,
) -> Result<Workspace<'e>, Reported> {
    let mut workspace = Workspace::open(env, diags)?;
    let mut warnings = Diagnostics::new();
    workspace.warn_of_overrides(&mut warnings, overrides);
    report.report_diagnostics(&workspace.sources, &warnings);
    Ok(workspace)
}

/// Prepares the configuration of the working directory for planning.
pub(super) async fn prepare_in_dir<'e>(
    diags: &mut Diagnostics,
    workspace: Result<Workspace<'e>, Reported>,
    preparing: &PrepareOptions<'_>,
) -> Result<PreparedConfig<'e>, Option<Box<Workspace<'e>>>> {
    let workspace = workspace.map_err(|_| None)?;
    PreparedConfig::prepare(diags, workspace, preparing)
        .await
        .map_err(|(workspace, _)| Some(workspace))
}

/// The state whose providers are required.
pub(super) struct StateNeedingProviders<'a> {
    pub(super) state_paths: &'a StatePaths,
    /// Whether to include the providers of open operations.
    pub(super) with_open: bool,
}

/// The providers of resources that are in the state but no longer in the configuration, and if requested
/// those of open operations. The command reports an unreadable state after it has locked it.
pub(super) async fn providers_only_in_state(
    workspace: &Workspace<'_>,
    config: &Config,
    required: &BTreeMap<ProviderAddr, VersionConstraints>,
    state: StateNeedingProviders<'_>,
) -> BTreeMap<ProviderAddr, VersionConstraints> {
    let StateNeedingProviders { state_paths, with_open } = state;
    let diags = &mut Diagnostics::new();
    let Ok(mut store) = workspace.open_state(diags, config.backend(), state_paths).await else {
        return BTreeMap::new();
    };
    let providers = if store.intents.has_unfinished_run().await {
        providers_in_store(diags, store, with_open).await.unwrap_or_default()
    } else {
        store.store.stored_providers().await
    };
    let unlisted = providers.into_iter().filter(|addr| !required.contains_key(addr));
    unlisted.map(|addr| (addr, VersionConstraints::default())).collect()
}

/// A launcher for the providers of objects in a state, as far as the lock file lists them. As in Terraform,
/// the configuration must be readable, and its providers installed.
///
/// # Errors
/// Returns an error if a provider is not installed, or the configuration cannot be read.
pub(super) fn launcher_for_providers<'p>(
    diags: &mut Diagnostics,
    workspace: &mut Workspace<'_>,
    providers: impl Iterator<Item = &'p ProviderAddr>,
) -> Result<Launcher, Reported> {
    let required = providers_required_by_config(diags, workspace)?;
    launcher_for_requirements(diags, workspace, required, providers)
}

/// As [`launcher_for_providers`], in the locked versions. A state that is shown as a whole was written with
/// these, even if the configuration requires other versions in the meantime.
///
/// # Errors
/// Returns the errors of [`launcher_for_providers`].
pub(super) fn launcher_ignoring_constraints<'p>(
    diags: &mut Diagnostics,
    workspace: &mut Workspace<'_>,
    providers: impl Iterator<Item = &'p ProviderAddr>,
) -> Result<Launcher, Reported> {
    let mut required = providers_required_by_config(diags, workspace)?;
    required.values_mut().for_each(|versions| *versions = VersionConstraints::default());
    launcher_for_requirements(diags, workspace, required, providers)
}

/// The providers that the configuration requires, if a configuration exists.
fn providers_required_by_config(
    diags: &mut Diagnostics,
    workspace: &mut Workspace<'_>,
) -> Result<BTreeMap<ProviderAddr, VersionConstraints>, Reported> {
    if !workspace.has_config() {
        return Ok(BTreeMap::new());
    }
    let mut ignored = Diagnostics::new();
    // Warnings are reported only by commands that use the configuration.
    let config = workspace.read_config_requirements(&mut ignored);
    let config = config.map_err(|reported| diags.append(ignored).err().unwrap_or(reported))?;
    Ok(config.provider_requirements())
}

fn launcher_for_requirements<'p>(
    diags: &mut Diagnostics,
    workspace: &mut Workspace<'_>,
    mut required: BTreeMap<ProviderAddr, VersionConstraints>,
    providers: impl Iterator<Item = &'p ProviderAddr>,
) -> Result<Launcher, Reported> {
    for addr in providers {
        required.entry(addr.clone()).or_default();
    }
    Ok(workspace.make_launcher(diags, &required)?.prefer_cached_schemas())
}

/// Reads the planning options.
///
/// # Errors
/// Returns an error if an address is not valid, or options exclude each other.
pub(crate) fn planning_options(
    diags: &mut Diagnostics,
    args: &OperationArgs,
    destroying: bool,
) -> Result<PlanOptions, Reported> {
    let mode = match (args.destroy || destroying, args.refresh_only) {
        (true, true) => {
            return Err(diags.error(Diagnostic::error(
                messages::INCOMPATIBLE_PLAN_MODE_OPTIONS,
                "The -destroy and -refresh-only options are mutually-exclusive.",
            )));
        }
        (true, false) => PlanMode::Destroy,
        (false, true) => PlanMode::RefreshOnly,
        (false, false) => PlanMode::Normal,
    };
    let mut options = PlanOptions { mode, skip_refresh: !args.refresh, ..PlanOptions::default() };
    check_refresh_option(diags, &options)?;
    if args.parallelism < 0 {
        let detail = format!("The parallelism must be a positive value. Not {}.", args.parallelism);
        return Err(diags.error(Diagnostic::error(messages::INVALID_PARALLELISM_VALUE, detail)));
    }
    for text in &args.target {
        match text.parse() {
            Ok(target) => options.targets.push(target),
            Err(error) => {
                let detail = format!("The -target option {text:?} is not an address: {error}");
                let _ = diags.error(Diagnostic::error(
                    messages::INVALID_TARGET.with(&[&format_args!("{text:?}")]),
                    detail,
                ));
            }
        }
    }
    options.excludes = parse_exclude_targets(diags, args);
    let _ = check_target_options(diags, &options);
    for text in &args.replace {
        match text.parse::<InstanceAddr>() {
            Ok(addr) if addr.resource.mode() == formwork_core::addr::ResourceMode::Managed => {
                options.replace.push(addr);
            }
            Ok(addr) => {
                let detail = format!(
                    "Only managed resources can be replaced. {addr} does not have an object of its own."
                );
                let summary =
                    messages::INVALID_FORCE_REPLACE_ADDRESS.with(&[&format_args!("{text:?}")]);
                let _ = diags.error(Diagnostic::error(summary, detail));
            }
            Err(error) => {
                let detail =
                    format!("The -replace option {text:?} is not an instance address: {error}");
                let _ = diags.error(Diagnostic::error(
                    messages::INVALID_FORCE_REPLACE_ADDRESS.with(&[&format_args!("{text:?}")]),
                    detail,
                ));
            }
        }
    }
    diags.fail_if_errors()?;
    if !options.targets.is_empty() {
        diags.warn(Diagnostic::warning(
            messages::RESOURCE_TARGETING_IS_IN_EFFECT,
            "You are creating a plan with the -target option, which means that the result of this plan may not represent all of the changes requested by the current configuration.\n\nThe -target option is not for routine use, and is provided only for exceptional situations such as recovering from errors or mistakes.",
        ));
    }
    Ok(options)
}

/// Reads the `-exclude` options. Invalid addresses are reported and skipped.
fn parse_exclude_targets(diags: &mut Diagnostics, args: &OperationArgs) -> Vec<Target> {
    if args.exclude.is_empty() {
        return Vec::new();
    }
    let mut excludes = Vec::new();
    for text in &args.exclude {
        match text.parse() {
            Ok(target) => excludes.push(target),
            Err(error) => {
                let detail = format!("The -exclude option {text:?} is not an address: {error}");
                let _ = diags.error(Diagnostic::error(messages::INVALID_EXCLUDE_ADDRESS, detail));
            }
        }
    }
    diags.warn(Diagnostic::warning(
        messages::RESOURCE_TARGETING_IS_IN_EFFECT,
        "You are creating a plan with the -exclude option, which means that the result of this plan may not represent all of the changes requested by the current configuration.\n\nThe -exclude option is not for routine use, and is provided only for exceptional situations such as recovering from errors or mistakes.",
    ));
    excludes
}

/// Warns that `-state` is deprecated in favour of the backend configuration.
pub(crate) fn warn_of_state_option(diags: &mut Diagnostics, args: &StateArgs) {
    if let Some(state) = &args.state {
        let detail = format!(
            "Use `path` attribute within the `local` backend instead:\n\nterraform {{\n  backend \"local\" {{\n    path = {:?}\n  }}\n}}",
            state.display().to_string()
        );
        diags.warn(Diagnostic::warning(messages::DEPRECATED_STATE_FLAG, detail));
    }
}

/// Whether prompts are allowed. The answers may also come from a pipe.
pub(crate) fn may_ask_user(env: &Env, input: bool) -> bool {
    env.input && input
}
