//! The calls of a state store. Each has the timeout of its kind. A response is checked before it is
//! used, and the provider is blamed for an invalid one.

use std::future::Future;
use std::sync::{Arc, Mutex as Table, PoisonError};

use bytes::Bytes;
use formwork_core::addr::ProviderAddr;
use formwork_core::provider::{CallDeadlines, CallKind, call_failure_diagnostic};
use formwork_core::version::LANGUAGE_VERSION;
use formwork_plugin_protocol::capability::ClientCapabilities;
use formwork_plugin_protocol::contract::{self, Violation};
use formwork_plugin_protocol::message::ProviderDiagnostic;
use formwork_plugin_protocol::message::configure::{ConfigureRequest, ValidateRequest};
use formwork_plugin_protocol::message::schema::ProviderSchema;
use formwork_plugin_protocol::message::state_store::{ConfigureStoreRequest, StateChunk, StateRef};
use formwork_plugin_protocol::provider::{StreamedResponse, TypedRequest};
use formwork_plugin_protocol::state_chunks::{
    MAX_CHUNK_SIZE, PROPOSED_CHUNK_SIZE, StateAssembly, split_into_chunks,
};
use formwork_plugin_protocol::{Failure, Method, Payload, Provider, Request};
use formwork_value::diag::{Blame, Severity};
use formwork_value::{Diagnostic, Secrets};
use futures_util::StreamExt as _;
use tokio::sync::Mutex;

use super::{EncodedConfig, StateStoreSetup};
use crate::messages;
use crate::provider_store_error::ProviderStoreError;

/// A configured state store.
#[derive(Clone)]
pub(super) struct StateStoreSession {
    type_name: String,
    digest: String,
    chunk_size: usize,
}

impl StateStoreSession {
    fn state_ref(&self, workspace: &str) -> StateRef {
        StateRef { type_name: self.type_name.clone(), state_id: workspace.to_owned() }
    }
}

/// The calls of one running provider.
pub(super) struct StoreCalls {
    provider: Arc<dyn Provider>,
    addr: ProviderAddr,
    secrets: Secrets,
    deadlines: CallDeadlines,
    /// The current configuration of the process. A process has one at a time.
    session: Mutex<Option<StateStoreSession>>,
    warnings: Table<Vec<Diagnostic>>,
}

impl StoreCalls {
    pub(super) fn new(
        provider: Arc<dyn Provider>,
        addr: ProviderAddr,
        secrets: Secrets,
        deadlines: CallDeadlines,
    ) -> Self {
        let (session, warnings) = (Mutex::new(None), Table::new(Vec::new()));
        Self { provider, addr, secrets, deadlines, session, warnings }
    }

    pub(super) fn addr(&self) -> &ProviderAddr {
        &self.addr
    }

    /// Takes the collected warnings of the provider.
    pub(super) fn take_warnings(&self) -> Vec<Diagnostic> {
        std::mem::take(&mut *self.warnings.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The error for a response that violates the protocol.
    pub(super) fn protocol_error(&self, call: &'static str, problem: String) -> ProviderStoreError {
        let (provider, problem) = (self.addr.display_string(), self.secrets.mask(problem));
        ProviderStoreError::Broken { provider, call, problem }
    }

    /// The error for a response that violates a rule of the contract.
    fn contract_error(&self, call: &'static str, broken: &Violation) -> ProviderStoreError {
        self.protocol_error(call, format!("{broken} (rule {})", broken.rule))
    }

    fn no_answer_error(&self, call: &'static str, failure: Failure) -> ProviderStoreError {
        let failure = failure.map_text(|text| self.secrets.mask(text));
        let Diagnostic { detail, blame, .. } =
            call_failure_diagnostic(&self.addr, call, None, &failure);
        // The text becomes the end of a sentence.
        let text = detail.trim_end_matches('.');
        let text = match text.strip_prefix("The ") {
            Some(rest) => format!("the {rest}"),
            None => text.to_owned(),
        };
        ProviderStoreError::NoAnswer { text, blame }
    }

    /// Makes a call, and returns its name with the response.
    async fn call<T>(
        &self,
        request: TypedRequest<T>,
    ) -> Result<(&'static str, T), ProviderStoreError> {
        let method = request.method();
        let answer = request.send_by(|request| self.provider.call(request));
        Ok((method.name(), self.wait_for_answer(method, answer).await?))
    }

    /// Waits for the response to a call. A call without side effects has the timeout of its kind.
    async fn wait_for_answer<T>(
        &self,
        method: Method,
        answer: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, ProviderStoreError> {
        let answer = match CallKind::of(method) {
            // An abandoned write may take effect later, when another run holds the lock.
            CallKind::Apply => answer.await,
            kind => self.deadlines.wait_for_answer(kind, answer).await,
        };
        answer.map_err(|failure| self.no_answer_error(method.name(), failure))
    }

    /// Collects warnings, and returns errors.
    fn keep_warnings_or_fail(
        &self,
        call: &'static str,
        diagnostics: Vec<ProviderDiagnostic>,
    ) -> Result<(), ProviderStoreError> {
        let mut errors = Vec::new();
        for ProviderDiagnostic { severity, summary, detail, .. } in diagnostics {
            let (summary, detail) = (self.secrets.mask(summary), self.secrets.mask(detail));
            match severity {
                Severity::Error if detail.is_empty() => errors.push(summary),
                Severity::Error => errors.push(format!("{summary}: {detail}")),
                Severity::Warning => {
                    let warning =
                        Diagnostic::foreign(severity, summary, detail).blamed_on(Blame::Provider);
                    self.add_warning(warning.about(self.addr.display_string()));
                }
            }
        }
        if errors.is_empty() {
            return Ok(());
        }
        let (provider, text) = (self.addr.display_string(), errors.join("\n\n"));
        let text = text.trim_end_matches('.').to_owned();
        Err(ProviderStoreError::Reported { provider, call, text })
    }

    fn add_warning(&self, warning: Diagnostic) {
        let mut warnings = self.warnings.lock().unwrap_or_else(PoisonError::into_inner);
        // A state is read several times in a run.
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }

    /// The schemas of the provider.
    pub(super) async fn fetch_provider_schema(&self) -> Result<ProviderSchema, ProviderStoreError> {
        let (call, mut schema) = self.call(Request::schema()).await?;
        self.keep_warnings_or_fail(call, std::mem::take(&mut schema.diagnostics))?;
        Ok(schema)
    }

    /// Configures the provider and the state store, unless they already are.
    pub(super) async fn configured_session(
        &self,
        setup: &StateStoreSetup,
    ) -> Result<StateStoreSession, ProviderStoreError> {
        // Held during the calls, because two callers must not configure one process concurrently.
        let mut current = self.session.lock().await;
        let digest = setup.identity_digest();
        if let Some(session) = &*current
            && session.type_name == setup.type_name
            && session.digest == digest
        {
            return Ok(session.clone());
        }
        // After a partly failed configuration, the old one is not in effect any more.
        *current = None;
        self.configure_provider(&setup.provider).await?;
        let chunk_size = self.configure_store(setup).await?;
        let session = StateStoreSession { type_name: setup.type_name.clone(), digest, chunk_size };
        *current = Some(session.clone());
        Ok(session)
    }

    /// Returns a configuration in its form for a call. Its sensitive values are recorded.
    fn encode_config(&self, configured: &EncodedConfig) -> Payload {
        let (plain, _) = configured.value.clone().split_marks();
        let paths = configured.schema.sensitive_paths(plain.value());
        self.secrets.add_values_at_paths(plain.value(), &paths);
        Payload::Value(plain, configured.schema.implied_type())
    }

    async fn configure_provider(&self, config: &EncodedConfig) -> Result<(), ProviderStoreError> {
        let (config, client) = (self.encode_config(config), client_capabilities());
        let type_name = String::new();
        let request = ValidateRequest { type_name, config: config.clone(), client };
        let (call, answer) = self.call(Request::validate_provider_config(request)).await?;
        self.keep_warnings_or_fail(call, answer.diagnostics)?;
        let terraform_version = LANGUAGE_VERSION.to_string();
        let request = ConfigureRequest { terraform_version, config, client };
        let (call, answer) = self.call(Request::configure(request)).await?;
        self.keep_warnings_or_fail(call, answer.diagnostics)
    }

    /// Configures the state store, and returns the chunk size.
    async fn configure_store(&self, setup: &StateStoreSetup) -> Result<usize, ProviderStoreError> {
        let (config, type_name) = (self.encode_config(&setup.store), setup.type_name.clone());
        let (sent_config, client) = (config.clone(), client_capabilities());
        let request = ValidateRequest { type_name: type_name.clone(), config: sent_config, client };
        let (call, answer) = self.call(Request::validate_store_config(request)).await?;
        self.keep_warnings_or_fail(call, answer.diagnostics)?;
        let request = ConfigureStoreRequest { type_name, config, chunk_size: PROPOSED_CHUNK_SIZE };
        let (call, answer) = self.call(Request::configure_store(request)).await?;
        self.keep_warnings_or_fail(call, answer.diagnostics)?;
        let size = answer.chunk_size;
        contract::check_chunk_size(size, MAX_CHUNK_SIZE)
            .map_err(|broken| self.contract_error(call, &broken))?;
        usize::try_from(size).map_err(|error| self.protocol_error(call, error.to_string()))
    }

    /// Reads a state. Returns an empty one if it does not exist.
    pub(super) async fn read_state(
        &self,
        session: &StateStoreSession,
        workspace: &str,
    ) -> Result<Vec<u8>, ProviderStoreError> {
        // The timeout of the call includes the last chunk.
        let request = Request::read_state_bytes(session.state_ref(workspace));
        let method = request.method();
        let receiving = self.receive_chunks(request);
        let assembly = self.wait_for_answer(method, receiving).await??;
        if assembly.longest_received_chunk_len() > session.chunk_size {
            let detail = format!(
                "The provider has sent a state in chunks of up to {} bytes, but the negotiated chunk size is {}. The state is complete. This is a bug in the provider; please report it to its authors.",
                assembly.longest_received_chunk_len(),
                session.chunk_size
            );
            let warning = Diagnostic::warning(messages::UNEXPECTED_CHUNK_SIZE, detail);
            self.add_warning(warning.blamed_on(Blame::Provider).about(self.addr.display_string()));
        }
        assembly.finish().map_err(|problem| self.protocol_error(method.name(), problem))
    }

    /// Receives the chunks of a state. The outer error is that of the connection.
    async fn receive_chunks(
        &self,
        request: TypedRequest<StreamedResponse<StateChunk>>,
    ) -> Result<Result<StateAssembly, ProviderStoreError>, Failure> {
        let call = request.method().name();
        let mut chunks = request.send_by(|request| self.provider.call(request)).await?;
        let mut assembly = StateAssembly::default();
        while let Some(chunk) = chunks.next().await {
            let mut chunk = chunk?;
            let diagnostics = std::mem::take(&mut chunk.diagnostics);
            if let Err(reported) = self.keep_warnings_or_fail(call, diagnostics) {
                return Ok(Err(reported));
            }
            if let Err(problem) = assembly.push(&chunk) {
                return Ok(Err(self.protocol_error(call, problem)));
            }
        }
        Ok(Ok(assembly))
    }

    /// Writes a state.
    pub(super) async fn write_state(
        &self,
        session: &StateStoreSession,
        workspace: &str,
        text: Bytes,
    ) -> Result<(), ProviderStoreError> {
        let chunks = split_into_chunks(&text, session.chunk_size);
        let request = Request::write_state_bytes(session.state_ref(workspace), chunks);
        let (call, answer) = self.call(request).await?;
        self.keep_warnings_or_fail(call, answer.diagnostics)
    }

    /// Locks a state, and returns the ID of the lock.
    pub(super) async fn lock_state(
        &self,
        session: &StateStoreSession,
        workspace: &str,
        operation: &str,
    ) -> Result<String, ProviderStoreError> {
        let state = session.state_ref(workspace);
        let (call, answer) = self.call(Request::lock_state(state, operation.to_owned())).await?;
        self.keep_warnings_or_fail(call, answer.diagnostics)?;
        contract::check_lock_id(&answer.lock_id)
            .map_err(|broken| self.contract_error(call, &broken))?;
        Ok(answer.lock_id)
    }

    /// Releases a lock.
    pub(super) async fn unlock_state(
        &self,
        session: &StateStoreSession,
        workspace: &str,
        id: &str,
    ) -> Result<(), ProviderStoreError> {
        let state = session.state_ref(workspace);
        let (call, answer) = self.call(Request::unlock_state(state, id.to_owned())).await?;
        self.keep_warnings_or_fail(call, answer.diagnostics)
    }

    /// Lists the states.
    pub(super) async fn list_states(
        &self,
        session: &StateStoreSession,
    ) -> Result<Vec<String>, ProviderStoreError> {
        let (call, answer) = self.call(Request::list_states(session.type_name.clone())).await?;
        self.keep_warnings_or_fail(call, answer.diagnostics)?;
        let mut names = answer.state_ids;
        names.sort();
        contract::check_state_ids(&names).map_err(|broken| self.contract_error(call, &broken))?;
        Ok(names)
    }

    /// Deletes a state.
    pub(super) async fn delete_state(
        &self,
        session: &StateStoreSession,
        workspace: &str,
    ) -> Result<(), ProviderStoreError> {
        let request = Request::delete_state(session.state_ref(workspace));
        let (call, answer) = self.call(request).await?;
        self.keep_warnings_or_fail(call, answer.diagnostics)
    }
}

/// The capabilities of the host, the same as for a plan. A state store defers nothing.
fn client_capabilities() -> ClientCapabilities {
    ClientCapabilities { write_only_attributes_allowed: true, ..ClientCapabilities::default() }
}
