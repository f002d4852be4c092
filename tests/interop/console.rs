//! `console` fed by a pipe, with both programs: the same lines on stdout, and the same end.

use std::path::Path;

use super::engine::{Engine, terraform_is_installed};

const CONFIGURATION: &str = r#"
variable "unset" { type = number }

variable "secret" {
  default   = "s3cret"
  sensitive = true
}

locals {
  list   = [1, "a", null]
  nested = { "b c" = ["x"], a = { n = 1.50 } }
}

resource "terraform_data" "one" {
  input = "in"
}

resource "terraform_data" "two" {
  count = 2
  input = "y${count.index}"
}

resource "terraform_data" "keyed" {
  for_each = toset(["a", "b"])
  input    = each.key
}

module "child" {
  source = "./child"
  name   = "x"
}

output "o" {
  value = terraform_data.one.output
}
"#;

const CHILD: &str = r#"
variable "name" {}

resource "terraform_data" "inner" {
  input = var.name
}

output "upper" {
  value = upper(var.name)
}

output "later" {
  value = terraform_data.inner.output
}
"#;

/// Inputs, in one go each.
const TYPED: [&str; 65] = [
    "local.list\n",
    "local.nested\n",
    "local.nested.a.n\n",
    "var.unset\n",
    "var.unset + 1\n",
    "type(var.unset)\n",
    "var.secret\n",
    "[var.secret]\n",
    "nonsensitive(var.secret)\n",
    "terraform_data.one\n",
    "terraform_data.one.input\n",
    "terraform_data.one.id == \"\"\n",
    "terraform_data.two\n",
    "terraform_data.two[*].output\n",
    "terraform_data.two[1].output\n",
    "terraform_data.two[2]\n",
    "terraform_data.two[0.5]\n",
    "terraform_data.two[1e30]\n",
    "terraform_data.keyed\n",
    "terraform_data.keyed[\"a\"].output\n",
    "keys(terraform_data.keyed)\n",
    "module.child\n",
    "module.child.upper\n",
    "module.child.later\n",
    "local.bad\n",
    "local.after\n",
    "[local.bad, 1]\n",
    "1\n2\n",
    "1\n\n",
    "\n",
    "",
    "exit\n",
    "1\nexit\n2\n",
    "exit \n",
    "# only a comment\n",
    "1 # with a comment\n",
    "1 /* within */ + 2\n",
    "[\n1,\n2]\n",
    "1 +\n2\n",
    "1\nnope\n3\n",
    "  1  \n",
    "no newline",
    "1",
    "type(local.nested)\n",
    "type(tolist([{ a = [1] }]))\n",
    "type(toset([[1]]))\n",
    "type(tomap({ a = tolist([]) }))\n",
    "(type(1))\n",
    "type(type(1))\n",
    "[type(1)]\n",
    "type()\n",
    "type(1, 2)\n",
    "type(nope)\n",
    "plantimestamp()\n",
    "timestamp() == \"\"\n",
    "terraform.workspace\n",
    "path.root\n",
    "path.module\n",
    "self\n",
    "each.key\n",
    "output.o\n",
    "\"a${1}b\"\n",
    "<<EOT\nx\nEOT\n",
    "\"unclosed\n",
    "can(var.nope)\n",
];

/// Inputs with an invalid local value in the configuration. The error is printed first. No input depends
/// on that value, because Terraform crashes then.
const TYPED_BESIDE_A_MISTAKE: [&str; 2] = ["local.bad\n", "local.list[0]\n"];
const MISTAKE: &str = "locals {\n  bad = upper([])\n  after = local.bad\n}\n";

/// Inputs for a console with a plan.
const TYPED_AFTER_PLANNING: [&str; 4] =
    ["terraform_data.one.output\n", "terraform_data.two\n", "module.child\n", "var.unset\n"];

#[test]
fn a_piped_console_prints_the_same_results() {
    if !terraform_is_installed() {
        return;
    }
    let dir = tempfile::tempdir().expect("a directory");
    let dir = dir.path();
    let write =
        |name: &str, text: &str| std::fs::write(dir.join(name), text).expect("this test owns it");
    std::fs::create_dir(dir.join("child")).expect("this test owns it");
    write("child/main.tf", CHILD);
    write("main.tf", CONFIGURATION);
    let terraform = Engine::Terraform;
    assert_eq!(terraform.run(dir, None, &["init"]).code, Some(0));
    let applied = terraform.run(dir, None, &["apply", "-auto-approve", "-var", "unset=1"]);
    assert_eq!(applied.code, Some(0), "{}", applied.stderr);
    let mut report = String::new();
    for typed in TYPED {
        compare(dir, &["console"], typed, &mut report);
    }
    compare(dir, &["console"], b"1\n\"\xff\"\n2\n", &mut report);
    write("main.tf", &CONFIGURATION.replace("\"in\"", "\"other\""));
    for typed in TYPED_AFTER_PLANNING {
        compare(dir, &["console", "-plan", "-var", "unset=7"], typed, &mut report);
    }
    write("mistake.tf", MISTAKE);
    for typed in TYPED_BESIDE_A_MISTAKE {
        compare(dir, &["console"], typed, &mut report);
    }
    assert!(report.is_empty(), "\n{report}");
}

fn compare(dir: &Path, args: &[&str], input: impl AsRef<[u8]>, report: &mut String) {
    let input = input.as_ref();
    let runs = Engine::BOTH.map(|engine| engine.run_with_stdin(dir, args, input));
    // Each program prints a warning on stdout in its own way, before the result.
    let [theirs, ours] = runs.map(|run| {
        let result = run.stdout.rsplit("unexpected results.").next().unwrap_or_default().to_owned();
        let result = result.rsplit("\u{1b}[0m\n").next().unwrap_or_default().to_owned();
        (result.trim_start().to_owned(), run.code, run.stderr)
    });
    if (&theirs.0, theirs.1) != (&ours.0, ours.1) {
        report.push_str(&format!(
            "{args:?} {}\n  should be {theirs:?}\n  is        {ours:?}\n",
            String::from_utf8_lossy(input)
        ));
    }
}
