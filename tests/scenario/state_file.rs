//! State files that are not as they should be, locks that are held, and disks that are full.

use std::fs;
use std::io;
use std::process::Command;

use crate::harness::{Workdir, instances, terraform};

const CONFIG: &str = r#"
terraform {
  required_providers {
    bad = { source = "formwork/bad" }
  }
}

resource "bad_thing" "a" {
  name = "a"
}
"#;

const STATE: &str = "terraform.tfstate";

/// A directory with one object, applied twice so that there is a backup.
fn applied() -> Workdir {
    let workdir = Workdir::new(CONFIG);
    workdir.formwork("apply -auto-approve").succeed();
    workdir.write("main.tf", &CONFIG.replace("\"a\"\n}", "\"a\"\n  size = 2\n}"));
    workdir.formwork("apply -auto-approve").succeed();
    workdir
}

/// Replaces the state by `text`, and checks the results of plan and apply.
fn check_refused(text: &str, words: &str) {
    let workdir = applied();
    workdir.write(STATE, text);
    for line in ["plan", "apply -auto-approve", "destroy -auto-approve"] {
        workdir.formwork(line).run().code(1).says(words);
    }
    assert_eq!(workdir.read(STATE), text, "it is left as it is");
    assert_eq!(workdir.service.objects(), ["a-1"]);
}

#[test]
fn an_empty_state_with_a_backup_is_reported_as_damaged() {
    check_refused("", "State file is empty");
}

#[test]
fn a_torn_state_is_refused_with_the_position_of_the_error() {
    let full_state = applied().read(STATE);
    check_refused(&full_state[..full_state.len() / 2], "terraform.tfstate");
}

#[test]
fn a_state_of_a_later_format_is_refused() {
    let later = applied().read(STATE).replace("\"version\": 4", "\"version\": 5");
    check_refused(&later, "version 5");
}

#[test]
fn a_file_that_is_not_a_state_is_refused() {
    check_refused("{\"resources\": 7}", STATE);
    check_refused(&"[".repeat(100_000), STATE);
}

#[test]
fn a_plan_for_a_state_of_another_lineage_is_refused() {
    let workdir = applied();
    workdir.write("main.tf", CONFIG);
    workdir.formwork("plan -out=saved").succeed();
    let state: serde_json::Value = serde_json::from_str(&workdir.read(STATE)).expect("JSON");
    let lineage = state["lineage"].as_str().expect("a lineage").to_owned();
    let other_state = workdir.read(STATE).replace(&lineage, "00000000-1111-2222-3333-444444444444");
    workdir.write(STATE, &other_state);
    workdir.formwork("apply saved").run().code(1).says("Saved plan");
    assert_eq!(workdir.read(STATE), other_state);
}

#[test]
fn a_state_locked_by_another_formwork_process_is_not_changed() {
    let workdir = Workdir::new(CONFIG);
    let running = workdir.formwork("apply -auto-approve").env("BAD_HOLD", "after:a").start();
    let (_, paused) = workdir.service.wait_for_pause();
    for line in ["apply -auto-approve", "plan", "destroy -auto-approve"] {
        let refused = workdir.formwork(line).run();
        refused.code(1).says("Error acquiring the state lock").says("Operation: apply");
    }
    paused.resume();
    assert_eq!(running.wait().code, Some(0));
    assert_eq!(instances(&workdir).len(), 1);
    workdir.formwork("plan -detailed-exitcode").succeed();
}

#[test]
fn terraform_and_formwork_respect_each_others_lock() {
    if terraform().is_none() {
        return;
    }
    let workdir = Workdir::new(CONFIG);
    let ours = workdir.formwork("apply -auto-approve").env("BAD_HOLD", "after:a").start();
    let (_, paused) = workdir.service.wait_for_pause();
    workdir.terraform("plan").run().code(1).says("Error acquiring the state lock");
    paused.resume();
    assert_eq!(ours.wait().code, Some(0));

    let theirs = workdir.terraform("destroy -auto-approve").env("BAD_HOLD", "after:a").start();
    let (_, paused) = workdir.service.wait_for_pause();
    workdir.formwork("plan").run().code(1).says("Error acquiring the state lock");
    paused.resume();
    assert_eq!(theirs.wait().code, Some(0));
    assert_eq!(instances(&workdir), []);
}

#[test]
fn a_lock_is_waited_for_until_the_timeout() {
    let workdir = Workdir::new(CONFIG);
    let running = workdir.formwork("apply -auto-approve").env("BAD_HOLD", "after:a").start();
    let (_, paused) = workdir.service.wait_for_pause();
    let waiting = workdir.formwork("plan -lock-timeout=60s -detailed-exitcode").start();
    paused.resume();
    assert_eq!(running.wait().code, Some(0));
    waiting.wait().code(0).says("No changes");
}

#[test]
fn a_lock_timeout_is_checked_even_if_nothing_is_locked() {
    let workdir = Workdir::new("output \"o\" {\n  value = 1\n}\n");
    for line in ["workspace new", "workspace new -lock=false"] {
        for time in ["abc", "5"] {
            let refused = workdir.formwork(&format!("{line} -lock-timeout={time} other")).run();
            refused.code(1).says("Invalid -lock-timeout");
        }
    }
    workdir.formwork("workspace list").succeed().says_not("other");
    workdir.formwork("plan -lock=false -lock-timeout=5").run().code(1).says("-lock-timeout");
}

#[test]
fn a_state_that_cannot_grow_loses_nothing_and_is_named() {
    let with_count = CONFIG.replace(
        "resource \"bad_thing\" \"a\" {\n  name = \"a\"",
        "resource \"bad_thing\" \"a\" {\n  count = 100\n  name = \"a${count.index}\"",
    );
    let workdir = Workdir::new(CONFIG);
    workdir.formwork("apply -auto-approve").succeed();
    let before = workdir.read(STATE);
    workdir.write("main.tf", &with_count);
    let result = workdir.formwork("apply -auto-approve").file_limit(16).run();
    assert_eq!(result.code, Some(1), "{}", result.text());
    // The old state is whole, or there is a new one that is; never half of one.
    let after = workdir.read(STATE);
    assert!(after == before || serde_json::from_str::<serde_json::Value>(&after).is_ok());
    // With room again, everything that exists is known, or named as in doubt.
    assert_no_object_lost(&workdir);
}

/// A working directory on a disk of its own; `None` if this user may not mount one.
fn on_small_disk(size: &str) -> Option<(Unmount, Workdir)> {
    let workdir = Workdir::new("");
    let mut command = Command::new("mount");
    command.args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"]).arg(workdir.root());
    let is_mounted = command.output().is_ok_and(|output| output.status.success());
    is_mounted.then(|| (Unmount(workdir.root()), workdir))
}

#[test]
fn responses_are_stored_even_if_the_disk_fills_during_their_calls() {
    // Only root may mount; `state::journal::tests::the_disk_keeps_space…` sees the space on any disk.
    let Some((_unmount, workdir)) = on_small_disk("1m") else { return };
    let thing = |name: &str, size: &str| {
        format!("resource \"bad_thing\" \"{name}\" {{\n  name = \"{name}\"\n{size}}}\n")
    };
    let head = CONFIG.split("resource").next().expect("a head");
    let after = thing("d", "  size = length(bad_thing.a.id)\n");
    let things = [thing("a", ""), thing("b", ""), thing("c", ""), after];
    workdir.write("main.tf", &format!("{head}{}", things.concat()));
    let hold = "after:a,after:b,after:c";
    let running = workdir.formwork("apply -auto-approve").env("BAD_HOLD", hold).start();
    let paused = [(); 3].map(|()| workdir.service.wait_for_pause().1);
    let fill = workdir.root().join("fill");
    let full = fs::File::create(&fill).and_then(|mut file| io::copy(&mut io::repeat(7), &mut file));
    assert_eq!(full.expect_err("no disk is endless").kind(), io::ErrorKind::StorageFull);
    paused.into_iter().for_each(|paused| paused.resume());
    // The journal has space, even for the call that came after, and gives it back to the state.
    running.wait().code(0).says("4 added");
    fs::remove_file(&fill).expect("the fill goes");
    workdir.formwork("plan -detailed-exitcode").succeed();
    assert_eq!(workdir.service.objects(), ["a-1", "b-1", "c-1", "d-1"]);
}

/// Mounts a file onto itself; `None` if this user may not.
fn mounted(workdir: &Workdir, name: &str) -> Option<Unmount> {
    let path = workdir.root().join(name);
    let mut command = Command::new("mount");
    let output = command.arg("--bind").arg(&path).arg(&path).output();
    output.is_ok_and(|output| output.status.success()).then(|| Unmount(path))
}

#[test]
fn files_that_are_mount_points_are_written_in_place() {
    // As single files of a host are in a container.
    let workdir = applied();
    let names = [STATE, "terraform.tfstate.backup"];
    let mounts: Vec<_> = names.iter().filter_map(|name| mounted(&workdir, name)).collect();
    if mounts.is_empty() {
        // Only root may mount.
        return;
    }
    workdir.formwork("apply -auto-approve -replace=bad_thing.a").succeed();
    let serial = |name| -> u64 {
        let state: serde_json::Value = serde_json::from_str(&workdir.read(name)).expect("JSON");
        state["serial"].as_u64().expect("a serial")
    };
    assert_eq!(serial(STATE), serial("terraform.tfstate.backup") + 1);
    workdir.formwork("plan -detailed-exitcode").succeed();
    // A shorter text leaves nothing of the longer one.
    workdir.formwork("destroy -auto-approve").succeed();
    assert_eq!(instances(&workdir), []);
    let names = workdir.root().read_dir().expect("a directory");
    let names = names.map(|entry| entry.expect("an entry").file_name().into_string());
    let mut names: Vec<String> = names.map(|name| name.expect("UTF-8")).collect();
    names.sort();
    assert!(!names.iter().any(|name| name.contains("next")), "{names:?}");
    drop(mounts);
    assert_eq!(instances(&workdir), [], "the file itself was written");
}

#[test]
fn a_full_disk_is_survived() {
    // Only root may mount; the test above sees the same with a limit on the size of files.
    let Some((_unmount, workdir)) = on_small_disk("192k") else { return };
    let with_count =
        CONFIG.replace("  name = \"a\"", "  count = 100\n  name = \"a${count.index}\"");
    workdir.write("main.tf", &with_count);
    let result = workdir.formwork("apply -auto-approve").run();
    result.code(1);
    assert_ne!(
        workdir.service.objects().len(),
        100,
        "it stops when it cannot write: {}",
        result.text()
    );
    result.says("reserve space in the journal");
    assert_no_object_lost(&workdir);
}

/// Every object that exists is in the state or the journal, or is named as one that may exist.
fn assert_no_object_lost(workdir: &Workdir) {
    let next = workdir.formwork("plan").run();
    for id in workdir.service.objects() {
        let index = id.trim_start_matches('a').split('-').next().unwrap_or_default();
        let named = next.words().contains(&format!("bad_thing.a[{index}] was being created"));
        let is_known =
            next.words().contains(&format!("bad_thing.a[{index}]: Refreshing state... [id={id}]"));
        assert!(is_known || named, "{id} is forgotten\n{}", next.text());
    }
}

/// Takes a file system away at the end, even of a failed test.
struct Unmount(std::path::PathBuf);

impl Drop for Unmount {
    fn drop(&mut self) {
        let output = Command::new("umount").arg("-l").arg(&self.0).output();
        assert!(
            output.is_ok_and(|output| output.status.success()) || fs::metadata(&self.0).is_err()
        );
    }
}
