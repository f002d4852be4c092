//! Stores the journals of runs next to the state at a URL, if the server supports it: parts at
//! `ADDRESS.journal/RUN/PART`, listed at `ADDRESS.journal/`.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use formwork_core::disk::parse_json_object;
use serde::Deserialize;
use serde_json::{Map, Value};
use ureq::http::{StatusCode, Uri, header};

use super::{HttpServer, access_refused_cause};
use crate::cause::Cause;
use crate::journals::{CreateOutcome, ListedObject, ObjectStore};
use crate::web::{HttpResponse, is_retryable_status, redact_url};

/// The suffix of the state's address with which the names of all parts begin.
const PARTS: &str = ".journal/";

/// The content type of the list.
const LIST_TYPE: &str = "application/json";

/// The responses of servers without journals, by configuration directory and URL: a command opens its state
/// several times, and queries the server once.
static ABSENCES: Mutex<BTreeMap<String, Absence>> = Mutex::new(BTreeMap::new());

/// The time for which such a response is cached. A process that embeds the engine may run for
/// months.
const ABSENCE_TIME: Duration = Duration::from_secs(60);

/// The response of a server without journals.
#[derive(Clone)]
struct Absence {
    reason: String,
    noted: Instant,
}

/// The journal parts of a state.
#[derive(Clone)]
pub(super) struct HttpObjects {
    server: HttpServer,
    address: Uri,
    /// The key under which the response of a server without journals is cached.
    absence_key: String,
}

/// An entry of the list.
#[derive(Deserialize)]
struct ListedPart {
    /// `RUN/PART`.
    name: String,
    /// Time since it was written, by the clock of the server.
    age_seconds: u64,
}

impl HttpObjects {
    /// The parts of a state on a server, at the address of the state, for a configuration in a
    /// directory.
    pub(super) fn new(server: HttpServer, address: Uri, root: &Path) -> Self {
        let absence_key = format!("{}\n{address}", root.display());
        Self { server, address, absence_key }
    }

    /// Queries the server once whether it stores journals. A server that does not respond counts as one that
    /// does not.
    pub(super) async fn is_kept(&self) -> bool {
        let url = self.url(PARTS);
        let request = self.server.request("GET", &url).body(Vec::new());
        let Ok(request) = request else { return false };
        // Without retries, because the response is needed only for a sentence.
        let Ok(answer) = self.server.client.send_once(request).await else { return false };
        let is_kept = listed_entries(&answer).is_some();
        if !is_kept && shows_absence(answer.status) {
            self.note_absence(&answer, &url);
        }
        is_kept
    }

    /// Returns the URL of a part, or that of the list.
    fn url(&self, name: &str) -> String {
        // The name is appended to the path: an address may have a query, which is preserved, or no
        // path at all.
        let scheme = self.address.scheme_str().unwrap_or("http");
        let authority = self.address.authority().map_or("", |authority| authority.as_str());
        let query = self.address.query().map(|query| format!("?{query}")).unwrap_or_default();
        format!("{scheme}://{authority}{}{name}{query}", self.address.path())
    }

    /// The absence, if it was noted recently.
    fn absence(&self) -> Option<Absence> {
        let absence = absences().get(&self.absence_key).cloned();
        absence.filter(|absence| absence.noted.elapsed() < ABSENCE_TIME)
    }

    /// Records that the server stores no journals. Returns this as a reason.
    fn note_absence(&self, answer: &HttpResponse, url: &str) -> String {
        let (url, status) = (redact_url(url), answer.status);
        tracing::debug!(url, %status, "the server keeps no journals");
        let reason = format!(
            "The server stores no journals: GET {url} returned {status} instead of a list of journals"
        );
        let absence = Absence { reason: reason.clone(), noted: Instant::now() };
        absences().insert(self.absence_key.clone(), absence);
        reason
    }
}

fn absences() -> MutexGuard<'static, BTreeMap<String, Absence>> {
    ABSENCES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a response without a list shows that the server stores no journals. A refusal, for example of credentials,
/// does not.
fn shows_absence(status: StatusCode) -> bool {
    status.is_success()
        || matches!(
            status,
            StatusCode::BAD_REQUEST
                | StatusCode::NOT_FOUND
                | StatusCode::METHOD_NOT_ALLOWED
                | StatusCode::NOT_ACCEPTABLE
                | StatusCode::GONE
                | StatusCode::NOT_IMPLEMENTED
        )
}

/// Returns the entries of the list of parts, or `None` if the response is something else.
fn listed_entries(answer: &HttpResponse) -> Option<Value> {
    // Some servers return pages, or even states, for any address.
    let kind = answer.header("Content-Type")?.split(';').next()?.trim();
    if answer.status != StatusCode::OK || !kind.eq_ignore_ascii_case(LIST_TYPE) {
        return None;
    }
    let mut list: Map<String, Value> = parse_json_object(&answer.body).ok()?;
    list.remove("objects").filter(Value::is_array)
}

#[async_trait::async_trait]
impl ObjectStore for HttpObjects {
    fn location(&self, prefix: &str) -> String {
        redact_url(&self.url(prefix))
    }

    async fn list_objects(&self, prefix: &str) -> Result<Result<Vec<ListedObject>, String>, Cause> {
        if let Some(absence) = self.absence() {
            return Ok(Err(absence.reason));
        }
        let url = self.url(PARTS);
        let answer = self.server.send("GET", &url, None).await?;
        let Some(entries) = listed_entries(&answer) else {
            return match shows_absence(answer.status) {
                true => Ok(Err(self.note_absence(&answer, &url))),
                // The server may have the journal of an interrupted run, without which its objects would
                // be created twice.
                false => Err(answer.unexpected_response_cause("GET", &url)),
            };
        };
        absences().remove(&self.absence_key);
        let parts: Vec<ListedPart> = serde_json::from_value(entries).map_err(|error| {
            format!("GET {}: the list of journals is invalid: {error}", redact_url(&url))
        })?;
        let objects = parts.into_iter().map(|part| ListedObject {
            name: format!("{PARTS}{}", part.name),
            age: Some(Duration::from_secs(part.age_seconds)),
        });
        Ok(Ok(objects.filter(|object| object.name.starts_with(prefix)).collect()))
    }

    async fn read_object(&self, name: &str) -> Result<Option<Vec<u8>>, Cause> {
        let url = self.url(name);
        let answer = self.server.send("GET", &url, None).await?;
        match answer.status {
            StatusCode::OK => Ok(Some(answer.body)),
            StatusCode::NOT_FOUND | StatusCode::GONE => Ok(None),
            _ => Err(access_refused_cause(&answer, "GET", &url)),
        }
    }

    async fn create_object(&self, name: &str, content: &[u8]) -> Result<CreateOutcome, Cause> {
        let url = self.url(name);
        let request = self.server.request("PUT", &url);
        let request = request.header(header::IF_NONE_MATCH, "*");
        let request = request.header(header::CONTENT_TYPE, "application/octet-stream");
        let answer = self.server.client.send(&request.body(content.to_vec())?).await?;
        match answer.status {
            StatusCode::OK | StatusCode::CREATED => Ok(CreateOutcome::Created),
            StatusCode::PRECONDITION_FAILED => Ok(CreateOutcome::Exists),
            // If the server fails, it is not known whether it has stored the part.
            status if is_retryable_status(status) => {
                Err(answer.unexpected_response_cause("PUT", &url))
            }
            _ => Ok(CreateOutcome::Refused(access_refused_cause(&answer, "PUT", &url))),
        }
    }

    async fn remove_object(&self, name: &str) -> Result<(), Cause> {
        let url = self.url(name);
        let answer = self.server.send("DELETE", &url, None).await?;
        match answer.status {
            StatusCode::NOT_FOUND | StatusCode::GONE => Ok(()),
            status if status.is_success() => Ok(()),
            _ => Err(access_refused_cause(&answer, "DELETE", &url)),
        }
    }

    fn is_known_to_keep_none(&self) -> bool {
        self.absence().is_some()
    }

    fn has_lock(&self) -> bool {
        self.server.lock_address.is_some()
    }

    fn shows_lock(&self) -> bool {
        // Only an attempt to acquire the lock returns its holder, and that would block other runs.
        false
    }

    async fn is_locked(&self) -> Result<bool, Cause> {
        Ok(false)
    }
}
