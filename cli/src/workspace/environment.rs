//! Settings and environment variables that are checked before the working directory is opened.

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

/// Prints warnings about the settings to standard error. They are not part of the output of a command, even
/// if it is JSON.
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
        let detail = format!(
            "FORMWORK_PLUGIN_DEADLINES must be a list such as read=5m,apply=1h: {problem}."
        );
        diags.error(
            Diagnostic::error(messages::INVALID_DEADLINE, detail).blamed_on(Blame::Environment),
        )
    })
}

/// Reads the running providers from `TF_REATTACH_PROVIDERS`, by their fully qualified addresses.
///
/// # Errors
/// The value of the variable is malformed, or contains a provider twice.
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
        // Test frameworks of SDKs also add each provider under the legacy namespace of Terraform 0.12.
        if name.split('/').rev().nth(1) == Some("-") {
            continue;
        }
        let addr: ProviderAddr = name.parse().map_err(|error| {
            invalid(format!("The variable contains the invalid provider address {name:?}. {error}"))
        })?;
        if reattached.get(&addr).is_some_and(|existing| *existing != plugin) {
            return Err(invalid(format!(
                "The variable contains {addr} twice, with different entries."
            )));
        }
        reattached.insert(addr, plugin);
    }
    Ok(reattached)
}
