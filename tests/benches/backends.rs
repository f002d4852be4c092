//! Measures commands whose state is in a backend, on servers that this process starts. Each life begins
//! with an empty state.

use std::error::Error;
use std::fs;
use std::path::Path;

use crate::http_state::HttpState;
use crate::installed::Installed;
use crate::options::Options;
use crate::probe::{MeasuredCommand, measure};
use crate::programs::Programs;
use crate::sample::Sample;
use crate::shape::Shape;
use crate::suite::{OUR_CAP, Row, Step, say};

/// The measured commands, each with the state that the one before left.
const STEPS: [Step; 3] = [Step::Apply, Step::NoOpPlan, Step::Destroy];
/// Number of resources.
const SIZE: usize = 1_000;

/// A server that keeps the states.
enum Server {
    Http(HttpState),
    Pg(Installed),
}

impl Server {
    fn name(&self) -> &'static str {
        match self {
            Self::Http(_) => "over http",
            Self::Pg(_) => "over pg",
        }
    }

    /// The configuration of an empty state.
    fn config(&self, life: usize) -> String {
        match self {
            Self::Http(server) => {
                server.with(|kept| kept.state.clear());
                server.config("")
            }
            Self::Pg(server) => format!(
                "terraform {{\n  backend \"pg\" {{\n    conn_str    = \"postgres://postgres@127.0.0.1:{}/postgres?sslmode=disable\"\n    schema_name = \"life{life}\"\n  }}\n}}\n",
                server.port
            ),
        }
    }
}

/// Runs the selected measurements.
///
/// # Errors
/// When a command fails.
pub(crate) fn run(options: &Options, programs: &Programs) -> Result<Vec<Row>, Box<dyn Error>> {
    let size = SIZE.min(options.sizes.iter().copied().max().unwrap_or(0));
    let wants =
        |name: &str| STEPS.iter().any(|it| options.wants(&format!("{name} {size} {}", it.name())));
    let mut servers = Vec::new();
    if wants("over http") {
        servers.push(Server::Http(HttpState::start()));
    }
    if wants("over pg")
        && let Some(server) =
            Installed::start(|program| std::process::Command::new(program), &[], &[])
    {
        servers.push(Server::Pg(server));
    }
    let mut rows = Vec::new();
    let mut n_lives = 0;
    for server in &servers {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..options.repeat {
            let mut live = |program: &Path, cap| {
                n_lives += 1;
                life(program, &server.config(n_lives), size, cap)
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
            let shape = server.name().to_owned();
            let ours = of(&ours).ok_or("nothing was measured")?;
            let row = Row { shape, step, size, ours, terraform: of(&theirs) };
            say(&format!("{}\n", crate::report::line(&row)));
            rows.push(row);
        }
    }
    Ok(rows)
}

/// Measures the steps of one program; those after a step that was stopped are missing.
fn life(
    program: &Path,
    backend: &str,
    size: usize,
    cap: std::time::Duration,
) -> Result<Vec<Sample>, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let folder = folder.path();
    fs::write(folder.join("backend.tf"), backend)?;
    for (name, text) in Shape::Flat.files(size) {
        fs::write(folder.join(name), text)?;
    }
    let env = &[];
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
