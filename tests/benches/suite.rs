//! Runs all measurements, with Formwork and Terraform in turns.

use std::error::Error;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::options::Options;
use crate::probe::{MeasuredCommand, measure};
use crate::programs::Programs;
use crate::sample::Sample;
use crate::shape::Shape;

/// One line of the result.
pub(crate) struct Row {
    /// `flat`, `count`, `chain`, `plugin x2`, or `start`.
    pub(crate) shape: String,
    /// The command.
    pub(crate) step: Step,
    /// Number of resources.
    pub(crate) size: usize,
    pub(crate) ours: Sample,
    pub(crate) terraform: Option<Sample>,
}

/// One command in the lifecycle of a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Version,
    Validate,
    Plan,
    Apply,
    NoOpPlan,
    Destroy,
}

impl Step {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Version => "version",
            Self::Validate => "validate",
            Self::Plan => "plan",
            Self::Apply => "apply",
            Self::NoOpPlan => "no-op plan",
            Self::Destroy => "destroy",
        }
    }

    /// The arguments of the command.
    pub(crate) fn args(self) -> &'static [&'static str] {
        match self {
            Self::Version => &["version"],
            Self::Validate => &["validate", "-no-color"],
            Self::Plan | Self::NoOpPlan => &["plan", "-input=false", "-no-color"],
            Self::Apply => &["apply", "-input=false", "-no-color", "-auto-approve"],
            Self::Destroy => &["apply", "-destroy", "-input=false", "-no-color", "-auto-approve"],
        }
    }

    /// Whether the command starts with everything applied.
    fn needs_state(self) -> bool {
        matches!(self, Self::NoOpPlan | Self::Destroy)
    }
}

/// The steps of an empty configuration.
const START: [Step; 3] = [Step::Version, Step::Validate, Step::Plan];
/// Compared numbers of connections for each plugin.
const CONNECTIONS: [usize; 3] = [1, 2, 4];
/// Number of resources of the plugin.
const PLUGIN_SIZE: usize = 1_000;
/// A command that takes longer is not repeated.
const LONG: Duration = Duration::from_secs(8);
/// Time limit of Formwork, which only a serious fault reaches.
pub(crate) const OUR_CAP: Duration = Duration::from_mins(10);

/// Data that the runs share.
pub(crate) struct Bench<'o> {
    options: &'o Options,
    programs: &'o Programs,
    scratch: tempfile::TempDir,
    settings: PathBuf,
}

/// A directory for each engine, holding the same configuration.
struct BenchDirs {
    ours: PathBuf,
    terraform: PathBuf,
    /// The state with everything applied, once there is one.
    applied: PathBuf,
    /// The largest size that is measured with Terraform.
    terraform_at_most: usize,
}

impl<'o> Bench<'o> {
    /// Makes the scratch directory and the settings that provide the provider to both engines.
    pub(crate) fn new(
        options: &'o Options,
        programs: &'o Programs,
    ) -> Result<Self, Box<dyn Error>> {
        let scratch = tempfile::tempdir()?;
        let settings = scratch.path().join("settings.tfrc");
        fs::write(
            &settings,
            format!(
                "provider_installation {{\n  dev_overrides {{\n    \"hashicorp/null\" = {:?}\n  }}\n  direct {{}}\n}}\n",
                programs.provider_dir
            ),
        )?;
        Ok(Self { options, programs, scratch, settings })
    }

    /// Runs all selected measurements.
    pub(crate) fn run(&self) -> Result<Vec<Row>, Box<dyn Error>> {
        say(&format!("{}\n", self.programs.terraform_version));
        let mut rows = Vec::new();
        let empty_files = [("main.tf".to_owned(), String::new())];
        let directories = self.directories("start", &empty_files, usize::MAX)?;
        for step in START {
            self.row(&mut rows, &directories, Measure { shape: "start", step, size: 0 }, &[])?;
        }
        for shape in Shape::ALL {
            for &size in &self.options.sizes {
                let size = size / shape.weight();
                self.measure_lifecycle(
                    &mut rows,
                    SizedShape { shape, size },
                    &shape.to_string(),
                    &[],
                )?;
            }
        }
        let size = PLUGIN_SIZE.min(self.options.sizes.iter().copied().max().unwrap_or(0));
        for connections in CONNECTIONS {
            let name = format!("plugin x{connections}");
            let env = [
                ("TF_CLI_CONFIG_FILE", self.settings.to_string_lossy().into_owned()),
                ("FORMWORK_PLUGIN_CONNECTIONS", connections.to_string()),
            ];
            let shape = SizedShape { shape: Shape::Plugin, size };
            self.measure_lifecycle(&mut rows, shape, &name, &env)?;
        }
        let env = [("TF_CLI_CONFIG_FILE", self.settings.to_string_lossy().into_owned())];
        let shape = Shape::PluginChain;
        self.measure_lifecycle(&mut rows, SizedShape { shape, size }, &shape.to_string(), &env)?;
        Ok(rows)
    }

    /// Measures the steps in the lifecycle of a configuration.
    fn measure_lifecycle(
        &self,
        rows: &mut Vec<Row>,
        shape: SizedShape,
        name: &str,
        env: &[(&str, String)],
    ) -> Result<(), Box<dyn Error>> {
        let SizedShape { shape, size } = shape;
        if !shape.steps().iter().any(|step| self.selects(name, *step, size)) {
            return Ok(());
        }
        let directory = format!("{name}-{size}");
        let directories =
            self.directories(&directory, &shape.files(size), shape.terraform_at_most())?;
        for &step in shape.steps() {
            self.row(rows, &directories, Measure { shape: name, step, size }, env)?;
        }
        fs::remove_dir_all(&directories.ours)?;
        fs::remove_dir_all(&directories.terraform)?;
        Ok(())
    }

    fn selects(&self, shape: &str, step: Step, size: usize) -> bool {
        self.options.selects(&format!("{shape} {size} {}", step.name()))
    }

    fn directories(
        &self,
        name: &str,
        files: &[(String, String)],
        terraform_at_most: usize,
    ) -> io::Result<BenchDirs> {
        let directory = self.scratch.path().join(name);
        let directories = BenchDirs {
            ours: directory.join("ours"),
            terraform: directory.join("terraform"),
            applied: directory.join("applied.tfstate"),
            terraform_at_most,
        };
        for directory in [&directories.ours, &directories.terraform] {
            for (name, text) in files {
                let path = directory.join(name);
                path.parent().map_or(Ok(()), fs::create_dir_all)?;
                fs::write(path, text)?;
            }
        }
        Ok(directories)
    }

    /// Measures one step, with the engines in turns.
    fn row(
        &self,
        rows: &mut Vec<Row>,
        directories: &BenchDirs,
        measure: Measure<'_>,
        env: &[(&str, String)],
    ) -> Result<(), Box<dyn Error>> {
        let Measure { shape, step, size } = measure;
        if !self.selects(shape, step, size) {
            return Ok(());
        }
        if step.needs_state() && !directories.applied.exists() {
            let apply = SampleOf { directory: &directories.ours, step: Step::Apply, cap: OUR_CAP };
            self.take(&self.programs.ours, directories, apply, env)?;
        }
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        let terraform =
            self.programs.terraform.as_ref().filter(|_| size <= directories.terraform_at_most);
        for _ in 0..self.options.repeat {
            let our_sample = SampleOf { directory: &directories.ours, step, cap: OUR_CAP };
            ours.push(self.take(&self.programs.ours, directories, our_sample, env)?);
            let is_long = |sample: &Sample| sample.capped || sample.wall > LONG.as_secs_f64();
            if let Some(terraform) = terraform.filter(|_| !theirs.iter().any(is_long)) {
                let cap = self.options.cap;
                let their_sample = SampleOf { directory: &directories.terraform, step, cap };
                theirs.push(self.take(terraform, directories, their_sample, env)?);
            }
        }
        let ours = Sample::median(&ours).ok_or("nothing was measured")?;
        let row =
            Row { shape: shape.to_owned(), step, size, ours, terraform: Sample::median(&theirs) };
        say(&format!("{}\n", crate::report::line(&row)));
        rows.push(row);
        Ok(())
    }

    /// Runs a command once, with its initial state.
    fn take(
        &self,
        program: &Path,
        directories: &BenchDirs,
        sample: SampleOf<'_>,
        env: &[(&str, String)],
    ) -> Result<Sample, Box<dyn Error>> {
        let SampleOf { directory, step, cap } = sample;
        clear(directory)?;
        let state = directory.join("terraform.tfstate");
        if step.needs_state() {
            fs::copy(&directories.applied, &state)?;
        }
        // Flushes recent writes, so that they do not slow down the measured command.
        nix::unistd::sync();
        let sample = measure(&MeasuredCommand { program, args: step.args(), directory, env, cap })?;
        if step == Step::Apply && !sample.capped && directory == directories.ours {
            fs::copy(&state, &directories.applied)?;
        }
        Ok(sample)
    }
}

/// A configuration of a shape, with this many resources.
#[derive(Clone, Copy)]
struct SizedShape {
    shape: Shape,
    size: usize,
}

/// One row of the table: a step in the lifecycle of a configuration.
#[derive(Clone, Copy)]
struct Measure<'a> {
    shape: &'a str,
    step: Step,
    size: usize,
}

/// One run of a command.
#[derive(Clone, Copy)]
struct SampleOf<'a> {
    directory: &'a Path,
    step: Step,
    cap: Duration,
}

/// Removes the files that commands leave.
fn clear(directory: &Path) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if !entry.file_name().to_string_lossy().contains("tfstate") {
            continue;
        }
        if entry.file_type()?.is_dir() {
            fs::remove_dir_all(entry.path())?;
        } else {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Reports progress.
pub(crate) fn say(text: &str) {
    let mut out = io::stderr().lock();
    out.write_all(text.as_bytes()).ok();
}
