//! The lock of a run ends with its session during a call, and Terraform takes the lock in the meantime.
//! Nothing is overwritten: the state gets the results of both, immediately or from the journal.

use std::collections::BTreeMap;
use std::fs;

use nix::sys::stat::Mode;

use super::{
    APPROVAL_PROMPT, END_OTHER_SESSIONS, directory, expected_inputs, inputs_in, resources,
};
use crate::harness::{Postgres, Running, Workdir, terraform};

/// An object that is created until a line comes.
const SLOW: &str = r#"
resource "terraform_data" "slow" {
  input = 1
  provisioner "local-exec" {
    command = "echo begun; read line < pipe"
  }
}
"#;

/// A run of Formwork that waits in a call, and the directories of both programs.
struct Waiting {
    ours: Workdir,
    theirs: Workdir,
    running: Running,
}

impl Waiting {
    /// Stores an object, begins to create another one, and ends the sessions of that run.
    fn begin(server: &Postgres) -> Self {
        let before = resources(&[("a", 1)]);
        let ours = directory(server, &before);
        ours.formwork("apply -auto-approve").succeed();
        ours.write("main.tf", &server.config(&(before + SLOW)));
        let pipe = ours.root().join("pipe");
        nix::unistd::mkfifo(&pipe, Mode::S_IRWXU).expect("a pipe");
        let running = ours.formwork("apply -auto-approve").start();
        running.wait_for_output("begun");
        let theirs = Workdir::new(&server.config(&resources(&[("a", 2)])));
        theirs.terraform("init").succeed();
        server.execute(END_OTHER_SESSIONS);
        Self { ours, theirs, running }
    }

    /// Lets the call end.
    fn resume(&self) {
        fs::write(self.ours.root().join("pipe"), "\n").expect("it reads");
    }
}

/// The inputs in the row of the state, which Terraform reads without any journal.
fn inputs_in_row(workdir: &Workdir) -> BTreeMap<String, u64> {
    inputs_in(&workdir.terraform("state pull").succeed().stdout)
}

#[test]
fn terraform_writes_while_a_run_has_no_session_and_both_results_are_stored() {
    let Some(server) = Postgres::start() else { return };
    if terraform().is_none() {
        return;
    }
    let waiting = Waiting::begin(&server);
    let changed = waiting.theirs.terraform("apply -auto-approve").succeed();
    changed.says("0 added, 1 changed, 0 destroyed");
    waiting.resume();
    let Waiting { theirs, running, .. } = waiting;
    running.wait().code(0).says("1 added, 0 changed, 0 destroyed");
    assert_eq!(inputs_in_row(&theirs), expected_inputs(&[("a", 2), ("slow", 1)]));
}

#[test]
fn a_run_whose_lock_terraform_has_taken_writes_nothing_and_names_the_session() {
    let Some(server) = Postgres::start() else { return };
    if terraform().is_none() {
        return;
    }
    let waiting = Waiting::begin(&server);
    let mut terraform_apply = waiting.theirs.terraform("apply").with_open_stdin().start();
    terraform_apply.wait_for_output(APPROVAL_PROMPT);
    waiting.resume();
    let Waiting { theirs, running, .. } = waiting;
    let refused = running.wait();
    refused.code(1).says("another process holds the lock now: session ").says("its journal");
    assert_eq!(inputs_in_row(&theirs), expected_inputs(&[("a", 1)]));
    terraform_apply.answer("yes\n");
    terraform_apply.wait().code(0).says("0 added, 1 changed, 0 destroyed");
    assert_eq!(inputs_in_row(&theirs), expected_inputs(&[("a", 2)]));
    // The next run has the result, and does not create the object again.
    let next = directory(&server, &(resources(&[("a", 2)]) + SLOW));
    let taken = next.formwork("apply -auto-approve").succeed();
    taken.says("An interrupted run was taken over").says("0 added, 0 changed, 0 destroyed");
    assert_eq!(inputs_in_row(&theirs), expected_inputs(&[("a", 2), ("slow", 1)]));
}
