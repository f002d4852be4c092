//! Rules of a server for the backend `http`: one state with its lock, and the journals of runs next to it
//! if the server keeps them.

use std::collections::BTreeMap;
use std::time::Instant;

use serde_json::{Value, json};

use crate::http::Request;

/// A state with its lock and journals.
#[derive(Debug, Default)]
pub struct StoredState {
    /// The state; empty if there is none.
    pub state: Vec<u8>,
    /// The lock as it was sent; empty if there is none.
    pub lock: Vec<u8>,
    /// The status of every answer to a write, if writes fail.
    pub failure: Option<&'static str>,
    /// The parts of journals by their names; `None` if the server keeps none.
    pub parts: Option<BTreeMap<String, StoredPart>>,
    /// Number of requests for the list of parts.
    pub n_list_requests: usize,
    /// Seconds that are added to the age of each part.
    pub added_age: u64,
    /// The methods of requests that change something.
    pub methods: Methods,
}

/// A part of a journal.
#[derive(Debug)]
pub struct StoredPart {
    content: Vec<u8>,
    written: Instant,
}

/// The methods of requests about a state.
#[derive(Clone, Copy, Debug)]
pub struct Methods {
    /// Replaces the state.
    pub update: &'static str,
    /// Takes the lock.
    pub lock: &'static str,
    /// Releases the lock.
    pub unlock: &'static str,
}

impl Default for Methods {
    fn default() -> Self {
        Self { update: "POST", lock: "LOCK", unlock: "UNLOCK" }
    }
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The code with its phrase.
    pub status: &'static str,
    /// A header with the type of the content.
    pub content_type: &'static str,
    /// The content.
    pub body: Vec<u8>,
}

impl Answer {
    fn new(status: &'static str, body: Vec<u8>) -> Self {
        Self { status, content_type: "Content-Type: application/octet-stream", body }
    }

    /// An answer without content.
    #[must_use]
    pub fn empty(status: &'static str) -> Self {
        Self::new(status, Vec::new())
    }
}

impl StoredState {
    /// Answers a request.
    ///
    /// ```
    /// use formwork_tests::http::Request;
    /// use formwork_tests::http_state::StoredState;
    ///
    /// let mut stored = StoredState { state: b"{}".to_vec(), ..StoredState::default() };
    /// let mut ask = |method: &str, target: &str| {
    ///     let (method, target) = (method.to_owned(), target.to_owned());
    ///     stored.answer(Request { method, target, ..Request::default() }).status
    /// };
    /// assert_eq!(ask("GET", "/state"), "200 OK");
    /// assert_eq!(ask("GET", "/state.journal/"), "404 Not Found");
    /// assert_eq!(ask("POST", "/state?ID=other"), "409 Conflict");
    /// ```
    pub fn answer(&mut self, request: Request) -> Answer {
        let path = request.target.split('?').next().unwrap_or_default();
        match path.split_once(".journal/").map(|(_, name)| name.to_owned()) {
            Some(name) => self.answer_about_parts(name, request),
            None => self.answer_about_state(request),
        }
    }

    fn answer_about_state(&mut self, request: Request) -> Answer {
        let Methods { update, lock, unlock } = self.methods;
        match request.method.as_str() {
            "GET" if self.state.is_empty() => Answer::empty("404 Not Found"),
            "GET" => Answer::new("200 OK", self.state.clone()),
            method if method == update => match self.failure {
                Some(status) => Answer::empty(status),
                None if self.is_of_other_lock(&request.target) => self.answer_of_conflict(),
                None => {
                    self.state = request.body;
                    Answer::empty("200 OK")
                }
            },
            method if method == lock && self.lock.is_empty() => {
                self.lock = request.body;
                Answer::empty("200 OK")
            }
            method if method == lock => Answer::new("423 Locked", self.lock.clone()),
            // Without content the lock ends by force.
            method if method == unlock && !request.body.is_empty() && self.lock.is_empty() => {
                Answer::empty("404 Not Found")
            }
            method if method == unlock => {
                if !request.body.is_empty() && lock_id(&request.body) != lock_id(&self.lock) {
                    return self.answer_of_conflict();
                }
                self.lock.clear();
                Answer::empty("200 OK")
            }
            _ => Answer::empty("405 Method Not Allowed"),
        }
    }

    /// Whether a write names a lock that is not held.
    fn is_of_other_lock(&self, target: &str) -> bool {
        let (_, query) = target.split_once('?').unwrap_or_default();
        let id = query.split('&').find_map(|pair| pair.strip_prefix("ID="));
        id.is_some_and(|id| lock_id(&self.lock).as_deref() != Some(id))
    }

    fn answer_of_conflict(&self) -> Answer {
        Answer::new("409 Conflict", self.lock.clone())
    }

    fn answer_about_parts(&mut self, name: String, request: Request) -> Answer {
        self.n_list_requests += usize::from(name.is_empty());
        let Some(parts) = &mut self.parts else { return Answer::empty("404 Not Found") };
        let is_conditional = request.headers.get("if-none-match").is_some_and(|tag| tag == "*");
        match (request.method.as_str(), parts.contains_key(&name)) {
            ("GET", _) if name.is_empty() => Self::list_of(parts, self.added_age),
            ("GET", true) => Answer::new("200 OK", parts[&name].content.clone()),
            ("PUT", true) => Answer::empty("412 Precondition Failed"),
            ("PUT", false) if is_conditional => {
                parts.insert(name, StoredPart { content: request.body, written: Instant::now() });
                Answer::empty("201 Created")
            }
            ("DELETE", true) => {
                parts.remove(&name);
                Answer::empty("200 OK")
            }
            ("GET" | "DELETE", false) => Answer::empty("404 Not Found"),
            _ => Answer::empty("405 Method Not Allowed"),
        }
    }

    fn list_of(parts: &BTreeMap<String, StoredPart>, added_age: u64) -> Answer {
        let entry = |(name, part): (&String, &StoredPart)| json!({ "name": name, "age_seconds": part.written.elapsed().as_secs() + added_age });
        let list = json!({ "objects": parts.iter().map(entry).collect::<Vec<Value>>() });
        let content_type = "Content-Type: application/json";
        Answer { content_type, ..Answer::new("200 OK", list.to_string().into_bytes()) }
    }
}

/// The ID in the description of a lock.
fn lock_id(lock: &[u8]) -> Option<String> {
    let lock: Value = serde_json::from_slice(lock).ok()?;
    Some(lock.get("ID")?.as_str()?.to_owned())
}
