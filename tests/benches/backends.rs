//! Measures commands whose state is in a backend, on servers that this process starts. Each lifecycle
//! begins with an empty state.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::options::Options;
use crate::probe::{MeasuredCommand, measure};
use crate::programs::Programs;
use crate::sample::Sample;
use crate::server::{BACKENDS, Server};
use crate::shape::Shape;
use crate::suite::{OUR_CAP, Row, Step, say};

/// The measured commands, each with the state that the one before left.
const STEPS: [Step; 3] = [Step::Apply, Step::NoOpPlan, Step::Destroy];
/// Number of resources, and the largest one that is measured with Terraform.
const SIZE: usize = 1_000;
/// Numbers of resources over the backends whose growth is measured.
const SIZES: [usize; 3] = [250, SIZE, 4_000];
/// The backends whose growth is measured.
const GROWING: [&str; 2] = ["http", "pg"];

/// Runs the selected measurements.
///
/// # Errors
/// When a command fails.
pub(crate) fn run(options: &Options, programs: &Programs) -> Result<Vec<Row>, Box<dyn Error>> {
    let largest = options.sizes.iter().copied().max().unwrap_or(0);
    let mut rows = Vec::new();
    for backend in BACKENDS {
        let shape = format!("over {backend}");
        let is_wanted = |size: &usize| {
            let row = |step: &Step| format!("{shape} {size} {}", step.name());
            *size <= largest && STEPS.iter().any(|step| options.selects(&row(step)))
        };
        let sizes: &[usize] = if GROWING.contains(&backend) { &SIZES[..] } else { &[SIZE] };
        let sizes: Vec<usize> = sizes.iter().copied().filter(is_wanted).collect();
        if sizes.is_empty() {
            continue;
        }
        let Some(server) = Server::start(backend) else { continue };
        let mut measurement =
            BackendMeasurement { options, programs, server, shape, n_lifecycles: 0 };
        for size in sizes {
            rows.extend(measurement.rows(size)?);
        }
    }
    Ok(rows)
}

/// Lives over one backend.
struct BackendMeasurement<'o> {
    options: &'o Options,
    programs: &'o Programs,
    server: Server,
    shape: String,
    n_lifecycles: usize,
}

impl BackendMeasurement<'_> {
    /// Measures the steps with this number of resources, with the engines in turns.
    fn rows(&mut self, size: usize) -> Result<Vec<Row>, Box<dyn Error>> {
        let terraform = self.programs.terraform.as_ref().filter(|_| size <= SIZE);
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..self.options.repeat {
            let limits = Limits { size, cap: OUR_CAP };
            ours.push(measure_lifecycle(
                &self.programs.ours,
                &self.server,
                self.n_lifecycles,
                limits,
            )?);
            self.n_lifecycles += 1;
            if let Some(terraform) = terraform {
                let limits = Limits { size, cap: self.options.cap };
                theirs.push(measure_lifecycle(terraform, &self.server, self.n_lifecycles, limits)?);
                self.n_lifecycles += 1;
            }
        }
        let mut rows = Vec::new();
        for (index, step) in STEPS.into_iter().enumerate() {
            let of = |lifecycles: &[Vec<Sample>]| {
                let samples: Vec<Sample> = lifecycles
                    .iter()
                    .filter_map(|lifecycle| lifecycle.get(index).copied())
                    .collect();
                Sample::median(&samples)
            };
            let shape = self.shape.clone();
            let ours = of(&ours).ok_or("nothing was measured")?;
            let row = Row { shape, step, size, ours, terraform: of(&theirs) };
            say(&format!("{}\n", crate::report::line(&row)));
            rows.push(row);
        }
        Ok(rows)
    }
}

/// Size and time of a life.
#[derive(Clone, Copy)]
struct Limits {
    size: usize,
    /// Maximum time of a command.
    cap: Duration,
}

/// Measures the steps of one program; those after a step that was stopped are missing.
fn measure_lifecycle(
    program: &Path,
    server: &Server,
    number: usize,
    Limits { size, cap }: Limits,
) -> Result<Vec<Sample>, Box<dyn Error>> {
    let directory = tempfile::tempdir()?;
    let directory = directory.path();
    fs::write(directory.join("backend.tf"), server.config(number))?;
    for (name, text) in Shape::Flat.files(size) {
        fs::write(directory.join(name), text)?;
    }
    let env = &server.variables;
    measure(&MeasuredCommand { program, args: &["init", "-input=false"], directory, env, cap })?;
    let mut samples = Vec::new();
    for step in STEPS {
        let sample = measure(&MeasuredCommand { program, args: step.args(), directory, env, cap })?;
        samples.push(sample);
        if sample.capped {
            break;
        }
    }
    Ok(samples)
}
