//! Values marked as sensitive do not appear in any output of providers, provisioners and functions.

use formwork_tests::fault::Fault;

use crate::harness::{CommandResult, Workdir};

/// A secret with characters that are written in several ways.
const SECRET: &str = "hunter2 \"and\" more";

const CONFIG: &str = r#"
terraform {
  required_providers {
    bad = { source = "formwork/bad" }
  }
}
variable "secret" {
  sensitive = true
}
resource "bad_thing" "a" {
  name  = "a"
  kind  = var.secret
  fault = "FAULT"
}
"#;

/// Runs a command with a provider that quotes the secret in all its messages.
fn run(workdir: &Workdir, command: &str, log: &str) -> CommandResult {
    let command = workdir.formwork(command).env("TF_VAR_secret", SECRET).env("TF_LOG", log);
    command.env("BAD_QUOTES", SECRET).run()
}

#[track_caller]
fn assert_masked(result: &CommandResult) {
    result.says_not("hunter2");
    result.says("(sensitive value)");
}

#[test]
fn provider_messages_with_a_sensitive_value_are_masked_in_every_view() {
    for fault in [
        Fault::ValidateWarning,
        Fault::PlanError,
        Fault::PlanStatus,
        Fault::PlanDies,
        Fault::ApplyRefuses,
        Fault::ApplyErrorPartial,
        Fault::ApplyStatus,
        Fault::ApplyExits,
    ] {
        let workdir = Workdir::new(&CONFIG.replace("FAULT", fault.name()));
        for command in ["apply -auto-approve", "apply -auto-approve -json"] {
            let result = run(&workdir, command, "");
            result.says_not("hunter2");
            let recovered = run(&workdir, "recover list", "");
            recovered.says_not("hunter2");
            run(&workdir, "recover list -json", "").says_not("hunter2");
            if !result.words().contains("interrupted") {
                result.says("(sensitive value)");
            }
        }
    }
}

#[test]
fn the_log_contains_the_lines_of_a_provider_without_sensitive_values() {
    for log in ["trace", "json"] {
        let workdir = Workdir::new(&CONFIG.replace("FAULT", Fault::ApplyExits.name()));
        assert_masked(&run(&workdir, "apply -auto-approve", log));
    }
}

#[test]
fn errors_about_a_stored_object_do_not_reveal_its_secret() {
    let workdir = Workdir::new(&CONFIG.replace("FAULT", ""));
    run(&workdir, "apply -auto-approve", "").code(0).says_not("hunter2");
    // From here on only the state contains the secret.
    workdir.write("main.tf", &CONFIG.replace("var.secret", "\"other\"").replace("FAULT", ""));
    let command = workdir.formwork("plan").env("TF_VAR_secret", "another one");
    let result = command.env("BAD_FAULT", Fault::ReadError.name()).env("BAD_QUOTES", SECRET).run();
    result.code(1);
    assert_masked(&result);
}

#[test]
fn secrets_in_provisioner_output_are_masked() {
    let provisioner = r#"
  provisioner "local-exec" {
    command = "cat told; exit 3"
  }
}
"#;
    let config = CONFIG.replace("\"FAULT\"\n}\n", &format!("\"\"\n{provisioner}"));
    let workdir = Workdir::new(&config);
    workdir.write("told", &format!("it is {SECRET} indeed\n"));
    for view in ["", " -json"] {
        let result = run(&workdir, &format!("apply -auto-approve{view}"), "");
        result.code(1);
        assert_masked(&result);
    }
}

#[test]
fn errors_of_functions_do_not_quote_sensitive_arguments() {
    for call in [
        "tonumber(var.secret)",
        "tobool(var.secret)",
        "jsondecode(var.secret)",
        "yamldecode(\"a: [${var.secret}\")",
        "csvdecode(\"a,b\\n${var.secret},\\\"\")",
        "base64decode(var.secret)",
        "regex(\"(${var.secret}\", \"a\")",
        "file(var.secret)",
        "templatefile(var.secret, {})",
        "formatdate(var.secret, \"2020-01-01T00:00:00Z\")",
        "timeadd(var.secret, \"1h\")",
        "cidrsubnet(var.secret, 1, 2)",
        "parseint(var.secret, 10)",
        "element([], length(var.secret))",
        "{ a = 1 }[var.secret]",
        "lookup({ a = 1 }, var.secret)",
        "tolist(var.secret)",
        "setproduct(var.secret, [])",
        "-var.secret",
        "1 + var.secret",
        "var.secret ? 1 : 2",
        "[for x in var.secret : x]",
        "rsadecrypt(var.secret, var.secret)",
        "base64gunzip(var.secret)",
        "urldecode(\"%zz${var.secret}\")",
        "textdecodebase64(var.secret, \"UTF-8\")",
        "strrev(substr(var.secret, \"x${var.secret}\", 1))",
        "terraform_is_no_function(var.secret)",
        "index([\"a\"], var.secret)",
        "format(\"%d\", var.secret)",
        "one([var.secret, 1])",
        "provider::terraform::decode_tfvars(\"a = ${var.secret} (\")",
    ] {
        let config = format!(
            "terraform {{\n  required_providers {{\n    terraform = {{ source = \"terraform.io/builtin/terraform\" }}\n  }}\n}}\nvariable \"secret\" {{\n  sensitive = true\n}}\noutput \"o\" {{\n  sensitive = true\n  value = {call}\n}}\n"
        );
        let workdir = Workdir::new(&config);
        for view in ["", " -json"] {
            let result = run(&workdir, &format!("plan{view}"), "");
            assert_eq!(result.code, Some(1), "{call}: {}", result.text());
            assert!(!result.text().contains("hunter2"), "{call}: {}", result.text());
        }
    }
}

#[test]
fn addresses_are_shown_without_the_secrets_in_them() {
    // Nothing listens there.
    let addresses = [
        "git::https://topsecret:hunter2@127.0.0.1:1/a.git?sshkey=hunter2",
        "git::ssh://git:hunter2@127.0.0.1:1/a.git?sshkey=hunter2",
        "https://hunter2@127.0.0.1:1/a.zip?X-Amz-Signature=hunter2&token=hunter2",
        "https://127.0.0.1:1/a.zip?sig=hunter2&access_token=hunter2&password=hunter2",
    ];
    for address in addresses {
        let called = format!("module \"a\" {{\n  source = \"{address}\"\n}}\n");
        let workdir = Workdir::new(&called);
        for log in ["", "trace"] {
            for line in ["get", "init", "init -json", "plan", "modules", "validate -json"] {
                let result = workdir.formwork(line).env("TF_LOG", log).run();
                result.code(1).says_not("hunter2").says_not("topsecret");
            }
        }
        let workdir = Workdir::new("");
        for line in ["init", "init -json"] {
            let command = workdir.formwork(line).arg(&format!("-from-module={address}"));
            let result = command.run();
            result.code(1).says("127.0.0.1:1/a").says_not("hunter2").says_not("topsecret");
        }
    }
    for block in ["http", "pg"] {
        let workdir = Workdir::new(&format!("terraform {{\n  backend \"{block}\" {{}}\n}}\n"));
        let options = match block {
            "http" => "address=http://me:hunter2@127.0.0.1:1/x?token=hunter2",
            _ => "conn_str=postgres://me:hunter2@127.0.0.1:1/d?sslmode=disable",
        };
        let init = workdir.formwork("init").arg(&format!("-backend-config={options}"));
        init.run().says_not("hunter2");
        for line in ["plan", "state list", "workspace list", "output"] {
            workdir.formwork(line).env("TF_HTTP_RETRY_MAX", "0").run().code(1).says_not("hunter2");
        }
    }
}
