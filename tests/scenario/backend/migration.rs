//! Migration of states by `init`, with Terraform beside ours: the same questions, answers and results.

use super::RESOURCE;
use crate::harness::{HttpState, Workdir, terraform};

/// The programs that are there.
fn programs() -> impl Iterator<Item = &'static str> {
    ["terraform", "formwork"]
        .into_iter()
        .filter(|name| *name == "formwork" || terraform().is_some())
}

/// A folder with an applied state in the given workspaces, the last of which is selected.
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
fn a_state_of_the_folder_is_asked_about_although_the_former_backend_is_forgotten() {
    for program in programs() {
        let server = HttpState::start();
        let workdir = applied(program, &[]);
        workdir.write("main.tf", &server.config(RESOURCE));
        let init = |options: &str| workdir.engine(program, &format!("init -reconfigure {options}"));
        init("-input=false").run().code(1).says("Can't ask approval for state migration");
        init("").run().code(1).says("Error asking for confirmation");
        assert!(server.with(|kept| kept.state.is_empty()), "{program}");
        init("").stdin("yes\n").succeed();
        let plan = workdir.engine(program, "plan -detailed-exitcode").run();
        plan.code(0);
        // The state is there already, so that nothing is asked again.
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
        let backend = "backend \"local\" {\n path = \"moved\"\n workspace_dir = \"others\"\n }";
        workdir.write("main.tf", &format!("terraform {{\n {backend}\n}}\n{RESOURCE}"));
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
fn a_backend_that_is_no_longer_configured_gives_its_state_back() {
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
fn an_empty_state_is_not_asked_about() {
    for program in programs() {
        let server = HttpState::start();
        let workdir = applied(program, &[]);
        workdir.engine(program, "destroy -auto-approve").succeed();
        workdir.write("main.tf", &server.config(RESOURCE));
        workdir.engine(program, "init -input=false").succeed();
    }
}

#[test]
fn another_state_is_never_replaced_and_the_question_says_so() {
    let server = HttpState::start();
    let workdir = Workdir::new(&server.config(RESOURCE));
    workdir.formwork("init").succeed();
    workdir.formwork("apply -auto-approve").succeed();
    let there = server.with(|kept| kept.state.clone());
    let other = applied("formwork", &[]);
    other.write("main.tf", &server.config(RESOURCE));
    let refused = other.formwork("init").stdin("yes\n").run();
    refused.code(1).says("1 object, serial 2").says("a migration never replaces");
    refused.says("state push -force");
    assert_eq!(server.with(|kept| kept.state.clone()), there);
    other.formwork("init").stdin("no\n").succeed();
    other.formwork("plan -detailed-exitcode").run().code(0);
    // The advice, followed: the former state, written to a file, replaces the one that is there.
    let state = other.read("terraform.tfstate");
    other.write("former", &state);
    other.formwork("state push -force former").succeed();
    let now = server.with(|kept| String::from_utf8_lossy(&kept.state).into_owned());
    let lineage =
        |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap()["lineage"].clone();
    assert_eq!(lineage(&now), lineage(&state));
}

#[test]
fn the_empty_file_that_terraform_leaves_behind_is_not_asked_about() {
    let server = HttpState::start();
    let workdir = applied("formwork", &[]);
    let state = workdir.read("terraform.tfstate");
    workdir.write("terraform.tfstate.backup", &state);
    workdir.write("terraform.tfstate", "");
    workdir.write("main.tf", &server.config(RESOURCE));
    // It may have been lost instead, and the advice for that is followed.
    let warned = workdir.formwork("init -input=false").succeed();
    warned.says("Empty state file is not migrated").says("copy its backup over the empty file");
    workdir.write("terraform.tfstate", &state);
    workdir.formwork("init -reconfigure").stdin("yes\n").succeed();
    workdir.formwork("plan -detailed-exitcode").run().code(0);
    // With the state in its new place there is nothing to say.
    workdir.write("terraform.tfstate", "");
    for options in ["-reconfigure", "-reconfigure -force-copy"] {
        let quiet = workdir.formwork(&format!("init -input=false {options}")).succeed();
        quiet.says_not("Empty state file");
    }
}
