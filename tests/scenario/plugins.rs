//! Number and lifetime of plugins: real processes, seen in the log.

use crate::harness::{CommandResult, Workdir};

/// Three configurations of one provider, each with a resource; the last resource needs the others.
const THREE: &str = r#"
terraform {
  required_providers {
    bad = { source = "formwork/bad" }
  }
}
provider "bad" {}
provider "bad" {
  alias = "b"
}
provider "bad" {
  alias = "c"
}
resource "bad_thing" "a" {
  name = "a"
}
resource "bad_thing" "b" {
  name     = "b"
  provider = bad.b
}
resource "bad_thing" "c" {
  name     = "c"
  provider = bad.c
}
resource "bad_thing" "last" {
  name = "last"
  link = "${bad_thing.b.id} ${bad_thing.c.id}"
}
"#;

/// The most plugins that lived at one time, and how many are left.
fn plugins(result: &CommandResult) -> (i32, i32) {
    let (mut n_running, mut max_running) = (0, 0);
    for line in result.stderr.lines() {
        n_running +=
            i32::from(line.contains("plugin started")) - i32::from(line.contains("plugin ended"));
        max_running = max_running.max(n_running);
    }
    (max_running, n_running)
}

#[test]
fn the_number_of_concurrent_plugins_is_limited() {
    let workdir = Workdir::new(THREE);
    let with = |limit: &str, command: &str| {
        let run = workdir.formwork(command).env("TF_LOG", "debug");
        plugins(&run.env("FORMWORK_PLUGIN_PROCESSES", limit).succeed())
    };
    assert_eq!(with("2", "plan"), (2, 0));
    assert_eq!(with("2", "apply -auto-approve"), (2, 0));
    assert_eq!(with("", "plan -detailed-exitcode"), (3, 0));
    // The first configuration is needed until the end, so one is too few, and exceeded.
    assert_eq!(with("1", "plan -detailed-exitcode").1, 0);
    assert_eq!(with("1", "destroy -auto-approve").1, 0);
    assert_eq!(workdir.service.objects(), Vec::<String>::new());
}

#[test]
fn a_console_calls_functions_of_plugins_until_its_last_line() {
    let workdir = Workdir::new(THREE);
    let typed = "provider::bad::say(\"first\")\nprovider::bad::say(\"last\")\n";
    let run = workdir.formwork("console").env("TF_LOG", "debug").stdin(typed).succeed();
    run.says("last");
    assert_eq!(plugins(&run).1, 0, "{}", run.text());
}
