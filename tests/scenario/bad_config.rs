//! Invalid configurations: each causes an error with its position, and nothing is started or changed.

use crate::harness::Workdir;

const HEADER: &str =
    "terraform {\n  required_providers {\n    bad = { source = \"formwork/bad\" }\n  }\n}\n";

/// Error, the configuration after the header of five lines, and the expected messages.
const CASES: &[(&str, &str, &[&str])] = &[
    (
        "a brace is missing",
        "resource \"bad_thing\" \"a\" {\n  name = \"a\"\n",
        &["on main.tf line"],
    ),
    (
        "an expression is cut off",
        "locals {\n  a = 1 +\n}\n",
        &["Invalid expression", "on main.tf line 7"],
    ),
    ("a string has no end", "locals {\n  a = \"x\n}\n", &["on main.tf line 7"]),
    (
        "two mistakes",
        "locals {\n  a = 1 +\n}\nlocals {\n  b = = 2\n}\n",
        &["on main.tf line 7", "on main.tf line 10"],
    ),
    (
        "an unknown attribute",
        "resource \"bad_thing\" \"a\" {\n  name = \"a\"\n  nmae = \"b\"\n}\n",
        &["Unsupported argument", "on main.tf line 8", "\"nmae\""],
    ),
    (
        "an unknown block",
        "resorce \"bad_thing\" \"a\" {\n}\n",
        &["Unsupported block type", "on main.tf line 6"],
    ),
    (
        "a required attribute is missing",
        "resource \"bad_thing\" \"a\" {\n}\n",
        &["Missing required argument", "\"name\""],
    ),
    (
        "a wrong type",
        "resource \"bad_thing\" \"a\" {\n  name = \"a\"\n  size = \"big\"\n}\n",
        &["on main.tf line 8", "number is required"],
    ),
    (
        "an unknown resource type",
        "resource \"bad_thin\" \"a\" {\n}\n",
        &["Invalid resource type", "bad_thing"],
    ),
    (
        "a resource twice",
        "resource \"bad_thing\" \"a\" {\n  name = \"a\"\n}\nresource \"bad_thing\" \"a\" {\n  name = \"a\"\n}\n",
        &["Duplicate resource", "line 9"],
    ),
    (
        "an undeclared resource",
        "resource \"bad_thing\" \"a\" {\n  name = bad_thing.b.id\n}\n",
        &["Reference to undeclared resource", "line 7"],
    ),
    (
        "an undeclared variable",
        "output \"o\" {\n  value = var.v\n}\n",
        &["Reference to undeclared input variable", "line 7"],
    ),
    (
        "a cycle",
        "resource \"bad_thing\" \"a\" {\n  name = bad_thing.b.id\n}\nresource \"bad_thing\" \"b\" {\n  name = bad_thing.a.id\n}\n",
        &["Cycle", "bad_thing.a", "bad_thing.b", "main.tf:7"],
    ),
    (
        "a resource that needs itself",
        "resource \"bad_thing\" \"a\" {\n  name = bad_thing.a.id\n}\n",
        &["Self-referential block", "line 7"],
    ),
    (
        "a count below zero",
        "resource \"bad_thing\" \"a\" {\n  count = -1\n  name = \"a\"\n}\n",
        &["Invalid count argument", "line 7"],
    ),
    (
        "a function that does not exist",
        "output \"o\" {\n  value = uper(\"a\")\n}\n",
        &["Call to unknown function", "\"upper\""],
    ),
    (
        "mistakes that show at different times",
        "output \"o\" {\n  value = var.v\n}\nresource \"bad_thing\" \"a\" {\n  name = \"a\"\n  nmae = \"b\"\n}\n",
        &["Reference to undeclared input variable", "line 7", "Unsupported argument", "line 11"],
    ),
    ("nesting without measure", "locals {\n  a = NESTED\n}\n", &["on main.tf line 7"]),
];

#[test]
fn every_invalid_configuration_is_explained_and_changes_nothing() {
    let mut failures = Vec::new();
    for (name, text, words) in CASES {
        let nested = format!("{}1{}", "(".repeat(100_000), ")".repeat(100_000));
        let workdir = Workdir::new(&format!("{HEADER}{}", text.replace("NESTED", &nested)));
        for line in ["validate", "plan", "apply -auto-approve"] {
            let result = workdir.formwork(line).run();
            let missing: Vec<_> =
                words.iter().filter(|word| !result.words().contains(**word)).collect();
            if result.code != Some(1) || !missing.is_empty() {
                let mut text = result.text();
                text.truncate(text.floor_char_boundary(2000));
                failures.push(format!("{name}: {line} should say {missing:?}\n{text}"));
            }
        }
        assert_eq!(workdir.service.objects(), [""; 0], "{name}");
        assert!(!workdir.has("terraform.tfstate"), "{name}");
        workdir.service.assert_no_provider_runs();
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

#[test]
fn a_provider_that_is_not_installed_is_named_with_the_next_step() {
    let workdir = Workdir::new(
        "terraform {\n  required_providers {\n    other = { source = \"nobody/other\" }\n  }\n}\nresource \"other_thing\" \"a\" {\n}\n",
    );
    workdir.formwork("plan").run().code(1).says("nobody/other").says("init");
}

#[test]
fn missing_values_and_invalid_blocks_are_reported_together() {
    let invalid_block = "resource \"bad_thing\" \"a\" {\n  name = \"a\"\n  nmae = \"b\"\n}\n";
    for extra_block in ["", "output \"o\" {\n  value = local.x\n}\n"] {
        let workdir =
            Workdir::new(&format!("{HEADER}variable \"v\" {{}}\n{invalid_block}{extra_block}"));
        let result = workdir.formwork("plan -input=false").run();
        result.code(1).says("No value for required variable").says("Unsupported argument");
        assert_eq!(result.words().contains("undeclared local value"), !extra_block.is_empty());
    }
}

#[test]
fn an_empty_directory_is_explained() {
    let workdir = Workdir::new("");
    workdir.formwork("plan").run().code(1).says("No configuration files");
}

#[test]
fn errors_in_test_files_are_reported_by_init() {
    let output = "output \"o\" {\n  value = 1\n}\n";
    let workdir = Workdir::new(&format!("{output}//- checks/a.tftest.hcl\nbogus {{}}\n"));
    for line in ["init", "get"] {
        let line = format!("{line} -test-directory=checks");
        workdir.formwork(&line).run().code(1).says("Unsupported block type").says("a.tftest.hcl");
    }
    // They do not belong to the configuration outside of tests.
    for line in ["init", "get", "providers", "plan"] {
        workdir.formwork(line).succeed();
    }
    let workdir = Workdir::new(&format!("{output}//- a.tftest.hcl\nbogus {{}}\n"));
    for line in ["init", "get", "providers", "validate"] {
        workdir.formwork(line).run().code(1).says("Unsupported block type");
    }
    workdir.formwork("plan").succeed();
}
