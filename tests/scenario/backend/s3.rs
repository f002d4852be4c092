//! States in a bucket, with Terraform on the same server: moto, which speaks the protocols of S3,
//! DynamoDB and STS.

use super::{RESOURCE, shared_scripts};
use crate::harness::{ObjectStore, Workdir, terraform};

/// Locks by an object, by a table, and by both.
const LOCKS: [&str; 3] = [
    "use_lockfile = true",
    "dynamodb_table = \"locks\"",
    "use_lockfile = true\n    dynamodb_table = \"locks\"",
];

/// The arguments of a state in a new bucket.
fn arguments(store: &ObjectStore, bucket: &str, extra_arguments: &str) -> String {
    store.make_bucket(bucket);
    let url = &store.url;
    format!(
        "    bucket = \"{bucket}\"\n    key = \"network/app.tfstate\"\n    region = \"us-east-1\"\n    access_key = \"AKIAEXAMPLE\"\n    secret_key = \"secret\"\n    use_path_style = true\n    skip_credentials_validation = true\n    skip_requesting_account_id = true\n    skip_metadata_api_check = true\n    endpoints = {{\n      s3 = \"{url}\"\n      dynamodb = \"{url}\"\n      sts = \"{url}\"\n      iam = \"{url}\"\n    }}\n    {extra_arguments}\n"
    )
}

fn config(arguments: &str, resource: &str) -> String {
    format!("terraform {{\n  backend \"s3\" {{\n{arguments}  }}\n}}\n{resource}")
}

#[test]
fn either_program_continues_after_the_other_over_s3() {
    let Some(store) = ObjectStore::s3() else { return };
    store.make_table("locks");
    for (i, lock) in LOCKS.into_iter().enumerate() {
        let arguments = arguments(&store, &format!("turns-{i}"), lock);
        shared_scripts::alternate_programs(&|resource| config(&arguments, resource));
    }
    let arguments = arguments(&store, "overwriting", LOCKS[0]);
    shared_scripts::nothing_is_overwritten(&|resource| config(&arguments, resource));
}

#[test]
fn locks_of_s3_exclude_the_other_program() {
    let Some(store) = ObjectStore::s3() else { return };
    store.make_table("locks");
    for (i, lock) in LOCKS.into_iter().enumerate() {
        let arguments = arguments(&store, &format!("locks-{i}"), lock);
        shared_scripts::locks_exclude(&|resource| config(&arguments, resource));
        shared_scripts::locks_end_by_force(
            &|resource| config(&arguments, resource),
            &["terraform", "formwork"],
        );
    }
}

#[test]
fn workspaces_and_outputs_of_s3_are_seen_by_both_programs() {
    let Some(store) = ObjectStore::s3() else { return };
    for (i, prefix) in ["", "workspace_key_prefix = \"ws\""].into_iter().enumerate() {
        let arguments = arguments(&store, &format!("workspaces-{i}"), prefix);
        shared_scripts::workspaces_are_shared(&|resource| config(&arguments, resource));
    }
    let arguments = arguments(&store, "outputs", "");
    shared_scripts::outputs_are_read(
        &|resource| config(&arguments, resource),
        &format!("backend = \"s3\"\n  config = {{\n{arguments}  }}"),
    );
}

#[test]
fn states_over_s3_are_encrypted() {
    let Some(store) = ObjectStore::s3() else { return };
    let arguments = arguments(&store, "encrypted", LOCKS[0]);
    shared_scripts::states_are_encrypted(
        &|resource| config(&arguments, resource),
        shared_scripts::encrypting_turns(),
    );
    shared_scripts::new_workspaces_are_encrypted(
        &|resource| config(&arguments, resource),
        shared_scripts::encrypting_turns(),
    );
}

#[test]
fn deprecated_arguments_are_reported_and_not_stored() {
    let Some(store) = ObjectStore::s3() else { return };
    let arguments = arguments(&store, "old", "").replace("use_path_style", "force_path_style");
    let workdir = Workdir::new(&config(&arguments, RESOURCE));
    let warning = "The parameter \"force_path_style\" is deprecated. Use parameter \"use_path_style\" instead.";
    workdir.formwork("init").succeed().says(warning);
    workdir.formwork("apply -auto-approve").succeed().says(warning);
    let pulled = workdir.formwork("state pull").succeed();
    assert!(pulled.stdout.starts_with('{'), "{}", pulled.text());
    workdir.formwork("output -json").succeed().says_not("deprecated");
}

#[test]
fn arguments_that_are_objects_can_be_options() {
    let Some(store) = ObjectStore::s3() else { return };
    let arguments = arguments(&store, "options", "");
    let (before, rest) = arguments.split_once("    endpoints = {").unwrap();
    let (_, after) = rest.split_once("}\n").unwrap();
    for program in ["terraform", "formwork"] {
        if program == "terraform" && terraform().is_none() {
            continue;
        }
        let workdir = Workdir::new(&config(&format!("{before}{after}"), RESOURCE));
        let url = &store.url;
        let init = format!("init -backend-config=endpoints={{s3=\"{url}\",sts=\"{url}\"}}");
        workdir.engine(program, &init).succeed();
        workdir.engine(program, "plan").succeed().says("1 to add");
    }
}

#[test]
fn the_run_of_a_lost_machine_is_taken_over_over_s3() {
    let Some(store) = ObjectStore::s3() else { return };
    let arguments = arguments(&store, "lost", LOCKS[0]);
    shared_scripts::a_run_of_a_lost_machine_is_taken_over(&|resource| config(&arguments, resource));
}

#[test]
fn a_bucket_that_does_not_exist_is_named() {
    let Some(store) = ObjectStore::s3() else { return };
    let arguments = arguments(&store, "there", "").replace("\"there\"", "\"elsewhere\"");
    let workdir = Workdir::new(&config(&arguments, RESOURCE));
    let refused = workdir.formwork("init").run();
    refused.code(1).says("S3 bucket \"elsewhere\" does not exist");
}

#[test]
fn a_server_that_checks_signatures_accepts_every_request() {
    let Some((store, id, secret)) = ObjectStore::signed_s3("signed") else { return };
    let url = &store.url;
    let signed = |secret: &str| {
        format!(
            "terraform {{\n  backend \"s3\" {{\n    bucket = \"signed\"\n    key = \"a b/\u{e4}+b.tfstate\"\n    region = \"us-east-1\"\n    access_key = \"{id}\"\n    secret_key = \"{secret}\"\n    use_path_style = true\n    use_lockfile = true\n    skip_metadata_api_check = true\n    endpoints = {{ s3 = \"{url}\" }}\n  }}\n}}\n{RESOURCE}"
        )
    };
    let workdir = Workdir::new(&signed(&secret));
    workdir.formwork("init").succeed();
    workdir.formwork("apply -auto-approve").succeed().says("1 added");
    workdir.formwork("workspace new other").succeed();
    workdir.formwork("workspace list").succeed().says("default * other");
    workdir.formwork("workspace select default").succeed();
    workdir.write("main.tf", &signed("wrong"));
    let refused = workdir.formwork("init -reconfigure").run();
    refused.code(1).says("check access key, secret key and session token");
}

#[test]
fn credentials_come_from_profiles_and_roles() {
    let Some(store) = ObjectStore::s3() else { return };
    let role = "assume_role = {\n      role_arn = \"arn:aws:iam::123456789012:role/deploy\"\n      duration = \"1h\"\n    }";
    let arguments = arguments(&store, "roles", role);
    let arguments = arguments.replace(
        "    access_key = \"AKIAEXAMPLE\"\n    secret_key = \"secret\"\n",
        "    profile = \"ci\"\n",
    );
    let workdir = Workdir::new(&config(&arguments, RESOURCE));
    let refused = workdir.formwork("init").run();
    refused.code(1).says("failed to get shared config profile, ci");
    let files = workdir.home().join(".aws");
    std::fs::create_dir(&files).expect("a directory");
    let write = |name: &str, text: &str| std::fs::write(files.join(name), text).expect("a file");
    write(
        "config",
        "[profile ci]\nrole_arn = arn:aws:iam::123456789012:role/ci\nsource_profile = base\n",
    );
    write(
        "credentials",
        "[base]\naws_access_key_id = AKIAEXAMPLE\naws_secret_access_key = secret\n",
    );
    workdir.formwork("init").succeed();
    workdir.formwork("apply -auto-approve").succeed().says("1 added");
    both_plan(&workdir);
    let wrong_secret = arguments
        .replace("    profile", "    forbidden_account_ids = [\"123456789012\"]\n    profile");
    workdir.write("main.tf", &config(&wrong_secret, RESOURCE));
    let refused = workdir.formwork("init -reconfigure").run();
    refused.code(1).says("AWS account ID not allowed: 123456789012");
}

fn both_plan(workdir: &Workdir) {
    if terraform().is_some() {
        workdir.terraform("plan -detailed-exitcode").run().code(0).says("No changes");
    }
}
