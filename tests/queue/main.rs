//! Prints the costs of a queue of work over several machines, which `docs/scale.md` describes: claims
//! and commits measured on the PostgreSQL of this machine, and whole runs simulated with these costs.

mod costs;
#[path = "../../providers/src/postgresql/tests/installed.rs"]
mod installed;
mod simulation;

use std::error::Error;
use std::io::Write as _;
use std::process::ExitCode;

use costs::{Cost, measure};
use simulation::{Case, Database, simulate};

/// The costs on the machine of `docs/scale.md`, for `--given`.
const GIVEN: Database =
    Database { at_once: 1, transaction: 1_360.0, claimed: 14.0, committed: 22.0 };

/// The simulated runs: instances, microseconds of a call, microseconds between two calls that the API
/// allows.
const RUNS: [(usize, u64, u64); 6] = [
    (100_000, 1_000_000, 0),
    (1_000_000, 1_000_000, 0),
    (1_000_000, 1_000_000, 1_000),
    (10_000_000, 1_000_000, 0),
    (10_000_000, 100_000, 0),
    (10_000_000, 100_000, 1_000),
];

/// Hosts, and concurrent calls of each.
const HOSTS: [(usize, usize); 5] = [(1, 10), (1, 1_000), (10, 10), (10, 100), (100, 10)];

/// Layers of dependencies.
const LAYERS: usize = 20;

/// Two milliseconds of processor time for a call, on eight cores.
const HOST: u64 = 250;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            writeln!(std::io::stderr(), "error: {error}").ok();
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let database = match args.as_slice() {
        [] => measured()?,
        [given] if given == "--given" => GIVEN,
        _ => return Err("the only option is --given: the costs of docs/scale.md".into()),
    };
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "\n| instances | call | API limit | hosts | calls of a host | time | calls at once | database |\n| --- | --- | --- | --- | --- | --- | --- | --- |"
    )?;
    for (instances, call, spacing) in RUNS {
        for (workers, calls) in HOSTS {
            let width = instances / LAYERS;
            let group = calls.max(10);
            let run = simulate(Case {
                instances,
                width,
                workers,
                calls,
                host: HOST,
                call,
                group,
                spacing,
                database,
            });
            let limit = 1_000_000_u64.checked_div(spacing).map(|rate| format!("{rate} / s"));
            writeln!(
                out,
                "| {instances} | {} s | {} | {workers} | {calls} | {} | {:.0} | {:.0} % |",
                call as f64 / 1e6,
                limit.unwrap_or_else(|| "none".to_owned()),
                format_time(run.time),
                run.concurrency,
                run.load * 100.0,
            )?;
            out.flush()?;
        }
    }
    Ok(())
}

/// Measures the costs, prints them, and returns them.
fn measured() -> Result<Database, Box<dyn Error>> {
    let Some(costs) = measure()? else { return Ok(GIVEN) };
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "| sessions | vertices of a transaction | claim | commit | vertices in a second | for each vertex |\n| --- | --- | --- | --- | --- | --- |"
    )?;
    for cost in &costs {
        let vertices = cost.pairs * cost.group as f64;
        writeln!(
            out,
            "| {} | {} | {:.2} ms | {:.2} ms | {vertices:.0} | {:.0} µs |",
            cost.sessions,
            cost.group,
            cost.claim,
            cost.commit,
            1e6 / vertices
        )?;
    }
    // On a busy server, the time of a pair among others is the time that the pair occupies.
    let find = |group| costs.iter().find(|cost| cost.sessions == 20 && cost.group == group);
    let (Some(ten), Some(hundred)) = (find(10), find(100)) else { return Ok(GIVEN) };
    let pair = |cost: &Cost| 1e6 / cost.pairs;
    let row = ((pair(hundred) - pair(ten)) / 90.0).max(0.0);
    let transaction = ((pair(ten) - 10.0 * row) / 2.0).max(0.0);
    let share = hundred.claim / (hundred.claim + hundred.commit);
    let (claimed, committed) = (row * share, row * (1.0 - share));
    writeln!(
        out,
        "\nSimulated with {transaction:.0} µs for a transaction, {claimed:.0} µs for a claimed and {committed:.0} µs for a committed vertex."
    )?;
    Ok(Database { at_once: 1, transaction, claimed, committed })
}

/// A time in the unit that suits it.
fn format_time(time: u64) -> String {
    let seconds = time as f64 / 1e6;
    match seconds {
        0.0..600.0 => format!("{seconds:.0} s"),
        600.0..36_000.0 => format!("{:.0} min", seconds / 60.0),
        _ => format!("{:.1} h", seconds / 3_600.0),
    }
}
