//! Calls on the secrets and leases of one namespace.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::OnceCell;
use ureq::http::{Request, StatusCode, header};

use super::cluster_connection::{ClusterConnection, ClusterSession, RequestAuthorization};
use crate::cause::{Cause, PermissionDenied};
use crate::web::{
    Authorize, HttpResponse, is_retryable_status, json_error_text, percent_encode, redact_url,
};

/// A cluster, limited to one namespace.
pub(super) struct ClusterClient {
    connection: ClusterConnection,
    namespace: String,
    variables: BTreeMap<String, String>,
    session: OnceCell<ClusterSession>,
}

/// A kind of object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ObjectKind {
    Secret,
    Lease,
}

/// An object as the server stores it. Fields that this program does not use are preserved.
#[derive(Clone, Debug)]
pub(super) struct KubernetesObject(pub(super) Value);

/// The result of writing an object.
#[derive(Debug)]
pub(super) enum PutOutcome {
    /// The object is stored with this version.
    Stored(KubernetesObject),
    /// The stored version is another one, the object already exists, or it does not exist any more.
    Refused {
        /// Whether an attempt whose response was lost may have stored it.
        follows_unclear_attempt: bool,
    },
}

#[derive(Deserialize)]
struct ListResponse {
    // Go encodes an empty list as null.
    items: Option<Vec<Value>>,
    #[serde(default)]
    metadata: ListMetadata,
}

#[derive(Default, Deserialize)]
struct ListMetadata {
    #[serde(rename = "continue")]
    next: Option<String>,
}

/// The content of an error response.
#[derive(Deserialize)]
struct ErrorStatus {
    kind: String,
    #[serde(default)]
    message: String,
    #[serde(default)]
    reason: String,
    #[serde(default)]
    details: Option<StatusDetails>,
}

#[derive(Deserialize)]
struct StatusDetails {
    /// The kind of the object that the error is about, which may differ from that of the request.
    #[serde(default)]
    kind: String,
}

impl KubernetesObject {
    /// The name.
    pub(super) fn name(&self) -> &str {
        // Indexing a JSON value returns null if a field is missing, so this cannot panic.
        self.0["metadata"]["name"].as_str().unwrap_or_default()
    }

    /// The value of an annotation.
    pub(super) fn annotation(&self, name: &str) -> Option<&str> {
        self.0["metadata"]["annotations"][name].as_str()
    }

    /// The value of a label.
    pub(super) fn label(&self, name: &str) -> Option<&str> {
        self.0["metadata"]["labels"][name].as_str()
    }
}

impl ObjectKind {
    fn path(self) -> (&'static str, &'static str) {
        match self {
            Self::Secret => ("api/v1", "secrets"),
            Self::Lease => ("apis/coordination.k8s.io/v1", "leases"),
        }
    }
}

impl ClusterClient {
    /// Creates the cluster. Sends no request yet.
    pub(super) fn new(
        connection: ClusterConnection,
        namespace: String,
        variables: BTreeMap<String, String>,
    ) -> Self {
        Self { connection, namespace, variables, session: OnceCell::new() }
    }

    /// The address of a secret, for messages.
    pub(super) fn location(&self, name: &str) -> String {
        self.object_url(ObjectKind::Secret, name)
    }

    /// The namespace.
    pub(super) fn namespace(&self) -> &str {
        &self.namespace
    }

    fn object_url(&self, kind: ObjectKind, name: &str) -> String {
        let (group, plural) = kind.path();
        let base = format!(
            "{}/{group}/namespaces/{}/{plural}",
            self.connection.server,
            percent_encode(&self.namespace)
        );
        if name.is_empty() { base } else { format!("{base}/{}", percent_encode(name)) }
    }

    /// Reads an object. Returns `None` if it does not exist.
    ///
    /// # Errors
    /// Returns an error if the server refuses the request or does not respond.
    pub(super) async fn get(
        &self,
        kind: ObjectKind,
        name: &str,
    ) -> Result<Option<KubernetesObject>, Cause> {
        let url = self.object_url(kind, name);
        let answer = self.send("GET", &url, None).await?;
        match answer.status {
            StatusCode::OK => parse_object(&answer, "GET", &url).map(Some),
            // A page from a proxy has no reason, and must not be mistaken for a missing object.
            StatusCode::NOT_FOUND if error_reason(&answer) == "NotFound" => Ok(None),
            _ => Err(self.unexpected_response_cause(&answer, "GET", &url)),
        }
    }

    /// Lists the secrets that match a label selector.
    ///
    /// # Errors
    /// Returns an error if the server refuses the request or does not respond.
    pub(super) async fn list(&self, selector: &str) -> Result<Vec<KubernetesObject>, Cause> {
        let (mut secrets, mut token) = (Vec::new(), None::<String>);
        loop {
            let token_parameter =
                token.as_deref().map(|token| format!("&continue={}", percent_encode(token)));
            let url = format!(
                "{}?labelSelector={}{}",
                self.object_url(ObjectKind::Secret, ""),
                percent_encode(selector),
                token_parameter.unwrap_or_default()
            );
            let answer = self.send("GET", &url, None).await?;
            if answer.status != StatusCode::OK {
                return Err(self.unexpected_response_cause(&answer, "GET", &url));
            }
            let page: ListResponse = serde_json::from_slice(&answer.body).map_err(|error| {
                format!("the list of secrets cannot be read: {}", json_error_text(&error))
            })?;
            secrets.extend(page.items.unwrap_or_default().into_iter().map(KubernetesObject));
            match page.metadata.next.filter(|next| !next.is_empty()) {
                // A server that returns the same token again would be queried forever.
                Some(next) if token.as_ref() != Some(&next) => token = Some(next),
                _ => return Ok(secrets),
            }
        }
    }

    /// Lists the secrets with these labels, ordered by the numbers at the end of their names.
    ///
    /// # Errors
    /// Returns an error if the server refuses the request or does not respond.
    pub(super) async fn list_in_order(
        &self,
        labels: &BTreeMap<String, String>,
    ) -> Result<Vec<KubernetesObject>, Cause> {
        let labels = labels.iter().map(|(name, value)| format!("{name}={value}"));
        let mut secrets = self.list(&labels.collect::<Vec<_>>().join(",")).await?;
        let index = |secret: &KubernetesObject| {
            let number = secret.name().rsplit('-').next().unwrap_or_default();
            // The first part has no number, and `secret_suffix` must not end with one.
            number.parse::<usize>().unwrap_or(0)
        };
        // As a string, the tenth part would precede the second.
        secrets.sort_by_key(index);
        Ok(secrets)
    }

    /// Creates an object, unless one with its name exists.
    ///
    /// # Errors
    /// Returns an error if the server refuses for another reason or does not respond.
    pub(super) async fn create(
        &self,
        kind: ObjectKind,
        object: &KubernetesObject,
    ) -> Result<PutOutcome, Cause> {
        self.put("POST", &self.object_url(kind, ""), object).await
    }

    /// Replaces the version of an object that was read.
    ///
    /// # Errors
    /// Returns an error if the server refuses for another reason or does not respond.
    pub(super) async fn update(
        &self,
        kind: ObjectKind,
        object: &KubernetesObject,
    ) -> Result<PutOutcome, Cause> {
        self.put("PUT", &self.object_url(kind, object.name()), object).await
    }

    async fn put(
        &self,
        method: &str,
        url: &str,
        content: &KubernetesObject,
    ) -> Result<PutOutcome, Cause> {
        let answer = self.send(method, url, Some(&content.0)).await?;
        let follows_unclear_attempt = answer.follows_unclear_attempt;
        let refused_outcome = PutOutcome::Refused { follows_unclear_attempt };
        match answer.status {
            StatusCode::OK | StatusCode::CREATED => {
                Ok(PutOutcome::Stored(parse_object(&answer, method, url)?))
            }
            // Another version, or for a new object, an existing one with the same name.
            StatusCode::CONFLICT if !is_quota_conflict(&answer) => Ok(refused_outcome),
            // Another program has deleted it since it was read.
            StatusCode::NOT_FOUND if method == "PUT" && error_reason(&answer) == "NotFound" => {
                Ok(refused_outcome)
            }
            _ => Err(self.unexpected_response_cause(&answer, method, url)),
        }
    }

    /// Deletes an object, if it exists.
    ///
    /// # Errors
    /// Returns an error if the server refuses the request or does not respond.
    pub(super) async fn delete(&self, kind: ObjectKind, name: &str) -> Result<(), Cause> {
        let url = self.object_url(kind, name);
        let options = json!({
            "kind": "DeleteOptions",
            "apiVersion": "v1",
            "propagationPolicy": "Background",
        });
        let answer = self.send("DELETE", &url, Some(&options)).await?;
        match answer.status {
            StatusCode::OK | StatusCode::ACCEPTED => Ok(()),
            StatusCode::NOT_FOUND if error_reason(&answer) == "NotFound" => Ok(()),
            _ => Err(self.unexpected_response_cause(&answer, "DELETE", &url)),
        }
    }

    async fn send(
        &self,
        method: &str,
        url: &str,
        content: Option<&Value>,
    ) -> Result<HttpResponse, Cause> {
        let session =
            self.session.get_or_try_init(|| self.connection.open(&self.variables)).await?;
        let body = content.map(serde_json::to_vec).transpose()?.unwrap_or_default();
        let request = Request::builder()
            .method(method)
            .uri(url)
            .header(header::ACCEPT, "application/json")
            .header(header::CONTENT_TYPE, "application/json")
            .body(body)?;
        let ClusterSession { client, authorization } = session;
        let repeated = RepeatedAtQuotaConflicts(authorization);
        let answer = client.send_authorized(&request, &repeated).await?;
        // Credentials may become invalid before the expiry that their program reported.
        if answer.status == StatusCode::UNAUTHORIZED && authorization.forget_credentials().await {
            return client.send_authorized(&request, &repeated).await;
        }
        Ok(answer)
    }

    /// The cause of a failure, from an unexpected response, with a remedy.
    fn unexpected_response_cause(&self, answer: &HttpResponse, method: &str, url: &str) -> Cause {
        let Some(ErrorStatus { message, reason, .. }) = parse_error_status(answer) else {
            return match answer.status {
                StatusCode::UNAUTHORIZED => unauthorized_cause(method, url),
                _ => answer.unexpected_response_cause(method, url),
            };
        };
        let refusal =
            format!("{method} {}: HTTP {}, {reason}: {message}", redact_url(url), answer.status);
        match answer.status {
            StatusCode::UNAUTHORIZED => unauthorized_cause(method, url),
            StatusCode::FORBIDDEN => PermissionDenied(format!(
                "{refusal}; the credentials must permit to get, list, create, update and delete secrets and leases"
            ))
            .into(),
            StatusCode::NOT_FOUND => {
                format!("{refusal}; check namespace, which must exist").into()
            }
            _ => refusal.into(),
        }
    }
}

/// The authorization of requests that are also repeated after a quota conflict.
struct RepeatedAtQuotaConflicts<'a>(&'a RequestAuthorization);

#[async_trait::async_trait]
impl Authorize for RepeatedAtQuotaConflicts<'_> {
    async fn authorize(&self, request: Request<Vec<u8>>) -> Result<Request<Vec<u8>>, Cause> {
        self.0.authorize(request).await
    }

    fn is_retryable_response(&self, answer: &HttpResponse) -> bool {
        is_retryable_status(answer.status) || is_quota_conflict(answer)
    }
}

fn unauthorized_cause(method: &str, url: &str) -> Cause {
    let url = redact_url(url);
    format!("{method} {url}: HTTP 401 Unauthorized; the credentials are not valid or have expired: log in to the cluster again, or renew token").into()
}

fn parse_object(answer: &HttpResponse, method: &str, url: &str) -> Result<KubernetesObject, Cause> {
    let object = serde_json::from_slice(&answer.body).map_err(|error| {
        let (url, reason) = (redact_url(url), json_error_text(&error));
        format!("{method} {url}: the response cannot be read: {reason}")
    })?;
    Ok(KubernetesObject(object))
}

fn parse_error_status(answer: &HttpResponse) -> Option<ErrorStatus> {
    let status: Option<ErrorStatus> = serde_json::from_slice(&answer.body).ok();
    // Proxies respond with JSON of their own, but only the API server sends this kind.
    status.filter(|status| status.kind == "Status")
}

/// Whether a request was refused because another one has changed the quota of the namespace concurrently. This
/// is unrelated to the object of the request, and a later attempt may succeed.
fn is_quota_conflict(answer: &HttpResponse) -> bool {
    answer.status == StatusCode::CONFLICT
        && parse_error_status(answer)
            .and_then(|status| status.details)
            .is_some_and(|details| details.kind == "resourcequotas")
}

/// The reason of an error response. Empty for a page from a proxy.
fn error_reason(answer: &HttpResponse) -> String {
    parse_error_status(answer).map(|status| status.reason).unwrap_or_default()
}
