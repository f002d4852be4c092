//! A server for one test that implements the documented part of Consul's HTTP API which backends use: keys
//! with versions, transactions of one operation, sessions with an end, lock delays and blocking reads.

use std::collections::BTreeMap;
use std::io::BufReader;
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use formwork_tests::http::{self, Request};
use serde_json::{Value, json};

/// The longest value, and the longest body of a transaction.
const MAX_VALUE: usize = 524_288;

/// The time after which a session without a heartbeat ends, and for which its locks cannot be taken
/// then.
const TTL: Duration = Duration::from_secs(15);
const LOCK_DELAY: Duration = Duration::from_secs(5);

/// The server. It ends with the test program.
pub(crate) struct Consul {
    /// Host and port.
    pub(crate) address: String,
    store: Arc<Store>,
}

#[derive(Default)]
struct Store {
    content: Mutex<Content>,
    changed: Condvar,
}

#[derive(Default)]
struct Content {
    index: u64,
    keys: BTreeMap<String, Entry>,
    /// Sessions and their ends.
    sessions: BTreeMap<String, Instant>,
    /// Keys that cannot be taken before a time.
    delays: BTreeMap<String, Instant>,
}

#[derive(Clone, Default)]
struct Entry {
    value: Vec<u8>,
    flags: u64,
    created: u64,
    modified: u64,
    session: Option<String>,
}

/// A request: method, path without `/v1/`, parameters, content.
struct ConsulRequest {
    method: String,
    path: String,
    parameters: BTreeMap<String, String>,
    body: Vec<u8>,
}

type Answer = (&'static str, Vec<u8>);

impl Consul {
    /// Starts a server.
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let store = Arc::new(Store::default());
        let shared = Arc::clone(&store);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let store = Arc::clone(&shared);
                thread::spawn(move || drop(serve(&stream, &store)));
            }
        });
        Self { address, store }
    }

    /// The keys that begin with a prefix.
    pub(crate) fn keys(&self, prefix: &str) -> Vec<String> {
        let content = self.store.lock();
        content.keys.keys().filter(|key| key.starts_with(prefix)).cloned().collect()
    }
}

impl Store {
    fn lock(&self) -> MutexGuard<'_, Content> {
        let mut content = self.content.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let result: Vec<String> = content
            .sessions
            .iter()
            .filter(|(_, end)| **end <= now)
            .map(|(id, _)| id.clone())
            .collect();
        result.iter().for_each(|id| content.end_session(id));
        content
    }

    fn react(&self, request: &ConsulRequest) -> (Answer, u64) {
        let mut content = self.lock();
        let key = request.path.strip_prefix("kv/").unwrap_or_default();
        if request.method == "GET" {
            content = self.wait(content, key, request);
        }
        let answer = match (request.method.as_str(), request.path.as_str()) {
            ("PUT", "session/create") => content.begin_session(),
            ("PUT", "txn") => content.transact(&request.body),
            ("GET", _) if request.path.starts_with("kv/") => content.get(key, &request.parameters),
            ("PUT", _) if request.path.starts_with("kv/") => content.put(key, request),
            ("DELETE", _) if request.path.starts_with("kv/") => {
                content.delete(key, &request.parameters)
            }
            ("PUT", path) => match path.split_once('/').map(|(_, rest)| rest.split_once('/')) {
                Some(Some(("renew", id))) => content.renew(id),
                Some(Some(("destroy", id))) => {
                    content.end_session(id);
                    ok(&json!(true))
                }
                _ => ("404 Not Found", Vec::new()),
            },
            _ => ("405 Method Not Allowed", Vec::new()),
        };
        let index = content.index_of(key);
        drop(content);
        self.changed.notify_all();
        (answer, index)
    }

    /// Waits, at most as long as the request specifies, until the key has a later version than the
    /// request.
    fn wait<'s>(
        &'s self,
        mut content: MutexGuard<'s, Content>,
        key: &str,
        request: &ConsulRequest,
    ) -> MutexGuard<'s, Content> {
        let known_index: u64 =
            request.parameters.get("index").and_then(|n| n.parse().ok()).unwrap_or(0);
        let wait = request.parameters.get("wait").and_then(|wait| {
            wait.strip_suffix("ms").and_then(|n| n.parse().ok()).map(Duration::from_millis)
        });
        let end = Instant::now() + wait.unwrap_or(Duration::from_secs(300));
        while known_index > 0 && content.index_of(key) <= known_index {
            let remaining = end.saturating_duration_since(Instant::now());
            if remaining.is_zero() {
                break;
            }
            // Sessions end without an event.
            let pause = remaining.min(Duration::from_millis(250));
            let (guard, _) =
                self.changed.wait_timeout(content, pause).unwrap_or_else(PoisonError::into_inner);
            drop(guard);
            content = self.lock();
        }
        content
    }
}

fn ok(value: &Value) -> Answer {
    ("200 OK", value.to_string().into_bytes())
}

impl Content {
    fn next_index(&mut self) -> u64 {
        self.index += 1;
        self.index
    }

    fn index_of(&self, key: &str) -> u64 {
        self.keys.get(key).map_or(self.index, |entry| entry.modified).max(1)
    }

    fn begin_session(&mut self) -> Answer {
        let id = format!("00000000-0000-4000-8000-{:012}", self.next_index());
        self.sessions.insert(id.clone(), Instant::now() + TTL);
        ok(&json!({ "ID": id }))
    }

    fn renew(&mut self, id: &str) -> Answer {
        match self.sessions.get_mut(id) {
            Some(end) => {
                *end = Instant::now() + TTL;
                ok(&json!([{ "ID": id, "TTL": "15s", "LockDelay": 5_000_000_000_u64 }]))
            }
            None => ("404 Not Found", format!("Session id '{id}' not found").into_bytes()),
        }
    }

    fn end_session(&mut self, id: &str) {
        if self.sessions.remove(id).is_none() {
            return;
        }
        let held = self.keys.iter().filter(|(_, entry)| entry.session.as_deref() == Some(id));
        let held: Vec<String> = held.map(|(key, _)| key.clone()).collect();
        for key in held {
            let index = self.next_index();
            if let Some(entry) = self.keys.get_mut(&key) {
                (entry.session, entry.modified) = (None, index);
            }
            self.delays.insert(key, Instant::now() + LOCK_DELAY);
        }
    }

    fn get(&self, key: &str, parameters: &BTreeMap<String, String>) -> Answer {
        if parameters.contains_key("keys") {
            let separator = parameters.get("separator").map_or("", String::as_str);
            let mut names: Vec<String> = Vec::new();
            for name in self.keys.keys().filter(|name| name.starts_with(key)) {
                let rest = &name[key.len()..];
                let end = rest.find(separator).filter(|_| !separator.is_empty());
                let name = end.map_or(name.as_str(), |position| &name[..key.len() + position + 1]);
                if names.last().is_none_or(|last| last != name) {
                    names.push(name.to_owned());
                }
            }
            return if names.is_empty() { missing() } else { ok(&json!(names)) };
        }
        self.keys.get(key).map_or_else(missing, |entry| ok(&json!([pair(key, entry)])))
    }

    fn put(&mut self, key: &str, request: &ConsulRequest) -> Answer {
        if request.body.len() > MAX_VALUE {
            return too_large(request.body.len());
        }
        let old = self.keys.get(key).cloned();
        let holder = old.as_ref().and_then(|entry| entry.session.clone());
        let mut session = holder.clone();
        if let Some(id) = request.parameters.get("acquire") {
            let delayed = self.delays.get(key).is_some_and(|end| *end > Instant::now());
            let is_free = holder.as_ref().is_none_or(|holder| holder == id);
            if delayed || !is_free || !self.sessions.contains_key(id) {
                return ok(&json!(false));
            }
            session = Some(id.clone());
        }
        if let Some(id) = request.parameters.get("release") {
            if holder.as_ref() != Some(id) {
                return ok(&json!(false));
            }
            session = None;
        }
        let flags = request.parameters.get("flags").and_then(|flags| flags.parse().ok());
        let index = self.next_index();
        let entry = Entry {
            value: request.body.clone(),
            flags: flags.unwrap_or(0),
            created: old.map_or(index, |entry| entry.created),
            modified: index,
            session,
        };
        self.keys.insert(key.to_owned(), entry);
        ok(&json!(true))
    }

    fn delete(&mut self, key: &str, parameters: &BTreeMap<String, String>) -> Answer {
        let version: Option<u64> = parameters.get("cas").and_then(|version| version.parse().ok());
        let actual = self.keys.get(key).map_or(0, |entry| entry.modified);
        if version.is_some_and(|version| version != actual) {
            return ok(&json!(false));
        }
        self.next_index();
        if parameters.contains_key("recurse") {
            self.keys.retain(|name, _| !name.starts_with(key));
        } else {
            self.keys.remove(key);
        }
        ok(&json!(true))
    }

    /// One operation that sets a key, with or without a condition on its version.
    fn transact(&mut self, body: &[u8]) -> Answer {
        if body.len() > MAX_VALUE {
            return too_large(body.len());
        }
        let operations: Value = serde_json::from_slice(body).unwrap_or_default();
        let operation = &operations[0]["KV"];
        let text = |name: &str| operation[name].as_str().unwrap_or_default().to_owned();
        let (verb, key) = (text("Verb").to_lowercase(), text("Key"));
        let Ok(value) = STANDARD.decode(text("Value")) else {
            return ("400 Bad Request", b"the value is not base64".to_vec());
        };
        let actual = self.keys.get(&key).map_or(0, |entry| entry.modified);
        let stale = verb == "cas" && operation["Index"].as_u64().unwrap_or(0) != actual;
        if stale || !["cas", "set"].contains(&verb.as_str()) {
            let message = format!("failed to set key \"{key}\", index is stale");
            let errors = json!({ "Results": null, "Errors": [{ "OpIndex": 0, "What": message }] });
            return ("409 Conflict", errors.to_string().into_bytes());
        }
        let index = self.next_index();
        let old = self.keys.get(&key).cloned().unwrap_or_default();
        let created = if actual == 0 { index } else { old.created };
        let entry = Entry { value, created, modified: index, ..old };
        let mut stored = pair(&key, &entry);
        stored["Value"] = Value::Null;
        self.keys.insert(key, entry);
        ok(&json!({ "Results": [{ "KV": stored }], "Errors": null }))
    }
}

fn pair(key: &str, entry: &Entry) -> Value {
    let mut pair = json!({
        "LockIndex": 0,
        "Key": key,
        "Flags": entry.flags,
        "Value": STANDARD.encode(&entry.value),
        "CreateIndex": entry.created,
        "ModifyIndex": entry.modified,
    });
    if let Some(session) = &entry.session {
        pair["Session"] = json!(session);
    }
    pair
}

fn missing() -> Answer {
    ("404 Not Found", Vec::new())
}

fn too_large(length: usize) -> Answer {
    let text = format!("Request body({length} bytes) too large, max size: {MAX_VALUE} bytes.");
    ("413 Request Entity Too Large", text.into_bytes())
}

fn serve(stream: &TcpStream, store: &Store) -> std::io::Result<()> {
    let request = read(stream)?;
    let ((status, body), index) = store.react(&request);
    let index = format!("X-Consul-Index: {index}");
    let headers = [
        "Connection: close",
        "Content-Type: application/json",
        &index,
        "X-Consul-KnownLeader: true",
        "X-Consul-LastContact: 0",
    ];
    http::answer(stream, status, &headers, &body)
}

fn read(stream: &TcpStream) -> std::io::Result<ConsulRequest> {
    let request = Request::read(&mut BufReader::new(stream))?.unwrap_or_default();
    let (path, query) = request.target.split_once('?').unwrap_or((&request.target, ""));
    let pairs = query.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        (name.to_owned(), decoded(value))
    });
    Ok(ConsulRequest {
        method: request.method,
        path: decoded(path.trim_start_matches("/v1/")),
        parameters: pairs.collect(),
        body: request.body,
    })
}

/// A part of a URL without its escapes.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let digits = tail.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match (first, byte) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            _ => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
