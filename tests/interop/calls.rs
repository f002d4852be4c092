//! Calls of a provider: both programs run the same steps with a provider that writes down every
//! call, with either version of the protocol, and the calls must be the same. Their order is left
//! out, and so are calls that configure it.

use std::collections::BTreeMap;

use serde_json::Value;

use super::engine::terraform_is_installed;
use crate::harness::{Workdir, test_provider};

const WITH_META: &str = r#"
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
  provider_meta "test" {
    module = "root"
  }
}
resource "test_thing" "a" {
  name = "a"
}
data "test_data" "d" {
  name = "d"
}
module "child" {
  source = "./child"
}
//- child/main.tf
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
  provider_meta "test" {
    module = "child"
  }
}
resource "test_thing" "b" {
  name = "b"
}
resource "test_thing" "c" {
  name = "c"
}
"#;

const CHILD_SMALLER: &str = r#"
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
  provider_meta "test" {
    module = "child, changed"
  }
}
resource "test_thing" "b" {
  name = "b, changed"
}
"#;

/// The calls since the last time, each with its count.
fn take_calls(workdir: &Workdir) -> BTreeMap<String, usize> {
    let log = workdir.read("calls.log");
    workdir.write("calls.log", "");
    let mut calls = BTreeMap::new();
    for line in log.lines() {
        let call: Value = serde_json::from_str(line).expect("a line is a call");
        if call["call"] != "configure" {
            *calls.entry(call.to_string()).or_default() += 1;
        }
    }
    calls
}

#[test]
fn provider_meta_is_sent_with_the_same_calls() {
    if !terraform_is_installed() {
        return;
    }
    let [theirs, ours] = [(); 2].map(|()| Workdir::new(WITH_META));
    let both = |command: &str| {
        let run = |workdir: &Workdir, program| {
            let run = match program {
                "terraform" => workdir.terraform(command),
                _ => workdir.formwork(command),
            };
            let log = workdir.root().join("calls.log");
            let log = log.to_str().expect("a path of text");
            run.env("TEST_LOG", log).succeed();
            let mut calls = take_calls(workdir);
            // Before it destroys, Terraform plans as if nothing was to be destroyed.
            if command.starts_with("destroy") {
                calls.retain(|call, _| call.contains(r#""call":"apply""#));
            }
            calls
        };
        let calls = (run(&theirs, "terraform"), run(&ours, "formwork"));
        assert_eq!(calls.0, calls.1, "{command}");
        calls.0
    };
    for workdir in [&theirs, &ours] {
        workdir.link_plugin(test_provider());
    }
    both("get");
    let applied_calls = both("apply -auto-approve");
    let is_sent = |part: &str| applied_calls.keys().any(|call| call.contains(part));
    assert!(is_sent(r#""meta":{"module":"root"}"#) && is_sent(r#""meta":{"module":"child"}"#));
    for workdir in [&theirs, &ours] {
        workdir.write("child/main.tf", CHILD_SMALLER);
    }
    both("apply -auto-approve");
    both("destroy -auto-approve");
}
