//! Tests of resource types whose `#[resource(…)]` names the handlers of stored objects and identities.

use formwork_sdk::prelude::*;
use formwork_sdk_testing::TestEngine;

/// A machine of the type from which objects are moved.
#[derive(Model)]
#[resource(Machines, create = async { Ok::<_, Problem>(()) })]
struct Machine {
    #[attr(required, replace)]
    name: String,
}

/// The identity of a host in the first version.
#[derive(Model)]
struct NumberedHost {
    #[attr(required, identity)]
    number: u64,
}

/// A host. Version 1 had the attributes of a [`Machine`].
#[derive(Model)]
#[resource(
    Hosts,
    create = async { Ok::<_, Problem>(()) },
    import_by_identity = Host::import_by_identity(call),
    upgrade = Host::upgrade(call),
    take_over = Host::take_over(call),
    version = 2,
    identity_version = 1,
    identity_upgrades = IdentityUpgrades::none()
        .from::<0, NumberedHost>(|old| Ok(HostIdentity { title: format!("host-{}", old.number) })),
)]
struct Host {
    #[attr(required, replace, identity)]
    title: String,
}

impl Host {
    async fn upgrade(call: &Upgrade) -> Answer<Self> {
        let old: Machine = call.stored.to_model()?;
        Ok(Self { title: format!("{} of version {}", old.name, call.stored.version) })
    }

    async fn take_over(call: &ForeignObject) -> Answer<Option<Self>> {
        if call.type_name != "acme_machine" {
            return Ok(None);
        }
        let machine: Machine = call.stored.to_model()?;
        Ok(Some(Self { title: machine.name }))
    }

    async fn import_by_identity(call: &ImportByIdentity<Self>) -> Answer<HostDraft> {
        match call.identity.title.as_str() {
            "" => Err(Problem::new("A host has a title", "The identity has none.")),
            title => Ok(HostDraft { title: title.to_owned().into() }),
        }
    }
}

fn test_engine() -> TestEngine {
    TestEngine::new(|| {
        ProviderDef::new("registry.terraform.io/acme/acme")
            .resource("acme_machine", Machines)
            .resource("acme_host", Hosts)
    })
}

fn host_config(title: &str) -> String {
    format!("resource \"acme_host\" \"a\" {{\n  title = \"{title}\"\n}}\n")
}

const MACHINE_CONFIG: &str = "resource \"acme_machine\" \"a\" {\n  name = \"host-0\"\n}\n";

#[test]
fn an_object_of_another_type_is_moved() {
    let mut engine = test_engine();
    engine.apply(MACHINE_CONFIG).expect_applied();
    let moved = "moved {\n  from = acme_machine.a\n  to = acme_host.a\n}\n";
    engine.apply(&format!("{}{moved}", host_config("host-0"))).expect_applied();
    assert_eq!(engine.attribute("acme_host.a", "title"), "host-0");
    engine.plan(&host_config("host-0")).expect_no_changes();
}

#[test]
fn an_object_of_an_older_version_is_upgraded() {
    let mut engine = test_engine();
    engine.apply(MACHINE_CONFIG).expect_applied();
    let older = engine.state().replace("acme_machine", "acme_host");
    let older = older.replace("\"schema_version\": 0", "\"schema_version\": 1");
    engine.set_state(&older);
    engine.plan(&host_config("host-0 of version 1")).expect_no_changes();
}

#[test]
fn an_identity_of_an_older_version_is_upgraded() {
    let mut engine = test_engine();
    engine.apply(&host_config("host-0")).expect_applied();
    let current = engine.state();
    let [identity, old_identity] = ["title\": \"host-0\"", "number\": 0"]
        .map(|attribute| format!("\"identity\": {{\n            \"{attribute}"));
    let [version, old_version] =
        [1, 0].map(|version| format!("\"identity_schema_version\": {version}"));
    assert!(current.contains(&identity) && current.contains(&version), "{current}");
    let older = current.replace(&identity, &old_identity).replace(&version, &old_version);
    engine.set_state(&older);
    engine.refresh(&host_config("host-0")).expect_applied();
    let upgraded = engine.state();
    assert!(upgraded.contains(&identity) && upgraded.contains(&version), "{upgraded}");
}

#[test]
fn an_identity_of_the_user_reaches_its_handler() {
    let mut engine = test_engine();
    let import = |title: &str| {
        format!("import {{\n  to = acme_host.a\n  identity = {{ title = \"{title}\" }}\n}}\n")
    };
    let result = engine.apply(&format!("{}{}", host_config("host-0"), import("")));
    result.expect_error("A host has a title");
    engine.apply(&format!("{}{}", host_config("host-0"), import("host-0"))).expect_applied();
    assert_eq!(engine.attribute("acme_host.a", "title"), "host-0");
}
