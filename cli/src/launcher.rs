//! Starts the providers that are installed here.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::rc::Rc;
use std::sync::{Arc, Weak};

use formwork_backend::remote_state::BackendStates;
use formwork_core::addr::ProviderAddr;
use formwork_core::provider::builtin::Builtin;
use formwork_core::provider::{Deadlines, Launch};
use formwork_plugin_protocol::client::{
    Executable, Leftover, Limits, Plugin, Settings, leftovers, shutdown_all,
};
use formwork_plugin_protocol::reattach::Reattach;
use formwork_plugin_protocol::{Failure, Provider};
use formwork_value::{Diagnostic, Diagnostics, Secrets};

use crate::env::Env;
use crate::install::program::VerifiedProgram;
use crate::redact;

/// Starts providers from the programs that were found for them.
pub(crate) struct Launcher {
    programs: BTreeMap<ProviderAddr, VerifiedProgram>,
    reattach: BTreeMap<ProviderAddr, Reattach>,
    settings: Settings,
    limit: Option<usize>,
    deadlines: Deadlines,
    /// Variables of our environment that are none of their business.
    withheld: Vec<OsString>,
    /// Reads the states of other configurations.
    states: Arc<BackendStates>,
    running: RefCell<Vec<Running>>,
    /// Processes left behind by plugins that have ended.
    left: RefCell<Vec<Leftover>>,
}

/// A plugin, and the provider it is known by.
type Running = (Weak<dyn Provider>, Rc<Plugin>);

impl Launcher {
    /// Makes a launcher over these programs.
    pub(crate) fn new(
        env: &Env,
        programs: BTreeMap<ProviderAddr, VerifiedProgram>,
        reattach: BTreeMap<ProviderAddr, Reattach>,
    ) -> Self {
        let connections = env.plugin_connections.unwrap_or(Settings::USUAL.connections).max(1);
        let usual = Settings::USUAL;
        // A plugin that takes long to start is given no less time for its first answer.
        let start_timeout = env.plugin_start_timeout.unwrap_or(usual.start_timeout);
        let connect_timeout = env.plugin_start_timeout.unwrap_or(usual.connect_timeout);
        let tls = env.plugin_tls;
        let limits = Limits { memory: env.plugin_memory, files: env.plugin_files };
        let settings =
            Settings { tls, connections, start_timeout, connect_timeout, limits, ..usual };
        // A value that cannot be read was reported when the workspace was opened.
        let deadlines = env.plugin_deadlines.as_deref().unwrap_or_default();
        let deadlines = deadlines.parse().unwrap_or_default();
        let limit = env.plugin_processes.map(|limit| limit.max(1));
        Self {
            programs,
            reattach,
            settings,
            limit,
            deadlines,
            withheld: env.plugin_withheld.clone(),
            states: Arc::new(BackendStates::new(env.backend_environment(""))),
            running: RefCell::default(),
            left: RefCell::default(),
        }
    }

    /// Asks every running plugin to end, and waits until they have, or ends those that do not.
    /// Leftovers that cannot be ended from here are reported.
    pub(crate) async fn shutdown(&self, diags: &mut Diagnostics) {
        let running = self.running.take();
        let all = || running.iter().map(|(_, plugin)| &**plugin);
        shutdown_all(all()).await;
        for Leftover { plugin, pid, command } in
            self.left.take().into_iter().chain(leftovers(all()))
        {
            let detail = format!(
                "{plugin} has started {command} (process {pid}), which has left the provider's process group and goes on running. Formwork cannot end it."
            );
            diags.warn(Diagnostic::warning("Provider left a process running", detail));
        }
    }

    /// Ends every plugin at once.
    pub(crate) fn kill(&self) {
        self.running.borrow().iter().for_each(|(_, plugin)| plugin.kill());
    }
}

#[async_trait::async_trait(?Send)]
impl Launch for Launcher {
    async fn launch(&self, addr: &ProviderAddr) -> Result<Arc<dyn Provider>, Failure> {
        let name = addr.display();
        let plugin = match self.reattach.get(addr) {
            Some(reattach) => Plugin::reattach(&name, reattach, &self.settings).await?,
            None => {
                let program = self.programs.get(addr).cloned().ok_or_else(|| {
                    Failure::Launch(format!("{addr} is not installed; run `formwork init`"))
                })?;
                let withheld = self.withheld.clone();
                let VerifiedProgram { path, identity } = program;
                let executable = Executable { name, path, identity, env: Vec::new(), withheld };
                Plugin::launch(&executable, &self.settings).await?
            }
        };
        let provider: Arc<dyn Provider> = Arc::new(plugin.provider());
        self.running.borrow_mut().push((Arc::downgrade(&provider), Rc::new(plugin)));
        Ok(provider)
    }

    fn builtin(&self) -> Arc<dyn Provider> {
        Arc::new(Builtin::with_states(self.states.clone()))
    }

    fn limit(&self) -> Option<usize> {
        self.limit
    }

    fn deadlines(&self) -> Deadlines {
        self.deadlines.clone()
    }

    fn secrets(&self) -> Secrets {
        redact::values()
    }

    async fn close(&self, provider: &Arc<dyn Provider>) {
        let is_it = |(other, _): &Running| other.as_ptr().addr() == Arc::as_ptr(provider).addr();
        let plugin = self.running.borrow().iter().find(|it| is_it(it)).map(|(_, it)| it.clone());
        if let Some(plugin) = plugin {
            plugin.shutdown().await;
            self.left.borrow_mut().extend(leftovers([&*plugin]));
        }
        // Until then it is among those that are ended at the end, in case nothing waits for this.
        self.running.borrow_mut().retain(|it| !is_it(it));
    }
}
