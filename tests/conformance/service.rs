//! A small HTTP service with items, for one run of the sound provider.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::Value;

/// The items by their ids.
type Items = Arc<Mutex<BTreeMap<String, Vec<u8>>>>;

/// The service. It ends with the test program.
pub(crate) struct Service {
    /// The URL, without a slash at the end.
    pub(crate) url: String,
}

impl Service {
    /// Starts a service without items.
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let url = format!("http://{}", listener.local_addr().expect("it has an address"));
        let items = Items::default();
        std::thread::spawn(move || {
            while let Ok((stream, _)) = listener.accept() {
                let items = Arc::clone(&items);
                // A client that goes away is none of its business.
                std::thread::spawn(move || drop(serve(&stream, &items)));
            }
        });
        Self { url }
    }
}

/// Answers one request.
fn serve(stream: &TcpStream, items: &Items) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    reader.read_line(&mut first)?;
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.split_once(':') else { break };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let mut words = first.split_whitespace();
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let (status, content) = answer(method, path, body, items);
    let mut stream = stream;
    write!(
        stream,
        "HTTP/1.1 {status} X\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
        content.len()
    )?;
    stream.write_all(&content)
}

fn answer(method: &str, path: &str, body: Vec<u8>, items: &Items) -> (u16, Vec<u8>) {
    let mut items = items.lock().expect("no thread panics");
    let id = path.strip_prefix("/items/").unwrap_or_default();
    match method {
        "POST" if path == "/items" => {
            let item: Value = serde_json::from_slice(&body).unwrap_or_default();
            let Some(id) = item["id"].as_str() else { return (400, Vec::new()) };
            items.insert(id.to_owned(), body.clone());
            (201, body)
        }
        "POST" => (201, Vec::new()),
        "GET" => items.get(id).map_or((404, Vec::new()), |item| (200, item.clone())),
        "PUT" if items.contains_key(id) => {
            items.insert(id.to_owned(), body.clone());
            (200, body)
        }
        "DELETE" => (if items.remove(id).is_some() { 204 } else { 404 }, Vec::new()),
        _ => (404, Vec::new()),
    }
}
