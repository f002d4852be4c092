//! The connection to a cluster: certificates, and the authorization of requests with tokens, passwords or a
//! program that returns credentials.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use formwork_core::disk::{MAX_SMALL_FILE_LEN, read_text};
use serde::Deserialize;
use serde_json::json;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use tokio::sync::Mutex;
use ureq::http::{Request, header};

use super::kubeconfig::{ClusterAccess, ExecEntry};
use crate::cause::Cause;
use crate::credential_program::CredentialProgram;
use crate::retry::RetryPolicy;
use crate::web::Authorize;
use crate::web::{HttpClient, TlsSettings};

/// The attempts of a request.
const RETRY_POLICY: RetryPolicy =
    RetryPolicy { most: 4, shortest: Duration::from_millis(500), longest: Duration::from_secs(20) };

/// Settings of a connection.
#[derive(Clone)]
pub(super) struct ClusterConnection {
    /// The URL of the server, without a trailing slash.
    pub(super) server: String,
    pub(super) insecure: bool,
    pub(super) access: ClusterAccess,
}

/// A connection that can send requests.
pub(super) struct ClusterSession {
    pub(super) client: HttpClient,
    pub(super) authorization: RequestAuthorization,
}

/// The authorization of requests.
pub(super) enum RequestAuthorization {
    /// None, or a client certificate.
    None,
    /// The value of the header.
    Header(String),
    /// A token in a file that is rewritten before the token expires.
    File(PathBuf),
    /// A program that returns tokens.
    Program(Box<ExecCredentials>),
}

/// A program that returns credentials, and the credentials that it returned last.
pub(super) struct ExecCredentials {
    exec: ExecEntry,
    last: Mutex<Option<ExecCredentialStatus>>,
}

/// The output of the program.
#[derive(Deserialize)]
struct ExecCredentialResponse {
    status: Option<ExecCredentialStatus>,
}

#[derive(Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ExecCredentialStatus {
    token: Option<String>,
    expiration_timestamp: Option<String>,
    client_certificate_data: Option<String>,
    client_key_data: Option<String>,
}

impl ExecCredentialStatus {
    #[expect(clippy::disallowed_methods, reason = "credentials expire while a command runs")]
    fn is_still_valid(&self) -> bool {
        let end = self.expiration_timestamp.as_deref();
        let end = end.and_then(|text| OffsetDateTime::parse(text, &Rfc3339).ok());
        // A token that expires on its way to the server would be refused.
        end.is_none_or(|end| OffsetDateTime::now_utc() + Duration::from_secs(20) < end)
    }
}

impl ClusterConnection {
    /// Opens the connection. A program that returns credentials is run immediately, because it may return
    /// a certificate.
    ///
    /// # Errors
    /// Returns an error if the program fails, or if a certificate or key is invalid.
    pub(super) async fn open(
        &self,
        variables: &BTreeMap<String, String>,
    ) -> Result<ClusterSession, Cause> {
        let ClusterAccess { authorities, proxy, certificate, key, .. } = &self.access;
        let mut identity = certificate.clone().zip(key.clone());
        let authorization = self.authorization();
        if let RequestAuthorization::Program(login) = &authorization {
            let status = login.current_credentials().await?;
            let issued = status.client_certificate_data.zip(status.client_key_data);
            identity = issued.or(identity);
        }
        let tls =
            TlsSettings { insecure: self.insecure, authorities: authorities.clone(), identity };
        let client = HttpClient::new(&tls, RETRY_POLICY, |name| match (name, proxy) {
            // A proxy that is set for the cluster is used, whatever hosts the environment excludes.
            ("NO_PROXY", Some(_)) => None,
            (_, Some(proxy)) => Some(proxy.clone()),
            (_, None) => variables.get(name).filter(|text| !text.is_empty()).cloned(),
        })?;
        Ok(ClusterSession { client: client.without_redirects(), authorization })
    }

    fn authorization(&self) -> RequestAuthorization {
        let ClusterAccess { token, token_file, username, password, exec, .. } = &self.access;
        match (token, token_file, username, exec) {
            (Some(token), ..) => RequestAuthorization::Header(format!("Bearer {token}")),
            (None, Some(path), ..) => RequestAuthorization::File(path.clone()),
            (None, None, Some(name), _) => {
                let pair = format!("{name}:{}", password.as_deref().unwrap_or_default());
                RequestAuthorization::Header(format!("Basic {}", STANDARD.encode(pair)))
            }
            (None, None, None, Some(exec)) => {
                RequestAuthorization::Program(Box::new(ExecCredentials {
                    exec: exec.clone(),
                    last: Mutex::new(None),
                }))
            }
            (None, None, None, None) => RequestAuthorization::None,
        }
    }
}

impl ExecCredentials {
    /// Returns the credentials, from the program unless the last ones are still valid.
    async fn current_credentials(&self) -> Result<ExecCredentialStatus, Cause> {
        // Held while the program runs, so that concurrent requests do not run it twice.
        let mut last = self.last.lock().await;
        if let Some(status) = last.as_ref().filter(|status| status.is_still_valid()) {
            return Ok(status.clone());
        }
        let ExecEntry { api_version, command, args, env } = &self.exec;
        // The program has no terminal, so it is instructed not to prompt.
        let info = json!({
            "apiVersion": api_version,
            "kind": "ExecCredential",
            "spec": { "interactive": false },
        });
        let exec_info = [("KUBERNETES_EXEC_INFO".to_owned(), info.to_string())];
        let configured = env.iter().flatten();
        let configured = configured.map(|variable| (variable.name.clone(), variable.value.clone()));
        let program = CredentialProgram {
            name: command.clone(),
            arguments: args.clone().unwrap_or_default(),
            variables: exec_info.into_iter().chain(configured).collect(),
        };
        let output = program.run_for_output().await.map_err(|cause| {
            format!("there are no credentials for the cluster: {cause}; log in with this program, or set token")
        })?;
        let problem = "returned no ExecCredential with a status";
        let answer: ExecCredentialResponse = serde_json::from_slice(&output)
            .map_err(|_| format!("the program {command:?} {problem}"))?;
        let status = answer.status.ok_or_else(|| format!("the program {command:?} {problem}"))?;
        *last = Some(status.clone());
        Ok(status)
    }
}

impl RequestAuthorization {
    /// Discards credentials that the server refuses. Returns whether other credentials may be
    /// available.
    pub(super) async fn forget_credentials(&self) -> bool {
        match self {
            Self::Program(login) => login.last.lock().await.take().is_some(),
            // A file is read for each request, and a fixed header never changes.
            Self::None | Self::Header(_) | Self::File(_) => false,
        }
    }

    async fn authorization_header(&self) -> Result<Option<String>, Cause> {
        Ok(match self {
            Self::None => None,
            Self::Header(value) => Some(value.clone()),
            Self::File(path) => {
                // Read for each request, because the file is replaced before its token expires.
                let token = read_text(path, MAX_SMALL_FILE_LEN).map_err(|error| {
                    format!("the token {} cannot be read: {error}", path.display())
                })?;
                Some(format!("Bearer {}", token.trim()))
            }
            Self::Program(login) => {
                login.current_credentials().await?.token.map(|token| format!("Bearer {token}"))
            }
        })
    }
}

#[async_trait::async_trait]
impl Authorize for RequestAuthorization {
    async fn authorize(&self, mut request: Request<Vec<u8>>) -> Result<Request<Vec<u8>>, Cause> {
        if let Some(value) = self.authorization_header().await? {
            request.headers_mut().insert(header::AUTHORIZATION, value.parse()?);
        }
        Ok(request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_used_until_shortly_before_its_expiry() {
        let is_valid = |end: Option<&str>| {
            let expiration_timestamp = end.map(str::to_owned);
            ExecCredentialStatus { expiration_timestamp, ..ExecCredentialStatus::default() }
                .is_still_valid()
        };
        assert!(is_valid(None));
        assert!(is_valid(Some("9999-12-31T23:59:59Z")));
        assert!(!is_valid(Some("2020-01-31T12:00:00Z")));
        assert!(!is_valid(Some("2020-01-31T12:00:00.5+02:00")));
    }
}
