//! Modules that only runs of test files use: both programs install, list and check the same ones.

use std::path::Path;

use serde_json::Value;

use super::engine::{Engine, terraform_is_installed};

/// A configuration with three test files: two runs with modules, one of which calls another module,
/// and runs without.
const FILES: [(&str, &str); 6] = [
    ("main.tf", "output \"o\" {\n  value = 1\n}\n"),
    (
        "tests/a.tftest.hcl",
        "run \"plain\" {}\nrun \"fix\" {\n  module {\n    source = \"./fix\"\n  }\n}\n",
    ),
    ("other/b.tftest.json", r#"{"run": {"x": {"module": {"source": "./fix/deep"}}}}"#),
    ("other/deep/c.tftest.hcl", "run \"y\" {\n  module {\n    source = \"./nothing\"\n  }\n}\n"),
    (
        "fix/main.tf",
        "module \"deep\" {\n  source = \"./deep\"\n}\nresource \"terraform_data\" \"a\" {}\n",
    ),
    ("fix/deep/main.tf", "resource \"terraform_data\" \"b\" {}\n"),
];

/// One line for each module in the manifest.
fn manifest(dir: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(dir.join(".terraform/modules/modules.json"));
    let Ok(text) = text else { return Vec::new() };
    let json: Value = serde_json::from_str(&text).unwrap();
    let modules = json["Modules"].as_array().unwrap().iter();
    let mut lines: Vec<_> = modules.map(ToString::to_string).collect();
    lines.sort();
    lines
}

/// The entries of a tree with all that they are below, sorted: Terraform lists runs in no order.
fn tree_paths(lines: impl Iterator<Item = String>) -> Vec<String> {
    let mut above: Vec<String> = Vec::new();
    let mut paths: Vec<String> = lines
        .map(|line| {
            let name = line.trim_start_matches(['│', '├', '└', '─', ' ', '\u{a0}']);
            let depth = line[..line.len() - name.len()].chars().count() / 4;
            above.truncate(depth);
            above.push(name.to_owned());
            above.join(" > ")
        })
        .collect();
    paths.sort();
    paths
}

/// Runs the commands in one directory, and returns a line for each fact that both programs share.
fn facts(engine: Engine, files: &[(&str, &str)], commands: &[&[&str]]) -> Vec<String> {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = dir.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let mut facts = Vec::new();
    for args in commands {
        let run = engine.run(dir.path(), None, args);
        facts.push(format!("{args:?}: {:?}", run.code));
        // The rest of `init` names the program.
        let of_test = |line: &&str| args[0] != "init" || line.starts_with("- test.");
        // Terraform lists a module that it cannot read as well, without a directory.
        let is_shown =
            |line: &&str| of_test(line) && !line.ends_with(" in ") && !line.trim().is_empty();
        let printed = run.stdout.lines().filter(is_shown).map(str::to_owned);
        match args[0] {
            "providers" => facts.extend(tree_paths(printed)),
            _ => facts.extend(printed),
        }
        let errors = run.stderr.lines().filter_map(|line| Some(&line[line.find("Error: ")?..]));
        let mut errors: Vec<_> = errors.map(str::to_owned).collect();
        // Terraform repeats the error of an unreadable module.
        errors.dedup_by(|next, first| next == first && next.contains("module"));
        facts.extend(errors);
        facts.extend(manifest(dir.path()));
    }
    facts
}

fn compare(files: &[(&str, &str)], commands: &[&[&str]]) -> Vec<String> {
    let [theirs, ours] = Engine::BOTH.map(|engine| facts(engine, files, commands));
    assert_eq!(theirs, ours);
    ours
}

#[test]
fn modules_of_runs_are_installed_and_listed() {
    if !terraform_is_installed() {
        return;
    }
    let facts = compare(
        &FILES,
        &[
            &["providers", "-no-color"],
            &["get", "-no-color"],
            &["get", "-no-color"],
            &["providers", "-no-color"],
            &["validate", "-no-color"],
            &["get", "-no-color", "-test-directory=other"],
            &["providers", "-no-color", "-test-directory=other"],
            &["init", "-no-color", "-upgrade"],
        ],
    );
    let has = |line: &str| facts.iter().any(|fact| fact == line);
    assert!(has("- test.tests.a.fix.deep in fix/deep"), "{facts:#?}");
    assert!(has("- test.other.b.tftest.json.x in fix/deep"), "{facts:#?}");
}

#[test]
fn modules_of_runs_that_are_missing_or_wrong_are_reported() {
    if !terraform_is_installed() {
        return;
    }
    let mut files = FILES;
    files[5].1 = "resource \"terraform_data\" \"b\" {\n  nope = 1\n}\n";
    let facts = compare(
        &files,
        &[
            &["validate", "-no-color"],
            &["validate", "-no-color", "-no-tests"],
            &["get", "-no-color", "-test-directory=other/deep"],
            &["get", "-no-color"],
            &["validate", "-no-color"],
            &["validate", "-no-color", "-no-tests"],
        ],
    );
    let errors: Vec<_> = facts.iter().filter(|fact| fact.starts_with("Error: ")).collect();
    assert!(errors.iter().any(|error| error.contains("Module not installed")), "{facts:#?}");
    assert!(errors.iter().any(|error| error.contains("Unsupported argument")), "{facts:#?}");
}

#[test]
fn a_module_of_a_run_may_call_the_configuration_and_is_not_listed_as_a_call() {
    if !terraform_is_installed() {
        return;
    }
    let files = [
        ("main.tf", "module \"m\" {\n  source = \"./m\"\n}\n"),
        ("m/main.tf", "resource \"terraform_data\" \"a\" {}\n"),
        ("tests/wrap/main.tf", "module \"main\" {\n  source = \"../../\"\n}\n"),
        (
            "tests/a.tftest.hcl",
            "run \"w\" {\n  module {\n    source = \"./tests/wrap\"\n  }\n}\nrun \"i\" {\n  module {\n    source = \"./.\"\n  }\n}\n",
        ),
    ];
    let facts = compare(
        &files,
        &[
            &["get", "-no-color"],
            &["validate", "-no-color"],
            &["providers", "-no-color"],
            &["modules", "-json"],
            &["get", "-no-color", "-test-directory=."],
            &["init", "-no-color"],
        ],
    );
    assert!(facts.iter().any(|fact| fact == "- test.tests.a.w.main in ."), "{facts:#?}");
}

#[test]
fn test_directories_are_relative_to_the_module() {
    if !terraform_is_installed() {
        return;
    }
    let run = "run \"r\" {\n  module {\n    source = \"./fix\"\n  }\n}\n";
    let files = [("main.tf", ""), ("fix/main.tf", ""), ("sub/r.tftest.hcl", run)];
    for directory in ["sub", "./sub/", "/sub", "sub/../sub", "nothing"] {
        let option = format!("-test-directory={directory}");
        compare(&files, &[&["get", "-no-color", &option]]);
    }
}

#[test]
fn a_run_with_a_path_as_its_name_or_a_remote_module_installs_nothing() {
    if !terraform_is_installed() {
        return;
    }
    for (name, source) in [("../../../../elsewhere", "./m"), ("r", "git::file:///m")] {
        let run = format!("run \"{name}\" {{\n  module {{\n    source = \"{source}\"\n  }}\n}}\n");
        let files = [("main.tf", ""), ("m/main.tf", ""), ("main.tftest.hcl", &*run)];
        for engine in Engine::BOTH {
            let facts = facts(engine, &files, &[&["get", "-no-color"]]);
            assert_eq!(facts[0], "[\"get\", \"-no-color\"]: Some(1)", "{facts:#?}");
            // At most the configuration itself.
            assert!(
                facts.iter().filter(|fact| fact.contains("\"Key\"")).count() <= 1,
                "{facts:#?}"
            );
        }
    }
}

#[test]
fn errors_of_all_modules_of_runs_are_reported_with_those_of_the_configuration() {
    if !terraform_is_installed() {
        return;
    }
    let run = |name: &str| {
        format!("run \"{name}\" {{\n  module {{\n    source = \"./{name}\"\n  }}\n}}\n")
    };
    let runs = run("one") + &run("two");
    let files = [
        ("main.tf", "output \"o\" {\n  value = var.root\n}\n"),
        ("one/main.tf", "output \"o\" {\n  value = var.one\n}\n"),
        ("two/main.tf", "output \"o\" {\n  value = var.two\n}\n"),
        ("a.tftest.hcl", &*runs),
    ];
    let facts = compare(&files, &[&["get", "-no-color"], &["validate", "-no-color"]]);
    let errors = facts.iter().filter(|fact| fact.starts_with("Error: "));
    assert!(errors.count() >= 1, "{facts:#?}");
    // A file instead of the directory.
    compare(&[("main.tf", ""), ("tests", "")], &[&["validate", "-no-color"]]);
}
