//! A server for one test that implements the part of OpenBao's HTTP API which key providers use: data
//! keys of a transit secrets engine, and their decryption.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Read as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use formwork_tests::http::{self, Request};
use serde_json::{Value, json};

/// The token that the server accepts.
const TOKEN: &str = "the-token";

/// The server. It ends with the test program.
pub(crate) struct Transit {
    /// The address, without a slash at the end.
    pub(crate) url: String,
}

/// The data keys, by their encrypted forms.
type DataKeys = Mutex<BTreeMap<String, Vec<u8>>>;

impl Transit {
    /// Starts a server.
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let keys = Arc::new(DataKeys::default());
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let keys = Arc::clone(&keys);
                thread::spawn(move || drop(serve(&stream, &keys)));
            }
        });
        Self { url }
    }
}

fn serve(stream: &TcpStream, keys: &DataKeys) -> std::io::Result<()> {
    let Some(request) = Request::read(&mut BufReader::new(stream))? else { return Ok(()) };
    let body = serde_json::from_slice(&request.body).unwrap_or_default();
    let (status, answer) = match request.headers.get("x-vault-token") {
        Some(token) if token == TOKEN => answer(&request.target, &body, keys)?,
        _ => ("403 Forbidden", json!({ "errors": ["permission denied"] })),
    };
    let headers = ["Content-Type: application/json", "Connection: close"];
    http::answer(stream, status, &headers, answer.to_string().as_bytes())
}

fn answer(path: &str, body: &Value, keys: &DataKeys) -> std::io::Result<(&'static str, Value)> {
    let mut keys = keys.lock().unwrap_or_else(PoisonError::into_inner);
    let steps: Vec<&str> = path.split('/').collect();
    match steps.as_slice() {
        ["", "v1", "transit", "datakey", "plaintext", _] => {
            let n_bytes = body["bits"].as_u64().and_then(|bits| usize::try_from(bits / 8).ok());
            let mut key = vec![0; n_bytes.unwrap_or(32)];
            File::open("/dev/urandom")?.read_exact(&mut key)?;
            let ciphertext = format!("vault:v1:{}", STANDARD.encode(keys.len().to_string()));
            let plaintext = STANDARD.encode(&key);
            keys.insert(ciphertext.clone(), key);
            let data =
                json!({ "ciphertext": ciphertext, "plaintext": plaintext, "key_version": 1 });
            Ok(("200 OK", json!({ "data": data })))
        }
        ["", "v1", "transit", "decrypt", _] => {
            let key = body["ciphertext"].as_str().and_then(|ciphertext| keys.get(ciphertext));
            Ok(match key {
                Some(key) => ("200 OK", json!({ "data": { "plaintext": STANDARD.encode(key) } })),
                None => ("400 Bad Request", json!({ "errors": ["invalid ciphertext: no prefix"] })),
            })
        }
        _ => Ok(("404 Not Found", json!({ "errors": [] }))),
    }
}
