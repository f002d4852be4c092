//! Measures a claim and a commit of the queue on the PostgreSQL of this machine, with pgbench.

use std::error::Error;
use std::fs;
use std::process::Command;

use crate::installed::Installed;

/// The tables and functions of the queue.
const TABLES: &str = include_str!("queue.sql");

/// Number of vertices, and of those in one layer.
const VERTICES: usize = 1_000_000;
const WIDTH: usize = 500_000;

/// Seconds of one measurement.
const SECONDS: u32 = 8;

/// A measured case.
pub(crate) struct Cost {
    /// Number of concurrent sessions.
    pub(crate) sessions: usize,
    /// Vertices of one transaction.
    pub(crate) group: usize,
    /// Milliseconds of a claim and of a commit.
    pub(crate) claim: f64,
    pub(crate) commit: f64,
    /// Pairs of a claim and a commit in a second, over all sessions.
    pub(crate) pairs: f64,
}

/// Measures all cases; `None` where PostgreSQL or pgbench is not installed.
///
/// # Errors
/// When a command fails.
pub(crate) fn measure() -> Result<Option<Vec<Cost>>, Box<dyn Error>> {
    // A commit waits for the disk, as on a real server.
    let settings = ["fsync=on", "shared_buffers=1GB", "max_wal_size=4GB", "max_connections=60"];
    let Some(server) = Installed::start(|program| Command::new(program), &settings, &[]) else {
        return Ok(None);
    };
    let directory = tempfile::tempdir()?;
    let tables = directory.path().join("queue.sql");
    fs::write(&tables, TABLES)?;
    let mut costs = Vec::new();
    for (sessions, group) in [(1, 1), (1, 10), (1, 100), (4, 100), (20, 100), (50, 100), (20, 10)] {
        let run = |program: &str, args: &[&str]| -> Result<String, Box<dyn Error>> {
            let mut command = Command::new(program);
            let port = server.port.to_string();
            command.args(["-h", "127.0.0.1", "-p", &port, "-U", "postgres"]).args(args);
            let output = command.output()?;
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let errors = String::from_utf8_lossy(&output.stderr).into_owned();
            if output.status.success() { Ok(text) } else { Err(errors.into()) }
        };
        let reset = "DROP TABLE IF EXISTS vertex, dependent, result CASCADE; DROP FUNCTION IF EXISTS claim, commit_results;";
        while run("psql", &["-qc", reset])
            .is_err_and(|error| error.to_string().contains("starting up"))
        {
            std::thread::yield_now();
        }
        let (n, width) = (format!("n={VERTICES}"), format!("width={WIDTH}"));
        let tables = tables.display().to_string();
        run("psql", &["-q", "-v", "ON_ERROR_STOP=1", "-v", &n, "-v", &width, "-f", &tables])?;
        let script = directory.path().join("worker.pgbench");
        fs::write(
            &script,
            format!(
                "SELECT coalesce(array_agg(id), '{{}}') AS ids FROM claim(:client_id, {group}) id \\gset\nSELECT commit_results(':ids');\n"
            ),
        )?;
        let (sessions_text, seconds) = (sessions.to_string(), SECONDS.to_string());
        let file = script.display().to_string();
        let args =
            ["-n", "-r", "-c", &sessions_text, "-j", "2", "-T", &seconds, "-f", &file, "postgres"];
        let text = run("pgbench", &args)?;
        costs.push(read(&text, sessions, group).ok_or(text)?);
    }
    Ok(Some(costs))
}

/// Reads the report of pgbench.
fn read(text: &str, sessions: usize, group: usize) -> Option<Cost> {
    let pairs = text
        .lines()
        .find_map(|line| line.strip_prefix("tps = ")?.split(' ').next()?.parse().ok())?;
    let latency = |part: &str| {
        let line = text.lines().find(|line| line.contains(part))?;
        line.split_whitespace().next()?.parse::<f64>().ok()
    };
    let (claim, commit) = (latency("FROM claim(")?, latency("commit_results(")?);
    Some(Cost { sessions, group, claim, commit, pairs })
}
