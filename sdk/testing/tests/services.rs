//! Tests of resource types with `#[resource(…)]`, each over a service with other behaviour:
//! complete lifecycles, and the results of partial failures.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends")]

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use formwork_sdk::prelude::*;
use formwork_sdk::testing::{TestObject, wait};
use formwork_sdk::value::Value;
use formwork_sdk_testing::{TestEngine, fault_sweep};

/// A service in memory: its objects by id, and the received calls.
#[derive(Clone, Default)]
struct Service(Arc<Mutex<Inside>>);

#[derive(Default)]
struct Inside {
    machines: BTreeMap<String, Found>,
    calls: Vec<String>,
    /// Number of reads before a change becomes visible.
    delay: usize,
    n_left: usize,
    is_broken: bool,
}

/// A machine in an answer of the service.
#[derive(Clone)]
struct Found {
    id: String,
    name: String,
    size: u32,
    address: String,
}

impl Found {
    /// Whether it already has a size, if its service returns one.
    fn has_size(&self, size: u32) -> Answer<bool> {
        match self.size {
            13 => Err(Problem::new("Out of order", "No machine of this size runs.")),
            own_size => Ok(own_size == size),
        }
    }
}

impl Service {
    fn record_call(&self, call: String) -> MutexGuard<'_, Inside> {
        let mut inside = self.0.lock().unwrap();
        inside.calls.push(call);
        inside
    }

    fn put(&self, id: &str, name: &str, size: u32) -> Found {
        let mut inside = self.0.lock().unwrap();
        // With the size inside, so that an old answer is noticed after an update.
        let address = format!("{name}.example.com:{size}");
        let machine =
            Found { id: id.to_owned(), name: name.to_owned(), size, address: address.clone() };
        inside.machines.insert(id.to_owned(), machine.clone());
        inside.n_left = inside.delay;
        machine
    }

    async fn make(&self, name: &str, size: u32) -> Answer<Found> {
        let n_made = self.record_call(format!("make {name}")).machines.len();
        Ok(self.put(&format!("m-{n_made}"), name, size))
    }

    async fn find(&self, id: &str) -> Answer<Option<Found>> {
        let mut inside = self.record_call(format!("find {id}"));
        if inside.is_broken {
            return Err(Problem::from_detail("the service is down"));
        }
        let is_late = inside.n_left > 0;
        inside.n_left = inside.n_left.saturating_sub(1);
        let machine = inside.machines.get(id).cloned();
        // A delayed change is not visible: the machine does not exist yet, or still exists.
        let deleted =
            || Found { id: id.to_owned(), name: id.to_owned(), size: 0, address: String::new() };
        Ok(match is_late {
            true => machine.is_none().then(deleted),
            false => machine,
        })
    }

    async fn find_by_name(&self, name: &str) -> Answer<Option<Found>> {
        let inside = self.record_call(format!("find {name}"));
        Ok(inside.machines.values().find(|machine| machine.name == name).cloned())
    }

    async fn resize(&self, id: &str, size: u32) -> Answer<Found> {
        let name = self.record_call(format!("resize {id}")).machines[id].name.clone();
        Ok(self.put(id, &name, size))
    }

    async fn unmake(&self, id: &str) -> Answer<()> {
        let mut inside = self.record_call(format!("unmake {id}"));
        inside.machines.remove(id);
        inside.n_left = inside.delay;
        Ok(())
    }

    fn take(&self) -> String {
        std::mem::take(&mut self.0.lock().unwrap().calls).join(", ")
    }
}

/// A machine whose service returns all attributes with every call.
#[derive(Model)]
#[attr(from = Found)]
#[resource(
    Tolds(service: Service),
    create = service.make(&name, size),
    read = service.find(&id),
    update = service.resize(&id, size),
    delete = service.unmake(&id),
)]
struct Known {
    #[attr(required, replace)]
    name: String,
    #[attr(default = 1)]
    size: u32,
    #[attr(computed)]
    address: String,
    #[attr(computed, keep, import, identity)]
    id: String,
}

/// A machine whose create and update calls return as little as possible.
#[derive(Model)]
#[attr(from = Found)]
#[resource(
    Terses(service: Service),
    create = async { service.make(&name, size).await.map(|made| made.id) },
    read = service.find(&id),
    update = async { service.resize(&id, size).await.map(drop) },
    delete = service.unmake(&id),
    gone(every = Duration::from_secs(5), at_most = Duration::from_secs(60)),
)]
struct Terse {
    #[attr(required, replace)]
    name: String,
    #[attr(default = 1)]
    size: u32,
    #[attr(computed)]
    address: String,
    #[attr(computed, keep, import)]
    id: String,
}

/// A machine that is ready when it has the requested size.
#[derive(Model)]
#[attr(from = Found)]
#[resource(
    Patients(service: Service),
    create = service.make(&name, 0),
    read = service.find(&id),
    update = service.resize(&id, size),
    delete = service.unmake(&id),
    ready(found.has_size(size)?, every = Duration::from_secs(10), at_most = Duration::from_secs(60)),
)]
struct Patient {
    #[attr(required, replace)]
    name: String,
    #[attr(default = 1)]
    size: u32,
    #[attr(computed)]
    address: String,
    #[attr(computed, keep, import)]
    id: String,
}

/// A machine identified by the author's name, with a computed address.
#[derive(Model)]
#[attr(from = Found)]
#[resource(
    Calleds(service: Service),
    create = async { service.make(&name, 1).await.map(drop) },
    read = service.find_by_name(&name),
    delete = service.unmake("m-0"),
)]
struct Called {
    #[attr(required, replace, import)]
    name: String,
    #[attr(computed)]
    address: String,
}

/// A machine identified by its name, without computed attributes.
#[derive(Model)]
#[resource(
    Names(service: Service),
    create = async { service.make(&name, size).await.map(drop) },
    read = named(service, current),
    update = async { service.resize("m-0", planned.size).await.map(drop) },
    delete = service.unmake("m-0"),
    validate = Named::check(call),
    modify_plan = service.foresee(call),
    import = async { Ok::<_, Problem>(NamedDraft { name: call.id.replace('/', "-").into(), ..NamedDraft::default() }) },
    version = 1,
    upgrades = Upgrades::none().from::<0, Named>(|old| Ok(Named { size: old.size + 1, ..old })),
)]
struct Named {
    #[attr(required, replace)]
    name: String,
    #[attr(required)]
    size: u32,
}

impl Named {
    fn check(call: &Validate<Self>) -> Answer<()> {
        match call.config.size.get() {
            Some(0) => Err(Problem::new("No machine is so small", "").at("size")),
            _ => Ok(()),
        }
    }
}

impl Service {
    async fn foresee(&self, change: &mut ModifyPlan<Named>) -> Answer<()> {
        change.replace.clear();
        if change.prior.is_none() {
            change.warn(Problem::new("New", "A machine costs money."));
        }
        Ok(())
    }
}

async fn named(service: &Service, current: &Named) -> Answer<Option<Named>> {
    let machine = service.find("m-0").await?;
    Ok(machine
        .filter(|machine| machine.name == current.name)
        .map(|machine| Named { name: machine.name, size: machine.size }))
}

fn provider(service: Service) -> ProviderDef {
    ProviderDef::new("registry.terraform.io/acme/acme")
        .resource("acme_told", Tolds(service.clone()))
        .resource("acme_terse", Terses(service.clone()))
        .resource("acme_patient", Patients(service.clone()))
        .resource("acme_called", Calleds(service.clone()))
        .resource("acme_named", Names(service))
}

fn test_engine(service: &Service) -> TestEngine {
    let service = service.clone();
    TestEngine::new(move || provider(service.clone()))
}

fn config(kind: &str, name: &str, size: u32) -> String {
    format!("resource \"acme_{kind}\" \"a\" {{\n  name = \"{name}\"\n  size = {size}\n}}\n")
}

#[test]
fn values_returned_by_a_call_are_not_read_again() {
    let service = Service::default();
    let mut engine = test_engine(&service);
    engine.apply(&config("told", "a", 1)).expect_applied();
    engine.apply(&config("told", "a", 2)).expect_applied();
    assert_eq!(engine.attribute("acme_told.a", "address"), "a.example.com:2");
    engine.plan(&config("told", "a", 2)).expect_no_changes();
    // Without a configuration: a deletion must need only the state.
    engine.destroy("").expect_applied();
    // Each plan reads once, and no other call reads.
    assert_eq!(service.take(), "make a, find m-0, resize m-0, find m-0, find m-0, unmake m-0");
    engine.run_lifecycle(&config("told", "a", 1));
}

#[test]
fn values_missing_from_a_call_are_read() {
    let service = Service::default();
    let mut engine = test_engine(&service);
    engine.apply(&config("terse", "a", 1)).expect_applied();
    assert_eq!(engine.attribute("acme_terse.a", "address"), "a.example.com:1");
    assert_eq!(service.take(), "make a, find m-0");
    engine.apply(&config("terse", "a", 2)).expect_applied();
    assert_eq!(engine.attribute("acme_terse.a", "address"), "a.example.com:2");
    engine.plan(&config("terse", "a", 2)).expect_no_changes();
}

#[test]
fn existing_objects_are_imported_by_id_and_by_identity() {
    for import_argument in ["id = \"m-7\"", "identity = { id = \"m-7\" }"] {
        let service = Service::default();
        // As if another program had created it.
        service.put("m-7", "a", 2);
        let mut engine = test_engine(&service);
        let block = config("told", "a", 2);
        engine
            .apply(&format!("{block}import {{\n  to = acme_told.a\n  {import_argument}\n}}\n"))
            .expect_applied();
        assert_eq!(engine.attribute("acme_told.a", "address"), "a.example.com:2");
        engine.plan(&block).expect_no_changes();
    }
}

#[test]
fn after_any_failed_call_the_next_run_succeeds() {
    for kind in ["told", "terse"] {
        let service = Service::default();
        fault_sweep(move || provider(service.clone()), &config(kind, "a", 1));
    }
}

#[test]
fn waiting_ends_when_the_host_stops_and_the_created_object_is_kept() {
    let service = Service::default();
    // More than any wait lasts: only the stop can end it.
    service.0.lock().unwrap().delay = 1000;
    wait(async {
        let mut object = TestObject::new(provider(service.clone()), "acme_patient").await.unwrap();
        // Before the call: a stop lasts, and ends the waits that begin later.
        object.stop().await.unwrap();
        let refusal = object.apply([("name", Value::string("a"))]).await.unwrap_err();
        assert!(refusal.0.starts_with("Interrupted: "), "{refusal:?}");
        assert_eq!(object.get("id"), &Value::string("m-0"));
    });
}

#[test]
fn a_read_waits_until_the_service_has_the_object() {
    let service = Service::default();
    service.0.lock().unwrap().delay = 2;
    let mut engine = test_engine(&service);
    let config = config("terse", "a", 1);
    engine.apply(&config).expect_applied();
    assert_eq!(engine.attribute("acme_terse.a", "address"), "a.example.com:1");
    // Two answers come too early, and the third has the machine.
    assert_eq!(service.take(), "make a, find m-0, find m-0, find m-0");
    engine.destroy(&config).expect_applied();
    // The first is the read of the plan; the last three wait until the machine is deleted.
    assert_eq!(service.take(), "find m-0, unmake m-0, find m-0, find m-0, find m-0");
    service.0.lock().unwrap().delay = 100;
    engine.apply(&config).expect_error("until the terse is there");
    // Terraform marks an object as tainted if its creation fails and still gives a state.
    assert!(engine.is_tainted("acme_terse.a"));
}

#[test]
fn a_created_object_is_kept_if_its_read_fails() {
    let service = Service::default();
    service.0.lock().unwrap().is_broken = true;
    let mut engine = test_engine(&service);
    engine.apply(&config("terse", "a", 1)).expect_error("the service is down");
    assert!(engine.is_tainted("acme_terse.a"));
    assert_eq!(engine.attribute("acme_terse.a", "id"), "m-0");
    assert_eq!(engine.attribute("acme_terse.a", "name"), "a");
    service.0.lock().unwrap().is_broken = false;
    engine.apply(&config("terse", "a", 1)).expect_applied();
    assert!(!engine.is_tainted("acme_terse.a"));
    // The tainted machine was removed, and does not remain next to the new one.
    assert_eq!(service.0.lock().unwrap().machines.len(), 1);
}

#[test]
fn an_object_that_is_not_ready_in_time_is_kept_with_its_known_values() {
    let service = Service::default();
    let mut engine = test_engine(&service);
    engine.apply(&config("patient", "a", 0)).expect_applied();
    engine.apply(&config("patient", "a", 3)).expect_applied();
    assert_eq!(engine.attribute("acme_patient.a", "address"), "a.example.com:3");
    engine.apply(&config("patient", "a", 13)).expect_error("No machine of this size runs.");
    assert_eq!(engine.attribute("acme_patient.a", "size"), "3");
    engine.destroy("").expect_applied();
    // The machine is created without a size, and never gets one.
    engine.apply(&config("patient", "b", 3)).expect_error("until the patient is ready");
    assert!(engine.is_tainted("acme_patient.a"));
    assert_eq!(engine.attribute("acme_patient.a", "address"), "b.example.com:0");
}

#[test]
fn a_name_can_be_the_only_attribute_for_an_import() {
    let service = Service::default();
    let mut engine = test_engine(&service);
    engine.run_lifecycle(&config("named", "a", 1));
    let run_result = engine.apply(&config("named", "a", 1));
    run_result.expect_applied();
    assert!(run_result.messages().contains("A machine costs money."), "{}", run_result.messages());
    engine.apply(&config("named", "a", 0)).expect_error("No machine is so small");
    engine.apply(&config("named", "a", 5)).expect_applied();
    assert_eq!(service.0.lock().unwrap().machines["m-0"].size, 5);
    // Another program removes it.
    service.0.lock().unwrap().machines.clear();
    let plan = engine.plan(&config("named", "a", 5)).plan_text();
    assert!(plan.contains("+ acme_named.a"), "{plan}");
}

#[test]
fn an_object_is_read_by_its_configured_name() {
    let service = Service::default();
    let mut engine = test_engine(&service);
    let block = "resource \"acme_called\" \"a\" {\n  name = \"a\"\n}\n";
    engine.run_lifecycle(block);
    service.take();
    engine.apply(block).expect_applied();
    assert_eq!(engine.attribute("acme_called.a", "address"), "a.example.com:1");
    assert_eq!(service.take(), "make a, find a");
    let import = format!("{block}import {{\n  to = acme_called.a\n  id = \"a\"\n}}\n");
    // Another test engine, because an import needs a state that lacks the object.
    let mut later = test_engine(&service);
    later.apply(&import).expect_applied();
    later.plan(block).expect_no_changes();
}

#[test]
fn further_functions_of_a_resource_are_called() {
    let service = Service::default();
    service.put("m-0", "a-b", 2);
    let mut engine = test_engine(&service);
    let block = config("named", "a-b", 2);
    let import = format!("{block}import {{\n  to = acme_named.a\n  id = \"a/b\"\n}}\n");
    engine.apply(&import).expect_applied();
    engine.plan(&block).expect_no_changes();
    // As from an older version of the provider, whose upgrade adds 1 to the size.
    let older = engine.state().replace("\"schema_version\": 1", "\"schema_version\": 0");
    assert!(older.contains("\"schema_version\": 0"), "{older}");
    // 2 and 1: without the upgrade, or with two of them, the plan would have a change.
    service.put("m-0", "a-b", 3);
    engine.set_state(&older);
    engine.plan(&config("named", "a-b", 3)).expect_no_changes();
}
