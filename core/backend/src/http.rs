//! The backend `http`: one state at a URL, with lock and unlock requests if the server supports
//! them.

mod journals;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use formwork_core::disk::parse_json_object;
use formwork_core::state::intent_log::{IntentLog, LocalIntentLog};
use formwork_value::Type;
use formwork_value::schema::Block;
use md5::{Digest as _, Md5};
use ureq::http::{Request, StatusCode, Uri, header, request};

use self::journals::HttpObjects;
use crate::arguments::{BackendArguments, optional_attributes_block};
use crate::cause::Cause;
use crate::config_error::ConfigError;
use crate::journals::{ObjectJournals, SharedIntents};
use crate::kind::{BackendKind, BackendSummary};
use crate::lock::LockInfo;
use crate::remote::{ForceUnlockOutcome, LockOutcome, PutError, RemoteClient, RemoteStore};
use crate::retry::RetryPolicy;
use crate::store::{LockEnd, StateStore, StoreError};
use crate::web::{HttpClient, HttpResponse, TlsSettings, redact_url};
use crate::{
    Backend, DEFAULT_WORKSPACE, WorkspaceError, journal_directory_of_remote_state, local_intent_log,
};

/// The type of the backend.
pub(crate) struct HttpBackendKind;

impl BackendKind for HttpBackendKind {
    fn name(&self) -> &'static str {
        "http"
    }

    fn summary(&self) -> BackendSummary {
        BackendSummary {
            has_workspaces: false,
            lock: "a request to `lock_address`, if it is set",
            release: "`force-unlock`",
        }
    }

    fn schema(&self) -> Block {
        optional_attributes_block(&[
            ("address", Type::String),
            ("client_ca_certificate_pem", Type::String),
            ("client_certificate_pem", Type::String),
            ("client_private_key_pem", Type::String),
            ("lock_address", Type::String),
            ("lock_method", Type::String),
            ("password", Type::String),
            ("retry_max", Type::Number),
            ("retry_wait_max", Type::Number),
            ("retry_wait_min", Type::Number),
            ("skip_cert_verification", Type::Bool),
            ("unlock_address", Type::String),
            ("unlock_method", Type::String),
            ("update_method", Type::String),
            ("username", Type::String),
        ])
    }

    fn configure(&self, arguments: &BackendArguments<'_>) -> Result<Arc<dyn Backend>, ConfigError> {
        Ok(Arc::new(HttpBackend::configure(arguments)?))
    }
}

impl HttpBackend {
    fn configure(arguments: &BackendArguments<'_>) -> Result<Self, ConfigError> {
        let text = |name: &str| {
            arguments.string_or_variable(name, &[&format!("TF_HTTP_{}", name.to_uppercase())])
        };
        let method = |name: &str, default: &str| text(name).unwrap_or_else(|| default.to_owned());
        let number = |name: &str, default: u32| {
            let variable = format!("TF_HTTP_{}", name.to_uppercase());
            arguments.u32_or_variable(name, &variable, default)
        };
        let address = text("address").filter(|address| !address.is_empty());
        let address = address.ok_or_else(|| ConfigError::new("address argument is required"))?;
        let url = parse_url("address", &address)?;
        let optional_url = |name: &str| -> Result<Option<String>, ConfigError> {
            let url = text(name);
            url.iter().try_for_each(|url| parse_url(name, url).map(drop))?;
            Ok(url)
        };
        let certificate = text("client_certificate_pem").filter(|pem| !pem.is_empty());
        let key = text("client_private_key_pem").filter(|pem| !pem.is_empty());
        let identity = match (certificate, key) {
            (Some(certificate), Some(key)) => Some((certificate, key)),
            (None, None) => None,
            (Some(_), None) => {
                return Err(ConfigError::new(
                    "client_certificate_pem is set but client_private_key_pem is not",
                ));
            }
            (None, Some(_)) => {
                return Err(ConfigError::new(
                    "client_private_key_pem is set but client_certificate_pem is not",
                ));
            }
        };
        let tls = TlsSettings {
            insecure: arguments.bool("skip_cert_verification").unwrap_or(false),
            authorities: text("client_ca_certificate_pem").filter(|pem| !pem.is_empty()),
            identity,
        };
        let seconds = |n: u32| Duration::from_secs(n.into());
        let retries = RetryPolicy {
            most: number("retry_max", 2)?,
            shortest: seconds(number("retry_wait_min", 1)?),
            longest: seconds(number("retry_wait_max", 30)?),
        };
        let user = text("username").filter(|name| !name.is_empty());
        let password = text("password").unwrap_or_default();
        let server = HttpServer {
            address,
            update_method: method("update_method", "POST"),
            lock_address: optional_url("lock_address")?,
            lock_method: method("lock_method", "LOCK"),
            unlock_address: optional_url("unlock_address")?,
            unlock_method: method("unlock_method", "UNLOCK"),
            authorization: user
                .map(|user| format!("Basic {}", STANDARD.encode(format!("{user}:{password}")))),
            client: HttpClient::new(&tls, retries, |name| arguments.read_env_variable(name))?,
        };
        let root = arguments.working_directory().to_owned();
        let journals = HttpObjects::new(server.clone(), url, &root);
        Ok(Self { server, journals, root })
    }

    /// The journals on this machine.
    fn local_intents(&self, workspace: &str) -> LocalIntentLog {
        let address = &self.server.address;
        let log = local_intent_log(&self.root, &journal_id_of_address(address), workspace);
        // Journals of earlier versions are named after the address as written.
        let former = journal_directory_of_remote_state(&self.root, address, workspace);
        log.with_former_dir(former)
    }
}

fn parse_url(name: &str, url: &str) -> Result<Uri, ConfigError> {
    let parsed: Uri = url
        .parse()
        .map_err(|error| ConfigError::new(format!("failed to parse {name} URL: {error}")))?;
    match parsed.scheme_str() {
        Some("http" | "https") if parsed.host().is_some() => Ok(parsed),
        _ => Err(ConfigError::new(format!("{name} must be HTTP or HTTPS"))),
    }
}

/// The server, and the requests that it supports.
#[derive(Clone)]
struct HttpServer {
    address: String,
    update_method: String,
    lock_address: Option<String>,
    lock_method: String,
    unlock_address: Option<String>,
    unlock_method: String,
    authorization: Option<String>,
    client: HttpClient,
}

/// A backend that uses one server.
struct HttpBackend {
    server: HttpServer,
    journals: HttpObjects,
    root: PathBuf,
}

#[async_trait::async_trait]
impl Backend for HttpBackend {
    fn kind(&self) -> &str {
        "http"
    }

    async fn workspaces(&self) -> Result<Vec<String>, WorkspaceError> {
        Err(WorkspaceError::Unsupported)
    }

    async fn create_workspace(&self, _name: &str) -> Result<(), WorkspaceError> {
        Err(WorkspaceError::Unsupported)
    }

    async fn delete_workspace(&self, _name: &str) -> Result<(), WorkspaceError> {
        Err(WorkspaceError::Unsupported)
    }

    async fn open_store(&self, workspace: &str) -> Result<Box<dyn StateStore>, StoreError> {
        // As in Terraform, the URL does not contain the name of a workspace.
        if workspace != DEFAULT_WORKSPACE {
            return Err(StoreError::NoWorkspace {
                location: self.location(workspace),
                workspace: workspace.to_owned(),
            });
        }
        let client = HttpStateClient { server: self.server.clone(), lock: None };
        Ok(Box::new(RemoteStore::new(client)))
    }

    fn location(&self, _workspace: &str) -> String {
        redact_url(&self.server.address)
    }

    fn intent_log(&self, workspace: &str) -> Arc<dyn IntentLog> {
        let shared = ObjectJournals::new(self.journals.clone(), "");
        Arc::new(SharedIntents::new(self.local_intents(workspace), Arc::new(shared)))
    }

    async fn shares_journals(&self) -> bool {
        self.journals.is_kept().await
    }
}

/// The string from which the name of the journals is derived: the address in normalized form and without its
/// login, which can change while the state stays the same. The query is included, because it may identify the
/// state.
fn journal_id_of_address(address: &str) -> String {
    let Ok(url) = address.parse::<Uri>() else { return address.to_owned() };
    let scheme = url.scheme_str().unwrap_or_default().to_ascii_lowercase();
    let host = url.host().unwrap_or_default().to_ascii_lowercase();
    let default_port = if scheme == "https" { 443 } else { 80 };
    let port = url.port_u16().filter(|port| *port != default_port);
    let port = port.map(|port| format!(":{port}")).unwrap_or_default();
    let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
    format!("{scheme}://{host}{port}{}{query}", url.path())
}

/// The state at the URL.
struct HttpStateClient {
    server: HttpServer,
    /// The lock that is held: its ID, and the information that was sent with it.
    lock: Option<(String, Vec<u8>)>,
}

impl HttpServer {
    /// Creates a request with the credentials of the block.
    fn request(&self, method: &str, url: &str) -> request::Builder {
        let request = Request::builder().method(method).uri(url);
        match &self.authorization {
            Some(authorization) => request.header(header::AUTHORIZATION, authorization),
            None => request,
        }
    }

    async fn send(
        &self,
        method: &str,
        url: &str,
        body: Option<&[u8]>,
    ) -> Result<HttpResponse, Cause> {
        let mut request = self.request(method, url);
        if let Some(body) = body {
            // Terraform also sends the checksum, and servers of this protocol may verify it.
            let checksum = STANDARD.encode(Md5::digest(body));
            request = request
                .header(header::CONTENT_TYPE, "application/json")
                .header("Content-MD5", checksum);
        }
        self.client.send(&request.body(body.unwrap_or_default().to_vec())?).await
    }
}

/// The cause for a response that denies access.
fn access_refused_cause(answer: &HttpResponse, method: &str, url: &str) -> Cause {
    let location = answer.place(url);
    match answer.status {
        StatusCode::UNAUTHORIZED => {
            format!("{method} {location}: the HTTP remote state endpoint requires auth").into()
        }
        StatusCode::FORBIDDEN => {
            format!("{method} {location}: the HTTP remote state endpoint rejects the credentials")
                .into()
        }
        _ => answer.unexpected_response_cause(method, url),
    }
}

#[async_trait::async_trait]
impl RemoteClient for HttpStateClient {
    fn location(&self) -> String {
        redact_url(&self.server.address)
    }

    fn stale_lock_end(&self) -> LockEnd {
        LockEnd::ByForce
    }

    async fn get(&mut self) -> Result<Option<Vec<u8>>, Cause> {
        let url = &self.server.address;
        let answer = self.server.send("GET", url, None).await?;
        match answer.status {
            StatusCode::OK => {
                // A proxy or server that truncates a response may still report it as complete.
                if let Some(checksum) = answer.header("Content-MD5")
                    && STANDARD.decode(checksum.trim()).ok().is_none_or(|checksum| {
                        checksum.as_slice() != Md5::digest(&answer.body).as_slice()
                    })
                {
                    let url = redact_url(url);
                    return Err(format!("GET {url}: the content does not match its MD5").into());
                }
                Ok(Some(answer.body).filter(|body| !body.is_empty()))
            }
            StatusCode::NO_CONTENT | StatusCode::NOT_FOUND => Ok(None),
            _ => Err(access_refused_cause(&answer, "GET", url)),
        }
    }

    async fn put(&mut self, text: Vec<u8>) -> Result<(), PutError> {
        let url = match &self.lock {
            // A server can refuse a write that does not specify its lock.
            Some((id, _)) => with_query_parameter(&self.server.address, "ID", id),
            None => self.server.address.clone(),
        };
        let method = &self.server.update_method;
        let answer = self.server.send(method, &url, Some(&text)).await?;
        match answer.status {
            StatusCode::OK | StatusCode::CREATED | StatusCode::NO_CONTENT => Ok(()),
            _ => Err(PutError::Failed(access_refused_cause(&answer, method, &url))),
        }
    }

    async fn lock(&mut self, info: &LockInfo) -> Result<LockOutcome, Cause> {
        // Locking is optional in this protocol: without an address Terraform does not lock either.
        let Some(url) = &self.server.lock_address else { return Ok(LockOutcome::Taken) };
        let text = serde_json::to_vec(info)?;
        let method = &self.server.lock_method;
        let answer = self.server.send(method, url, Some(&text)).await?;
        match answer.status {
            StatusCode::OK => {}
            StatusCode::CONFLICT | StatusCode::LOCKED => {
                let holder: Option<LockInfo> = parse_json_object(&answer.body).ok();
                // Servers respond with any JSON, and an object without an ID does not identify a
                // lock.
                let holder = holder.filter(|holder| !holder.id.is_empty());
                // An earlier attempt may have reached the server although its response was lost.
                if holder.as_ref().is_none_or(|holder| holder.id != info.id) {
                    return Ok(LockOutcome::Held(holder.map(Box::new)));
                }
            }
            _ => return Err(access_refused_cause(&answer, method, url)),
        }
        self.lock = Some((info.id.clone(), text));
        Ok(LockOutcome::Taken)
    }

    async fn unlock(&mut self, _id: &str) -> Result<(), Cause> {
        let Some(url) = &self.server.unlock_address else { return Ok(()) };
        let Some((_, text)) = &self.lock else { return Ok(()) };
        let method = &self.server.unlock_method;
        let answer = self.server.send(method, url, Some(text)).await?;
        // An attempt whose response was lost may have released it.
        let is_released = answer.follows_unclear_attempt
            && matches!(answer.status, StatusCode::NOT_FOUND | StatusCode::GONE);
        if answer.status != StatusCode::OK && !is_released {
            return Err(access_refused_cause(&answer, method, url));
        }
        // Kept until the server has confirmed the release, so that another attempt can release it.
        self.lock = None;
        Ok(())
    }

    async fn break_lock(&mut self, _id: &str) -> Result<ForceUnlockOutcome, Cause> {
        let Some(url) = &self.server.unlock_address else {
            return Err("the backend has no unlock_address, so nothing locks the state".into());
        };
        // As in Terraform: servers release any lock if a request has no content.
        let method = &self.server.unlock_method;
        let answer = self.server.send(method, url, Some(b"")).await?;
        match answer.status {
            StatusCode::OK => Ok(ForceUnlockOutcome::Released),
            StatusCode::CONFLICT | StatusCode::LOCKED => {
                let holder: Option<LockInfo> = parse_json_object(&answer.body).ok();
                Ok(ForceUnlockOutcome::OtherLock(holder.map(Box::new)))
            }
            _ => Err(access_refused_cause(&answer, method, url)),
        }
    }
}

/// A URL with one more query parameter.
fn with_query_parameter(url: &str, name: &str, value: &str) -> String {
    let separator = if url.contains('?') { '&' } else { '?' };
    // The ID is a UUID, which needs no encoding.
    format!("{url}{separator}{name}={value}")
}
