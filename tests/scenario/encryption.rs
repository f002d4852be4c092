//! Encrypted states and plans: no artefact of a run has a secret in it, and every command works with
//! them.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use nix::sys::signal::Signal;

use crate::harness::cloud_kms::{self, CloudKms};
use crate::harness::{Command, ObjectStore, Transit, Workdir, opentofu};

/// A value that must not be in any file.
pub(super) const SECRET: &str = "hunter2-in-a-state";

pub(super) const ENCRYPTION: &str = r#"
terraform {
  encryption {
    key_provider "pbkdf2" "main" {
      passphrase = var.passphrase
      iterations = 200000
    }
    method "aes_gcm" "main" {
      keys = key_provider.pbkdf2.main
    }
    state {
      method = method.aes_gcm.main
    }
    plan {
      method = method.aes_gcm.main
    }
  }
}
variable "passphrase" {
  type      = string
  sensitive = true
}
"#;

const CONFIG: &str = r#"
terraform {
  required_providers {
    bad = { source = "formwork/bad" }
  }
}
variable "secret" {
  type      = string
  sensitive = true
  ephemeral = false
}
resource "bad_thing" "first" {
  name = "first"
  kind = var.secret
}
resource "bad_thing" "second" {
  name = "second"
  kind = var.secret
  link = bad_thing.first.id
}
output "kind" {
  value     = bad_thing.first.kind
  sensitive = true
}
"#;

/// A command with both variables.
fn command<'w>(workdir: &'w Workdir, line: &str) -> Command<'w> {
    let command = workdir.formwork(line).env("TF_VAR_passphrase", "correct horse battery");
    command.env("TF_VAR_secret", SECRET)
}

/// The files below a directory that have the secret, as it is or in base64.
fn leaks(directory: &Path, paths: &mut Vec<String>) {
    for entry in std::fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() && !path.is_symlink() {
            leaks(&path, paths);
        } else if path.is_file() {
            let content = std::fs::read(&path).expect("a file");
            let has = |text: &str| content.windows(text.len()).any(|part| part == text.as_bytes());
            // The base64 of the secret at each of its three possible offsets.
            if [
                SECRET,
                "aHVudGVyMi1pbi1hLXN0YXRl",
                "h1bnRlcjItaW4tYS1zdGF0Z",
                "odW50ZXIyLWluLWEtc3RhdG",
            ]
            .iter()
            .any(|text| has(text))
            {
                paths.push(path.display().to_string());
            }
        }
    }
}

#[track_caller]
pub(super) fn assert_sealed(workdir: &Workdir) {
    let mut leaked_paths = Vec::new();
    leaks(&workdir.root(), &mut leaked_paths);
    assert_eq!(leaked_paths, Vec::<String>::new());
}

#[test]
fn no_file_of_an_encrypted_configuration_contains_a_secret() {
    let workdir = Workdir::new(&format!("{ENCRYPTION}{CONFIG}"));
    let log = workdir.root().join("log").display().to_string();
    let run = |line: &str| command(&workdir, line).env("TF_LOG", "trace").env("TF_LOG_PATH", &log);
    run("plan -out=p").succeed();
    assert!(workdir.read("p").starts_with("{\"meta\":"));
    run("show p").succeed().says("bad_thing.first will be created");
    run("apply p").succeed().says("2 added");
    assert!(workdir.read("terraform.tfstate").contains("\"encryption_version\": \"v0\""));
    run("state list").succeed().says("bad_thing.first");
    run("output -raw kind").succeed().says(SECRET);
    run("state pull").succeed().says(SECRET);
    workdir.write(
        "main.tf",
        &format!("{ENCRYPTION}{}", CONFIG.replace("\"second\"\n  kind", "\"other\"\n  kind")),
    );
    run("apply -auto-approve").succeed();
    assert!(workdir.has("terraform.tfstate.backup"));
    run("state show bad_thing.first").succeed();
    assert_sealed(&workdir);
}

#[test]
fn a_killed_run_leaves_a_sealed_journal_that_the_next_run_uses() {
    let workdir = Workdir::new(&format!("{ENCRYPTION}{CONFIG}"));
    let running = command(&workdir, "apply -auto-approve").env("BAD_HOLD", "after:second").start();
    let (_, paused) = workdir.service.wait_for_pause();
    running.signal(Signal::SIGKILL);
    running.wait();
    drop(paused);
    workdir.service.assert_no_provider_runs();
    assert_eq!(workdir.service.objects(), ["first-1", "second-1"]);
    assert_sealed(&workdir);

    // Nothing of the state is read or stored without the key.
    let without_key = workdir.formwork("state list").env("TF_VAR_secret", SECRET).run();
    without_key.code(1).says("The variable \"passphrase\" is needed before the state is read");
    let listed = command(&workdir, "recover list").succeed();
    listed.says("bad_thing.second was being created");
    command(&workdir, "recover adopt bad_thing.second second-1").succeed();
    command(&workdir, "apply -auto-approve").succeed().says("0 added");
    assert_eq!(workdir.service.objects(), ["first-1", "second-1"]);
    assert_sealed(&workdir);
}

/// The programs that encrypt, each with another one: OpenTofu takes part if this machine has it.
fn turns() -> &'static [(&'static str, &'static str)] {
    match opentofu() {
        Some(_) => &[("tofu", "formwork"), ("formwork", "tofu")],
        None => &[("formwork", "formwork")],
    }
}

/// The encryption of states with the keys of a key provider.
fn with_keys_of(key_provider: &str, arguments: &str) -> String {
    format!(
        "terraform {{\n  encryption {{\n    key_provider \"{key_provider}\" \"main\" {{\n{arguments}\n    }}\n    method \"aes_gcm\" \"main\" {{\n      keys = key_provider.{key_provider}.main\n    }}\n    state {{\n      method   = method.aes_gcm.main\n      enforced = true\n    }}\n  }}\n}}\n"
    )
}

const RESOURCE: &str = "resource \"terraform_data\" \"a\" {\n  input = \"hunter2-in-a-state\"\n}\n";

/// Each program reads and writes the local state that the other has written.
fn alternate_programs(encryption: &str, variables: &[(&str, &str)]) {
    for (first, second) in turns() {
        let workdir = Workdir::new(&format!("{encryption}{RESOURCE}"));
        let run = |program: &str, line: &str| {
            let command = workdir.engine(program, line);
            variables.iter().fold(command, |command, (name, value)| command.env(name, value)).run()
        };
        run(first, "init").code(0);
        run(first, "apply -auto-approve").code(0).says("1 added");
        let by_first = workdir.read("terraform.tfstate");
        run(second, "init").code(0);
        run(second, "plan -detailed-exitcode").code(0).says("No changes");
        workdir.write("main.tf", &format!("{encryption}{}", RESOURCE.replace("-a-", "-the-")));
        run(second, "apply -auto-approve").code(0).says("1 changed");
        run(first, "plan -detailed-exitcode").code(0).says("No changes");
        let by_second = workdir.read("terraform.tfstate");
        // The same members on the same lines; only their values differ.
        let config = |text: &str| {
            let lines = text.lines().map(|line| line.split(": ").next().unwrap_or_default());
            lines.map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(config(&by_first), config(&by_second));
        assert_sealed(&workdir);
    }
}

#[test]
fn either_program_continues_after_the_other_with_encryption() {
    let pbkdf2 = "passphrase = \"correct horse battery staple\"\n  iterations = 200000\n  hash_function = \"sha256\"\n  key_length = 16\n  salt_length = 20";
    alternate_programs(&with_keys_of("pbkdf2", pbkdf2), &[]);
    let program = r#"command = ["sh", "-c", "echo '{\"magic\":\"OpenTofu-External-Key-Provider\",\"version\":1}'; input=$(cat); key=AAECAwQFBgcICQoLDA0ODw==; case $input in null) keys=\"{\\\"encryption_key\\\":\\\"$key\\\"}\";; *) keys=\"{\\\"encryption_key\\\":\\\"$key\\\",\\\"decryption_key\\\":\\\"$key\\\"}\";; esac; echo \"{\\\"keys\\\":$keys,\\\"meta\\\":{\\\"external_data\\\":{\\\"version\\\":1}}}\""]"#;
    alternate_programs(&with_keys_of("external", program), &[]);
    let chained =
        with_keys_of("pbkdf2", "chain = key_provider.pbkdf2.inner\n  iterations = 200000");
    let inner = "key_provider \"pbkdf2\" \"inner\" {\n passphrase = \"correct horse battery staple\"\n}\n    method";
    alternate_programs(&chained.replacen("method", inner, 1), &[]);
}

#[test]
fn keys_of_aws_kms_are_shared_with_opentofu() {
    let Some(service) = ObjectStore::s3() else { return };
    let key = service.make_encryption_key();
    let arguments = format!(
        "kms_key_id = \"{key}\"\n  key_spec = \"AES_256\"\n  region = \"us-east-1\"\n  access_key = \"AKIAEXAMPLE\"\n  secret_key = \"secret\"\n  skip_credentials_validation = true\n  skip_requesting_account_id = true"
    );
    let variables = [("AWS_ENDPOINT_URL_KMS", service.url.as_str())];
    alternate_programs(&with_keys_of("aws_kms", &arguments), &variables);
    let other_arguments = arguments.replace(&key, "00000000-0000-0000-0000-000000000000");
    let workdir = Workdir::new(&format!("{}{RESOURCE}", with_keys_of("aws_kms", &other_arguments)));
    let refused = workdir.formwork("apply -auto-approve").env(variables[0].0, variables[0].1).run();
    refused.code(1).says("key_provider.aws_kms.main: GenerateDataKey").says("NotFoundException");
    assert!(!workdir.has("terraform.tfstate"));
}

#[test]
fn keys_of_gcp_kms_are_encrypted_by_the_service() {
    let server = CloudKms::start();
    let encryption = |key: &str, token: &str| {
        let arguments = format!(
            "kms_encryption_key = \"{key}\"\n  key_length = 32\n  access_token = \"{token}\""
        );
        with_keys_of("gcp_kms", &arguments)
    };
    let workdir = Workdir::new(&format!("{}{RESOURCE}", encryption(cloud_kms::KEY, "the-token")));
    let run =
        |line: &str| workdir.formwork(line).env("GOOGLE_KMS_CUSTOM_ENDPOINT", &server.url).run();
    run("apply -auto-approve").code(0).says("1 added");
    run("plan -detailed-exitcode -out=p").code(0).says("No changes");
    run("show p").code(0);
    let changed = RESOURCE.replace("-a-", "-the-");
    workdir.write("main.tf", &format!("{}{changed}", encryption(cloud_kms::KEY, "the-token")));
    run("apply -auto-approve").code(0).says("1 changed");
    assert_sealed(&workdir);
    // As OpenTofu stores it.
    let state: serde_json::Value =
        serde_json::from_str(&workdir.read("terraform.tfstate")).expect("JSON");
    let metadata = state["meta"]["key_provider.gcp_kms.main"].as_str().expect("metadata");
    let metadata = STANDARD.decode(metadata).expect("base64");
    assert!(metadata.starts_with(b"{\"ciphertext\":\"") && metadata.ends_with(b"\"}"));
    let before = workdir.read("terraform.tfstate");
    let other_key = cloud_kms::KEY.replace("main", "other");
    for (key, token, reason) in [
        (&*other_key, "the-token", "CryptoKey not found; the key must exist"),
        (cloud_kms::KEY, "another", "the credentials are not valid or have expired: renew them"),
    ] {
        workdir.write("main.tf", &format!("{}{RESOURCE}", encryption(key, token)));
        run("apply -auto-approve").code(1).says("key_provider.gcp_kms.main: ").says(reason);
    }
    assert_eq!(workdir.read("terraform.tfstate"), before);
}

#[test]
fn keys_of_openbao_are_shared_with_opentofu() {
    let server = Transit::start();
    let arguments = format!("address = \"{}\"\n  key_name = \"state\"", server.url);
    let variables = [("BAO_TOKEN", "the-token")];
    alternate_programs(&with_keys_of("openbao", &arguments), &variables);
    let workdir = Workdir::new(&format!("{}{RESOURCE}", with_keys_of("openbao", &arguments)));
    let refused = workdir.formwork("plan").env("BAO_TOKEN", "another").run();
    refused.code(1).says("key_provider.openbao.main").says("permission denied");
}

#[test]
fn errors_outside_the_encryption_block_do_not_stop_a_saved_plan() {
    let broken = "output \"z\" {\n  value =\n}\n";
    let workdir = Workdir::new(CONFIG);
    let run = |line: &str| command(&workdir, line).run();
    run("plan -out=create").code(0);
    workdir.write("broken.tf", broken);
    run("plan").code(1).says("Invalid expression");
    run("apply create").code(0);
    assert_eq!(workdir.service.objects().len(), 2);
    workdir.write("broken.tf", "");
    run("plan -destroy -out=destroy").code(0);
    // The file may contain an encryption block that cannot be read.
    workdir.write("broken.tf", &format!("{broken}# No encryption.\n"));
    run("apply destroy").code(1).says("Invalid expression");
    assert_eq!(workdir.service.objects().len(), 2);
}

#[test]
fn a_wrong_passphrase_stops_a_command_before_anything_is_written() {
    let workdir = Workdir::new(&format!("{ENCRYPTION}{CONFIG}"));
    command(&workdir, "apply -auto-approve").succeed();
    command(&workdir, "plan -out=p").succeed();
    let before = (workdir.read("terraform.tfstate"), workdir.service.objects());
    for line in ["apply -auto-approve", "plan", "state rm bad_thing.first", "output", "apply p"] {
        let command = command(&workdir, line).env("TF_VAR_passphrase", "another passphrase");
        let result = command.run();
        result.code(1).says("key_provider.pbkdf2.main").says("Nothing was changed");
    }
    // Without a configuration for it, an encrypted file is not taken for an empty one.
    workdir.write("main.tf", CONFIG);
    for (line, summary) in [
        ("apply -auto-approve", "State file is encrypted"),
        ("state list", "State file is encrypted"),
        ("show terraform.tfstate", "State file is encrypted"),
        ("apply p", "Plan file is encrypted"),
    ] {
        command(&workdir, line).run().code(1).says(summary).says("TF_ENCRYPTION");
    }
    assert_eq!((workdir.read("terraform.tfstate"), workdir.service.objects()), before);
}

#[test]
fn a_state_moves_to_encryption_and_back_by_fallbacks() {
    let workdir = Workdir::new(CONFIG);
    command(&workdir, "apply -auto-approve").succeed();
    assert!(workdir.read("terraform.tfstate").contains(SECRET));
    workdir.write("main.tf", &format!("{ENCRYPTION}{CONFIG}"));
    let refused = command(&workdir, "apply -auto-approve").run();
    refused.code(1).says("State file cannot be decrypted").says("`fallback`");

    let fallback = r#"{"method": {"unencrypted": {"none": {}}}, "state": {"fallback": {"method": "method.unencrypted.none"}}}"#;
    let moving = command(&workdir, "apply -auto-approve").env("TF_ENCRYPTION", fallback);
    moving.succeed().says("Unencrypted method configured");
    // The backup of the state in the clear is encrypted, too.
    assert_sealed(&workdir);
    command(&workdir, "plan -detailed-exitcode").succeed();

    // OpenTofu's documentation writes references in JSON as interpolations.
    let interpolated = fallback.replace("method.unencrypted.none", "${method.unencrypted.none}");
    let planned = command(&workdir, "plan -detailed-exitcode").env("TF_ENCRYPTION", &interpolated);
    planned.succeed();
    let variable = r#"{"key_provider": {"pbkdf2": {"k": {"passphrase": "a passphrase of another directory"}}}, "method": {"aes_gcm": {"m": {"keys": "${key_provider.pbkdf2.k}"}}}, "state": {"method": "${method.aes_gcm.m}"}}"#;
    let other_workdir = Workdir::new(CONFIG);
    command(&other_workdir, "apply -auto-approve").env("TF_ENCRYPTION", variable).succeed();
    assert_sealed(&other_workdir);

    let unencrypted_config = "method \"unencrypted\" \"none\" {}\nstate {\n  method = method.unencrypted.none\n  fallback {\n    method = method.aes_gcm.main\n  }\n}";
    command(&workdir, "apply -auto-approve").env("TF_ENCRYPTION", unencrypted_config).succeed();
    assert!(workdir.read("terraform.tfstate").contains(SECRET));
    let enforced = "method \"unencrypted\" \"none\" {}\nstate {\n  enforced = true\n  method = method.unencrypted.none\n}";
    let refused = command(&workdir, "plan").env("TF_ENCRYPTION", enforced).run();
    refused.code(1).says("Unencrypted method is forbidden");
}

#[test]
fn an_error_in_the_environment_variable_is_reported_without_its_value() {
    let workdir = Workdir::new(CONFIG);
    for text in [
        "key_provider \"pbkdf2\" \"main\" {\n  passphrase = hunter2-in-a-state\n}\nmethod \"aes_gcm\" \"main\" {\n  keys = key_provider.pbkdf2.main\n}\nstate {\n  method = method.aes_gcm.main\n}",
        "passphrase = \"hunter2-in-a-state",
        "{\"hunter2-in-a-state\": 1}",
    ] {
        let result = command(&workdir, "plan").env("TF_ENCRYPTION", text).run();
        result.code(1).says("TF_ENCRYPTION");
        assert!(!result.text().contains("hunter2-in-a-state\n"), "{}", result.text());
    }
}

#[test]
fn a_data_source_reads_an_encrypted_state_of_another_configuration() {
    let workdir = Workdir::new(&format!("{ENCRYPTION}{CONFIG}"));
    command(&workdir, "apply -auto-approve").succeed();
    std::fs::rename(workdir.root().join("terraform.tfstate"), workdir.root().join("other.tfstate"))
        .unwrap();
    let reader = |target: &str| {
        ENCRYPTION.replace(
            "    state {",
            &format!("    remote_state_data_sources {{\n{target}\n    }}\n    state {{"),
        ) + "data \"terraform_remote_state\" \"it\" {\n  backend = \"local\"\n  config = { path = \"other.tfstate\" }\n}\noutput \"kind\" {\n  value = nonsensitive(data.terraform_remote_state.it.outputs.kind)\n}\n"
    };
    for target in [
        "default {\n method = method.aes_gcm.main\n}",
        "remote_state_data_source \"it\" {\n method = method.aes_gcm.main\n}",
    ] {
        workdir.write("main.tf", &reader(target));
        command(&workdir, "plan").succeed().says(SECRET);
    }
    let other = "remote_state_data_source \"other\" {\n method = method.aes_gcm.main\n}";
    workdir.write("main.tf", &reader(other));
    command(&workdir, "plan").run().code(1).says("no encryption is configured");
    workdir.write("main.tf", &reader(""));
    let refused = command(&workdir, "plan").run();
    // The advice, followed, in the variable.
    refused.code(1).says("remote_state_data_sources { default { method = method.TYPE.NAME } }");
    let target =
        "remote_state_data_sources {\n  default {\n    method = method.aes_gcm.main\n  }\n}";
    command(&workdir, "plan").env("TF_ENCRYPTION", target).succeed().says(SECRET);
}

#[test]
fn states_move_between_backends_and_workspaces_encrypted() {
    let workdir = Workdir::new(&format!("{ENCRYPTION}{CONFIG}"));
    command(&workdir, "apply -auto-approve").succeed();
    let to = "terraform {\n  backend \"local\" {\n    path = \"moved.tfstate\"\n  }\n}\n";
    workdir.write("backend.tf", to);
    command(&workdir, "init -migrate-state -force-copy").succeed();
    assert!(workdir.read("moved.tfstate").contains("\"encryption_version\""));
    command(&workdir, "plan -detailed-exitcode").succeed();
    command(&workdir, "workspace new -state=moved.tfstate other").succeed();
    command(&workdir, "state list").succeed().says("bad_thing.first");
    let pulled = command(&workdir, "state pull").succeed().stdout;
    workdir.write("pulled", &pulled);
    command(&workdir, "state push -force pulled").succeed();
    std::fs::remove_file(workdir.root().join("pulled")).unwrap();
    assert_sealed(&workdir);
}
