//! States in an in-process provider, and its faults.

use std::collections::BTreeMap;
use std::future::pending;
use std::time::Duration;

use formwork_core::state::file::StateFile;
use formwork_plugin_protocol::message::ProviderDiagnostic;
use formwork_plugin_protocol::message::configure::{
    ConfigureRequest, DiagnosticsResponse, ValidateRequest,
};
use formwork_plugin_protocol::message::state_store::{
    ConfigureStoreRequest, ConfigureStoreResponse, LockResponse, StateChunk, StateRef,
    StatesResponse,
};
use formwork_plugin_protocol::provider::StreamedResponse;
use formwork_plugin_protocol::state_chunks::split_into_chunks;
use formwork_plugin_protocol::{Failure, ProviderHandlers};
use formwork_value::diag::{Blame, Severity};
use formwork_value::schema::{Attribute, Role, Schema};
use formwork_value::{Diagnostics, Str, Type};
use futures_util::{StreamExt as _, stream};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::*;
use crate::arguments::BackendEnvironment;
use crate::lock::LockRequest;

/// The states and locks of a service, which several processes share.
#[derive(Default)]
struct FakeStateService {
    states: BTreeMap<String, Vec<u8>>,
    locks: BTreeMap<String, String>,
    /// The calls so far.
    calls: Vec<String>,
}

/// The fault in a response.
#[derive(Clone, Copy, Debug, PartialEq)]
enum AnswerFault {
    None,
    ChunkSize(i64),
    LostChunk,
    SwappedChunks,
    LongChunks,
    DiesWhileReading,
    DiesWhileWriting,
    HangsWhileReading,
    HangsBetweenChunks,
    HangsWhileWriting,
    NoLockId,
    ListsTwice,
    ListsNameless,
    ReportsSecret,
    Warns,
}

/// A provider process.
struct FakeProvider {
    service: Arc<Mutex<FakeStateService>>,
    fault: AnswerFault,
}

impl FakeProvider {
    fn service(&self) -> MutexGuard<'_, FakeStateService> {
        self.service.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, call: impl Into<String>) {
        self.service().calls.push(call.into());
    }
}

fn provider_diagnostics(severity: Severity, summary: &str) -> Vec<ProviderDiagnostic> {
    let (summary, detail) = (summary.to_owned(), "Really.".to_owned());
    vec![ProviderDiagnostic { severity, summary, detail, path: Default::default(), code: None }]
}

fn error_response(summary: &str) -> DiagnosticsResponse {
    DiagnosticsResponse { diagnostics: provider_diagnostics(Severity::Error, summary) }
}

fn schema_of(attributes: &[(&str, Attribute)]) -> Schema {
    let attributes =
        attributes.iter().map(|(name, attribute)| (Str::new(name), attribute.clone())).collect();
    Schema { version: 0, block: Block { attributes, ..Block::default() } }
}

fn connection_lost() -> Failure {
    let (exit, output) = (Some("signal 9".to_owned()), String::new());
    Failure::Lost { reason: "gone".to_owned(), exit, output }
}

impl ProviderHandlers for FakeProvider {
    async fn schema(&self) -> Result<ProviderSchema, Failure> {
        let token = Attribute { sensitive: true, ..Attribute::new(Type::String, Role::Optional) };
        let directory = Attribute::new(Type::String, Role::Required);
        let provided = schema_of(&[("provider", directory.clone())]);
        let state_stores = [
            ("acme_store".to_owned(), schema_of(&[("directory", directory)])),
            ("acme_hidden".to_owned(), provided),
        ];
        Ok(ProviderSchema {
            provider: schema_of(&[("token", token)]),
            state_stores: state_stores.into(),
            ..ProviderSchema::default()
        })
    }

    async fn validate_provider_config(
        &self,
        _: ValidateRequest,
    ) -> Result<DiagnosticsResponse, Failure> {
        self.note("validate provider");
        Ok(DiagnosticsResponse::default())
    }

    async fn configure(&self, _: ConfigureRequest) -> Result<DiagnosticsResponse, Failure> {
        self.note("configure provider");
        Ok(match self.fault {
            AnswerFault::ReportsSecret => error_response("the token hunter2hunter2 is wrong"),
            _ => DiagnosticsResponse::default(),
        })
    }

    async fn validate_store_config(
        &self,
        _: ValidateRequest,
    ) -> Result<DiagnosticsResponse, Failure> {
        self.note("validate store");
        Ok(DiagnosticsResponse::default())
    }

    async fn configure_store(
        &self,
        request: ConfigureStoreRequest,
    ) -> Result<ConfigureStoreResponse, Failure> {
        self.note(format!("configure store with {}", request.chunk_size));
        let chunk_size = match self.fault {
            AnswerFault::ChunkSize(size) => size,
            _ => 7,
        };
        Ok(ConfigureStoreResponse { chunk_size, diagnostics: Vec::new() })
    }

    async fn read_state_bytes(
        &self,
        state: StateRef,
    ) -> Result<StreamedResponse<StateChunk>, Failure> {
        self.note("read");
        if self.fault == AnswerFault::HangsWhileReading {
            return pending().await;
        }
        let text = self.service().states.get(&state.state_id).cloned().unwrap_or_default();
        let size = if self.fault == AnswerFault::LongChunks { 50 } else { 7 };
        let mut chunks: Vec<_> =
            split_into_chunks(&text.into(), size).into_iter().map(Ok).collect();
        match self.fault {
            AnswerFault::LostChunk => drop(chunks.pop()),
            AnswerFault::SwappedChunks => chunks.swap(0, 1),
            AnswerFault::DiesWhileReading => {
                chunks.truncate(1);
                chunks.push(Err(connection_lost()));
            }
            AnswerFault::Warns => {
                if let Some(Ok(first_chunk)) = chunks.first_mut() {
                    first_chunk.diagnostics =
                        provider_diagnostics(Severity::Warning, "Store is old");
                }
            }
            _ => {}
        }
        if self.fault == AnswerFault::HangsBetweenChunks {
            chunks.truncate(1);
            return Ok(stream::iter(chunks).chain(stream::pending()).boxed());
        }
        Ok(stream::iter(chunks).boxed())
    }

    async fn write_state_bytes(
        &self,
        state: StateRef,
        chunks: Vec<StateChunk>,
    ) -> Result<DiagnosticsResponse, Failure> {
        self.note("write");
        if self.fault == AnswerFault::HangsWhileWriting {
            return pending().await;
        }
        if self.fault == AnswerFault::DiesWhileWriting {
            return Err(connection_lost());
        }
        assert!(chunks.iter().all(|chunk| chunk.bytes.len() <= 7), "as agreed");
        let bytes = chunks.iter().flat_map(|chunk| chunk.bytes.to_vec()).collect();
        self.service().states.insert(state.state_id, bytes);
        Ok(DiagnosticsResponse::default())
    }

    async fn lock_state(
        &self,
        state: StateRef,
        operation: String,
    ) -> Result<LockResponse, Failure> {
        self.note(format!("lock for {operation}"));
        if self.fault == AnswerFault::NoLockId {
            return Ok(LockResponse::default());
        }
        let mut service = self.service();
        if let Some(holder) = service.locks.get(&state.state_id) {
            let diagnostics = error_response(&format!("{holder} holds the lock")).diagnostics;
            return Ok(LockResponse { lock_id: String::new(), diagnostics });
        }
        let lock_id = format!("lock-{}", service.calls.len());
        service.locks.insert(state.state_id, lock_id.clone());
        Ok(LockResponse { lock_id, diagnostics: Vec::new() })
    }

    async fn unlock_state(
        &self,
        state: StateRef,
        lock_id: String,
    ) -> Result<DiagnosticsResponse, Failure> {
        let mut service = self.service();
        if service.locks.get(&state.state_id) != Some(&lock_id) {
            return Ok(error_response("the lock has another ID"));
        }
        service.locks.remove(&state.state_id);
        Ok(DiagnosticsResponse::default())
    }

    async fn list_states(&self, _: String) -> Result<StatesResponse, Failure> {
        let mut state_ids: Vec<String> = self.service().states.keys().cloned().collect();
        match self.fault {
            AnswerFault::ListsTwice => state_ids.extend(["b".to_owned(), "b".to_owned()]),
            AnswerFault::ListsNameless => state_ids.push(String::new()),
            _ => {}
        }
        Ok(StatesResponse { state_ids, diagnostics: Vec::new() })
    }

    async fn delete_state(&self, state: StateRef) -> Result<DiagnosticsResponse, Failure> {
        self.service().states.remove(&state.state_id);
        Ok(DiagnosticsResponse::default())
    }
}

fn object_with(name: &str, value: &str) -> Value {
    Value::object([(Str::new(name), Value::string(value))])
}

async fn load_store_provider(
    service: &Arc<Mutex<FakeStateService>>,
    fault: AnswerFault,
) -> StoreProvider {
    let process = Arc::new(FakeProvider { service: service.clone(), fault });
    let addr = "acme/acme".parse().unwrap();
    let deadlines = "read=5s,apply=7s".parse().unwrap();
    StoreProvider::load(process, addr, Secrets::default(), deadlines).await.unwrap()
}

/// A backend with its own provider process.
async fn new_backend(
    service: &Arc<Mutex<FakeStateService>>,
    fault: AnswerFault,
    directory: &str,
) -> Arc<dyn Backend> {
    let provider = load_store_provider(service, fault).await;
    let config = object_with("token", "hunter2hunter2");
    let kind = provider.store_kind("acme_store", config).expect("there is one").unwrap();
    let environment = BackendEnvironment { root: "unused".into(), ..Default::default() };
    let values = object_with("directory", directory);
    kind.configure(&BackendArguments { values: &values, environment: &environment }).unwrap()
}

fn with_output(mut file: StateFile, text: &str) -> StateFile {
    file.check_results = Some(format!("[{text:?}]").into_bytes().into());
    file
}

#[tokio::test]
async fn a_state_is_written_in_chunks_of_the_agreed_size_and_read_again() {
    let service = Arc::default();
    let backend = new_backend(&service, AnswerFault::None, "f").await;
    let mut store = backend.open_store("default").await.unwrap();
    assert!(store.read().await.unwrap().is_none());
    let mut file = with_output(StateFile::new_empty(), "x");
    store.write(&mut file).await.unwrap();
    let loaded = backend.open_store("default").await.unwrap().read().await.unwrap().unwrap();
    assert_eq!((loaded.serial, loaded.lineage), (file.serial, file.lineage));
    // Provider before store, each once, no matter how many states are opened.
    let calls = service.lock().unwrap().calls.clone();
    let expected = [
        "validate provider",
        "configure provider",
        "validate store",
        "configure store with 8388608",
    ];
    assert_eq!(calls[..4], expected);
    assert_eq!(calls.iter().filter(|call| call.starts_with("configure")).count(), 2, "{calls:?}");
}

#[tokio::test(start_paused = true)]
async fn a_lock_of_another_process_is_waited_for_and_released_by_the_id_of_the_provider() {
    let service = Arc::default();
    let (first_backend, second_backend) = (
        new_backend(&service, AnswerFault::None, "f").await,
        new_backend(&service, AnswerFault::None, "f").await,
    );
    let mut held_store = first_backend.open_store("default").await.unwrap();
    let lock = held_store.try_lock("OperationTypeApply").await.unwrap();
    assert!(lock.id().starts_with("lock-"), "{lock:?}");
    let mut other_store = second_backend.open_store("default").await.unwrap();
    let request =
        |seconds| LockRequest { operation: "plan".into(), timeout: Duration::from_secs(seconds) };
    let error = other_store.lock(request(3)).await.unwrap_err();
    let text = error.diagnostic().detail;
    assert!(text.contains(&format!("{} holds the lock", lock.id())), "{text}");
    assert!(text.contains("force-unlock") && text.contains("-lock-timeout"), "{text}");
    let tries = service.lock().unwrap().calls.iter().filter(|call| call.ends_with("plan")).count();
    assert!(tries > 1, "{tries}");
    let id = lock.id().to_owned();
    assert!(other_store.force_unlock("other").await.is_err());
    other_store.force_unlock(&id).await.unwrap();
    let lock_again = other_store.lock(request(0)).await.unwrap();
    // The lock now belongs to the other process.
    assert!(held_store.unlock(lock).await.is_err());
    other_store.unlock(lock_again).await.unwrap();
}

#[tokio::test]
async fn a_state_that_another_program_changed_is_not_overwritten() {
    let service = Arc::default();
    let backend = new_backend(&service, AnswerFault::None, "f").await;
    let (mut a, mut b) = (
        backend.open_store("default").await.unwrap(),
        backend.open_store("default").await.unwrap(),
    );
    let mut file = with_output(StateFile::new_empty(), "1");
    a.write(&mut file).await.unwrap();
    b.read().await.unwrap();
    a.write(&mut with_output(file.clone(), "2")).await.unwrap();
    let error = b.write(&mut with_output(file, "3")).await.unwrap_err();
    assert!(matches!(error, StoreError::Changed { stored: 2, read: 1 }), "{error:?}");
}

#[tokio::test]
async fn workspaces_are_the_states_of_the_store() {
    let service = Arc::default();
    let backend = new_backend(&service, AnswerFault::None, "f").await;
    assert_eq!(backend.workspaces().await.unwrap(), ["default"]);
    backend.create_workspace("b").await.unwrap();
    backend.create_workspace("a").await.unwrap();
    assert_eq!(backend.workspaces().await.unwrap(), ["default", "a", "b"]);
    assert!(service.lock().unwrap().locks.is_empty());
    backend.delete_workspace("b").await.unwrap();
    assert_eq!(backend.workspaces().await.unwrap(), ["default", "a"]);
}

#[tokio::test]
async fn stores_with_different_arguments_have_different_locations() {
    let service = Arc::default();
    let (a, b) = (
        new_backend(&service, AnswerFault::None, "a").await,
        new_backend(&service, AnswerFault::None, "b"),
    );
    let (again, b) = (new_backend(&service, AnswerFault::None, "a").await, b.await);
    assert_eq!(a.identity("default"), again.identity("default"));
    assert_ne!(a.identity("default"), b.identity("default"));
    assert_ne!(a.identity("default"), a.identity("other"));
    assert_eq!(a.location("default"), "\"default\" in acme_store of provider acme/acme");
}

#[test]
fn the_location_of_a_store_does_not_depend_on_secrets_and_absent_arguments() {
    let secret_attribute =
        Attribute { sensitive: true, ..Attribute::new(Type::String, Role::Optional) };
    let plain_attribute = Attribute::new(Type::String, Role::Optional);
    let attributes =
        [("token".into(), secret_attribute), ("directory".into(), plain_attribute.clone())];
    let old_schema = Block { attributes: attributes.clone().into(), ..Block::default() };
    let new_schema = Block {
        attributes: attributes.into_iter().chain([("more".into(), plain_attribute)]).collect(),
        ..Block::default()
    };
    let location = |schema: &Block, values: &[(&str, Value)]| {
        let values = values.iter().map(|(name, value)| (*name, value.clone()));
        EncodedConfig::new(&Value::object(values), schema).unwrap().config_without_secrets()
    };
    let directory = |directory: &str| ("directory", Value::string(directory));
    let first_location = location(&old_schema, &[directory("a"), ("token", Value::string("1"))]);
    let absent = ("more", Value::null(Type::String));
    assert_eq!(
        location(&new_schema, &[directory("a"), ("token", Value::string("2")), absent]),
        first_location
    );
    assert_ne!(
        location(&old_schema, &[directory("b"), ("token", Value::string("1"))]),
        first_location
    );
}

#[tokio::test]
async fn every_broken_answer_is_an_error_that_blames_the_provider_and_changes_nothing() {
    let service = Arc::default();
    let sound = new_backend(&service, AnswerFault::None, "f").await;
    let mut file = with_output(StateFile::new_empty(), "x");
    sound.open_store("default").await.unwrap().write(&mut file).await.unwrap();
    let before = service.lock().unwrap().states.clone();
    for (fault, expected) in [
        (AnswerFault::ChunkSize(0), "ConfigureStateStore cannot be used: it sets the size"),
        (AnswerFault::ChunkSize(-1), "the size of chunks to -1 bytes"),
        (AnswerFault::ChunkSize(1 << 40), "from 1 to 134217728 are possible (rule chunk-size)"),
        (AnswerFault::LostChunk, "ReadStateBytes cannot be used: "),
        (AnswerFault::SwappedChunks, "has the range 7 to 13, but is at 0 to 6"),
        (
            AnswerFault::DiesWhileReading,
            "exited or disconnected during ReadStateBytes: its process ended: signal 9",
        ),
        (AnswerFault::DiesWhileWriting, "exited or disconnected during WriteStateBytes"),
        (AnswerFault::NoLockId, "LockState cannot be used: the lock has no ID"),
        (AnswerFault::ListsTwice, "GetStates cannot be used: it lists the state \"b\" twice"),
        (AnswerFault::ListsNameless, "it lists a state without an ID"),
    ] {
        let backend = new_backend(&service, fault, "f").await;
        let error = use_whole_backend(&*backend).await.unwrap_err();
        let message = error.diagnostic();
        assert!(message.detail.contains(expected), "{fault:?}: {}", message.detail);
        assert_eq!(message.blame, Blame::Provider, "{fault:?}");
        let is_bug = message.detail.contains("This is a bug in the provider");
        assert_eq!(is_bug, !format!("{fault:?}").starts_with("Dies"), "{fault:?}");
        assert_eq!(service.lock().unwrap().states, before, "{fault:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_without_effect_that_hangs_ends_at_the_deadline_of_its_kind() {
    let service = Arc::default();
    let sound = new_backend(&service, AnswerFault::None, "f").await;
    let mut file = with_output(StateFile::new_empty(), "x");
    sound.open_store("default").await.unwrap().write(&mut file).await.unwrap();
    for (fault, call, limit) in [
        (AnswerFault::HangsWhileReading, "ReadStateBytes", 5),
        (AnswerFault::HangsBetweenChunks, "ReadStateBytes", 5),
    ] {
        let backend = new_backend(&service, fault, "f").await;
        let using = tokio::time::timeout(Duration::from_secs(60), use_whole_backend(&*backend));
        let ended = using.await.unwrap_or_else(|_| panic!("{fault:?} does not end"));
        let message = ended.unwrap_err().diagnostic();
        let expected =
            [format!("has not answered {call}"), format!("its deadline of {limit} s has passed")];
        for expected_text in expected {
            assert!(message.detail.contains(&expected_text), "{fault:?}: {}", message.detail);
        }
        assert_eq!(message.blame, Blame::Provider, "{fault:?}");
    }
    // An abandoned write could take effect when another run holds the lock.
    let backend = new_backend(&service, AnswerFault::HangsWhileWriting, "f").await;
    let writing = tokio::time::timeout(Duration::from_secs(60), use_whole_backend(&*backend));
    assert!(writing.await.is_err(), "it ends");
}

/// Uses all functions of a backend, up to the first error.
async fn use_whole_backend(backend: &dyn Backend) -> Result<(), StoreError> {
    match backend.workspaces().await {
        Err(WorkspaceError::Store(error)) => return Err(error),
        Err(error) => panic!("{error}"),
        Ok(_) => {}
    }
    let mut store = backend.open_store("default").await?;
    let lock = store.try_lock("apply").await?;
    let read = store.read().await;
    let outcome = match read {
        Ok(file) => store.write(&mut with_output(file.expect("it was stored"), "y")).await,
        Err(error) => Err(error),
    };
    store.unlock(lock).await?;
    outcome.map(drop)
}

#[tokio::test]
async fn warnings_are_kept_and_secrets_are_masked() {
    let service = Arc::default();
    let sound = new_backend(&service, AnswerFault::None, "f").await;
    sound.open_store("default").await.unwrap().write(&mut StateFile::new_empty()).await.unwrap();
    for (fault, expected) in [
        (AnswerFault::Warns, "Store is old"),
        (AnswerFault::LongChunks, "Unexpected size of chunk received"),
    ] {
        let warned = new_backend(&service, fault, "f").await;
        let mut store = warned.open_store("default").await.unwrap();
        store.read().await.unwrap();
        store.read().await.unwrap();
        let warnings: Vec<String> =
            store.take_warnings().into_iter().map(|warning| warning.summary).collect();
        assert_eq!(warnings, [expected]);
    }
    let leaking_backend = new_backend(&service, AnswerFault::ReportsSecret, "f").await;
    let Err(error) = leaking_backend.open_store("default").await else {
        panic!("it was configured")
    };
    let mut diags = Diagnostics::new();
    let _ = diags.error(error.diagnostic());
    let text = format!("{diags:?}");
    assert!(text.contains("the token") && !text.contains("hunter2"), "{text}");
}

#[tokio::test]
async fn a_store_with_an_argument_that_the_language_hides_is_refused() {
    let provider = load_store_provider(&Arc::default(), AnswerFault::None).await;
    assert_eq!(provider.store_names().collect::<Vec<_>>(), ["acme_hidden", "acme_store"]);
    assert!(provider.store_kind("acme_other", object_with("token", "t")).is_none());
    let hidden =
        provider.store_kind("acme_hidden", object_with("token", "t")).expect("it is there");
    let Err(error) = hidden else { panic!("it was taken") };
    assert!(error.to_string().contains("argument or block named \"provider\""), "{error}");
}
