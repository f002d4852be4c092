//! Tests of a recorded lifecycle and its replay.

use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use expect_test::expect;
use formwork_plugin_protocol::capability::ClientCapabilities;
use formwork_plugin_protocol::client::GrpcProvider;
use formwork_plugin_protocol::handshake::Protocol;
use formwork_plugin_protocol::message::action::ActionRequest;
use formwork_plugin_protocol::message::list::ListRequest;
use formwork_plugin_protocol::server::in_process_transport;
use formwork_plugin_protocol::transcript::Recorder;
use formwork_plugin_protocol::{Payload, Provider, ProviderExt as _};
use formwork_sdk::prelude::*;
use formwork_sdk::value::Value;
use futures_util::StreamExt as _;

use crate::{CrashFault, Recording, TestEngine};

/// A door.
#[derive(Clone, Model)]
struct Door {
    #[attr(required, replace)]
    house: String,
    #[attr(required, sensitive)]
    code: String,
    #[attr(computed)]
    note: String,
    #[attr(computed, sensitive, keep)]
    key: String,
    #[attr(computed, keep)]
    id: String,
}

struct Doors {
    created_names: Mutex<Vec<String>>,
    // False in a replay, where a call of the provider is the error to find.
    succeeds: bool,
}

impl Doors {
    fn answer(&self, planned: &DoorInput, id: String) -> DoorComputed {
        assert!(self.succeeds, "a replay calls no provider");
        // A secret inside another string must be hidden too.
        let note = format!("say {} at the door", planned.code);
        DoorComputed { note, key: format!("made-up-key-{id}"), id }
    }
}

impl Resource for Doors {
    type Model = Door;

    async fn create(&self, call: Create<Door>) -> Answer<DoorComputed> {
        let mut created_names = self.created_names.lock().unwrap();
        created_names.push(call.planned.house.clone());
        Ok(self.answer(&call.planned, created_names.len().to_string()))
    }

    async fn update(&self, call: Update<Door>) -> Answer<DoorComputed> {
        Ok(self.answer(&call.planned, call.prior.id))
    }
}

fn test_engine(succeeds: bool) -> TestEngine {
    TestEngine::new(move || {
        let provider_of_doors = Doors { created_names: Mutex::default(), succeeds };
        ProviderDef::new("registry.terraform.io/acme/doors")
            .resource("doors_door", provider_of_doors)
    })
}

fn config(house: &str, code: &str) -> String {
    format!("resource \"doors_door\" \"a\" {{\n  house = \"{house}\"\n  code  = \"{code}\"\n}}\n")
}

/// Runs lifecycles with two codes; returns the plans.
fn live(engine: &mut TestEngine, [first, second]: [&str; 2]) -> Vec<String> {
    let created = engine.apply(&config("red", first));
    created.expect_applied();
    engine.plan(&config("red", first)).expect_no_changes();
    let changed = engine.apply(&config("red", second));
    changed.expect_applied();
    assert!(engine.attribute("doors_door.a", "note").contains(second));
    engine.destroy(&config("red", second)).expect_applied();
    vec![created.plan_text(), changed.plan_text()]
}

fn recorded() -> (Vec<String>, String) {
    let recording = Recording::new();
    let mut engine = test_engine(true);
    engine.record(&recording);
    (live(&mut engine, ["open sesame", "swordfish"]), recording.text())
}

#[test]
fn a_record_can_be_parsed_and_contains_no_secret() {
    let (_, text) = recorded();
    for secret in ["sesame", "swordfish", "made-up"] {
        assert!(!text.contains(secret), "{secret}: {text}");
    }
    let first: Vec<&str> = text.lines().filter(|line| line.contains("apply")).take(1).collect();
    expect![[r#"{"call":"apply","of":"doors_door","request":{"config":{"code":"«secret 1»","house":"red"},"planned":{"code":"«secret 1»","house":"red","id":{"$unknown":true},"key":{"$unknown":true},"note":{"$unknown":true}}},"answer":{"state":{"code":"«secret 1»","house":"red","id":"1","key":"«secret 2»","note":"say «secret 1» at the door"}}}"#]].assert_eq(&first.join("\n"));
    // A record is stored with the tests: it must not change with each run.
    assert_eq!(text, recorded().1, "another recording is the same");
}

#[test]
fn a_life_cycle_is_replayed_without_the_provider_and_with_other_secrets() {
    let (plans, text) = recorded();
    // With other codes, the tokens of the record take the values of this run.
    for codes in [["open sesame", "swordfish"], ["another", "and yet another"]] {
        let recording = Recording::from_text(&text).unwrap();
        let mut engine = test_engine(false);
        engine.replay(&recording);
        // `note` is not sensitive, so that the second plan shows the first code inside it.
        let expected = plans.iter().map(|plan| plan.replace("open sesame", codes[0]));
        assert_eq!(live(&mut engine, codes), expected.collect::<Vec<_>>());
        assert_eq!(recording.unused_calls(), Vec::<String>::new());
    }
}

#[test]
fn an_unrecorded_call_is_reported_with_the_recorded_one() {
    let (_, text) = recorded();
    let replaying = |text: &str| {
        let recording = Recording::from_text(text).unwrap();
        let mut engine = test_engine(false);
        engine.replay(&recording);
        engine
    };
    replaying(&text).apply(&config("blue", "open sesame")).expect_error(
        "validate_resource_config of doors_door came, but not as the validate_resource_config of \
         doors_door that was recorded: config.house was \"red\" and is \"blue\"",
    );
    // Without the validation and the plan, the first call of the host meets an `apply`.
    let rest: String =
        text.split_inclusive('\n').filter(|line| line.contains("\"apply\"")).collect();
    replaying(&rest)
        .plan(&config("red", "open sesame"))
        .expect_error("came instead of apply of doors_door");
    replaying("").plan(&config("red", "x")).expect_error("came after everything that was recorded");
    let refusal = Recording::from_text("{}\n").err().unwrap().to_string();
    assert_eq!(refusal, "line 1: `call` is no text");
}

#[test]
fn injected_faults_are_not_recorded_and_can_be_injected_again() {
    let config = config("red", "open sesame");
    let live = |engine: &mut TestEngine, index: usize, fault: CrashFault| {
        engine.inject_fault(index, fault);
        let first = engine.apply(&config).has_applied_without_error();
        let calls = engine.end_fault_and_take_calls();
        (first, calls, engine.apply(&config).has_applied_without_error())
    };
    for fault in CrashFault::ALL {
        for index in 0..4 {
            let (recording, mut engine) = (Recording::new(), test_engine(true));
            engine.record(&recording);
            let recorded = live(&mut engine, index, fault);
            let text = recording.text();
            assert!(!text.contains("\"failure\""), "{fault:?} of call {index}: {text}");
            let reread = Recording::from_text(&text).unwrap();
            let mut engine = test_engine(false);
            engine.replay(&reread);
            assert_eq!(live(&mut engine, index, fault), recorded, "{fault:?} of call {index}");
            assert_eq!(reread.unused_calls(), Vec::<String>::new());
        }
    }
}

/// A safe, with secrets that are not strings.
#[derive(Clone, Model)]
struct Safe {
    #[attr(required, sensitive)]
    pin: u32,
    #[attr(required, sensitive)]
    is_bugged: bool,
    #[attr(computed)]
    note: String,
    #[attr(computed, sensitive, keep)]
    turns: Option<Vec<i64>>,
    #[attr(computed, keep, identity)]
    id: String,
}

struct Safes {
    succeeds: bool,
}

impl Resource for Safes {
    type Model = Safe;

    async fn create(&self, call: Create<Safe>) -> Answer<SafeComputed> {
        assert!(self.succeeds, "a replay calls no provider");
        let note = format!("dial {}", call.planned.pin);
        Ok(SafeComputed { note, turns: Some(vec![31, 5512]), id: "s".to_owned() })
    }
}

impl List for Safes {
    type Model = ();
    type Object = Safe;

    async fn list(&self, call: Search<(), Safe>) -> Answer<()> {
        assert!(self.succeeds, "a replay calls no provider");
        let object = SafeDraft { id: "s".into(), pin: 4711.into(), ..SafeDraft::default() };
        call.send_object("the safe", object).await;
        Ok(())
    }
}

impl Action for Safes {
    type Model = Turn;

    async fn invoke(&self, call: Invoke<Turn>) -> Answer<()> {
        assert!(self.succeeds, "a replay calls no provider");
        call.progress.send(format!("turning by {}", call.config.by));
        // The record must have the progress and the error.
        Err(Problem::new("It is stuck", ""))
    }
}

/// The kind of turn.
#[derive(Model)]
struct Turn {
    #[attr(required)]
    by: i64,
}

fn safes(succeeds: bool) -> ProviderDef {
    ProviderDef::new("registry.terraform.io/acme/doors")
        .resource("doors_safe", Safes { succeeds })
        .list("doors_safe", Safes { succeeds })
        .action("doors_turn", Safes { succeeds })
}

#[test]
fn secrets_of_other_types_are_hidden_and_restored() {
    let config = |pin: u32| {
        format!("resource \"doors_safe\" \"a\" {{\n  pin = {pin}\n  is_bugged = true\n}}\n")
    };
    let recording = Recording::new();
    let mut engine = TestEngine::new(|| safes(true));
    engine.record(&recording);
    engine.run_lifecycle(&config(4711));
    let text = recording.text();
    // `turns` is a list, and each number in it is a secret by itself.
    for secret in ["4711", "5512", "31", "\"is_bugged\":true"] {
        assert!(!text.contains(secret), "{secret}: {text}");
    }
    for pin in [4711, 815] {
        let recording = Recording::from_text(&text).unwrap();
        let mut engine = TestEngine::new(|| safes(false));
        engine.replay(&recording);
        engine.apply(&config(pin)).expect_applied();
        assert_eq!(engine.attribute("doors_safe.a", "note"), format!("dial {pin}"));
        engine.plan(&config(pin)).expect_no_changes();
        engine.destroy(&config(pin)).expect_applied();
        assert_eq!(recording.unused_calls(), Vec::<String>::new());
    }
}

/// Lists the safes and turns one; returns the events of both.
async fn streamed_results(provider: &dyn Provider) -> (String, String) {
    let value = |value: Value| {
        let ty = value.ty();
        Payload::Value(value.split_marks().0, ty)
    };
    let list = ListRequest {
        type_name: "doors_safe".to_owned(),
        config: value(Value::object(std::iter::empty::<(&str, Value)>())),
        include_object: true,
        limit: 10,
    };
    let turn = ActionRequest {
        type_name: "doors_turn".to_owned(),
        config: value(Value::object([("by", Value::int(3))])),
        client: ClientCapabilities::default(),
    };
    let listed: Vec<_> = provider.list(list).await.unwrap().collect().await;
    let action_events: Vec<_> = provider.invoke_action(turn).await.unwrap().collect().await;
    (format!("{listed:?}"), format!("{action_events:?}"))
}

#[tokio::test]
async fn a_transcript_is_converted_to_a_record() {
    let recorder = Recorder::new(SystemTime::UNIX_EPOCH);
    let transport = in_process_transport(Arc::new(safes(true).into_provider()));
    let provider = GrpcProvider::over_transport(recorder.wrap_transport(transport), Protocol::V6);
    streamed_results(&provider).await;
    // Without a schema, the pin would be written.
    let refusal = Recording::from_transcript(&recorder.transcript()).await.err().unwrap();
    assert!(refusal.to_string().contains("has returned the schema"), "{refusal}");
    provider.schema().await.unwrap();
    provider.identity_schemas().await.unwrap();
    let recording = Recording::from_transcript(&recorder.transcript()).await.unwrap();
    let text = recording.text();
    assert!(!text.contains("4711"), "{text}");

    let outer_recording = Recording::new();
    streamed_results(&*outer_recording.recording_provider(Arc::new(safes(true).into_provider())))
        .await;
    assert_eq!(text, outer_recording.text());
}

#[tokio::test]
async fn streamed_responses_are_recorded_and_replayed() {
    let recording = Recording::new();
    let first =
        streamed_results(&*recording.recording_provider(Arc::new(safes(true).into_provider())))
            .await;
    assert!(first.1.contains("turning by 3") && first.1.contains("It is stuck"), "{first:?}");
    let text = recording.text();
    assert!(!text.contains("4711"), "{text}");
    let reread = Recording::from_text(&text).unwrap();
    let second =
        streamed_results(&*reread.replaying_provider(Arc::new(safes(false).into_provider()))).await;
    assert_eq!(second.1, first.1);
    // No request of the replay has the pin, so that its token has no value to take.
    assert!(second.0.contains("the safe") && !second.0.contains("4711"), "{second:?}");
    assert_eq!(reread.unused_calls(), Vec::<String>::new());
}

/// A vault, with objects whose names are secrets too.
#[derive(Clone, Model)]
struct Vault {
    #[attr(required, sensitive)]
    password: String,
    /// In a set with a sensitive part everything is sensitive.
    #[attr(optional)]
    things: Option<Set<Treasure>>,
    #[attr(computed, keep)]
    id: String,
}

#[derive(Clone, Debug, Nested)]
struct Treasure {
    #[attr(required)]
    what: String,
    #[attr(optional, sensitive)]
    hush: Option<String>,
    #[attr(default = 7_777)]
    level: i64,
}

struct Vaults;

impl Resource for Vaults {
    type Model = Vault;

    async fn create(&self, _: Create<Vault>) -> Answer<VaultComputed> {
        Ok(VaultComputed { id: "config".to_owned() })
    }
}

#[test]
fn names_are_not_hidden_and_nested_secrets_of_stored_objects_are() {
    let test_engine = || {
        TestEngine::new(|| {
            ProviderDef::new("registry.terraform.io/acme/vaults").resource("vaults_vault", Vaults)
        })
    };
    let live = |engine: &mut TestEngine, secret: &str| {
        let things = "[{ what = \"ring\" }, { what = \"gold\", hush = \"pst\" }]";
        let config = format!(
            "resource \"vaults_vault\" \"a\" {{\n  password = \"{secret}\"\n  things   = {things}\n}}\n"
        );
        engine.apply(&config).expect_applied();
        engine.plan(&config).expect_no_changes();
        engine.destroy(&config).expect_applied();
    };
    // Words that a record has as names too, where they must stay.
    for secret in ["password", "word", "config", "what"] {
        let (recording, mut recorded) = (Recording::new(), test_engine());
        recorded.record(&recording);
        live(&mut recorded, secret);
        let text = recording.text();
        // One sensitive attribute makes the whole set sensitive, as its elements have no place of
        // their own: `ring` and the default are hidden too.
        assert!(!text.contains("7777") && !text.contains("ring"), "{text}");
        let reread = Recording::from_text(&text).unwrap();
        let mut replayed = test_engine();
        replayed.replay(&reread);
        live(&mut replayed, secret);
        assert_eq!(reread.unused_calls(), Vec::<String>::new());
    }
}
