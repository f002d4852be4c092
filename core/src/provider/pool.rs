//! The running providers: each is started on first use, once per distinct configuration, and stopped
//! when its last user is done. The walk determines the users of each.

mod loading;
mod processes;
mod restart;
mod stopping;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use formwork_plugin_protocol::{Failure, Method, Provider, ProviderExt as _, Request};
use formwork_value::{Diagnostics, Reported, Secrets, Value};
use futures_util::future::{Either, select};
use tokio::sync::Semaphore;

use self::processes::ProviderProcesses;
use self::stopping::{StartPurpose, StopSignal};
use super::call_layers::{CallLayer as _, start_layers};
use super::client::{CallContext, ProviderClient};
use super::launcher::ProviderLauncher;
use super::loaded_provider::LoadedProvider;
use super::mock::Mocks;
use super::pending_calls::{CallWatch, PendingCall, ProviderCalls};
use super::provider_diagnostics::call_failure_diagnostic;
use super::provider_slot::ProviderSlot;
use super::restart_queue::RestartWorker;
use crate::addr::{ProviderAddr, ProviderConfigAddr};

/// The providers of one command.
///
/// The pool belongs to one task, so its tables need no lock, and no borrow is held across an await. A
/// provider must not be started twice concurrently, so a task starts one only while it holds the
/// semaphore.
pub struct ProviderPool<'l> {
    launcher: &'l dyn ProviderLauncher,
    loaded: RefCell<BTreeMap<ProviderAddr, Rc<LoadedProvider>>>,
    /// Diagnostics about providers that cannot be used, which are not started again.
    unusable: RefCell<BTreeMap<ProviderAddr, Diagnostics>>,
    configured: RefCell<BTreeMap<ProviderConfigAddr, ConfiguredProvider>>,
    processes: ProviderProcesses,
    /// Whether configured providers may be used again in the next phase.
    keeping: Cell<bool>,
    /// The pending calls.
    calls: Rc<ProviderCalls>,
    /// Held while providers are started for the first time.
    loading: Semaphore,
    /// Whether the run must end.
    stopping: StopSignal,
    /// The mocks of a test.
    mocks: Rc<Mocks>,
}

/// An active provider configuration.
#[derive(Clone)]
struct ConfiguredProvider {
    config: Value,
    client: Rc<ProviderClient>,
    /// Whether its last user of this phase is done.
    released: bool,
}

impl<'l> ProviderPool<'l> {
    /// Creates an empty pool.
    #[must_use]
    pub fn new(launcher: &'l dyn ProviderLauncher) -> Self {
        Self {
            launcher,
            loaded: RefCell::default(),
            configured: RefCell::default(),
            unusable: RefCell::default(),
            processes: ProviderProcesses::default(),
            keeping: Cell::new(true),
            calls: Rc::new(ProviderCalls::for_launcher(launcher)),
            loading: Semaphore::new(1),
            stopping: StopSignal::default(),
            mocks: Rc::default(),
        }
    }

    /// Returns a client that answers calls with the mocks of a test, where they exist.
    #[must_use]
    pub fn with_mocks(self, mocks: Mocks) -> Self {
        Self { mocks: Rc::new(mocks), ..self }
    }

    /// Shows the pending calls to a watch.
    #[must_use]
    pub fn watched_by(self, watch: &CallWatch) -> Self {
        watch.watch(&self.calls);
        self
    }

    /// Returns whether a test mocks a provider configuration, so that it is not evaluated.
    #[must_use]
    pub fn is_mocked(&self, addr: &ProviderConfigAddr) -> bool {
        self.mocks.providers.contains_key(addr)
    }

    /// Returns the sensitive values of this run.
    #[must_use]
    pub(crate) fn secrets(&self) -> &Secrets {
        &self.calls.secrets
    }

    /// Returns the maximum number of concurrent plugins, if limited.
    #[must_use]
    pub fn max_processes(&self) -> Option<usize> {
        self.launcher.max_processes()
    }

    async fn start_provider(
        &self,
        addr: &ProviderAddr,
        purpose: StartPurpose,
    ) -> Result<Arc<dyn Provider>, Failure> {
        // It runs in this process, so it needs no slot, and an interrupt has nothing to abandon.
        if addr.is_builtin() {
            let provider = self.launcher.builtin_provider();
            self.processes.add_started(addr, &provider, purpose);
            return Ok(provider);
        }
        // Before the start, so that the limit also holds while the new process is starting.
        self.end_spare_processes().await;
        let _starting = self.processes.count_starting_process();
        let provider =
            self.stopping.run_unless_stopped(purpose, self.launcher.launch_provider(addr)).await?;
        self.processes.add_started(addr, &provider, purpose);
        Ok(provider)
    }

    /// Stops processes that are kept only for later use, until one more may start.
    async fn end_spare_processes(&self) {
        // If all processes are needed, one more starts anyway, because the caller cannot continue
        // without it.
        let Some(limit) = self.max_processes() else { return };
        // A limit of zero would prevent any start.
        while self.processes.live_process_count() >= limit.max(1) {
            let Some(spare) = self.take_spare_process() else {
                // A process that is already ending will soon release its slot. Without one, a wait here
                // would block the run forever.
                if !self.processes.wait_for_dismissed_to_end().await {
                    return;
                }
                continue;
            };
            self.processes.end_instance(self.launcher, &spare).await;
        }
    }

    /// Returns a process that is not in use. Its configuration is dropped.
    fn take_spare_process(&self) -> Option<Arc<dyn Provider>> {
        // Idle ones are stopped first, because no configuration is lost with them.
        if let Some(idle) = self.processes.idle_without_calls() {
            return Some(idle);
        }
        let mut configured = self.configured.borrow_mut();
        // Another owner of the client may be in the middle of a call.
        let is_spare =
            |entry: &ConfiguredProvider| entry.released && Rc::strong_count(&entry.client) == 1;
        let addr = configured.iter().find(|(_, entry)| is_spare(entry)).map(|(addr, _)| addr)?;
        let addr = addr.clone();
        let entry = configured.remove(&addr)?;
        Some(entry.client.current_provider())
    }

    /// Returns the schemas and capabilities of a provider, or `None` before
    /// [`ProviderPool::load_providers`] succeeded for it.
    #[must_use]
    pub fn loaded_provider(&self, addr: &ProviderAddr) -> Option<Rc<LoadedProvider>> {
        self.loaded.borrow().get(addr).cloned()
    }

    /// Returns a provider for calls that need no configuration: validation and functions. It is started
    /// if none runs. Returns `None` before [`ProviderPool::load_providers`] succeeded for it.
    ///
    /// # Errors
    /// Returns an error if the provider must be started again, but cannot be.
    pub async fn unconfigured_client(
        &self,
        diags: &mut Diagnostics,
        addr: &ProviderAddr,
    ) -> Result<Option<ProviderClient>, Reported> {
        let Some(loaded) = self.loaded_provider(addr) else { return Ok(None) };
        let provider = match self.processes.any_instance_of(addr) {
            Some(provider) => provider,
            None => self.start_for_unconfigured_calls(diags, addr).await?,
        };
        Ok(Some(ProviderClient::new(
            loaded,
            ProviderSlot::new(provider, false),
            self.calls.clone(),
        )))
    }

    /// Starts an instance for all callers that request one without a configuration.
    async fn start_for_unconfigured_calls(
        &self,
        diags: &mut Diagnostics,
        addr: &ProviderAddr,
    ) -> Result<Arc<dyn Provider>, Reported> {
        // Functions are called concurrently: later callers get the instance that the first one started,
        // or its error. Otherwise hundreds of function calls that arrive before the first process runs
        // would each start one.
        let _turn = self.loading.acquire().await;
        if let Some(provider) = self.processes.any_instance_of(addr) {
            return Ok(provider);
        }
        if let Some(problems) = self.unusable.borrow().get(addr) {
            diags.append(problems.clone())?;
        }
        match self.start_another_process(addr, StartPurpose::Work).await {
            Ok(provider) => {
                self.processes.set_idle(&provider);
                Ok(provider)
            }
            Err(failure) => {
                let mut problems = Diagnostics::new();
                let failed = problems.error(call_failure_diagnostic(addr, "start", None, &failure));
                self.unusable.borrow_mut().insert(addr.clone(), problems.clone());
                Err(diags.append(problems).err().unwrap_or(failed))
            }
        }
    }

    /// Returns the provider that [`ProviderPool::configure_provider`] configured for an address, if any.
    #[must_use]
    pub fn configured_client(&self, addr: &ProviderConfigAddr) -> Option<Rc<ProviderClient>> {
        self.configured.borrow().get(addr).map(|entry| entry.client.clone())
    }

    /// Returns the instance with this configuration, if the configuration is wholly known.
    fn client_with_config(
        &self,
        addr: &ProviderConfigAddr,
        config: &Value,
    ) -> Option<Rc<ProviderClient>> {
        let configured = self.configured.borrow();
        let entry = configured.get(addr).filter(|entry| entry.config == *config)?;
        // Two configurations with unknown parts can be equal now and differ when the parts are known.
        config.is_wholly_known().then(|| entry.client.clone())
    }

    /// Configures a provider. An instance that already has the same, wholly known configuration is
    /// reused. A different configuration gets a separate process, because a provider can be configured
    /// only once. So does a configuration whose process has ended.
    ///
    /// # Errors
    /// Returns an error if the provider does not accept the configuration or cannot be used.
    pub async fn configure_provider(
        &self,
        diags: &mut Diagnostics,
        addr: &ProviderConfigAddr,
        config: Value,
        block: Option<formwork_value::Span>,
    ) -> Result<Rc<ProviderClient>, Reported> {
        // Plan and apply of one command usually have the same configuration, and the restart of a large
        // provider takes seconds.
        if let Some(client) = self.client_with_config(addr, &config)
            // The process may have ended since its last call, for example while the user was prompted
            // for approval.
            && client.answers_probe_call().await
        {
            if let Some(entry) = self.configured.borrow_mut().get_mut(addr) {
                entry.released = false;
            }
            return Ok(client);
        }
        self.remove_config(addr);
        let name = addr.to_string();
        let failed = |diags: &mut Diagnostics, call: &str, failure: &Failure| {
            diags.error(
                call_failure_diagnostic(&addr.provider, call, Some(&name), failure).at_opt(block),
            )
        };
        // Usually the process that was started for its schema, and so has no configuration yet.
        let provider = match self.processes.take_idle(&addr.provider) {
            Some(provider) => provider,
            None => match self.start_another_process(&addr.provider, StartPurpose::Work).await {
                Ok(provider) => provider,
                Err(failure) => return Err(failed(diags, "start", &failure)),
            },
        };
        let Some(loaded) = self.loaded_provider(&addr.provider) else {
            let missing = Failure::Misbehaved("its schema was never fetched".into());
            return Err(failed(diags, "GetProviderSchema", &missing));
        };
        let slot = ProviderSlot::new(provider, true);
        let mut client = ProviderClient::new(loaded, slot, self.calls.clone());
        client.set_mocks(&self.mocks, addr);
        let client = Rc::new(client);
        if !self.is_mocked(addr) {
            client.configure_provider(diags, &config, CallContext { addr: &name, block }).await?;
        }
        let entry = ConfiguredProvider { config, client: client.clone(), released: false };
        self.configured.borrow_mut().insert(addr.clone(), entry);
        Ok(client)
    }

    /// Starts another process of a provider. One that cannot be used is stopped again.
    async fn start_another_process(
        &self,
        addr: &ProviderAddr,
        purpose: StartPurpose,
    ) -> Result<Arc<dyn Provider>, Failure> {
        // The start counts as a pending call, so that a process that hangs while it starts is
        // shown.
        let underway = self.calls.begin_call(addr, Method::GetProviderSchema, None);
        let provider = match self.start_provider(addr, purpose).await {
            Ok(provider) => provider,
            Err(failure) => return underway.end_call(Err(failure)),
        };
        if let Err(failure) =
            underway.end_call(self.check_same_schemas(addr, &provider, purpose).await)
        {
            self.processes.dismiss_instance(&provider);
            return Err(failure);
        }
        Ok(provider)
    }

    /// Checks that an instance has the same schema as the first one.
    async fn check_same_schemas(
        &self,
        addr: &ProviderAddr,
        provider: &Arc<dyn Provider>,
        purpose: StartPurpose,
    ) -> Result<(), Failure> {
        // Unless the provider declares that the call is optional, its schema is requested, because older
        // providers initialize themselves in that call (protocol 5.4).
        let Some(loaded) = self.loaded_provider(addr) else { return Ok(()) };
        // Requesting and comparing the schema again takes seconds for large providers, so it is
        // skipped where the protocol allows it.
        if loaded.provider_schema().capabilities.get_provider_schema_optional {
            return Ok(());
        }
        // Whether an interrupt abandons this start depends on its purpose.
        let provider_layers = start_layers(&self.calls, provider.clone());
        let schema = Request::schema().send_by(|request| provider_layers.call(request));
        let mut schema = self.stopping.run_unless_stopped(purpose, schema).await?;
        // The first instance has reported it.
        schema.diagnostics.clear();
        // Everything was checked against the schema of the first instance.
        if schema != *loaded.provider_schema() {
            self.launcher.remove_cached_schemas(addr);
            let problem = "the schema of this process is another one than that of the process before it, although the program is the same";
            return Err(Failure::Misbehaved(problem.to_owned()));
        }
        Ok(())
    }

    /// Returns the calls that have waited for a response for at least the given time, the longest first.
    #[must_use]
    pub fn calls_waiting_at_least(&self, least: Duration) -> Vec<PendingCall> {
        self.calls.calls_waiting_at_least(least)
    }

    /// Drops the active configurations, so that the next phase configures again where a configuration
    /// contained unknown values.
    pub fn begin_next_phase(&self) {
        // This is the last phase: a provider that is released in it is stopped.
        self.keeping.set(false);
        self.calls.enter_apply_phase();
        let configured = self.configured.borrow();
        let stale = configured.iter().filter(|(_, entry)| !entry.config.is_wholly_known());
        let stale: Vec<_> = stale.map(|(addr, _)| addr.clone()).collect();
        // `let_go` borrows the same table mutably.
        drop(configured);
        stale.iter().for_each(|addr| self.remove_config(addr));
    }

    /// Releases a configuration after its last user is done. Its process is stopped, unless the next
    /// phase can reuse it. Such a process is stopped when the limit is reached.
    pub fn release_config(&self, addr: &ProviderConfigAddr) {
        if self.keeping.get()
            && let Some(entry) = self.configured.borrow_mut().get_mut(addr)
            && entry.config.is_wholly_known()
        {
            entry.released = true;
            return;
        }
        self.remove_config(addr);
    }

    /// Drops a configuration and stops its process.
    fn remove_config(&self, addr: &ProviderConfigAddr) {
        if let Some(entry) = self.configured.borrow_mut().remove(addr) {
            self.processes.dismiss_instance(&entry.client.current_provider());
        }
    }

    /// Runs a future. In the meantime, released providers are stopped, and dead ones are replaced.
    pub async fn run_with_upkeep<T>(&self, work: impl Future<Output = T>) -> T {
        // It is registered before any call is made.
        let restarts = self.serve_restart_requests(RestartWorker::new(&self.calls.restarts));
        let (work, ending) =
            (pin!(work), pin!(self.processes.end_dismissed_forever(self.launcher)));
        match select(work, select(ending, pin!(restarts))).await {
            Either::Left((done, _)) => done,
            Either::Right((Either::Left((never, _)) | Either::Right((never, _)), _)) => {
                match never {}
            }
        }
    }

    /// Sends a stop request to every running provider, and ignores errors. Starting providers are
    /// abandoned. A provider that reports the effect of a change continues.
    pub async fn stop_providers(&self) {
        // Set first, so that no provider starts between the collection of the running ones and their
        // stop.
        self.stopping.request_stop();
        self.calls.begin_interrupt();
        let running = self.processes.instances_to_stop();
        futures_util::future::join_all(running.iter().map(|provider| provider.stop())).await;
    }
}
