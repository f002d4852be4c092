//! Settings and variables that a command checks before it opens its folder.

use std::collections::BTreeMap;

use formwork_core::addr::ProviderAddr;
use formwork_core::provider::CallDeadlines;
use formwork_plugin_protocol::reattach::{self, Reattach};
use formwork_value::diag::{Blame, Sources};
use formwork_value::{Diagnostic, Diagnostics, Reported};

use crate::env::Env;
use crate::messages;
use crate::settings::Settings;
use crate::view::human::diagnostic;
use crate::view::{self, Screen};

/// Prints warnings about the settings. They are no result of a command, so they are not part of its
/// output, also where that is JSON.
pub(super) fn print_settings_warnings(env: &Env, settings: &Settings) {
    for (summary, detail) in &settings.warnings {
        let warning = Diagnostic::warning(*summary, detail.as_str());
        view::print_err(&diagnostic::render_one_diagnostic(
            &Screen::of(env),
            &Sources::new(),
            &warning,
        ));
    }
}

/// Checks `FORMWORK_PLUGIN_DEADLINES`.
pub(super) fn check_deadlines(env: &Env, diags: &mut Diagnostics) -> Result<(), Reported> {
    let deadlines = env.plugin_deadlines.as_deref().unwrap_or_default();
    deadlines.parse::<CallDeadlines>().map(drop).map_err(|problem| {
        let detail =
            format!("FORMWORK_PLUGIN_DEADLINES takes a list such as read=5m,apply=1h: {problem}.");
        diags.error(
            Diagnostic::error(messages::INVALID_DEADLINE, detail).blamed_on(Blame::Environment),
        )
    })
}

/// Reads the providers that are running already from `TF_REATTACH_PROVIDERS`, by their addresses in
/// full.
///
/// # Errors
/// When the variable's value is malformed, or names a provider twice.
pub(super) fn read_reattached(
    env: &Env,
    diags: &mut Diagnostics,
) -> Result<BTreeMap<ProviderAddr, Reattach>, Reported> {
    let mut reattached = BTreeMap::new();
    let Some(text) = &env.reattach else { return Ok(reattached) };
    let mut invalid = |detail: String| {
        let diagnostic = Diagnostic::error(messages::INVALID_REATTACH_PROVIDERS, detail);
        diags.error(diagnostic.blamed_on(Blame::Environment))
    };
    let plugins =
        reattach::parse_reattach_variable(text).map_err(|error| invalid(error.to_string()))?;
    for (name, plugin) in plugins {
        // Test harnesses of SDKs name each provider in the namespace of Terraform 0.12 as well.
        if name.split('/').rev().nth(1) == Some("-") {
            continue;
        }
        let addr: ProviderAddr = name.parse().map_err(|error| {
            invalid(format!("The variable names {name:?} as a provider. {error}"))
        })?;
        if reattached.get(&addr).is_some_and(|other| *other != plugin) {
            return Err(invalid(format!(
                "The variable names {addr} twice, with different entries."
            )));
        }
        reattached.insert(addr, plugin);
    }
    Ok(reattached)
}
