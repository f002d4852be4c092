//! A server for one test that implements the part of the Key Management Service of Google Cloud which key
//! providers use: encryption and decryption with one key.

use std::collections::BTreeMap;
use std::io::BufReader;
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use formwork_tests::http::{self, Request};
use serde_json::{Value, json};

/// The name of the key that the service has.
pub(crate) const KEY: &str = "projects/acme/locations/global/keyRings/states/cryptoKeys/main";

/// The server. It ends with the test program.
pub(crate) struct CloudKms {
    /// The address, without a slash at the end.
    pub(crate) url: String,
}

/// The plaintexts, by their encrypted forms.
type Encrypted = Mutex<BTreeMap<String, String>>;

impl CloudKms {
    /// Starts a server.
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let encrypted = Arc::new(Encrypted::default());
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let encrypted = Arc::clone(&encrypted);
                thread::spawn(move || drop(serve(&stream, &encrypted)));
            }
        });
        Self { url }
    }
}

fn serve(stream: &TcpStream, encrypted: &Encrypted) -> std::io::Result<()> {
    let Some(request) = Request::read(&mut BufReader::new(stream))? else { return Ok(()) };
    let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    let refusal = |message: &str| json!({ "error": { "message": message } });
    let authorization = request.headers.get("authorization").map(String::as_str);
    let (status, answer) =
        match request.target.strip_prefix("/v1/").and_then(|it| it.split_once(':')) {
            _ if authorization != Some("Bearer the-token") => {
                ("401 Unauthorized", refusal("Request had invalid authentication credentials."))
            }
            Some((KEY, action)) => answer(action, &body, encrypted),
            _ => ("404 Not Found", refusal("CryptoKey not found.")),
        };
    let headers = ["Content-Type: application/json", "Connection: close"];
    http::answer(stream, status, &headers, answer.to_string().as_bytes())
}

fn answer(action: &str, body: &Value, encrypted: &Encrypted) -> (&'static str, Value) {
    let mut encrypted = encrypted.lock().unwrap_or_else(PoisonError::into_inner);
    match (action, body["plaintext"].as_str(), body["ciphertext"].as_str()) {
        ("encrypt", Some(plaintext), _) => {
            let ciphertext = STANDARD.encode(format!("sealed {}", encrypted.len()));
            encrypted.insert(ciphertext.clone(), plaintext.to_owned());
            (
                "200 OK",
                json!({ "name": format!("{KEY}/cryptoKeyVersions/1"), "ciphertext": ciphertext }),
            )
        }
        ("decrypt", _, Some(ciphertext)) => match encrypted.get(ciphertext) {
            Some(plaintext) => ("200 OK", json!({ "plaintext": plaintext })),
            None => ("400 Bad Request", json!({ "error": { "message": "Decryption failed." } })),
        },
        _ => ("400 Bad Request", json!({ "error": { "message": "Invalid request." } })),
    }
}
