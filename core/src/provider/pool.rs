//! Which providers run: each is launched when first needed, once per distinct configuration, and ended
//! when its last user is done. Who uses what is for the walk to know.

pub(super) mod mending;
mod processes;
mod stopping;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use formwork_plugin_protocol::message::schema::ProviderSchema;
use formwork_plugin_protocol::{Failure, Provider};
use formwork_value::diag::Blame;
use formwork_value::{Diagnostic, Diagnostics, Reported, Value};
use futures_util::StreamExt as _;
use futures_util::future::{Either, select};
use tokio::sync::Semaphore;

use self::mending::Seat;
use self::processes::Processes;
use self::stopping::Stopping;
use super::blame::{about_failure, about_provider_diagnostics, about_second_try};
use super::builtin::Builtin;
use super::calls::{Calls, Waiting};
use super::handle::{About, Handle};
use super::loaded::Loaded;
use crate::addr::{ProviderAddr, ProviderConfigAddr};

/// Starts provider processes. The command line implements it over installed packages, tests over
/// providers in this process.
#[async_trait(?Send)]
pub trait Launch {
    /// Starts one more instance of a provider.
    async fn launch(&self, provider: &ProviderAddr) -> Result<Arc<dyn Provider>, Failure>;

    /// How many instances may live at once, if that is limited. More are started only where nothing
    /// else could go on.
    fn limit(&self) -> Option<usize> {
        None
    }

    /// Ends an instance that nobody needs any more. One that is not a process needs no end.
    async fn close(&self, _provider: &Arc<dyn Provider>) {}
}

/// The providers of one command.
///
/// Lives on one task, so its tables need no lock, and no borrow is held across a wait. What must not be
/// done twice at once, starting a provider, is done by whoever has the turn.
pub struct Pool<'l> {
    launcher: &'l dyn Launch,
    loaded: RefCell<BTreeMap<ProviderAddr, Rc<Loaded>>>,
    /// What there is to say about providers that cannot be used, which are not started again.
    unusable: RefCell<BTreeMap<ProviderAddr, Diagnostics>>,
    configured: RefCell<BTreeMap<ProviderConfigAddr, Configured>>,
    processes: Processes,
    /// Whether what is configured may be used again in the next phase.
    keeping: Cell<bool>,
    /// What waits for an answer.
    calls: Rc<Calls>,
    /// Held while providers are started for the first time.
    loading: Semaphore,
    /// Held while a provider is started again.
    reviving: Semaphore,
    /// Whether the run is to come to an end.
    stopping: Stopping,
}

/// A configuration in force.
#[derive(Clone)]
struct Configured {
    config: Value,
    handle: Rc<Handle>,
    /// Whether its last user of this phase is done.
    released: bool,
}

impl<'l> Pool<'l> {
    /// Makes an empty pool.
    #[must_use]
    pub fn new(launcher: &'l dyn Launch) -> Self {
        Self {
            launcher,
            loaded: RefCell::default(),
            configured: RefCell::default(),
            unusable: RefCell::default(),
            processes: Processes::default(),
            keeping: Cell::new(true),
            calls: Rc::default(),
            loading: Semaphore::new(1),
            reviving: Semaphore::new(1),
            stopping: Stopping::default(),
        }
    }

    /// How many plugins may run at once, if that is limited.
    #[must_use]
    pub fn limit(&self) -> Option<usize> {
        self.launcher.limit()
    }

    /// Launches a set of providers side by side and fetches what they offer.
    ///
    /// # Errors
    /// When one of them cannot be used; every such one is reported.
    pub async fn load(
        &self,
        diags: &mut Diagnostics,
        providers: impl IntoIterator<Item = ProviderAddr>,
    ) -> Result<(), Reported> {
        let wanted: BTreeSet<_> = providers.into_iter().collect();
        if wanted.iter().all(|addr| self.loaded.borrow().contains_key(addr)) {
            return Ok(());
        }
        // Functions are called from many places at once, and one process is enough for all of them. The
        // semaphore is never closed, so a turn always comes.
        let _turn = self.loading.acquire().await;
        let is_loaded = |addr: &ProviderAddr| self.loaded.borrow().contains_key(addr);
        let missing: Vec<_> = wanted.into_iter().filter(|addr| !is_loaded(addr)).collect();
        let at_once = self.limit().unwrap_or(missing.len()).max(1);
        let loading = missing.into_iter().map(|addr| self.load_one(addr));
        let answers = futures_util::stream::iter(loading).buffered(at_once);
        let answers: Vec<Diagnostics> = answers.collect().await;
        let mut result = Ok(());
        for problems in answers {
            if let Err(reported) = diags.append(problems) {
                result = Err(reported);
            }
        }
        result
    }

    async fn load_one(&self, addr: ProviderAddr) -> Diagnostics {
        if let Some(problems) = self.unusable.borrow().get(&addr) {
            return problems.clone();
        }
        let mut diags = Diagnostics::new();
        let call = "GetProviderSchema";
        let mut loaded = self.try_load(&addr, &mut diags).await;
        if let Err(first) = &loaded
            && first.is_passing()
        {
            // It was only asked what it offers, so another process may be asked the same.
            let warning = about_second_try(&addr, call, None, first);
            loaded = self.try_load(&addr, &mut diags).await;
            if loaded.is_ok() {
                diags.warn(warning);
            }
        }
        if let Err(failure) = loaded {
            let _: Reported = diags.error(about_failure(&addr, call, None, &failure));
        }
        if diags.has_errors() {
            self.unusable.borrow_mut().insert(addr, diags.clone());
        }
        diags
    }

    async fn try_load(&self, addr: &ProviderAddr, diags: &mut Diagnostics) -> Result<(), Failure> {
        let _underway = self.calls.begin(addr, "GetProviderSchema", None);
        let provider = self.start(addr).await?;
        let loaded = self.load_from(addr, diags, &provider).await;
        match &loaded {
            Ok(()) => self.processes.set_idle(&provider),
            Err(_) => self.processes.dismiss(&provider),
        }
        loaded
    }

    /// Asks a provider what it offers. What makes that unusable is reported.
    async fn load_from(
        &self,
        addr: &ProviderAddr,
        diags: &mut Diagnostics,
        provider: &Arc<dyn Provider>,
    ) -> Result<(), Failure> {
        let mut schema = self.stopping.unless(provider.schema()).await?;
        let said = std::mem::take(&mut schema.diagnostics);
        if about_provider_diagnostics(diags, said, &format!("provider {addr}"), None).is_err() {
            return Ok(());
        }
        if unusable(diags, addr, &schema).is_err() {
            return Ok(());
        }
        // A provider made before protocol 5.9 has no identities.
        let mut identities = match self.stopping.unless(provider.identity_schemas()).await {
            Ok(identities) => identities,
            Err(Failure::Unimplemented(_)) => Default::default(),
            Err(failure) => return Err(failure),
        };
        let said = std::mem::take(&mut identities.diagnostics);
        if about_provider_diagnostics(diags, said, &format!("provider {addr}"), None).is_err() {
            return Ok(());
        }
        let loaded = Loaded::new(addr.clone(), schema, identities);
        self.loaded.borrow_mut().insert(addr.clone(), Rc::new(loaded));
        Ok(())
    }

    async fn start(&self, addr: &ProviderAddr) -> Result<Arc<dyn Provider>, Failure> {
        if addr.is_builtin() {
            let provider: Arc<dyn Provider> = Arc::new(Builtin::default());
            self.processes.add(addr, &provider);
            return Ok(provider);
        }
        self.make_room().await;
        let _starting = self.processes.starting();
        let provider = self.stopping.unless(self.launcher.launch(addr)).await?;
        self.processes.add(addr, &provider);
        Ok(provider)
    }

    /// Ends what is kept only because somebody might need it, until one more may start. If everything
    /// is needed, one more starts all the same: whoever asks cannot go on without it.
    async fn make_room(&self) {
        let Some(limit) = self.limit() else { return };
        while self.processes.n_alive() >= limit.max(1) {
            let Some(spare) = self.spare() else {
                if !self.processes.end_of_another().await {
                    return;
                }
                continue;
            };
            self.processes.end(self.launcher, &spare).await;
        }
    }

    /// A process that nobody uses at this time. Its configuration is forgotten.
    fn spare(&self) -> Option<Arc<dyn Provider>> {
        if let Some(idle) = self.processes.unused_idle() {
            return Some(idle);
        }
        let mut configured = self.configured.borrow_mut();
        let is_spare = |entry: &Configured| entry.released && Rc::strong_count(&entry.handle) == 1;
        let addr = configured.iter().find(|(_, entry)| is_spare(entry)).map(|(addr, _)| addr)?;
        let addr = addr.clone();
        let entry = configured.remove(&addr)?;
        Some(entry.handle.provider())
    }

    /// What a provider offers; `None` before [`Pool::load`] succeeded for it.
    #[must_use]
    pub fn loaded(&self, addr: &ProviderAddr) -> Option<Rc<Loaded>> {
        self.loaded.borrow().get(addr).cloned()
    }

    /// A provider for what needs no configuration: validating, and functions. It is started if none
    /// runs; `None` before [`Pool::load`] succeeded for it.
    ///
    /// # Errors
    /// When it has to be started again and cannot be.
    pub async fn unconfigured(
        &self,
        diags: &mut Diagnostics,
        addr: &ProviderAddr,
    ) -> Result<Option<Handle>, Reported> {
        let Some(loaded) = self.loaded(addr) else { return Ok(None) };
        let provider = match self.processes.any(addr) {
            Some(provider) => provider,
            None => self.start_for_all(diags, addr).await?,
        };
        Ok(Some(Handle::new(loaded, Seat::new(provider, false), self.calls.clone())))
    }

    /// Starts an instance for everybody who asks for one without a configuration. Functions are called
    /// from many places at once: who comes later finds what the first has started, or why it could not.
    async fn start_for_all(
        &self,
        diags: &mut Diagnostics,
        addr: &ProviderAddr,
    ) -> Result<Arc<dyn Provider>, Reported> {
        let _turn = self.loading.acquire().await;
        if let Some(provider) = self.processes.any(addr) {
            return Ok(provider);
        }
        if let Some(problems) = self.unusable.borrow().get(addr) {
            diags.append(problems.clone())?;
        }
        match self.start_again(addr).await {
            Ok(provider) => {
                self.processes.set_idle(&provider);
                Ok(provider)
            }
            Err(failure) => {
                let mut problems = Diagnostics::new();
                let failed = problems.error(about_failure(addr, "start", None, &failure));
                self.unusable.borrow_mut().insert(addr.clone(), problems.clone());
                Err(diags.append(problems).err().unwrap_or(failed))
            }
        }
    }

    /// The provider configured under an address, if [`Pool::configure`] was done for it.
    #[must_use]
    pub fn configured(&self, addr: &ProviderConfigAddr) -> Option<Rc<Handle>> {
        self.configured.borrow().get(addr).map(|entry| entry.handle.clone())
    }

    /// The instance that has this configuration, if it is wholly known.
    fn configured_with(&self, addr: &ProviderConfigAddr, config: &Value) -> Option<Rc<Handle>> {
        let configured = self.configured.borrow();
        let entry = configured.get(addr).filter(|entry| entry.config == *config)?;
        config.is_wholly_known().then(|| entry.handle.clone())
    }

    /// Configures a provider. An instance that already has the very same, wholly known
    /// configuration is used again; a configuration that differs gets a process of its own, because
    /// providers accept only one in their life. So does one whose process has died since.
    ///
    /// # Errors
    /// When the provider does not accept the configuration or cannot be used.
    pub async fn configure(
        &self,
        diags: &mut Diagnostics,
        addr: &ProviderConfigAddr,
        config: Value,
        block: Option<formwork_value::Span>,
    ) -> Result<Rc<Handle>, Reported> {
        if let Some(handle) = self.configured_with(addr, &config)
            && handle.answers().await
        {
            if let Some(entry) = self.configured.borrow_mut().get_mut(addr) {
                entry.released = false;
            }
            return Ok(handle);
        }
        self.let_go(addr);
        let name = addr.to_string();
        let failed = |diags: &mut Diagnostics, call: &str, failure: &Failure| {
            diags.error(about_failure(&addr.provider, call, Some(&name), failure).at_opt(block))
        };
        let provider = match self.processes.take_idle(&addr.provider) {
            Some(provider) => provider,
            None => match self.start_again(&addr.provider).await {
                Ok(provider) => provider,
                Err(failure) => return Err(failed(diags, "start", &failure)),
            },
        };
        let Some(loaded) = self.loaded(&addr.provider) else {
            let missing = Failure::Misbehaved("its schema was never fetched".into());
            return Err(failed(diags, "GetProviderSchema", &missing));
        };
        let seat = Seat::new(provider, true);
        let handle = Rc::new(Handle::new(loaded, seat, self.calls.clone()));
        handle.configure(diags, &config, About { addr: &name, block }).await?;
        let entry = Configured { config, handle: handle.clone(), released: false };
        self.configured.borrow_mut().insert(addr.clone(), entry);
        Ok(handle)
    }

    /// A provider after a call to it brought no answer: the same if it lives, else a new instance with
    /// the same configuration.
    ///
    /// # Errors
    /// When it cannot be started or configured again.
    pub async fn revived(
        &self,
        diags: &mut Diagnostics,
        addr: &ProviderConfigAddr,
        before: &Rc<Handle>,
    ) -> Result<Rc<Handle>, Reported> {
        // Of several calls that died with it only the first starts it again.
        let _one = self.reviving.acquire().await;
        let configured = self.configured.borrow().get(addr).cloned();
        let Some(entry) = configured else { return Ok(before.clone()) };
        if !entry.handle.answers().await {
            self.seat_anew(diags, addr, &entry).await?;
        }
        Ok(Rc::new(entry.handle.spoken_to_as(before)))
    }

    /// Starts a further instance. Unless the provider says it can do without, it is asked for its
    /// schema again, because older ones prepare themselves in that call (protocol 5.4).
    async fn start_again(&self, addr: &ProviderAddr) -> Result<Arc<dyn Provider>, Failure> {
        let _underway = self.calls.begin(addr, "GetProviderSchema", None);
        let provider = self.start(addr).await?;
        let Some(loaded) = self.loaded(addr) else { return Ok(provider) };
        if !loaded.schema().capabilities.get_provider_schema_optional {
            let mut schema = self.stopping.unless(provider.schema()).await?;
            schema.diagnostics.clear();
            // What the first instance offers is what everything was checked against.
            if schema != *loaded.schema() {
                let problem = "the schema of this process is another one than that of the process before it, although the program is the same";
                return Err(Failure::Misbehaved(problem.to_owned()));
            }
        }
        Ok(provider)
    }

    /// The calls that have waited for an answer for so long at least, the longest first.
    #[must_use]
    pub fn waiting(&self, least: Duration) -> Vec<Waiting> {
        self.calls.waiting(least)
    }

    /// Forgets which configurations are in force, so that the next phase configures anew where the
    /// configuration held unknowns. It is the last phase: who is released in it is ended.
    pub fn next_phase(&self) {
        self.keeping.set(false);
        let configured = self.configured.borrow();
        let stale = configured.iter().filter(|(_, entry)| !entry.config.is_wholly_known());
        let stale: Vec<_> = stale.map(|(addr, _)| addr.clone()).collect();
        drop(configured);
        stale.iter().for_each(|addr| self.let_go(addr));
    }

    /// Takes note that the last user of a configuration is done. Its process ends, unless the next
    /// phase can go on with it; then it ends when there are too many.
    pub fn release(&self, addr: &ProviderConfigAddr) {
        if self.keeping.get()
            && let Some(entry) = self.configured.borrow_mut().get_mut(addr)
            && entry.config.is_wholly_known()
        {
            entry.released = true;
            return;
        }
        self.let_go(addr);
    }

    /// Forgets a configuration and has its process end.
    fn let_go(&self, addr: &ProviderConfigAddr) {
        if let Some(entry) = self.configured.borrow_mut().remove(addr) {
            self.processes.dismiss(&entry.handle.provider());
        }
    }

    /// Does something; meanwhile what is let go is ended, and what died is replaced.
    pub async fn tidying<T>(&self, work: impl Future<Output = T>) -> T {
        let (work, ending) = (pin!(work), pin!(self.processes.end_dismissed(self.launcher)));
        match select(work, select(ending, pin!(self.mend()))).await {
            Either::Left((done, _)) => done,
            Either::Right((Either::Left((never, _)) | Either::Right((never, _)), _)) => {
                match never {}
            }
        }
    }

    /// Asks every running provider to cut short what it is doing. Errors are of no consequence. Those
    /// that are still being started are given up after a while.
    pub async fn stop(&self) {
        self.stopping.begin();
        let running = self.processes.all();
        futures_util::future::join_all(running.iter().map(|provider| provider.stop())).await;
    }
}

/// Reports what makes a schema unusable. Everything later takes for granted that it makes sense.
fn unusable(
    diags: &mut Diagnostics,
    addr: &ProviderAddr,
    schema: &ProviderSchema,
) -> Result<(), Reported> {
    let kinds = [
        ("resource type", &schema.resources),
        ("data source", &schema.data_sources),
        ("ephemeral resource type", &schema.ephemeral_resources),
        ("list resource type", &schema.list_resources),
        ("action", &schema.actions),
    ];
    let named = kinds.iter().flat_map(|(kind, schemas)| {
        schemas.iter().map(move |(name, schema)| (format!("its {kind} {name}"), schema))
    });
    let meta = schema.provider_meta.iter();
    let meta = meta.map(|schema| ("what modules tell it about themselves".to_owned(), schema));
    let own = std::iter::once(("its own configuration".to_owned(), &schema.provider)).chain(meta);
    let mut result = Ok(());
    for (what, schema) in own.chain(named) {
        for problem in schema.validate() {
            let detail = format!(
                "Provider {addr} describes {what} in a way that makes no sense: {problem}.\n\nThis is a bug in the provider; please report it to its authors."
            );
            let problem = Diagnostic::error("Provider produced invalid schema", detail);
            result = Err(diags.error(problem.blame(Blame::Provider)));
        }
    }
    result
}
