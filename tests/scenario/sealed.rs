//! The method `sealed`: only sensitive values of a state are encrypted, no artefact has one in the clear,
//! and all commands work.

use nix::sys::signal::Signal;

use super::encryption::{SECRET, assert_sealed};
use crate::harness::{Command, CommandResult, Workdir, terraform, test_provider};

pub(super) const IDENTITY: &str =
    "AGE-SECRET-KEY-1QCWV2QH957T5FCJDJSMYJU9S2WEUW0GU69SCRM9RUWKYQYWJWMMQCKJH0F";
pub(super) const RECIPIENT: &str = "age108a5p9y9zgyv9temkewvtw4nhha7rznazeqlyj2uv44ghu8r853sfwhmst";
const OTHER_IDENTITY: &str =
    "AGE-SECRET-KEY-1T8349WJX4QMU5K6ULF4477EMDCPSAVTXV6P9A3WV9F3WUPMHL0MQDYXRS3";
const OTHER_RECIPIENT: &str = "age1w9m9hana4s9kkerg4rthnjd534ymlmw3vnzm2gadjmxc34ga4fdsl5tv3c";

/// Encryption to these recipients.
pub(super) fn encryption(recipients: &[&str], extra_block: &str) -> String {
    let target = "{\n      method = method.sealed.main\n    }";
    format!(
        "terraform {{\n  encryption {{\n    key_provider \"age\" \"main\" {{\n      recipients = {recipients:?}\n    }}\n    method \"sealed\" \"main\" {{\n      keys = key_provider.age.main\n    }}\n    state {target}\n    plan {target}\n{extra_block}  }}\n}}\n"
    )
}

/// A command with an identity and the secret.
fn command<'w>(workdir: &'w Workdir, line: &str) -> Command<'w> {
    workdir.formwork(line).env("FORMWORK_AGE_IDENTITY", IDENTITY).env("TF_VAR_secret", SECRET)
}

/// The lines of the state that differ from former ones.
fn changed_lines(workdir: &Workdir, before: &str) -> Vec<String> {
    let after = workdir.read("terraform.tfstate");
    assert_eq!(before.lines().count(), after.lines().count());
    let differ = before
        .lines()
        .zip(after.lines())
        .filter(|(before_line, after_line)| before_line != after_line);
    differ.map(|(_, line)| line.trim().to_owned()).collect()
}

/// Forms in which a configuration holds the secret. `%` is the number of the configuration.
const FORMS: [&str; 10] = [
    "resource \"terraform_data\" \"it\" {\n  input = var.secret\n}",
    "resource \"terraform_data\" \"it\" {\n  input = { a = \"%\", type = [var.secret, \"%\"] }\n}",
    "resource \"terraform_data\" \"it\" {\n  count = 2\n  input = \"${var.secret}-${count.index}\"\n}",
    "resource \"terraform_data\" \"it\" {\n  for_each = toset([\"a\", \"b\"])\n  input = toset([var.secret, each.key])\n}",
    "resource \"terraform_data\" \"it\" {\n  input = jsonencode({ k = var.secret })\n  triggers_replace = [base64encode(var.secret)]\n}",
    "resource \"terraform_data\" \"it\" {\n  input = { value = var.secret, type = \"string\" }\n}",
    "resource \"terraform_data\" \"it\" {\n  input = tomap({ (\"k%\") = { l = [{ m = var.secret }] } })\n}",
    "resource \"random_password\" \"it\" {\n  length = 24\n  keepers = { k = var.secret }\n}",
    "resource \"random_bytes\" \"it\" {\n  length = 24\n  keepers = { k = \"%\" }\n}\nresource \"terraform_data\" \"it\" {\n  input = \"${random_bytes.it.hex} ${var.secret}\"\n}",
    "resource \"null_resource\" \"it\" {\n  triggers = { k = var.secret, n = \"%\" }\n}",
];

/// A configuration that calls fifty modules, each with the secret in some form.
fn fifty_configs(workdir: &Workdir) {
    let mut main = encryption(&[RECIPIENT, OTHER_RECIPIENT], "");
    main.push_str("variable \"secret\" {\n  sensitive = true\n}\nvariable \"tag\" {\n  default = \"one\"\n}\n");
    main.push_str("resource \"terraform_data\" \"tag\" {\n  input = var.tag\n}\n");
    for index in 0..50 {
        let config = FORMS[index % FORMS.len()].replace('%', &index.to_string());
        let exported = match index % 3 {
            0 => "var.secret",
            1 => "{ user = \"u\", password = var.secret }",
            _ => "{ (nonsensitive(sha1(var.secret))) = [var.secret] }",
        };
        let module = format!(
            "variable \"secret\" {{}}\n{config}\noutput \"exported\" {{\n  value = {exported}\n  sensitive = true\n}}\n"
        );
        workdir.write(&format!("m{index}/main.tf"), &module);
        main.push_str(&format!(
            "module \"m{index}\" {{\n  source = \"./m{index}\"\n  secret = var.secret\n}}\noutput \"o{index}\" {{\n  value = module.m{index}.exported\n  sensitive = true\n}}\n"
        ));
    }
    workdir.write("main.tf", &main);
}

#[test]
fn no_artefact_of_fifty_configurations_contains_a_secret() {
    let workdir = Workdir::new("");
    fifty_configs(&workdir);
    let log = workdir.root().join("log").display().to_string();
    let run = |line: &str| {
        let command = command(&workdir, line).env("TF_LOG", "trace").env("TF_LOG_PATH", &log);
        command.succeed()
    };
    run("init");
    run("plan -out=p").says_not(SECRET);
    assert!(workdir.read("p").contains("\"encryption_version\":\"age-v1\""));
    run("show p").says_not(SECRET);
    run("apply p").says_not(SECRET);
    let before = workdir.read("terraform.tfstate");
    assert!(before.matches("sealed:age:").count() > 100);
    // The secrets are present: these values were sealed.
    let outputs = run("output -json").stdout;
    assert_eq!(outputs.matches(SECRET).count(), 50);
    let passwords = run("state pull").stdout;
    let passwords: Vec<&str> = passwords
        .lines()
        .filter_map(|line| line.trim().strip_prefix("\"result\": \""))
        .map(|line| line.trim_end_matches(['"', ',']))
        .collect();
    assert_eq!(passwords.len(), 5);

    run("apply -auto-approve -var=tag=two").says("1 changed").says_not(SECRET);
    let changed = changed_lines(&workdir, &before);
    assert!(workdir.has("terraform.tfstate.backup"));
    for line in &changed {
        let is_expected = line.starts_with("\"serial\"") || line.starts_with("\"value\": \"two\"");
        assert!(is_expected, "{changed:?}");
    }
    run("plan -detailed-exitcode -var=tag=two").says("No changes");
    assert_sealed(&workdir);
    for file in ["terraform.tfstate", "terraform.tfstate.backup", "p", "log"] {
        let text = String::from_utf8_lossy(&std::fs::read(workdir.root().join(file)).unwrap())
            .into_owned();
        let leaked: Vec<_> =
            passwords.iter().filter(|password| text.contains(**password)).collect();
        assert!(leaked.is_empty(), "{file} has {leaked:?}");
    }
    run("destroy -auto-approve").says("Destroy complete");
    assert_sealed(&workdir);
}

const CONFIG: &str = r#"
terraform {
  required_providers {
    bad = { source = "formwork/bad" }
  }
}
variable "secret" {
  type      = string
  sensitive = true
}
variable "link" {
  default = "one"
}
resource "bad_thing" "first" {
  name = "first"
  kind = var.secret
  link = var.link
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

#[test]
fn a_sealed_state_is_changed_in_one_line_recovered_and_destroyed() {
    let workdir = Workdir::new(&format!("{}{CONFIG}", encryption(&[RECIPIENT], "")));
    // The first run is killed. Its journal is sealed, and the next run uses it.
    let running = command(&workdir, "apply -auto-approve").env("BAD_HOLD", "after:second").start();
    let (_, paused) = workdir.service.wait_for_pause();
    running.signal(Signal::SIGKILL);
    running.wait();
    drop(paused);
    workdir.service.assert_no_provider_runs();
    assert_sealed(&workdir);
    let without_identity = workdir.formwork("recover list").env("TF_VAR_secret", SECRET).run();
    without_identity.code(1).says("no identity");
    let listed = command(&workdir, "recover list").succeed();
    listed.says("bad_thing.second was being created");
    command(&workdir, "recover adopt bad_thing.second second-1").succeed();
    command(&workdir, "apply -auto-approve").succeed().says("0 added");

    let before = workdir.read("terraform.tfstate");
    command(&workdir, "apply -auto-approve -var=link=two").succeed().says("1 changed");
    let changed = changed_lines(&workdir, &before);
    // The provider counts the changes of an object.
    assert!(changed[0].starts_with("\"serial\""), "{changed:?}");
    assert_eq!(changed[1..], ["\"generation\": 2,", "\"link\": \"two\","]);
    let before = workdir.read("terraform.tfstate");
    command(&workdir, "apply -auto-approve -var=link=two")
        .env("TF_VAR_secret", "another")
        .succeed();
    // The kinds of both, and the output.
    let changed = changed_lines(&workdir, &before);
    assert_eq!(
        changed.iter().filter(|line| line.contains("sealed:age:")).count(),
        3,
        "{changed:?}"
    );

    command(&workdir, "state show bad_thing.first").succeed().says("(sensitive value)");
    command(&workdir, "state mv bad_thing.second bad_thing.third").succeed();
    command(&workdir, "output -raw kind").succeed().says("another");
    let pulled = command(&workdir, "state pull").succeed();
    pulled.says("\"version\": 4").says("another").says_not("encryption_version");
    workdir.write("pulled", &pulled.stdout);
    command(&workdir, "state push pulled").succeed();
    std::fs::remove_file(workdir.root().join("pulled")).unwrap();
    assert!(!workdir.read("terraform.tfstate").contains("another"));
    command(&workdir, "destroy -auto-approve").succeed();
    assert!(workdir.service.objects().is_empty());
    assert_sealed(&workdir);
}

/// Runs a command without an identity, or with another one.
fn refused(workdir: &Workdir, line: &str, identity: &str) -> CommandResult {
    let command = workdir.formwork(line).env("TF_VAR_secret", SECRET);
    command.env("FORMWORK_AGE_IDENTITY", identity).run()
}

#[test]
fn a_wrong_identity_stops_a_command_and_a_fallback_replaces_recipients() {
    let workdir = Workdir::new(&format!("{}{CONFIG}", encryption(&[RECIPIENT], "")));
    command(&workdir, "apply -auto-approve").succeed();
    command(&workdir, "plan -out=p").succeed();
    let before = workdir.read("terraform.tfstate");
    for line in ["apply -auto-approve", "state rm bad_thing.first", "output", "apply p"] {
        for identity in ["", OTHER_IDENTITY] {
            let result = refused(&workdir, line, identity);
            result.code(1).says("key_provider.age.main has no identity").says(RECIPIENT);
            result.says("FORMWORK_AGE_IDENTITY_FILE").says("Nothing was changed");
        }
    }
    assert_eq!(workdir.read("terraform.tfstate"), before);
    // Terraform takes it for no state, and leaves it as it is.
    if terraform().is_some() {
        workdir.write("plain/main.tf", "");
        workdir.write("plain/terraform.tfstate", &before);
        let result = workdir.terraform("-chdir=plain apply -auto-approve -no-color").run();
        result.code(1).says("does not have a \"version\" attribute");
        assert_eq!(workdir.read("plain/terraform.tfstate"), before);
        std::fs::remove_dir_all(workdir.root().join("plain")).unwrap();
    }

    // A reader of the outputs of the state, with a target of its own.
    let remote = "    remote_state_data_sources {\n      default {\n        method = method.sealed.main\n      }\n    }\n";
    workdir.write("reader/main.tf", &format!("{}data \"terraform_remote_state\" \"it\" {{\n  backend = \"local\"\n  config = {{ path = \"../terraform.tfstate\" }}\n}}\noutput \"kind\" {{\n  value = data.terraform_remote_state.it.outputs.kind\n  sensitive = true\n}}\n", encryption(&[RECIPIENT], remote)));
    command(&workdir, "-chdir=reader apply -auto-approve").succeed();
    command(&workdir, "-chdir=reader output -raw kind").succeed().says(SECRET);

    // Another person takes over: the former method reads once more.
    workdir.write("identity", IDENTITY);
    let former = format!(
        "    key_provider \"age\" \"former\" {{\n      recipients = [{RECIPIENT:?}]\n      identity_file = \"identity\"\n    }}\n    method \"sealed\" \"former\" {{\n      keys = key_provider.age.former\n    }}\n"
    );
    let next = encryption(&[OTHER_RECIPIENT], &former).replace(
        "state {\n",
        "state {\n      fallback {\n        method = method.sealed.former\n      }\n",
    );
    workdir.write("main.tf", &format!("{next}{CONFIG}"));
    refused(&workdir, "apply -auto-approve", OTHER_IDENTITY).code(0);
    workdir.write("main.tf", &format!("{}{CONFIG}", encryption(&[OTHER_RECIPIENT], "")));
    refused(&workdir, "plan -detailed-exitcode", OTHER_IDENTITY).code(0).says("No changes");
    refused(&workdir, "plan", IDENTITY).code(1).says(OTHER_RECIPIENT);
    assert_sealed(&workdir);
}

const SCHEMA_SECRET: &str = r#"
terraform {
  required_providers {
    test = { source = "formwork/test" }
  }
}
resource "test_thing" "it" {
  name   = "n"
  secret = "SECRET"
}
"#;

#[test]
fn values_marked_only_by_the_schema_are_sealed_without_a_change() {
    let config = SCHEMA_SECRET.replace("SECRET", SECRET);
    let workdir = Workdir::new(&config);
    workdir.link_plugin(test_provider());
    command(&workdir, "apply -auto-approve").succeed();
    // The state of a Terraform that did not store the marks of schemas.
    let mut state: serde_json::Value =
        serde_json::from_str(&workdir.read("terraform.tfstate")).unwrap();
    let paths = &mut state["resources"][0]["instances"][0]["sensitive_attributes"];
    assert_eq!(paths.as_array().map(Vec::len), Some(1));
    *paths = serde_json::Value::Array(Vec::new());
    workdir.write("terraform.tfstate", &state.to_string());
    if terraform().is_some() {
        let result = workdir.terraform("plan -detailed-exitcode -no-color").run();
        result.code(0).says("No changes");
    }
    let plain = "    method \"unencrypted\" \"none\" {}\n";
    let encryption = encryption(&[RECIPIENT], plain).replace(
        "state {\n",
        "state {\n      fallback {\n        method = method.unencrypted.none\n      }\n",
    );
    workdir.write("main.tf", &format!("{encryption}{config}"));
    let planned = command(&workdir, "plan -detailed-exitcode").run();
    planned.code(0).says("No changes").says_not("changed outside");
    let applied = command(&workdir, "apply -auto-approve").succeed();
    applied.says("0 added, 0 changed, 0 destroyed");
    assert!(!workdir.read("terraform.tfstate").contains(SECRET));
    let before = workdir.read("terraform.tfstate");
    command(&workdir, "apply -auto-approve").succeed();
    assert_eq!(workdir.read("terraform.tfstate"), before);
}

#[test]
fn a_first_apply_without_an_identity_is_refused_before_any_change() {
    let workdir = Workdir::new(&format!("{}{CONFIG}", encryption(&[RECIPIENT], "")));
    for identity in ["", OTHER_IDENTITY] {
        for line in ["apply -auto-approve", "import bad_thing.first first-1"] {
            let result = refused(&workdir, line, identity);
            result.code(1).says("No identity for sealed values");
            result.says("FORMWORK_AGE_IDENTITY_FILE").says("Nothing was changed");
        }
    }
    assert!(workdir.service.objects().is_empty() && !workdir.has("terraform.tfstate"));
}

#[test]
fn commands_that_show_no_value_need_no_identity() {
    let copy = "resource \"terraform_data\" \"copy\" {\n  input = var.secret\n}\noutput \"open\" {\n  value = \"shown\"\n}\n";
    let workdir = Workdir::new(&format!("{}{CONFIG}{copy}", encryption(&[RECIPIENT], "")));
    command(&workdir, "apply -auto-approve").succeed();
    command(&workdir, "workspace new other").succeed();
    command(&workdir, "workspace select default").succeed();
    let before = workdir.read("terraform.tfstate");
    for identity in ["", OTHER_IDENTITY] {
        let run = |line: &str| refused(&workdir, line, identity);
        let listed = run("state list");
        listed.code(0).says("bad_thing.first").says("bad_thing.second").says("terraform_data.copy");
        let state_show = run("state show bad_thing.first");
        state_show.code(0).says("name").says("Sealed values are not shown").says_not("kind");
        let copied = run("state show terraform_data.copy");
        copied.code(0).says("Sealed values are not shown").says_not("sealed:age:");
        run("show").code(0).says("\"shown\"").says_not("sealed:age:");
        run("graph").code(0).says("bad_thing.first");
        run("providers").code(0).says("formwork/bad");
        run("workspace list").code(0).says("other");
        run("workspace new third").code(0);
        run("workspace select default").code(0);
        run("workspace delete third").code(0);
        for line in ["state pull", "output", "show -json", "state mv bad_thing.first bad_thing.b"] {
            run(line).code(1).says("has no identity").says(RECIPIENT);
        }
    }
    assert_eq!(workdir.read("terraform.tfstate"), before);
}
