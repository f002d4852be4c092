//! Calls of the Consul HTTP API: keys, transactions and sessions.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::{Value, json};
use ureq::http::{Request, StatusCode, header};

use crate::cause::{Cause, PermissionDenied};
use crate::web::{HttpClient, HttpResponse, json_error_text, percent_encode};

/// The flag that Consul's own clients set on lock keys.
const CONSUL_LOCK_FLAG: u64 = 0x2ddc_cbc0_58a5_0c18;

/// The time after which a session that is not renewed ends, and the time during which its lock cannot be
/// acquired after that. As in Terraform.
const SESSION_PARAMETERS: [(&str, &str); 3] =
    [("Name", "Consul API Lock"), ("TTL", "15s"), ("LockDelay", "5s")];

/// A server, or the cluster that it belongs to.
#[derive(Clone)]
pub(super) struct ConsulServer {
    /// The URL, without a trailing slash.
    pub(super) url: String,
    pub(super) token: Option<String>,
    pub(super) auth: Option<String>,
    /// The parameters of every call.
    pub(super) parameters: Vec<(&'static str, String)>,
    pub(super) client: HttpClient,
}

/// A key with its value.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct KeyValue {
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

/// The result of a conditional write.
#[derive(Debug)]
pub(super) enum ConditionalPutOutcome {
    /// The key was written, and has this version.
    Stored(u64),
    /// The key has another version.
    Stale,
    /// The value is longer than the server accepts.
    TooLarge,
}

#[derive(Deserialize)]
struct SessionId {
    #[serde(rename = "ID")]
    id: String,
}

#[derive(Deserialize)]
struct ConsulTransaction {
    #[serde(rename = "Results", default)]
    results: Option<Vec<TransactionResult>>,
}

/// A transaction that was not executed.
#[derive(Default, Deserialize)]
struct RejectedTransaction {
    #[serde(rename = "Errors", default)]
    errors: Option<Vec<TransactionError>>,
}

#[derive(Deserialize)]
struct TransactionError {
    #[serde(rename = "What", default)]
    message: String,
}

#[derive(Deserialize)]
struct TransactionResult {
    #[serde(rename = "KV")]
    pair: KeyValue,
}

impl KeyValue {
    /// The value.
    pub(super) fn decode_value(&self) -> Result<Vec<u8>, Cause> {
        // Consul encodes an empty value as null.
        Ok(STANDARD.decode(self.value.as_deref().unwrap_or_default())?)
    }
}

impl ConsulServer {
    /// Reads a key. Returns `None` if it does not exist.
    pub(super) async fn get(&self, key: &str) -> Result<Option<KeyValue>, Cause> {
        let answer =
            self.send_request("GET", &format!("kv/{}", encode_key_path(key)), Vec::new()).await?;
        match answer.status {
            // Consul's response has no content. A page from a proxy must not be mistaken for an
            // empty state.
            StatusCode::NOT_FOUND if answer.body.is_empty() => Ok(None),
            _ => Ok(self.parse_json::<Vec<KeyValue>>(&answer, "GET", key)?.into_iter().next()),
        }
    }

    /// Writes a key, and overwrites values of other programs.
    pub(super) async fn put(&self, key: &str, value: Vec<u8>) -> Result<(), Cause> {
        let answer =
            self.send_request("PUT", &format!("kv/{}", encode_key_path(key)), value).await?;
        match self.parse_json::<bool>(&answer, "PUT", key)? {
            true => Ok(()),
            false => {
                Err(format!("PUT {}/v1/kv/{key}: the server did not write it", self.url).into())
            }
        }
    }

    /// Writes a key if it has a version. Version 0 means that the key does not exist.
    pub(super) async fn put_over_version(
        &self,
        key: &str,
        value: &[u8],
        version: u64,
    ) -> Result<ConditionalPutOutcome, Cause> {
        // A transaction returns the new version, while `?cas=` only returns whether the value was
        // written.
        let operation = json!([{ "KV": {
            // Transactions encode values in base64, while plain writes send the bytes themselves.
            "Verb": "cas", "Key": key, "Value": STANDARD.encode(value), "Index": version,
        } }]);
        let answer = self.send_request("PUT", "txn", operation.to_string().into_bytes()).await?;
        match answer.status {
            StatusCode::CONFLICT => {
                let rejected: RejectedTransaction =
                    serde_json::from_slice(&answer.body).unwrap_or_default();
                let reasons = rejected.errors.into_iter().flatten().map(|error| error.message);
                let reasons = reasons.collect::<Vec<_>>().join("; ");
                // The server responds like this to every operation that fails, even if a permission is
                // missing.
                if reasons.contains("stale") {
                    return Ok(ConditionalPutOutcome::Stale);
                }
                let url = format!("{}/v1/kv/{key}", self.url);
                let text = format!("PUT {url}: {reasons}");
                return Err(match &reasons {
                    // A response without a reason comes from, for example, a proxy.
                    empty if empty.is_empty() => answer.unexpected_response_cause("PUT", &url),
                    denied if denied.to_lowercase().contains("permission denied") => {
                        PermissionDenied(text).into()
                    }
                    _ => text.into(),
                });
            }
            StatusCode::PAYLOAD_TOO_LARGE => return Ok(ConditionalPutOutcome::TooLarge),
            // Older servers have no specific status for it.
            _ if String::from_utf8_lossy(&answer.body).contains("too large") => {
                return Ok(ConditionalPutOutcome::TooLarge);
            }
            _ => {}
        }
        let transaction: ConsulTransaction = self.parse_json(&answer, "PUT", key)?;
        let version = transaction.results.and_then(|results| results.into_iter().next());
        let version = version.ok_or("the response to the transaction has no result")?;
        Ok(ConditionalPutOutcome::Stored(version.pair.modify_index))
    }

    /// Deletes a key.
    pub(super) async fn delete(&self, key: &str) -> Result<(), Cause> {
        let answer = self
            .send_request("DELETE", &format!("kv/{}", encode_key_path(key)), Vec::new())
            .await?;
        self.parse_json::<bool>(&answer, "DELETE", key).map(drop)
    }

    /// Deletes a key if it still has a version.
    pub(super) async fn delete_if_version(&self, key: &str, version: u64) -> Result<(), Cause> {
        let call = format!("kv/{}?cas={version}", encode_key_path(key));
        let answer = self.send_request("DELETE", &call, Vec::new()).await?;
        // The response `false` means that the key has another version. In this case it must not be
        // deleted.
        self.parse_json::<bool>(&answer, "DELETE", key).map(drop)
    }

    /// Deletes all keys with a prefix.
    pub(super) async fn delete_keys_with_prefix(&self, prefix: &str) -> Result<(), Cause> {
        let call = format!("kv/{}?recurse=", encode_key_path(prefix));
        let answer = self.send_request("DELETE", &call, Vec::new()).await?;
        self.parse_json::<bool>(&answer, "DELETE", prefix).map(drop)
    }

    /// Lists the keys with a prefix, up to the next slash.
    pub(super) async fn list_keys(&self, prefix: &str) -> Result<Vec<String>, Cause> {
        // With a separator, all chunks of a state appear as one entry.
        self.list_keys_by_call(prefix, "keys=&separator=%2F").await
    }

    /// Lists all keys with a prefix, regardless of further slashes.
    pub(super) async fn list_all_keys(&self, prefix: &str) -> Result<Vec<String>, Cause> {
        self.list_keys_by_call(prefix, "keys=").await
    }

    async fn list_keys_by_call(
        &self,
        prefix: &str,
        parameters: &str,
    ) -> Result<Vec<String>, Cause> {
        let call = format!("kv/{}?{parameters}", encode_key_path(prefix));
        let answer = self.send_request("GET", &call, Vec::new()).await?;
        match answer.status {
            // The server also responds like this to a prefix without keys.
            StatusCode::NOT_FOUND if answer.body.is_empty() => Ok(Vec::new()),
            _ => self.parse_json(&answer, "GET", prefix),
        }
    }

    /// Creates a session.
    pub(super) async fn begin_session(&self) -> Result<String, Cause> {
        let session: serde_json::Map<String, Value> = SESSION_PARAMETERS
            .iter()
            .map(|(name, value)| ((*name).to_owned(), json!(value)))
            .collect();
        let body = Value::Object(session).to_string().into_bytes();
        let answer = self.send_request("PUT", "session/create", body).await?;
        Ok(self.parse_json::<SessionId>(&answer, "PUT", "session")?.id)
    }

    /// Ends a session, which releases the keys that it holds.
    pub(super) async fn end_session(&self, id: &str) -> Result<(), Cause> {
        let call = format!("session/destroy/{}", percent_encode(id));
        let answer = self.send_request("PUT", &call, Vec::new()).await?;
        self.parse_json::<bool>(&answer, "PUT", "session").map(drop)
    }

    /// The request that renews a session.
    pub(super) fn renewal_request(&self, id: &str) -> Result<Request<Vec<u8>>, Cause> {
        self.build_request("PUT", &format!("session/renew/{}", percent_encode(id)), Vec::new())
    }

    /// Acquires a key for a session. Returns whether it was free.
    ///
    /// # Errors
    /// Returns an error if the server refuses the request, or if the key exists and is not a lock.
    pub(super) async fn acquire_key(&self, key: &str, session: &str) -> Result<bool, Cause> {
        // A key without the flag belongs to another program, and acquiring it would replace its
        // value.
        if self.get(key).await?.is_some_and(|pair| pair.flags != CONSUL_LOCK_FLAG) {
            return Err(format!("existing key {key:?} does not match lock use").into());
        }
        let call = format!(
            "kv/{}?acquire={}&flags={CONSUL_LOCK_FLAG}",
            encode_key_path(key),
            percent_encode(session)
        );
        let answer = self.send_request("PUT", &call, Vec::new()).await?;
        self.parse_json(&answer, "PUT", key)
    }

    /// Releases a key of a session. Returns whether the session held it.
    pub(super) async fn release_key(&self, key: &str, session: &str) -> Result<bool, Cause> {
        let call = format!(
            "kv/{}?release={}&flags={CONSUL_LOCK_FLAG}",
            encode_key_path(key),
            percent_encode(session)
        );
        let answer = self.send_request("PUT", &call, Vec::new()).await?;
        // An attempt whose response was lost may have released it.
        Ok(self.parse_json::<bool>(&answer, "PUT", key)? || answer.follows_unclear_attempt)
    }

    fn build_request(
        &self,
        method: &str,
        call: &str,
        body: Vec<u8>,
    ) -> Result<Request<Vec<u8>>, Cause> {
        let mut url = format!("{}/v1/{call}", self.url);
        for (name, value) in &self.parameters {
            let separator = if url.contains('?') { '&' } else { '?' };
            url.push_str(&format!("{separator}{name}={}", percent_encode(value)));
        }
        let mut request = Request::builder().method(method).uri(url);
        // In a header, because URLs appear in messages and logs.
        if let Some(token) = &self.token {
            request = request.header("X-Consul-Token", token);
        }
        if let Some(auth) = &self.auth {
            request = request.header(header::AUTHORIZATION, auth);
        }
        Ok(request.body(body)?)
    }

    async fn send_request(
        &self,
        method: &str,
        call: &str,
        body: Vec<u8>,
    ) -> Result<HttpResponse, Cause> {
        self.client.send(&self.build_request(method, call, body)?).await
    }

    fn parse_json<T: serde::de::DeserializeOwned>(
        &self,
        answer: &HttpResponse,
        method: &str,
        key: &str,
    ) -> Result<T, Cause> {
        let url = format!("{}/v1/kv/{key}", self.url);
        if answer.status != StatusCode::OK {
            return Err(match answer.status {
                StatusCode::FORBIDDEN => PermissionDenied(format!(
                    "{method} {url}: permission denied; check access_token and the rules of its policy for keys and sessions"
                ))
                .into(),
                _ => answer.unexpected_response_cause(method, &url),
            });
        }
        serde_json::from_slice(&answer.body).map_err(|error| {
            let reason = json_error_text(&error);
            format!("{method} {url}: the response cannot be read: {reason}").into()
        })
    }
}

/// A key in a URL.
fn encode_key_path(key: &str) -> String {
    key.split('/').map(percent_encode).collect::<Vec<_>>().join("/")
}
