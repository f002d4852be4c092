//! Arguments that several commands have.

use std::path::{Path, PathBuf};

use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Arg, ArgAction, ArgMatches, Command};
use formwork_core::session::DEFAULT_PARALLELISM;

use crate::env::Env;

/// Options for the output. Every command takes these.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
#[command(next_help_heading = "Display options")]
pub(crate) struct ViewArgs {
    /// Show no colour.
    #[arg(long, global = true)]
    pub(crate) no_color: bool,
    /// Show each warning as one line, if there is no error.
    #[arg(long, global = true)]
    pub(crate) compact_warnings: bool,
}

impl ViewArgs {
    /// The environment with these options.
    pub(crate) fn apply_to_env(self, env: Env) -> Env {
        let no_color = env.no_color || self.no_color;
        Env { no_color, compact_warnings: self.compact_warnings, ..env }
    }
}

/// Options for the lock of the state.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "State options")]
pub(crate) struct LockArgs {
    /// Whether to lock the state.
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "true", action = ArgAction::Set, value_name = "BOOL")]
    pub(crate) lock: bool,
    /// Time to wait for a lock that another process holds: `30s`, `5m`.
    #[arg(long, value_name = "DURATION", default_value = "0s")]
    pub(crate) lock_timeout: String,
}

/// Options for the file and the lock of the state.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "State options")]
pub(crate) struct StateArgs {
    #[command(flatten)]
    pub(crate) lock: LockArgs,
    /// The state file to read, and to write unless `-state-out` is given. Default: as the backend says.
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<PathBuf>,
    /// The state file to write. Default: that of `-state`.
    #[arg(long, value_name = "FILE")]
    pub(crate) state_out: Option<PathBuf>,
    /// File for a copy of the state that is overwritten; `-` for none. Default: the state file with `.backup`
    /// after its name.
    #[arg(long, value_name = "FILE")]
    pub(crate) backup: Option<PathBuf>,
}

impl StateArgs {
    /// A state that is locked and only read.
    pub(crate) fn for_locked_read(state: Option<PathBuf>) -> Self {
        let lock = LockArgs { lock: true, lock_timeout: "0s".to_owned() };
        Self { lock, state, state_out: None, backup: None }
    }

    /// Files of the state.
    pub(crate) fn state_paths(&self) -> StatePaths {
        let Self { state, state_out, backup, .. } = self.clone();
        StatePaths {
            state,
            out: state_out,
            backup: backup.map_or(BackupPath::Usual, BackupPath::At),
        }
    }
}

/// Files of the state, as far as options name them.
#[derive(Clone, Debug, Default)]
pub(crate) struct StatePaths {
    /// The file to read.
    pub(crate) state: Option<PathBuf>,
    /// The file to write, if it is another one.
    pub(crate) out: Option<PathBuf>,
    /// File for a copy of the state that is overwritten.
    pub(crate) backup: BackupPath,
}

/// Destination of the copy of a state that is overwritten.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum BackupPath {
    /// Beside the state, in the place of the last backup.
    #[default]
    Usual,
    /// To this file; to nowhere if it is `-`.
    At(PathBuf),
    /// Beside the state, under a name with these seconds in it: no later backup overwrites it.
    Kept(i64),
}

impl BackupPath {
    /// The file that is named, if one is; else one of its own. There is always a backup.
    pub(crate) fn named_or_timestamped(path: Option<&PathBuf>, seconds: i64) -> Self {
        match path.filter(|path| path.as_os_str() != "-") {
            Some(path) => Self::At(path.clone()),
            None => Self::Kept(seconds),
        }
    }
}

impl StatePaths {
    /// The state in this file, if one is named.
    pub(crate) fn from_state_path(state: Option<&PathBuf>) -> Self {
        Self { state: state.cloned(), ..Self::default() }
    }
}

/// Default number of operations that run at once, as the help prints it.
pub(crate) const DEFAULT_PARALLELISM_ARG: &str = "10";

/// Reads the path of a positional argument, which may be empty: scripts pass empty variables on, and
/// Terraform takes them for no argument.
pub(crate) fn path_or_empty() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().map(PathBuf::from)
}

/// The path of a positional argument, if it is given and not empty.
pub(crate) fn path_if_given(path: Option<&PathBuf>) -> Option<&Path> {
    path.map(PathBuf::as_path).filter(|path| !path.as_os_str().is_empty())
}

/// Requested number of operations that run at once. A negative number is refused
/// where messages can be given.
pub(crate) fn parse_parallelism(parallelism: i64) -> usize {
    match parallelism {
        0 => DEFAULT_PARALLELISM,
        wanted => usize::try_from(wanted).unwrap_or(1),
    }
}

/// Options for planning.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Planning options")]
pub(crate) struct OperationArgs {
    /// Plan to destroy everything.
    #[arg(long)]
    pub(crate) destroy: bool,
    /// Plan only to bring the state up to date.
    #[arg(long)]
    pub(crate) refresh_only: bool,
    /// Whether to read the real objects first.
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "true", action = ArgAction::Set, value_name = "BOOL")]
    pub(crate) refresh: bool,
    /// Limit the plan to this and its dependencies. May be given several times.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) target: Vec<String>,
    /// Leave this and everything that depends on it out of the plan. May be given several times.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) exclude: Vec<String>,
    /// Replace this instance, also if nothing else demands it. May be given several times.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) replace: Vec<String>,
    /// Number of operations that run at once; 0 selects the default.
    #[arg(long, value_name = "N", default_value = DEFAULT_PARALLELISM_ARG, allow_negative_numbers = true)]
    pub(crate) parallelism: i64,
    /// Whether to ask for missing values.
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "true", action = ArgAction::Set, value_name = "BOOL")]
    pub(crate) input: bool,
}

/// Arguments of `init`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct InitArgs {
    /// Take the newest versions that the configuration allows, instead of the locked ones.
    #[arg(long)]
    pub(crate) upgrade: bool,
    /// Look for providers in this folder only. May be given several times.
    #[arg(long, value_name = "DIR")]
    pub(crate) plugin_dir: Vec<PathBuf>,
    /// `readonly`: refuse to change the lock file.
    #[arg(long, value_name = "MODE")]
    pub(crate) lockfile: Option<String>,
    /// Whether to set up the backend.
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "true", action = ArgAction::Set, value_name = "BOOL")]
    pub(crate) backend: bool,
    /// Whether to install modules.
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "true", action = ArgAction::Set, value_name = "BOOL")]
    pub(crate) get: bool,
    /// Copy this module's configuration into the folder first, which must be empty.
    #[arg(long, value_name = "SOURCE")]
    pub(crate) from_module: Option<String>,
    /// The folder of tests, whose modules and providers are installed too. Default: tests.
    #[arg(long, value_name = "DIR")]
    pub(crate) test_directory: Option<PathBuf>,
    /// Whether to ask for missing values.
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "true", action = ArgAction::Set, value_name = "BOOL")]
    pub(crate) input: bool,
    /// An argument of the backend, or a file of them, in addition to its block. May be given
    /// several times.
    #[arg(long, value_name = "NAME=VALUE|FILE")]
    pub(crate) backend_config: Vec<String>,
    /// Set up the backend again, and discard the old settings.
    #[arg(long)]
    pub(crate) reconfigure: bool,
    /// Take the state along to where it is kept from now on.
    #[arg(long)]
    pub(crate) migrate_state: bool,
    /// The same, without asking.
    #[arg(long)]
    pub(crate) force_copy: bool,
    /// Accepted for compatibility: there is nothing remote.
    #[arg(long)]
    pub(crate) ignore_remote_version: bool,
    #[command(flatten)]
    pub(crate) lock: LockArgs,
    /// Print events as JSON, one a line.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) variables: VariableArgs,
}

/// Sources of values of variables, in the order given. Later ones win.
#[derive(Clone, Debug, Default)]
pub(crate) struct VariableArgs {
    /// The sources, in order.
    pub(crate) sources: Vec<VariableSource>,
}

/// One `-var` or `-var-file`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum VariableSource {
    /// `-var NAME=VALUE`
    Value(String),
    /// `-var-file FILE`
    File(PathBuf),
}

impl clap::Args for VariableArgs {
    fn augment_args(command: Command) -> Command {
        command
            .arg(
                Arg::new("var")
                    .long("var")
                    .value_name("NAME=VALUE")
                    .action(ArgAction::Append)
                    .help_heading("Variables")
                    .help("Give a variable a value. May be given several times"),
            )
            .arg(
                Arg::new("var-file")
                    .long("var-file")
                    .value_name("FILE")
                    .action(ArgAction::Append)
                    .value_parser(clap::value_parser!(PathBuf))
                    .help_heading("Variables")
                    .help("Give variables the values in this file. May be given several times"),
            )
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl clap::FromArgMatches for VariableArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let at = |id: &str| matches.indices_of(id).into_iter().flatten();
        let values = matches.get_many::<String>("var").into_iter().flatten();
        let files = matches.get_many::<PathBuf>("var-file").into_iter().flatten();
        let mut sources: Vec<(usize, VariableSource)> =
            at("var").zip(values.cloned().map(VariableSource::Value)).collect();
        sources.extend(at("var-file").zip(files.cloned().map(VariableSource::File)));
        // The order between the two kinds decides which value wins.
        sources.sort_by_key(|(index, _)| *index);
        Ok(Self { sources: sources.into_iter().map(|(_, source)| source).collect() })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{DEFAULT_PARALLELISM_ARG, parse_parallelism};

    #[test]
    fn any_number_is_one_that_can_be_worked_with() {
        let found = [1, 10, 1_000, 0, -1].map(parse_parallelism);
        assert_eq!(found, [1, 10, 1_000, 10, 1]);
        assert_eq!(DEFAULT_PARALLELISM_ARG.parse(), Ok(parse_parallelism(0)));
    }
}
