//! `external` and `http`, which only read.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use super::super::row::{Other, Provider};

pub(super) fn external() -> Provider {
    Provider {
        source: "hashicorp/external",
        fixture: String::new(),
        files: &[],
        resources: Vec::new(),
        other_types: vec![Other::Data(
            "external",
            "  program     = [\"cat\"]\n  working_dir = path.module\n  query       = { a = \"y <&>\" }",
            &[],
        )],
    }
}

/// The provider, with the address of a server.
pub(super) fn http(address: &str) -> Provider {
    Provider {
        source: "hashicorp/http",
        fixture: format!("locals {{\n  place = {address:?}\n}}\n"),
        files: &[],
        resources: Vec::new(),
        other_types: vec![Other::Data(
            "http",
            r#"
  url             = "http://${local.place}/"
  method          = "POST"
  request_headers = { Accept = "text/plain" }
  retry {
    attempts     = 1
    min_delay_ms = 1
  }
"#,
            &[],
        )],
    }
}

/// Starts a server that responds with hello; it ends with the test program. Returns its address.
pub(super) fn web_server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let n_bytes = stream.read(&mut [0; 4096]).unwrap();
            let answer = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhallo";
            if n_bytes > 0 {
                stream.write_all(answer.as_bytes()).unwrap();
            }
        }
    });
    address.to_string()
}
