//! Tests of upgrades of older objects, and of their errors.

use std::collections::BTreeMap;

use formwork_plugin_protocol::message::resource::{RawState, UpgradeRequest};
use formwork_plugin_protocol::{Payload, ProviderExt as _};
use formwork_value::codec::json;

use crate::prelude::*;
use crate::server::Server;
use crate::testing::TestObject;

/// A disk of version 0, with its size as a string.
#[derive(Model)]
struct DiskV0 {
    #[attr(required)]
    size: String,
    #[attr(optional)]
    label: Option<String>,
}

/// A disk of version 1, with its size as a number, and labels.
#[derive(Model)]
struct DiskV1 {
    #[attr(required)]
    gigabytes: u64,
    #[attr(optional)]
    labels: Option<Vec<String>>,
}

/// A disk.
#[derive(Model)]
struct Disk {
    #[attr(required)]
    bytes: u64,
    #[attr(optional)]
    labels: Option<Vec<String>>,
    #[attr(computed, keep)]
    id: String,
}

fn first(old: DiskV0) -> Answer<DiskV1> {
    let labels = old.label.map(|label| vec![label]);
    match old.size.trim_end_matches(" GB").parse() {
        Ok(gigabytes) => Ok(DiskV1 { gigabytes, labels }),
        Err(_) => Err(Problem::new("No size", old.size)),
    }
}

fn second(old: DiskV1) -> Disk {
    Disk { bytes: old.gigabytes << 30, labels: old.labels, id: "none".to_owned() }
}

struct Disks;

impl Resource for Disks {
    type Model = Disk;

    const VERSION: u64 = 3;

    fn upgrades() -> Upgrades<Self> {
        // No upgrade from version 2 exists: a gap must be refused.
        Upgrades::none()
            .from::<0, DiskV0>(|old| Ok(second(first(old)?)))
            .from::<1, DiskV1>(|old| Ok(second(old)))
    }

    async fn create(&self, _: Create<Disk>) -> Answer<DiskComputed> {
        Ok(DiskComputed { id: "none".to_owned() })
    }
}

fn provider() -> ProviderDef {
    ProviderDef::new("registry.terraform.io/acme/test").resource("test_disk", Disks)
}

async fn upgraded(version: u64, text: &str) -> String {
    let mut object = TestObject::new(provider(), "test_disk").await.unwrap();
    match object.upgrade(version, text).await {
        Ok(()) => json::encode(object.object(), Disk::shape().ty()).unwrap(),
        Err(refusal) => refusal.0,
    }
}

#[tokio::test]
async fn objects_of_every_supported_version_are_upgraded_to_the_newest() {
    let table = [
        (0, r#"{"size":"2 GB","label":"a"}"#, r#"{"bytes":2147483648,"id":"none","labels":["a"]}"#),
        // `more` is in no model, and must not stop the upgrade.
        (1, r#"{"gigabytes":1,"more":0}"#, r#"{"bytes":1073741824,"id":"none","labels":null}"#),
        // `labels` was not stored: attributes may be added without a new version.
        (3, r#"{"bytes":5,"id":"i"}"#, r#"{"bytes":5,"id":"i","labels":null}"#),
    ];
    for (version, text, expected) in table {
        assert_eq!(upgraded(version, text).await, expected);
    }
}

#[tokio::test]
async fn objects_without_an_upgrade_or_of_another_version_are_refused() {
    let table = [
        (0, r#"{"size":"large"}"#, "No size: large"),
        (1, r#"{"gigabytes":"many"}"#, "Unable to read previously saved state: "),
        (
            2,
            r#"{"gigabytes":1}"#,
            "stored with version 2 of its schema, and the provider has no upgrade",
        ),
        // A newer provider stored it. Read as version 3, it would silently lose what that version
        // added.
        (4, r#"{"bytes":1}"#, "managed by newer provider version"),
    ];
    for (version, text, expected) in table {
        let refusal = upgraded(version, text).await;
        assert!(refusal.contains(expected), "{expected}: {refusal}");
    }
}

#[tokio::test]
async fn flatmap_objects_of_old_states_are_read() {
    // States of Terraform 0.11 and older have every value as a string.
    let flat = |pairs: &[(&str, &str)]| {
        let pairs = pairs.iter().map(|(key, text)| ((*key).to_owned(), (*text).to_owned()));
        RawState::Flat(pairs.collect::<BTreeMap<_, _>>())
    };
    let server = Server::new(provider());
    let ask = |version, state| {
        let type_name = "test_disk".to_owned();
        server.upgrade_state(UpgradeRequest { type_name, version, state })
    };
    let answer = ask(0, flat(&[("size", "1 GB"), ("label", "a")])).await.unwrap();
    let Payload::Value(object, ty) = answer.state else { panic!("{:?}", answer.diagnostics) };
    let text = json::encode(object.value(), &ty).unwrap();
    assert_eq!(text, r#"{"bytes":1073741824,"id":"none","labels":["a"]}"#);
    let answer = ask(1, flat(&[("gigabytes", "x")])).await.unwrap();
    assert_eq!(answer.diagnostics[0].summary, "Unable to read previously saved state");
}
