//! Messages of the commands: progress of reads, logs, warnings and help.

use std::path::Path;

use crate::harness::{Command, Workdir, built};

const DATA_SOURCE: &str = r#"
data "terraform_remote_state" "other" {
  backend = "local"
  config = {
    path = "other.tfstate"
  }
}
//- other.tfstate
{"version":4,"terraform_version":"1.11.4","serial":1,"lineage":"x","outputs":{},"resources":[]}
"#;

#[test]
fn a_data_source_that_is_read_while_planning_is_announced() {
    let workdir = Workdir::new(DATA_SOURCE);
    let result = workdir.formwork("plan").succeed();
    result.says("data.terraform_remote_state.other: Reading...");
    result.says("data.terraform_remote_state.other: Read complete after 0s");
    let result = workdir.formwork("plan -json").succeed();
    for kind in ["apply_start", "apply_complete"] {
        let event =
            result.stdout.lines().find(|line| line.contains(&format!("\"type\":\"{kind}\"")));
        assert!(
            event.is_some_and(|event| event.contains("\"action\":\"read\"")),
            "{}",
            result.text()
        );
    }
}

const THING: &str = r#"
terraform {
  required_providers {
    bad = { source = "formwork/bad" }
  }
}
resource "bad_thing" "a" {
  name = "a"
}
"#;

#[test]
fn the_log_has_the_requested_level_and_destination() {
    let workdir = Workdir::new(THING);
    let quiet = workdir.formwork("plan").succeed();
    quiet.says_not("[DEBUG]");
    let logged = workdir.formwork("plan").env("TF_LOG", "debug").succeed();
    assert!(logged.stderr.contains("[DEBUG] formwork_plugin_protocol"), "{}", logged.text());
    let providers_only = workdir.formwork("plan").env("TF_LOG_PROVIDER", "debug").succeed();
    assert!(!providers_only.stderr.contains("formwork_plugin_protocol"));
    let json = workdir.formwork("plan").env("TF_LOG_CORE", "json").succeed();
    let all_json = json.stderr.lines().all(|line| line.starts_with("{\"@level\":\""));
    assert!(all_json && !json.stderr.is_empty(), "{}", json.text());
    let command = workdir.formwork("plan").env("TF_LOG", "loud").env("TF_LOG_PATH", "log.txt");
    let logged_to_file = command.succeed();
    logged_to_file.says("Invalid log level: \"loud\". Defaulting to level: TRACE");
    assert_eq!(logged_to_file.stderr.lines().count(), 1, "{}", logged_to_file.text());
    let log = std::fs::read_to_string(workdir.root().join("log.txt")).expect("the log");
    assert!(log.contains("plugin started"), "{log}");
}

#[test]
fn a_log_that_cannot_be_written_is_reported_once() {
    let workdir = Workdir::new(THING);
    let command = workdir.formwork("plan").env("TF_LOG", "trace").env("TF_LOG_PATH", "/dev/full");
    let result = command.succeed();
    let complaint = "Error writing log file /dev/full: No space left on device. Logging stops.";
    assert_eq!(result.words().matches(complaint).count(), 1, "{}", result.text());
    result.says_not("tracing-subscriber");
}

#[test]
fn a_missing_temporary_directory_is_named_with_its_variable() {
    let workdir = Workdir::new(THING);
    let result = workdir.formwork("plan").env("TMPDIR", "/nonexistent").run();
    result.code(1).says("/nonexistent/").says("Set TMPDIR to a directory that exists");
}

#[test]
fn a_removed_working_directory_is_not_an_empty_one() {
    let workdir = Workdir::new(THING);
    workdir.write("gone.sh", "mkdir gone && cd gone && rmdir ../gone && exec \"$@\"\n");
    for line in ["init", "plan", "validate", "state list", "output", "-chdir=.. plan"] {
        let line = format!("gone.sh {} {line}", built("formwork").display());
        let result = Command::new(&workdir, Path::new("/bin/sh"), &line).run();
        result.code(1).says("Error: The working directory cannot be found");
    }
}

#[test]
fn providers_of_the_state_are_listed_with_those_of_the_configuration() {
    let workdir = Workdir::new(THING);
    workdir.formwork("providers").succeed().says_not("required by state");
    workdir.formwork("apply -auto-approve").succeed();
    workdir.write("main.tf", "");
    let result = workdir.formwork("providers").succeed();
    let listed =
        "\nProviders required by state:\n\n    provider[registry.terraform.io/formwork/bad]\n\n";
    assert!(result.stdout.ends_with(listed), "{}", result.text());
}

#[test]
fn a_warning_about_a_plan_is_printed_before_the_approval_prompt() {
    let workdir = Workdir::new(
        "resource \"terraform_data\" \"a\" {}\ncheck \"c\" {\n  assert {\n    condition     = length(terraform_data.a) < 1\n    error_message = \"one is less\"\n  }\n}\n",
    );
    let result = workdir.formwork("apply").run();
    result.code(1);
    let position = |words: &str| result.stdout.find(words).expect(words);
    assert!(position("one is less") < position("Only 'yes' will be accepted"), "{}", result.text());
    assert_eq!(result.stdout.matches("one is less").count(), 1, "{}", result.text());
}

#[test]
fn output_that_cannot_be_written_is_reported_as_a_failure() {
    let workdir = Workdir::new("output \"a\" {\n  value = 1\n}\n");
    workdir.formwork("apply -auto-approve").succeed();
    let lines = ["output -json", "show", "validate", "plan", "state pull", "graph", "version"];
    for line in lines.into_iter().chain(["-help", "plan -help"]) {
        let result = workdir.formwork(line).with_full_stdout().run();
        result.code(1).says("Not all output could be written").says("No space left on device");
    }
}

#[test]
fn a_missing_state_is_distinguished_from_an_empty_one() {
    let workdir = Workdir::new("output \"a\" {\n  value = [-0]\n}\n");
    assert_eq!(workdir.formwork("show").succeed().stdout, "No state.\n");
    let applied = workdir.formwork("apply -auto-approve").succeed();
    assert!(applied.stdout.ends_with("a = [\n  0,\n]\n"), "{}", applied.text());
    workdir.formwork("destroy -auto-approve").succeed();
    workdir.formwork("show").succeed().says("The state file is empty");
}

#[test]
fn show_reports_a_torn_plan_as_neither_state_nor_plan() {
    let workdir = Workdir::new("output \"a\" {\n  value = 1\n}\n");
    workdir.formwork("plan -out=whole.plan").succeed();
    let plan = std::fs::read(workdir.root().join("whole.plan")).unwrap();
    std::fs::write(workdir.root().join("torn.plan"), &plan[..300]).unwrap();
    for line in ["show -json torn.plan", "show torn.plan"] {
        let result = workdir.formwork(line).run();
        result.code(1).says("Failed to read the given file as a state or plan file");
    }
    workdir.formwork("apply torn.plan").run().code(1).says("as a plan file");
}

#[test]
fn a_refresh_of_an_empty_directory_succeeds() {
    let workdir = Workdir::new("");
    let result = workdir.formwork("refresh").succeed();
    result.says("Warning: Empty or non-existent state").says_not("No configuration files");
    workdir.formwork("plan -refresh-only").run().code(1).says("No configuration files");
}

#[test]
fn the_help_of_refresh_lists_no_flag_without_effect() {
    let result = Workdir::new("").formwork("refresh -help").succeed();
    result
        .says("-target=ADDRESS")
        .says_not("-destroy")
        .says_not("-refresh-only")
        .says_not("-replace");
}

#[test]
fn every_value_on_the_command_line_that_cannot_be_read_is_reported() {
    let workdir = Workdir::new(
        "variable \"a\" {\n  default = 1\n}\n//- x.auto.tfvars.json\n[1]\n//- y.auto.tfvars.json\n[2]\n",
    );
    let result = workdir.formwork("plan").run();
    result.code(1).says("on x.auto.tfvars.json line 1").says("on y.auto.tfvars.json line 1");
    let workdir = Workdir::new("variable \"a\" {\n  default = 1\n}\n");
    let result = workdir.formwork("plan -var b -var c").run();
    result.code(1).says("-var option \"b\"").says("-var option \"c\"");
}

#[test]
fn json_output_is_not_wrapped() {
    let workdir = Workdir::new("output \"a\" {\n  value = 1\n}\n");
    let result = workdir.formwork("init -json").succeed();
    let line_with_hint =
        result.stdout.lines().find(|line| line.contains("You may now begin working"));
    let sentence = "see any changes that are required for your infrastructure";
    assert!(line_with_hint.is_some_and(|line| line.contains(sentence)), "{}", result.text());
}

#[test]
fn the_graph_of_a_plan_is_printed_as_long_as_it_can_be_applied() {
    let workdir = Workdir::new("resource \"terraform_data\" \"a\" {}\n");
    workdir.formwork("plan -out=made.plan").succeed();
    workdir.formwork("graph -plan=made.plan").succeed().says("terraform_data.a");
    workdir.formwork("apply made.plan").succeed();
    for line in ["graph -plan=made.plan", "graph -type=plan -plan=made.plan"] {
        workdir.formwork(line).run().code(1).says("Saved plan is stale");
    }
}

#[test]
fn deprecated_attributes_cause_warnings_at_their_references() {
    let workdir = Workdir::new(
        "data \"null_data_source\" \"d\" {\n}\noutput \"a\" {\n  value = [data.null_data_source.d.id, data.null_data_source.d.random]\n}\n",
    );
    workdir.formwork("init").succeed();
    for line in ["validate", "plan", "apply -auto-approve"] {
        let result = workdir.formwork(line).succeed();
        result.says("Deprecated attribute").says("main.tf line 4").says("The attribute \"id\"");
        assert_eq!(result.text().matches("Deprecated attribute").count(), 1, "{}", result.text());
    }
}

#[test]
fn the_help_of_destroy_lists_only_its_flags_with_defaults() {
    let workdir = Workdir::new("");
    let result = workdir.formwork("destroy -help").succeed();
    for absent in ["-destroy ", "-refresh-only", "-replace", "PLAN", "-allow-foreign-plan"] {
        result.says_not(absent);
    }
    let words = result.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for default in ["Default: 10.", "Default: 0s.", "Do not lock the state."] {
        assert!(words.contains(default), "{words}");
    }
    for option in ["-destroy", "-refresh-only"] {
        let refused = workdir.formwork(&format!("destroy {option}")).run();
        refused.code(1).says("Invalid mode option").says(option);
    }
}

#[test]
fn a_misspelt_variable_on_the_command_line_is_reported_with_the_nearest_name() {
    let workdir = Workdir::new("variable \"region\" {\n  default = 1\n}\n");
    workdir.write("more.tfvars", "regoin = 3\n");
    let result = workdir.formwork("plan -var regoin=2 -var-file=more.tfvars").run();
    result.code(1);
    assert_eq!(result.words().matches("Did you mean `region`?").count(), 2, "{}", result.text());
}

#[test]
fn a_system_error_is_reported_without_its_number() {
    let workdir = Workdir::new("output \"a\" {\n  value = 1\n}\n");
    let lines = ["plan -var-file=none", "plan -out=none/there", "-chdir=none plan", "apply none"];
    for line in lines {
        let result = workdir.formwork(line).run();
        let words = result.code(1).words();
        assert!(words.contains("No such file or directory"), "{line}: {words}");
        assert!(!words.contains("os error"), "{line}: {words}");
    }
}

#[test]
fn the_log_contains_phases_and_every_call_with_its_address_duration_and_outcome() {
    let workdir =
        Workdir::new(&THING.replace("name = \"a\"", "name = \"a\"\n  secret = \"hunter2\""));
    let command = workdir.formwork("apply -auto-approve -var=none=hunter2");
    let refused = command.env("TF_LOG", "trace").run();
    refused.code(1).says("program started").says("command=\"formwork apply\"");
    assert!(!refused.stderr.contains("hunter2"), "{}", refused.text());
    let command = workdir.formwork("apply -auto-approve");
    let logged = command.env("TF_LOG_CORE", "JSON").succeed();
    let lines: Vec<serde_json::Value> = logged
        .stderr
        .lines()
        .map(|line| serde_json::from_str(line).expect("an object in each line"))
        .collect();
    let has = |message: &str, fields: &[(&str, &str)]| {
        lines.iter().any(|line| {
            line["@message"] == message && fields.iter().all(|(name, value)| line[*name] == *value)
        })
    };
    for phase in ["plan", "apply"] {
        assert!(has("phase begins", &[("phase", phase)]), "{}", logged.text());
        assert!(has("phase ended", &[("phase", phase)]), "{}", logged.text());
    }
    assert!(has("state locked", &[("operation", "apply")]), "{}", logged.text());
    let about = [("address", "bad_thing.a"), ("outcome", "answered")];
    for call in ["PlanResourceChange", "ApplyResourceChange", "ValidateResourceConfig"] {
        let fields = [about[0], about[1], ("call", call)];
        assert!(has("call ended", &fields), "{call}: {}", logged.text());
    }
    let result = lines.iter().filter(|line| line["@message"] == "call ended");
    assert!(result.clone().count() > 3 && result.clone().all(|line| line["duration_ms"].is_u64()));
    let quiet = workdir.formwork("plan").env("TF_LOG_CORE", "info").succeed();
    assert!(quiet.stderr.contains("phase ended") && !quiet.stderr.contains("call ended"));
}

#[test]
fn a_command_that_waits_for_the_lock_names_the_holder() {
    let workdir = Workdir::new(THING);
    let holder = workdir.formwork("apply -auto-approve").env("BAD_HOLD", "before:a").start();
    let (_, paused) = workdir.service.wait_for_pause();
    let refused = workdir.formwork("plan").run();
    refused.code(1).says("Operation: apply").says_not("OperationType");
    let waiting = workdir.formwork("plan -lock-timeout=90s").env("TF_LOG_CORE", "info").start();
    waiting.wait_for_output("The state is locked by ");
    drop(paused);
    holder.wait().code(0);
    let result = waiting.wait();
    result.code(0).says("(apply, since 2").says("Waiting up to 1m30s for the lock...");
    result.says("waiting for the state lock").says("state locked").says("No changes");
}

#[test]
fn only_init_warns_about_ignored_blocks_of_the_lock_file() {
    let workdir = Workdir::new(
        "resource \"terraform_data\" \"a\" {\n}\n//- .terraform.lock.hcl\nmodule \"x\" {\n}\n",
    );
    let warning = "Dependency locks for modules are not yet supported";
    let n_warnings = |line: &str| workdir.formwork(line).succeed().text().matches(warning).count();
    assert_eq!(n_warnings("init"), 1);
    for line in ["plan", "apply -auto-approve", "state list", "state show terraform_data.a"] {
        assert_eq!(n_warnings(line), 0, "{line}");
    }
}
