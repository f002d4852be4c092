//! Schemas and capabilities of providers, which are each requested once. Warnings of a provider about
//! itself are kept until they are reported, because its first caller may not report diagnostics.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use formwork_plugin_protocol::message::schema::{IdentitySchemas, ProviderSchema};
use formwork_plugin_protocol::{Failure, Method, Provider, Request};
use formwork_value::diag::Blame;
use formwork_value::{Diagnostic, Diagnostics, Reported};
use futures_util::StreamExt as _;

use super::ProviderPool;
use super::stopping::StartPurpose;
use crate::addr::ProviderAddr;
use crate::messages;
use crate::provider::call_layers::{CallLayer as _, start_layers};
use crate::provider::loaded_provider::LoadedProvider;
use crate::provider::provider_diagnostics::{
    call_failure_diagnostic, report_provider_diagnostics, retried_call_warning,
};

impl ProviderPool<'_> {
    /// Starts a set of providers concurrently and requests their schemas.
    /// [`ProviderPool::report_warnings`] reports their warnings.
    ///
    /// # Errors
    /// Returns an error if a provider cannot be used. All unusable providers are reported.
    pub async fn load_providers(
        &self,
        diags: &mut Diagnostics,
        providers: impl IntoIterator<Item = ProviderAddr>,
    ) -> Result<(), Reported> {
        let wanted: BTreeSet<_> = providers.into_iter().collect();
        if wanted.iter().all(|addr| self.loaded.borrow().contains_key(addr)) {
            return Ok(());
        }
        // Functions are called concurrently, and one process is sufficient for all calls. The semaphore
        // is never closed, so a permit is always granted.
        let _turn = self.loading.acquire().await;
        // Another caller may have loaded some of them while this one waited for its turn.
        let is_loaded = |addr: &ProviderAddr| self.loaded.borrow().contains_key(addr);
        let missing: Vec<_> = wanted.into_iter().filter(|addr| !is_loaded(addr)).collect();
        let at_once = self.max_processes().unwrap_or(missing.len()).max(1);
        let loading = missing.into_iter().map(|addr| self.load_provider(addr));
        // Buffered in order, so that messages do not depend on which process starts fastest.
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

    /// Reports diagnostics about providers that do not belong to a step of the run: their warnings when
    /// they were loaded, and that a call had to be retried. Each is reported once.
    pub fn report_warnings(&self, diags: &mut Diagnostics) {
        self.calls
            .provider_warnings
            .take_warnings()
            .into_iter()
            .for_each(|remark| diags.warn(remark));
    }

    /// Returns the problem of a provider, if any.
    async fn load_provider(&self, addr: ProviderAddr) -> Diagnostics {
        if let Some(problems) = self.unusable.borrow().get(&addr) {
            return problems.clone();
        }
        if let Some((schema, identities)) = self.launcher.cached_schemas(&addr) {
            self.insert_loaded_provider(&addr, schema, identities);
            return Diagnostics::new();
        }
        let call = Method::GetProviderSchema.name();
        let mut load_diags = Diagnostics::new();
        let mut loaded = self.try_load_provider(&addr, &mut load_diags).await;
        if let Err(first) = &loaded
            && first.is_transient()
        {
            // The schema request is read-only, so it may be sent to another process, which repeats the
            // diagnostics of the first one.
            let warning = retried_call_warning(&addr, call, None, first);
            load_diags = Diagnostics::new();
            loaded = self.try_load_provider(&addr, &mut load_diags).await;
            if loaded.is_ok() {
                load_diags.warn(warning);
            }
        }
        if let Err(failure) = loaded {
            let _: Reported =
                load_diags.error(call_failure_diagnostic(&addr, call, None, &failure));
        }
        if load_diags.has_errors() {
            self.unusable.borrow_mut().insert(addr, load_diags.clone());
            return load_diags;
        }
        load_diags
            .into_iter()
            .for_each(|warning| self.calls.provider_warnings.add_warning(&addr, "", warning));
        Diagnostics::new()
    }

    async fn try_load_provider(
        &self,
        addr: &ProviderAddr,
        diags: &mut Diagnostics,
    ) -> Result<(), Failure> {
        let underway = self.calls.begin_call(addr, Method::GetProviderSchema, None);
        let provider = match self.start_provider(addr, StartPurpose::Work).await {
            Ok(provider) => provider,
            Err(failure) => return underway.end_call(Err(failure)),
        };
        let loaded = underway.end_call(self.load_schemas_from(addr, diags, &provider).await);
        match &loaded {
            Ok(()) => self.processes.set_idle(&provider),
            Err(_) => self.processes.dismiss_instance(&provider),
        }
        loaded
    }

    /// Requests the schemas of a provider. Problems that make it unusable are reported.
    async fn load_schemas_from(
        &self,
        addr: &ProviderAddr,
        diags: &mut Diagnostics,
        provider: &Arc<dyn Provider>,
    ) -> Result<(), Failure> {
        let provider_layers = start_layers(&self.calls, provider.clone());
        let schema = Request::schema().send_by(|request| provider_layers.call(request));
        let mut schema = self.stopping.run_unless_stopped(StartPurpose::Work, schema).await?;
        let diagnostics = std::mem::take(&mut schema.diagnostics);
        // The errors are in `diags`. If the failure was returned here, the caller would start the
        // provider again, which helps only if the process died.
        if report_provider_diagnostics(diags, diagnostics, &format!("provider {addr}"), None)
            .is_err()
        {
            return Ok(());
        }
        if report_unusable_schema(diags, addr, &schema).is_err() {
            return Ok(());
        }
        // A provider before protocol 5.9 has no identities.
        let identities =
            Request::identity_schemas().send_by(|request| provider_layers.call(request));
        let identities = self.stopping.run_unless_stopped(StartPurpose::Work, identities).await;
        let mut identities = match identities {
            Ok(identities) => identities,
            Err(Failure::Unimplemented(_)) => Default::default(),
            Err(failure) => return Err(failure),
        };
        let diagnostics = std::mem::take(&mut identities.diagnostics);
        if report_provider_diagnostics(diags, diagnostics, &format!("provider {addr}"), None)
            .is_err()
        {
            return Ok(());
        }
        // A warning would be missing where the provider is not called again.
        if diags.is_empty() {
            self.launcher.cache_schemas(addr, &schema, &identities);
        }
        self.insert_loaded_provider(addr, schema, identities);
        Ok(())
    }

    fn insert_loaded_provider(
        &self,
        addr: &ProviderAddr,
        schema: ProviderSchema,
        identities: IdentitySchemas,
    ) {
        let loaded = LoadedProvider::new(addr.clone(), schema, identities);
        self.loaded.borrow_mut().insert(addr.clone(), Rc::new(loaded));
    }
}

/// Reports the errors that make a schema unusable. All later code assumes that it is valid.
fn report_unusable_schema(
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
    let meta = meta.map(|schema| ("the metadata of modules".to_owned(), schema));
    let unnamed =
        std::iter::once(("its own configuration".to_owned(), &schema.provider)).chain(meta);
    let mut result = Ok(());
    for (schema_name, schema) in unnamed.chain(named) {
        for problem in schema.validate() {
            let detail = format!(
                "Provider {addr} returned an invalid schema for {schema_name}: {problem}.\n\nThis is a bug in the provider; please report it to its authors."
            );
            let problem = Diagnostic::error(messages::PROVIDER_PRODUCED_INVALID_SCHEMA, detail);
            result = Err(diags.error(problem.blamed_on(Blame::Provider)));
        }
    }
    result
}
