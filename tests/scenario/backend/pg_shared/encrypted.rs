//! Several applies to one encrypted state in PostgreSQL: those to a sealed state run concurrently,
//! with a history, and no table has the secret. A state that is encrypted as a whole is changed by one
//! run at a time.

use std::fs;

use nix::sys::stat::Mode;

use super::{history, resources, start_apply};
use crate::harness::{Postgres, Workdir};
use crate::scenario::encryption::{ENCRYPTION, SECRET};
use crate::scenario::sealed::{IDENTITY, RECIPIENT, encryption};

/// Objects with the secret: one that is marked, a copy without a mark, and an output.
const SECRETS: &str = r#"
variable "secret" {
  sensitive = true
}
resource "terraform_data" "marked" {
  input = var.secret
}
resource "terraform_data" "copy" {
  input = "copy of ${nonsensitive(var.secret)}"
}
output "o" {
  value     = var.secret
  sensitive = true
}
"#;

/// An object that is created until a line comes.
const SLOW: &str = r#"
resource "terraform_data" "slow" {
  input = var.secret
  provisioner "local-exec" {
    command = "echo begun; read line < pipe"
  }
}
"#;

/// A directory with these variables, set up.
fn directory(config: &str, variables: &[(&str, &str)]) -> Workdir {
    let variables = variables.iter().map(|(name, value)| format!("{name}={value}\n"));
    let environment: String = variables.collect();
    let workdir = Workdir::new(&format!("{config}\n//- environment\n{environment}"));
    workdir.formwork("init").succeed();
    workdir
}

/// Fails if a table is empty, or has the secret in any form.
fn check_tables(server: &Postgres) {
    server.execute(&format!(
        r"DO $$
        DECLARE own record; n bigint;
        BEGIN
          FOR own IN SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'terraform_remote_state' LOOP
            EXECUTE format('SELECT count(*) FROM terraform_remote_state.%I', own.name) INTO n;
            IF n = 0 THEN RAISE EXCEPTION '% is empty', own.name; END IF;
            EXECUTE format('SELECT count(*) FROM terraform_remote_state.%I it WHERE strpos(it::text, $1) + strpos(it::text, encode($1::bytea, ''hex'')) + strpos(it::text, encode($1::bytea, ''base64'')) > 0', own.name) INTO n USING '{SECRET}';
            IF n > 0 THEN RAISE EXCEPTION '% has the secret', own.name; END IF;
          END LOOP;
        END $$"
    ));
}

#[test]
fn concurrent_applies_to_a_sealed_state_store_no_secret_in_a_table() {
    let Some(server) = Postgres::start() else { return };
    let config = |b: u32, more: &str| {
        let blocks = resources(&[("b", b)]) + SECRETS + &encryption(&[RECIPIENT], "") + more;
        server.config(&blocks)
    };
    let variables = [("FORMWORK_AGE_IDENTITY", IDENTITY), ("TF_VAR_secret", SECRET)];
    let [first, second] = [0; 2].map(|_| directory(&config(1, ""), &variables));
    first.formwork("apply -auto-approve").succeed();
    let created = history(&first).last().expect("it was written")["serial"].clone();

    // The first run has claims and a journal while the second one begins and ends.
    first.write("main.tf", &config(1, SLOW));
    let pipe = first.root().join("pipe");
    nix::unistd::mkfifo(&pipe, Mode::S_IRWXU).expect("a pipe");
    let running = first.formwork("apply -auto-approve -target=terraform_data.slow").start();
    running.wait_for_output("begun");
    second.write("main.tf", &config(2, SLOW));
    let changed = second.formwork("apply -auto-approve -target=terraform_data.b").succeed();
    changed.says("0 added, 1 changed, 0 destroyed");
    let refused = second.formwork("apply -auto-approve -target=terraform_data.slow").run();
    refused
        .code(1)
        .says("Another run is changing the same objects")
        .says("terraform_data.slow: by ");
    check_tables(&server);
    fs::write(&pipe, "\n").expect("it reads");
    running.wait().code(0).says("1 added, 0 changed, 0 destroyed");
    second.formwork("plan -detailed-exitcode").run().code(0).says("No changes");

    let log = second.formwork("state log").env("FORMWORK_AGE_IDENTITY", "").succeed();
    log.says("+ output.o").says("~ terraform_data.b").says("+ terraform_data.slow");
    let show_at = |serial: &str, name: &str, identity: &str| {
        let command = second.formwork(&format!("state show -at={serial} {name}"));
        command.env("FORMWORK_AGE_IDENTITY", identity).succeed()
    };
    let (before, now) = (created.to_string(), "999999");
    for identity in [IDENTITY, ""] {
        show_at(&before, "terraform_data.b", identity).says("= 1");
        show_at(&before, "output.o", identity).says("o = <sensitive>");
    }
    // The copy has no mark: it is shown only with an identity.
    show_at(&before, "terraform_data.copy", IDENTITY).says(&format!("copy of {SECRET}"));
    for name in ["copy", "marked"] {
        let hidden = show_at(&before, &format!("terraform_data.{name}"), "");
        hidden.says("Sealed values are not shown").says_not(SECRET);
    }
    let ahead = second.formwork(&format!("state show -at={now} terraform_data.b")).run();
    ahead.code(1).says("The latest write of the state");
}

#[test]
fn a_wholly_encrypted_state_is_changed_by_one_run_at_a_time() {
    let Some(server) = Postgres::start() else { return };
    let config = server.config(&(resources(&[("a", 1), ("b", 1)]) + ENCRYPTION));
    let variables = [("TF_VAR_passphrase", "correct horse battery")];
    let [first, second] = [0; 2].map(|_| directory(&config, &variables));
    first.formwork("apply -auto-approve").succeed();
    let mut running = start_apply(&first, "-replace=terraform_data.a");
    let other_apply = "apply -auto-approve -replace=terraform_data.b -target=terraform_data.b";
    let refused = second.formwork(other_apply).run();
    refused.code(1).says("Error acquiring the state lock").says("encrypted as a whole");
    running.answer("yes\n");
    running.wait().code(0);
    second.formwork(other_apply).succeed();
    let log = second.formwork("state log").run();
    log.code(1).says("No history of the state").says("encrypted as a whole");
}
