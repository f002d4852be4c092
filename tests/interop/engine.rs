//! The two programs under comparison, run as children in a directory of the test's own.
//! Does not interpret their output, except that it is JSON.

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::sync::OnceLock;

use serde_json::Value;

use crate::harness::{built, terraform};

/// One of the two programs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Engine {
    Terraform,
    Formwork,
}

/// Result of a run of a program.
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
        self.run_with(dir, settings, &[], args)
    }

    /// The same, with more in its environment.
    pub(crate) fn run_with(
        self,
        dir: &Path,
        settings: Option<&Path>,
        env: &[(String, String)],
        args: &[&str],
    ) -> Run {
        let mut command = self.command(dir, settings, args);
        command.envs(env.iter().map(|(name, value)| (name, value)));
        let output = command.output().expect("the program starts");
        self.result_of(&output)
    }

    /// Runs the program with this as its whole input.
    pub(crate) fn run_with_stdin(self, dir: &Path, args: &[&str], text: &[u8]) -> Run {
        let mut command = self.command(dir, None, args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let mut stdin = child.stdin.take().expect("stdin is a pipe");
        // It may end before it has read everything.
        let _gone = stdin.write_all(text);
        drop(stdin);
        let output = child.wait_with_output().expect("it is a child");
        self.result_of(&output)
    }

    /// The result, without the codes of diagnostics: Terraform has none.
    fn result_of(self, output: &Output) -> Run {
        let text = |bytes: &[u8]| {
            let text = String::from_utf8_lossy(bytes);
            if self == Self::Formwork { without_codes(&text) } else { text.into_owned() }
        };
        Run {
            code: output.status.code(),
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
        }
    }

    /// Starts the program with its input and output in the hands of the caller.
    pub(crate) fn start_prompting(self, dir: &Path, args: &[&str]) -> PromptingProcess {
        let mut command = self.command(dir, None, args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let stdout = child.stdout.take().expect("stdout is a pipe");
        PromptingProcess { child, stdout }
    }

    fn command(self, dir: &Path, settings: Option<&Path>, args: &[&str]) -> Command {
        let mut command = match self {
            Self::Terraform => Command::new("terraform"),
            Self::Formwork => Command::new(built("formwork")),
        };
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("TF_") {
                command.env_remove(name);
            }
        }
        command.env("CHECKPOINT_DISABLE", "1").env("TF_IN_AUTOMATION", "1");
        // A file that is named but empty keeps the settings of the user's home directory out.
        command.env("TF_CLI_CONFIG_FILE", settings.unwrap_or_else(|| Path::new("/dev/null")));
        command.args(args).current_dir(dir);
        command
    }
}

/// Removes the lines about codes of diagnostics from an output without colors, each with the empty line
/// before it.
fn without_codes(text: &str) -> String {
    let mut lines: Vec<&str> = Vec::new();
    for line in text.split_inclusive('\n') {
        let plain = line.trim_start_matches("│ ").trim_end();
        let is_about_codes = plain.starts_with("Code: FW") || plain.starts_with(EXPLAINED);
        if !is_about_codes {
            lines.push(line);
        } else if lines.last().is_some_and(|line| line.trim_matches(['│', ' ', '\n']).is_empty())
        {
            lines.pop();
        }
    }
    lines.concat()
}

/// The begin of the line that names the command about codes.
const EXPLAINED: &str = "For the cause and remedy of an error, run:";

/// A program that waits for an answer.
pub(crate) struct PromptingProcess {
    child: Child,
    stdout: ChildStdout,
}

impl PromptingProcess {
    /// Reads until the program has printed `text`.
    pub(crate) fn wait_for(&mut self, text: &str) {
        let mut output = Vec::new();
        let mut byte = [0];
        while !output.ends_with(text.as_bytes()) {
            let n = self.stdout.read(&mut byte).expect("a pipe can be read");
            assert!(n > 0, "ended without {text:?}: {}", String::from_utf8_lossy(&output));
            output.push(byte[0]);
        }
    }

    /// Answers, and waits until the program ends well.
    pub(crate) fn answer(mut self, text: &str) {
        let mut stdin = self.child.stdin.take().expect("stdin is a pipe");
        stdin.write_all(text.as_bytes()).expect("a pipe can be written");
        drop(stdin);
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).expect("a pipe can be read");
        assert!(self.child.wait().expect("it is a child").success(), "{rest}");
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
pub(crate) fn terraform_is_installed() -> bool {
    static IS_INSTALLED: OnceLock<bool> = OnceLock::new();
    *IS_INSTALLED.get_or_init(|| {
        let is_installed = terraform().is_some();
        if !is_installed {
            let warning = "\n!!! terraform is not on the PATH: the interoperation tests have NOT been run !!!\n\n";
            let _written = std::io::stderr().write_all(warning.as_bytes());
        }
        is_installed
    })
}

#[test]
fn interop_runs_in_ci() {
    let ci = std::env::var_os("CI").is_some_and(|value| value == "true");
    assert!(
        terraform_is_installed() || !ci,
        "terraform is missing, and without it the interoperation tests show nothing"
    );
}

#[test]
fn codes_of_diagnostics_are_not_compared() {
    let text = "\nError: A\n\nB\n\nCode: FW1001\n\nFor the cause and remedy of an error, run: formwork explain FW1001\n";
    assert_eq!(without_codes(text), "\nError: A\n\nB\n");
    assert_eq!(without_codes("│ B\n│ \n│ Code: FW1001\n╵\n"), "│ B\n╵\n");
    assert_eq!(without_codes("Code: 7\n"), "Code: 7\n");
}
