//! Logging in to a host and out again: the token that a host gives ends up where Terraform keeps it, and
//! either program removes the token of the other.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::harness::registry::{Page, Registry};
use crate::harness::{CommandResult, Workdir, terraform};

const FILE: &str = ".terraform.d/credentials.tfrc.json";

fn workdir() -> Workdir {
    let workdir = Workdir::new("");
    fs::write(workdir.settings(), "").expect("it can be written");
    // Terraform does not create a directory for its file.
    fs::create_dir(workdir.home().join(".terraform.d")).expect("a directory");
    workdir
}

fn stored(workdir: &Workdir) -> String {
    fs::read_to_string(workdir.home().join(FILE)).unwrap_or_default()
}

/// The value of a parameter of a URL or form, without its escapes.
fn parameter(text: &str, name: &str) -> String {
    let query = text.trim().split('?').next_back().unwrap_or_default();
    let value = query.split('&').find_map(|pair| pair.strip_prefix(&format!("{name}=")));
    let mut bytes = Vec::new();
    let mut rest = value.unwrap_or_default().bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digits = [rest.next(), rest.next()].map(|digit| digit.expect("two digits"));
            let digits = std::str::from_utf8(&digits).expect("digits").to_owned();
            bytes.push(u8::from_str_radix(&digits, 16).expect("a number"));
        } else {
            bytes.push(if byte == b'+' { b' ' } else { byte });
        }
    }
    String::from_utf8(bytes).expect("a text")
}

/// Acts as the browser that is redirected to the program.
fn open_in_browser(redirect: &str, query: &str) -> String {
    let address = redirect.trim_start_matches("http://").split('/').next().expect("a host");
    let mut stream = TcpStream::connect(address).expect("the program listens");
    write!(stream, "GET /login?{query} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")
        .expect("it reads");
    let mut answer = String::new();
    // A connection that is reset gives what came until then.
    let _reset = stream.read_to_string(&mut answer);
    answer
}

/// A host that gives a token for the code `the code`, to the client that knows the verifier.
fn host(redirects: bool) -> Registry {
    let registry = Registry::start();
    let services = json!({ "login.v1": {
        "client": "a client",
        "grant_types": ["authz_code"],
        "authz": "/oauth/authorize",
        "token": "/oauth/token",
        "ports": [20000, 20900],
        "scopes": ["one", "two"],
    } });
    registry.page("/.well-known/terraform.json", Page::json(&services));
    registry.answer_with(move |request| {
        if redirects {
            return Some(Page::moved("http://127.0.0.1:9/token"));
        }
        let is_good =
            request.path == "/oauth/token" && parameter(&request.body, "code") == "the code";
        Some(if is_good {
            Page::json(&json!({ "access_token": "the token", "token_type": "bearer" }))
        } else {
            Page::refusal(400)
        })
    });
    registry
}

/// Logs in, with the given answer of the browser once the address is known.
fn log_in(engine: &str, workdir: &Workdir, registry: &Registry, query: &str) -> CommandResult {
    let command = workdir.engine(engine, &format!("login {}", registry.host()));
    // No browser of the machine may be found.
    let command = command.env("SSL_CERT_FILE", &registry.authority()).env("PATH", "");
    let mut running = command.with_open_stdin().start();
    running.answer("yes\n");
    let url = running.wait_for_line("code_challenge=");
    running.wait_for_output("will now wait for the host");
    let (state, redirect) = (parameter(&url, "state"), parameter(&url, "redirect_uri"));
    let stranger = open_in_browser(&redirect, "state=guessed&code=evil");
    assert!(stranger.starts_with("HTTP/1.1 400"), "{stranger}");
    let answer = open_in_browser(&redirect, &format!("state={state}&{query}"));
    // Terraform closes its server as soon as it has the code, and may cut its answer off.
    if engine == "formwork" {
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
    let result = running.wait();
    let requests = registry.take_requests();
    let token_request = requests.iter().rev().find(|request| request.path == "/oauth/token");
    let token_request = &token_request.expect("the code was exchanged").body;
    // The challenge is derived from the verifier, so another program cannot use the code.
    let sum = Sha256::digest(parameter(token_request, "code_verifier"));
    let digits: String = sum.iter().map(|byte| format!("{byte:08b}")).collect();
    let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".as_bytes();
    let six = |start: usize| format!("{:0<6}", &digits[start..digits.len().min(start + 6)]);
    let challenge: String = (0..digits.len())
        .step_by(6)
        .map(|start| letters[usize::from_str_radix(&six(start), 2).expect("six digits")] as char)
        .collect();
    assert_eq!(parameter(&url, "code_challenge"), challenge);
    assert_eq!(parameter(&url, "code_challenge_method"), "S256");
    assert_eq!(parameter(token_request, "redirect_uri"), redirect);
    result
}

#[test]
fn a_token_is_requested_stored_and_removed_by_either_program() {
    let registry = host(false);
    let engines: &[&str] =
        if terraform().is_some() { &["terraform", "formwork"] } else { &["formwork"] };
    let mut files = Vec::new();
    for first in engines {
        let workdir = workdir();
        log_in(first, &workdir, &registry, "code=the+code").code(0).says("Success!");
        files.push(stored(&workdir).replace(&registry.host(), "HOST"));
        for second in engines {
            let out = || {
                let line = format!("logout {}", registry.host());
                // Terraform reads its file of tokens only without a settings file of one's own.
                workdir.engine(second, &line).env("TF_CLI_CONFIG_FILE", "")
            };
            let file = stored(&workdir);
            out().succeed().says("Success!");
            assert!(!stored(&workdir).contains("the token"));
            out().succeed().says("No credentials for");
            fs::write(workdir.home().join(FILE), file).expect("it can be written");
        }
        // The token is used from now on.
        workdir.write("main.tf", &format!("terraform {{\n  required_providers {{\n    a = {{ source = \"{}/b/c\" }}\n  }}\n}}\n", registry.host()));
        registry.take_requests();
        workdir
            .engine("formwork", "init")
            .env("SSL_CERT_FILE", &registry.authority())
            .run()
            .code(1);
        let requests = registry.take_requests();
        assert_eq!(requests[0].header("Authorization"), Some("Bearer the token"));
    }
    assert!(files[0].contains("the token"));
    assert!(files.iter().all(|file| *file == files[0]), "{files:?}");
}

#[test]
fn a_refused_login_stores_no_token() {
    let registry = host(false);
    let workdir = workdir();
    let refused = log_in("formwork", &workdir, &registry, "code=another");
    refused.code(1).says("Failed to obtain auth token");
    let registry = host(true);
    let redirected = log_in("formwork", &workdir, &registry, "code=the+code");
    redirected.code(1).says("Failed to obtain auth token");
    let command =
        |line: String| workdir.formwork(&line).env("SSL_CERT_FILE", &registry.authority());
    command(format!("login {}", registry.host()))
        .stdin("no\n")
        .run()
        .code(1)
        .says("Login cancelled");
    command(format!("login {}", registry.host()))
        .env("TF_INPUT", "0")
        .run()
        .code(1)
        .says("is an interactive command");
    registry.page("/.well-known/terraform.json", Page::json(&json!({})));
    let refused_login = command(format!("login {}", registry.host())).stdin("yes\n").run();
    refused_login.code(1).says("does not support creating Terraform authorization tokens");
    assert_eq!(stored(&workdir), "");
}

#[test]
fn a_pasted_token_is_verified_before_it_is_stored() {
    let registry = Registry::start();
    let services = json!({ "tfe.v2": "/api/v2/" });
    registry.page("/.well-known/terraform.json", Page::json(&services));
    registry.answer_with(|request| {
        let user = json!({ "data": { "attributes": { "username": "me" } } });
        let is_known = request.header("Authorization") == Some("Bearer good");
        (request.path == "/api/v2/account/details")
            .then(|| if is_known { Page::json(&user) } else { Page::refusal(401) })
    });
    let workdir = workdir();
    let login = |token: &str| {
        let command = workdir.formwork(&format!("login {}", registry.host()));
        command.env("SSL_CERT_FILE", &registry.authority()).stdin(&format!("yes\n{token}\n")).run()
    };
    login("bad").code(1).says("Token is invalid");
    assert_eq!(stored(&workdir), "");
    let result = login("good");
    result.code(0).says("Retrieved token for user me").says_not("good");
    assert!(stored(&workdir).contains("\"token\": \"good\""));
    // A token in a settings file is for people to remove.
    let host = registry.host();
    fs::write(workdir.settings(), format!("credentials \"{host}\" {{\n  token = \"x\"\n}}\n"))
        .expect("a file");
    login("good").code(1).says("are manually configured");
    workdir.formwork(&format!("logout {host}")).run().code(1).says("are manually configured");
}

#[test]
fn a_credentials_helper_stores_and_removes_tokens() {
    let registry = host(false);
    let workdir = workdir();
    let helpers = workdir.home().join(".terraform.d/plugins");
    fs::create_dir_all(&helpers).expect("directories");
    let program = helpers.join("terraform-credentials-note");
    let log = workdir.home().join("log");
    let script = format!(
        "#!/bin/sh\nif [ \"$2\" = get ]; then echo '{{}}'; exit; fi\nread -r text; echo \"$@ $text\" >> {}\n",
        log.display()
    );
    fs::write(&program, script).expect("a file");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&program, mode).expect("this test owns it");
    fs::write(workdir.settings(), "credentials_helper \"note\" {\n  args = [\"-x\"]\n}\n")
        .expect("a file");
    let engines: &[&str] =
        if terraform().is_some() { &["terraform", "formwork"] } else { &["formwork"] };
    let mut logs = Vec::new();
    for engine in engines {
        log_in(engine, &workdir, &registry, "code=the+code").code(0);
        workdir.engine(engine, &format!("logout {}", registry.host())).succeed();
        logs.push(fs::read_to_string(&log).expect("it was called"));
        fs::remove_file(&log).expect("it exists");
    }
    let host = registry.host();
    let expected = format!("-x store {host} {{\"token\":\"the token\"}}\n-x forget {host} \n");
    for text in logs {
        assert_eq!(text, expected);
    }
    assert_eq!(stored(&workdir), "");
}
