//! Settings of provider processes, from the environment.

use std::collections::BTreeMap;

use formwork_backend::remote_state::RemoteStateReader;
use formwork_core::addr::ProviderAddr;
use formwork_operation::launcher::{Launcher, LauncherSettings, ProviderProgram};
use formwork_operation::schema_cache::SchemaCache;
use formwork_plugin_protocol::client::{ProcessLimits, Settings};
use formwork_plugin_protocol::reattach::Reattach;

use crate::env::Env;
use crate::install::program::VerifiedProgram;
use crate::redact;

/// Creates a launcher of provider programs and running providers. Running providers take precedence.
pub(crate) fn make_launcher(
    env: &Env,
    remote_states: RemoteStateReader,
    programs: BTreeMap<ProviderAddr, VerifiedProgram>,
    running: &BTreeMap<ProviderAddr, Reattach>,
) -> Launcher {
    let defaults = Settings::TERRAFORM_DEFAULTS;
    let connections = env.plugin_connections.unwrap_or(defaults.connections).max(1);
    // `FORMWORK_PLUGIN_START_TIMEOUT` also limits the wait for the first response, for plugins that start
    // slowly.
    let start_timeout = env.plugin_start_timeout.unwrap_or(defaults.start_timeout);
    let connect_timeout = env.plugin_start_timeout.unwrap_or(defaults.connect_timeout);
    let tls = env.plugin_tls;
    let limits = ProcessLimits { memory: env.plugin_memory, files: env.plugin_files };
    let plugin = Settings { tls, connections, start_timeout, connect_timeout, limits, ..defaults };
    // An invalid value was reported when the workspace was opened.
    let deadlines = env.plugin_deadlines.as_deref().unwrap_or_default();
    let settings = LauncherSettings {
        plugin,
        n_processes: env.plugin_processes.map(|limit| limit.max(1)),
        deadlines: deadlines.parse().unwrap_or_default(),
        withheld: env.plugin_withheld.clone(),
        remote_states,
        secrets: redact::sensitive_values(),
        schemas: env
            .cache_home
            .as_ref()
            .map(|home| SchemaCache::new(home.join("formwork/schemas"))),
    };
    let file = |program: VerifiedProgram| ProviderProgram::File {
        path: program.path,
        arg0: program.arg0,
        package: program.hash,
        identity: program.identity,
    };
    let programs = programs.into_iter().map(|(addr, program)| (addr, file(program)));
    let running = running
        .iter()
        .map(|(addr, reattach)| (addr.clone(), ProviderProgram::Reattached(reattach.clone())));
    Launcher::new(settings, programs.chain(running).collect())
}
