//! Scripts that both programs run over one backend. `config` makes the files of a directory whose state
//! is in the backend, with some more blocks. Without Terraform on this machine they do nothing.

use nix::sys::signal::Signal;

use super::RESOURCE;
use crate::harness::{CommandResult, Workdir, opentofu, terraform};

/// Makes the files of a directory.
pub(super) type Config<'c> = &'c dyn Fn(&str) -> String;

/// The programs, each with the other one.
const TURNS: [(&str, &str); 2] = [("terraform", "formwork"), ("formwork", "terraform")];

/// A line of the approval prompt of both programs, which is printed while the lock is held.
const APPROVAL_PROMPT: &str = "Only 'yes' will be accepted";

/// Each program reads and changes the state of the other, in a directory that either has set up.
pub(super) fn alternate_programs(config: Config<'_>) {
    if terraform().is_none() {
        return;
    }
    let with = |input: usize| config(&RESOURCE.replace('1', &input.to_string()));
    for (turn, (first, second)) in TURNS.into_iter().enumerate() {
        let (old, new) = (2 * turn + 1, 2 * turn + 2);
        let workdir = Workdir::new(&with(old));
        workdir.engine(first, "init").succeed();
        workdir.engine(first, "apply -auto-approve").succeed();
        // In the same directory, without `init`: both recognize the block.
        workdir.engine(second, "plan -detailed-exitcode").run().code(0).says("No changes");
        let text = with(new);
        workdir.write("main.tf", text.split("//-").next().expect("it has files"));
        workdir.engine(second, "apply -auto-approve").succeed().says("1 changed");
        workdir.engine(first, "plan -detailed-exitcode").run().code(0).says("No changes");
        let pulled = |program: &str| workdir.engine(program, "state pull").succeed().stdout;
        assert_eq!(pulled(first).trim_end(), pulled(second).trim_end());

        // In a directory that the other one sets up.
        let other_workdir = Workdir::new(&with(new));
        other_workdir.engine(second, "init").succeed();
        other_workdir.engine(first, "plan -detailed-exitcode").run().code(0).says("No changes");
    }
}

/// While one program holds the lock, the other one is refused.
pub(super) fn locks_exclude(config: Config<'_>) {
    locks_exclude_a_command(config, "plan");
}

/// While one program holds the lock, a command of the other one is refused.
pub(super) fn locks_exclude_a_command(config: Config<'_>, command: &str) {
    if terraform().is_none() {
        return;
    }
    for (holder, other) in TURNS {
        let workdir = Workdir::new(&config(RESOURCE));
        workdir.engine(holder, "init").succeed();
        let mut running =
            workdir.engine(holder, "apply -replace=terraform_data.a").with_open_stdin().start();
        running.wait_for_output(APPROVAL_PROMPT);
        let refused = workdir.engine(other, command).run();
        refused.code(1).says("Error acquiring the state lock");
        running.answer("yes\n");
        let result = running.wait();
        assert_eq!(result.code, Some(0), "{}", result.text());
        workdir.engine(other, "plan -detailed-exitcode").run().code(0).says("No changes");
    }
}

/// The lock of a program that was killed is released by the other one. `checking` are the programs that
/// refuse the id of another lock.
pub(super) fn locks_end_by_force(config: Config<'_>, checking: &[&str]) {
    if terraform().is_none() {
        return;
    }
    for (holder, other) in TURNS {
        let workdir = Workdir::new(&config(RESOURCE));
        workdir.engine(holder, "init").succeed();
        let running =
            workdir.engine(holder, "apply -replace=terraform_data.a").with_open_stdin().start();
        running.wait_for_output(APPROVAL_PROMPT);
        running.signal(Signal::SIGKILL);
        assert_eq!(running.wait().code, None);
        let refused = workdir.engine(other, "plan").run();
        refused.code(1).says("Lock Info");
        let id = lock_id(&refused);
        if checking.contains(&other) {
            workdir.engine(other, "force-unlock -force 0f1e").run().code(1);
        }
        workdir.engine(other, &format!("force-unlock -force {id}")).succeed();
        // A server may hold it back for some seconds.
        let planned =
            (0..30).any(|_| workdir.engine(other, "plan -lock-timeout=30s").run().code == Some(0));
        assert!(planned, "the lock was not released");
    }
}

/// The id of the lock that a refusal describes.
pub(super) fn lock_id(refused: &CommandResult) -> String {
    let words = refused.words();
    // Messages of servers name other ids before.
    let (_, info) = words.split_once("Lock Info:").expect("the lock is described");
    let id = info.split("ID: ").nth(1).and_then(|rest| rest.split(' ').next());
    id.expect("the lock is described").to_owned()
}

/// A resource whose creation can be paused.
pub(super) const PAUSED_RESOURCE: &str = "terraform {\n  required_providers {\n    bad = { source = \"formwork/bad\" }\n  }\n}\nresource \"bad_thing\" \"a\" {\n  name = \"a\"\n}\n";

/// A run that was cut off on one machine is taken over on another one, which has nothing of its directory.
pub(super) fn a_run_of_a_lost_machine_is_taken_over(config: Config<'_>) {
    let lost_workdir = Workdir::new(&config(PAUSED_RESOURCE));
    lost_workdir.formwork("init").succeed().says_not("same machine");
    let running = lost_workdir.formwork("apply -auto-approve").env("BAD_HOLD", "after:a").start();
    let (_, paused) = lost_workdir.service.wait_for_pause();
    running.signal(Signal::SIGKILL);
    running.wait();
    drop(paused);
    lost_workdir.service.assert_no_provider_runs();

    let new_workdir = Workdir::new(&config(PAUSED_RESOURCE));
    new_workdir.formwork("init").succeed();
    let refused = new_workdir.formwork("apply -auto-approve").run();
    refused.code(1).says("Lock Info");
    new_workdir.formwork(&format!("force-unlock -force {}", lock_id(&refused))).succeed();
    // Consul delays the next lock after one that was released by force.
    let listed = new_workdir.formwork("recover list -lock-timeout=30s").succeed();
    listed.says("bad_thing.a was being created");
    new_workdir.formwork("recover forget bad_thing.a").succeed();
    // It was decided for the first machine, too, which still has its own journal.
    for workdir in [&new_workdir, &lost_workdir] {
        workdir.formwork("recover list").succeed().says_not("bad_thing.a");
    }
}

/// Each program lists, selects and removes the workspaces of the other.
pub(super) fn workspaces_are_shared(config: Config<'_>) {
    if terraform().is_none() {
        return;
    }
    for (first, second) in TURNS {
        let workdir = Workdir::new(&config(RESOURCE));
        workdir.engine(first, "init").succeed();
        workdir.engine(first, "workspace new one").succeed();
        workdir.engine(first, "apply -auto-approve").succeed().says("1 added");
        // Some backends list them in any order.
        workdir.engine(second, "workspace list").succeed().says("default").says("* one");
        workdir.engine(second, "plan -detailed-exitcode").run().code(0).says("No changes");
        workdir.engine(second, "workspace new two").succeed();
        workdir.engine(first, "workspace list").succeed().says(" one").says("* two");
        workdir.engine(first, "workspace select default").succeed();
        workdir.engine(first, "workspace delete two").succeed();
        workdir.engine(second, "workspace delete one").run().code(1);
        workdir.engine(second, "workspace delete -force one").succeed();
        workdir.engine(first, "workspace list").succeed().says_not("one");
    }
}

/// Each program reads the outputs that the other has written. `source` is the content of the data source.
pub(super) fn outputs_are_read(config: Config<'_>, source: &str) {
    if terraform().is_none() {
        return;
    }
    for (writer, reader) in TURNS {
        let output = format!("output \"o\" {{\n  value = \"by {writer}\"\n}}\n");
        let workdir = Workdir::new(&config(&output));
        workdir.engine(writer, "init").succeed();
        workdir.engine(writer, "apply -auto-approve").succeed();
        let reader_workdir = Workdir::new(&format!(
            "data \"terraform_remote_state\" \"other\" {{\n  {source}\n}}\noutput \"found\" {{\n  value = data.terraform_remote_state.other.outputs.o\n}}\n"
        ));
        reader_workdir.engine(reader, "init").succeed();
        reader_workdir
            .engine(reader, "apply -auto-approve")
            .succeed()
            .says(&format!("by {writer}"));
    }
}

/// The encryption of the states below.
pub(super) const ENCRYPTION: &str = r#"
terraform {
  encryption {
    key_provider "pbkdf2" "main" {
      passphrase = "correct horse battery staple"
      iterations = 200000
    }
    method "aes_gcm" "main" {
      keys = key_provider.pbkdf2.main
    }
    state {
      method   = method.aes_gcm.main
      enforced = true
    }
  }
}
"#;

/// The programs that encrypt, each with another one: OpenTofu takes part if this machine has it.
pub(super) fn encrypting_turns() -> &'static [(&'static str, &'static str)] {
    match opentofu() {
        Some(_) => &[("tofu", "formwork"), ("formwork", "tofu")],
        None => &[("formwork", "formwork")],
    }
}

/// States are stored encrypted: each program reads the state of the other, and none without the key.
pub(super) fn states_are_encrypted(config: Config<'_>, turns: &[(&str, &str)]) {
    let with = |input: &str| config(&format!("{ENCRYPTION}{}", RESOURCE.replace('1', input)));
    for (turn, (first, second)) in turns.iter().enumerate() {
        let (old, new) = (format!("1{turn}"), format!("2{turn}"));
        let (workdir, other_workdir) = (Workdir::new(&with(&old)), Workdir::new(&with(&new)));
        workdir.engine(first, "init").succeed();
        workdir.engine(first, "apply -auto-approve").succeed();
        other_workdir.engine(second, "init").succeed();
        other_workdir.engine(second, "apply -auto-approve").succeed().says("1 changed");
        let text = with(&new);
        workdir.write("main.tf", text.split("//-").next().expect("it has files"));
        workdir.engine(first, "plan -detailed-exitcode").run().code(0).says("No changes");
        let pulled = [(&workdir, first), (&other_workdir, second)].map(|(workdir, program)| {
            let text = workdir.engine(program, "state pull").succeed().stdout;
            let mut state: serde_json::Value = serde_json::from_str(&text).expect("a state");
            // OpenTofu prints its own version and sums that it has not stored.
            for name in ["terraform_version", "check_results"] {
                state[name].take();
            }
            state
        });
        assert_eq!(pulled[0], pulled[1]);
        // A backend without the encryption shows the stored bytes.
        let unencrypted = Workdir::new(&config(""));
        unencrypted.formwork("init").run().code(1).says("State file is encrypted");
        unencrypted.formwork("state pull").run().code(1).says("State file is encrypted");
    }
}

/// The state of a new workspace is encrypted from its beginning.
pub(super) fn new_workspaces_are_encrypted(config: Config<'_>, turns: &[(&str, &str)]) {
    for (first, second) in turns {
        let workdir = Workdir::new(&config(&format!("{ENCRYPTION}{RESOURCE}")));
        workdir.engine(first, "init").succeed();
        workdir.engine(first, &format!("workspace new of-{first}")).succeed();
        let other_workdir = Workdir::new(&config(&format!("{ENCRYPTION}{RESOURCE}")));
        other_workdir.engine(second, "init").succeed();
        other_workdir.engine(second, &format!("workspace select of-{first}")).succeed();
        other_workdir.engine(second, "apply -auto-approve").succeed().says("1 added");
        workdir.engine(first, "plan -detailed-exitcode").run().code(0).says("No changes");
        let unencrypted = Workdir::new(&config(""));
        let name = format!("of-{first}");
        let refused = unencrypted.formwork("init").env("TF_WORKSPACE", &name).run();
        refused.code(1).says("State file is encrypted");
    }
}

/// A state that another program wrote since a run read it is not overwritten.
pub(super) fn nothing_is_overwritten(config: Config<'_>) {
    if terraform().is_none() {
        return;
    }
    let workdir = Workdir::new(&config(RESOURCE));
    workdir.formwork("init").succeed();
    workdir.formwork("apply -auto-approve").succeed();
    let mut running =
        workdir.formwork("apply -lock=false -replace=terraform_data.a").with_open_stdin().start();
    running.wait_for_output(APPROVAL_PROMPT);
    workdir.terraform("apply -auto-approve -replace=terraform_data.a").succeed();
    let theirs = workdir.terraform("state pull").succeed().stdout;
    running.answer("yes\n");
    let refused = running.wait();
    refused.code(1).says("State was changed by another program");
    assert_eq!(workdir.terraform("state pull").succeed().stdout, theirs);
}
