//! A state store in memory, over the calls of the protocol.

use std::collections::BTreeMap;
use std::sync::Mutex;

use formwork_plugin_protocol::ProviderExt as _;
use formwork_plugin_protocol::message::state_store::{ConfigureStoreRequest, StateChunk, StateRef};
use formwork_plugin_protocol::state_chunks::split_into_chunks;
use formwork_value::{Str, Value};
use futures_util::StreamExt as _;

use super::*;
use crate::context::lock_ignoring_poison;
use crate::prelude::*;
use crate::testing::{StateStoreUnderTest, wait};

#[derive(Model)]
struct Shelf {
    /// Name of the shelf.
    #[attr(required)]
    name: String,
    /// Word in front of the ids of locks.
    #[attr(default = "lock")]
    word: String,
}

#[derive(Default)]
struct Shelves {
    states: Mutex<BTreeMap<String, Vec<u8>>>,
    locks: Mutex<BTreeMap<String, String>>,
}

impl StateStore for Shelves {
    type Model = Shelf;

    async fn configure(&self, call: ConfigureStore<Shelf>) -> Answer<()> {
        match call.config.name.as_str() {
            "broken" => Err(Problem::new("Shelf is broken", "Take another one.").at("name")),
            _ => Ok(()),
        }
    }

    async fn read(&self, call: ReadState<Shelf>) -> Answer<Option<Vec<u8>>> {
        Ok(lock_ignoring_poison(&self.states).get(&call.state).cloned())
    }

    async fn write(&self, call: WriteState<Shelf>) -> Answer<()> {
        if lock_ignoring_poison(&self.locks).get(&call.state) != Some(&call.lock_id) {
            return Err(Problem::from_detail("the lock was lost"));
        }
        assert_ne!(call.bytes, b"panic", "the test requests a panic");
        lock_ignoring_poison(&self.states).insert(call.state, call.bytes);
        Ok(())
    }

    async fn lock(&self, call: LockState<Shelf>) -> Answer<String> {
        let id = format!("{} for {}", call.config.word, call.operation);
        let mut locks = lock_ignoring_poison(&self.locks);
        match locks.get(&call.state) {
            Some(id) => Err(Problem::new("State is locked", format!("It has the ID {id}."))),
            None => {
                locks.insert(call.state.clone(), id.clone());
                Ok(id)
            }
        }
    }

    async fn unlock(&self, call: UnlockState<Shelf>) -> Answer<()> {
        let released = lock_ignoring_poison(&self.locks).remove(&call.state);
        released.map(drop).ok_or_else(|| Problem::from_detail("it is not locked"))
    }

    async fn list(&self, _: ListStates<Shelf>) -> Answer<Vec<String>> {
        Ok(lock_ignoring_poison(&self.states).keys().cloned().collect())
    }

    async fn delete(&self, call: DeleteState<Shelf>) -> Answer<()> {
        lock_ignoring_poison(&self.states).remove(&call.state);
        Ok(())
    }
}

fn provider() -> ProviderDef {
    ProviderDef::new("acme/shelf").state_store("shelf_store", Shelves::default())
}

fn states() -> StateStoreUnderTest {
    let config = [("name", Value::string("s"))];
    wait(StateStoreUnderTest::new(provider(), "shelf_store", config)).unwrap()
}

#[test]
fn a_state_is_locked_written_read_listed_and_deleted() {
    let states = states();
    wait(async {
        assert_eq!(states.read("a").await.unwrap(), None);
        let id = states.lock("a", "apply").await.unwrap();
        // The default of the model.
        assert_eq!(id, "lock for apply");
        let holder = states.lock("a", "plan").await.unwrap_err();
        assert_eq!(holder.0, "State is locked: It has the ID lock for apply.");
        states.write("a", b"content").await.unwrap();
        assert_eq!(states.read("a").await.unwrap().unwrap(), b"content");
        states.unlock("a", &id).await.unwrap();
        assert_eq!(states.list().await.unwrap(), ["a"]);
        states.delete("a").await.unwrap();
        assert!(states.list().await.unwrap().is_empty());
    });
}

#[test]
fn a_write_without_the_lock_of_this_process_is_refused() {
    let states = states();
    wait(async {
        let error = states.write("a", b"content").await.unwrap_err();
        assert!(error.0.starts_with("State not locked: "), "{error:?}");
        let id = states.lock("a", "apply").await.unwrap();
        // Another process could release it under the same id.
        states.unlock("a", &id).await.unwrap();
        assert!(states.write("a", b"content").await.is_err());
        assert_eq!(states.read("a").await.unwrap(), None);
    });
}

#[test]
fn problems_and_panics_are_responses() {
    let broken = wait(StateStoreUnderTest::new(
        provider(),
        "shelf_store",
        [("name", Value::string("broken"))],
    ));
    let Err(error) = broken else { panic!("it was configured") };
    assert_eq!(error.0, "Shelf is broken: Take another one.");
    let states = states();
    wait(async {
        states.lock("a", "apply").await.unwrap();
        let panicked = states.write("a", b"panic").await.unwrap_err();
        assert!(panicked.0.starts_with("Provider panicked: "), "{panicked:?}");
        let unlock_error = states.unlock("b", "x").await.unwrap_err();
        assert_eq!(unlock_error.0, "Unable to unlock the state in shelf_store: it is not locked");
    });
}

#[test]
fn an_incomplete_state_reaches_no_handler() {
    let server = Server::new(provider());
    let state = || StateRef { type_name: "shelf_store".into(), state_id: "a".into() };
    let config = Value::object(
        [("name", "s"), ("word", "w")].map(|(name, value)| (Str::new(name), Value::string(value))),
    );
    let shape = server.find_state_store("shelf_store").unwrap().shape();
    let config = decode_and_check::encode_value(shape, &config);
    wait(async {
        let unset = server.list_states("shelf_store".into()).await.unwrap();
        assert_eq!(unset.diagnostics[0].summary, "State store not configured");
        let type_name = "shelf_store".to_owned();
        let request = ConfigureStoreRequest { type_name, config, chunk_size: 4 };
        assert_eq!(server.configure_store(request).await.unwrap().chunk_size, 4);
        server.lock_state(state(), "apply".into()).await.unwrap();
        let all_chunks = split_into_chunks(&b"0123456789".to_vec().into(), 4);
        let error_for = async |chunks: Vec<StateChunk>| {
            server.write_state_bytes(state(), chunks).await.unwrap().diagnostics
        };
        for broken in [all_chunks[..2].to_vec(), vec![all_chunks[0].clone(), all_chunks[2].clone()]]
        {
            assert_eq!(error_for(broken).await[0].summary, "Incomplete state");
        }
        assert!(error_for(all_chunks).await.is_empty());
        let mut chunks = server.read_state_bytes(state()).await.unwrap();
        let mut sizes = Vec::new();
        while let Some(chunk) = chunks.next().await {
            sizes.push(chunk.unwrap().bytes.len());
        }
        assert_eq!(sizes, [4, 4, 2]);
    });
}

#[test]
fn a_lock_or_a_state_without_id_is_a_provider_bug() {
    struct Nameless;

    impl StateStore for Nameless {
        type Model = ();

        async fn read(&self, _: ReadState<()>) -> Answer<Option<Vec<u8>>> {
            Ok(None)
        }

        async fn write(&self, _: WriteState<()>) -> Answer<()> {
            Ok(())
        }

        async fn lock(&self, _: LockState<()>) -> Answer<String> {
            Ok(String::new())
        }

        async fn unlock(&self, _: UnlockState<()>) -> Answer<()> {
            Ok(())
        }

        async fn list(&self, _: ListStates<()>) -> Answer<Vec<String>> {
            Ok(vec!["a".to_owned(), String::new()])
        }

        async fn delete(&self, _: DeleteState<()>) -> Answer<()> {
            Ok(())
        }
    }

    let provider = ProviderDef::new("acme/shelf").state_store("shelf_nameless", Nameless);
    let states = wait(StateStoreUnderTest::new(provider, "shelf_nameless", [])).unwrap();
    let error = wait(states.lock("a", "apply")).unwrap_err();
    assert!(error.0.starts_with("Lock without ID: "), "{error:?}");
    assert!(error.0.contains("(rule lock-id)"), "{error:?}");
    let error = wait(states.list()).unwrap_err();
    assert!(error.0.starts_with("State without ID: "), "{error:?}");
    assert!(error.0.contains("(rule state-ids)"), "{error:?}");
}
