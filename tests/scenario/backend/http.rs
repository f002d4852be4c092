//! States behind a URL, with Terraform on the same server.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use super::super::encryption::{SECRET, assert_sealed};
use super::{RESOURCE, both};
use crate::harness::{Workdir, opentofu};

/// The state and the lock of a server.
#[derive(Default)]
struct Kept {
    state: Vec<u8>,
    lock: Vec<u8>,
    /// The status of every answer to a write, if writes fail.
    failure: Option<&'static str>,
}

/// A server that keeps one state, by the documentation of Terraform's backend `http`.
struct Server {
    address: String,
    kept: Arc<Mutex<Kept>>,
}

impl Server {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = format!("http://{}/state", listener.local_addr().expect("an address"));
        let kept = Arc::new(Mutex::new(Kept::default()));
        let shared = Arc::clone(&kept);
        thread::spawn(move || {
            listener.incoming().flatten().for_each(|stream| drop(answer(&stream, &shared)));
        });
        Self { address, kept }
    }

    fn with<T>(&self, work: impl FnOnce(&mut Kept) -> T) -> T {
        work(&mut self.kept.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// A configuration whose state is here.
    fn config(&self, resource: &str) -> String {
        let address = &self.address;
        format!(
            "terraform {{\n  backend \"http\" {{\n    address        = \"{address}\"\n    lock_address   = \"{address}\"\n    unlock_address = \"{address}\"\n    retry_wait_min = 0\n    retry_wait_max = 0\n  }}\n}}\n{resource}"
        )
    }
}

fn answer(mut stream: &TcpStream, kept: &Mutex<Kept>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut request = String::new();
    reader.read_line(&mut request)?;
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.split_once(':') else { break };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    let mut content = vec![0; length];
    reader.read_exact(&mut content)?;
    let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
    let method = request.split_whitespace().next().unwrap_or_default();
    let (status, body) = match method {
        "GET" if kept.state.is_empty() => ("404 Not Found", Vec::new()),
        "GET" => ("200 OK", kept.state.clone()),
        "POST" => match kept.failure {
            Some(status) => (status, Vec::new()),
            None => {
                kept.state = content;
                ("200 OK", Vec::new())
            }
        },
        "LOCK" if kept.lock.is_empty() => {
            kept.lock = content;
            ("200 OK", Vec::new())
        }
        "LOCK" => ("423 Locked", kept.lock.clone()),
        "UNLOCK" => {
            kept.lock.clear();
            ("200 OK", Vec::new())
        }
        _ => ("405 Method Not Allowed", Vec::new()),
    };
    let length = body.len();
    write!(stream, "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n")?;
    stream.write_all(&body)
}

/// The lock of another process, as Terraform writes it.
const LOCK: &str = r#"{"ID":"0f1e","Operation":"OperationTypeApply","Info":"","Who":"ana@host","Version":"1.11.4","Created":"2026-01-01T00:00:00Z","Path":""}"#;

#[test]
fn either_program_goes_on_where_the_other_stopped_over_http() {
    let server = Server::start();
    both::take_turns(&|resource| server.config(resource));
    assert!(server.with(|kept| kept.lock.is_empty()), "a lock was left");
    let workdir = Workdir::new(&server.config(RESOURCE));
    workdir.formwork("init").succeed();
    workdir.formwork("workspace list").run().code(1).says("workspaces not supported");
}

#[test]
fn locks_of_http_exclude_the_other_program() {
    let server = Server::start();
    both::locks_exclude(&|resource| server.config(resource));
    // Neither compares the id: the server does, if it wants to.
    both::locks_end_by_force(&|resource| server.config(resource), &[]);
}

#[test]
fn outputs_are_read_over_http_by_both_programs() {
    let server = Server::start();
    let address = &server.address;
    both::outputs_are_read(
        &|resource| server.config(resource),
        &format!("backend = \"http\"\n  config = {{ address = \"{address}\" }}"),
    );
}

#[test]
fn states_over_http_are_encrypted() {
    let server = Server::start();
    both::states_are_encrypted(&|resource| server.config(resource), both::encrypting_turns());
    let stored = server.with(|kept| kept.state.clone());
    assert!(stored.starts_with(b"{\"serial\":"), "{}", String::from_utf8_lossy(&stored));
    assert!(stored.ends_with(b"\"encryption_version\":\"v0\"}"), "on one line, as of OpenTofu");
}

#[test]
fn a_lock_on_the_server_stops_a_run_until_it_is_released_by_force() {
    let server = Server::start();
    let workdir = Workdir::new(&server.config(RESOURCE));
    workdir.formwork("init").succeed();
    server.with(|kept| kept.lock = LOCK.into());
    let refused = workdir.formwork("apply -auto-approve").run();
    refused.code(1).says("ana@host").says("force-unlock 0f1e");
    workdir.formwork("force-unlock -force 0f1e").succeed().says("successfully unlocked");
    workdir.formwork("apply -auto-approve").succeed().says("1 added");
    assert!(server.with(|kept| kept.lock.is_empty()), "a lock was left");
}

#[test]
fn nothing_is_lost_when_the_server_refuses_the_state() {
    let server = Server::start();
    let workdir = Workdir::new(&server.config(RESOURCE));
    workdir.formwork("init").succeed();
    workdir.formwork("apply -auto-approve").succeed().says("1 added");
    workdir.write("main.tf", &server.config(&RESOURCE.replace("\"a\"", "\"b\"")));
    server.with(|kept| kept.failure = Some("500 Internal Server Error"));
    let failed = workdir.formwork("apply -auto-approve").run();
    failed.code(1).says("Failed to save the state").says("500 Internal Server Error");
    assert!(workdir.read("errored.tfstate").contains("\"name\": \"b\""));
    assert!(server.with(|kept| kept.lock.is_empty()), "a lock was left");
    server.with(|kept| kept.failure = None);
    // The journal has what the server did not take.
    workdir.formwork("apply -auto-approve").succeed().says("An interrupted run was taken over");
    workdir.formwork("plan -detailed-exitcode").run().code(0).says("No changes");
}

#[test]
fn a_state_that_the_server_refuses_stays_encrypted_on_this_machine() {
    let server = Server::start();
    let secret = RESOURCE.replace('1', &format!("\"{SECRET}\""));
    let config = |resource: &str| server.config(&format!("{}{resource}", both::ENCRYPTION));
    let workdir = Workdir::new(&config(""));
    workdir.formwork("init").succeed();
    // The secret may be in the configuration, but nowhere else.
    let apply = || {
        workdir.write("main.tf", &config(&secret));
        let ended = workdir.formwork("apply -auto-approve").run();
        workdir.write("main.tf", &config(""));
        ended
    };
    server.with(|kept| kept.failure = Some("500 Internal Server Error"));
    apply().code(1).says("Failed to save the state").says("500 Internal Server Error");
    let errored = workdir.read("errored.tfstate");
    assert!(errored.contains("\"encryption_version\": \"v0\""), "{errored}");
    assert_sealed(&workdir);
    let local = Workdir::new(both::ENCRYPTION);
    local.write("terraform.tfstate", &errored);
    let programs = if opentofu().is_some() { &["formwork", "tofu"][..] } else { &["formwork"] };
    for program in programs {
        local.engine(program, "state list").succeed().says("terraform_data.a");
    }
    server.with(|kept| kept.failure = None);
    apply().code(0).says("An interrupted run was taken over").says("0 added");
    assert_sealed(&workdir);
}

#[test]
fn a_state_moves_between_backends_and_back() {
    let server = Server::start();
    let local = format!("terraform {{\n  backend \"local\" {{}}\n}}\n{RESOURCE}");
    let workdir = Workdir::new(&local);
    workdir.formwork("init").succeed();
    workdir.formwork("apply -auto-approve").succeed().says("1 added");
    workdir.write("main.tf", &server.config(RESOURCE));
    workdir.formwork("plan").run().code(1).says("Backend type changed from \"local\" to \"http\"");
    workdir.formwork("init -migrate-state -force-copy").succeed();
    workdir.formwork("plan -detailed-exitcode").run().code(0).says("No changes");
    assert!(server.with(|kept| !kept.state.is_empty()), "the server has no state");
}
