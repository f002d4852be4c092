//! Questions for variables without a value, at a terminal: their order, the input that is not
//! shown, and the ways to cancel.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::process;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use nix::pty::openpty;
use nix::sys::termios::{LocalFlags, tcgetattr};

use crate::harness::{ObjectStore, Workdir};

const CONFIG: &str = r#"
variable "second" {
  description = "The one that is explained."
}
variable "first" {
  type = number
}
variable "third" {
  sensitive = true
}
output "all" {
  value = "${var.first} ${var.second}"
}
"#;

/// The words before the input of an answer.
const PROMPT_TEXT: &str = "Enter a value:";

/// A command at a terminal of its own, which it is the first to use.
struct Terminal {
    child: process::Child,
    keys: File,
    output_bytes: Receiver<u8>,
    /// Output so far.
    text: String,
}

/// Contents of the screen, and the exit code.
struct FinalScreen {
    text: String,
    code: Option<i32>,
    /// Whether the terminal shows what is typed.
    echoes: bool,
}

impl Terminal {
    fn run(workdir: &Workdir, line: &str) -> Self {
        let pair = openpty(None, None).expect("a terminal");
        let mut command = workdir.formwork(line).into_process();
        // `setsid` makes it the controlling terminal, which Ctrl-C on it requires.
        let program = command.get_program().to_owned();
        let words: Vec<_> = command.get_args().map(ToOwned::to_owned).collect();
        let variables: Vec<_> = command
            .get_envs()
            .filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())))
            .collect();
        let root = command.get_current_dir().expect("a directory").to_owned();
        command = process::Command::new("setsid");
        let end = |fd: &OwnedFd| fd.try_clone().expect("one more end of the terminal");
        command
            .args(["--ctty", "--wait"])
            .arg(program)
            .args(words)
            .env_clear()
            .envs(variables)
            .current_dir(root)
            .stdin(end(&pair.slave))
            .stdout(end(&pair.slave))
            .stderr(pair.slave);
        let child = command.spawn().expect("setsid is on this machine");
        // Only the command has the other ends, so that reading ends with it.
        drop(command);
        let keys = File::from(pair.master);
        let mut screen = keys.try_clone().expect("one more end of the terminal");
        let (sender, receiver) = channel();
        thread::spawn(move || {
            let mut bytes = [0; 512];
            while let Ok(n @ 1..) = screen.read(&mut bytes) {
                bytes[..n].iter().for_each(|byte| {
                    // The receiver is closed at the end of a test.
                    let _ = sender.send(*byte);
                });
            }
        });
        Self { child, keys, output_bytes: receiver, text: String::new() }
    }

    /// Waits for the next question, and types something.
    fn answer(&mut self, keys: &str) {
        let so_far = self.text.matches(PROMPT_TEXT).count();
        while self.text.matches(PROMPT_TEXT).count() == so_far {
            self.read().unwrap_or_else(|| panic!("it asks nothing more:\n{}", self.text));
        }
        self.keys.write_all(keys.as_bytes()).expect("it can be typed");
    }

    fn read(&mut self) -> Option<()> {
        let byte = self.output_bytes.recv_timeout(Duration::from_secs(60)).ok()?;
        self.text.push(byte.into());
        Some(())
    }

    fn finish(mut self) -> FinalScreen {
        while self.read().is_some() {}
        let code = self.child.wait().expect("it ends").code();
        let flags = tcgetattr(&self.keys).expect("the terminal is still there").local_flags;
        let echoes = flags.contains(LocalFlags::ECHO);
        FinalScreen { text: self.text.replace('\r', ""), code, echoes }
    }
}

#[test]
fn prompts_for_variables_are_sorted_by_name_and_hide_secrets() {
    let workdir = Workdir::new(CONFIG);
    let mut terminal = Terminal::run(&workdir, "plan");
    terminal.answer("1\n");
    terminal.answer("two\n");
    terminal.answer("hidden\n");
    let FinalScreen { text, code, echoes } = terminal.finish();
    assert_eq!(code, Some(0), "{text}");
    let prompts = "var.first\n  Enter a value: 1\n\nvar.second\n  The one that is explained.\n\n  Enter a value: two\n\nvar.third\n  Enter a value: \n\n";
    assert!(text.contains(prompts), "{text:?}");
    assert!(text.contains("+ all = \"1 two\""), "{text}");
    assert!(!text.contains("hidden") && echoes, "{text}");
}

#[test]
fn missing_backend_arguments_are_prompted_for_once() {
    let Some(store) = ObjectStore::s3() else { return };
    store.make_bucket("asked");
    let url = &store.url;
    let workdir = Workdir::new(&format!(
        "terraform {{\n  backend \"s3\" {{\n    region = \"us-east-1\"\n    access_key = \"AKIAEXAMPLE\"\n    secret_key = \"secret\"\n    use_path_style = true\n    skip_credentials_validation = true\n    skip_requesting_account_id = true\n    skip_metadata_api_check = true\n    endpoints = {{ s3 = \"{url}\" }}\n  }}\n}}\n"
    ));
    let refused = workdir.formwork("init -input=false").run();
    refused.code(1).says("the attributes \"bucket\" and \"key\" are required by the backend");
    let mut terminal = Terminal::run(&workdir, "init");
    terminal.answer("asked\n");
    terminal.answer("app.tfstate\n");
    let FinalScreen { text, code, .. } = terminal.finish();
    assert_eq!(code, Some(0), "{text}");
    assert!(
        text.contains("bucket\n  The name of the S3 bucket\n\n  Enter a value: asked"),
        "{text}"
    );
    // The answers are in force from now on.
    workdir.formwork("init").succeed().says_not("Enter a value:");
    workdir.formwork("plan -input=false").succeed();
}

#[test]
fn an_invalid_answer_to_a_prompt_ends_the_command() {
    let workdir = Workdir::new(CONFIG);
    let mut terminal = Terminal::run(&workdir, "plan");
    terminal.answer("many\n");
    terminal.answer("two\n");
    terminal.answer("hidden\n");
    let FinalScreen { text, code, .. } = terminal.finish();
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("Invalid value for input variable"), "{text}");
    let words: Vec<&str> = text.split_whitespace().collect();
    assert!(
        words.join(" ").contains("set using an interactive prompt: a number is required"),
        "{text}"
    );
    assert!(!text.contains("hidden"), "{text}");
}

#[test]
fn a_user_can_cancel_a_prompt() {
    // Control-C, and Control-D, at the second question and at the one for a secret.
    for key in ["\u{3}", "\u{4}"] {
        for answers in [&["1\n"][..], &["1\n", "two\n"]] {
            let workdir = Workdir::new(CONFIG);
            let mut terminal = Terminal::run(&workdir, "apply");
            answers.iter().for_each(|answer| terminal.answer(answer));
            terminal.answer(key);
            let FinalScreen { text, code, echoes } = terminal.finish();
            assert_eq!(code, Some(1), "{key:?} {text}");
            // Before the terminal is configured for the answer, Control-C is a signal.
            let got_away = ["No value for required variable", "Interrupt received"];
            assert!(got_away.iter().any(|words| text.contains(words)), "{key:?} {text}");
            assert_eq!(text.matches(PROMPT_TEXT).count(), answers.len() + 1, "{key:?} {text}");
            assert!(echoes, "the terminal shows what is typed again: {text}");
        }
    }
}

#[test]
fn commands_without_input_do_not_prompt() {
    for line in ["plan -input=false", "plan -json"] {
        let workdir = Workdir::new(CONFIG);
        let FinalScreen { text, code, .. } = Terminal::run(&workdir, line).finish();
        assert_eq!(code, Some(1), "{text}");
        assert_eq!(text.matches("No value for required variable").count() % 3, 0, "{text}");
        assert!(!text.contains(PROMPT_TEXT), "{text}");
    }
}
