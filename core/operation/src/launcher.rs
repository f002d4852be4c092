//! Starts provider programs as child processes.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::{Arc, Weak};

use formwork_backend::remote_state::RemoteStateReader;
use formwork_core::addr::ProviderAddr;
use formwork_core::provider::builtin::BuiltinProvider;
use formwork_core::provider::{CallDeadlines, ProviderLauncher};
use formwork_plugin_protocol::client::{
    DetachedProcess, Executable, FileStamp, Plugin, Settings, detached_processes_of_plugins,
    shutdown_all,
};
use formwork_plugin_protocol::message::schema::{IdentitySchemas, ProviderSchema};
use formwork_plugin_protocol::reattach::Reattach;
use formwork_plugin_protocol::{Failure, Provider};
use formwork_value::{Diagnostic, Diagnostics, Secrets};

use crate::messages;
use crate::schema_cache::SchemaCache;

/// A provider program.
///
/// ```
/// use formwork_operation::launcher::ProviderProgram;
///
/// let program = ProviderProgram::from_path("bin/terraform-provider-random");
/// assert!(matches!(program, ProviderProgram::File { package: None, .. }));
/// ```
#[derive(Clone, Debug)]
pub enum ProviderProgram {
    /// A program to start.
    File {
        /// The program.
        path: PathBuf,
        /// The name under which the program is started, if the file contains several programs.
        arg0: Option<OsString>,
        /// The hash of the package, if it was verified. It is the key of cached schemas.
        package: Option<String>,
        /// The identity of the file when it was verified. A different file at the path is not
        /// started.
        identity: Option<FileStamp>,
    },
    /// A provider that is already running, for debugging.
    Reattached(Reattach),
}

impl ProviderProgram {
    /// A single-provider program whose file and package the caller has not verified.
    #[must_use]
    pub fn from_path(path: impl Into<PathBuf>) -> Self {
        // Without a package hash, schemas are not cached: another program may be at the path next time.
        Self::File { path: path.into(), arg0: None, package: None, identity: None }
    }
}

/// Settings of provider processes.
///
/// ```
/// use formwork_operation::launcher::LauncherSettings;
///
/// // A machine with little memory runs two providers at once.
/// let settings = LauncherSettings { n_processes: Some(2), ..LauncherSettings::default() };
/// assert!(settings.withheld.is_empty() && settings.schemas.is_none());
/// ```
#[derive(Clone, Debug)]
pub struct LauncherSettings {
    /// Settings of the connections and limits of a process.
    pub plugin: Settings,
    /// Maximum number of concurrent processes, or `None` for no limit.
    pub n_processes: Option<usize>,
    /// Deadlines of calls.
    pub deadlines: CallDeadlines,
    /// Environment variables that are hidden from providers.
    pub withheld: Vec<OsString>,
    /// Reader of the states of other configurations, for `terraform_remote_state`.
    pub remote_states: RemoteStateReader,
    /// The collection of sensitive values, shared with the code that prints or logs provider messages.
    pub secrets: Secrets,
    /// Schemas that earlier operations have fetched.
    pub schemas: Option<SchemaCache>,
}

impl Default for LauncherSettings {
    fn default() -> Self {
        Self {
            plugin: Settings::TERRAFORM_DEFAULTS,
            n_processes: None,
            deadlines: CallDeadlines::default(),
            withheld: Vec::new(),
            remote_states: RemoteStateReader::default(),
            secrets: Secrets::default(),
            schemas: None,
        }
    }
}

/// Starts providers from their programs.
///
/// ```
/// use formwork_operation::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let random: ProviderAddr = "hashicorp/random".parse().unwrap();
/// let program = ProviderProgram::from_path("bin/terraform-provider-random");
/// let launcher = Launcher::new(LauncherSettings::default(), [(random, program)].into());
/// // The pool starts a provider with the first call of it.
/// let pool = ProviderPool::new(&launcher);
/// let mut diags = Diagnostics::new();
/// launcher.shutdown(&mut diags).await;
/// assert!(diags.is_empty());
/// # }
/// ```
pub struct Launcher {
    programs: BTreeMap<ProviderAddr, ProviderProgram>,
    settings: LauncherSettings,
    /// Whether cached schemas can replace those of a running provider.
    reads_schemas: bool,
    /// Reads the states of other configurations.
    states: Arc<RemoteStateReader>,
    running: RefCell<Vec<RunningPlugin>>,
    /// Processes that plugins left running after they ended.
    detached: RefCell<Vec<DetachedProcess>>,
}

/// A plugin and the address of its provider.
type RunningPlugin = (Weak<dyn Provider>, Rc<Plugin>);

impl Launcher {
    /// Creates a launcher for these programs.
    #[must_use]
    pub fn new(
        settings: LauncherSettings,
        programs: BTreeMap<ProviderAddr, ProviderProgram>,
    ) -> Self {
        let states = Arc::new(settings.remote_states.clone());
        Self {
            programs,
            settings,
            reads_schemas: false,
            states,
            running: RefCell::default(),
            detached: RefCell::default(),
        }
    }

    /// Creates a launcher for an operation that mainly needs schemas: a provider with cached schemas
    /// is not started before another call needs it.
    #[must_use]
    pub fn prefer_cached_schemas(self) -> Self {
        Self { reads_schemas: true, ..self }
    }

    /// The schema cache and the hash that is the key of a provider in it.
    fn schema_cache_and_package_hash(&self, addr: &ProviderAddr) -> Option<(&SchemaCache, &str)> {
        match self.programs.get(addr)? {
            ProviderProgram::File { package, .. } => {
                Some((self.settings.schemas.as_ref()?, package.as_deref()?))
            }
            // A provider that is being debugged may change its schemas with every build.
            ProviderProgram::Reattached(_) => None,
        }
    }

    /// Requests every running plugin to stop, and waits until it has, or kills it. Detached
    /// processes, which cannot be ended here, are reported.
    pub async fn shutdown(&self, diags: &mut Diagnostics) {
        let running = self.running.take();
        let plugins = || running.iter().map(|(_, plugin)| &**plugin);
        // Concurrently, because each plugin may take seconds.
        shutdown_all(plugins()).await;
        for DetachedProcess { plugin, pid, command } in
            self.detached.take().into_iter().chain(detached_processes_of_plugins(plugins()))
        {
            let detail = format!(
                "{plugin} has started {command} (process {pid}), which has left the provider's process group and is still running. Formwork cannot end it."
            );
            diags.warn(Diagnostic::warning(messages::PROVIDER_LEFT_PROCESS_RUNNING, detail));
        }
    }

    /// Kills every plugin immediately.
    pub fn kill(&self) {
        self.running.borrow().iter().for_each(|(_, plugin)| plugin.kill());
    }
}

#[async_trait::async_trait(?Send)]
impl ProviderLauncher for Launcher {
    async fn launch_provider(&self, addr: &ProviderAddr) -> Result<Arc<dyn Provider>, Failure> {
        let name = addr.display_string();
        let settings = &self.settings.plugin;
        let plugin = match self.programs.get(addr) {
            Some(ProviderProgram::Reattached(reattach)) => {
                Plugin::reattach(&name, reattach, settings).await?
            }
            Some(ProviderProgram::File { path, arg0, identity, .. }) => {
                let executable = Executable {
                    name,
                    path: path.clone(),
                    arg0: arg0.clone(),
                    // Compared at the start, so that no other file runs instead of the verified
                    // one.
                    identity: *identity,
                    env: Vec::new(),
                    withheld: self.settings.withheld.clone(),
                };
                Plugin::launch(&executable, settings).await?
            }
            None => {
                let reason = format!("{addr} is not installed; run `formwork init`");
                return Err(Failure::Launch(reason));
            }
        };
        let provider: Arc<dyn Provider> = Arc::new(plugin.provider());
        // The weak handle does not keep the provider alive, but prevents its address from being
        // reused.
        self.running.borrow_mut().push((Arc::downgrade(&provider), Rc::new(plugin)));
        Ok(provider)
    }

    fn builtin_provider(&self) -> Arc<dyn Provider> {
        Arc::new(BuiltinProvider::with_remote_states(self.states.clone()))
    }

    fn cached_schemas(&self, addr: &ProviderAddr) -> Option<(ProviderSchema, IdentitySchemas)> {
        let (cache, hash) =
            self.schema_cache_and_package_hash(addr).filter(|_| self.reads_schemas)?;
        cache.cached_schemas(addr, hash)
    }

    fn cache_schemas(
        &self,
        addr: &ProviderAddr,
        schema: &ProviderSchema,
        identities: &IdentitySchemas,
    ) {
        if let Some((cache, hash)) = self.schema_cache_and_package_hash(addr) {
            cache.store_schemas(addr, hash, schema, identities);
        }
    }

    fn remove_cached_schemas(&self, addr: &ProviderAddr) {
        if let Some((cache, hash)) = self.schema_cache_and_package_hash(addr) {
            cache.remove_schemas(addr, hash);
        }
    }

    fn max_processes(&self) -> Option<usize> {
        self.settings.n_processes
    }

    fn call_deadlines(&self) -> CallDeadlines {
        self.settings.deadlines.clone()
    }

    fn secrets(&self) -> Secrets {
        self.settings.secrets.clone()
    }

    async fn close_provider(&self, provider: &Arc<dyn Provider>) {
        // Only addresses are compared: pointers to one object may differ in their vtables.
        let is_same_provider = |(running_provider, _): &RunningPlugin| {
            running_provider.as_ptr().addr() == Arc::as_ptr(provider).addr()
        };
        // Cloned, so that no borrow is held across the await, during which another provider may be
        // closed.
        let plugin = self
            .running
            .borrow()
            .iter()
            .find(|entry| is_same_provider(entry))
            .map(|(_, plugin)| plugin.clone());
        if let Some(plugin) = plugin {
            plugin.shutdown().await;
            self.detached.borrow_mut().extend(detached_processes_of_plugins([&*plugin]));
        }
        // Until then it remains in the list of plugins to shut down, in case nothing awaits this
        // future.
        self.running.borrow_mut().retain(|entry| !is_same_provider(entry));
    }
}
