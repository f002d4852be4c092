//! Options of the command line: the tests to run.

use std::path::{Path, PathBuf};

use crate::backend::BackendKind;

/// Tests to run.
pub(crate) struct Options {
    /// Number of kills of each program.
    pub(crate) kills: usize,
    /// Seed of the random numbers.
    pub(crate) seed: u64,
    /// Maximum delay of a change in milliseconds, before and after it happens.
    pub(crate) delay: u64,
    /// The backend of the state.
    pub(crate) backend: BackendKind,
    /// Whether the directory of a killed run is lost, and the next one starts from another.
    pub(crate) destroys_local: bool,
    /// Whether the network to the server of the state is cut now and then.
    pub(crate) cuts_network: bool,
    /// Whether the provider can list its objects.
    pub(crate) listed: bool,
    /// The engines.
    pub(crate) programs: Vec<Program>,
    /// Another engine that sometimes continues after one of them, and the reverse.
    pub(crate) between: Option<Program>,
    /// Whether the directory of the first failure is kept.
    pub(crate) keep: bool,
}

/// An engine.
pub(crate) struct Program {
    pub(crate) path: PathBuf,
}

impl Program {
    /// Whether it keeps a journal and has commands to inspect it.
    pub(crate) fn is_ours(&self) -> bool {
        self.name() == "formwork"
    }

    /// Name of the program.
    pub(crate) fn name(&self) -> String {
        let name = self.path.file_name().unwrap_or(self.path.as_os_str());
        name.to_string_lossy().into_owned()
    }
}

const USAGE: &str = "\
usage: cargo run -p formwork-tests --bin crash -- [options]
  --kills N          kill each program N times (default 200)
  --program PATH     test this program; may be repeated (default: formwork beside this program)
  --between PATH     now and then this program applies a configuration in the same directory
  --seed N           seed of the random numbers (default 1)
  --delay MS         a change takes up to MS before and after it happens (default 15)
  --backend TYPE     where the state is: local (default), pg, s3, gcs or http
  --destroy-local    after each kill the working directory is lost with everything in it, and the next
                     command runs in another one
  --cut-network      every third kill is none: the network to the server of the state is cut for up
                     to a second, or until the command ends
  --listed           the provider can list its objects (default: those with a name only are found)
  --keep             stop at the first thing that goes wrong, and keep its directory

formwork and terraform-provider-crash have to be built first:
  cargo build -p formwork -p formwork-tests --bins";

impl Options {
    /// Reads the command line.
    ///
    /// # Errors
    /// Returns the usage if the options are invalid.
    pub(crate) fn read(args: &[String]) -> Result<Self, String> {
        let mut options = Self {
            kills: 200,
            seed: 1,
            delay: 15,
            backend: BackendKind::Local,
            destroys_local: false,
            cuts_network: false,
            listed: false,
            programs: vec![],
            between: None,
            keep: false,
        };
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let mut value = || args.next().ok_or_else(|| format!("{arg} needs a value\n{USAGE}"));
            match arg.as_str() {
                "--kills" => options.kills = number(value()?)?,
                "--seed" => options.seed = number(value()?)?,
                "--delay" => options.delay = number(value()?)?,
                "--program" => options.programs.push(find(value()?)?),
                "--between" => options.between = Some(find(value()?)?),
                "--backend" => options.backend = BackendKind::read(value()?)?,
                "--destroy-local" => options.destroys_local = true,
                "--cut-network" => options.cuts_network = true,
                "--listed" => options.listed = true,
                "--keep" => options.keep = true,
                unknown => return Err(format!("{unknown} is not an option\n{USAGE}")),
            }
        }
        if options.destroys_local && options.backend == BackendKind::Local {
            return Err(format!("a local state is lost with its directory\n{USAGE}"));
        }
        if options.cuts_network && options.backend == BackendKind::Local {
            return Err(format!("a local state needs no network\n{USAGE}"));
        }
        if options.programs.is_empty() {
            let own_path = std::env::current_exe().map_err(|error| error.to_string())?;
            options.programs.push(find(&own_path.with_file_name("formwork").to_string_lossy())?);
        }
        Ok(options)
    }
}

/// A program by its path, or by its name on the search path.
fn find(text: &str) -> Result<Program, String> {
    let directories = std::env::var_os("PATH").unwrap_or_default();
    let mut candidates = std::env::split_paths(&directories).map(|directory| directory.join(text));
    let path = match text.contains('/') {
        true => Some(Path::new(text).to_owned()),
        false => candidates.find(|path| path.is_file()),
    };
    let path = path.filter(|path| path.is_file());
    let path = path.and_then(|path| path.canonicalize().ok());
    path.map(|path| Program { path }).ok_or_else(|| format!("there is no {text}\n{USAGE}"))
}

fn number<N: std::str::FromStr>(text: &str) -> Result<N, String> {
    text.parse().map_err(|_| format!("{text} is not a whole number\n{USAGE}"))
}
