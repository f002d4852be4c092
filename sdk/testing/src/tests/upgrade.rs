//! Objects of older versions and of other types, upgraded in complete runs of the engine.

use formwork_sdk::prelude::*;

use super::TestEngine;

/// A disk of version 0, with its size as a string.
#[derive(Model)]
struct DiskV0 {
    #[attr(required)]
    size: String,
    #[attr(computed, keep, identity)]
    id: String,
}

struct DiskResourceV0;

impl Resource for DiskResourceV0 {
    type Model = DiskV0;

    async fn create(&self, call: Create<DiskV0>) -> Answer<DiskV0Computed> {
        call.private.set("shelf", "3");
        Ok(DiskV0Computed { id: "d-1".to_owned() })
    }
}

/// A disk.
#[derive(Model)]
struct Disk {
    #[attr(required)]
    gigabytes: u64,
    #[attr(computed, keep, identity)]
    id: String,
}

impl From<DiskV0> for Disk {
    fn from(old: DiskV0) -> Self {
        let gigabytes = old.size.trim_end_matches(" GB").parse().unwrap_or_default();
        Self { gigabytes, id: old.id }
    }
}

struct DiskResource;

impl Resource for DiskResource {
    type Model = Disk;

    const VERSION: u64 = 1;

    fn upgrades() -> Upgrades<Self> {
        Upgrades::none().from::<0, DiskV0>(|old| Ok(old.into()))
    }

    async fn create(&self, _: Create<Disk>) -> Answer<DiskComputed> {
        Ok(DiskComputed { id: "d-2".to_owned() })
    }

    /// Finds a disk only at its recorded location.
    async fn read(&self, call: Read<Disk>) -> Answer<Option<Disk>> {
        Ok((call.private.get("shelf").as_deref() == Some("3")).then_some(call.current))
    }

    async fn take_over(&self, from: ForeignObject) -> Answer<Option<DiskDraft>> {
        match (from.type_name.as_str(), from.stored.version) {
            ("cloud_drive", 0) => {
                // Private data and identity are passed with the object.
                assert_eq!(from.private.get("shelf").as_deref(), Some("3"));
                let identity: Disk = from.identity.as_ref().map_or_else(
                    || Err(Problem::new("No identity", "")),
                    |identity| identity.to_model(),
                )?;
                assert_eq!(identity.id, "d-1");
                from.private.set("moved", "yes");
                let old: DiskV0 = from.stored.to_model()?;
                Ok(Some(Disk::from(old).into()))
            }
            _ => Ok(None),
        }
    }
}

fn provider_v0() -> ProviderDef {
    ProviderDef::new("registry.terraform.io/acme/cloud")
        .resource("cloud_disk", DiskResourceV0)
        .resource("cloud_drive", DiskResourceV0)
}

fn current_provider() -> ProviderDef {
    ProviderDef::new("registry.terraform.io/acme/cloud").resource("cloud_disk", DiskResource)
}

/// The current provider, with the objects of its first version.
fn engine_with_v0_state(config: &str) -> TestEngine {
    let mut old = TestEngine::new(provider_v0);
    old.apply(config).expect_applied();
    let mut engine = TestEngine::new(current_provider);
    engine.set_state(&old.state());
    engine
}

const CURRENT_CONFIG: &str = "resource \"cloud_disk\" \"a\" { gigabytes = 10 }\n";

#[test]
fn an_object_of_an_older_version_is_upgraded_without_changes() {
    let mut engine = engine_with_v0_state("resource \"cloud_disk\" \"a\" { size = \"10 GB\" }");
    engine.plan(CURRENT_CONFIG).expect_no_changes();
    engine.refresh(CURRENT_CONFIG).expect_applied();
    assert_eq!(engine.attribute("cloud_disk.a", "gigabytes"), "10");
    // If the state kept the old version, every run would upgrade it again.
    assert!(engine.state().contains("\"schema_version\": 1"), "{}", engine.state());
    engine.destroy(CURRENT_CONFIG).expect_applied();
}

#[test]
fn an_object_of_another_type_moves_with_its_identity_and_private_data() {
    let mut engine = engine_with_v0_state("resource \"cloud_drive\" \"old\" { size = \"10 GB\" }");
    let moved = "moved {\n  from = cloud_drive.old\n  to = cloud_disk.a\n}\n";
    engine.apply(&format!("{CURRENT_CONFIG}{moved}")).expect_applied();
    assert_eq!(engine.n_objects(), 1);
    assert_eq!(engine.attribute("cloud_disk.a", "id"), "d-1");
    assert!(engine.state().contains("\"identity\": {"), "{}", engine.state());
    assert!(engine.state().contains("\"private\""), "{}", engine.state());
    // A disk whose private data were lost would not be found.
    engine.plan(CURRENT_CONFIG).expect_no_changes();
}
