//! Files that were damaged, emptied or changed between two runs. If a message gives advice, the
//! test follows it, and no object is forgotten or created twice.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use nix::sys::signal::Signal;

use crate::harness::{CommandResult, Workdir, instances, terraform};

const CONFIG: &str = r#"
terraform {
  required_providers {
    bad = { source = "formwork/bad" }
  }
}

resource "bad_thing" "first" {
  name = "first"
}

resource "bad_thing" "second" {
  name = "second"
  link = bad_thing.first.id
}
"#;

const THIRD: &str = "\nresource \"bad_thing\" \"third\" {\n  name = \"third\"\n}\n";

const STATE: &str = "terraform.tfstate";

/// A directory in which an apply was killed when it had created both objects and knew of the first.
fn killed() -> Workdir {
    let workdir = Workdir::new(CONFIG);
    kill(&workdir, "apply -auto-approve");
    assert_eq!(workdir.service.objects(), ["first-1", "second-1"]);
    workdir
}

/// Kills a command when it has created `second` and has no answer yet.
fn kill(workdir: &Workdir, line: &str) {
    let running = workdir.formwork(line).env("BAD_HOLD", "after:second").start();
    let (_, paused) = workdir.service.wait_for_pause();
    running.signal(Signal::SIGKILL);
    running.wait();
    drop(paused);
    workdir.service.assert_no_provider_runs();
}

/// The one journal of a directory.
fn journal(workdir: &Workdir) -> PathBuf {
    let entries = fs::read_dir(workdir.root().join(".terraform.tfstate.journal"));
    let paths = entries.expect("a directory").map(|entry| entry.expect("an entry").path());
    let mut journals = paths.filter(|path| path.extension().is_some_and(|it| it == "wal"));
    let journal = journals.next().expect("a journal");
    assert_eq!(journals.next(), None);
    journal
}

fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).expect("JSON")
}

/// Applies until there are no changes, and checks that each object is known and none exists
/// twice.
fn assert_all_known(workdir: &Workdir) {
    workdir.formwork("apply -auto-approve").succeed().says("0 added, 0 changed, 0 destroyed");
    let known_ids: Vec<String> =
        instances(workdir).into_iter().map(|instance| instance.id).collect();
    assert_eq!(known_ids, workdir.service.objects());
}

fn set_serial(text: &str, serial: u64) -> String {
    let mut state = json(text);
    state["serial"] = serial.into();
    state.to_string()
}

fn mode(workdir: &Workdir, name: &str) -> u32 {
    let about = fs::metadata(workdir.root().join(name));
    about.unwrap_or_else(|error| panic!("{name}: {error}")).permissions().mode() & 0o777
}

#[test]
fn a_killed_first_apply_leaves_a_state_that_both_programs_read() {
    let workdir = killed();
    let state = json(&workdir.read(STATE));
    assert_eq!((&state["version"], &state["serial"]), (&4.into(), &1.into()));
    let journal_text =
        String::from_utf8_lossy(&fs::read(journal(&workdir)).expect("bytes")).into_owned();
    let lineage = state["lineage"].as_str().expect("a lineage");
    assert!(journal_text.contains(&format!("\"lineage\":\"{lineage}\"")), "{journal_text}");
    if terraform().is_some() {
        workdir.terraform("plan").succeed().says("2 to add");
        let ours = workdir.formwork("apply -auto-approve -target=bad_thing.first").succeed();
        ours.says("0 added");
        workdir.terraform("state list").succeed().says("bad_thing.first");
    }
}

#[test]
fn a_state_is_not_copied_without_the_results_of_its_open_journal() {
    for line in ["workspace new -state=terraform.tfstate copy", "state push terraform.tfstate"] {
        let workdir = killed();
        let before = workdir.read(STATE);
        let refused = workdir.formwork(line).run();
        refused.code(1).says("State lacks results of a run").says("apply -refresh-only");
        assert_eq!(workdir.read(STATE), before, "{line}");
        // As the message recommends. The object whose answer is missing waits for a decision.
        workdir.formwork("apply -refresh-only -auto-approve").run();
        workdir.formwork("recover adopt bad_thing.second second-1").succeed();
        assert!(workdir.read(STATE).contains("first-1"), "{line}");
        workdir.formwork(line).succeed();
    }
}

#[test]
fn an_emptied_journal_stops_the_next_run_once_with_the_next_step() {
    for (n_remaining, line) in [(0, "apply"), (40, "apply"), (0, "destroy")] {
        let workdir = killed();
        let path = journal(&workdir);
        let journal_bytes = fs::read(&path).expect("bytes");
        fs::write(&path, &journal_bytes[..n_remaining]).expect("it can be written");
        for looking in ["plan", "state list"] {
            workdir.formwork(looking).succeed().says("Journal is damaged");
        }
        let stopped = workdir.formwork(&format!("{line} -auto-approve")).run();
        stopped.code(1).says("may have left unknown objects").says("formwork import");
        assert_eq!(workdir.service.objects(), ["first-1", "second-1"], "{line}");
        assert!(path.with_extension("wal.damaged").exists(), "it is kept");
        // As the message recommends.
        workdir.formwork("import bad_thing.first first-1").succeed();
        workdir.formwork("import bad_thing.second second-1").succeed();
        assert_all_known(&workdir);
    }
}

#[test]
fn an_empty_state_beside_an_emptied_journal_is_refused_until_both_are_removed() {
    let workdir = killed();
    let path = journal(&workdir);
    for backup in [Some(STATE), None] {
        fs::write(&path, "").expect("it can be written");
        match backup {
            Some(state) => workdir.write(state, ""),
            None => fs::remove_file(workdir.root().join(STATE)).expect("it exists"),
        }
        for line in ["plan", "apply -auto-approve", "destroy -auto-approve"] {
            let refused = workdir.formwork(line).run();
            refused.code(1).says("nly if none of its objects exist any more, delete");
        }
        assert_eq!(workdir.service.objects(), ["first-1", "second-1"]);
    }
    for object in workdir.service.objects() {
        workdir.service.remove_object(&object);
    }
    fs::remove_file(&path).expect("it exists");
    workdir.formwork("apply -auto-approve").succeed().says("2 added");
}

#[test]
fn a_flipped_byte_in_a_journal_loses_no_other_record() {
    for (kind, open) in [("Settled", true), ("Answer", false), ("Intent", false)] {
        let workdir = killed();
        let path = journal(&workdir);
        let mut bytes = fs::read(&path).expect("bytes");
        let position =
            bytes.windows(kind.len()).position(|it| it == kind.as_bytes()).expect("a record");
        bytes[position + 12] ^= 0x02;
        fs::write(&path, &bytes).expect("it can be written");
        let planned = workdir.formwork("plan").succeed();
        planned.says("Journal is damaged").says("No lost record announced the creation");
        planned.says("bad_thing.second was being created");
        if open {
            planned.says("bad_thing.first was being created");
            workdir.formwork("recover adopt bad_thing.first first-1").succeed();
        } else {
            planned.says_not("bad_thing.first was being created");
        }
        workdir.formwork("recover adopt bad_thing.second second-1").succeed();
        assert_all_known(&workdir);
        assert!(path.with_extension("wal.damaged").exists(), "it is kept");
    }
}

/// A directory in which an apply was killed when it had created three objects. The journal has the answers
/// about two of them, and their results are damaged; about `third` it has no answer.
fn killed_without_results() -> Workdir {
    let last = THIRD.replace("\n}\n", "\n  link = bad_thing.second.id\n}\n");
    let workdir = Workdir::new(&(CONFIG.to_owned() + &last));
    let running = workdir.formwork("apply -auto-approve").env("BAD_HOLD", "after:third").start();
    let (_, paused) = workdir.service.wait_for_pause();
    running.signal(Signal::SIGKILL);
    running.wait();
    drop(paused);
    workdir.service.assert_no_provider_runs();
    assert_eq!(workdir.service.objects(), ["first-1", "second-1", "third-1"]);
    let path = journal(&workdir);
    let mut bytes = fs::read(&path).expect("bytes");
    let kind = b"Settled";
    let positions: Vec<usize> =
        (0..bytes.len()).filter(|position| bytes[*position..].starts_with(kind)).collect();
    assert_eq!(positions.len(), 2, "a result of each object with an answer");
    for position in positions {
        bytes[position + kind.len() + 5] ^= 0x02;
    }
    fs::write(&path, &bytes).expect("it can be written");
    workdir
}

#[test]
fn one_adoption_adds_all_objects_with_known_ids_and_names_the_others() {
    for arguments in ["-all", "bad_thing.*"] {
        let workdir = killed_without_results();
        let refused = workdir.formwork("recover adopt bad_thing.* third-1").run();
        refused.code(1).says("Too many operations");
        assert!(instances(&workdir).is_empty());
        let adopted = workdir.formwork(&format!("recover adopt {arguments}")).run();
        adopted.code(1).says("bad_thing.first is in the state.");
        adopted
            .says("bad_thing.second is in the state.")
            .says_not("bad_thing.third is in the state");
        adopted.says("The id of the object at bad_thing.third is not known");
        adopted.says("formwork recover adopt 'bad_thing.third' ID");
        let ids: Vec<String> =
            instances(&workdir).into_iter().map(|instance| instance.id).collect();
        assert_eq!(ids, ["first-1", "second-1"], "{arguments}");
        let listed = workdir.formwork("recover list").succeed();
        listed.says("bad_thing.third was being created");
        listed.says_not("bad_thing.first was being").says_not("bad_thing.second was being");
        // As the message recommends.
        workdir.formwork("recover adopt bad_thing.third third-1").succeed();
        assert_all_known(&workdir);
    }
}

#[test]
fn a_saved_plan_is_stale_after_a_run_of_it_was_killed() {
    let workdir = Workdir::new(CONFIG);
    workdir.formwork("plan -out=saved").succeed();
    kill(&workdir, "apply saved");
    workdir.formwork("apply saved").run().code(1).says("Saved plan is stale");
    assert_eq!(workdir.service.objects(), ["first-1", "second-1"]);

    // A later run finds a state of the same serial.
    workdir.formwork("recover adopt bad_thing.second second-1").succeed();
    workdir.write("main.tf", &CONFIG.replace("\"first\"\n}", "\"first\"\n  size = 3\n}"));
    workdir.formwork("apply -auto-approve").succeed();
    workdir.write("main.tf", &(CONFIG.to_owned() + THIRD));
    workdir.formwork("state rm bad_thing.second").succeed();
    workdir.service.remove_object("second-1");
    workdir.formwork("plan -out=saved").succeed();
    kill(&workdir, "apply saved");
    let objects = workdir.service.objects();
    workdir.formwork("apply saved").run().code(1).says("stale");
    assert_eq!(workdir.service.objects(), objects);

    // A plan that was made afterwards contains the results of the journal.
    let second = objects.iter().find(|id| id.starts_with("second")).expect("it was created");
    workdir.formwork(&format!("recover adopt bad_thing.second {second}")).succeed();
    workdir.formwork("plan -out=saved").succeed();
    workdir.formwork("apply saved").succeed();
    assert_all_known(&workdir);
}

#[test]
fn a_plan_made_from_a_journal_can_be_applied() {
    let workdir = Workdir::new(CONFIG);
    let running = workdir.formwork("apply -auto-approve").env("BAD_HOLD", "before:second").start();
    let (_, paused) = workdir.service.wait_for_pause();
    running.signal(Signal::SIGKILL);
    running.wait();
    drop(paused);
    workdir.service.assert_no_provider_runs();
    workdir.formwork("plan -out=saved -target=bad_thing.first").succeed();
    workdir.formwork("apply saved").succeed().says("0 added");
    workdir.formwork("recover forget bad_thing.second").succeed();
    workdir.formwork("apply -auto-approve").succeed().says("1 added");
    assert_all_known(&workdir);
}

#[test]
fn after_another_run_changed_the_state_the_next_command_has_the_results_of_both() {
    for (is_in_place, summary) in
        [(true, "State was changed by another program"), (false, "State file was replaced")]
    {
        let workdir = Workdir::new(&(CONFIG.to_owned() + THIRD));
        workdir.formwork("apply -auto-approve -target=bad_thing.third").succeed();
        let theirs = set_serial(&workdir.read(STATE), 9);
        workdir.formwork("state rm bad_thing.third").succeed();
        workdir.write("main.tf", CONFIG);
        let running = workdir.formwork("apply -auto-approve").env("BAD_HOLD", "after:second");
        let running = running.start();
        let (_, paused) = workdir.service.wait_for_pause();
        workdir.write("main.tf", &(CONFIG.to_owned() + THIRD));
        if is_in_place {
            workdir.write(STATE, &theirs);
        } else {
            workdir.formwork("import -lock=false bad_thing.third third-1").succeed();
        }
        paused.resume();
        let failed = running.wait();
        failed.code(1).says(summary).says("Run the command again");
        failed.says("Do not replace the stored state with it");
        failed.says("The journal has the results of this run");
        assert_eq!(workdir.service.objects(), ["first-1", "second-1", "third-1"]);
        // The one piece of advice that is given.
        assert_all_known(&workdir);
        let planned = workdir.formwork("plan").succeed();
        planned.says("errored.tfstate is out of date").says("Delete it");
        fs::remove_file(workdir.root().join("errored.tfstate")).expect("it exists");
        workdir.formwork("plan").succeed().says_not("errored.tfstate");
    }
}

#[test]
fn after_two_runs_created_the_same_objects_the_advice_keeps_both() {
    let workdir = Workdir::new(CONFIG);
    let running = workdir.formwork("apply -auto-approve").env("BAD_HOLD", "after:second").start();
    let (_, paused) = workdir.service.wait_for_pause();
    workdir.formwork("apply -auto-approve -lock=false").succeed().says("2 added");
    paused.resume();
    let failed = running.wait();
    failed.code(1).says("except where the state has another object at the same address");
    assert_eq!(workdir.service.objects(), ["first-1", "first-2", "second-1", "second-2"]);

    let state = workdir.read(STATE);
    let listed = workdir.formwork("recover list").succeed();
    listed.says("the object in it has the id \"first-1\". It was completed, but another program");
    listed.says("The state now has another object at bad_thing.first, with the id \"first-2\"");
    listed.says("formwork recover forget 'bad_thing.first'");
    listed.says("formwork import bad_thing.NAME 'first-1'");
    listed.says_not("no usable answer").says_not("adopt").says_not("retry");
    assert_eq!(workdir.read(STATE), state);
    let warned = workdir.formwork("plan").succeed();
    warned.says("bad_thing.first: \"first-1\" in the file, \"first-2\" in the state");
    warned.says("formwork import bad_thing.NAME 'first-1'").says_not("Only the file has");
    for line in [
        "import bad_thing.first first-1",
        "recover adopt bad_thing.first first-1",
        "recover adopt bad_thing.first",
    ] {
        let refused = workdir.formwork(line).run();
        refused.code(1).says("Another object is managed here").says("with the id \"first-2\"");
    }

    let kept_block = "\nresource \"bad_thing\" \"kept\" {\n  name = \"first\"\n}\n";
    let other_block = "\nresource \"bad_thing\" \"other\" {\n  name = \"second\"\n}\n";
    workdir.write("main.tf", &format!("{CONFIG}{kept_block}{other_block}"));
    let settled = workdir.formwork("recover forget bad_thing.first bad_thing.second").succeed();
    settled.says("with the ID \"first-1\" is not managed").says_not("may create it");
    workdir.formwork("import bad_thing.kept first-1").succeed();
    workdir.formwork("import bad_thing.other second-1").succeed();
    fs::remove_file(workdir.root().join("errored.tfstate")).expect("it exists");
    workdir.formwork("recover list").succeed().says("No open operations.");
    let applied = workdir.formwork("apply -auto-approve").succeed();
    applied.says("0 added").says("0 destroyed");
    assert_eq!(workdir.service.objects(), ["first-1", "first-2", "second-1", "second-2"]);
}

#[test]
fn a_run_with_a_stored_state_succeeds_even_if_its_journal_cannot_be_removed() {
    let workdir = Workdir::new(CONFIG);
    let running = workdir.formwork("apply -auto-approve").env("BAD_HOLD", "after:second").start();
    let (_, paused) = workdir.service.wait_for_pause();
    fs::remove_file(journal(&workdir)).expect("it exists");
    paused.resume();
    let applied = running.wait();
    applied.code(0).says("Journal could not be finished").says("Apply complete!");
    assert_all_known(&workdir);
}

#[test]
fn the_journal_of_another_state_lists_the_objects_to_import() {
    let workdir = Workdir::new(&(CONFIG.to_owned() + THIRD));
    workdir.formwork("apply -auto-approve -target=bad_thing.third").succeed();
    kill(&workdir, "apply -auto-approve");
    let theirs = r#"{"version":4,"terraform_version":"1.11.4","serial":9,"lineage":"theirs",
        "outputs":{},"resources":[],"check_results":null}"#;
    workdir.write(STATE, theirs);
    let refused = workdir.formwork("apply -auto-approve").run();
    refused.code(1).says("Journal belongs to another state").says("import the objects");
    let text = refused.words();
    assert!(text.contains("bad_thing.first with the id \"first-1\""), "{text}");
    assert!(text.contains("bad_thing.second, which may have been changed"), "{text}");
    // The second piece of advice; the first is to put the file back.
    fs::rename(journal(&workdir), workdir.root().join("moved.wal")).expect("it can be moved");
    for name in ["first", "second", "third"] {
        workdir.formwork(&format!("import bad_thing.{name} {name}-1")).succeed();
    }
    assert_all_known(&workdir);
}

#[test]
fn an_errored_state_with_objects_that_the_state_lacks_keeps_them_from_being_created_again() {
    let workdir = Workdir::new(CONFIG);
    workdir.formwork("apply -auto-approve").succeed();
    let full_state = workdir.read(STATE);
    workdir.formwork("state rm bad_thing.second").succeed();
    workdir.write("errored.tfstate", &set_serial(&full_state, 9));
    let warned = workdir.formwork("plan").succeed();
    warned.says("errored.tfstate has objects that the state does not have");
    warned.says("bad_thing.second").says("formwork state push errored.tfstate");
    let refused = workdir.formwork("apply -auto-approve").run();
    refused.code(1).says("Objects may exist already");
    assert_eq!(workdir.service.objects(), ["first-1", "second-1"]);
    workdir.formwork("state push errored.tfstate").succeed();
    assert_all_known(&workdir);

    // An old one is mentioned, and does not stop a run.
    workdir.write("errored.tfstate", &set_serial(&full_state, 2));
    workdir.formwork("state rm bad_thing.second").succeed();
    let warned = workdir.formwork("plan").succeed();
    warned.says("Do not replace the state with it");
    warned.says("formwork import 'bad_thing.second' 'second-1'");
    workdir.formwork("import bad_thing.second second-1").succeed();
    assert_all_known(&workdir);
    for (text, words) in [
        ("{", "errored.tfstate cannot be read"),
        (&full_state.replace("\"lineage\": \"", "\"lineage\": \"x"), "belongs to another state"),
    ] {
        workdir.write("errored.tfstate", text);
        workdir.formwork("apply -auto-approve").succeed().says(words);
    }
}

#[test]
fn every_command_that_reads_the_state_reports_an_errored_state() {
    let workdir = Workdir::new(&(CONFIG.to_owned() + "\noutput \"o\" {\n  value = \"kept\"\n}\n"));
    workdir.formwork("apply -auto-approve").succeed();
    let full_state = workdir.read(STATE);
    workdir.formwork("state rm bad_thing.second").succeed();
    workdir.write("errored.tfstate", &set_serial(&full_state, 9));
    let assert_reports = |line: &str, words: &str| {
        let result = workdir.formwork(line).stdin("1\n").succeed();
        assert!(result.words().contains(words), "{line}: {}", result.text());
        result
    };
    let words = "errored.tfstate has objects that the state does not have";
    for line in ["state show bad_thing.first", "show", "output", "console", "recover list"] {
        assert_reports(line, words);
    }
    // Programs may read what these print.
    for line in ["state list", "state pull", "show -json", "output -json", "output -raw o", "graph"]
    {
        let result = assert_reports(line, words);
        assert!(!result.stdout.contains("errored.tfstate"), "{line}: {}", result.text());
    }
    // Each command reads the state that the previous one left, so the warnings differ.
    for line in [
        "taint bad_thing.first",
        "untaint bad_thing.first",
        "import bad_thing.second second-1",
        "state mv bad_thing.first bad_thing.other",
        "state rm bad_thing.other",
    ] {
        assert_reports(line, "Warning: errored.tfstate");
    }
}

#[test]
fn new_files_are_private_to_their_owner_and_existing_ones_keep_their_mode() {
    let workdir = Workdir::new(CONFIG);
    workdir.formwork("plan -out=saved").succeed();
    assert_eq!(mode(&workdir, "saved"), 0o600);
    let running = workdir.formwork("apply -auto-approve").env("BAD_HOLD", "after:second").start();
    let (_, paused) = workdir.service.wait_for_pause();
    assert_eq!(mode(&workdir, STATE), 0o600);
    assert_eq!(mode(&workdir, ".terraform.tfstate.lock.info"), 0o600);
    paused.resume();
    assert_eq!(running.wait().code, Some(0));
    assert_eq!(mode(&workdir, STATE), 0o600);
    workdir.write("main.tf", &(CONFIG.to_owned() + THIRD));
    workdir.formwork("apply -auto-approve").succeed();
    assert_eq!(mode(&workdir, "terraform.tfstate.backup"), 0o600);
    workdir.formwork("workspace new other").succeed();
    let apply = workdir.formwork("apply -auto-approve -target=bad_thing.third");
    apply.env("TF_LOG", "debug").env("TF_LOG_PATH", "log").succeed();
    assert_eq!(mode(&workdir, "log"), 0o600);
    assert_eq!(mode(&workdir, "terraform.tfstate.d/other/terraform.tfstate"), 0o600);
    workdir.formwork("workspace select default").succeed();

    let loosen = |name: &str, mode| {
        let permissions = fs::Permissions::from_mode(mode);
        fs::set_permissions(workdir.root().join(name), permissions).expect("this test owns it");
    };
    loosen(STATE, 0o660);
    loosen("saved", 0o640);
    workdir.formwork("destroy -auto-approve -target=bad_thing.third").succeed();
    workdir.formwork("plan -out=saved").succeed();
    assert_eq!((mode(&workdir, STATE), mode(&workdir, "saved")), (0o660, 0o640));
    assert_eq!(mode(&workdir, "terraform.tfstate.backup"), 0o600);
}

#[test]
fn a_plan_made_by_another_user_needs_a_shared_key_or_a_permission() {
    let workdir = Workdir::new(CONFIG);
    let [ours, theirs, fresh] =
        ["ours", "theirs", "fresh"].map(|name| workdir.home().join(name).display().to_string());
    let plan = |home: &str, key: &str| {
        let command = workdir.formwork("plan -out=saved").env("XDG_DATA_HOME", home);
        command.env("FORMWORK_PLAN_KEY", key).succeed();
    };
    let apply = |home: &str, key: &str, option: &str| -> CommandResult {
        let command = workdir.formwork(&format!("apply {option} saved"));
        command.env("XDG_DATA_HOME", home).env("FORMWORK_PLAN_KEY", key).run()
    };
    plan(&ours, "");
    plan(&theirs, "");
    let refused = apply(&ours, "", "");
    refused.code(1).says("Saved plan was made elsewhere").says("FORMWORK_PLAN_KEY");
    assert!(workdir.service.objects().is_empty());
    let plan_view = workdir.formwork("show saved").env("XDG_DATA_HOME", &ours).succeed();
    plan_view.says("Saved plan was made elsewhere");
    plan_view.says("Applying this plan writes the state terraform.tfstate (workspace \"default\")");
    apply(&ours, "", "-allow-foreign-plan").code(0).says_not("elsewhere");

    workdir.formwork("destroy -auto-approve").succeed();
    plan(&theirs, "secret");
    apply(&ours, "other", "").code(1).says("elsewhere");
    apply(&ours, "", "").code(1).says("elsewhere");
    apply(&ours, "secret", "").code(0).says_not("elsewhere");

    // Two jobs of a pipeline without keys, as with Terraform.
    workdir.formwork("destroy -auto-approve").succeed();
    plan(&theirs, "");
    apply(&fresh, "", "").code(0).says("Saved plan cannot be verified");
}

#[test]
fn an_option_without_a_match_is_reported_before_the_plan_and_at_the_approval() {
    let workdir = Workdir::new(CONFIG);
    for (option, suggestion) in [
        ("-exclude=bad_thing.secnd", Some("bad_thing.second")),
        ("-exclude=bad_thing.second[0]", Some("bad_thing.second")),
        ("-target=bad_thing.firts", Some("bad_thing.first")),
        ("-replace=bad_thing.frst", Some("bad_thing.first")),
        ("-exclude=module.none", None),
    ] {
        let planned = workdir.formwork(&format!("plan {option}")).succeed();
        let words =
            format!("The option {} matches nothing", option.split('=').next().unwrap_or(""));
        planned.says(&words);
        let result = workdir.formwork(&format!("apply {option}")).stdin("no\n").run();
        let sentence = format!("The option {option} matches nothing.");
        if option.starts_with("-target") {
            result.code(0).says(&words);
        } else {
            result.code(1).says(&words).says(&sentence);
        }
        if let Some(suggested) = suggestion {
            planned.says(&format!("Did you mean {suggested}?"));
        }
    }
    for option in ["-exclude=bad_thing.second", "-target=bad_thing.first"] {
        let planned = workdir.formwork(&format!("plan {option}")).succeed();
        planned.says_not("matches nothing");
    }
    let with_count = CONFIG.replace("\"second\" {", "\"second\" {\n  count = 2");
    workdir.write("main.tf", &with_count);
    let planned = workdir.formwork("plan -exclude=bad_thing.second[1]").succeed();
    planned.says_not("matches nothing");
    let planned = workdir.formwork("plan -exclude=bad_thing.second[2]").succeed();
    planned.says("matches nothing");
}

#[test]
fn an_option_without_a_match_is_reported_above_the_plan_on_the_screen() {
    let workdir = Workdir::new(CONFIG);
    for options in [
        "-target=bad_thing.first -target=bad_thing.secnd",
        "-exclude=bad_thing.secnd",
        "-replace=bad_thing.frst",
    ] {
        for line in ["plan", "apply"] {
            let result = workdir.formwork(&format!("{line} {options}")).stdin("no\n").run();
            let position = |text: &str| result.stdout.find(text);
            let (warned, planned) =
                (position("matches nothing"), position("bad_thing.first will be created"));
            let is_above = warned.is_some() && planned.is_some() && warned < planned;
            assert!(is_above, "{line} {options}: {}", result.text());
        }
    }
}

#[test]
fn the_list_of_open_operations_names_the_journal_of_the_state_option() {
    let workdir = Workdir::new(CONFIG);
    kill(&workdir, "apply -auto-approve -state=other.tfstate");
    let listed = workdir.formwork("recover list").succeed();
    let command = "recover list -state=other.tfstate";
    listed.says(&format!("formwork {command}"));
    workdir.formwork(command).succeed().says("bad_thing.second was being created");
    workdir.formwork("recover forget -state=other.tfstate bad_thing.second").succeed();
    workdir.formwork("recover list").succeed().says_not("other.tfstate");
}

#[test]
fn a_state_that_was_renamed_or_copied_beside_its_journal_is_not_changed_under_the_new_name() {
    for is_copied in [false, true] {
        let workdir = killed();
        let (old_path, new_path) = (workdir.root().join(STATE), workdir.root().join("x.tfstate"));
        fs::copy(&old_path, &new_path).expect("it can be copied");
        if !is_copied {
            fs::remove_file(&old_path).expect("it exists");
        }
        let planned = workdir.formwork("plan -state=x.tfstate").succeed();
        planned.says("Journal is under another name").says("1 result that this state lacks");
        for line in [
            "apply -auto-approve -state=x.tfstate",
            "destroy -auto-approve -state=x.tfstate",
            "refresh -state=x.tfstate",
            "import -state=x.tfstate bad_thing.second second-1",
        ] {
            let refused = workdir.formwork(line).run();
            refused.code(1).says("Journal is under another name").says("bad_thing.second");
            refused.says(".terraform.tfstate.journal").says("-state=terraform.tfstate");
            assert_eq!(workdir.service.objects(), ["first-1", "second-1"], "{line}");
        }
        for line in ["workspace new -state=x.tfstate another", "state push x.tfstate"] {
            let refused = workdir.formwork(line).run();
            refused.code(1).says("State lacks results of a run").says(".terraform.tfstate.journal");
        }
        // As the message recommends.
        if !is_copied {
            fs::rename(&new_path, &old_path).expect("it can be renamed");
        }
        let listed = workdir.formwork("recover list -state=terraform.tfstate").succeed();
        listed.says("bad_thing.second was being created");
        workdir.formwork("recover adopt bad_thing.second second-1").succeed();
        assert_all_known(&workdir);
        workdir.formwork("plan").succeed().says_not("another name");
    }
}

#[test]
fn a_copy_of_a_state_is_not_edited_beside_the_journal_of_its_original() {
    let workdir = Workdir::new(CONFIG);
    workdir.formwork("apply -auto-approve -target=bad_thing.first").succeed();
    kill(&workdir, "apply -auto-approve");
    let copy = workdir.root().join("x.tfstate");
    fs::copy(workdir.root().join(STATE), &copy).expect("it can be copied");
    let content = fs::read(&copy).expect("a state");
    for line in [
        "state rm -state=x.tfstate bad_thing.first",
        "state mv -state=x.tfstate bad_thing.first bad_thing.other",
        "state mv -state=x.tfstate -state-out=y.tfstate bad_thing.first bad_thing.first",
        "taint -state=x.tfstate bad_thing.first",
    ] {
        let refused = workdir.formwork(line).run();
        refused.code(1).says("Journal is under another name").says("bad_thing.second");
        assert_eq!(fs::read(&copy).expect("a state"), content, "{line}");
    }
    workdir.formwork("state rm -state=x.tfstate -dry-run bad_thing.first").succeed();
    // Where the journal is, only what it is about is refused.
    workdir.formwork("taint bad_thing.first").succeed().says_not("another name");
}

#[test]
fn an_open_journal_does_not_block_a_state_of_another_lineage() {
    let workdir = killed();
    for line in [
        "apply -auto-approve -state=other.tfstate",
        "apply -auto-approve -state=other.tfstate -state-out=out.tfstate",
        "apply -auto-approve -state=out.tfstate",
        "workspace new another",
        "apply -auto-approve",
    ] {
        workdir.formwork(line).succeed().says_not("another name");
    }
}
