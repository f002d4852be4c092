//! Labels of objects in messages and events: the id, or else a name or a tag.

use super::engine::terraform_is_installed;
use crate::harness::{CommandResult, Workdir, test_provider};

const CONFIG: &str = r#"
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}
resource "test_label" "all" {
  id   = "i"
  name = "n"
  note = "NOTE"
}
resource "test_label" "name" {
  name = "n"
  note = "NOTE"
}
resource "test_label" "empty" {
  id   = ""
  name = "n"
  note = "NOTE"
}
resource "test_label" "secret" {
  id   = sensitive("i")
  name = "n"
  note = "NOTE"
}
resource "test_named" "name" {
  name = "n"
  tags = { Name = "t" }
  note = "NOTE"
}
resource "test_named" "tags" {
  tags = { Name = "t" }
  note = "NOTE"
}
resource "test_tagged" "upper" {
  tags = { Name = "t", other = "o" }
  note = "NOTE"
}
resource "test_tagged" "lower" {
  tags = { Name = "t", name = "u" }
  note = "NOTE"
}
resource "test_tagged" "secret" {
  tags = { Name = sensitive("t") }
  note = "NOTE"
}
resource "test_numbered" "name" {
  id   = 1
  name = "n"
  note = "NOTE"
}
"#;

/// Messages about each object, for people.
fn words(result: CommandResult) -> Vec<String> {
    let text = result.text();
    let started = text.lines().filter(|line| line.starts_with("test_") && line.contains("..."));
    let finished =
        text.lines().filter(|line| line.starts_with("test_") && line.contains(" after "));
    let seconds = |line: &str| line.replace("after 1s", "after 0s");
    sorted(started.chain(finished).map(seconds).collect())
}

/// Events about each object, for programs.
fn hooks(result: CommandResult) -> Vec<String> {
    let text = result.text();
    let lines = text.lines().filter_map(|line| serde_json::from_str(line).ok());
    let labels = lines.filter_map(|line: serde_json::Value| {
        let (kind, hook) = (line["type"].as_str()?, line.get("hook")?);
        // Terraform shows a sensitive id when it has read an object.
        if kind == "refresh_complete" && hook["resource"]["resource_name"] == "secret" {
            return None;
        }
        let label = (hook.get("id_key"), hook.get("id_value"));
        let message = line["@message"].as_str()?.replace("after 1s", "after 0s");
        Some(format!("{kind} {label:?} {message}"))
    });
    sorted(labels.collect())
}

fn sorted(mut lines: Vec<String>) -> Vec<String> {
    lines.sort();
    lines
}

#[test]
fn both_programs_print_the_same_labels_of_objects() {
    if !terraform_is_installed() {
        return;
    }
    let label_lists = ["terraform", "formwork"].map(|program| {
        let workdir = Workdir::new(CONFIG);
        workdir.link_plugin(test_provider());
        let run = |line: &str| match program {
            "terraform" => workdir.terraform(line).succeed(),
            _ => workdir.formwork(line).succeed(),
        };
        let mut labels = words(run("apply -no-color -auto-approve"));
        workdir.write("main.tf", &CONFIG.replace("NOTE", "other"));
        labels.extend(words(run("apply -no-color -auto-approve")));
        labels.extend(hooks(run("apply -json -auto-approve -replace=test_named.name")));
        labels.extend(words(run("destroy -no-color -auto-approve")));
        workdir.write("main.tf", CONFIG);
        labels.extend(hooks(run("apply -json -auto-approve")));
        workdir.write("main.tf", &CONFIG.replace("NOTE", "other"));
        labels.extend(hooks(run("apply -json -auto-approve")));
        labels.extend(hooks(run("destroy -json -auto-approve")));
        labels
    });
    let [theirs, ours] = label_lists;
    for label in ["[name=n]", "[tags.Name=t]", "[tags.name=u]", "[id=i]"] {
        assert!(theirs.iter().any(|line| line.contains(label)), "{label}: {theirs:#?}");
    }
    assert_alike(&ours, &theirs);
}

/// Says which lines only one of them has.
fn assert_alike(ours: &[String], theirs: &[String]) {
    let difference = |left: &[String], right: &[String]| -> Vec<String> {
        left.iter().filter(|line| !right.contains(line)).cloned().collect()
    };
    let (ours_alone, theirs_alone) = (difference(ours, theirs), difference(theirs, ours));
    assert!(
        ours_alone.is_empty() && theirs_alone.is_empty(),
        "only ours: {ours_alone:#?}\nonly theirs: {theirs_alone:#?}"
    );
    assert_eq!(ours, theirs, "each as often");
}
