//! Objects of other types are moved, with their private data; one id imports several objects;
//! identities of older versions are upgraded.

use bytes::Bytes;
use formwork_plugin_protocol::message::resource::{
    ImportRequest, ImportResponse, MoveRequest, MoveResponse, RawState, ReadRequest,
    UpgradeIdentityRequest,
};
use formwork_plugin_protocol::{Payload, ProviderExt as _};
use formwork_value::Value;
use formwork_value::codec::json;

use crate::prelude::*;
use crate::server::Server;

/// A volume; once it was called a disk.
#[derive(Model)]
struct Volume {
    /// Size of the rack.
    #[attr(required)]
    size: i64,
    /// Key of the rack.
    #[attr(computed, keep, identity)]
    key: String,
    /// Note kept with it.
    #[attr(computed)]
    note: Option<String>,
}

/// A disk of this or of another provider.
#[derive(Model)]
struct Disk {
    #[attr(required)]
    gigabytes: i64,
    #[attr(computed)]
    name: Option<String>,
}

struct Volumes;

impl Resource for Volumes {
    type Model = Volume;

    async fn create(&self, _: Create<Volume>) -> Answer<VolumeComputed> {
        Ok(VolumeComputed { key: "made".to_owned(), note: None })
    }

    async fn read(&self, call: Read<Volume>) -> Answer<Option<Volume>> {
        // Shows in the object whether the private data came along.
        Ok(Some(Volume { note: call.private.get("note"), ..call.current }))
    }

    async fn take_over(&self, from: ForeignObject) -> Answer<Option<VolumeDraft>> {
        // Without the host name: Terraform and OpenTofu have different ones for a provider.
        if from.type_name != "cloud_disk" || !from.provider.ends_with("/acme/cloud") {
            return Ok(None);
        }
        let disk: Disk = from.stored.to_model()?;
        Ok(Some(VolumeDraft {
            size: disk.gigabytes.into(),
            key: disk.name.into(),
            ..VolumeDraft::default()
        }))
    }
}

fn server() -> Server {
    let address = "registry.terraform.io/acme/cloud";
    Server::new(ProviderDef::new(address).resource("cloud_volume", Volumes))
}

fn request(type_name: &str, object: &str) -> MoveRequest {
    MoveRequest {
        source_provider: "registry.terraform.io/acme/cloud".to_owned(),
        source_type: type_name.to_owned(),
        source_version: 0,
        source_state: RawState::Json(Bytes::copy_from_slice(object.as_bytes())),
        target_type: "cloud_volume".to_owned(),
        source_private: Bytes::from_static(br#"{"note":"kept"}"#),
        source_identity: None,
        source_identity_version: 0,
    }
}

fn payload_text(payload: &Payload) -> String {
    match payload {
        Payload::Value(value, ty) => json::encode(value.value(), ty).unwrap(),
        other => format!("{other:?}"),
    }
}

fn messages_of(answer: &MoveResponse) -> String {
    answer
        .diagnostics
        .iter()
        .map(|diagnostic| format!("{}: {}", diagnostic.summary, diagnostic.detail))
        .collect()
}

#[tokio::test]
async fn an_object_of_another_type_is_moved_with_its_identity_and_private_data() {
    let server = server();
    let moved = request("cloud_disk", r#"{"gigabytes":5,"name":"d"}"#);
    let answer = server.move_state(moved).await.unwrap();
    assert_eq!(payload_text(&answer.state), r#"{"key":"d","note":null,"size":5}"#);
    assert_eq!(answer.identity.as_ref().map(payload_text).as_deref(), Some(r#"{"key":"d"}"#));
    let read = ReadRequest {
        type_name: "cloud_volume".to_owned(),
        current: answer.state,
        private: answer.private,
        provider_meta: Payload::Absent,
        client: crate::testing::CLIENT_CAPABILITIES,
        identity: answer.identity,
    };
    let answer = server.read(read).await.unwrap();
    assert_eq!(payload_text(&answer.state), r#"{"key":"d","note":"kept","size":5}"#);
}

#[tokio::test]
async fn an_identity_of_the_source_is_kept_if_it_fits() {
    let server = server();
    let of = async |identity: &str| {
        let identity = RawState::Json(Bytes::copy_from_slice(identity.as_bytes()));
        let moved = request("cloud_disk", r#"{"gigabytes":5}"#);
        server.move_state(MoveRequest { source_identity: Some(identity), ..moved }).await.unwrap()
    };
    // The disk has no name, so that only the identity of the source can give the key.
    let answer = of(r#"{"key":"k"}"#).await;
    assert_eq!(answer.identity.as_ref().map(payload_text).as_deref(), Some(r#"{"key":"k"}"#));
    // A different shape is not an error: the object is moved, and a read can return its identity
    // later.
    assert_eq!(of(r#"{"path":"k"}"#).await.identity, None);
}

#[tokio::test]
async fn moves_without_a_conversion_are_refused() {
    let server = server();
    let answer = server.move_state(request("cloud_net", "{}")).await.unwrap();
    assert!(
        messages_of(&answer).contains("Objects of cloud_net of registry.terraform.io/acme/cloud")
    );
    // The error must not come with a partial object.
    assert_eq!(answer.state, Payload::Absent);
    let answer = server.move_state(request("cloud_disk", r#"{"gigabytes":{}}"#)).await.unwrap();
    assert!(
        messages_of(&answer).contains("Unable to read previously saved state"),
        "{}",
        messages_of(&answer)
    );
}

/// A rack, and what is in it.
#[derive(Model)]
struct Rack {
    #[attr(computed, keep, identity)]
    name: String,
}

/// Identity of a rack in version 0.
#[derive(Model)]
struct RackNumber {
    #[attr(required)]
    number: i64,
}

struct Racks;

impl Resource for Racks {
    type Model = Rack;

    const IDENTITY_VERSION: u64 = 2;

    fn identity_upgrades() -> IdentityUpgrades<Self> {
        // No upgrade from version 1 exists, so it must be refused.
        IdentityUpgrades::none()
            .from::<0, RackNumber>(|old| Ok(RackIdentity { name: format!("rack-{}", old.number) }))
    }

    async fn create(&self, _: Create<Rack>) -> Answer<RackComputed> {
        Ok(RackComputed { name: "rack-1".to_owned() })
    }

    async fn import(&self, call: Import<Rack>) -> Answer<RackDraft> {
        for key in ["top", "bottom"] {
            call.add_object::<Volumes>(VolumeIdentity { key: format!("{}/{key}", call.id) });
        }
        Ok(RackIdentity { name: call.id.clone() }.into())
    }
}

fn racks() -> ProviderDef {
    ProviderDef::new("registry.terraform.io/acme/cloud").resource("cloud_rack", Racks)
}

async fn imported(provider: ProviderDef, id: &str, identity: Option<Payload>) -> ImportResponse {
    let (type_name, id) = ("cloud_rack".to_owned(), id.to_owned());
    let request =
        ImportRequest { type_name, id, client: crate::testing::CLIENT_CAPABILITIES, identity };
    Server::new(provider).import(request).await.unwrap()
}

#[tokio::test]
async fn an_id_can_import_several_objects() {
    let answer = imported(racks().resource("cloud_volume", Volumes), "r", None).await;
    let resources: Vec<_> = answer
        .resources
        .iter()
        .map(|resource| {
            (
                resource.type_name.as_str(),
                payload_text(&resource.state),
                resource.identity.as_ref().map(payload_text),
            )
        })
        .collect();
    let volume = |key| {
        let object = format!(r#"{{"key":"{key}","note":null,"size":null}}"#);
        ("cloud_volume", object, Some(format!(r#"{{"key":"{key}"}}"#)))
    };
    let rack = r#"{"name":"r"}"#.to_owned();
    let rack = ("cloud_rack", rack.clone(), Some(rack));
    assert_eq!(resources, [rack, volume("r/top"), volume("r/bottom")]);
}

#[tokio::test]
async fn a_further_imported_object_requires_one_resource_type_of_its_kind() {
    let answer = imported(racks(), "r", None).await;
    assert!(answer.resources.is_empty());
    assert!(answer.diagnostics[0].detail.contains("has no resource type of that kind"));
    // Both types have one implementation, so that `along` cannot mean one of them.
    let ambiguous_provider =
        racks().resource("cloud_volume", Volumes).resource("cloud_disk", Volumes);
    let answer = imported(ambiguous_provider, "r", None).await;
    assert!(answer.diagnostics[0].detail.contains("has several resource types of that kind"));
}

#[tokio::test]
async fn an_object_can_be_imported_by_its_identity() {
    let identity = Value::object([("name", Value::string("r"))]);
    let ty = identity.ty();
    let identity = Payload::Value(identity.split_marks().0, ty);
    // Since Terraform 1.12 an identity can replace the id, which is then empty.
    let answer = imported(racks(), "", Some(identity)).await;
    assert_eq!(payload_text(&answer.resources[0].state), r#"{"name":"r"}"#);
}

#[tokio::test]
async fn identities_are_upgraded_to_the_current_version() {
    let server = Server::new(racks());
    let schemas = server.identity_schemas().await.unwrap().schemas;
    assert_eq!(schemas["cloud_rack"].version, 2);
    let upgraded = async |version, json: &'static str| {
        let identity = RawState::Json(Bytes::from_static(json.as_bytes()));
        let type_name = "cloud_rack".to_owned();
        let request = UpgradeIdentityRequest { type_name, version, identity };
        let answer = server.upgrade_identity(request).await.unwrap();
        match answer.diagnostics.first() {
            Some(problem) => Err(problem.detail.clone()),
            None => Ok(payload_text(&answer.identity)),
        }
    };
    let error_for = async |version, json| upgraded(version, json).await.unwrap_err();
    assert_eq!(upgraded(0, r#"{"number":7}"#).await.as_deref(), Ok(r#"{"name":"rack-7"}"#));
    assert_eq!(upgraded(2, r#"{"name":"r"}"#).await.as_deref(), Ok(r#"{"name":"r"}"#));
    assert!(error_for(0, r#"{"number":{}}"#).await.contains("does not fit"));
    assert!(error_for(1, "{}").await.contains("version 1 of its identity"));
    assert!(error_for(3, "{}").await.contains("this provider has version 2"));
}
