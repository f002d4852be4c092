//! The two programs under comparison, run as children in a folder of the test's own.
//! Knows nothing of what they print beyond its being JSON.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use serde_json::Value;

/// One of the two programs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Engine {
    Terraform,
    Formwork,
}

/// What a program answered.
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Engine {
    pub(crate) const BOTH: [Self; 2] = [Self::Terraform, Self::Formwork];

    /// Runs the program in `dir` with nothing of the caller's Terraform settings in its
    /// environment but `settings`, a CLI configuration file.
    pub(crate) fn run(self, dir: &Path, settings: Option<&Path>, args: &[&str]) -> Run {
        let mut command = match self {
            Self::Terraform => Command::new("terraform"),
            Self::Formwork => Command::new(formwork()),
        };
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("TF_") {
                command.env_remove(name);
            }
        }
        command.env("CHECKPOINT_DISABLE", "1").env("TF_IN_AUTOMATION", "1");
        // A file that is named but empty keeps the settings of the user's home folder out.
        command.env("TF_CLI_CONFIG_FILE", settings.unwrap_or_else(|| Path::new("/dev/null")));
        let output = command.args(args).current_dir(dir).output().expect("the program starts");
        Run {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Run {
    /// Parses the whole of stdout as one document, or `None` if it is not one.
    pub(crate) fn document(&self) -> Option<Value> {
        serde_json::from_str(&self.stdout).ok()
    }

    /// Parses stdout as one document a line, leaving out lines that are none.
    pub(crate) fn events(&self) -> Vec<Value> {
        self.stdout.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }
}

/// Whether there is a Terraform to compare with. Says so on the real stderr, which the test
/// harness does not capture, when there is none; `interop_runs_in_ci` makes that an error where
/// it matters.
pub(crate) fn terraform_is_here() -> bool {
    static HERE: OnceLock<bool> = OnceLock::new();
    *HERE.get_or_init(|| {
        let here = Command::new("terraform").arg("version").output().is_ok_and(|output| output.status.success());
        if !here {
            let warning = "\n!!! terraform is not on the PATH: the interoperation tests have NOT been run !!!\n\n";
            let _written = std::io::stderr().write_all(warning.as_bytes());
        }
        here
    })
}

/// The folder in which cargo puts the programs of this profile.
pub(crate) fn programs() -> &'static Path {
    static PROGRAMS: OnceLock<PathBuf> = OnceLock::new();
    PROGRAMS.get_or_init(|| {
        let test = std::env::current_exe().expect("a running program has a path");
        // The test program is in `deps`, below the folder of the programs.
        test.ancestors().nth(2).expect("cargo puts test programs two folders deep").to_owned()
    })
}

/// The program under test. It belongs to another package, which `cargo test -p formwork-tests`
/// alone does not build, so it is built here.
fn formwork() -> &'static Path {
    static FORMWORK: OnceLock<PathBuf> = OnceLock::new();
    FORMWORK.get_or_init(|| {
        build(&["--package", "formwork"]);
        programs().join("formwork")
    })
}

fn build(what: &[&str]) {
    let status = Command::new(env!("CARGO"))
        .args(["build", "--quiet"])
        .args(what)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status()
        .expect("cargo runs: it runs this test");
    assert!(status.success(), "cargo build {what:?} failed");
}

#[test]
fn interop_runs_in_ci() {
    let ci = std::env::var_os("CI").is_some_and(|value| value == "true");
    assert!(
        terraform_is_here() || !ci,
        "terraform is missing, and without it the interoperation tests show nothing"
    );
}
