//! The environment in which the signing crate searches for credentials: variables, files and requests.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use formwork_core::disk::{MAX_SMALL_FILE_LEN, read_file};
use reqsign_core::{Context, Env, Error, FileRead, HttpSend, Result};
use ureq::http::{Request, Response};

use crate::web::HttpClient;

/// Creates the context: the variables of the command's environment, and a client for the services
/// that return credentials.
pub(crate) fn signing_context(variables: BTreeMap<String, String>, client: HttpClient) -> Context {
    // The contents of these requests are credentials, such as assertions, which no other server may get.
    let client = client.without_redirects();
    Context::new()
        .with_env(EnvironmentVariables(variables.into_iter().collect()))
        .with_file_read(LocalFiles)
        .with_http_send(UnsignedRequests(client))
}

/// The environment variables.
struct EnvironmentVariables(HashMap<String, String>);

impl std::fmt::Debug for EnvironmentVariables {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Their values may be secrets.
        f.debug_struct("Variables").finish_non_exhaustive()
    }
}

impl Env for EnvironmentVariables {
    fn var(&self, key: &str) -> Option<String> {
        // As in the AWS SDK for Go, an empty variable counts as not set.
        self.0.get(key).filter(|value| !value.is_empty()).cloned()
    }

    fn vars(&self) -> HashMap<String, String> {
        self.0.clone()
    }

    fn home_dir(&self) -> Option<PathBuf> {
        // The environment of the command is used, not that of the process.
        self.var("HOME").map(PathBuf::from)
    }
}

/// Files of this machine.
#[derive(Debug)]
struct LocalFiles;

impl FileRead for LocalFiles {
    async fn file_read(&self, path: &str) -> Result<Vec<u8>> {
        read_file(Path::new(path), MAX_SMALL_FILE_LEN)
            .map_err(|error| Error::config_invalid(format!("{path}: {error}")))
    }
}

/// The client for requests that need no signature.
struct UnsignedRequests(HttpClient);

impl std::fmt::Debug for UnsignedRequests {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Requests").finish_non_exhaustive()
    }
}

impl HttpSend for UnsignedRequests {
    async fn http_send(&self, request: Request<Bytes>) -> Result<Response<Bytes>> {
        let answer = self.0.send_once(request.map(|body| body.to_vec())).await;
        let answer = answer.map_err(|error| Error::unexpected(error.to_string()))?;
        let mut response = Response::new(Bytes::from(answer.body));
        *response.status_mut() = answer.status;
        *response.headers_mut() = answer.headers;
        Ok(response)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::retry::RetryPolicy;
    use crate::scripted_server::{ScriptedReply, ScriptedServer};
    use crate::web::TlsSettings;

    #[tokio::test]
    async fn a_credential_in_a_content_is_not_sent_to_the_target_of_a_redirect() {
        let target = ScriptedServer::start([ScriptedReply::new("200 OK", "")]);
        let lead = ScriptedReply::new("307 Temporary Redirect", "");
        let server = ScriptedServer::start([lead.header(&format!("Location: {}", target.url))]);
        let retries = RetryPolicy { most: 0, shortest: Duration::ZERO, longest: Duration::ZERO };
        let client = HttpClient::new(&TlsSettings::default(), retries, |_| None).unwrap();
        let context = signing_context(BTreeMap::new(), client);
        let request = Request::post(&server.url).body(Bytes::from_static(b"assertion=x")).unwrap();
        let answer = context.http_send(request).await.unwrap();
        assert_eq!(answer.status().as_u16(), 307);
        assert!(target.request_lines().is_empty());
    }
}
