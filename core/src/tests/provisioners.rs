//! Provisioners: their time and order, their input, and the consequences of a failure.

use expect_test::{Expect, expect};
use formwork_value::diag::{Code, Summary};
use formwork_value::schema::{Attribute, Block, Role};
use formwork_value::{Type, Value};

use super::cloud::FakeCloud;
use super::{EngineFixture, RunResult};
use crate::provisioner::{
    OutputSink, Provisioner, ProvisionerError, ProvisionerSet, ProvisionerTask,
};

/// Records its tasks among the calls to the cloud. It fails if the task requests that.
struct RecordingProvisioner {
    cloud: FakeCloud,
    schema: Block,
}

#[async_trait::async_trait(?Send)]
impl Provisioner for RecordingProvisioner {
    fn schema(&self) -> &Block {
        &self.schema
    }

    async fn run_task(
        &self,
        task: ProvisionerTask<'_>,
        _: OutputSink<'_>,
    ) -> Result<(), ProvisionerError> {
        let Value::Object(config) = task.config.value() else { panic!("a block is an object") };
        let Some(Value::String(text)) = config.get("command") else { panic!("it is a text") };
        self.cloud.lock_contents().calls.push(format!("run {text}"));
        match text.strip_prefix("fail ") {
            Some(reason) => {
                let summary = Summary { code: Code::new("FW0000"), text: "it failed".to_owned() };
                let bare = "for a reason".to_owned();
                Err(ProvisionerError { summary, detail: format!("because {reason}"), bare })
            }
            None => Ok(()),
        }
    }

    fn request_stop(&self) {}
}

/// A bench with a provisioner.
pub(super) fn fixture_with_provisioner() -> EngineFixture {
    let mut bench = EngineFixture::new();
    let attributes =
        [("command".into(), Attribute::new(Type::String, Role::Required))].into_iter().collect();
    let schema = Block { attributes, ..Block::default() };
    let notes = RecordingProvisioner { cloud: bench.cloud.clone(), schema };
    bench.provisioners = ProvisionerSet::from_kinds([("local-exec", Box::new(notes))]);
    bench
}

fn describe_run(run: &RunResult, bench: &EngineFixture) -> String {
    let wanted = ["create", "update", "delete", "run"];
    let calls =
        run.calls.iter().filter(|call| wanted.iter().any(|prefix| call.starts_with(prefix)));
    let calls: Vec<&str> = calls.map(String::as_str).collect();
    let messages: String = run
        .diags
        .iter()
        .map(|diagnostic| {
            format!(
                "{}: {}\n",
                diagnostic.summary,
                diagnostic.detail.lines().next().unwrap_or_default()
            )
        })
        .collect();
    format!("{}\n{messages}{}", calls.join(", "), bench.describe_state())
}

/// Applies configurations one after the other; shows the last run and the state after it.
fn check_last_run(configs: &[&str], expect: &Expect) {
    let mut bench = fixture_with_provisioner();
    let mut last = None;
    for config in configs {
        last = Some(bench.apply(config));
    }
    expect.assert_eq(&describe_run(&last.unwrap(), &bench));
}

const ONE_PROVISIONER: &str = r#"
resource "test_thing" "a" {
  name = "a"
  provisioner "local-exec" { command = "first ${self.name}" }
  provisioner "local-exec" { command = "second" }
  provisioner "local-exec" {
    when    = destroy
    command = "bye ${self.name}"
  }
}
resource "test_thing" "b" { name = test_thing.a.name }
"#;

#[test]
fn provisioners_run_in_order_before_dependents_start() {
    check_last_run(
        &[ONE_PROVISIONER],
        &expect![[r#"
            create a, run first a, run second, create a
            test_thing.a a-1
            test_thing.b a-2 after test_thing.a
        "#]],
    );
}

#[test]
fn an_update_runs_no_provisioners() {
    // As in Terraform, only creations and destructions have them.
    let updated = ONE_PROVISIONER.replace("name = \"a\"", "name = \"a\"\n  size = 2");
    check_last_run(
        &[ONE_PROVISIONER, &updated],
        &expect![[r#"
        update a-1
        test_thing.a a-1 2
        test_thing.b a-2 after test_thing.a
    "#]],
    );
}

#[test]
fn destroy_provisioners_run_before_an_object_is_destroyed() {
    let without_block = r#"
        resource "test_thing" "a" {
          count = 1
          name  = "a${count.index}"
          provisioner "local-exec" {
            when    = destroy
            command = "bye ${self.name} ${count.index}"
          }
        }"#;
    let two = without_block.replace("count = 1", "count = 2");
    check_last_run(
        &[&two, without_block],
        &expect![[r#"
        run bye a1 1, delete a1-1
        test_thing.a[0] a0-1
    "#]],
    );
    let mut bench = fixture_with_provisioner();
    bench.apply(ONE_PROVISIONER);
    let run = bench.destroy(ONE_PROVISIONER);
    expect![[r#"
        delete a-2, run bye a, delete a-1
    "#]]
    .assert_eq(&describe_run(&run, &bench));
}

#[test]
fn provisioners_of_a_removed_block_do_not_run() {
    // As in Terraform: they are only in the block, not in the state.
    check_last_run(
        &[ONE_PROVISIONER, ""],
        &expect![[r#"
        delete a-2, delete a-1
    "#]],
    );
}

#[test]
fn a_failed_provisioner_taints_the_object_and_stops_dependents() {
    let failing = ONE_PROVISIONER.replace("second", "fail so");
    // As in Terraform, an object whose provisioner fails is tainted.
    check_last_run(
        &[&failing],
        &expect![[r#"
        create a, run first a, run fail so
        it failed: because so
        test_thing.a a-1 tainted
    "#]],
    );
    // It is replaced, and no provisioners run before a partially created object is destroyed.
    check_last_run(
        &[&failing, ONE_PROVISIONER],
        &expect![[r#"
        delete a-1, create a, run first a, run second, create a
        test_thing.a a-2
        test_thing.b a-3 after test_thing.a
    "#]],
    );
}

#[test]
fn a_failure_with_on_failure_continue_is_ignored() {
    let tolerant = ONE_PROVISIONER.replace(
        "{ command = \"second\" }",
        "{\n    command = \"fail so\"\n    on_failure = continue\n  }",
    );
    check_last_run(
        &[&tolerant],
        &expect![[r#"
        create a, run first a, run fail so, create a
        test_thing.a a-1
        test_thing.b a-2 after test_thing.a
    "#]],
    );
}

#[test]
fn an_object_with_a_failed_destroy_provisioner_is_kept() {
    let failing = ONE_PROVISIONER.replace("bye ${self.name}", "fail to leave");
    // As in Terraform, what fails before a destruction keeps the object.
    let mut bench = fixture_with_provisioner();
    bench.apply(&failing);
    let run = bench.destroy(&failing);
    expect![[r#"
        delete a-2, run fail to leave
        it failed: because to leave
        test_thing.a a-1
    "#]]
    .assert_eq(&describe_run(&run, &bench));
}

#[test]
fn a_create_first_replacement_runs_no_destroy_provisioners() {
    let config = |zone: &str, create_first: bool| {
        format!(
            r#"resource "test_thing" "a" {{
                 name = "a"
                 zone = "{zone}"
                 provisioner "local-exec" {{ command = "hello" }}
                 provisioner "local-exec" {{
                   when    = destroy
                   command = "bye"
                 }}
                 lifecycle {{ create_before_destroy = {create_first} }}
               }}"#
        )
    };
    check_last_run(
        &[&config("north", false), &config("south", false)],
        &expect![[r#"
        run bye, delete a-1, create a, run hello
        test_thing.a a-2
    "#]],
    );
    // A rule of Terraform: deposed objects run none.
    check_last_run(
        &[&config("north", true), &config("south", true)],
        &expect![[r#"
        create a, run hello, delete a-1
        test_thing.a a-2 create-first
    "#]],
    );
}

#[test]
fn a_failed_provisioner_of_a_successor_keeps_the_old_object_deposed() {
    let config = |zone: &str, command: &str| {
        format!(
            r#"resource "test_thing" "a" {{
                 name = "a"
                 zone = "{zone}"
                 provisioner "local-exec" {{ command = "{command}" }}
                 lifecycle {{ create_before_destroy = true }}
               }}"#
        )
    };
    check_last_run(
        &[&config("north", "hello"), &config("south", "fail so")],
        &expect![[r#"
        create a, run fail so
        it failed: because so
        test_thing.a a-2 tainted create-first
        test_thing.a (deposed) a-1 create-first
    "#]],
    );
}

#[test]
fn references_of_provisioners_are_visited_first() {
    check_last_run(
        &[r#"
            resource "test_thing" "a" {
              name = "a"
              provisioner "local-exec" { command = "with ${test_thing.z.name}" }
              connection { host = test_thing.y.name }
            }
            resource "test_thing" "y" { name = "y" }
            resource "test_thing" "z" { name = "z" }
        "#],
        &expect![[r#"
            create y, create z, create a, run with z
            test_thing.a a-1 after test_thing.y test_thing.z
            test_thing.y y-1
            test_thing.z z-1
        "#]],
    );
}

#[test]
fn invalid_provisioner_blocks_are_reported_while_planning() {
    let mut text = String::new();
    for block in [
        "provisioner \"local-exec\" { }",
        "provisioner \"local-exec\" { comand = 1 }",
        "provisioner \"local-exec\" { command = self.nope }",
        "provisioner \"remote-exec\" { inline = [\"x\"] }",
        "provisioner \"magic\" { }",
        "provisioner \"local-exec\" {\n command = \"x\"\n connection { }\n }",
        "provisioner \"local-exec\" {\n command = \"x\"\n connection {\n host = \"h\"\n zork = 1\n }\n }",
    ] {
        let mut bench = fixture_with_provisioner();
        let config = format!("resource \"test_thing\" \"a\" {{\n name = \"a\"\n {block}\n }}");
        let run = bench.plan(&config);
        assert!(run.plan.is_none_or(|plan| plan.errored), "{block}");
        for diagnostic in run.diags.iter() {
            text.push_str(&format!("{}\n", diagnostic.summary));
        }
    }
    expect![[r#"
        Missing required argument
        Missing required argument
        Unsupported argument
        Unsupported attribute
        Missing required provisioner plugin
        Missing required provisioner plugin
        Missing required argument
        Unsupported argument
    "#]]
    .assert_eq(&text);
}

#[test]
fn a_removed_block_may_contain_destroy_provisioners() {
    let removed = |destroy: bool| {
        format!(
            r#"removed {{
                 from = test_thing.a
                 lifecycle {{ destroy = {destroy} }}
                 provisioner "local-exec" {{
                   when    = destroy
                   command = "gone ${{self.name}}"
                 }}
               }}"#
        )
    };
    check_last_run(
        &[r#"resource "test_thing" "a" { name = "a" }"#, &removed(true)],
        &expect![[r#"
            run gone a, delete a-1
        "#]],
    );
    // Nothing is destroyed, so nothing runs before it.
    check_last_run(
        &[r#"resource "test_thing" "a" { name = "a" }"#, &removed(false)],
        &expect![[r#"

            Some objects will no longer be managed by Terraform: Applying this plan takes these objects out of the state without destroying them:
        "#]],
    );
}
