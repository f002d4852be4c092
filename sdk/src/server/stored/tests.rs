//! Objects of other types become ours, with what was kept beside them.

use bytes::Bytes;
use formwork_plugin_protocol::message::resource::{
    MoveRequest, MoveResponse, RawState, ReadRequest,
};
use formwork_plugin_protocol::{Payload, Provider as _};
use formwork_value::codec::json;

use crate::prelude::*;
use crate::server::Server;

/// A volume; once it was called a disk.
#[derive(Model)]
struct Volume {
    /// How large it is.
    #[attr(required)]
    size: i64,
    /// What it is found by.
    #[attr(computed, keep, identity)]
    key: String,
    /// What was kept beside it.
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
        Ok(Some(Volume { note: call.private.get("note"), ..call.current }))
    }

    async fn take_over(&self, from: Foreign) -> Answer<Option<VolumeDraft>> {
        if from.type_name != "cloud_disk" || !from.provider.ends_with("/acme/cloud") {
            return Ok(None);
        }
        let disk: Disk = from.stored.read()?;
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

fn shown(payload: &Payload) -> String {
    match payload {
        Payload::Value(value, ty) => json::encode(value.value(), ty).unwrap(),
        other => format!("{other:?}"),
    }
}

fn said(answer: &MoveResponse) -> String {
    answer.diagnostics.iter().map(|one| format!("{}: {}", one.summary, one.detail)).collect()
}

#[tokio::test]
async fn an_object_of_another_type_is_taken_over_with_its_identity_and_private_data() {
    let server = server();
    let moved = request("cloud_disk", r#"{"gigabytes":5,"name":"d"}"#);
    let answer = server.move_state(moved).await.unwrap();
    assert_eq!(shown(&answer.state), r#"{"key":"d","note":null,"size":5}"#);
    assert_eq!(answer.identity.as_ref().map(shown).as_deref(), Some(r#"{"key":"d"}"#));
    let read = ReadRequest {
        type_name: "cloud_volume".to_owned(),
        current: answer.state,
        private: answer.private,
        provider_meta: Payload::Absent,
        client: crate::testing::CLIENT,
        identity: answer.identity,
    };
    let answer = server.read(read).await.unwrap();
    assert_eq!(shown(&answer.state), r#"{"key":"d","note":"kept","size":5}"#);
}

#[tokio::test]
async fn an_identity_that_only_the_source_knew_is_kept_where_it_fits() {
    let server = server();
    let of = async |identity: &str| {
        let identity = RawState::Json(Bytes::copy_from_slice(identity.as_bytes()));
        let moved = request("cloud_disk", r#"{"gigabytes":5}"#);
        server.move_state(MoveRequest { source_identity: Some(identity), ..moved }).await.unwrap()
    };
    let answer = of(r#"{"key":"k"}"#).await;
    assert_eq!(answer.identity.as_ref().map(shown).as_deref(), Some(r#"{"key":"k"}"#));
    assert_eq!(of(r#"{"path":"k"}"#).await.identity, None);
}

#[tokio::test]
async fn what_there_is_no_way_from_is_refused() {
    let server = server();
    let answer = server.move_state(request("cloud_net", "{}")).await.unwrap();
    assert!(said(&answer).contains("Objects of cloud_net of registry.terraform.io/acme/cloud"));
    assert_eq!(answer.state, Payload::Absent);
    let answer = server.move_state(request("cloud_disk", r#"{"gigabytes":{}}"#)).await.unwrap();
    assert!(said(&answer).contains("Unable to read previously saved state"), "{}", said(&answer));
}
