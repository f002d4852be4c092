//! Runs that are cut off: finished changes are in the state, operations in flight are named.

use nix::sys::signal::Signal;

use crate::harness::{Workdir, built, instances};

const CONFIG: &str = r#"
terraform {
  required_providers {
    bad = { source = "formwork/bad" }
  }
}

resource "bad_thing" "first" {
  name = "first"
}

resource "bad_thing" "second" {
  name = "second"
  link = bad_thing.first.id
}
"#;

fn names(workdir: &Workdir) -> Vec<String> {
    instances(workdir).into_iter().map(|instance| instance.addr).collect()
}

/// Starts an apply, and ends it by `signals` when `second` is at the moment.
fn end_apply_at(workdir: &Workdir, moment: &str, signal: Signal) {
    let command = workdir.formwork("apply -auto-approve");
    let running = command.env("BAD_HOLD", &format!("{moment}:second")).start();
    let (_, paused) = workdir.service.wait_for_pause();
    running.signal(signal);
    let result = running.wait();
    assert_ne!(result.code, Some(0), "{}", result.text());
    drop(paused);
    workdir.service.assert_no_provider_runs();
}

#[test]
fn fifty_kills_lose_no_object_create_no_duplicate_and_tear_no_file() {
    let program = built("formwork");
    let mut crash = std::process::Command::new(env!("CARGO_BIN_EXE_crash"));
    let crash = crash.args(["--kills", "50", "--program"]).arg(program).output();
    let crash = crash.expect("it was built with this test");
    let (out, err) =
        (String::from_utf8_lossy(&crash.stdout), String::from_utf8_lossy(&crash.stderr));
    assert!(crash.status.success(), "{out}{err}");
    // The third column counts kills at a write: without any, half of the test would be missing.
    let row = out.lines().find(|line| line.starts_with("| formwork ")).expect("a row of the table");
    let n_at_writes: u32 = row.split('|').nth(3).unwrap().trim().parse().unwrap();
    assert!(n_at_writes > 0, "{out}");
}

#[test]
fn after_a_kill_the_next_command_lists_the_operations_in_flight() {
    let workdir = Workdir::new(CONFIG);
    end_apply_at(&workdir, "after", Signal::SIGKILL);
    assert_eq!(workdir.service.objects(), ["first-1", "second-1"]);

    let next = workdir.formwork("plan -detailed-exitcode").run();
    next.code(2)
        .says("bad_thing.second was being created")
        .says("No changes other than open operations");
    next.says_not("bad_thing.first will be created");
    // A plan does not settle the operation.
    workdir.formwork("plan").succeed().says("bad_thing.second was being created");
}

#[test]
fn the_replacement_of_a_vanished_object_is_adopted_by_its_id() {
    let workdir = Workdir::new(CONFIG);
    workdir.formwork("apply -auto-approve").succeed();
    workdir.service.remove_object("second-1");
    end_apply_at(&workdir, "after", Signal::SIGKILL);
    assert_eq!(workdir.service.objects(), ["first-1", "second-1"]);
    workdir.formwork("recover list").succeed().says("bad_thing.second was being created");
    workdir.formwork("recover adopt bad_thing.second second-1").succeed();
    workdir.formwork("apply -auto-approve").succeed().says("0 added, 0 changed, 0 destroyed");
    assert_eq!(workdir.service.objects(), ["first-1", "second-1"]);
}

#[test]
fn operations_that_ended_before_a_kill_are_in_the_state() {
    let workdir = Workdir::new(CONFIG);
    end_apply_at(&workdir, "before", Signal::SIGKILL);
    assert_eq!(workdir.service.objects(), ["first-1"]);

    // Only a person can know that `second` never came to exist.
    let next = workdir.formwork("apply -auto-approve").run();
    next.code(1).says("bad_thing.second was being created").says("recover forget");
    assert_eq!(workdir.service.objects(), ["first-1"]);
    let listed = workdir.formwork("recover list").succeed();
    listed.says("bad_thing.second was being created").says_not("recover list");
    workdir.formwork("recover forget bad_thing.second").succeed();
    workdir.formwork("apply -auto-approve").succeed().says("1 added");
    assert_eq!(names(&workdir), ["bad_thing.first", "bad_thing.second"]);
    assert_eq!(workdir.service.objects(), ["first-1", "second-1"]);
    workdir.formwork("plan -detailed-exitcode").succeed().says_not("was being created");
}

#[test]
fn an_open_operation_blocks_only_its_instance_and_dependents() {
    let dependent = r#"
resource "bad_thing" "dependent" {
  name = "dependent"
  link = bad_thing.second.id
}
"#;
    let workdir = Workdir::new(&format!("{CONFIG}{dependent}"));
    end_apply_at(&workdir, "after", Signal::SIGKILL);
    assert_eq!(workdir.service.objects(), ["first-1", "second-1"]);
    let third = "resource \"bad_thing\" \"third\" {\n  name = \"third\"\n}\n";
    let changed = CONFIG.replace("name = \"first\"", "name = \"first\"\n  size = 2");
    workdir.write("main.tf", &format!("{changed}{dependent}{third}"));
    // Planned as usual, with a position in the configuration.
    let plan = workdir.formwork("plan -detailed-exitcode -out=p").run();
    plan.code(2).says("1 to add, 1 to change").says("bad_thing.second was being created");
    let applied = workdir.formwork("apply p").run();
    applied.code(1).says("1 added, 1 changed").says("with bad_thing.second, on main.tf line");
    assert_eq!(workdir.service.objects(), ["first-1", "second-1", "third-1"]);
    let next = workdir.formwork("apply -auto-approve").run();
    next.code(1).says("0 added, 0 changed").says("An interrupted operation needs a decision");
    next.says("formwork recover forget 'bad_thing.second'");
    // So is everything else destroyed.
    let destroyed = workdir.formwork("destroy -auto-approve").run();
    destroyed.code(1).says("2 destroyed").says("An interrupted operation needs a decision");
    assert_eq!(workdir.service.objects(), ["second-1"]);
    workdir.formwork("recover adopt bad_thing.second second-1").succeed();
    workdir.formwork("destroy -auto-approve").succeed().says("1 destroyed");
    assert!(workdir.service.objects().is_empty());
}

#[test]
fn an_operation_without_a_block_is_located_only_by_its_address() {
    let workdir = Workdir::new(CONFIG);
    end_apply_at(&workdir, "after", Signal::SIGKILL);
    let (without_second, _) = CONFIG.split_once("resource \"bad_thing\" \"second\"").unwrap();
    workdir.write("main.tf", without_second);
    let plan = workdir.formwork("plan").succeed();
    plan.says("bad_thing.second was being created");
    assert!(plan.text().contains("  with bad_thing.second\n"), "{}", plan.text());
}

#[test]
fn a_full_destroy_names_objects_that_may_remain() {
    let workdir = Workdir::new(CONFIG);
    end_apply_at(&workdir, "after", Signal::SIGKILL);
    let result = workdir.formwork("destroy -auto-approve").run();
    result.code(1).says("bad_thing.second was being created").says("recover adopt");
    assert_eq!(workdir.service.objects(), ["second-1"]);
    // Neither needs a configuration.
    std::fs::remove_file(workdir.root().join("main.tf")).unwrap();
    workdir.formwork("recover adopt bad_thing.second second-1").succeed();
    workdir.formwork("destroy -auto-approve").succeed().says("1 destroyed");
    assert!(workdir.service.objects().is_empty());
}

#[test]
fn results_of_a_first_run_are_kept_if_another_program_creates_a_state() {
    let workdir = Workdir::new(CONFIG);
    end_apply_at(&workdir, "after", Signal::SIGKILL);
    // A state of another program without journals.
    let theirs = r#"{"version":4,"terraform_version":"1.11.4","serial":1,"lineage":"theirs",
        "outputs":{},"resources":[],"check_results":null}"#;
    workdir.write("terraform.tfstate", theirs);
    workdir.formwork("state list").succeed().says("bad_thing.first");
    workdir.formwork("recover adopt bad_thing.second second-1").succeed();
    workdir.formwork("apply -auto-approve").succeed().says("0 added, 0 changed, 0 destroyed");
    assert_eq!(workdir.service.objects(), ["first-1", "second-1"]);
}

#[test]
fn a_killed_run_with_two_state_files_is_recovered_from_both() {
    let workdir = Workdir::new(CONFIG);
    workdir.formwork("apply -auto-approve -target=bad_thing.first -state=a.tfstate").succeed();
    let command = workdir.formwork("apply -auto-approve -state=a.tfstate -state-out=b.tfstate");
    let running = command.env("BAD_HOLD", "after:second").start();
    let (_, paused) = workdir.service.wait_for_pause();
    running.signal(Signal::SIGKILL);
    running.wait();
    drop(paused);
    workdir.service.assert_no_provider_runs();
    let open = workdir.formwork("recover list -state=b.tfstate").succeed();
    open.says("bad_thing.second was being created");
    workdir.formwork("recover adopt -state=b.tfstate bad_thing.second second-1").succeed();
    let listed = workdir.formwork("state list -state=b.tfstate").succeed();
    assert_eq!(listed.stdout, "bad_thing.first\nbad_thing.second\n");
    workdir.formwork("plan -detailed-exitcode -state=b.tfstate").succeed();
}

#[test]
fn open_operations_of_a_workspace_are_named_when_it_is_deleted_by_force() {
    let workdir = Workdir::new(CONFIG);
    workdir.formwork("workspace new other").succeed();
    end_apply_at(&workdir, "after", Signal::SIGKILL);
    workdir.formwork("workspace select default").succeed();
    workdir.formwork("workspace delete other").run().code(1).says("bad_thing.second");
    let deleted = workdir.formwork("workspace delete -force other").succeed();
    deleted.says("bad_thing.second was being created").says("Deleted workspace");
}

#[test]
fn an_object_that_a_killed_run_created_is_adopted_and_not_created_again() {
    let workdir = Workdir::new(CONFIG);
    end_apply_at(&workdir, "after", Signal::SIGKILL);
    // A command that only reads prints the warning too, but not on stdout, which programs read.
    let state_list = workdir.formwork("state list").succeed();
    assert_eq!(state_list.stdout, "bad_thing.first\n");
    assert!(state_list.stderr.contains("An operation was interrupted"), "{}", state_list.text());
    let listed = workdir.formwork("recover list -json").succeed().stdout;
    let listed: serde_json::Value = serde_json::from_str(&listed).expect("one document");
    let open = &listed["unresolved"][0];
    assert_eq!(open["address"], "bad_thing.second");
    assert_eq!((&open["action"], &open["doubt"]), (&"create".into(), &"effect".into()));
    assert_eq!(open["planned"]["name"], "second");

    workdir
        .formwork("recover adopt bad_thing.second")
        .run()
        .code(1)
        .says("id of the object is missing");
    workdir.formwork("recover adopt bad_thing.second second-9").run().code(1);
    workdir
        .formwork("recover adopt bad_thing.other second-1")
        .run()
        .code(1)
        .says("Nothing to settle");
    workdir.formwork("recover adopt bad_thing.second second-1").succeed().says("is in the state");
    workdir.formwork("recover list").succeed().says("No open operations.").says_not("bad_thing");
    workdir.formwork("apply -auto-approve").succeed().says("0 added, 0 changed, 0 destroyed");
    assert_eq!(workdir.service.objects(), ["first-1", "second-1"]);
}

#[test]
fn an_object_without_a_block_is_adopted_and_destroyed_by_the_next_apply() {
    let (without_second, _) = CONFIG.split_once("resource \"bad_thing\" \"second\"").unwrap();
    let zero_instances = renamed("\"second\" {\n  count = 0");
    let module_call = "\nmodule \"m\" {\n  source = \"./m\"\n}\n";
    for config in
        [without_second.to_owned(), zero_instances, without_second.to_owned() + module_call]
    {
        let workdir = Workdir::new(CONFIG);
        end_apply_at(&workdir, "after", Signal::SIGKILL);
        workdir.write("m/main.tf", "");
        workdir.write("main.tf", &config);
        workdir.formwork("get").succeed();
        workdir.formwork("recover adopt bad_thing.second nobody-1").run().code(1);
        let managed = workdir.formwork("recover adopt bad_thing.second first-1").run();
        managed
            .code(1)
            .says("Object is managed already")
            .says("already belongs to bad_thing.first");
        let adopted = workdir.formwork("recover adopt bad_thing.second second-1").succeed();
        adopted.says("bad_thing.second is in the state.");
        assert_eq!(names(&workdir), ["bad_thing.first", "bad_thing.second"]);
        let next = workdir.formwork("apply -auto-approve").succeed();
        next.says("0 added, 0 changed, 1 destroyed");
        assert_eq!(workdir.service.objects(), ["first-1"]);
        workdir.formwork("plan -detailed-exitcode").succeed();
    }
}

#[test]
fn an_adopted_object_whose_new_address_is_taken_is_left_to_the_next_plan() {
    let workdir = Workdir::new(CONFIG);
    end_apply_at(&workdir, "after", Signal::SIGKILL);
    // Renamed without a `moved` block, so another object is created. A later `moved` block names the old
    // address.
    let renamed = CONFIG.replace("\"second\" {", "\"other\" {").replace("\"second\"", "\"third\"");
    workdir.write("main.tf", &renamed);
    workdir.formwork("apply -auto-approve").succeed();
    let moved = "moved {\n  from = bad_thing.second\n  to   = bad_thing.other\n}\n";
    workdir.write("main.tf", &(renamed + moved));
    let adopted = workdir.formwork("recover adopt bad_thing.second second-1").succeed();
    adopted.says("the next apply destroys the object");
    assert_eq!(names(&workdir), ["bad_thing.first", "bad_thing.other", "bad_thing.second"]);
    let next = workdir.formwork("apply -auto-approve").succeed();
    next.says("Unresolved resource instance address changes").says("1 destroyed");
    assert_eq!(workdir.service.objects(), ["first-1", "third-1"]);
    workdir.formwork("plan -detailed-exitcode").succeed();
}

#[test]
fn an_import_to_the_target_of_a_pending_move_is_refused() {
    let workdir = Workdir::new(CONFIG);
    end_apply_at(&workdir, "after", Signal::SIGKILL);
    let renamed_config =
        CONFIG.replace("\"second\" {", "\"other\" {").replace("\"second\"", "\"other\"");
    workdir.write("main.tf", &renamed_config);
    workdir.formwork("apply -auto-approve").succeed();
    let third = renamed_config.replace("\"other\" {", "\"third\" {");
    let moved = |from: &str, to: &str| {
        format!("moved {{\n  from = bad_thing.{from}\n  to   = bad_thing.{to}\n}}\n")
    };
    workdir.write("main.tf", &(third + &moved("other", "third")));
    let refused = workdir.formwork("import bad_thing.third second-1").run();
    refused.code(1).says("already managing a remote object for bad_thing.third");
    assert_eq!(names(&workdir), ["bad_thing.first", "bad_thing.other"]);
}

#[test]
fn an_object_imported_for_a_replacement_is_known_after_a_kill() {
    let first = "  lifecycle {\n    create_before_destroy = true\n  }\n  name = \"second\"";
    let old = CONFIG.replace("  name = \"second\"", &format!("{first}\n  kind = \"one\""));
    let workdir = Workdir::new(&old);
    workdir.formwork("apply -auto-approve").succeed();
    workdir.formwork("state rm bad_thing.second").succeed();
    let import = "import {\n  to = bad_thing.second\n  id = \"second-1\"\n}\n";
    workdir.write("main.tf", &(old.replace("\"one\"", "\"two\"") + import));
    end_apply_at(&workdir, "after", Signal::SIGKILL);
    assert_eq!(workdir.service.objects(), ["first-1", "second-1", "second-2"]);
    workdir.formwork("recover adopt bad_thing.second second-2").succeed();
    workdir.formwork("apply -auto-approve").succeed().says("0 added, 0 changed, 1 destroyed");
    assert_eq!(workdir.service.objects(), ["first-1", "second-2"]);
}

/// The configuration after `second` got another name, be it as an instance of a repeated resource.
fn renamed(block: &str) -> String {
    let parts = CONFIG.split_once("resource \"bad_thing\" \"second\" {");
    let (before, second) = parts.expect("it has that block");
    format!("{before}resource \"bad_thing\" {block}{second}")
}

#[test]
fn after_a_move_an_operation_is_settled_by_its_new_or_old_address() {
    let by_key = r#"moved {
  from = bad_thing.second
  to   = bad_thing.other["k"]
}
"#;
    let by_name = by_key.replace("[\"k\"]", "");
    let configs = [
        ("bad_thing.other", renamed("\"other\" {") + &by_name),
        ("bad_thing.other[\"k\"]", renamed("\"other\" {\n  for_each = toset([\"k\"])") + by_key),
    ];
    for (new, config) in configs {
        for (verb, moment) in [("forget", "before"), ("retry", "before"), ("adopt", "after")] {
            for addr in [new, "bad_thing.second"] {
                let workdir = Workdir::new(CONFIG);
                end_apply_at(&workdir, moment, Signal::SIGKILL);
                workdir.write("main.tf", &config);
                let objects_before = workdir.service.objects();
                let refused = workdir.formwork("apply -auto-approve").run();
                refused.code(1).says("An interrupted operation needs a decision").says(new);
                assert_eq!(workdir.service.objects(), objects_before, "it was made a second time");
                workdir.formwork("recover list").succeed().says(&format!("which is now {new}"));
                let listed = workdir.formwork("recover list -json").succeed().stdout;
                let listed: serde_json::Value = serde_json::from_str(&listed).expect("a document");
                assert_eq!(listed["unresolved"][0]["moved_to"], new);
                let decide = workdir.formwork(&format!("recover {verb}")).arg(addr);
                let decide = if verb == "adopt" { decide.arg("second-1") } else { decide };
                decide.succeed().says(addr);
                workdir.formwork("apply -auto-approve").succeed();
                assert_eq!(names(&workdir), ["bad_thing.first", new]);
                assert_eq!(workdir.service.objects(), ["first-1", "second-1"]);
                workdir.formwork("plan -detailed-exitcode").succeed();
            }
        }
    }
}

#[test]
fn a_successor_is_adopted_at_its_new_address_together_with_its_predecessor() {
    let first = "  lifecycle {\n    create_before_destroy = true\n  }\n  name = \"second\"";
    let [before, after] = ["one", "two"].map(|kind| {
        CONFIG.replace("  name = \"second\"", &format!("{first}\n  kind = \"{kind}\""))
    });
    let workdir = Workdir::new(&before);
    workdir.formwork("apply -auto-approve").succeed();
    workdir.write("main.tf", &after);
    end_apply_at(&workdir, "after", Signal::SIGKILL);
    assert_eq!(workdir.service.objects(), ["first-1", "second-1", "second-2"]);
    let moved = "moved {\n  from = bad_thing.second\n  to   = bad_thing.other\n}\n";
    workdir.write("main.tf", &(after.replace("\"second\" {", "\"other\" {") + moved));
    workdir
        .formwork("recover adopt bad_thing.second second-1")
        .run()
        .code(1)
        .says("managed already");
    workdir.formwork("recover adopt bad_thing.second second-2").succeed();
    let next = workdir.formwork("apply -auto-approve").succeed();
    next.says("0 added, 0 changed, 1 destroyed").says_not("Unresolved resource instance");
    assert_eq!(names(&workdir), ["bad_thing.first", "bad_thing.other"]);
    assert_eq!(workdir.service.objects(), ["first-1", "second-2"]);
    workdir.formwork("plan -detailed-exitcode").succeed();
}

/// Three things by name, under a name of their own.
fn group(name: &str, kinds: &str) -> String {
    let block = format!(
        "resource \"bad_thing\" \"{name}\" {{\n  for_each = toset([{kinds}])\n  name     = each.key\n}}\n"
    );
    CONFIG.split_once("resource").map_or_else(String::new, |(head, _)| head.to_owned() + &block)
}

#[test]
fn an_adopted_instance_moves_with_its_renamed_resource_and_none_is_created_again() {
    let workdir = Workdir::new(&group("a", "\"x\", \"y\""));
    workdir.formwork("apply -auto-approve").succeed();
    workdir.write("main.tf", &group("a", "\"x\", \"y\", \"second\""));
    end_apply_at(&workdir, "after", Signal::SIGKILL);
    let moved = "moved {\n  from = bad_thing.a\n  to   = bad_thing.b\n}\n";
    workdir.write("main.tf", &(group("b", "\"x\", \"y\", \"second\"") + moved));
    workdir.formwork("recover adopt bad_thing.b[\"second\"] second-1").succeed();
    let next = workdir.formwork("apply -auto-approve").succeed();
    next.says("0 added, 0 changed, 0 destroyed");
    assert_eq!(workdir.service.objects(), ["second-1", "x-1", "y-1"]);
    let all = ["second", "x", "y"].map(|key| format!("bad_thing.b[{key:?}]"));
    assert_eq!(names(&workdir), all);
}

#[test]
fn operations_at_one_address_are_settled_by_their_former_addresses() {
    let workdir = Workdir::new(CONFIG);
    end_apply_at(&workdir, "after", Signal::SIGKILL);
    // Renamed without a `moved` block, so another object is created. A later `moved` block names the old
    // address.
    let renamed = CONFIG.replace("\"second\" {", "\"other\" {").replace("\"second\"", "\"third\"");
    workdir.write("main.tf", &renamed);
    workdir.formwork("apply -auto-approve").succeed().says("bad_thing.second was being created");
    let moved = "moved {\n  from = bad_thing.second\n  to   = bad_thing.other\n}\n";
    workdir.write("main.tf", &(renamed + moved));
    workdir.formwork("plan").succeed().says("bad_thing.second, which is now bad_thing.other,");
    workdir.formwork("recover list").succeed().says("bad_thing.second, which is");
    workdir.formwork("recover forget bad_thing.other").succeed();
    workdir.formwork("recover list").succeed().says("No open operations.");
}

#[test]
fn an_open_operation_can_be_settled_with_an_invalid_configuration() {
    let workdir = Workdir::new(CONFIG);
    end_apply_at(&workdir, "before", Signal::SIGKILL);
    let broken = format!("{CONFIG}module \"m\" {{\n  source = \"./nowhere\"\n}}\n");
    workdir.write("main.tf", &broken);
    workdir.formwork("plan").run().code(1);
    workdir.formwork("recover list").succeed().says("bad_thing.second was being created");
    workdir.formwork("recover forget bad_thing.second").succeed();
    workdir.formwork("recover list").succeed().says("No open operations.");
}

#[test]
fn an_import_settles_the_operation_in_flight() {
    let workdir = Workdir::new(CONFIG);
    end_apply_at(&workdir, "after", Signal::SIGKILL);
    workdir.formwork("import bad_thing.second second-1").succeed();
    let next = workdir.formwork("apply -auto-approve").succeed();
    next.says_not("was being created").says("0 added, 0 changed, 0 destroyed");
    workdir.formwork("recover retry bad_thing.second").run().code(1).says("Nothing to settle");
}

#[test]
fn an_update_that_was_killed_is_settled_by_the_next_refresh() {
    let workdir = Workdir::new(CONFIG);
    workdir.formwork("apply -auto-approve").succeed();
    let changed = CONFIG.replace("link =", "size = 5\n  link =");
    workdir.write("main.tf", &changed);
    end_apply_at(&workdir, "after", Signal::SIGKILL);
    let next = workdir.formwork("apply -auto-approve").succeed();
    next.says("bad_thing.second was being updated").says("0 added, 0 changed, 0 destroyed");
    workdir.formwork("plan -detailed-exitcode").succeed().says_not("was being");
}

#[test]
fn a_kill_during_a_destruction_loses_nothing() {
    let workdir = Workdir::new(CONFIG);
    workdir.formwork("apply -auto-approve").succeed();
    let running = workdir.formwork("destroy -auto-approve").env("BAD_HOLD", "after:second").start();
    let (_, paused) = workdir.service.wait_for_pause();
    running.signal(Signal::SIGKILL);
    running.wait();
    drop(paused);
    workdir.service.assert_no_provider_runs();
    assert_eq!(workdir.service.objects(), ["first-1"]);
    let next = workdir.formwork("destroy -auto-approve").succeed();
    next.says("bad_thing.second was being destroyed");
    assert_eq!(workdir.service.objects(), [""; 0]);
    assert_eq!(names(&workdir), [""; 0]);
}

#[test]
fn one_interrupt_finishes_running_operations_and_starts_no_new_one() {
    let workdir = Workdir::new(CONFIG);
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
        let command = workdir.formwork("apply -auto-approve");
        let running = command.env("BAD_HOLD", "after:first").start();
        let (_, paused) = workdir.service.wait_for_pause();
        running.signal(signal);
        running.wait_for_output("Gracefully shutting down");
        paused.resume();
        running.wait().code(1).says("execution halted");
        assert_eq!(names(&workdir), ["bad_thing.first"]);
        assert_eq!(workdir.service.objects(), ["first-1"]);
        workdir.service.assert_no_provider_runs();
        workdir.formwork("destroy -auto-approve").succeed();
    }
}

#[test]
fn two_interrupts_exit_immediately_and_keep_the_journal() {
    let workdir = Workdir::new(CONFIG);
    let command = workdir.formwork("apply -auto-approve");
    let running = command.env("BAD_HOLD", "after:second").start();
    let (_, paused) = workdir.service.wait_for_pause();
    running.signal(Signal::SIGINT);
    running.wait_for_output("Gracefully shutting down");
    running.signal(Signal::SIGINT);
    running.wait().code(1).says("Two interrupts received");
    drop(paused);
    workdir.service.assert_no_provider_runs();
    let next = workdir.formwork("plan").succeed();
    next.says("bad_thing.second was being created").says("No changes other than open operations");
}

#[test]
fn an_approval_prompt_can_be_interrupted() {
    for signal in [Signal::SIGINT, Signal::SIGTERM] {
        let workdir = Workdir::new("resource \"terraform_data\" \"a\" {}\n");
        let running = workdir.formwork("apply").with_open_stdin().start();
        running.wait_for_output("Only 'yes' will be accepted");
        running.signal(signal);
        running.wait().code(1).says("interrupted before it was approved");
        workdir.formwork("state list").run().code(1).says("No state file was found");
    }
}

/// Configuration with a provisioner that waits until it is released.
const PROVISIONED: &str = r#"
resource "terraform_data" "a" {
  provisioner "local-exec" {
    command = "echo started; cat fifo"
  }
}
resource "terraform_data" "b" {
  input = terraform_data.a.id
}
"#;

/// A directory in which a provisioner waits, and a function that releases it.
fn provisioned() -> (Workdir, impl FnOnce()) {
    let workdir = Workdir::new(PROVISIONED);
    let fifo = workdir.root().join("fifo");
    nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).expect("a fifo");
    let resume = move || {
        // Opening it for both never waits, and its end lets the reader go.
        let opened = std::fs::OpenOptions::new().read(true).write(true).open(fifo);
        drop(opened.expect("the fifo can be opened"));
    };
    (workdir, resume)
}

#[test]
fn an_interrupt_ends_a_provisioner_and_taints_its_object() {
    let (workdir, resume) = provisioned();
    let running = workdir.formwork("apply -auto-approve").start();
    running.wait_for_output("(local-exec): started");
    running.signal(Signal::SIGTERM);
    running.wait().code(1).says("interrupted").says("execution halted");
    resume();
    workdir.formwork("plan").succeed().says("terraform_data.a is tainted, so must be replaced");
}

#[test]
fn no_process_of_a_provisioner_outlives_a_killed_run() {
    let workdir = Workdir::new(
        r#"
        resource "terraform_data" "a" {
          provisioner "local-exec" {
            command = "sleep 1000 > fifo & sleep 1000 > fifo & echo started; wait"
          }
        }
        "#,
    );
    let fifo = workdir.root().join("fifo");
    nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).expect("a fifo");
    let opened = std::thread::spawn(move || std::fs::File::open(fifo).expect("it can be opened"));
    let running = workdir.formwork("apply -auto-approve").start();
    running.wait_for_output("(local-exec): started");
    let mut fifo = opened.join().expect("it only waits");
    running.signal(Signal::SIGKILL);
    running.wait();
    // Its end is seen once no process is left that could write.
    let read = std::io::Read::read_to_end(&mut fifo, &mut Vec::new()).expect("it can be read");
    assert_eq!(read, 0);
}

#[test]
fn an_object_whose_provisioner_was_killed_is_tainted() {
    let (workdir, resume) = provisioned();
    let running = workdir.formwork("apply -auto-approve").start();
    running.wait_for_output("(local-exec): started");
    running.signal(Signal::SIGKILL);
    running.wait();
    resume();
    let next = workdir.formwork("plan").succeed();
    next.says("terraform_data.a is tainted, so must be replaced")
        .says("terraform_data.b will be created");
}

/// Three objects of which two are cut off in the middle.
const GROUP: &str = r#"
resource "bad_thing" "third" {
  name = "third"
  kind = sensitive("hush")
  link = bad_thing.first.id
}
"#;

/// The variable with which the provider can list its objects.
const LISTED: [(&str, &str); 1] = [("BAD_LISTED", "1")];

/// Cuts off the creation of `second` and `third`.
fn kill_both_at(workdir: &Workdir, moment: &str) {
    kill_both_with_variables(workdir, moment, &[]);
}

/// As [`kill_both_at`], with further environment variables.
fn kill_both_with_variables(workdir: &Workdir, moment: &str, variables: &[(&str, &str)]) {
    let command = workdir.formwork("apply -auto-approve");
    let command = variables.iter().fold(command, |command, (name, value)| command.env(name, value));
    let holds = format!("{moment}:second,{moment}:third");
    let running = command.env("BAD_HOLD", &holds).start();
    let paused = [workdir.service.wait_for_pause(), workdir.service.wait_for_pause()];
    running.signal(Signal::SIGKILL);
    running.wait();
    drop(paused);
    workdir.service.assert_no_provider_runs();
}

#[test]
fn open_operations_are_described_by_planned_values_without_secrets() {
    let workdir = Workdir::new(&format!("{CONFIG}{GROUP}"));
    kill_both_at(&workdir, "after");
    let listed = workdir.formwork("recover list").succeed();
    listed.says("Planned attributes to look for: link = \"first-1\" name = \"second\"");
    listed.says("name = \"third\"").says_not("hush");
    let listed = workdir.formwork("recover list -json").succeed();
    listed.says("\"name\":\"third\"").says_not("hush");
}

#[test]
fn several_open_operations_are_settled_by_one_command() {
    for arguments in ["-all", "bad_thing.*", "bad_thing.second bad_thing.third"] {
        for verb in ["retry", "forget"] {
            let workdir = Workdir::new(&format!("{CONFIG}{GROUP}"));
            kill_both_at(&workdir, "before");
            let settled = workdir.formwork(&format!("recover {verb} {arguments}")).succeed();
            settled.says("bad_thing.second is settled").says("bad_thing.third is settled");
            workdir.formwork("apply -auto-approve").succeed().says("2 added");
            assert_eq!(workdir.service.objects(), ["first-1", "second-1", "third-1"]);
        }
    }
    let workdir = Workdir::new(CONFIG);
    workdir.formwork("recover retry -all").succeed().says("No open operations.");
    workdir.formwork("recover retry").run().code(1).says("No operation selected");
    workdir.formwork("recover retry bad_other.*").run().code(1).says("Nothing to settle");
}

#[test]
fn one_adoption_names_all_objects_with_unknown_ids_and_settles_none() {
    for arguments in ["-all", "bad_thing.*"] {
        let workdir = Workdir::new(&format!("{CONFIG}{GROUP}"));
        kill_both_at(&workdir, "after");
        let before = workdir.read("terraform.tfstate");
        let refused = workdir.formwork(&format!("recover adopt {arguments}")).run();
        refused.code(1).says_not("is in the state");
        for name in ["second", "third"] {
            let addr = format!("bad_thing.{name}");
            refused.says(&format!("The id of the object at {addr} is not known"));
            refused.says(&format!("formwork recover adopt '{addr}' ID"));
        }
        assert_eq!(workdir.read("terraform.tfstate"), before, "{arguments}");
        let listed = workdir.formwork("recover list").succeed();
        listed.says("bad_thing.second was being created").says("bad_thing.third was being created");
        // As the message recommends.
        for name in ["second", "third"] {
            let adopt = workdir.formwork(&format!("recover adopt bad_thing.{name} {name}-1"));
            adopt.succeed().says(&format!("bad_thing.{name} is in the state"));
        }
        workdir.formwork("recover adopt -all").succeed().says("No open operations.");
    }
    let workdir = Workdir::new(CONFIG);
    workdir.formwork("recover adopt -all").succeed().says("No open operations.");
    workdir.formwork("recover adopt").run().code(1).says("No operation selected");
    workdir.formwork("recover adopt bad_other.*").run().code(1).says("Nothing to settle");
}

#[test]
fn open_operations_are_reviewed_in_sequence() {
    let workdir = Workdir::new(&format!("{CONFIG}{GROUP}"));
    kill_both_at(&workdir, "after");
    workdir.service.remove_object("third-1");
    let review = workdir.formwork("recover review").stdin("what\nadopt second-1\nretry\n");
    let reviewed = review.succeed();
    reviewed.says("What is the outcome of bad_thing.second?").says("name = \"third\"");
    reviewed.says("bad_thing.second is in the state");
    workdir.formwork("apply -auto-approve").succeed().says("1 added");
    assert_eq!(workdir.service.objects(), ["first-1", "second-1", "third-1"]);
    workdir.formwork("recover review").succeed().says("No open operations.");
}

#[test]
fn a_review_settles_operations_by_the_list_of_objects_without_a_question() {
    let workdir = Workdir::new(&format!("{CONFIG}{GROUP}"));
    kill_both_with_variables(&workdir, "after", &LISTED);
    let listed = workdir.formwork("recover list").env("BAD_LISTED", "1").succeed();
    listed.says("bad_thing.second was being created").says("bad_thing.third was being created");
    let reviewed = workdir.formwork("recover review").env("BAD_LISTED", "1").stdin("").succeed();
    reviewed.says_not("What is the outcome of").says_not("hush");
    assert_eq!(names(&workdir), ["bad_thing.first", "bad_thing.second", "bad_thing.third"]);
    let next = workdir.formwork("apply -auto-approve").env("BAD_LISTED", "1").succeed();
    // The list does not mark sensitive values, so an update stores the marks.
    next.says("0 added, 1 changed, 0 destroyed");
    assert_eq!(workdir.service.objects(), ["first-1", "second-1", "third-1"]);
}

#[test]
fn a_review_names_the_listed_objects_that_match() {
    let workdir = Workdir::new(&format!("{CONFIG}{GROUP}"));
    kill_both_with_variables(&workdir, "after", &LISTED);
    // Another object that matches, and one that was deleted.
    let twin = workdir.service.object("second-1").replace("second-1", "second-2");
    workdir.service.set_object("second-2", &twin);
    workdir.service.remove_object("third-1");
    let review = workdir.formwork("recover review").env("BAD_LISTED", "1");
    let reviewed = review.stdin("adopt second-2\nretry\n").succeed();
    reviewed
        .says("What is the outcome of bad_thing.second?")
        .says("2 are as planned and in no state")
        .says("These fit: second-1 second-2")
        .says("bad_thing.second is in the state")
        .says("What is the outcome of bad_thing.third?")
        .says("0 are as planned and in no state")
        .says_not("hush");
    let next = workdir.formwork("apply -auto-approve").env("BAD_LISTED", "1").succeed();
    next.says("1 added, 0 changed, 0 destroyed");
    assert_eq!(workdir.service.objects(), ["first-1", "second-1", "second-2", "third-1"]);
    workdir.formwork("state show bad_thing.second").succeed().says("second-2");
}

#[test]
fn an_object_that_differs_from_the_plan_is_adopted_only_by_force() {
    let workdir = Workdir::new(CONFIG);
    end_apply_at(&workdir, "before", Signal::SIGKILL);
    workdir.formwork("state rm bad_thing.first").succeed();
    let refused = workdir.formwork("recover adopt bad_thing.second first-1").run();
    refused.code(1).says("Object differs from the plan").says("name = \"second\"");
    assert_eq!(names(&workdir), [""; 0]);
    workdir.formwork("recover list").succeed().says("bad_thing.second was being created");
    workdir.formwork("recover adopt -force bad_thing.second first-1").succeed();
    assert_eq!(names(&workdir), ["bad_thing.second"]);
}
