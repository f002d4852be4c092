//! A state that is kept by a backend which Formwork cannot work with: the advice to take it along works.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::thread;

use crate::harness::{Workdir, terraform};

const RESOURCE: &str = "resource \"terraform_data\" \"a\" {\n  input = 1\n}\n";

/// A server that keeps one state, as Terraform's backend `http` wants it. Returns its address.
fn server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    thread::spawn(move || {
        let mut state = Vec::new();
        listener.incoming().flatten().for_each(|stream| drop(answer(&stream, &mut state)));
    });
    format!("http://{address}/state")
}

fn answer(mut stream: &TcpStream, state: &mut Vec<u8>) -> std::io::Result<()> {
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
    if request.starts_with("POST") {
        state.resize(length, 0);
        reader.read_exact(state)?;
    }
    let status = if state.is_empty() { "404 Not Found" } else { "200 OK" };
    let body: &[u8] = if request.starts_with("GET") { state } else { b"" };
    let length = body.len();
    write!(stream, "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n")?;
    stream.write_all(body)
}

#[test]
fn the_state_of_a_backend_that_is_not_supported_is_taken_along_as_the_message_says() {
    if terraform().is_none() {
        return;
    }
    let config = format!(
        "terraform {{\n  backend \"http\" {{\n    address = \"{}\"\n  }}\n}}\n{RESOURCE}",
        server()
    );
    let workdir = Workdir::new(&config);
    workdir.terraform("init").succeed();
    workdir.terraform("apply -auto-approve").succeed().says("1 added");
    for line in ["plan", "init", "state list"] {
        let refused = workdir.formwork(line).run();
        refused.code(1).says("terraform state pull > terraform.tfstate");
    }
    let local = format!("terraform {{\n  backend \"local\" {{}}\n}}\n{RESOURCE}");
    for config in [local.as_str(), RESOURCE] {
        workdir.write("main.tf", config);
        for line in ["plan", "init", "init -migrate-state"] {
            workdir.formwork(line).run().code(1).says_not("leave it where it is");
        }
        workdir.formwork("plan").run().says("terraform state pull > terraform.tfstate");
    }

    // Without the first step.
    workdir.write("main.tf", &local);
    let settings = workdir.read(".terraform/terraform.tfstate");
    workdir.formwork("init -reconfigure").succeed().says("State was left behind");
    workdir.write(".terraform/terraform.tfstate", &settings);

    // With it.
    workdir.write("main.tf", &config);
    let pulled = workdir.terraform("state pull").succeed().stdout;
    workdir.write("terraform.tfstate", &pulled);
    workdir.write("main.tf", &local);
    workdir.formwork("init -reconfigure").succeed().says_not("State was left behind");
    workdir.formwork("plan -detailed-exitcode").run().code(0).says("No changes");
}
