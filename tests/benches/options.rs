//! Options of the command line: the measurements to make.

use std::time::Duration;

/// Measurements to make.
pub(crate) struct Options {
    /// Number of times each number is taken; the median is shown.
    pub(crate) repeat: usize,
    /// Sizes of the shapes; only Formwork runs all of them.
    pub(crate) sizes: Vec<usize>,
    /// Seconds that a call of a provider takes while applies run concurrently.
    pub(crate) calls: Vec<u32>,
    /// Only rows whose name holds one of these; all if empty.
    pub(crate) filters: Vec<String>,
    /// Whether Terraform is run too.
    pub(crate) terraform: bool,
    /// Time limit of one Terraform command.
    pub(crate) cap: Duration,
}

const USAGE: &str = "\
usage: cargo bench -p formwork-tests -- [options]
  --quick            1,000 resources and calls of 1 s at most, each number taken once, a cap of 20 s
  --only TEXT        only rows whose name holds TEXT, as `flat 1000` or `plan`; may be repeated
  --repeat N         take each number N times (default 3)
  --cap SECONDS      stop a Terraform command after this time (default 60)
  --no-terraform     measure Formwork alone";

impl Options {
    /// Reads the command line.
    ///
    /// # Errors
    /// Returns the usage if the command line is invalid.
    pub(crate) fn read(args: &[String]) -> Result<Self, String> {
        let mut options = Self {
            repeat: 3,
            sizes: vec![1_000, 10_000, 100_000],
            calls: vec![1, 5, 10],
            filters: Vec::new(),
            terraform: true,
            cap: Duration::from_secs(60),
        };
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let mut value = || args.next().ok_or_else(|| format!("{arg} needs a value\n{USAGE}"));
            match arg.as_str() {
                // Cargo passes this flag to every benchmark.
                "--bench" => {}
                "--quick" => {
                    options.repeat = 1;
                    options.sizes = vec![100, 1_000];
                    options.calls = vec![1];
                    options.cap = Duration::from_secs(20);
                }
                "--only" => options.filters.push(value()?.clone()),
                "--repeat" => options.repeat = number(value()?)?.max(1),
                "--cap" => options.cap = Duration::from_secs(number(value()?)? as u64),
                "--no-terraform" => options.terraform = false,
                unknown => return Err(format!("{unknown} is not an option\n{USAGE}")),
            }
        }
        Ok(options)
    }

    /// Whether only rows are selected that are measured in this process.
    pub(crate) fn is_inside_alone(&self) -> bool {
        let inside =
            |part: &String| ["sdk", "suite ", "parse "].iter().any(|name| part.starts_with(name));
        !self.filters.is_empty() && self.filters.iter().all(inside)
    }

    /// Whether a row is selected.
    pub(crate) fn selects(&self, name: &str) -> bool {
        self.filters.is_empty() || self.filters.iter().any(|part| name.contains(part))
    }
}

fn number(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| format!("{text} is not a whole number\n{USAGE}"))
}
