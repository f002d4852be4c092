//! Signals in the phases in which no provider is at work. `fault` and `crash` test signals while
//! one is.

use std::net::TcpListener;
use std::process::Stdio;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::harness::{Workdir, instances, wait_until_process_is_idle};

/// After how long a command counts as one that continues.
const FOREVER: Duration = Duration::from_secs(60);

const SIGNALS: [Signal; 3] = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP];

#[test]
fn an_installation_that_is_interrupted_changes_no_lock_file_and_can_be_repeated() {
    for signal in SIGNALS {
        let server = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let port = server.local_addr().expect("it has an address").port();
        let (called, calls) = mpsc::channel();
        // It takes the call and does not answer.
        thread::spawn(move || called.send(server.accept()));

        let null = "resource \"null_resource\" \"a\" {}\n";
        let workdir = Workdir::new(null);
        workdir.formwork("init").succeed();
        let before = workdir.read(".terraform.lock.hcl");
        assert!(before.contains("hashicorp/null"), "{before}");
        let module = format!("module \"m\" {{\n  source = \"http://127.0.0.1:{port}/m.zip\"\n}}\n");
        workdir.write("main.tf", &format!("{null}{module}resource \"random_id\" \"b\" {{}}\n"));
        let running = workdir.formwork("init").start();
        let _silent = calls.recv_timeout(Duration::from_secs(60)).expect("it calls");
        running.signal(signal);
        running.wait().code(1).says("Interrupt received");
        assert_eq!(workdir.read(".terraform.lock.hcl"), before);
        assert!(!workdir.read(".terraform/modules/modules.json").contains("\"m\""));
        workdir.write("main.tf", null);
        workdir.formwork("init").succeed();
        assert_eq!(workdir.read(".terraform.lock.hcl"), before);
    }
}

#[test]
fn git_ends_with_the_command_that_fetches_a_repository() {
    for signal in SIGNALS {
        let server = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let port = server.local_addr().expect("it has an address").port();
        let (called, calls) = mpsc::channel();
        thread::spawn(move || called.send(server.accept()));
        let workdir = Workdir::new(&format!(
            "module \"m\" {{\n  source = \"git::http://127.0.0.1:{port}/m.git\"\n}}\n"
        ));
        let running = workdir.formwork("init").start();
        let call = calls.recv_timeout(Duration::from_secs(60)).expect("git calls");
        let (mut call, _) = call.expect("a connection");
        running.signal(signal);
        running.wait().code(1).says("Interrupt received");
        // The end of the stream follows git's data. A living git would wait for an answer for ever.
        call.set_read_timeout(Some(Duration::from_secs(30))).expect("a socket can");
        let read = std::io::Read::read_to_end(&mut call, &mut Vec::new());
        assert!(read.is_ok(), "git lives on: {read:?}");
    }
}

#[test]
fn a_command_that_waits_for_a_lock_ends_immediately() {
    let workdir = Workdir::new("resource \"terraform_data\" \"a\" {}\n");
    let mut holder = workdir.formwork("apply").with_open_stdin().start();
    holder.wait_for_output("Only 'yes' will be accepted");
    for signal in SIGNALS {
        let waiting = workdir.formwork("plan -lock-timeout=10m").start();
        // Nothing is printed while it waits, so it has read everything at this point.
        waiting.wait_until_idle();
        waiting.signal(signal);
        waiting.wait_with_short_timeout().code(1).says("Interrupt received");
    }
    holder.answer("yes\n");
    holder.wait().code(0);
    assert_eq!(instances(&workdir).len(), 1);
}

#[test]
fn a_run_that_ignores_hangups_continues() {
    let workdir = Workdir::new(
        r#"
        terraform {
          required_providers {
            bad = { source = "formwork/bad" }
          }
        }
        resource "bad_thing" "a" {
          name = "a"
        }
        "#,
    );
    let command = workdir.formwork("apply -auto-approve").env("BAD_HOLD", "after:a");
    let running = command.ignoring_hangup().start();
    let (_, paused) = workdir.service.wait_for_pause();
    running.signal(Signal::SIGHUP);
    paused.resume();
    running.wait().code(0).says("1 added").says_not("Interrupt received");
}

/// A run whose output is not read cannot even report that it was interrupted.
#[test]
fn a_run_whose_output_is_not_read_ends_with_two_interrupts() {
    let long = "x".repeat(40);
    let workdir = Workdir::new(&format!(
        "resource \"terraform_data\" \"a\" {{\n  count = 3000\n  input = \"{long}\"\n}}\n"
    ));
    let mut command = workdir.formwork("apply -auto-approve").into_process();
    let command = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().expect("the program can be started");
    let pid = Pid::from_raw(i32::try_from(child.id()).expect("a process id"));
    // There is nothing else that it could wait for.
    wait_until_process_is_idle(pid);
    for _ in 0..2 {
        kill(pid, Signal::SIGINT).expect("it still runs");
        thread::yield_now();
    }
    // Signals that come together may count as one.
    let since = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("this test owns it") {
            break status;
        }
        match kill(pid, Signal::SIGINT) {
            Ok(()) | Err(_) => thread::yield_now(),
        }
        assert!(since.elapsed() < FOREVER, "it goes on");
    };
    assert_eq!(status.code(), Some(1));
    // The existing state can be read and used.
    workdir.formwork("plan").succeed();
    workdir.formwork("apply -auto-approve").succeed();
    assert_eq!(instances(&workdir).len(), 3000);
}

#[test]
fn two_interrupts_end_a_provisioner_that_ignores_them() {
    let workdir = Workdir::new(
        r#"
        resource "terraform_data" "a" {
          provisioner "local-exec" {
            command = "trap '' TERM INT HUP; echo started; cat fifo; cat fifo"
          }
        }
        "#,
    );
    let fifo = workdir.root().join("fifo");
    nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).expect("a fifo");
    let running = workdir.formwork("apply -auto-approve").start();
    running.wait_for_output("(local-exec): started");
    running.signal(Signal::SIGTERM);
    running.wait_for_output("Gracefully shutting down");
    running.signal(Signal::SIGINT);
    running.wait_with_short_timeout().code(1).says("Two interrupts received");
    workdir.formwork("plan").succeed().says("terraform_data.a is tainted, so must be replaced");
}
