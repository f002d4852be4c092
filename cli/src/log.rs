//! The log for people who look for a fault: off unless `TF_LOG` asks for it.

use std::fs::OpenOptions;
use std::sync::Arc;

use tracing_subscriber::EnvFilter;

use crate::env::Env;
use crate::view;

/// Starts logging, if the environment asks for it.
pub(crate) fn start(env: &Env) {
    let Some(wanted) = &env.log else { return };
    let level = match wanted.to_ascii_lowercase().as_str() {
        "json" | "trace" => "trace",
        "debug" => "debug",
        "info" => "info",
        "warn" => "warn",
        "error" => "error",
        "off" => return,
        other => {
            view::err(&format!(
                "TF_LOG is {other:?}, which is no level; use TRACE, DEBUG, INFO, WARN or ERROR.\n"
            ));
            return;
        }
    };
    // What libraries say below a warning helps nobody here.
    let filter = EnvFilter::new(format!(
        "warn,formwork={level},formwork_core={level},formwork_plugin_protocol={level},provider={level}"
    ));
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_ansi(false);
    let file = env.log_path.as_ref().map(|path| {
        OpenOptions::new().create(true).append(true).open(path).map_err(|error| (path, error))
    });
    match file {
        None => builder.with_writer(std::io::stderr).init(),
        Some(Ok(file)) => builder.with_writer(Arc::new(file)).init(),
        Some(Err((path, error))) => {
            view::err(&format!("The log cannot be written to {}: {error}.\n", path.display()));
        }
    }
}
