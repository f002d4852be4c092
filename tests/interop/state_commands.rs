//! Commands that change a state and nothing else: both programs, begun with the same files, end with
//! the same code, the same words on stdout and the same files after every step.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use super::engine::{Engine, terraform_is_installed};

/// Objects in and outside modules, with and without keys, one of them deposed, one created after others.
fn state(serial: u64, lineage: &str, mark: &str) -> String {
    let resource = |module: &str, mode: &str, name: &str, instances: Value| {
        let mut resource = json!({
            "mode": mode, "type": "terraform_data", "name": name,
            "provider": "provider[\"terraform.io/builtin/terraform\"]", "instances": instances,
        });
        if !module.is_empty() {
            resource["module"] = json!(module);
        }
        resource
    };
    let object = |id: &str, extra: Value| {
        let mut object = json!({
            "schema_version": 0, "sensitive_attributes": [],
            "attributes": { "id": id, "input": null, "output": null, "triggers_replace": null },
        });
        for (name, value) in extra.as_object().into_iter().flatten() {
            object[name] = value.clone();
        }
        object
    };
    let empty = || json!({});
    let resources = json!([
        resource("", "data", "u", json!([object("DU", empty())])),
        resource("", "managed", "a", json!([object(mark, empty())])),
        resource(
            "",
            "managed",
            "b",
            json!([object("B", json!({"dependencies": ["terraform_data.a"]}))])
        ),
        resource(
            "",
            "managed",
            "c",
            json!([object("C0", json!({"index_key": 0})), object("C1", json!({"index_key": 1}))])
        ),
        resource("", "managed", "d", json!([object("D", json!({"deposed": "00000001"}))])),
        resource(
            "",
            "managed",
            "last",
            json!([object("L", json!({"dependencies": ["module.n.module.o.terraform_data.i"]}))])
        ),
        resource("module.m[0]", "managed", "i", json!([object("M0", empty())])),
        resource("module.n", "managed", "i", json!([object("N", empty())])),
        resource("module.n.module.o", "managed", "i", json!([object("NO", empty())])),
    ]);
    json!({
        "version": 4, "terraform_version": "1.11.4", "serial": serial, "lineage": lineage,
        "outputs": {}, "resources": resources, "check_results": null,
    })
    .to_string()
}

/// Contents of a directory: names and contents, without the parts that differ between any two runs.
fn files(directory: &Path) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    let mut directories = vec![directory.to_owned()];
    while let Some(inside) = directories.pop() {
        // In the order of names, so that the newest of several backups is the one that counts.
        let entries = std::fs::read_dir(&inside).unwrap().map(|entry| entry.unwrap().path());
        for path in entries.collect::<std::collections::BTreeSet<_>>() {
            if path.is_dir() {
                directories.push(path);
                continue;
            }
            let name = path.strip_prefix(directory).unwrap().display().to_string();
            let digits = |part: &str| part.len() > 8 && part.bytes().all(|b| b.is_ascii_digit());
            let parts = name.split('.').map(|part| if digits(part) { "TIME" } else { part });
            let name = parts.collect::<Vec<_>>().join(".");
            let text = std::fs::read_to_string(&path).unwrap();
            let text = match serde_json::from_str::<Value>(&text) {
                Ok(mut json) if json["lineage"].as_str().is_some_and(|l| l.len() > 8) => {
                    json["lineage"] = json!("");
                    json.to_string()
                }
                Ok(json) => json.to_string(),
                Err(_) => text,
            };
            files.insert(name, text);
        }
    }
    files
}

/// Words without colour and without the name of the program. If Terraform prints its usage there is
/// nothing to compare.
fn words(text: &str) -> String {
    if text.starts_with("Usage:") {
        return String::new();
    }
    let mut plain = String::new();
    for (index, part) in text.split('\u{1b}').enumerate() {
        let text_after_code = part.find('m').map_or(part, |end| &part[end + 1..]);
        plain.push_str(if index == 0 { part } else { text_after_code });
    }
    let plain = plain.replace("terraform_data", "data").replace("Terraform", "Formwork");
    let plain = plain.replace("terraform ", "formwork ").replace(['│', '╷', '╵'], " ");
    // Terraform lists the parts of a moved module in the order of a hash table.
    let (mut moves, other_lines): (Vec<_>, Vec<_>) =
        plain.lines().partition(|line| line.starts_with("Move \"module."));
    moves.sort_unstable();
    let lines = moves.into_iter().chain(other_lines);
    lines.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
}

/// Runs the steps with both programs, beginning with these files.
fn check(initial_files: &[(&str, String)], steps: &[&str]) {
    if !terraform_is_installed() {
        return;
    }
    let directories = Engine::BOTH.map(|engine| (engine, tempfile::tempdir().unwrap()));
    for (_, directory) in &directories {
        for (name, text) in initial_files {
            std::fs::write(directory.path().join(name), text).unwrap();
        }
    }
    for step in steps {
        let args: Vec<&str> = step.split(' ').collect();
        let [theirs, ours] = directories.each_ref().map(|(engine, directory)| {
            (engine.run(directory.path(), None, &args), files(directory.path()))
        });
        let context = format!("{step}\n{}\n{}", theirs.0.stderr, ours.0.stderr);
        assert_eq!(theirs.0.code, ours.0.code, "{context}");
        assert_eq!(words(&theirs.0.stdout), words(&ours.0.stdout), "{context}");
        // A backup that Terraform does not create is ignored.
        let (mut theirs, mut ours) = (theirs.1, ours.1);
        if steps.iter().any(|step| step.starts_with("state push")) {
            theirs.remove("terraform.tfstate.backup");
            ours.remove("terraform.tfstate.backup");
        }
        assert_eq!(theirs, ours, "{context}");
    }
}

fn initial_files() -> Vec<(&'static str, String)> {
    vec![("terraform.tfstate", state(3, "l", "A"))]
}

#[test]
fn state_mv_moves_objects_as_terraform_does() {
    check(
        &initial_files(),
        &[
            "state mv terraform_data.a terraform_data.z",
            "state list",
            "state mv module.m[0] module.k",
            "state mv module.n module.x",
            "state mv data.terraform_data.u data.terraform_data.x",
            "state mv terraform_data.b terraform_data.w[\"k\"]",
            "state mv terraform_data.c module.new.terraform_data.c",
            "state mv terraform_data.d terraform_data.e",
            "state list",
        ],
    );
}

#[test]
fn a_refused_move_changes_nothing() {
    check(
        &initial_files(),
        &[
            "state mv terraform_data.zz terraform_data.b",
            "state mv terraform_data.a terraform_data.c[0]",
            "state mv terraform_data.a null_resource.b",
            "state mv terraform_data.a module.x",
            "state mv module.m terraform_data.b",
            "state mv module.m[0] module.n",
            "state mv terraform_data.c terraform_data.b",
            "state mv terraform_data.c terraform_data.d[0]",
            "state mv terraform_data.a data.terraform_data.b",
            "state mv -dry-run terraform_data.a terraform_data.q",
            "state mv -dry-run module.n.module.o module.q",
            "state mv terraform_data.a",
        ],
    );
}

#[test]
fn objects_move_into_another_file_and_both_files_are_backed_up() {
    check(
        &initial_files(),
        &[
            "state mv -state-out=other module.n module.n",
            "state mv -state-out=other -backup=bk -backup-out=bko terraform_data.c terraform_data.c",
            "state mv -state-out=other terraform_data.zz terraform_data.c",
            "state list -state=other",
            "state mv -state=other -backup=bk2 module.n module.p",
            "state mv -state=missing module.n module.p",
        ],
    );
}

#[test]
fn a_backup_with_the_name_of_the_state_leaves_the_new_state() {
    for name in ["terraform.tfstate", "./terraform.tfstate"] {
        for step in ["state mv", "state rm", "taint"] {
            let to = if step == "state mv" { " terraform_data.z" } else { "" };
            check(
                &initial_files(),
                &[&format!("{step} -backup={name} terraform_data.a{to}"), "state list"],
            );
        }
    }
}

/// Terraform loses the object in the first case, and the state that is moved into in the others.
#[test]
fn a_move_loses_no_object_if_its_files_are_the_same() {
    let directory = tempfile::tempdir().unwrap();
    for (name, text) in initial_files().into_iter().chain([("other", state(7, "o", "O"))]) {
        std::fs::write(directory.path().join(name), text).unwrap();
    }
    let run = |args: &str| {
        let args: Vec<&str> = args.split(' ').collect();
        Engine::Formwork.run(directory.path(), None, &args)
    };
    for options in ["-backup=other", "-backup=./other", "-backup-out=terraform.tfstate"] {
        let before = files(directory.path());
        let moved =
            format!("state mv -state-out=other {options} terraform_data.a terraform_data.z");
        let refused = run(&moved);
        assert_eq!(refused.code, Some(1), "{options}");
        assert!(refused.stderr.contains("Invalid command line options"), "{}", refused.stderr);
        assert_eq!(files(directory.path()), before, "{options}");
    }
    let moved = run("state mv -state-out=./terraform.tfstate terraform_data.a terraform_data.z");
    assert_eq!(moved.code, Some(0), "{}", moved.stderr);
    let listed = run("state list").stdout;
    assert!(
        listed.contains("terraform_data.z") && !listed.contains("terraform_data.a\n"),
        "{listed}"
    );
}

#[test]
fn an_invalid_workspace_selection_is_replaced_by_another_selection() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::create_dir(directory.path().join(".terraform")).unwrap();
    for invalid in [&b"a/b"[..], b"..", b"\xe9"] {
        for line in ["workspace select default", "workspace select -or-create w", "workspace list"]
        {
            std::fs::write(directory.path().join(".terraform/environment"), invalid).unwrap();
            let run = |line: &str| {
                let args: Vec<&str> = line.split(' ').collect();
                Engine::Formwork.run(directory.path(), None, &args)
            };
            let refused = run("state list");
            assert_eq!(refused.code, Some(1), "{}", refused.stdout);
            assert!(refused.stderr.contains(".terraform/environment"), "{}", refused.stderr);
            assert!(refused.stderr.contains("formwork workspace select default"));
            let result = run(line);
            assert_eq!(result.code, Some(0), "{line}: {}", result.stderr);
            if line.contains("select") {
                let workspace_show = run("workspace show");
                assert_eq!(Some(workspace_show.stdout.trim()), line.split(' ').next_back());
            }
        }
    }
}

#[test]
fn state_rm_removes_objects_as_terraform_does() {
    check(
        &initial_files(),
        &[
            "state rm -dry-run nope.x",
            "state rm -dry-run terraform_data.c module.n",
            "state rm nope.x",
            "state rm terraform_data.c[9]",
            "state rm terraform_data.a nope.x",
            "state rm -backup=bk module.m",
            "state rm terraform_data.c[1]",
            "state rm data.terraform_data.u terraform_data.d module.n",
            "state rm",
            "state list",
            "state list module.n",
            "state rm terraform_data.b terraform_data.c terraform_data.last",
            "state list",
            "state rm terraform_data.b",
        ],
    );
}

#[test]
fn instances_are_tainted_and_untainted() {
    check(
        &initial_files(),
        &[
            "taint terraform_data.a",
            "untaint terraform_data.a",
            "untaint terraform_data.a",
            "taint terraform_data.c",
            "taint terraform_data.c[1]",
            "taint data.terraform_data.u",
            "taint terraform_data.d",
            "taint nope.x",
            "taint -allow-missing nope.x",
            "untaint -allow-missing nope.x",
            "taint module.m[0].terraform_data.i",
            "taint module.m",
            "taint -state=nope a.b",
            "taint",
        ],
    );
}

#[test]
fn state_commands_without_a_state_are_refused() {
    check(
        &[],
        &[
            "state list",
            "state rm a.b",
            "state mv a.b a.c",
            "state show a.b",
            "state pull",
            "state replace-provider a b",
            "taint a.b",
            "taint -allow-missing a.b",
            "force-unlock x",
        ],
    );
}

#[test]
fn a_state_is_pushed_only_over_an_older_one_of_its_lineage() {
    let mut files = initial_files();
    files.push(("later", state(4, "l", "A2")));
    files.push(("older", state(2, "l", "A")));
    files.push(("same", state(4, "l", "A3")));
    files.push(("other", state(9, "k", "A")));
    files.push(("garbage", "garbage".to_owned()));
    files.push(("empty", String::new()));
    check(
        &files,
        &[
            "state push later",
            "state push later",
            "state push older",
            "state push same",
            "state push other",
            "state push garbage",
            "state push empty",
            "state push missing",
            "state pull",
            "state push -force other",
            "state push -force older",
            "state list",
        ],
    );
}

#[test]
fn the_provider_of_resources_is_replaced() {
    check(
        &initial_files(),
        &[
            "state replace-provider a b",
            "state replace-provider a a/b/c/d",
            "state replace-provider -auto-approve x/y z/y",
            "state replace-provider",
        ],
    );
}

#[test]
fn state_list_prints_the_objects_at_its_addresses() {
    check(
        &initial_files(),
        &[
            "state list",
            "state list -id=A",
            "state list -id=nope",
            "state list terraform_data.c",
            "state list module.n",
            "state list module.m[0]",
            "state list terraform_data.b terraform_data.a",
            "state list module.zz",
            "state list terraform_data.c[7]",
            "state list nope.x",
            "state show terraform_data.c[1]",
            "state show terraform_data.c",
            "state show nope.x",
            "state show module.m",
        ],
    );
}

#[test]
fn workspaces_are_created_selected_and_deleted() {
    check(
        &initial_files(),
        &[
            "workspace list",
            "workspace show",
            "workspace new foo",
            "workspace new foo",
            "workspace list",
            "workspace select nope",
            "workspace select -or-create bar",
            "workspace select bar",
            "workspace delete bar",
            "workspace delete nope",
            "workspace select default",
            "workspace delete bar",
            "workspace new a/b",
            "workspace new -state=terraform.tfstate q",
            "state list",
            "workspace select foo",
            "state list",
            "workspace delete q",
            "workspace delete -force q",
            "workspace delete -force default",
            "workspace new default",
            "workspace list",
        ],
    );
}

#[test]
fn each_workspace_has_a_state_of_its_own() {
    let config = "output \"w\" {\n  value = terraform.workspace\n}\n";
    check(
        &[("main.tf", config.to_owned())],
        &["workspace new dev", "workspace select default", "workspace list"],
    );
    if !terraform_is_installed() {
        return;
    }
    for engine in Engine::BOTH {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("main.tf"), config).unwrap();
        let run = |line: &str| {
            let args: Vec<&str> = line.split(' ').collect();
            let run = engine.run(directory.path(), None, &args);
            assert_eq!(run.code, Some(0), "{engine:?} {line}: {}", run.stderr);
            run.stdout
        };
        run("workspace new dev");
        run("apply -auto-approve");
        run("workspace select default");
        run("apply -auto-approve");
        assert_eq!(run("output -raw w"), "default", "{engine:?}");
        run("workspace select dev");
        assert_eq!(run("output -raw w"), "dev", "{engine:?}");
    }
}
