//! Tests with real commands: the shell, its output, its termination.

use std::cell::RefCell;
use std::future::Future;

use formwork_core::provisioner::{Provisioner, ProvisionerError};
use formwork_value::value::{List, Map, Object};
use formwork_value::{Plain, Value};

use super::*;

fn list(items: &[&str]) -> Value {
    Value::List(List::new(Type::String, items.iter().map(|item| Value::string(*item)).collect()))
}

/// A complete block: arguments that are not given are null.
fn block(attributes: &[(&str, Value)]) -> Plain {
    let exec = LocalExec::default();
    let Value::Object(empty) = exec.schema.empty_value() else { panic!("a block is an object") };
    let pairs = empty.iter().map(|(name, null)| {
        let value = attributes
            .iter()
            .find(|(attribute, _)| *name == *attribute)
            .map(|(_, value)| value.clone());
        (name.clone(), value.unwrap_or_else(|| null.clone()))
    });
    Value::Object(Object::new(pairs.collect())).split_marks().0
}

fn task(config: &Plain) -> ProvisionerTask<'_> {
    ProvisionerTask { config, connection: None }
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(work)
}

/// The output of a block, and its result.
fn run(attributes: &[(&str, Value)]) -> (Vec<String>, Result<(), ProvisionerError>) {
    let output = RefCell::new(Vec::new());
    let sink = |text: &str| output.borrow_mut().push(text.to_owned());
    let exec = LocalExec::default();
    let result = block_on(exec.run_task(task(&block(attributes)), &sink));
    (output.into_inner(), result)
}

fn command(text: &str) -> (&'static str, Value) {
    ("command", Value::string(text))
}

#[test]
fn both_outputs_are_reported_line_by_line_in_their_order() {
    let (output, result) = run(&[command("echo one; echo two >&2; printf 'three\\nfour'")]);
    assert_eq!(result, Ok(()));
    let announcement =
        r#"Executing: ["/bin/sh" "-c" "echo one; echo two >&2; printf 'three\\nfour'"]"#;
    assert_eq!(output, [announcement, "one", "two", "three", "four"]);
}

#[test]
fn environment_directory_and_interpreter_are_as_configured() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("here"), "").unwrap();
    let environment =
        Value::Map(Map::new(Type::String, vec![("GREETING".into(), Value::string("hello"))]));
    let (output, result) = run(&[
        command("echo $GREETING; ls; echo $0"),
        ("environment", environment),
        ("working_dir", Value::string(directory.path().to_string_lossy().into_owned())),
        ("interpreter", list(&["/bin/sh", "-c"])),
        ("quiet", Value::Bool(true)),
    ]);
    assert_eq!(result, Ok(()));
    let quiet = "local-exec: Executing: Suppressed by quiet=true";
    assert_eq!(output, [quiet, "hello", "here", "/bin/sh"]);
}

#[test]
fn a_failure_contains_the_status_and_the_last_output() {
    let failure_detail = |text: &str| run(&[command(text)]).1.unwrap_err().detail;
    assert_eq!(
        failure_detail("echo no; exit 3"),
        "Error running command 'echo no; exit 3': exit status 3. Output: no\n"
    );
    assert_eq!(
        failure_detail("kill -9 $$"),
        "Error running command 'kill -9 $$': terminated by signal SIGKILL. Output: "
    );
    let missing = run(&[command("x"), ("interpreter", list(&["/no/such/program"]))]).1.unwrap_err();
    assert!(missing.detail.contains("cannot start \"/no/such/program\""), "{missing}");
    let directory = ("working_dir", Value::string("/no/such/directory"));
    let nowhere = run(&[command("x"), directory]).1.unwrap_err();
    assert!(
        nowhere.detail.contains("cannot change to the working directory /no/such/directory"),
        "{nowhere}"
    );
    // With a sensitive configuration nothing of it is printed.
    for failed in [missing, nowhere] {
        assert!(!failed.bare.contains("/no/such"), "{}", failed.bare);
    }
    let empty = run(&[command("")]).1.unwrap_err();
    assert_eq!(empty.summary.text, "Invalid local-exec provisioner command");
}

#[test]
fn the_end_of_long_output_is_kept() {
    let (output, result) =
        run(&[command("head -c 300000 /dev/zero | tr '\\0' x; echo; echo end; exit 1")]);
    let detail = result.unwrap_err().detail;
    assert!(detail.len() < 10_000 && detail.ends_with("x\nend\n"), "{}", detail.len());
    // An endless line is printed in pieces, and nothing of it is lost.
    assert_eq!(output[1..].iter().map(String::len).sum::<usize>(), 300_003);
}

#[test]
fn a_stopped_command_ends_with_its_child_processes() {
    let output = RefCell::new(Vec::new());
    let exec = LocalExec::default();
    // The first output shows that the process group exists. The stop is requested after it.
    let sink = |text: &str| {
        if text == "started" {
            exec.request_stop();
        }
        output.borrow_mut().push(text.to_owned());
    };
    let config = block(&[command("sleep 1000 & echo started; wait; echo not reached")]);
    let failed = block_on(exec.run_task(task(&config), &sink)).unwrap_err();
    assert!(failed.detail.contains("interrupted"), "{failed}");
    assert_eq!(output.into_inner().last().unwrap(), "started");
}

#[test]
fn an_abandoned_command_is_killed_with_its_child_processes() {
    let directory = tempfile::tempdir().unwrap();
    let fifo = directory.path().join("fifo");
    nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).unwrap();
    // The grandchild keeps the pipe open, so the reader reaches its end when the grandchild has exited.
    let text = format!("sleep 1000 > {0} & exec sleep 1000 > {0}", fifo.display());
    let exec = LocalExec::default();
    block_on(async {
        let config = block(&[command(&text)]);
        let mut work = exec.run_task(task(&config), &|_| {});
        let path = fifo.clone();
        let mut opened = tokio::task::spawn_blocking(move || std::fs::File::open(path).unwrap());
        let mut pipe = tokio::select! {
            _ = &mut work => panic!("it does not end"),
            opened = &mut opened => opened.unwrap(),
        };
        drop(work);
        let read = tokio::task::spawn_blocking(move || {
            std::io::Read::read_to_end(&mut pipe, &mut Vec::new()).unwrap()
        });
        assert_eq!(read.await.unwrap(), 0);
    });
}

#[test]
fn words_are_quoted_as_in_terraform() {
    let command = Command::from_config(
        block(&[command("a\t\"b\"\\ \u{1b}é"), ("interpreter", list(&["x"]))]).value(),
    );
    let announcement = command.unwrap().announcement();
    assert_eq!(announcement, r#"Executing: ["x" "a\t\"b\"\\ \x1bé"]"#);
}
