//! The diagnostic log. It is off unless `TF_LOG` or a related variable enables it.
//!
//! Events are logged where they occur. `line` defines the format of a line.

mod line;

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use formwork_core::disk::FileOptions as _;
use formwork_value::Diagnostic;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::EnvFilter;

use self::line::LineFormat;
use crate::env::Env;
use crate::messages;
use crate::view;

/// Starts logging, if the environment enables it.
pub(crate) fn start_logging(env: &Env) {
    let levels = LogLevels::from_env(env);
    levels.complaints.iter().for_each(|complaint| view::print_err(&format!("{complaint}\n")));
    let LogLevels { core, providers, json, .. } = levels;
    if (core, providers) == (LevelFilter::OFF, LevelFilter::OFF) {
        return;
    }
    // Library messages below the level of warnings are not useful.
    let libraries = core.min(LevelFilter::WARN);
    let filter = EnvFilter::new(format!(
        "{libraries},formwork={core},formwork_core={core},formwork_plugin_protocol={core},provider={providers}"
    ));
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(false)
        .event_format(LineFormat { json });
    let file = env.log_path.as_ref().map(|path| {
        // A provider's log may contain secrets that only the provider can recognize.
        let opened = OpenOptions::new().create(true).append(true).owner_only().open(path);
        opened.map_err(|error| (path, error))
    });
    match file {
        Some(Ok(file)) => {
            let path = env.log_path.clone().unwrap_or_default();
            let file = Arc::new(LogFile { file, path, is_lost: AtomicBool::new(false) });
            return builder.with_writer(file).init();
        }
        Some(Err((path, error))) => {
            let detail = format!("The log file {} cannot be opened: {error}.", path.display());
            view::print_diagnostic(&Diagnostic::warning(messages::LOG_FILE_CANNOT_BE_USED, detail));
        }
        None => {}
    }
    builder.with_writer(io::stderr).init();
}

/// The log file. The first write error is reported, and logging stops.
struct LogFile {
    file: File,
    path: PathBuf,
    is_lost: AtomicBool,
}

impl Write for &LogFile {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if !self.is_lost.load(Ordering::Relaxed)
            && let Err(error) = (&self.file).write_all(line)
            && !self.is_lost.swap(true, Ordering::Relaxed)
        {
            let path = self.path.display();
            let detail = format!("Error writing log file {path}: {error}. Logging stops.");
            view::print_diagnostic(&Diagnostic::warning(messages::LOG_FILE_CANNOT_BE_USED, detail));
        }
        // An error would make the subscriber print a line for every failure.
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Requested log levels.
#[derive(Debug, PartialEq, Eq)]
struct LogLevels {
    /// Level for this program.
    core: LevelFilter,
    /// Level for providers.
    providers: LevelFilter,
    /// Whether each line is a JSON object.
    json: bool,
    /// Errors in the requested levels.
    complaints: Vec<String>,
}

impl LogLevels {
    /// `TF_LOG` sets both levels. `TF_LOG_CORE` applies only without it; `TF_LOG_PROVIDER` overrides it.
    fn from_env(env: &Env) -> Self {
        let core = env.log.as_ref().or(env.log_core.as_ref());
        let providers = env.log_provider.as_ref().or(env.log.as_ref());
        let mut complaints = Vec::new();
        let mut read = |wish: Option<&String>| {
            wish.map_or(LevelFilter::OFF, |wish| {
            parse_level(wish).unwrap_or_else(|| {
                let complaint = format!(
                    "[WARN] Invalid log level: {wish:?}. Defaulting to level: TRACE. Valid levels are: TRACE, DEBUG, INFO, WARN, ERROR, OFF, and JSON for all of it as JSON"
                );
                if !complaints.contains(&complaint) {
                    complaints.push(complaint);
                }
                LevelFilter::TRACE
            })
        })
        };
        let (core_level, providers) = (read(core), read(providers));
        let json = core.is_some_and(|wish| wish.eq_ignore_ascii_case("json"));
        Self { core: core_level, providers, json, complaints }
    }
}

fn parse_level(wish: &str) -> Option<LevelFilter> {
    Some(match wish.to_ascii_uppercase().as_str() {
        "JSON" | "TRACE" => LevelFilter::TRACE,
        "DEBUG" => LevelFilter::DEBUG,
        "INFO" => LevelFilter::INFO,
        "WARN" => LevelFilter::WARN,
        "ERROR" => LevelFilter::ERROR,
        "OFF" => LevelFilter::OFF,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed_levels(
        log: &str,
        core: &str,
        provider: &str,
    ) -> (LevelFilter, LevelFilter, bool, usize) {
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let env = Env {
            log: some(log),
            log_core: some(core),
            log_provider: some(provider),
            ..Env::default()
        };
        let levels = LogLevels::from_env(&env);
        (levels.core, levels.providers, levels.json, levels.complaints.len())
    }

    #[test]
    fn the_three_variables_have_terraforms_meaning() {
        use LevelFilter as Is;
        for (log, core, provider, want) in [
            ("", "", "", (Is::OFF, Is::OFF, false, 0)),
            ("debug", "", "", (Is::DEBUG, Is::DEBUG, false, 0)),
            ("debug", "error", "", (Is::DEBUG, Is::DEBUG, false, 0)),
            ("debug", "", "error", (Is::DEBUG, Is::ERROR, false, 0)),
            ("", "INFO", "", (Is::INFO, Is::OFF, false, 0)),
            ("", "", "warn", (Is::OFF, Is::WARN, false, 0)),
            ("off", "trace", "", (Is::OFF, Is::OFF, false, 0)),
            ("json", "", "", (Is::TRACE, Is::TRACE, true, 0)),
            ("", "JSON", "info", (Is::TRACE, Is::INFO, true, 0)),
            ("", "", "json", (Is::OFF, Is::TRACE, false, 0)),
            ("loud", "", "", (Is::TRACE, Is::TRACE, false, 1)),
        ] {
            assert_eq!(parsed_levels(log, core, provider), want, "{log} {core} {provider}");
        }
    }
}
