//! Objects that are found, over a connection with a process: several by one id, by what used to
//! identify them, in lists without end, and later.

use formwork_plugin_protocol::capability::ClientCapabilities;
use formwork_plugin_protocol::client::{Executable, GrpcProvider, Plugin, Settings};
use formwork_plugin_protocol::message::DeferredReason;
use formwork_plugin_protocol::message::list::{ListRequest, ValidateListRequest};
use formwork_plugin_protocol::message::resource::{
    ImportRequest, RawState, UpgradeIdentityRequest,
};
use formwork_plugin_protocol::{Payload, ProviderExt as _};
use formwork_value::{Path, Type, Value};
use futures_util::StreamExt as _;

use super::engine::terraform_is_installed;
use crate::harness::{CommandResult, Workdir, test_provider};

const WITH_DEFERRAL: ClientCapabilities = ClientCapabilities {
    deferral_allowed: true,
    write_only_attributes_allowed: true,
    store_planned_private: false,
    computed_blocks_allowed: false,
};

/// Asks the provider in a process of its own, and ends it.
async fn with_plugin(call: impl AsyncFnOnce(GrpcProvider)) {
    let executable = Executable {
        name: "test".to_owned(),
        path: test_provider().to_owned(),
        arg0: None,
        identity: None,
        env: Vec::new(),
        withheld: Vec::new(),
    };
    let plugin =
        Plugin::launch(&executable, &Settings::TERRAFORM_DEFAULTS).await.expect("it starts");
    call(plugin.provider()).await;
    plugin.shutdown().await;
}

fn object<const N: usize>(parts: [(&str, Value); N]) -> Payload {
    let object = Value::object(parts);
    let ty = object.ty();
    Payload::Value(object.split_marks().0, ty)
}

fn room() -> Type {
    Type::object([("house", Type::String), ("number", Type::Number)])
}

fn number_of(identity: &Payload) -> Value {
    let identity = identity.decode(&room()).expect("it is the identity of a room");
    Path::root().attribute("number").find(identity.value()).expect("it has a number").clone()
}

fn rooms(limit: i64) -> ListRequest {
    let (type_name, config) = ("test_room".to_owned(), object([("house", Value::string("h"))]));
    ListRequest { type_name, config, include_object: true, limit }
}

fn import(id: &str, client: ClientCapabilities) -> ImportRequest {
    ImportRequest { type_name: "test_house".to_owned(), id: id.to_owned(), client, identity: None }
}

#[tokio::test]
async fn an_endless_list_ends_at_the_requested_limit() {
    with_plugin(async |provider| {
        let request = ValidateListRequest {
            type_name: "test_room".to_owned(),
            config: object([("house", Value::null(Type::String))]),
            include_object: Payload::Absent,
            limit: Payload::Absent,
            client: ClientCapabilities::default(),
        };
        let verdict = provider.validate_list_config(request).await.expect("an answer");
        assert_eq!(verdict.diagnostics[0].detail, "`house` must have a value.");

        let events: Vec<_> = provider.list(rooms(3)).await.expect("an answer").collect().await;
        let events: Vec<_> = events.into_iter().map(|event| event.expect("it is found")).collect();
        let names: Vec<_> = events.iter().map(|event| event.display_name.as_str()).collect();
        assert_eq!(names, ["h, room 1", "h, room 2", "h, room 3"]);
        let event = &events[2];
        assert_eq!(number_of(event.identity.as_ref().expect("an identity")), Value::int(3));
        assert!(event.object.is_some());

        let mut events = provider.list(rooms(0)).await.expect("an answer");
        for number in 1..=500 {
            let event = events.next().await.expect("there is no end").expect("it is found");
            assert_eq!(event.display_name, format!("h, room {number}"));
        }
    })
    .await;
}

#[tokio::test]
async fn one_id_finds_a_house_and_its_rooms_or_no_object() {
    with_plugin(async |provider| {
        let response = provider.import(import("h", WITH_DEFERRAL)).await.expect("an answer");
        let types: Vec<_> =
            response.resources.iter().map(|resource| resource.type_name.as_str()).collect();
        assert_eq!(types, ["test_house", "test_room", "test_room"]);
        let last = response.resources[2].identity.as_ref().expect("an identity");
        assert_eq!(number_of(last), Value::int(2));
        assert_eq!(response.deferred, None);

        let later = provider.import(import("later", WITH_DEFERRAL)).await.expect("an answer");
        assert_eq!(later.deferred, Some(DeferredReason::AbsentPrerequisite));
        let now = ClientCapabilities { deferral_allowed: false, ..WITH_DEFERRAL };
        let response = provider.import(import("later", now)).await.expect("an answer");
        assert_eq!((response.deferred, response.resources.len()), (None, 3));
    })
    .await;
}

#[tokio::test]
async fn an_old_identity_is_upgraded_to_the_current_version() {
    with_plugin(async |provider| {
        let schemas = provider.identity_schemas().await.expect("an answer").schemas;
        assert_eq!(schemas["test_room"].version, 1);
        let upgraded = async |json: &'static str| {
            let identity = RawState::Json(json.as_bytes().into());
            let type_name = "test_room".to_owned();
            let request = UpgradeIdentityRequest { type_name, version: 0, identity };
            provider.upgrade_identity(request).await.expect("an answer")
        };
        assert_eq!(number_of(&upgraded(r#"{"way":"h/7"}"#).await.identity), Value::int(7));
        let refused = upgraded(r#"{"way":"h"}"#).await.diagnostics;
        assert_eq!(refused[0].detail, "\"h\" leads to no room");
    })
    .await;
}

fn rooms_and_houses() -> Workdir {
    let workdir = Workdir::new(
        r#"
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}
resource "test_house" "a" {
  name = "h"
}
resource "test_room" "a" {
  house  = "h"
  number = 3
}
"#,
    );
    workdir.link_plugin(test_provider());
    workdir
}

#[test]
fn both_programs_import_all_objects_of_one_id() {
    if !terraform_is_installed() {
        return;
    }
    let workdir = rooms_and_houses();
    // Both read all of them by the schema of the requested object, so they are of one type.
    let import = |result: CommandResult| {
        let text = result.text();
        let mut text: Vec<_> = text.lines().filter(|line| line.contains("test_")).collect();
        // They are read side by side.
        text.sort_unstable();
        let state = workdir.read("terraform.tfstate");
        std::fs::remove_file(workdir.root().join("terraform.tfstate")).expect("it was written");
        (text.join("\n"), sorted_objects(&state))
    };
    let theirs = import(workdir.terraform("import -no-color test_room.a h/3").succeed());
    let ours = import(workdir.formwork("import -no-color test_room.a h/3").succeed());
    assert_eq!(ours, theirs);
    assert_eq!(theirs.1.len(), 3, "{theirs:?}");
}

/// The names of the resources in a state, and what their objects have.
fn sorted_objects(state: &str) -> Vec<String> {
    let state: serde_json::Value = serde_json::from_str(state).expect("a state is JSON");
    let resources = state["resources"].as_array().expect("it has resources");
    let objects = resources
        .iter()
        .map(|object| format!("{} {}", object["name"], object["instances"][0]["attributes"]));
    let mut objects: Vec<_> = objects.collect();
    objects.sort();
    objects
}

#[test]
fn further_imported_objects_need_free_addresses_and_one_type() {
    let workdir = rooms_and_houses();
    workdir.formwork("import test_room.a h/3").succeed();
    workdir.formwork("state rm test_room.a").succeed();
    let before = workdir.read("terraform.tfstate");
    let refused = workdir.formwork("import test_room.a h/3").run();
    refused.code(1).says("Resource already managed by Formwork").says("test_room.a-1");
    // A house is found with its rooms, which are something else.
    let refused = workdir.formwork("import test_house.a h").run();
    refused.code(1).says("objects of several types, also \"test_room\"");
    assert_eq!(workdir.read("terraform.tfstate"), before);
}
