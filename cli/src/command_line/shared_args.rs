//! Arguments that several commands share.

use std::path::{Path, PathBuf};

use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Arg, ArgAction, ArgMatches, Command};
use formwork_core::session::DEFAULT_PARALLELISM;

use crate::env::Env;

/// Output options, which every command accepts.
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
    /// Applies the options to the environment.
    pub(crate) fn apply_to_env(self, env: Env) -> Env {
        let no_color = env.no_color || self.no_color;
        Env { no_color, compact_warnings: self.compact_warnings, ..env }
    }
}

/// Options for the lock of the state.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "State options")]
pub(crate) struct LockArgs {
    /// Do not lock the state.
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
    /// The state file to read, and to write unless `-state-out` is given. Default: as the backend specifies.
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<PathBuf>,
    /// The state file to write. Default: that of `-state`.
    #[arg(long, value_name = "FILE")]
    pub(crate) state_out: Option<PathBuf>,
    /// File for a backup of the state before it is overwritten; `-` for none. Default: the path of the state
    /// file with `.backup` appended.
    #[arg(long, value_name = "FILE")]
    pub(crate) backup: Option<PathBuf>,
}

impl StateArgs {
    /// Arguments for a state that is locked and only read.
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

/// State files that options specify.
#[derive(Clone, Debug, Default)]
pub(crate) struct StatePaths {
    /// The file to read.
    pub(crate) state: Option<PathBuf>,
    /// The file to write, if it differs from the file to read.
    pub(crate) out: Option<PathBuf>,
    /// File for a backup of the state before it is overwritten.
    pub(crate) backup: BackupPath,
}

/// Destination of the backup of a state before it is overwritten.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum BackupPath {
    /// Beside the state, replacing the previous backup.
    #[default]
    Usual,
    /// To this file; `-` disables the backup.
    At(PathBuf),
    /// Beside the state, with this timestamp in its name, so that later backups do not overwrite it.
    Kept(i64),
}

impl BackupPath {
    /// The specified file, if any, otherwise a new file with a timestamp. A backup is always written.
    pub(crate) fn named_or_timestamped(path: Option<&PathBuf>, seconds: i64) -> Self {
        match path.filter(|path| path.as_os_str() != "-") {
            Some(path) => Self::At(path.clone()),
            None => Self::Kept(seconds),
        }
    }
}

impl StatePaths {
    /// The state in this file, if one is specified.
    pub(crate) fn from_state_path(state: Option<&PathBuf>) -> Self {
        Self { state: state.cloned(), ..Self::default() }
    }
}

/// Default number of concurrent operations, as the help prints it.
pub(crate) const DEFAULT_PARALLELISM_ARG: &str = "10";

/// Reads the path of a positional argument, which may be empty: scripts pass empty variables, and Terraform
/// treats them as missing arguments.
pub(crate) fn path_or_empty() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().map(PathBuf::from)
}

/// The path of a positional argument, if it is given and not empty.
pub(crate) fn path_if_given(path: Option<&PathBuf>) -> Option<&Path> {
    path.map(PathBuf::as_path).filter(|path| !path.as_os_str().is_empty())
}

/// The requested number of concurrent operations. The caller reports negative numbers, because it can report
/// diagnostics.
pub(crate) fn parse_parallelism(parallelism: i64) -> usize {
    match parallelism {
        0 => DEFAULT_PARALLELISM,
        number => usize::try_from(number).unwrap_or(1),
    }
}

/// Options for planning.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Planning options")]
pub(crate) struct OperationArgs {
    /// Plan to destroy everything.
    #[arg(long)]
    pub(crate) destroy: bool,
    /// Only update the state to match the real objects.
    #[arg(long)]
    pub(crate) refresh_only: bool,
    /// Do not read the real objects before planning.
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "true", action = ArgAction::Set, value_name = "BOOL")]
    pub(crate) refresh: bool,
    /// Limit the plan to this object and its dependencies. May be given several times.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) target: Vec<String>,
    /// Exclude this object and everything that depends on it from the plan. May be given several times.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) exclude: Vec<String>,
    /// Replace this instance, even if nothing else requires it. May be given several times.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) replace: Vec<String>,
    /// Maximum number of concurrent operations; 0 selects the default.
    #[arg(long, value_name = "N", default_value = DEFAULT_PARALLELISM_ARG, allow_negative_numbers = true)]
    pub(crate) parallelism: i64,
    /// Do not ask for missing values.
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "true", action = ArgAction::Set, value_name = "BOOL")]
    pub(crate) input: bool,
}

/// Arguments of `init`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct InitArgs {
    /// Install the newest versions that the configuration allows, instead of the locked ones.
    #[arg(long)]
    pub(crate) upgrade: bool,
    /// Look for providers only in this directory. May be given several times.
    #[arg(long, value_name = "DIR")]
    pub(crate) plugin_dir: Vec<PathBuf>,
    /// `readonly`: fail if the lock file would have to change.
    #[arg(long, value_name = "MODE")]
    pub(crate) lockfile: Option<String>,
    /// Do not set up the backend.
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "true", action = ArgAction::Set, value_name = "BOOL")]
    pub(crate) backend: bool,
    /// Do not install modules.
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "true", action = ArgAction::Set, value_name = "BOOL")]
    pub(crate) get: bool,
    /// Copy the configuration of this module into the working directory first. The directory must be empty.
    #[arg(long, value_name = "SOURCE")]
    pub(crate) from_module: Option<String>,
    /// The test directory, whose modules and providers are installed too. Default: tests.
    #[arg(long, value_name = "DIR")]
    pub(crate) test_directory: Option<PathBuf>,
    /// Do not ask for missing values.
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "true", action = ArgAction::Set, value_name = "BOOL")]
    pub(crate) input: bool,
    /// A backend argument, or a file with backend arguments, in addition to the backend block. May be given
    /// several times.
    #[arg(long, value_name = "NAME=VALUE|FILE")]
    pub(crate) backend_config: Vec<String>,
    /// Set up the backend again, and discard the saved settings.
    #[arg(long)]
    pub(crate) reconfigure: bool,
    /// Copy existing state to the new backend.
    #[arg(long)]
    pub(crate) migrate_state: bool,
    /// Copy existing state to the new backend without asking.
    #[arg(long)]
    pub(crate) force_copy: bool,
    /// Accepted for compatibility. Has no effect.
    #[arg(long)]
    pub(crate) ignore_remote_version: bool,
    #[command(flatten)]
    pub(crate) lock: LockArgs,
    /// Print events as JSON, one per line.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) variables: VariableArgs,
}

/// Sources of variable values, in the given order. Later ones override earlier ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct VariableArgs {
    /// The sources, in order.
    pub(crate) sources: Vec<VariableSource>,
}

/// A `-var` or `-var-file` option.
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
                    .help("Set the value of a variable. May be given several times"),
            )
            .arg(
                Arg::new("var-file")
                    .long("var-file")
                    .value_name("FILE")
                    .action(ArgAction::Append)
                    .value_parser(clap::value_parser!(PathBuf))
                    .help_heading("Variables")
                    .help("Set variable values from this file. May be given several times"),
            )
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl clap::FromArgMatches for VariableArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let indices = |id: &str| matches.indices_of(id).into_iter().flatten();
        let values = matches.get_many::<String>("var").into_iter().flatten();
        let files = matches.get_many::<PathBuf>("var-file").into_iter().flatten();
        let mut sources: Vec<(usize, VariableSource)> =
            indices("var").zip(values.cloned().map(VariableSource::Value)).collect();
        sources.extend(indices("var-file").zip(files.cloned().map(VariableSource::File)));
        // The relative order of the two options decides which value is used.
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
    fn any_parallelism_is_converted_to_a_usable_number() {
        let parsed = [1, 10, 1_000, 0, -1].map(parse_parallelism);
        assert_eq!(parsed, [1, 10, 1_000, 10, 1]);
        assert_eq!(DEFAULT_PARALLELISM_ARG.parse(), Ok(parse_parallelism(0)));
    }
}
