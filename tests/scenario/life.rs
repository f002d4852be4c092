//! The usual lifecycle of objects: created, changed, replaced, changed and removed by others, destroyed.

use crate::harness::{Instance, Workdir, instances};

const HEADER: &str = r#"
terraform {
  required_providers {
    bad = { source = "formwork/bad" }
  }
}
"#;

fn config(resources: &str) -> String {
    format!("{HEADER}{resources}")
}

fn thing(name: &str, rest: &str) -> String {
    format!("resource \"bad_thing\" \"{name}\" {{\n  name = \"{name}\"\n{rest}\n}}\n")
}

fn ready_instance(name: &str, id: &str) -> Instance {
    let addr = format!("bad_thing.{name}");
    Instance { addr, id: id.to_owned(), tainted: false, deposed: false }
}

/// Changes of real objects since the last call, without the reads that preceded them.
fn take_changes(workdir: &Workdir) -> Vec<String> {
    let verbs = ["create ", "update ", "destroy "];
    let calls = workdir.service.take_calls();
    calls.into_iter().filter(|call| verbs.iter().any(|verb| call.starts_with(verb))).collect()
}

#[test]
fn objects_are_created_changed_and_destroyed() {
    let workdir = Workdir::new(&config(&thing("a", "size = 1")));
    workdir.formwork("apply -auto-approve").succeed().says("1 added, 0 changed, 0 destroyed");
    assert_eq!(take_changes(&workdir), ["create a-1"]);
    assert_eq!(instances(&workdir), [ready_instance("a", "a-1")]);
    workdir.formwork("plan -detailed-exitcode").succeed().says("No changes");

    workdir.write("main.tf", &config(&thing("a", "size = 2")));
    workdir.formwork("plan -detailed-exitcode").run().code(2).says("~ size = 1 -> 2");
    workdir.formwork("apply -auto-approve").succeed().says("0 added, 1 changed, 0 destroyed");
    assert_eq!(take_changes(&workdir), ["update a-1"]);
    assert!(workdir.service.object("a-1").contains("\"size\":2"));

    workdir.formwork("destroy -auto-approve").succeed().says("1 destroyed");
    assert_eq!(take_changes(&workdir), ["destroy a-1"]);
    assert_eq!((instances(&workdir), workdir.service.objects()), (vec![], vec![]));
    workdir.service.assert_no_provider_runs();
}

#[test]
fn a_forced_replacement_follows_the_configured_order() {
    for (lifecycle, order) in [
        ("", ["destroy a-1", "create a-1"]),
        ("lifecycle {\n create_before_destroy = true\n}", ["create a-2", "destroy a-1"]),
    ] {
        let with = |kind: &str| config(&thing("a", &format!("kind = \"{kind}\"\n{lifecycle}")));
        let workdir = Workdir::new(&with("small"));
        workdir.formwork("apply -auto-approve").succeed();
        take_changes(&workdir);
        workdir.write("main.tf", &with("large"));
        let result = workdir.formwork("apply -auto-approve").succeed();
        result.says("must be replaced").says("forces replacement");
        result.says("1 added, 0 changed, 1 destroyed");
        assert_eq!(take_changes(&workdir), order);
        workdir.formwork("plan -detailed-exitcode").succeed();
    }
}

#[test]
fn changes_outside_of_formwork_are_found_and_reverted() {
    let workdir = Workdir::new(&config(&(thing("a", "size = 1") + &thing("b", ""))));
    workdir.formwork("apply -auto-approve").succeed();
    take_changes(&workdir);
    let drifted = workdir.service.object("a-1").replace("\"size\":1", "\"size\":7");
    workdir.service.set_object("a-1", &drifted);
    workdir.service.remove_object("b-1");
    let result = workdir.formwork("plan -detailed-exitcode").run();
    result.code(2).says("~ size = 7 -> 1").says("bad_thing.b will be created");
    workdir.formwork("apply -auto-approve").succeed().says("1 added, 1 changed, 0 destroyed");
    assert_eq!(workdir.service.objects(), ["a-1", "b-1"]);
    workdir.formwork("plan -detailed-exitcode").succeed();
}

#[test]
fn a_resource_without_a_block_is_destroyed_after_its_dependents() {
    let blocks = thing("a", "") + &thing("b", "link = bad_thing.a.id");
    let workdir = Workdir::new(&config(&blocks));
    workdir.formwork("apply -auto-approve").succeed();
    take_changes(&workdir);
    workdir.write("main.tf", &config(""));
    workdir.formwork("apply -auto-approve").succeed().says("0 added, 0 changed, 2 destroyed");
    assert_eq!(take_changes(&workdir), ["destroy b-1", "destroy a-1"]);
}

#[test]
fn one_failure_stops_only_its_dependents_and_the_next_run_continues() {
    let blocks = thing("a", "fault = \"apply-refuses\"")
        + &thing("after_a", "link = bad_thing.a.id")
        + &thing("b", "")
        + &thing("after_b", "link = bad_thing.b.id");
    let workdir = Workdir::new(&config(&blocks));
    workdir.formwork("apply -auto-approve").run().code(1).says("The quota is used up");
    assert_eq!(
        instances(&workdir),
        [ready_instance("after_b", "after_b-1"), ready_instance("b", "b-1")]
    );
    workdir.write("main.tf", &config(&blocks.replace("apply-refuses", "")));
    workdir.formwork("apply -auto-approve").succeed().says("2 added, 0 changed, 0 destroyed");
    assert_eq!(workdir.service.objects(), ["a-1", "after_a-1", "after_b-1", "b-1"]);
}

#[test]
fn a_tainted_object_is_replaced() {
    let workdir = Workdir::new(&config(&thing("a", "")));
    let command = workdir.formwork("apply -auto-approve");
    command.env("BAD_FAULT", "apply-error-partial").run().code(1);
    assert!(instances(&workdir)[0].tainted);
    let result = workdir.formwork("apply -auto-approve").succeed();
    result.says("is tainted, so must be replaced").says("1 added, 0 changed, 1 destroyed");
    assert_eq!(instances(&workdir), [ready_instance("a", "a-1")]);
}

#[test]
fn a_saved_plan_is_applied_once_and_is_stale_after_that() {
    let workdir = Workdir::new(&config(&thing("a", "")));
    workdir.formwork("plan -out=saved").succeed();
    assert_eq!(workdir.service.objects(), [""; 0]);
    workdir.formwork("apply saved").succeed().says("1 added");
    workdir.formwork("apply saved").run().code(1).says("Saved plan is stale");
    assert_eq!(workdir.service.objects(), ["a-1"]);
}

#[test]
fn nothing_is_done_without_approval() {
    let workdir = Workdir::new(&config(&thing("a", "")));
    workdir.formwork("apply").stdin("no\n").run().code(1).says("Apply cancelled");
    assert_eq!(workdir.service.objects(), [""; 0]);
    workdir.formwork("apply").stdin("yes\n").succeed();
    assert_eq!(workdir.service.objects(), ["a-1"]);
}

#[test]
fn instances_are_created_in_parallel() {
    let workdir = Workdir::new(&config(
        "resource \"bad_thing\" \"many\" {\n  count = 2\n  name = \"many${count.index}\"\n}\n",
    ));
    let command = workdir.formwork("apply -auto-approve");
    let running = command.env("BAD_HOLD", "after:many0,after:many1").start();
    // The second could not come to the gate if it waited for the first.
    let (_, first) = workdir.service.wait_for_pause();
    let (_, second) = workdir.service.wait_for_pause();
    first.resume();
    second.resume();
    assert_eq!(running.wait().code, Some(0));
    assert_eq!(instances(&workdir).len(), 2);
}

#[test]
fn a_deposed_object_is_named_by_its_key_in_all_output() {
    let with = |size: &str| {
        let lifecycle = "lifecycle {\n  create_before_destroy = true\n}";
        config(&thing("a", &format!("kind = \"{size}\"\n{lifecycle}")))
    };
    let workdir = Workdir::new(&with("1"));
    workdir.formwork("apply -auto-approve").succeed();
    workdir.write("main.tf", &with("2"));
    workdir.formwork("apply -auto-approve").env("BAD_FAULT", "destroy-error").run().code(1);
    let shown = workdir.formwork("show").succeed();
    let (_, rest) =
        shown.stdout.split_once("# bad_thing.a: (deposed object ").expect("it is deposed");
    let key = rest.split_once(')').expect("a bracket").0.to_owned();
    let refreshed = format!("bad_thing.a (deposed object {key}): Refreshing state...");
    workdir.formwork("plan").succeed().says(&refreshed);
}
