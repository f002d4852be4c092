//! Which providers run: each is launched when first needed, once per distinct configuration.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use async_trait::async_trait;
use formwork_plugin_protocol::message::schema::ProviderSchema;
use formwork_plugin_protocol::{Failure, Provider};
use formwork_value::diag::Blame;
use formwork_value::{Diagnostic, Diagnostics, Reported, Value};
use tokio::sync::Semaphore;

use super::blame::{about_failure, about_provider_diagnostics};
use super::builtin::Builtin;
use super::handle::{About, Handle};
use super::loaded::Loaded;
use crate::addr::{ProviderAddr, ProviderConfigAddr};

/// Starts provider processes. The command line implements it over installed packages, tests over
/// providers in this process.
#[async_trait(?Send)]
pub trait Launch {
    /// Starts one more instance of a provider.
    async fn launch(&self, provider: &ProviderAddr) -> Result<Arc<dyn Provider>, Failure>;
}

/// What a provider offers, and its first instance, which said so.
type First = (Rc<Loaded>, Arc<dyn Provider>);

/// The providers of one command.
///
/// Lives on one task; nothing here is locked, and no borrow is held across a wait.
pub struct Pool<'l> {
    launcher: &'l dyn Launch,
    /// The first instance of each.
    loaded: RefCell<BTreeMap<ProviderAddr, First>>,
    /// Instances that nobody has configured.
    idle: RefCell<BTreeMap<ProviderAddr, Arc<dyn Provider>>>,
    configured: RefCell<BTreeMap<ProviderConfigAddr, (Value, Rc<Handle>)>>,
    running: RefCell<Vec<Arc<dyn Provider>>>,
    /// Held while a provider is started again.
    reviving: Semaphore,
}

impl<'l> Pool<'l> {
    /// Makes an empty pool.
    #[must_use]
    pub fn new(launcher: &'l dyn Launch) -> Self {
        Self {
            launcher,
            loaded: RefCell::default(),
            idle: RefCell::default(),
            configured: RefCell::default(),
            running: RefCell::default(),
            reviving: Semaphore::new(1),
        }
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
        let missing: Vec<_> = providers
            .into_iter()
            .filter(|addr| !self.loaded.borrow().contains_key(addr))
            .collect::<std::collections::BTreeSet<_>>()
            .into_iter()
            .collect();
        let answers =
            futures_util::future::join_all(missing.iter().map(|addr| self.load_one(addr))).await;
        let mut result = Ok(());
        for problems in answers {
            if let Err(reported) = diags.append(problems) {
                result = Err(reported);
            }
        }
        result
    }

    async fn load_one(&self, addr: &ProviderAddr) -> Diagnostics {
        let mut diags = Diagnostics::new();
        if let Err(failure) = self.try_load(addr, &mut diags).await {
            let _: Reported = diags.error(about_failure(addr, "GetProviderSchema", None, &failure));
        }
        diags
    }

    async fn try_load(&self, addr: &ProviderAddr, diags: &mut Diagnostics) -> Result<(), Failure> {
        let provider = self.start(addr).await?;
        let mut schema = provider.schema().await?;
        let said = std::mem::take(&mut schema.diagnostics);
        if about_provider_diagnostics(diags, said, &format!("provider {addr}"), None).is_err() {
            return Ok(());
        }
        if unusable(diags, addr, &schema).is_err() {
            return Ok(());
        }
        // A provider made before protocol 5.9 has no identities.
        let identities = match provider.identity_schemas().await {
            Ok(identities) => identities,
            Err(Failure::Unimplemented(_)) => Default::default(),
            Err(failure) => return Err(failure),
        };
        let loaded = Loaded::new(addr.clone(), schema, identities);
        let loaded = (Rc::new(loaded), provider.clone());
        self.loaded.borrow_mut().insert(addr.clone(), loaded);
        self.idle.borrow_mut().insert(addr.clone(), provider);
        Ok(())
    }

    async fn start(&self, addr: &ProviderAddr) -> Result<Arc<dyn Provider>, Failure> {
        let provider = if addr.is_builtin() {
            Arc::new(Builtin::default())
        } else {
            self.launcher.launch(addr).await?
        };
        self.running.borrow_mut().push(provider.clone());
        Ok(provider)
    }

    /// What a provider offers; `None` before [`Pool::load`] succeeded for it.
    #[must_use]
    pub fn loaded(&self, addr: &ProviderAddr) -> Option<Rc<Loaded>> {
        self.loaded.borrow().get(addr).map(|(loaded, _)| loaded.clone())
    }

    /// A provider for what needs no configuration: validating, and functions.
    #[must_use]
    pub fn unconfigured(&self, addr: &ProviderAddr) -> Option<Rc<Handle>> {
        let loaded = self.loaded.borrow();
        let (loaded, provider) = loaded.get(addr)?;
        Some(Rc::new(Handle::new(loaded.clone(), provider.clone())))
    }

    /// The provider configured under an address, if [`Pool::configure`] was done for it.
    #[must_use]
    pub fn configured(&self, addr: &ProviderConfigAddr) -> Option<Rc<Handle>> {
        self.configured.borrow().get(addr).map(|(_, handle)| handle.clone())
    }

    /// Configures a provider. An instance that already has the very same, wholly known
    /// configuration is used again; a configuration that differs gets a process of its own, because
    /// providers accept only one in their life.
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
        if let Some((known, handle)) = self.configured.borrow().get(addr)
            && *known == config
            && known.is_wholly_known()
        {
            return Ok(handle.clone());
        }
        let name = addr.to_string();
        let failed = |diags: &mut Diagnostics, call: &str, failure: &Failure| {
            diags.error(about_failure(&addr.provider, call, Some(&name), failure).at_opt(block))
        };
        let idle = self.idle.borrow_mut().remove(&addr.provider);
        let provider = match idle {
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
        let handle = Rc::new(Handle::new(loaded, provider));
        handle.configure(diags, &config, About { addr: &name, block }).await?;
        self.configured.borrow_mut().insert(addr.clone(), (config, handle.clone()));
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
        let Some((config, handle)) = configured else { return Ok(before.clone()) };
        if !Rc::ptr_eq(&handle, before) || handle.answers().await {
            return Ok(handle);
        }
        let name = addr.to_string();
        let provider = self.start_again(&addr.provider).await.map_err(|failure| {
            diags.error(about_failure(&addr.provider, "start", Some(&name), &failure))
        })?;
        let handle = Rc::new(Handle::new(handle.loaded().clone(), provider));
        handle.configure(diags, &config, About { addr: &name, block: None }).await?;
        self.configured.borrow_mut().insert(addr.clone(), (config, handle.clone()));
        Ok(handle)
    }

    /// Starts a further instance. Unless the provider says it can do without, it is asked for its
    /// schema again, because older ones prepare themselves in that call (protocol 5.4).
    async fn start_again(&self, addr: &ProviderAddr) -> Result<Arc<dyn Provider>, Failure> {
        let provider = self.start(addr).await?;
        let optional =
            self.loaded(addr).is_some_and(|l| l.schema().capabilities.get_provider_schema_optional);
        if !optional {
            provider.schema().await?;
        }
        Ok(provider)
    }

    /// Forgets which configurations are in force, so that the next phase configures anew where the
    /// configuration held unknowns.
    pub fn next_phase(&self) {
        self.configured.borrow_mut().retain(|_, (config, _)| config.is_wholly_known());
    }

    /// Asks every running provider to cut short what it is doing. Errors are of no consequence.
    pub async fn stop(&self) {
        let running = self.running.borrow().clone();
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
    ];
    let named = kinds.iter().flat_map(|(kind, schemas)| {
        schemas.iter().map(move |(name, schema)| (format!("its {kind} {name}"), schema))
    });
    let own = std::iter::once(("its own configuration".to_owned(), &schema.provider));
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
