//! Calls of the HTTP API of Consul: keys, transactions and sessions.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::{Value, json};
use ureq::http::{Request, StatusCode, header};

use crate::cause::Cause;
use crate::web::{Client, HttpResponse, encoded};

/// The mark that Consul's own clients set on keys that are locks.
const LOCK_FLAG: u64 = 0x2ddc_cbc0_58a5_0c18;

/// The time after which a session without a sign of life ends, and the time for which its lock cannot be
/// taken then. As in Terraform.
const SESSION: [(&str, &str); 3] =
    [("Name", "Consul API Lock"), ("TTL", "15s"), ("LockDelay", "5s")];

/// A server, or the cluster that it belongs to.
#[derive(Clone)]
pub(super) struct Server {
    /// The URL, without a slash at the end.
    pub(super) url: String,
    pub(super) token: Option<String>,
    pub(super) auth: Option<String>,
    /// The parameters of every call.
    pub(super) parameters: Vec<(&'static str, String)>,
    pub(super) client: Client,
}

/// A key with its value.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Pair {
    #[serde(default)]
    value: Option<String>,
    /// The version of the key.
    pub(super) modify_index: u64,
    #[serde(default)]
    flags: u64,
    /// The session that holds the key.
    #[serde(default)]
    pub(super) session: Option<String>,
}

/// The outcome of a write that has a condition.
#[derive(Debug)]
pub(super) enum Stored {
    /// The key is written, and has this version.
    Yes(u64),
    /// The key has another version.
    Stale,
    /// The value is longer than the server takes.
    TooLarge,
}

#[derive(Deserialize)]
struct SessionId {
    #[serde(rename = "ID")]
    id: String,
}

#[derive(Deserialize)]
struct Transaction {
    #[serde(rename = "Results", default)]
    results: Option<Vec<TransactionResult>>,
}

/// A transaction that was not carried out.
#[derive(Default, Deserialize)]
struct Refused {
    #[serde(rename = "Errors", default)]
    errors: Option<Vec<TransactionError>>,
}

#[derive(Deserialize)]
struct TransactionError {
    #[serde(rename = "What", default)]
    what: String,
}

#[derive(Deserialize)]
struct TransactionResult {
    #[serde(rename = "KV")]
    pair: Pair,
}

impl Pair {
    /// The value.
    pub(super) fn content(&self) -> Result<Vec<u8>, Cause> {
        // Consul writes an empty value as null.
        Ok(STANDARD.decode(self.value.as_deref().unwrap_or_default())?)
    }
}

impl Server {
    /// Reads a key; `None` if there is none.
    pub(super) async fn get(&self, key: &str) -> Result<Option<Pair>, Cause> {
        let answer = self.call("GET", &format!("kv/{}", path(key)), Vec::new()).await?;
        match answer.status {
            // Consul answers without content. A page of a proxy must not pass for an empty state.
            StatusCode::NOT_FOUND if answer.body.is_empty() => Ok(None),
            _ => Ok(self.json::<Vec<Pair>>(&answer, "GET", key)?.into_iter().next()),
        }
    }

    /// Writes a key, whatever it holds.
    pub(super) async fn put(&self, key: &str, value: Vec<u8>) -> Result<(), Cause> {
        let answer = self.call("PUT", &format!("kv/{}", path(key)), value).await?;
        match self.json::<bool>(&answer, "PUT", key)? {
            true => Ok(()),
            false => {
                Err(format!("PUT {}/v1/kv/{key}: the server did not write it", self.url).into())
            }
        }
    }

    /// Writes a key if it has a version; the version 0 is that of a key that does not exist.
    pub(super) async fn put_over(
        &self,
        key: &str,
        value: &[u8],
        version: u64,
    ) -> Result<Stored, Cause> {
        // A transaction returns the new version, while `?cas=` only says whether something was
        // written.
        let operation = json!([{ "KV": {
            // Transactions take values in base64, while plain writes take the bytes themselves.
            "Verb": "cas", "Key": key, "Value": STANDARD.encode(value), "Index": version,
        } }]);
        let answer = self.call("PUT", "txn", operation.to_string().into_bytes()).await?;
        match answer.status {
            StatusCode::CONFLICT => {
                let refused: Refused = serde_json::from_slice(&answer.body).unwrap_or_default();
                let reasons = refused.errors.into_iter().flatten().map(|error| error.what);
                let reasons = reasons.collect::<Vec<_>>().join("; ");
                // The server answers so to every operation that fails, also where a permission is missing.
                if reasons.is_empty() || reasons.contains("stale") {
                    return Ok(Stored::Stale);
                }
                return Err(format!("PUT {}/v1/kv/{key}: {reasons}", self.url).into());
            }
            StatusCode::PAYLOAD_TOO_LARGE => return Ok(Stored::TooLarge),
            // Older servers have no status of its own for it.
            _ if String::from_utf8_lossy(&answer.body).contains("too large") => {
                return Ok(Stored::TooLarge);
            }
            _ => {}
        }
        let done: Transaction = self.json(&answer, "PUT", key)?;
        let version = done.results.and_then(|results| results.into_iter().next());
        let version = version.ok_or("the answer to the transaction has no result")?;
        Ok(Stored::Yes(version.pair.modify_index))
    }

    /// Removes a key.
    pub(super) async fn delete(&self, key: &str) -> Result<(), Cause> {
        let answer = self.call("DELETE", &format!("kv/{}", path(key)), Vec::new()).await?;
        self.json::<bool>(&answer, "DELETE", key).map(drop)
    }

    /// Removes a key if it still has a version.
    pub(super) async fn delete_version(&self, key: &str, version: u64) -> Result<(), Cause> {
        let call = format!("kv/{}?cas={version}", path(key));
        let answer = self.call("DELETE", &call, Vec::new()).await?;
        // The answer false means that the key has another version: then it is not ours to remove.
        self.json::<bool>(&answer, "DELETE", key).map(drop)
    }

    /// Removes all keys that begin with a prefix.
    pub(super) async fn delete_below(&self, prefix: &str) -> Result<(), Cause> {
        let call = format!("kv/{}?recurse=", path(prefix));
        let answer = self.call("DELETE", &call, Vec::new()).await?;
        self.json::<bool>(&answer, "DELETE", prefix).map(drop)
    }

    /// Lists the keys that begin with a prefix, up to the next slash.
    pub(super) async fn keys(&self, prefix: &str) -> Result<Vec<String>, Cause> {
        // With a separator, all chunks of a state come as one entry.
        let call = format!("kv/{}?keys=&separator=%2F", path(prefix));
        let answer = self.call("GET", &call, Vec::new()).await?;
        match answer.status {
            // The server answers so to a prefix without keys, too.
            StatusCode::NOT_FOUND if answer.body.is_empty() => Ok(Vec::new()),
            _ => self.json(&answer, "GET", prefix),
        }
    }

    /// Begins a session.
    pub(super) async fn begin_session(&self) -> Result<String, Cause> {
        let session: serde_json::Map<String, Value> =
            SESSION.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
        let body = Value::Object(session).to_string().into_bytes();
        let answer = self.call("PUT", "session/create", body).await?;
        Ok(self.json::<SessionId>(&answer, "PUT", "session")?.id)
    }

    /// Ends a session; the keys that it holds are free then.
    pub(super) async fn end_session(&self, id: &str) -> Result<(), Cause> {
        let call = format!("session/destroy/{}", encoded(id));
        let answer = self.call("PUT", &call, Vec::new()).await?;
        self.json::<bool>(&answer, "PUT", "session").map(drop)
    }

    /// The request that keeps a session alive.
    pub(super) fn renewal(&self, id: &str) -> Result<Request<Vec<u8>>, Cause> {
        self.request("PUT", &format!("session/renew/{}", encoded(id)), Vec::new())
    }

    /// Takes a key for a session. Returns whether it was free.
    ///
    /// # Errors
    /// When the server refuses, or the key exists and is no lock.
    pub(super) async fn acquire(&self, key: &str, session: &str) -> Result<bool, Cause> {
        // A key without the flag is of another program, and acquiring it would replace its value.
        if self.get(key).await?.is_some_and(|pair| pair.flags != LOCK_FLAG) {
            return Err(format!("existing key {key:?} does not match lock use").into());
        }
        let call = format!("kv/{}?acquire={}&flags={LOCK_FLAG}", path(key), encoded(session));
        let answer = self.call("PUT", &call, Vec::new()).await?;
        self.json(&answer, "PUT", key)
    }

    /// Gives a key of a session back.
    pub(super) async fn release(&self, key: &str, session: &str) -> Result<bool, Cause> {
        let call = format!("kv/{}?release={}&flags={LOCK_FLAG}", path(key), encoded(session));
        let answer = self.call("PUT", &call, Vec::new()).await?;
        self.json(&answer, "PUT", key)
    }

    fn request(&self, method: &str, call: &str, body: Vec<u8>) -> Result<Request<Vec<u8>>, Cause> {
        let mut url = format!("{}/v1/{call}", self.url);
        for (name, value) in &self.parameters {
            let separator = if url.contains('?') { '&' } else { '?' };
            url.push_str(&format!("{separator}{name}={}", encoded(value)));
        }
        let mut request = Request::builder().method(method).uri(url);
        // In a header, because URLs stand in messages and logs.
        if let Some(token) = &self.token {
            request = request.header("X-Consul-Token", token);
        }
        if let Some(auth) = &self.auth {
            request = request.header(header::AUTHORIZATION, auth);
        }
        Ok(request.body(body)?)
    }

    async fn call(&self, method: &str, call: &str, body: Vec<u8>) -> Result<HttpResponse, Cause> {
        self.client.send(&self.request(method, call, body)?).await
    }

    fn json<T: serde::de::DeserializeOwned>(
        &self,
        answer: &HttpResponse,
        method: &str,
        key: &str,
    ) -> Result<T, Cause> {
        let url = format!("{}/v1/kv/{key}", self.url);
        if answer.status != StatusCode::OK {
            return Err(match answer.status {
                StatusCode::FORBIDDEN => format!(
                    "{method} {url}: permission denied; check access_token and the rules of its policy for keys and sessions"
                )
                .into(),
                _ => answer.unexpected(method, &url),
            });
        }
        serde_json::from_slice(&answer.body)
            .map_err(|error| format!("{method} {url}: the answer cannot be read: {error}").into())
    }
}

/// A key in a URL.
fn path(key: &str) -> String {
    key.split('/').map(encoded).collect::<Vec<_>>().join("/")
}
