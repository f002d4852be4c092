//! Servers of the backend `http` that fail, or require more than the protocol does: both programs come
//! to the same outcome, save where ours repeats a request that it can.

use std::fs;

use formwork_tests::http_state::Methods;

use super::{RESOURCE, shared_scripts};
use crate::harness::http_state::{Fault, Requirements};
use crate::harness::tls::Authority;
use crate::harness::{HttpState, Workdir, terraform};

/// The outcome of an apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Outcome {
    succeeds: bool,
    is_stored: bool,
    is_locked: bool,
}

const DONE: Outcome = Outcome { succeeds: true, is_stored: true, is_locked: false };
const NOTHING_DONE: Outcome = Outcome { succeeds: false, is_stored: false, is_locked: false };
/// The lock information was stored instead of a state.
const LOCK_AS_STATE: Outcome = Outcome { succeeds: false, is_stored: true, is_locked: false };
const LOCK_LEFT: Outcome = Outcome { succeeds: false, is_stored: true, is_locked: true };

/// The programs of this machine.
fn programs() -> &'static [&'static str] {
    if terraform().is_some() { &["formwork", "terraform"] } else { &["formwork"] }
}

/// Applies in a directory. Returns the outcome for a state that was stored before.
fn apply(program: &str, workdir: &Workdir, server: &HttpState, stored: &[u8]) -> Outcome {
    let succeeds = workdir.engine(program, "apply -auto-approve").run().code == Some(0);
    server.with(|server_state| {
        let (is_stored, is_locked) = (server_state.state != stored, !server_state.lock.is_empty());
        Outcome { succeeds, is_stored, is_locked }
    })
}

/// A directory whose state is on a server, and whose next apply changes one object.
struct ChangedDir {
    program: &'static str,
    server: HttpState,
    workdir: Workdir,
    stored: Vec<u8>,
}

impl ChangedDir {
    fn new(program: &'static str) -> Self {
        let server = HttpState::start();
        let workdir = Workdir::new(&server.config(RESOURCE));
        workdir.engine(program, "init").succeed();
        workdir.engine(program, "apply -auto-approve").succeed();
        workdir.write("main.tf", &server.config(&RESOURCE.replace('1', "2")));
        let stored = server.with(|server_state| server_state.state.clone());
        Self { program, server, workdir, stored }
    }

    /// Applies the change while requests fail, as if for the first time.
    fn apply_with_fault(&self, method: &'static str, fault: Fault, n_requests: usize) -> Outcome {
        self.server.with(|server_state| {
            server_state.state.clone_from(&self.stored);
            server_state.lock.clear();
        });
        self.server.fail(method, fault, n_requests);
        let outcome = apply(self.program, &self.workdir, &self.server, &self.stored);
        self.server.clear_failure();
        self.remove_leftovers();
        outcome
    }

    /// Removes the journals and the state that could not be stored.
    fn remove_leftovers(&self) {
        for entry in fs::read_dir(self.workdir.root()).expect("a directory").flatten() {
            let name = entry.file_name();
            if name == "errored.tfstate" {
                fs::remove_file(entry.path()).expect("it exists");
            } else if name.to_string_lossy().ends_with(".journal") {
                fs::remove_dir_all(entry.path()).expect("it exists");
            }
        }
    }
}

/// Faults of all requests of a method.
const LASTING: [Fault; 5] = [
    Fault::Status("401 Unauthorized"),
    Fault::Status("403 Forbidden"),
    Fault::Status("409 Conflict"),
    Fault::Status("423 Locked"),
    Fault::Status("500 Internal Server Error"),
];

/// Faults of the first request of a method.
const PASSING: [Fault; 5] = [
    Fault::Status("429 Too Many Requests"),
    Fault::Status("500 Internal Server Error"),
    Fault::Half,
    Fault::ResetBefore,
    Fault::ResetAfter,
];

/// Faults after which Terraform gives up although another attempt succeeds, with its outcome.
const TERRAFORM_GIVES_UP: [(Fault, &str, Outcome); 3] = [
    (Fault::Half, "GET", NOTHING_DONE),
    // It does not recognise its own lock.
    (Fault::ResetAfter, "LOCK", Outcome { is_locked: true, ..NOTHING_DONE }),
    (Fault::ResetAfter, "UNLOCK", Outcome { is_stored: true, ..NOTHING_DONE }),
];

#[test]
fn both_programs_end_the_same_when_requests_fail() {
    let directories: Vec<ChangedDir> = programs().iter().copied().map(ChangedDir::new).collect();
    let lasting = LASTING.map(|fault| (fault, usize::MAX));
    let passing = PASSING.map(|fault| (fault, 1));
    for (fault, n_requests) in lasting.into_iter().chain(passing) {
        for method in ["LOCK", "GET", "POST", "UNLOCK"] {
            let expected = match (n_requests, method) {
                (1, _) => DONE,
                (_, "UNLOCK") => LOCK_LEFT,
                _ => NOTHING_DONE,
            };
            for directory in &directories {
                let program = directory.program;
                let mut given_up = TERRAFORM_GIVES_UP.iter().filter(|_| program == "terraform");
                let given_up = given_up.find(|(other, of, _)| (*other, *of) == (fault, method));
                let expected = given_up.filter(|_| n_requests == 1).map_or(expected, |row| row.2);
                let outcome = directory.apply_with_fault(method, fault, n_requests);
                assert_eq!(outcome, expected, "{program}: {fault:?} of {method}");
            }
        }
    }
}

#[test]
fn a_server_that_hangs_is_reported_and_its_late_response_is_used() {
    let directory = ChangedDir::new("formwork");
    for method in ["LOCK", "POST", "UNLOCK"] {
        directory.server.with(|server_state| server_state.state.clone_from(&directory.stored));
        directory.server.fail(method, Fault::Hang, 1);
        let running = directory.workdir.formwork("apply -auto-approve").start();
        let reported = running.wait_for_line("Waiting to");
        assert!(reported.contains(&directory.server.address), "{method}: {reported}");
        directory.server.clear_failure();
        running.wait().code(0);
        assert!(directory.server.with(|server_state| server_state.lock.is_empty()), "{method}");
    }
}

/// A server with TLS, and a block for it.
struct Encrypted<'a> {
    /// The authority of the clients that it serves; all if there is none.
    clients: Option<&'a Authority>,
    login: Option<&'static str>,
    /// Further arguments of the block, with their expressions.
    arguments: Vec<(&'static str, String)>,
    is_served: bool,
}

#[test]
fn both_programs_are_served_by_the_same_servers() {
    let (authority, clients, other) = (Authority::new(), Authority::new(), Authority::new());
    let text = |text: &str| format!("{text:?}");
    let trusting = |authority: &Authority| ("client_ca_certificate_pem", text(&authority.pem()));
    let proving = |authority: &Authority| {
        let [certificate, key] = authority.issue_pem();
        [("client_certificate_pem", text(&certificate)), ("client_private_key_pem", text(&key))]
    };
    let login = |password: &str| [("username", text("ana")), ("password", text(password))];
    let trusted = || vec![trusting(&authority)];
    let careless = || vec![("skip_cert_verification", "true".to_owned())];
    let case = |clients, login, arguments: [Vec<(&'static str, String)>; 2], is_served| Encrypted {
        clients,
        login,
        arguments: arguments.concat(),
        is_served,
    };
    let (ours, password) = (Some(&clients), Some("ana:s3cret: word"));
    for case in [
        case(None, None, [vec![], vec![]], false),
        case(None, None, [trusted(), vec![]], true),
        case(None, None, [vec![trusting(&other)], vec![]], false),
        case(None, None, [careless(), vec![]], true),
        case(None, password, [trusted(), login("s3cret: word").into()], true),
        case(None, password, [trusted(), login("wrong").into()], false),
        case(None, password, [trusted(), vec![]], false),
        case(ours, None, [trusted(), proving(&clients).into()], true),
        case(ours, None, [careless(), proving(&clients).into()], true),
        case(ours, None, [trusted(), proving(&other).into()], false),
        case(ours, None, [trusted(), vec![]], false),
    ] {
        assert_served(&authority, &case);
    }
}

/// Checks whether each program can apply, and read the state of the other.
fn assert_served(authority: &Authority, case: &Encrypted<'_>) {
    let Encrypted { clients, login, arguments, is_served } = case;
    let lines = arguments.iter().map(|(name, value)| format!("    {name} = {value}\n"));
    let lines = lines.collect::<String>();
    for program in programs() {
        let tls = Some(authority.server_config(*clients));
        let server = HttpState::start_requiring(Requirements { tls, login: *login });
        let workdir = Workdir::new(&server.config_with(&lines, RESOURCE));
        // One program fails here if it is not served, the other one when it applies.
        workdir.engine(program, "init").run();
        let expected = if *is_served { DONE } else { NOTHING_DONE };
        assert_eq!(apply(program, &workdir, &server, &[]), expected, "{program}: {lines}");
        for other in programs().iter().filter(|_| *is_served) {
            workdir.engine(other, "plan -detailed-exitcode").run().code(0).says("No changes");
        }
    }
}

#[test]
fn both_programs_send_the_methods_of_the_block() {
    let names = ["update_method", "lock_method", "unlock_method"];
    let methods = Methods { update: "PUT", lock: "POST", unlock: "DELETE" };
    let lines = names.iter().zip([methods.update, methods.lock, methods.unlock]);
    let lines: Vec<String> =
        lines.map(|(name, method)| format!("    {name} = \"{method}\"\n")).collect();
    let server = HttpState::start();
    server.with(|server_state| server_state.methods = methods);
    shared_scripts::alternate_programs(&|resource| server.config_with(&lines.concat(), resource));
    shared_scripts::locks_exclude(&|resource| server.config_with(&lines.concat(), resource));

    // On a server with the usual methods, each of these is refused.
    for (line, expected) in lines.iter().zip([NOTHING_DONE, LOCK_AS_STATE, LOCK_LEFT]) {
        for program in programs() {
            let server = HttpState::start();
            let workdir = Workdir::new(&server.config_with(line, RESOURCE));
            workdir.engine(program, "init").run();
            assert_eq!(apply(program, &workdir, &server, &[]), expected, "{program}: {line}");
        }
    }
}
