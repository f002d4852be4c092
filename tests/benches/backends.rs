//! Measures commands whose state is in a backend, on servers that this process starts. Each life begins
//! with an empty state.

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
/// Number of resources.
const SIZE: usize = 1_000;

/// Runs the selected measurements.
///
/// # Errors
/// When a command fails.
pub(crate) fn run(options: &Options, programs: &Programs) -> Result<Vec<Row>, Box<dyn Error>> {
    let size = SIZE.min(options.sizes.iter().copied().max().unwrap_or(0));
    let wants =
        |name: &str| STEPS.iter().any(|it| options.wants(&format!("{name} {size} {}", it.name())));
    let mut rows = Vec::new();
    let mut n_lives = 0;
    for backend in BACKENDS {
        let name = format!("over {backend}");
        let Some(server) = wants(&name).then(|| Server::start(backend)).flatten() else { continue };
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..options.repeat {
            let mut live = |program: &Path, cap| {
                n_lives += 1;
                life(program, &server, n_lives, Limits { size, cap })
            };
            ours.push(live(&programs.ours, OUR_CAP)?);
            if let Some(terraform) = &programs.terraform {
                theirs.push(live(terraform, options.cap)?);
            }
        }
        for (at, step) in STEPS.into_iter().enumerate() {
            let of = |lives: &[Vec<Sample>]| {
                let samples: Vec<Sample> =
                    lives.iter().filter_map(|life| life.get(at).copied()).collect();
                Sample::median(&samples)
            };
            let shape = name.clone();
            let ours = of(&ours).ok_or("nothing was measured")?;
            let row = Row { shape, step, size, ours, terraform: of(&theirs) };
            say(&format!("{}\n", crate::report::line(&row)));
            rows.push(row);
        }
    }
    Ok(rows)
}

/// Size and time of a life.
#[derive(Clone, Copy)]
struct Limits {
    size: usize,
    /// Maximum time of a command.
    cap: Duration,
}

/// Measures the steps of one program; those after a step that was stopped are missing.
fn life(
    program: &Path,
    server: &Server,
    number: usize,
    Limits { size, cap }: Limits,
) -> Result<Vec<Sample>, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let folder = folder.path();
    fs::write(folder.join("backend.tf"), server.config(number))?;
    for (name, text) in Shape::Flat.files(size) {
        fs::write(folder.join(name), text)?;
    }
    let env = &server.variables;
    measure(&MeasuredCommand { program, args: &["init", "-input=false"], folder, env, cap })?;
    let mut samples = Vec::new();
    for step in STEPS {
        let sample = measure(&MeasuredCommand { program, args: step.args(), folder, env, cap })?;
        samples.push(sample);
        if sample.capped {
            break;
        }
    }
    Ok(samples)
}
