//! Lifecycles of a small provider over a world in memory.

mod ephemeral;
mod listing;
mod rules;
mod upgrade;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use expect_test::expect;
use formwork_sdk::prelude::*;

use super::*;

/// A server that takes an hour to start.
#[derive(Clone, Model)]
struct Machine {
    #[attr(required, replace)]
    zone: String,
    #[attr(default = 1)]
    cores: i64,
    #[attr(optional, sensitive)]
    password: Option<String>,
    #[block]
    disks: Vec<Disk>,
    #[attr(computed, keep, import)]
    id: String,
}

#[derive(Clone, Debug, Nested)]
struct Disk {
    #[attr(required)]
    size: i64,
}

type HostValues = Arc<Mutex<BTreeMap<String, Machine>>>;

struct Machines(HostValues);

impl Resource for Machines {
    type Model = Machine;

    async fn create(&self, call: Create<Machine>) -> Answer<MachineComputed> {
        let MachineInput { zone, cores, password, disks } = call.planned.clone();
        let id = format!("{zone}-{}", self.0.lock().unwrap().len());
        let machine = Machine { zone, cores, password, disks, id: id.clone() };
        self.0.lock().unwrap().insert(id.clone(), machine);
        // Before the wait, because a failure must not lose the id.
        call.keep(MachineDraft { id: id.clone().into(), ..MachineDraft::default() });
        // An hour of the test engine's clock, which jumps.
        tokio::time::sleep(Duration::from_secs(3600)).await;
        if cores > 64 {
            return Err(Problem::new("It does not start", "Too many cores."));
        }
        Ok(MachineComputed { id })
    }

    async fn read(&self, call: Read<Machine>) -> Answer<Option<Machine>> {
        Ok(self.0.lock().unwrap().get(&call.current.id).cloned())
    }

    async fn update(&self, call: Update<Machine>) -> Answer<MachineComputed> {
        let MachineInput { zone, cores, password, disks } = call.planned;
        let id = call.prior.id;
        let machine = Machine { zone, cores, password, disks, id: id.clone() };
        self.0.lock().unwrap().insert(id.clone(), machine);
        Ok(MachineComputed { id })
    }

    async fn delete(&self, call: Delete<Machine>) -> Answer<()> {
        self.0.lock().unwrap().remove(&call.prior.id);
        Ok(())
    }
}

fn provider(host_values: &HostValues) -> impl Fn() -> ProviderDef + Clone + Send + Sync + 'static {
    let host_values = host_values.clone();
    move || {
        ProviderDef::new("registry.terraform.io/acme/cloud")
            .resource("cloud_machine", Machines(host_values.clone()))
    }
}

const CONFIG: &str = r#"
resource "cloud_machine" "a" {
  zone     = "z"
  password = "p"
  disks {
    size = 10
  }
}
"#;

#[test]
fn an_object_is_planned_created_updated_and_destroyed() {
    let host_values = HostValues::default();
    let mut engine = TestEngine::new(provider(&host_values));
    expect![[r#"
        + cloud_machine.a
            cores = 1
            disks = [{size = 10}]
            id = (known after apply)
            password = (sensitive)
            zone = "z"
    "#]]
    .assert_eq(&engine.apply(CONFIG).plan_text());
    engine.plan(CONFIG).expect_no_changes();
    let larger = CONFIG.replace("size = 10", "size = 20");
    expect![[r#"
        ~ cloud_machine.a
            disks = [{size = 10}] -> [{size = 20}]
    "#]]
    .assert_eq(&engine.apply(&larger).plan_text());
    let moved = larger.replace("\"z\"", "\"y\"");
    expect![[r#"
        -/+ cloud_machine.a
            id = "z-0" -> (known after apply)
            zone = "z" -> "y" # forces replacement
    "#]]
    .assert_eq(&engine.apply(&moved).plan_text());
    engine.destroy(&moved).expect_applied();
    assert!(host_values.lock().unwrap().is_empty());
}

#[test]
fn changes_by_other_programs_are_detected_and_corrected() {
    let host_values = HostValues::default();
    let mut engine = TestEngine::new(provider(&host_values));
    engine.apply(CONFIG).expect_applied();
    // Past the provider, as another program would do it.
    host_values.lock().unwrap().get_mut("z-0").unwrap().cores = 8;
    assert!(engine.apply(CONFIG).plan_text().contains("cores = 8 -> 1"));
    host_values.lock().unwrap().clear();
    assert!(engine.apply(CONFIG).plan_text().contains("+ cloud_machine.a"));
    engine.plan(CONFIG).expect_no_changes();
}

#[test]
fn existing_objects_are_imported() {
    let host_values = HostValues::default();
    let mut engine = TestEngine::new(provider(&host_values));
    engine.apply(CONFIG).expect_applied();
    // Another test engine, because its state must lack the object.
    let mut other_engine = TestEngine::new(provider(&host_values));
    let import = format!("import {{\n  to = cloud_machine.a\n  id = \"z-0\"\n}}\n{CONFIG}");
    let imported = other_engine.apply(&import);
    assert!(
        imported.plan_text().contains("(imported by the id \"z-0\")"),
        "{}",
        imported.plan_text()
    );
    imported.expect_applied();
    other_engine.plan(CONFIG).expect_no_changes();
}

#[test]
fn an_object_of_a_failed_creation_is_stored_and_replaced() {
    let host_values = HostValues::default();
    let mut engine = TestEngine::new(provider(&host_values));
    let broken = CONFIG.replace("zone ", "cores = 99\n  zone ");
    engine.apply(&broken).expect_error("It does not start");
    assert!(engine.is_tainted("cloud_machine.a"));
    assert_eq!(engine.attribute("cloud_machine.a", "id"), "z-0");
    engine.apply(CONFIG).expect_applied();
    // The one that does not start was removed, and not only forgotten.
    assert_eq!(host_values.lock().unwrap().len(), 1);
}

#[test]
fn after_a_failure_of_any_call_the_next_run_succeeds() {
    let host_values = HostValues::default();
    let cases = fault_sweep(provider(&host_values), CONFIG);
    let calls: Vec<_> = cases.iter().map(|case| case.call.as_str()).collect();
    // Twice: once it dies before its work, and once after it.
    assert!(calls.iter().filter(|call| **call == "apply cloud_machine").count() == 2, "{calls:?}");
}

#[test]
fn the_cost_of_a_large_set_is_linear() {
    let planned = |size: usize| {
        let mut engine = TestEngine::new(|| {
            ProviderDef::new("registry.terraform.io/acme/cloud").resource("cloud_crowd", Crowds)
        });
        let members: String =
            (0..size).map(|number| format!("{{ name = \"m{number}\" }},\n")).collect();
        let config = format!("resource \"cloud_crowd\" \"a\" {{\n  members = [\n{members}]\n}}\n");
        engine.apply(&config).expect_applied();
        // The smallest of three, because other work can only make a run slower.
        let times = (0..3).map(|_| {
            let started_at = std::time::Instant::now();
            engine.plan(&config).expect_no_changes();
            started_at.elapsed()
        });
        times.min().unwrap_or_default().as_secs_f64()
    };
    let (small, large) = (planned(100), planned(5_000));
    println!("5,000 elements cost {:.1} times what 100 do", large / small);
    // Other tests run concurrently, so the limit has a margin. Quadratic growth would cost 2,500
    // times as much.
    assert!(large < 500.0 * small, "{large}s and {small}s");
}

#[derive(Model)]
struct Crowd {
    #[attr(required, fills)]
    members: Set<Member>,
}

#[derive(Clone, Debug, Nested)]
struct Member {
    #[attr(required)]
    name: String,
    #[attr(default = "guest")]
    role: String,
    #[attr(computed)]
    number: i64,
}

struct Crowds;

impl Resource for Crowds {
    type Model = Crowd;

    async fn create(&self, call: Create<Crowd>) -> Answer<CrowdComputed> {
        let members = (0..).zip(call.planned.members);
        let to_member = |(number, MemberInput { name, role })| Member { name, role, number };
        Ok(CrowdComputed { members: members.map(to_member).collect() })
    }
}

#[test]
fn repeated_life_cycles_leave_no_objects() {
    let host_values = HostValues::default();
    let mut engine = TestEngine::new(provider(&host_values));
    let started_at = std::time::Instant::now();
    for _ in 0..20 {
        engine.run_lifecycle(CONFIG);
    }
    println!("{:.0} life cycles a second", 20.0 / started_at.elapsed().as_secs_f64());
    assert!(host_values.lock().unwrap().is_empty());
}

/// An object with slow operations.
#[derive(Model)]
struct Slow {
    #[attr(computed)]
    pauses: Vec<i64>,
    #[block]
    timeouts: Option<Timeouts>,
}

struct Slows;

impl Resource for Slows {
    type Model = Slow;

    async fn create(&self, call: Create<Slow>) -> Answer<SlowComputed> {
        let mut requested_ids = Vec::new();
        let (started_at, second) = (tokio::time::Instant::now(), Duration::from_secs(1));
        let wait = call.wait("it is done").every(second).doubling_to(8 * second);
        let pauses = wait.at_most(3600 * second).until(|| {
            requested_ids.push(started_at.elapsed().as_secs() as i64);
            let pauses: Vec<_> = requested_ids.windows(2).map(|two| two[1] - two[0]).collect();
            async move { Ok((pauses.len() == 6).then_some(pauses)) }
        });
        Ok(SlowComputed { pauses: pauses.await? })
    }
}

#[test]
fn pauses_double_up_to_a_limit_and_the_timeout_is_configurable() {
    let provider =
        || ProviderDef::new("registry.terraform.io/acme/slow").resource("slow_one", Slows);
    let mut engine = TestEngine::new(provider);
    engine.apply("resource \"slow_one\" \"a\" {}\n").expect_applied();
    assert_eq!(engine.attribute("slow_one.a", "pauses"), "[1,2,4,8,8,8]");
    let short = "resource \"slow_one\" \"b\" {\n  timeouts { create = \"10s\" }\n}\n";
    TestEngine::new(provider).apply(short).expect_error("Waited 10s until it is done");
}
