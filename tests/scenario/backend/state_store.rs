//! States in a state store of a provider: the test provider's, in a directory. Terraform 1.11 has no state
//! stores, so only Formwork runs.

use super::RESOURCE;
use crate::harness::{Workdir, test_provider};

/// A line of the approval prompt, which is printed while the lock is held.
const APPROVAL_PROMPT: &str = "Only 'yes' will be accepted";

/// The name of the file of the default state: the name of the workspace in hexadecimal.
const DEFAULT: &str = "64656661756c74";

fn config(store: &str, blocks: &str) -> String {
    format!(
        "terraform {{\n  required_providers {{\n    test = {{ source = \"formwork/test\" }}\n  }}\n{store}}}\n{blocks}"
    )
}

fn store(directory: &str) -> String {
    format!(
        "  state_store \"test_store\" {{\n    provider \"test\" {{}}\n    directory = \"{directory}\"\n  }}\n"
    )
}

fn dir_with(config: &str) -> Workdir {
    let workdir = Workdir::new(config);
    workdir.link_plugin(test_provider());
    workdir
}

fn set_up() -> Workdir {
    let workdir = dir_with(&config(&store("states"), RESOURCE));
    let init = workdir.formwork("init").succeed();
    init.says("Successfully configured the state store \"test_store\"!");
    workdir
}

#[test]
fn all_commands_work_on_a_state_in_a_provider() {
    let workdir = set_up();
    workdir.formwork("apply -auto-approve").succeed().says("1 added");
    assert!(workdir.has(&format!("states/{DEFAULT}.state")));
    assert!(!workdir.has("terraform.tfstate") && !workdir.has(&format!("states/{DEFAULT}.lock")));
    workdir.formwork("plan -detailed-exitcode").run().code(0).says("No changes");
    workdir.formwork("state list").succeed().says("terraform_data.a");
    workdir.formwork("state show terraform_data.a").succeed().says("input");
    workdir.formwork("show -json").succeed().says("\"terraform_data.a\"");
    workdir.formwork("state mv terraform_data.a terraform_data.b").succeed();
    workdir.formwork("state mv terraform_data.b terraform_data.a").succeed();
    let pulled = workdir.formwork("state pull").succeed().stdout;
    workdir.write("pulled.tfstate", &pulled);
    workdir.formwork("state push pulled.tfstate").succeed();
    workdir.formwork("workspace new other").succeed();
    workdir.formwork("workspace list").succeed().says("default").says("* other");
    workdir.formwork("apply -auto-approve").succeed().says("1 added");
    workdir.formwork("destroy -auto-approve").succeed().says("1 destroyed");
    workdir.formwork("workspace select default").succeed();
    workdir.formwork("workspace delete other").succeed();
    workdir.formwork("workspace list").succeed().says_not("other");
    workdir.formwork("providers").succeed();
    workdir.formwork("validate").succeed();
    workdir.formwork("force-unlock -force nothing").run().code(1).says("The state is not locked");
    workdir.formwork("destroy -auto-approve").succeed().says("1 destroyed");
}

#[test]
fn a_saved_plan_names_its_state_store() {
    let workdir = set_up();
    workdir.formwork("plan -out=p").succeed();
    // Another store is set up by now. The plan is applied to its own.
    workdir.write("main.tf", &config(&store("elsewhere"), RESOURCE));
    workdir.formwork("init -reconfigure").succeed();
    workdir.formwork("apply p").succeed().says("1 added");
    assert!(workdir.has(&format!("states/{DEFAULT}.state")));
    assert!(!workdir.has(&format!("elsewhere/{DEFAULT}.state")));
}

#[test]
fn a_lock_in_a_provider_excludes_a_second_process() {
    let workdir = set_up();
    let mut running = workdir.formwork("apply").with_open_stdin().start();
    running.wait_for_output(APPROVAL_PROMPT);
    let refused = workdir.formwork("apply -auto-approve").run();
    refused.code(1).says("Error acquiring the state lock").says("State is locked");
    // A plan that waits for the lock gets it once the other run has ended.
    let waiting = workdir.formwork("plan -detailed-exitcode -lock-timeout=60s").start();
    running.answer("yes\n");
    let result = running.wait();
    assert_eq!(result.code, Some(0), "{}", result.text());
    let waited = waiting.wait();
    assert_eq!(waited.code, Some(0), "{}", waited.text());
}

#[test]
fn a_provider_that_dies_during_a_write_loses_nothing() {
    let workdir = set_up();
    workdir.formwork("apply -auto-approve").succeed();
    let file = format!("states/{DEFAULT}.state");
    let before = workdir.read(&file);
    workdir.write("main.tf", &config(&store("states"), &RESOURCE.replace('1', "2")));
    let died = workdir.formwork("apply -auto-approve").env("TEST_STORE", "die").run();
    died.code(1).says("Failed to save the state").says("WriteStateBytes");
    assert_eq!(workdir.read(&file), before);
    let id = workdir.read(&format!("states/{DEFAULT}.lock"));
    let locked = workdir.formwork("plan").run();
    locked.code(1).says(&format!("The ID of the lock is {id}"));
    workdir.formwork(&format!("force-unlock -force {id}")).succeed();
    // The journal has the result of the change.
    let plan = workdir.formwork("apply -auto-approve").succeed();
    plan.says("0 added, 0 changed, 0 destroyed");
    assert!(workdir.read(&file).contains("\"input\""));
    workdir.formwork("plan -detailed-exitcode").run().code(0).says("No changes");
}

#[test]
fn states_move_from_a_file_to_a_provider_and_back() {
    let workdir = dir_with(&config("", RESOURCE));
    workdir.formwork("init").succeed();
    workdir.formwork("apply -auto-approve").succeed();
    let lineage = |text: &str| {
        let lineage = text.lines().find(|line| line.contains("\"lineage\"")).map(str::trim);
        lineage.expect("a state has one").to_owned()
    };
    let old = lineage(&workdir.read("terraform.tfstate"));

    workdir.write("main.tf", &config(&store("states"), RESOURCE));
    let unset = workdir.formwork("plan").run();
    unset.code(1).says("Initial configuration of a state store \"test_store\"");
    let refused = workdir.formwork("init -input=false").run();
    refused.code(1).says("Can't ask approval for state migration");
    workdir.formwork("init -force-copy").succeed();
    assert_eq!(lineage(&workdir.read(&format!("states/{DEFAULT}.state"))), old);
    workdir.formwork("plan -detailed-exitcode").run().code(0).says("No changes");

    // To another directory: the location in messages is the same, the real location is not.
    workdir.write("main.tf", &config(&store("others"), RESOURCE));
    workdir.formwork("plan").run().code(1).says("State store \"test_store\" configuration changed");
    workdir.formwork("init").run().code(1).says("Backend configuration changed");
    workdir.formwork("init -migrate-state -force-copy").succeed();
    assert_eq!(lineage(&workdir.read(&format!("others/{DEFAULT}.state"))), old);

    workdir.write("main.tf", &config("", RESOURCE));
    let unset = workdir.formwork("plan").run();
    unset.code(1).says("Unsetting the previously set state store \"test_store\"");
    workdir.formwork("init").run().code(1).says("Backend configuration changed");
    // The local state is still there, with the same lineage and serial.
    workdir.formwork("init -migrate-state -force-copy").succeed();
    workdir.formwork("plan -detailed-exitcode").run().code(0).says("No changes");
}

#[test]
fn the_record_of_a_state_store_has_the_format_of_terraform_and_no_secret_is_printed() {
    let secret = "    directory = \"states\"\n    password = \"hunter2hunter2\"\n";
    let block =
        format!("  state_store \"test_store\" {{\n    provider \"test\" {{}}\n{secret}  }}\n");
    let workdir = dir_with(&config(&block, RESOURCE));
    let init = workdir.formwork("init").succeed();
    init.says_not("hunter2");
    let record = workdir.read(".terraform/terraform.tfstate");
    let record: serde_json::Value = serde_json::from_str(&record).unwrap();
    assert_eq!(record["version"], 3);
    let store = &record["state_store"];
    assert_eq!(store["type"], "test_store");
    assert_eq!(store["provider"]["source"], "registry.terraform.io/formwork/test");
    assert_eq!(store["provider_supply_mode"], "dev_override");
    assert_eq!(store["config"]["directory"], "states");
    assert!(store["hash"].is_u64());
    assert!(record.get("backend").is_none());
}

#[test]
fn a_state_store_that_cannot_be_used_is_refused() {
    let check = |text: &str, words: &str| {
        let refused = dir_with(text).formwork("init -input=false").run();
        refused.code(1).says(words);
    };
    let missing = "terraform {\n  state_store \"test_store\" {\n    provider \"test\" {}\n  }\n}\n";
    check(missing, "Missing entry in required_providers");
    let bare = "  state_store \"test_store\" {\n    directory = \"f\"\n  }\n";
    check(&config(bare, ""), "Missing provider block");
    let other_store = store("f").replace("test_store", "test_other");
    check(&config(&other_store, ""), "State store \"test_other\" is not implemented");
    check(&config(&store("").replace("directory", "pholder"), ""), "pholder");
    check(&config(&store(""), ""), "No directory");
    let both = format!("{}  backend \"local\" {{}}\n", store("f"));
    check(&config(&both, ""), "Conflicting 'state_store' and 'backend'");
    let alias = store("f").replace("{}", "{\n      alias = \"x\"\n    }");
    check(&config(&alias, ""), "Unexpected provider alias");
    let workdir = dir_with(&config(&store("f"), ""));
    let refused = workdir.formwork("init -backend-config=directory=g").run();
    refused.code(1).says("The option -backend-config applies only to backends");
}
