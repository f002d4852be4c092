//! `formwork version`.

use std::collections::BTreeMap;

use formwork_core::version::LANGUAGE_VERSION;
use formwork_value::Diagnostics;
use serde::Serialize;

use crate::command_line::example;
use crate::env::Env;
use crate::exit::Exit;
use crate::platform::Platform;
use crate::view;
use crate::workspace::Workspace;

/// Show the version.
#[derive(Debug, clap::Args)]
#[command(after_help = example(
    "-json",
    "Print the versions of the program and of the selected providers."
))]
pub(crate) struct VersionArgs {
    /// Print it as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Ignored, as in Terraform.
    #[arg(hide = true)]
    rest: Vec<String>,
}

#[derive(Serialize)]
struct VersionDocument {
    terraform_version: String,
    platform: String,
    provider_selections: BTreeMap<String, String>,
    terraform_outdated: bool,
}

/// Runs the command.
pub(super) fn run(args: &VersionArgs, env: &Env) -> Exit {
    let mut diags = Diagnostics::new();
    let locks = Workspace::open(env, &mut diags).and_then(|mut w| w.read_lock_file(&mut diags));
    // `init` reports a lock file that cannot be read.
    let providers: BTreeMap<String, String> = locks
        .map(|locks| {
            locks
                .providers
                .into_iter()
                .map(|(a, l)| (a.to_string(), l.version.to_string()))
                .collect()
        })
        .unwrap_or_default();
    let own_version = env!("CARGO_PKG_VERSION");
    if args.json {
        let version = VersionDocument {
            terraform_version: LANGUAGE_VERSION.to_string(),
            platform: Platform::current().to_string(),
            provider_selections: providers,
            terraform_outdated: false,
        };
        let text = serde_json::to_string_pretty(&version).unwrap_or_default();
        view::print_data(&format!("{text}\n"));
        return Exit::Done;
    }
    let mut text = format!(
        "Formwork v{own_version}\non {}\ncompatible with the language of Terraform v{LANGUAGE_VERSION}\n",
        Platform::current()
    );
    for (addr, version) in providers {
        text.push_str(&format!("+ provider {addr} v{version}\n"));
    }
    view::print_out(&text);
    Exit::Done
}
