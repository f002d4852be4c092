//! Commands in directories with broken configurations: both programs end with the same exit code, and
//! report errors with the same summaries.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use super::engine::{Engine, Run, terraform_is_installed};

/// The commands, as they are typed.
const COMMANDS: [&str; 43] = [
    "apply -input=false -auto-approve",
    "console",
    "destroy -input=false -auto-approve",
    "fmt",
    "fmt -check",
    "force-unlock -force x",
    "get",
    "graph",
    "graph -type=apply",
    "graph -type=plan",
    "graph -type=validate",
    "import -input=false terraform_data.q q",
    "init",
    "init -backend=false",
    "metadata functions -json",
    "modules -json",
    "output",
    "output -json",
    "output -no-color o",
    "plan -input=false",
    "providers",
    "providers lock",
    "providers schema -json",
    "refresh -input=false",
    "show",
    "show -json",
    "state list",
    "state mv terraform_data.a terraform_data.q",
    "state pull",
    "state push new.tfstate",
    "state replace-provider -auto-approve hashicorp/a hashicorp/b",
    "state rm terraform_data.a",
    "state show terraform_data.a",
    "taint terraform_data.a",
    "untaint terraform_data.a",
    "validate",
    "version",
    "version -json",
    "workspace delete w",
    "workspace list",
    "workspace new w",
    "workspace select default",
    "workspace show",
];

/// A valid part, which the state matches.
const VALID: &str = r#"
resource "terraform_data" "a" {
}
output "o" {
  value = "x"
}
"#;

/// The part of a configuration with a lock file that cannot be read.
const BROKEN_LOCK: &str = "# beside a broken lock file\n";

/// Configurations by name: the part after the valid one.
const CONFIGURATIONS: [(&str, &str); 40] = [
    ("valid", ""),
    ("syntax", "locals {\n  a = 1 +\n}\n"),
    ("syntax_in_label", "resource terraform_data \"b\" {\n"),
    (
        "undeclared_variable",
        "locals {\n  a = var.nothing\n}\noutput \"p\" {\n  value = local.a\n}\n",
    ),
    ("undeclared_resource", "output \"p\" {\n  value = terraform_data.zzz.id\n}\n"),
    ("undeclared_local", "resource \"terraform_data\" \"b\" {\n  input = local.zz\n}\n"),
    (
        "undeclared_in_depends_on",
        "resource \"terraform_data\" \"b\" {\n  depends_on = [terraform_data.zz]\n}\n",
    ),
    ("unsupported_argument", "resource \"terraform_data\" \"b\" {\n  nope = 1\n}\n"),
    ("unsupported_block", "resource \"terraform_data\" \"b\" {\n  nope {}\n}\n"),
    ("unsupported_at_the_top", "nonsense \"x\" {\n}\n"),
    ("required_version", "terraform {\n  required_version = \"> 99\"\n}\n"),
    ("required_version_of_module", "module \"m\" {\n  source = \"./future\"\n}\n"),
    ("invalid_required_version", "terraform {\n  required_version = \"what\"\n}\n"),
    ("missing_module", "module \"m\" {\n  source = \"./nowhere\"\n}\n"),
    ("module_not_installed", "module \"m\" {\n  source = \"./m\"\n}\n"),
    ("duplicate_resource", "resource \"terraform_data\" \"a\" {\n}\n"),
    (
        "duplicate_variable",
        "variable \"a\" {\n  default = 1\n}\nvariable \"a\" {\n  default = 1\n}\n",
    ),
    ("unknown_backend", "terraform {\n  backend \"nothing\" {\n  }\n}\n"),
    (
        "backend_not_initialized",
        "terraform {\n  backend \"local\" {\n    path = \"x.tfstate\"\n  }\n}\n",
    ),
    ("backend_argument", "terraform {\n  backend \"local\" {\n    nope = \"x.tfstate\"\n  }\n}\n"),
    ("two_backends", "terraform {\n  backend \"local\" {\n  }\n  backend \"local\" {\n  }\n}\n"),
    (
        "missing_variable",
        "variable \"v\" {\n}\nresource \"terraform_data\" \"b\" {\n  input = var.v\n}\n",
    ),
    ("invalid_default", "variable \"v\" {\n  type    = number\n  default = \"x\"\n}\n"),
    (
        "invalid_provider_source",
        "terraform {\n  required_providers {\n    x = { source = \"a/b/c/d\" }\n  }\n}\n",
    ),
    ("cycle_of_locals", "locals {\n  a = local.b\n  b = local.a\n}\n"),
    (
        "cycle_of_resources",
        "resource \"terraform_data\" \"b\" {\n  input = terraform_data.c.id\n}\nresource \"terraform_data\" \"c\" {\n  input = terraform_data.b.id\n}\n",
    ),
    ("count_of_wrong_type", "resource \"terraform_data\" \"b\" {\n  count = \"x\"\n}\n"),
    ("unknown_function", "locals {\n  f = nope(1)\n}\noutput \"f\" {\n  value = local.f\n}\n"),
    (
        "unknown_provider_function",
        "locals {\n  f = provider::x::nope(1)\n}\noutput \"f\" {\n  value = local.f\n}\n",
    ),
    ("misplaced_self", "output \"f\" {\n  value = self.x\n}\n"),
    ("unknown_experiment", "terraform {\n  experiments = [nope]\n}\n"),
    ("error_of_evaluation", "resource \"terraform_data\" \"b\" {\n  input = [1][4]\n}\n"),
    ("undeclared_import", "import {\n  to = terraform_data.zz\n  id = \"x\"\n}\n"),
    ("moved_to_itself", "moved {\n  from = terraform_data.a\n  to   = terraform_data.a\n}\n"),
    ("empty_check", "check \"c\" {\n}\n"),
    ("unsupported_argument_of_module", "module \"i\" {\n  source = \"./m\"\n  nope   = 1\n}\n"),
    ("version_of_local_module", "module \"i\" {\n  source  = \"./m\"\n  version = \"1\"\n}\n"),
    ("broken_lock_file", BROKEN_LOCK),
    (
        "provider_of_another_type",
        "module \"i\" {\n  source    = \"./m\"\n  providers = { other = terraform }\n}\n",
    ),
    ("unsupported_argument_of_provider", "provider \"terraform\" {\n  x = 1\n}\n"),
];

/// Differences on purpose: a configuration or `*`, the beginning of the command, and the reason.
const EXPECTED_DIFFERENCES: [(&str, &str, &str); 1] = [(
    "backend_not_initialized",
    "init",
    "a question without an answer is an error of Terraform's alone",
)];

/// The summary under which Terraform repeats all errors of `init`.
const HEADER: &str = "Terraform encountered problems during initialisation, including problems";

/// The beginning of the summary under which Terraform lists all errors of a lock file.
const LOCK_HEADER: &str = "failed to read dependency lock file: ";

#[test]
fn commands_judge_broken_configurations_alike() {
    if !terraform_is_installed() {
        return;
    }
    let filter = std::env::var("INTEROP_CASE").unwrap_or_default();
    let all = CONFIGURATIONS
        .iter()
        .flat_map(|configuration| COMMANDS.iter().map(move |command| (configuration, *command)));
    let all: Vec<_> =
        all.filter(|((name, _), command)| format!("{name}: {command}").contains(&filter)).collect();
    let (next, differing) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) + 1 {
            scope.spawn(|| {
                while let Some(((name, text), command)) =
                    all.get(next.fetch_add(1, Ordering::Relaxed))
                {
                    let [theirs, ours] = Engine::BOTH.map(|engine| judge(engine, text, command));
                    if !agree(&theirs, &ours) {
                        differing
                            .lock()
                            .unwrap()
                            .insert(format!("{name}: {command}"), (theirs, ours));
                    }
                }
            });
        }
    });
    let mut report = String::new();
    for (case, (theirs, ours)) in differing.into_inner().unwrap() {
        let is_expected = |(name, command, _): &(&str, &str, &str)| {
            let (configuration, command_line) =
                case.split_once(": ").expect("it was put together so");
            (*name == "*" || *name == configuration) && command_line.starts_with(command)
        };
        if !EXPECTED_DIFFERENCES.iter().any(is_expected) {
            report.push_str(&format!("{case}\n  should be {theirs:?}\n  is        {ours:?}\n"));
        }
    }
    println!("broken configurations: {} commands compared", all.len());
    assert!(report.is_empty(), "\n{report}");
}

/// The exit code and the summaries of errors.
type Judgement = (Option<i32>, BTreeSet<String>);

/// Some errors of Terraform have no summary.
fn agree(theirs: &Judgement, ours: &Judgement) -> bool {
    theirs.0 == ours.0 && (theirs.1 == ours.1 || theirs.0 == Some(1) && theirs.1.is_empty())
}

/// Runs a command in a directory of its own.
fn judge(engine: Engine, text: &str, command: &str) -> Judgement {
    let directory = tempfile::tempdir().unwrap();
    prepare(directory.path(), text);
    let args: Vec<&str> = command.split(' ').collect();
    let run = match command {
        "console" => engine.run_with_stdin(directory.path(), &args, b"1 + 1\n"),
        _ => engine.run(directory.path(), None, &args),
    };
    // The errors of a configuration are warnings of `get`.
    let word = if command == "get" { "Warning: " } else { "Error: " };
    (run.code, summaries(&run, word).into_iter().chain(summaries(&run, "Error: ")).collect())
}

fn prepare(directory: &Path, text: &str) {
    let write = |name: &str, text: &str| {
        let path = directory.join(name);
        std::fs::create_dir_all(path.parent().expect("it is in the directory")).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("main.tf", &format!("{VALID}{text}"));
    write("m/main.tf", "output \"x\" {\n  value = 1\n}\n");
    write("future/main.tf", "terraform {\n  required_version = \"> 99\"\n}\n");
    let installed = [("", "", "."), ("i", "./m", "m"), ("m", "./future", "future")];
    let is_installed = |(key, source, _): &&(&str, &str, &str)| {
        key.is_empty()
            || text.contains(&format!("\"{key}\"")) && text.contains(&format!("\"{source}\""))
    };
    let modules: Vec<Value> = installed
        .iter()
        .filter(is_installed)
        .map(|(key, source, dir)| json!({"Key": key, "Source": source, "Dir": dir}))
        .collect();
    if modules.len() > 1 {
        write(".terraform/modules/modules.json", &json!({"Modules": modules}).to_string());
    }
    if text == BROKEN_LOCK {
        write(".terraform.lock.hcl", "]\n");
    }
    for (name, serial) in [("terraform.tfstate", 3), ("new.tfstate", 4)] {
        write(name, &state(serial));
    }
}

fn state(serial: u64) -> String {
    let attributes = json!({"id": "A", "input": null, "output": null, "triggers_replace": null});
    json!({
        "version": 4, "terraform_version": "1.11.4", "serial": serial, "lineage": "L",
        "outputs": {"o": {"value": "x", "type": "string"}},
        "resources": [{
            "mode": "managed", "type": "terraform_data", "name": "a",
            "provider": "provider[\"terraform.io/builtin/terraform\"]",
            "instances": [{"schema_version": 0, "attributes": attributes, "sensitive_attributes": []}],
        }],
        "check_results": null,
    })
    .to_string()
}

/// The summaries of the errors or warnings that a run printed.
fn summaries(run: &Run, prefix: &str) -> BTreeSet<String> {
    let text = format!("{}\n{}", run.stdout, run.stderr);
    let plain = text.split('\u{1b}').enumerate().map(|(index, part)| match index {
        0 => part,
        _ => part.split_once('m').map_or(part, |(_, rest)| rest),
    });
    let plain: String = plain.collect();
    let lines = plain.lines().map(|line| line.trim_start_matches(['│', ' ']));
    let errors = lines.filter_map(|line| line.strip_prefix(prefix));
    let errors = errors.filter(|it| *it != HEADER && !it.starts_with(LOCK_HEADER));
    errors
        .map(|summary| match summary.split_once(": ") {
            // The members of a cycle are listed in no particular order.
            Some(("Cycle", _)) => "Cycle".to_owned(),
            _ => summary.replace("terraform ", "formwork ").replace("Terraform ", "Formwork "),
        })
        .collect()
}
