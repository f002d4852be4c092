//! Sources of provider packages: directories that the settings name, installed packages, and packages
//! that are included, with the lock file that Terraform reads too.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::harness::registry::sha256;
use crate::harness::{Workdir, built, terraform};

const CONFIG: &str = r#"
terraform {
  required_providers {
    random = { source = "hashicorp/random" }
  }
}
resource "random_id" "a" {
  byte_length = 2
}
"#;
const LOCK: &str = ".terraform.lock.hcl";
const INCLUDED: &str = "Using hashicorp/random v3.7.1, which comes with Formwork";

/// Puts a package of the provider into a directory of packages, and returns the directory.
fn mirror(workdir: &Workdir, version: &str) -> PathBuf {
    let platform = if cfg!(target_arch = "aarch64") { "linux_arm64" } else { "linux_amd64" };
    let directory = workdir.home().join("mirror");
    let package =
        directory.join(format!("registry.terraform.io/hashicorp/random/{version}/{platform}"));
    fs::create_dir_all(&package).expect("directories");
    let program = "terraform-provider-random";
    fs::copy(built(program), package.join(program)).expect("a copy");
    directory
}

fn settings(workdir: &Workdir, methods: &str) {
    let text = format!("provider_installation {{\n{methods}\n}}\n");
    fs::write(workdir.settings(), text).expect("it can be written");
}

fn lock(workdir: &Workdir, version: &str, hashes: &str) -> String {
    let text = format!(
        "provider \"registry.terraform.io/hashicorp/random\" {{\n  version = \"{version}\"\n{hashes}}}\n"
    );
    workdir.write(LOCK, &text);
    text
}

#[test]
fn included_providers_replace_only_the_registry() {
    let workdir = Workdir::new(CONFIG);
    let directory = mirror(&workdir, "3.6.0");
    let directory = format!("  filesystem_mirror {{\n    path = {directory:?}\n  }}");
    let direct = "  direct {}";
    for (methods, expected) in [
        (direct.to_owned(), INCLUDED),
        (directory.clone(), "Installed hashicorp/random v3.6.0 (unauthenticated)"),
        (format!("{directory}\n{direct}"), "Installed hashicorp/random v3.6.0 (unauthenticated)"),
    ] {
        settings(&workdir, &methods);
        workdir.formwork("init").succeed().says(expected);
        workdir.formwork("plan").succeed().says("1 to add");
        fs::remove_file(workdir.root().join(LOCK)).expect("it exists");
    }
    for methods in [
        "  direct {\n    exclude = [\"hashicorp/*\"]\n  }",
        "  filesystem_mirror {\n    path    = \"/nowhere\"\n    include = [\"corp.example/*/*\"]\n  }",
    ] {
        settings(&workdir, methods);
        let refused = workdir.formwork("init").run();
        let words = "provider registry.terraform.io/hashicorp/random was not found in any of the search locations";
        refused.code(1).says(words);
        // Nor is it used if a lock file from elsewhere requires its version.
        lock(&workdir, "3.7.1", "");
        let summary = "Failed to query available provider packages";
        workdir.formwork("init").run().code(1).says(summary);
        workdir.formwork("plan").run().code(1);
        fs::remove_file(workdir.root().join(LOCK)).expect("it exists");
    }
}

#[test]
fn checksums_that_terraform_locked_stay_in_the_lock_file() {
    let workdir = Workdir::new(CONFIG);
    settings(&workdir, "  direct {}");
    let text = lock(&workdir, "3.7.1", "  hashes  = [\"h1:theirs=\"]\n");
    let result = workdir.formwork("init").succeed();
    result.says("instead of the locked package");
    assert_eq!(workdir.read(LOCK), text);
    workdir.formwork("plan").succeed().says("1 to add");

    lock(&workdir, "3.7.2", "  hashes  = [\"h1:theirs=\"]\n");
    // No registry can be reached.
    let init = |line: &str| workdir.formwork(line).env("HTTPS_PROXY", "http://127.0.0.1:1");
    let refused = init("init").run();
    refused.code(1).says("Version 3.7.1 is included in Formwork").says("formwork init -upgrade");
    let upgraded = init("init -upgrade").succeed();
    upgraded.says("which comes with Formwork, where v3.7.2 was locked");
    assert!(!workdir.read(LOCK).contains("h1:"), "{}", workdir.read(LOCK));

    if terraform().is_none() {
        println!("!! terraform is missing: what it makes of our lock file is NOT TESTED");
        return;
    }
    // It has another package of the selected version.
    let directory = mirror(&workdir, "3.7.1");
    settings(&workdir, &format!("  filesystem_mirror {{\n    path = {directory:?}\n  }}"));
    workdir.terraform("init").succeed();
    let text = workdir.read(LOCK);
    assert!(text.contains("h1:"), "{text}");
    workdir.formwork("init").succeed().says("Using previously-installed hashicorp/random v3.7.1");
    assert_eq!(workdir.read(LOCK), text);
    workdir.formwork("plan").succeed().says("1 to add");
}

/// Whether a command has started a plugin, according to its log.
#[track_caller]
fn starts_a_plugin(workdir: &Workdir, line: &str) -> bool {
    let result = workdir.formwork(line).env("TF_LOG", "debug").stdin("1 + 1\n").succeed();
    assert!(result.stderr.contains("program started"), "{}", result.text());
    result.stderr.contains("plugin started")
}

#[test]
fn cached_schemas_of_a_package_need_no_running_provider() {
    let workdir = Workdir::new(CONFIG);
    let directory = mirror(&workdir, "3.6.0");
    settings(&workdir, &format!("  filesystem_mirror {{\n    path = {directory:?}\n  }}"));
    workdir.formwork("init").succeed();
    assert!(starts_a_plugin(&workdir, "apply -auto-approve"));
    let state_view = workdir.formwork("show -json").succeed().stdout;
    let lines =
        ["show -json", "show", "state show random_id.a", "console", "providers schema -json"];
    for line in lines {
        assert!(!starts_a_plugin(&workdir, line), "{line}");
    }
    assert!(starts_a_plugin(&workdir, "plan"));

    let cache_directory = workdir.home().join(".cache/formwork/schemas");
    for line in lines {
        for file in fs::read_dir(&cache_directory).expect("a directory").flatten() {
            fs::write(file.path(), "damaged").expect("it can be written");
        }
        assert!(starts_a_plugin(&workdir, line), "{line}");
        // The damaged file was replaced.
        assert!(!starts_a_plugin(&workdir, line), "{line}");
    }
    assert_eq!(workdir.formwork("show -json").succeed().stdout, state_view);
    fs::remove_dir_all(&cache_directory).expect("it exists");
    workdir.formwork("plan").succeed();
    assert!(!starts_a_plugin(&workdir, "show"), "a plan keeps them");
}

#[test]
fn schemas_of_a_provider_under_development_are_never_cached() {
    let workdir = Workdir::new(CONFIG);
    let directory = workdir.home().join("built");
    fs::create_dir(&directory).expect("a directory");
    let program = "terraform-provider-random";
    fs::copy(built(program), directory.join(program)).expect("a copy");
    let text = format!(
        "provider_installation {{\n  dev_overrides {{\n    \"hashicorp/random\" = {directory:?}\n  }}\n  direct {{}}\n}}\n"
    );
    fs::write(workdir.settings(), text).expect("it can be written");
    workdir.formwork("apply -auto-approve").succeed();
    assert!(starts_a_plugin(&workdir, "show -json"));
    assert!(!workdir.home().join(".cache/formwork/schemas").exists());
}

/// The value of a member with this name, of all components that have it.
fn by_name<'j>(components: &'j Value, member: &str) -> BTreeMap<&'j str, &'j Value> {
    let components = components.as_array().expect("a list");
    let name = |component: &'j Value| component["name"].as_str().expect("a name");
    components.iter().map(|component| (name(component), &component[member])).collect()
}

#[test]
fn providers_lists_providers_and_modules_of_the_configuration_and_its_tests() {
    let workdir = Workdir::new(&format!(
        "{CONFIG}
//- tests/a.tftest.hcl
run \"fix\" {{
  module {{
    source = \"./fix\"
  }}
}}
run \"plain\" {{}}
//- fix/main.tf
resource \"null_resource\" \"a\" {{}}
"
    ));
    fs::write(workdir.settings(), "").expect("it can be written");
    workdir.formwork("init").succeed();
    let [random, null] =
        ["random", "null"].map(|name| format!("registry.terraform.io/hashicorp/{name}"));
    let account: Value =
        serde_json::from_str(&workdir.formwork("providers -json").succeed().stdout).expect("JSON");
    assert_eq!(account["configuration"], json!({"required_providers": {&random: ""}}));
    let fix = json!({"required_providers": {&null: ""}});
    assert_eq!(account["tests"], json!({"tests.a": {"runs": {"fix": fix}}}));
    for addr in [&random, &null] {
        let provider = &account["providers"][addr];
        assert_eq!(provider["origin"], "bundled", "{account}");
        assert!(provider["version"].is_string(), "{account}");
    }
    let materials: Value =
        serde_json::from_str(&workdir.formwork("providers sbom").succeed().stdout).expect("JSON");
    let components = &materials["components"];
    let scopes = by_name(components, "scope");
    assert_eq!(scopes[random.as_str()], &Value::Null, "{materials}");
    assert_eq!(scopes[null.as_str()], "excluded", "{materials}");
    let program = fs::read(built("formwork")).expect("the program");
    let hash = json!([{"alg": "SHA-256", "content": sha256(&program)}]);
    assert_eq!(by_name(components, "hashes")["formwork"], &hash);
}
