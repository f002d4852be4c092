//! Providers with state stores. They are started only for this purpose, separately for the block and for the
//! initialized backend, so that states can be migrated between them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use formwork_backend::kind::BackendKind as _;
use formwork_backend::provider_store::{ProviderStoreError, ProviderStoreKind, StoreProvider};
use formwork_core::addr::ProviderAddr;
use formwork_core::config::terraform_block::evaluate_constant_body;
use formwork_core::config::{StateBackendBlock as Block, StateStoreProviderBlock as ProviderBlock};
use formwork_core::provider::{ProviderLauncher as _, call_failure_diagnostic};
use formwork_core::version::VersionConstraints;
use formwork_operation::launcher::Launcher;
use formwork_value::diag::{Blame, Severity, Sources, to_sentence};
use formwork_value::{Diagnostic, Diagnostics, Reported, Str, Value};

use super::backend_record::InitializedBackend;
use super::config::{BackendConfig, StateStoreConfig, StoreOrigin};
use crate::install::lockfile::LockFile;
use crate::launcher::make_launcher;
use crate::messages;
use crate::redact;
use crate::workspace::Workspace;

/// The purpose of a provider process. A process has only one configuration at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StoreProviderUse {
    /// The state store of the block in the configuration.
    Block,
    /// The initialized state store.
    Initialized,
}

/// A provider that was started as a state store. It is stopped when the launcher is dropped.
struct StartedProvider {
    addr: ProviderAddr,
    role: StoreProviderUse,
    running: RunningProvider,
    _launcher: Launcher,
}

/// The providers that were started as state stores.
#[derive(Default)]
pub(crate) struct StartedStores(RefCell<Vec<StartedProvider>>);

/// The provider of a state store.
struct WantedProvider<'a> {
    addr: &'a ProviderAddr,
    role: StoreProviderUse,
}

/// A running provider of a state store, and the source of its program.
#[derive(Clone)]
struct RunningProvider {
    provider: Arc<StoreProvider>,
    version: Option<String>,
    supply: &'static str,
}

impl Workspace<'_> {
    /// Reads a `state_store` block, with the schemas of its provider.
    ///
    /// # Errors
    /// The provider cannot be started, has no such state store, or an argument is not valid.
    pub(super) async fn read_state_store_block(
        &self,
        diags: &mut Diagnostics,
        block: &Block,
        provider: &ProviderBlock,
    ) -> Result<BackendConfig, Reported> {
        let wanted_provider =
            WantedProvider { addr: &provider.source, role: StoreProviderUse::Block };
        let running = self.running_provider(diags, &wanted_provider).await?;
        let config =
            evaluate_constant_body(diags, &provider.body, running.provider.config_schema());
        let kind = state_store_kind(diags, &running, &block.kind, config?)?;
        let values = block.evaluate_arguments(diags, &kind.schema())?;
        let RunningProvider { version, supply, .. } = running;
        let origin = StoreOrigin { name: provider.name.clone(), version, supply };
        Ok(BackendConfig::of_provider(StateStoreConfig { kind, origin }, values, Some(block.span)))
    }

    /// Returns the initialized state store with its arguments.
    ///
    /// # Errors
    /// The provider cannot be started, or no longer supports the state store.
    pub(super) async fn initialized_store(
        &self,
        diags: &mut Diagnostics,
        old: &InitializedBackend,
        source: &str,
    ) -> Result<BackendConfig, Reported> {
        let outdated = |diags: &mut Diagnostics| {
            let detail = format!(
                "The {} was initialized with arguments that the current version of the provider does not support. Use the version of the provider that it was initialized with. Nothing was changed.",
                old.describe()
            );
            diags.error(Diagnostic::error(messages::STATE_STORE_UNUSABLE, detail))
        };
        let Ok(addr) = source.parse::<ProviderAddr>() else { return Err(outdated(diags)) };
        let wanted_provider = WantedProvider { addr: &addr, role: StoreProviderUse::Initialized };
        let running = self.running_provider(diags, &wanted_provider).await?;
        // The provider is configured with the recorded configuration.
        let empty_object = Value::object(std::iter::empty::<(Str, Value)>());
        let kind = state_store_kind(diags, &running, &old.kind, empty_object)?;
        let RunningProvider { version, supply, .. } = running;
        let origin = StoreOrigin { name: addr.provider_type().into(), version, supply };
        old.state_store_config(&StateStoreConfig { kind, origin }).ok_or_else(|| outdated(diags))
    }

    /// Returns the running provider for a purpose. It is started at most once for each purpose.
    async fn running_provider(
        &self,
        diags: &mut Diagnostics,
        wanted_provider: &WantedProvider<'_>,
    ) -> Result<RunningProvider, Reported> {
        let WantedProvider { addr, role } = *wanted_provider;
        let is_it = |it: &&StartedProvider| it.role == role && it.addr == *addr;
        let running_store =
            self.started_stores.0.borrow().iter().find(is_it).map(|it| it.running.clone());
        if let Some(running) = running_store {
            return Ok(running);
        }
        let started = self.start_provider(diags, wanted_provider).await?;
        let running = started.running.clone();
        self.started_stores.0.borrow_mut().push(started);
        Ok(running)
    }

    async fn start_provider(
        &self,
        diags: &mut Diagnostics,
        wanted_provider: &WantedProvider<'_>,
    ) -> Result<StartedProvider, Reported> {
        let WantedProvider { addr, role } = *wanted_provider;
        let locks = self.read_locks_for_store(diags)?;
        let provider_dirs = self.provider_dirs(&[]);
        let needed = BTreeMap::from([(addr.clone(), VersionConstraints::default())]);
        if !provider_dirs.needs_no_lock(addr) && !locks.providers.contains_key(addr) {
            return Err(diags.error(not_installed_error(addr)));
        }
        let programs = provider_dirs.find_programs(diags, &needed, &locks)?;
        let supply = if self.reattached.contains_key(addr) {
            "reattached"
        } else if provider_dirs.development_dir(addr).is_some() {
            "dev_override"
        } else {
            "managed_by_terraform"
        };
        let lock = locks.providers.get(addr).filter(|_| supply == "managed_by_terraform");
        let version = lock.map(|lock| lock.version.to_string());
        let launcher =
            make_launcher(self.env, self.remote_state_reader(), programs, &self.reattached);
        let plugin = launcher.launch_provider(addr).await.map_err(|failure| {
            diags.error(call_failure_diagnostic(addr, "GetProviderSchema", None, &failure))
        })?;
        let (secrets, deadlines) = (redact::sensitive_values(), launcher.call_deadlines());
        let loaded = StoreProvider::load(plugin, addr.clone(), secrets, deadlines).await;
        let provider = Arc::new(loaded.map_err(|error| diags.error(store_error(&error)))?);
        let running = RunningProvider { provider, version, supply };
        Ok(StartedProvider { addr: addr.clone(), role, running, _launcher: launcher })
    }

    /// Reads the lock file. Commands that also use other providers report errors in it with their source
    /// positions.
    fn read_locks_for_store(&self, diags: &mut Diagnostics) -> Result<LockFile, Reported> {
        let (mut ignored, mut sources) = (Diagnostics::new(), Sources::new());
        LockFile::load(&mut ignored, &mut sources, &self.root).map_err(|_| {
            let is_error = |diagnostic: &Diagnostic| diagnostic.severity == Severity::Error;
            let first = ignored.into_iter().find(is_error);
            let first = first.expect("an unreadable lock file is reported");
            diags.error(Diagnostic { subject: None, context: None, ..first })
        })
    }
}

/// Returns a state store of a provider as a backend type.
fn state_store_kind(
    diags: &mut Diagnostics,
    running: &RunningProvider,
    name: &str,
    config: Value,
) -> Result<Arc<ProviderStoreKind>, Reported> {
    let provider = &running.provider;
    match provider.store_kind(name, config) {
        Some(Ok(kind)) => Ok(Arc::new(kind)),
        Some(Err(error)) => Err(diags.error(store_error(&error))),
        None => {
            let names: Vec<String> =
                provider.store_names().map(|name| format!("{name:?}")).collect();
            let known_kind = match names.as_slice() {
                [] => "The provider has no state stores.".to_owned(),
                names => format!("Its state stores are {}.", names.join(", ")),
            };
            let detail = format!(
                "State store {name:?} is not implemented by provider {}. {known_kind}",
                provider.addr().display_string()
            );
            Err(diags.error(Diagnostic::error(messages::STATE_STORE_NOT_IMPLEMENTED, detail)))
        }
    }
}

fn store_error(error: &ProviderStoreError) -> Diagnostic {
    let next = error.remedy().map(|next| format!("\n\n{next}")).unwrap_or_default();
    let detail = format!("{}{next}", to_sentence(error));
    Diagnostic::error(messages::STATE_STORE_UNUSABLE, detail).blamed_on(error.blame())
}

fn not_installed_error(addr: &ProviderAddr) -> Diagnostic {
    let detail = format!(
        "The state is in a state store of provider {addr}, but the lock file selects no version of it. If the configuration no longer requires the provider, add it to required_providers until the state is migrated.\n\nTo install it, run:\n  formwork init"
    );
    Diagnostic::error(messages::STATE_STORE_PROVIDER_NOT_INSTALLED, detail)
        .blamed_on(Blame::Environment)
}
