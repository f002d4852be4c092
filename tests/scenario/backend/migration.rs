//! Migration of states by `init`, compared with Terraform: the same questions, answers and results.

use nix::sys::signal::Signal;

use super::RESOURCE;
use crate::harness::{HttpState, Workdir, terraform};

/// A local backend with another directory.
const OTHER_DIR: &str = "backend \"local\" {\n path = \"moved\"\n workspace_dir = \"others\"\n }";

/// The installed programs.
fn programs() -> impl Iterator<Item = &'static str> {
    ["terraform", "formwork"]
        .into_iter()
        .filter(|name| *name == "formwork" || terraform().is_some())
}

/// A directory with an applied state in the given workspaces, the last of which is selected.
fn applied(program: &str, workspaces: &[&str]) -> Workdir {
    let workdir = Workdir::new(RESOURCE);
    let run = |line: &str| drop(workdir.engine(program, line).succeed());
    run("init");
    run("apply -auto-approve");
    for name in workspaces {
        run(&format!("workspace new {name}"));
        run("apply -auto-approve");
    }
    workdir
}

#[test]
fn a_local_state_needs_approval_to_migrate_without_a_record_of_the_former_backend() {
    for program in programs() {
        let server = HttpState::start();
        let workdir = applied(program, &[]);
        workdir.write("main.tf", &server.config(RESOURCE));
        let init = |options: &str| workdir.engine(program, &format!("init -reconfigure {options}"));
        init("-input=false").run().code(1).says("Can't ask approval for state migration");
        init("").run().code(1).says("Error asking for confirmation");
        assert!(server.with(|server_state| server_state.state.is_empty()), "{program}");
        init("").stdin("yes\n").succeed();
        let plan = workdir.engine(program, "plan -detailed-exitcode").run();
        plan.code(0);
        // The state exists already, so there is no second question.
        init("-input=false").succeed();
    }
}

#[test]
fn the_workspace_of_a_backend_with_one_state_is_the_default_one() {
    for program in programs() {
        let server = HttpState::start();
        let workdir = applied(program, &["dev"]);
        workdir.write("main.tf", &server.config(RESOURCE));
        let init = || workdir.engine(program, "init");
        let question = "Do you want to copy only your current workspace?";
        init().stdin("no\n").run().code(1).says(question).says("aborted");
        // Terraform has a second question, about the state.
        workdir.engine(program, "init -force-copy").succeed();
        workdir.engine(program, "workspace show").succeed().says("default");
        workdir.engine(program, "state list").succeed().says("terraform_data.a");
    }
}

#[test]
fn the_states_of_all_workspaces_are_migrated_or_none() {
    for program in programs() {
        let workdir = applied(program, &["dev"]);
        workdir.write("main.tf", &format!("terraform {{\n {OTHER_DIR}\n}}\n{RESOURCE}"));
        let init = || workdir.engine(program, "init");
        let question = "Do you want to migrate all workspaces to \"local\"?";
        init().stdin("no\n").run().code(1).says(question).says("aborted");
        init().stdin("yes\n").succeed().says(question);
        for name in ["default", "dev"] {
            workdir.engine(program, &format!("workspace select {name}")).run().code(0);
            workdir.engine(program, "state list").succeed().says("terraform_data.a");
        }
    }
}

#[test]
fn a_removed_backend_block_migrates_the_state_back() {
    for program in programs() {
        let server = HttpState::start();
        let workdir = Workdir::new(&server.config(RESOURCE));
        workdir.engine(program, "init").succeed();
        workdir.engine(program, "apply -auto-approve").succeed();
        workdir.write("main.tf", RESOURCE);
        workdir.engine(program, "init").run().code(1).says("Backend configuration changed");
        let moved = workdir.engine(program, "init -migrate-state").stdin("yes\n").succeed();
        moved.says("Successfully unset the backend \"http\"");
        workdir.engine(program, "state list").succeed().says("terraform_data.a");
    }
}

#[test]
fn an_empty_state_is_migrated_without_approval() {
    for program in programs() {
        let server = HttpState::start();
        let workdir = applied(program, &[]);
        workdir.engine(program, "destroy -auto-approve").succeed();
        workdir.write("main.tf", &server.config(RESOURCE));
        workdir.engine(program, "init -input=false").succeed();
    }
}

#[test]
fn a_state_of_another_lineage_is_never_replaced() {
    let server = HttpState::start();
    let workdir = Workdir::new(&server.config(RESOURCE));
    workdir.formwork("init").succeed();
    workdir.formwork("apply -auto-approve").succeed();
    let stored_state = server.with(|server_state| server_state.state.clone());
    let other_workdir = applied("formwork", &[]);
    other_workdir.write("main.tf", &server.config(RESOURCE));
    let refused = other_workdir.formwork("init").stdin("yes\n").run();
    refused.code(1).says("1 object, serial 2").says("a migration never replaces");
    refused.says("state push -force");
    assert_eq!(server.with(|server_state| server_state.state.clone()), stored_state);
    other_workdir.formwork("init").stdin("no\n").succeed();
    other_workdir.formwork("plan -detailed-exitcode").run().code(0);
    // The advice, followed: the former state, written to a file, replaces the existing one.
    let state = other_workdir.read("terraform.tfstate");
    other_workdir.write("former", &state);
    other_workdir.formwork("state push -force former").succeed();
    let now = server.with(|server_state| String::from_utf8_lossy(&server_state.state).into_owned());
    let lineage =
        |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap()["lineage"].clone();
    assert_eq!(lineage(&now), lineage(&state));
}

#[test]
fn an_empty_state_file_of_terraform_needs_no_approval() {
    let server = HttpState::start();
    let workdir = applied("formwork", &[]);
    let state = workdir.read("terraform.tfstate");
    workdir.write("terraform.tfstate.backup", &state);
    workdir.write("terraform.tfstate", "");
    workdir.write("main.tf", &server.config(RESOURCE));
    // It may have been lost instead, and the advice for that is followed.
    let warned = workdir.formwork("init -input=false").succeed();
    warned.says("Empty state file is not migrated");
    warned.says("formwork state push 'terraform.tfstate.backup'");
    workdir.formwork("state push terraform.tfstate.backup").succeed();
    workdir.formwork("plan -detailed-exitcode").run().code(0);
    // With the state in the new backend, nothing is reported.
    for options in ["-reconfigure", "-reconfigure -force-copy"] {
        let quiet = workdir.formwork(&format!("init -input=false {options}")).succeed();
        quiet.says_not("Empty state file");
    }
}

#[test]
fn a_state_without_objects_is_not_restored_by_a_migration() {
    let server = HttpState::start();
    let workdir = applied("formwork", &[]);
    workdir.write("main.tf", &server.config(RESOURCE));
    workdir.formwork("init -force-copy").succeed();
    workdir.formwork("destroy -auto-approve").succeed();
    // The former file is still there.
    for options in ["-input=false", "-force-copy"] {
        let result = workdir.formwork(&format!("init -reconfigure {options}")).succeed();
        result
            .says("The new backend contains a later state of the workspace \"default\" (0 objects");
        workdir.formwork("state list").succeed().says_not("terraform_data.a");
    }
    // Nor from a backup, where Terraform has emptied the file.
    workdir.write("terraform.tfstate.backup", &workdir.read("terraform.tfstate"));
    workdir.write("terraform.tfstate", "");
    workdir.formwork("init -reconfigure -input=false").succeed().says_not("Empty state file");
}

#[test]
fn other_content_with_the_same_serial_needs_approval() {
    for program in programs() {
        let server = HttpState::start();
        let workdir = applied(program, &[]);
        let other_state =
            workdir.read("terraform.tfstate").replace("\"name\": \"a\"", "\"name\": \"b\"");
        assert!(other_state.contains("\"name\": \"b\""), "{other_state}");
        server.with(|server_state| server_state.state = other_state.clone().into_bytes());
        workdir.write("main.tf", &server.config(RESOURCE));
        workdir.engine(program, "init -input=false").run().code(1).says("Can't ask approval");
        assert_eq!(server.with(|server_state| server_state.state.clone()), other_state.as_bytes());
    }
}

#[test]
fn other_workspaces_are_left_only_with_approval() {
    for program in programs() {
        let server = HttpState::start();
        let workdir = applied(program, &[]);
        workdir.engine(program, "workspace new dev").succeed();
        workdir.write("main.tf", &server.config(RESOURCE));
        let refused = workdir.engine(program, "init").run();
        refused.code(1).says("Do you want to copy only your current workspace?");
        workdir.engine(program, "workspace show").succeed().says("dev");
    }
    let server = HttpState::start();
    let workdir = applied("formwork", &[]);
    workdir.formwork("workspace new dev").succeed();
    workdir.write("main.tf", &server.config(RESOURCE));
    let result = workdir.formwork("init").stdin("yes\n").succeed();
    result.says("Workspace \"default\": 1 object, serial 2. It stays in the \"local\" backend.");
    workdir.formwork("workspace show").succeed().says("default");
    assert!(server.with(|server_state| server_state.state.is_empty()));
}

#[test]
fn a_workspace_that_is_selected_by_a_former_backend_is_not_the_one_to_migrate() {
    let server = HttpState::start();
    let workdir = applied("formwork", &[]);
    workdir.write(".terraform/environment", "dev");
    workdir.write("main.tf", &server.config(RESOURCE));
    workdir.formwork("init -reconfigure").stdin("yes\n").succeed();
    workdir.formwork("plan -detailed-exitcode").run().code(0);
    // Without states of the directory, too, the workspace is one that the backend can have.
    let directory = Workdir::new(&server.config(RESOURCE));
    directory.write(".terraform/environment", "dev");
    directory.formwork("init -reconfigure").succeed().says("\"default\" is now selected");
    directory.formwork("plan -detailed-exitcode").run().code(0);
}

#[test]
fn a_workspace_variable_leaves_no_unsupported_workspace_selected() {
    let server = HttpState::start();
    let workdir = applied("formwork", &["one", "two"]);
    workdir.write("main.tf", &server.config(RESOURCE));
    let init = workdir.formwork("init -migrate-state -force-copy").env("TF_WORKSPACE", "one");
    init.succeed().says("TF_WORKSPACE still names \"one\"");
    workdir.formwork("plan -detailed-exitcode").run().code(0);
    // The advice, followed.
    let refused = workdir.formwork("plan").env("TF_WORKSPACE", "one").run();
    refused.code(1).says("Unset TF_WORKSPACE, or run:").says("formwork workspace select default");
    workdir.write(".terraform/environment", "two");
    workdir.formwork("plan").run().code(1).says("formwork workspace select default");
    workdir.formwork("workspace select default").succeed().says("Switched to workspace");
    workdir.formwork("plan -detailed-exitcode").run().code(0);
    workdir.formwork("workspace select two").run().code(1).says("workspaces not supported");
}

#[test]
fn a_state_returns_to_a_leftover_file_of_either_program() {
    for first in programs() {
        for second in programs() {
            let server = HttpState::start();
            let workdir = applied(first, &[]);
            workdir.write("main.tf", &server.config(RESOURCE));
            workdir.engine(first, "init -force-copy").succeed();
            workdir.write("main.tf", RESOURCE);
            workdir.engine(second, "init -migrate-state").stdin("yes\n").succeed();
            workdir.engine(second, "plan -detailed-exitcode").run().code(0);
        }
    }
}

#[test]
fn one_state_that_has_to_stay_does_not_stop_the_other_migrations() {
    let workdir = applied("formwork", &["b", "c"]);
    workdir.write("others/b/terraform.tfstate", r#"{"version":4,"serial":9,"lineage":"x","outputs":{"o":{"value":"x","type":"string"}},"resources":[]}"#);
    workdir.write("main.tf", &format!("terraform {{\n {OTHER_DIR}\n}}\n{RESOURCE}"));
    let remaining = workdir.read("others/b/terraform.tfstate");
    for options in ["-migrate-state", "-reconfigure"] {
        let result = workdir.formwork(&format!("init {options}")).stdin("yes\n").succeed();
        result.says("The state of the workspace \"b\" stays in the former backend");
        assert_eq!(workdir.read("others/b/terraform.tfstate"), remaining);
        for name in ["default", "c"] {
            workdir.formwork(&format!("workspace select {name}")).succeed();
            workdir.formwork("state list").succeed().says("terraform_data.a");
        }
    }
}

#[test]
fn the_former_backend_stays_configured_if_no_state_can_be_migrated() {
    let workdir = applied("formwork", &["b"]);
    let other_state = r#"{"version":4,"serial":9,"lineage":"x","outputs":{"o":{"value":"x","type":"string"}},"resources":[]}"#;
    workdir.write("moved", other_state);
    workdir.write("others/b/terraform.tfstate", other_state);
    workdir.write("main.tf", &format!("terraform {{\n {OTHER_DIR}\n}}\n{RESOURCE}"));
    for options in ["-force-copy", "-migrate-state", "-reconfigure -force-copy"] {
        let refused = workdir.formwork(&format!("init {options}")).run();
        refused
            .code(1)
            .says("another state in the place of each one")
            .says("run init with -reconfigure");
        workdir.formwork("state list").run().code(1);
    }
    // The advice, followed.
    workdir.formwork("init -reconfigure").succeed();
    workdir.formwork("output o").succeed().says("x");
}

#[test]
fn an_interrupted_migration_names_the_workspace_and_can_be_repeated() {
    let workdir = applied("formwork", &["b", "c"]);
    workdir.write("main.tf", &format!("terraform {{\n {OTHER_DIR}\n}}\n{RESOURCE}"));
    let directory = workdir.root().join("others");
    std::fs::create_dir(&directory).unwrap();
    std::os::unix::fs::symlink("/nowhere", directory.join("c")).unwrap();
    let refused = workdir.formwork("init -force-copy").run();
    refused.code(1).says("This happened to the workspace \"c\"");
    refused.says("The states of \"default\", \"b\" are already in the new backend");
    std::fs::remove_file(directory.join("c")).unwrap();
    workdir.formwork("init -force-copy").succeed();
    for name in ["default", "b", "c"] {
        workdir.formwork(&format!("workspace select {name}")).succeed();
        workdir.formwork("state list").succeed().says("terraform_data.a");
    }
}

#[test]
fn a_damaged_state_in_either_backend_is_reported_before_any_question() {
    let server = HttpState::start();
    let workdir = applied("formwork", &[]);
    workdir.write("main.tf", &server.config(RESOURCE));
    let options = ["", "-input=false", "-force-copy", "-reconfigure"];
    let is_refused = |other_end: &str| {
        for options in options {
            let refused = workdir.formwork(&format!("init {options}")).stdin("no\n").run();
            refused.code(1).says("State file is damaged").says(other_end);
            refused.says_not("Do you want").says_not("Can't ask approval");
        }
    };
    server.with(|server_state| server_state.state = b"{".to_vec());
    is_refused("The former backend \"local\" has in \"default\": 1 object, serial 2");
    // The advice, followed.
    server.with(|server_state| server_state.state.clear());
    workdir.formwork("init -force-copy").succeed();
    workdir.write("terraform.tfstate", "{");
    std::fs::remove_dir_all(workdir.root().join(".terraform")).unwrap();
    is_refused("The new backend \"http\" has in \"default\": 1 object, serial 2");
    let root = workdir.root();
    std::fs::rename(root.join("terraform.tfstate"), root.join("away")).unwrap();
    workdir.formwork("init -input=false").succeed();
    workdir.formwork("plan -detailed-exitcode").run().code(0);
}

#[test]
fn several_workspaces_can_be_left_in_the_former_backend() {
    let server = HttpState::start();
    let workdir = applied("formwork", &["dev"]);
    workdir.write("main.tf", &server.config(RESOURCE));
    workdir.formwork("init").stdin("no\n").run().code(1).says("Use -reconfigure");
    // The advice, followed.
    workdir.formwork("init -reconfigure").stdin("no\n").succeed();
    assert!(server.with(|server_state| server_state.state.is_empty()));
    workdir.formwork("workspace show").succeed().says("default");
}

#[test]
fn results_of_an_interrupted_run_are_migrated_with_one_approval() {
    let server = HttpState::start();
    let slow = "resource \"terraform_data\" \"b\" {\n  depends_on = [terraform_data.a]\n  provisioner \"local-exec\" {\n    command = \"echo started; exec sleep 1000\"\n  }\n}\n";
    let config = format!("{RESOURCE}{slow}");
    let workdir = Workdir::new(&config);
    workdir.formwork("init").succeed();
    let running = workdir.formwork("apply -auto-approve").start();
    running.wait_for_output("(local-exec): started");
    running.signal(Signal::SIGKILL);
    running.wait();
    workdir.write("main.tf", &server.config(&config));
    let result = workdir.formwork("init -reconfigure").stdin("yes\n").succeed();
    result.says("Workspace \"default\": 2 objects");
    workdir.formwork("state list").succeed().says("terraform_data.a").says("terraform_data.b");
    workdir.formwork("init -reconfigure -input=false").succeed();
}
