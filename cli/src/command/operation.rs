//! What planning and applying share: everything that has to be read, checked, locked and started
//! before the engine can begin, and what has to be put away after it.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::time::Duration;

use formwork_core::addr::{InstanceAddr, Target};
use formwork_core::config::Config;
use formwork_core::config::inputs::{self, Given, GivenValue, Origin};
use formwork_core::eval::{Results, World};
use formwork_core::event::Watch;
use formwork_core::graph::walk::Finishing;
use formwork_core::plan::{Mode, Options};
use formwork_core::provider::Pool;
use formwork_core::session::Session;
use formwork_core::state::State;
use formwork_core::state::file::StateFile;
use formwork_core::state::local::LocalStore;
use formwork_core::state::recover::{Recovery, recover};
use formwork_core::state::store::{LockRequest, Store as _};
use formwork_value::{Diagnostic, Diagnostics, Reported, Str, Value};
use time::OffsetDateTime;
use tokio::sync::Semaphore;

use crate::args::{OperationArgs, StateArgs, VariableSource};
use crate::env::Env;
use crate::launcher::Launcher;
use crate::view;
use crate::workspace::Workspace;

/// A configuration with values for its variables and programs for its providers.
pub(crate) struct Prepared<'e> {
    pub(crate) workspace: Workspace<'e>,
    pub(crate) config: Config,
    pub(crate) variables: BTreeMap<Str, Value>,
    pub(crate) launcher: Launcher,
    pub(crate) workspace_name: String,
    pub(crate) time: OffsetDateTime,
}

impl<'e> Prepared<'e> {
    /// Reads the configuration, gives the variables their values, finds the providers.
    ///
    /// # Errors
    /// When any of that fails.
    pub(crate) fn prepare(
        diags: &mut Diagnostics,
        mut workspace: Workspace<'e>,
        sources: &[VariableSource],
        ask: bool,
    ) -> Result<Self, (Box<Workspace<'e>>, Reported)> {
        match Self::try_prepare(diags, &mut workspace, sources, ask) {
            Ok((config, variables, launcher)) => Ok(Self {
                workspace_name: workspace.name(),
                workspace,
                config,
                variables,
                launcher,
                time: OffsetDateTime::now_utc(),
            }),
            Err(reported) => Err((Box::new(workspace), reported)),
        }
    }

    fn try_prepare(
        diags: &mut Diagnostics,
        workspace: &mut Workspace<'e>,
        sources: &[VariableSource],
        ask: bool,
    ) -> Result<(Config, BTreeMap<Str, Value>, Launcher), Reported> {
        if !workspace.has_config() {
            return Err(diags.error(Diagnostic::error(
                "No configuration files",
                "There is nothing to plan here: the folder holds no configuration files, whose names end in .tf. If you would like to destroy everything that is managed here, use `formwork destroy`, which needs no configuration.",
            )));
        }
        let config = workspace.config(diags)?;
        let required = config.requirements();
        let launcher = workspace.launcher(diags, &required)?;
        let mut given = given(diags, workspace, sources)?;
        if ask {
            ask_for_missing(&config, &mut given);
        }
        let inputs = inputs::resolve(diags, &mut workspace.sources, &config.root, given)?;
        let variables = inputs.into_iter().map(|(name, input)| (name, input.value)).collect();
        Ok((config, variables, launcher))
    }

    /// What expressions can learn of the world outside.
    pub(crate) fn world(&self, applying: bool) -> World {
        let cwd = std::env::current_dir().unwrap_or_default();
        World {
            cwd: cwd.to_string_lossy().into_owned().into(),
            root: ".".into(),
            home: self.workspace.env.home.as_ref().map(|home| home.to_string_lossy().into_owned()),
            workspace: self.workspace_name.as_str().into(),
            applying,
            plan_time: Some(self.time),
            clock: OffsetDateTime::now_utc,
        }
    }

    /// What one phase works with.
    pub(crate) fn session<'a>(&'a self, with: With<'a>) -> Session<'a> {
        Session {
            config: &self.config,
            sources: &self.workspace.sources,
            state: with.state,
            pool: with.pool,
            results: with.results,
            world: with.world,
            variables: &self.variables,
            watch: with.watch,
            parallelism: with.parallelism,
            permits: Semaphore::new(with.parallelism),
            finishing: Finishing::AsTheyCome,
            stop: with.stop,
        }
    }
}

/// What differs from one phase to the next.
#[derive(Clone, Copy)]
pub(crate) struct With<'a> {
    pub(crate) state: &'a State,
    pub(crate) pool: &'a Pool<'a>,
    pub(crate) results: &'a Results,
    pub(crate) world: &'a World,
    pub(crate) watch: &'a dyn Watch,
    pub(crate) parallelism: usize,
    pub(crate) stop: &'a Cell<bool>,
}

/// Collects the values that were given for variables, weakest first.
fn given(
    diags: &mut Diagnostics,
    workspace: &mut Workspace<'_>,
    sources: &[VariableSource],
) -> Result<Vec<Given>, Reported> {
    let text = |name: &str, value: &str, origin| Given {
        name: name.into(),
        value: GivenValue::Text(value.to_owned()),
        origin,
    };
    let mut given: Vec<Given> = workspace
        .env
        .variables
        .iter()
        .map(|(name, value)| text(name, value, Origin::Environment))
        .collect();
    for name in automatic_files(workspace) {
        given.extend(values_of(diags, workspace, &name)?);
    }
    for source in sources {
        match source {
            VariableSource::File(path) => {
                given.extend(values_of(diags, workspace, &path.to_string_lossy())?);
            }
            VariableSource::Value(pair) => match pair.split_once('=') {
                Some((name, value)) => given.push(text(name.trim(), value, Origin::Option)),
                None => {
                    let detail = format!(
                        "The given -var option {pair:?} is not correctly specified. Must be a variable name and value separated by an equals sign, like -var=\"key=value\"."
                    );
                    return Err(diags.error(Diagnostic::error("Invalid -var option", detail)));
                }
            },
        }
    }
    Ok(given)
}

/// The files of values that are read without being named: `terraform.tfvars`, then those that end
/// in `.auto.tfvars`, by name.
fn automatic_files(workspace: &Workspace<'_>) -> Vec<String> {
    let entries = std::fs::read_dir(&workspace.root).into_iter().flatten().flatten();
    let mut automatic: Vec<String> = entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.ends_with(".auto.tfvars") || name.ends_with(".auto.tfvars.json"))
        .collect();
    automatic.sort();
    let first = ["terraform.tfvars", "terraform.tfvars.json"].into_iter();
    first
        .filter(|name| workspace.root.join(name).exists())
        .map(str::to_owned)
        .chain(automatic)
        .collect()
}

fn values_of(
    diags: &mut Diagnostics,
    workspace: &mut Workspace<'_>,
    name: &str,
) -> Result<Vec<Given>, Reported> {
    let path = workspace.root.join(name);
    let content = std::fs::read(&path).map_err(|error| {
        let detail = format!("Given variables file {name} cannot be read: {error}.");
        diags.error(Diagnostic::error("Failed to read variables file", detail))
    })?;
    if name.ends_with(".json") {
        let detail = format!(
            "{name} is written in JSON, which is not read for values of variables yet. Write the values in the native syntax, in a file whose name ends in .tfvars."
        );
        return Err(diags.error(Diagnostic::error("Not supported yet", detail)));
    }
    inputs::read_values(diags, &mut workspace.sources, name, content)
}

/// Asks for the variables that must have a value and have none.
fn ask_for_missing(config: &Config, given: &mut Vec<Given>) {
    for variable in config.root.variables.values().filter(|variable| variable.is_required()) {
        if given.iter().any(|given| given.name == variable.name) {
            continue;
        }
        view::out(&format!("var.{}\n", variable.name));
        if !variable.description.is_empty() {
            view::out(&format!("  {}\n", variable.description.replace('\n', "\n  ")));
        }
        view::out("\n  Enter a value: ");
        let mut answer = String::new();
        if std::io::stdin().read_line(&mut answer).is_err() || answer.is_empty() {
            return;
        }
        view::out("\n");
        given.push(Given {
            name: variable.name.clone(),
            value: GivenValue::Text(answer.trim_end_matches(['\n', '\r']).to_owned()),
            origin: Origin::Answer,
        });
    }
}

/// The names of the variables that are given on the command line.
pub(crate) fn given_names(sources: &[VariableSource]) -> Vec<String> {
    let names = sources.iter().filter_map(|source| match source {
        VariableSource::Value(pair) => Some(pair.split_once('=')?.0.trim().to_owned()),
        VariableSource::File(_) => None,
    });
    names.collect()
}

/// Reads the planning options.
///
/// # Errors
/// When an address cannot be read, or options exclude each other.
pub(crate) fn options(
    diags: &mut Diagnostics,
    args: &OperationArgs,
    destroying: bool,
) -> Result<Options, Reported> {
    let mode = match (args.destroy || destroying, args.refresh_only) {
        (true, true) => {
            return Err(diags.error(Diagnostic::error(
                "Incompatible plan mode options",
                "The -destroy and -refresh-only options are mutually-exclusive.",
            )));
        }
        (true, false) => Mode::Destroy,
        (false, true) => Mode::RefreshOnly,
        (false, false) => Mode::Normal,
    };
    if mode == Mode::RefreshOnly && !args.refresh {
        return Err(diags.error(Diagnostic::error(
            "Incompatible refresh options",
            "It doesn't make sense to use -refresh-only at the same time as -refresh=false, because there would then be nothing to do.",
        )));
    }
    if args.parallelism == 0 {
        return Err(diags.error(Diagnostic::error(
            "Invalid parallelism value",
            "The parallelism must be at least 1.",
        )));
    }
    let mut targets: Vec<Target> = Vec::new();
    for text in &args.target {
        match text.parse() {
            Ok(target) => targets.push(target),
            Err(error) => {
                let detail = format!("The -target option {text:?} names nothing: {error}");
                let _ = diags.error(Diagnostic::error("Invalid target address", detail));
            }
        }
    }
    let mut replace: Vec<InstanceAddr> = Vec::new();
    for text in &args.replace {
        match text.parse() {
            Ok(addr) => replace.push(addr),
            Err(error) => {
                let detail = format!("The -replace option {text:?} names no instance: {error}");
                let _ = diags.error(Diagnostic::error("Invalid force-replace address", detail));
            }
        }
    }
    diags.check()?;
    if !targets.is_empty() {
        diags.warn(Diagnostic::warning(
            "Resource targeting is in effect",
            "You are creating a plan with the -target option, which means that the result of this plan may not represent all of the changes requested by the current configuration.\n\nThe -target option is not for routine use, and is provided only for exceptional situations such as recovering from errors or mistakes.",
        ));
    }
    Ok(Options { mode, skip_refresh: !args.refresh, targets, replace })
}

/// A locked state, with what an interrupted run may have left behind.
pub(crate) struct Locked {
    pub(crate) store: LocalStore,
    pub(crate) file: StateFile,
    pub(crate) recovery: Option<Recovery>,
    locked: bool,
}

impl Locked {
    /// Locks and reads the state, and puts in what interrupted runs left in the journal.
    ///
    /// # Errors
    /// When somebody else holds the lock, or the state cannot be read.
    pub(crate) async fn open(
        diags: &mut Diagnostics,
        mut store: LocalStore,
        args: &StateArgs,
        operation: &str,
    ) -> Result<Self, Reported> {
        if args.lock {
            let request = LockRequest {
                operation: operation.to_owned(),
                timeout: duration(diags, &args.lock_timeout)?,
            };
            store.lock(request).await.map_err(|error| diags.error(error.diagnostic()))?;
        }
        let stored = store.read().await.map_err(|error| diags.error(error.diagnostic()))?;
        let recovery =
            recover(store.journals(), stored).map_err(|error| diags.error(error.diagnostic()))?;
        let (file, recovery) = if recovery.is_nothing() {
            (recovery.file, None)
        } else {
            for diagnostic in recovery.diagnostics() {
                // What an earlier run left open does not fail this one by itself.
                diags.warn(diagnostic);
            }
            (recovery.file.clone(), Some(recovery))
        };
        let file = file.unwrap_or_else(StateFile::fresh);
        Ok(Self { store, file, recovery, locked: args.lock })
    }

    /// Writes the state.
    ///
    /// # Errors
    /// When it cannot be written. Then it is written next to the configuration instead.
    pub(crate) async fn save(
        &mut self,
        diags: &mut Diagnostics,
        state: State,
    ) -> Result<(), Reported> {
        self.file.state = state;
        if let Err(error) = self.store.write(&mut self.file).await {
            let reported = diags.error(error.diagnostic());
            match self.file.save_errored(std::path::Path::new(".")) {
                Ok(path) => {
                    let detail = format!(
                        "The state was written to {} instead. Once the reason above is gone, put it in its place.",
                        path.display()
                    );
                    diags.warn(Diagnostic::warning("State saved aside", detail));
                }
                Err(error) => drop(diags.error(error.diagnostic())),
            }
            return Err(reported);
        }
        if let Some(recovery) = self.recovery.take()
            && let Err(error) = recovery.finish()
        {
            return Err(diags.error(error.diagnostic()));
        }
        Ok(())
    }

    /// Gives the lock back.
    pub(crate) async fn close(mut self, diags: &mut Diagnostics) {
        if self.locked
            && let Err(error) = self.store.unlock().await
        {
            let _ = diags.error(error.diagnostic());
        }
    }
}

/// Reads `90s`, `5m`, `1h30m`.
fn duration(diags: &mut Diagnostics, text: &str) -> Result<Duration, Reported> {
    let mut total = Duration::ZERO;
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (digits, behind) = rest.split_at(end);
        let unit_end = behind.find(|c: char| c.is_ascii_digit()).unwrap_or(behind.len());
        let (unit, next) = behind.split_at(unit_end);
        let number: Option<u64> = digits.parse().ok();
        let factor = match unit {
            "ms" => Some(Duration::from_millis(1)),
            "s" => Some(Duration::from_secs(1)),
            "m" => Some(Duration::from_mins(1)),
            "h" => Some(Duration::from_hours(1)),
            "" if digits == "0" => Some(Duration::ZERO),
            _ => None,
        };
        let part = number.and_then(|n| factor?.checked_mul(u32::try_from(n).ok()?));
        let Some(part) = part else {
            let detail = format!("{text:?} is not a duration; write for example 30s, 5m or 1h30m.");
            return Err(diags.error(Diagnostic::error("Invalid -lock-timeout", detail)));
        };
        total = total.saturating_add(part);
        rest = next;
    }
    Ok(total)
}

/// Whether questions may be asked.
pub(crate) fn may_ask(env: &Env, screen: &view::Screen, input: bool) -> bool {
    env.input && input && screen.interactive
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_people_write_them() {
        let check =
            |text: &str| duration(&mut Diagnostics::new(), text).map(|d| d.as_millis()).ok();
        assert_eq!(check("0s"), Some(0));
        assert_eq!(check("0"), Some(0));
        assert_eq!(check("1h30m"), Some(5_400_000));
        assert_eq!(check("250ms"), Some(250));
        assert_eq!(check("5"), None);
        assert_eq!(check("soon"), None);
    }
}
