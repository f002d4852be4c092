//! The backend `consul`: a key for each workspace, with chunks for large states, locked by a session.

mod client;
mod journals;
mod server;
mod session;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use formwork_core::disk::{MAX_SMALL_FILE_LEN, read_user_text_file};
use formwork_core::state::intent_log::IntentLog;
use formwork_value::Type;
use formwork_value::schema::Block;
use ureq::http::Uri;

use self::client::ConsulClient;
use self::journals::{ConsulKeys, MAX_JOURNAL_VALUE_LEN};
use self::server::ConsulServer;
use crate::arguments::{BackendArguments, RequiredArgument, optional_attributes_block};
use crate::cause::Cause;
use crate::client_backend::ClientBackend;
use crate::config_error::ConfigError;
use crate::journals::{LimitedObjects, ObjectJournals, SharedIntents};
use crate::kind::{BackendKind, BackendSummary};
use crate::retry::RetryPolicy;
use crate::web::{HttpClient, TlsSettings};
use crate::{Backend, DEFAULT_WORKSPACE, local_intent_log};

/// The separator between the path and the workspace name in a key.
const WORKSPACE_KEY_PREFIX: &str = "-env:";

/// The arguments that it cannot do without.
const REQUIRED_ARGUMENTS: [RequiredArgument; 1] =
    [RequiredArgument { name: "path", about: "Path to store state in Consul" }];

/// The type of the backend.
pub(crate) struct ConsulBackendKind;

impl BackendKind for ConsulBackendKind {
    fn name(&self) -> &'static str {
        "consul"
    }

    fn summary(&self) -> BackendSummary {
        BackendSummary {
            has_workspaces: true,
            lock: "a key of a session",
            release: "15 to 30 seconds later, or `force-unlock`",
        }
    }

    fn schema(&self) -> Block {
        optional_attributes_block(&[
            ("access_token", Type::String),
            ("address", Type::String),
            ("ca_file", Type::String),
            ("cert_file", Type::String),
            ("datacenter", Type::String),
            ("gzip", Type::Bool),
            ("http_auth", Type::String),
            ("key_file", Type::String),
            ("lock", Type::Bool),
            ("path", Type::String),
            ("scheme", Type::String),
        ])
    }

    fn keeps_journals_on_one_machine(&self) -> bool {
        false
    }

    fn required_arguments(&self) -> &'static [RequiredArgument] {
        &REQUIRED_ARGUMENTS
    }

    fn configure(&self, arguments: &BackendArguments<'_>) -> Result<Arc<dyn Backend>, ConfigError> {
        arguments.check_required(&REQUIRED_ARGUMENTS)?;
        Ok(Arc::new(ConsulBackend {
            server: read_server(arguments)?,
            path: arguments.string("path").unwrap_or_default(),
            gzip: arguments.bool("gzip").unwrap_or(false),
            lock: arguments.bool("lock").unwrap_or(true),
            root: arguments.working_directory().to_owned(),
        }))
    }
}

fn read_server(arguments: &BackendArguments<'_>) -> Result<ConsulServer, ConfigError> {
    let text = |name: &str, variable: &str| {
        let argument = arguments.string(name).filter(|text| !text.is_empty());
        argument.or_else(|| arguments.read_env_variable(variable))
    };
    let retries = RetryPolicy {
        most: 2,
        shortest: Duration::from_millis(500),
        longest: Duration::from_secs(5),
    };
    let (tls, url) = (read_tls_settings(arguments)?, read_server_url(arguments)?);
    let mut client = HttpClient::new(&tls, retries, |name| arguments.read_env_variable(name))?;
    if let Some(name) = arguments.read_env_variable("CONSUL_TLS_SERVER_NAME") {
        let parsed: Option<Uri> = url.parse().ok();
        let host = parsed.as_ref().and_then(Uri::host).unwrap_or_default();
        client = client.with_server_name(&tls, host, &name)?;
    }
    let auth = text("http_auth", "CONSUL_HTTP_AUTH").map(|auth| {
        // A user name without a password has an empty password, as in Consul's own client.
        let auth = if auth.contains(':') { auth } else { format!("{auth}:") };
        format!("Basic {}", STANDARD.encode(auth))
    });
    // The file takes precedence over the argument, as in the client that Terraform uses. An empty file
    // is ignored.
    let token_file = arguments.read_env_variable("CONSUL_HTTP_TOKEN_FILE");
    let token_of_file =
        token_file.map(|path| read_file_argument(arguments, "CONSUL_HTTP_TOKEN_FILE", &path));
    let token_of_file = token_of_file.transpose()?.map(|token| token.trim().to_owned());
    let token = token_of_file.filter(|token| !token.is_empty());
    let token = token.or_else(|| text("access_token", "CONSUL_HTTP_TOKEN"));
    let parameters = [
        ("dc", arguments.string("datacenter").filter(|name| !name.is_empty())),
        ("ns", arguments.read_env_variable("CONSUL_NAMESPACE")),
        ("partition", arguments.read_env_variable("CONSUL_PARTITION")),
    ];
    let parameters = parameters.into_iter().filter_map(|(name, value)| Some((name, value?)));
    Ok(ConsulServer { url, token, auth, parameters: parameters.collect(), client })
}

/// Returns the URL of the server. An address may include a scheme.
fn read_server_url(arguments: &BackendArguments<'_>) -> Result<String, ConfigError> {
    let text = |name: &str| arguments.string(name).filter(|text| !text.is_empty());
    let address = text("address").or_else(|| arguments.read_env_variable("CONSUL_HTTP_ADDR"));
    // A Consul agent runs on each machine of a cluster, usually at this address.
    let address = address.unwrap_or_else(|| "127.0.0.1:8500".to_owned());
    // Consul's client parses the variable with Go's `strconv.ParseBool`, which accepts these words.
    let encrypted = matches!(
        arguments.read_env_variable("CONSUL_HTTP_SSL").as_deref(),
        Some("1" | "t" | "T" | "true" | "TRUE" | "True")
    );
    let default_scheme = if encrypted { "https" } else { "http" };
    let (scheme, host) = match address.split_once("://") {
        Some((scheme, host)) => (scheme.to_owned(), host),
        None => (text("scheme").unwrap_or_else(|| default_scheme.to_owned()), address.as_str()),
    };
    if scheme == "unix" {
        return Err(ConfigError::new(format!(
            "address is {address:?}: sockets are not supported; use the address of the HTTP API"
        )));
    }
    if host.contains('@') {
        return Err(ConfigError::new(
            "address contains a user name or password, which would be shown in messages; set http_auth instead",
        ));
    }
    let url = format!("{scheme}://{}", host.trim_end_matches('/'));
    let parsed: Result<Uri, _> = url.parse();
    if !matches!(scheme.as_str(), "http" | "https") || parsed.is_err() {
        return Err(ConfigError::new(format!("address or scheme is invalid: {url:?}")));
    }
    Ok(url)
}

fn read_tls_settings(arguments: &BackendArguments<'_>) -> Result<TlsSettings, ConfigError> {
    let read = |name: &str, variable: &str| {
        let path = arguments.string_or_variable(name, &[variable]);
        path.filter(|path| !path.is_empty())
            .map(|path| read_file_argument(arguments, name, &path))
            .transpose()
    };
    let identity =
        match (read("cert_file", "CONSUL_CLIENT_CERT")?, read("key_file", "CONSUL_CLIENT_KEY")?) {
            (Some(certificate), Some(key)) => Some((certificate, key)),
            (None, None) => None,
            _ => return Err(ConfigError::new("cert_file and key_file must be set together")),
        };
    let verify = arguments.read_env_variable("CONSUL_HTTP_SSL_VERIFY");
    Ok(TlsSettings {
        insecure: matches!(verify.as_deref(), Some("0" | "f" | "F" | "false" | "FALSE" | "False")),
        // A file makes Consul's client ignore the directory.
        authorities: match read("ca_file", "CONSUL_CACERT")? {
            Some(authorities) => Some(authorities),
            None => arguments
                .read_env_variable("CONSUL_CAPATH")
                .map(|path| read_certificate_dir(arguments, &path))
                .transpose()?,
        },
        identity,
    })
}

fn read_file_argument(
    arguments: &BackendArguments<'_>,
    name: &str,
    path: &str,
) -> Result<String, ConfigError> {
    arguments
        .read_text(path)
        .map_err(|error| ConfigError::new(format!("{name} {path:?} cannot be read: {error}")))
}

/// Returns the certificates in all files of a directory.
fn read_certificate_dir(
    arguments: &BackendArguments<'_>,
    path: &str,
) -> Result<String, ConfigError> {
    let failed = |error: &dyn std::fmt::Display| {
        ConfigError::new(format!("CONSUL_CAPATH {path:?} cannot be read: {error}"))
    };
    let entries = std::fs::read_dir(arguments.working_directory().join(path))
        .map_err(|error| failed(&error))?;
    let names: Result<Vec<_>, _> = entries.map(|entry| Ok(entry?.path())).collect();
    let mut names: Vec<PathBuf> = names.map_err(|error: std::io::Error| failed(&error))?;
    // The order of directory entries differs between file systems.
    names.sort();
    let mut certificates = String::new();
    for name in names.iter().filter(|name| !name.is_dir()) {
        let read = read_user_text_file(name, MAX_SMALL_FILE_LEN);
        let text = read.map_err(|error| failed(&format!("{}: {error}", name.display())))?;
        certificates.push_str(&text);
        certificates.push('\n');
    }
    Ok(certificates)
}

/// A backend that stores states in the keys of one server.
struct ConsulBackend {
    server: ConsulServer,
    path: String,
    gzip: bool,
    lock: bool,
    root: PathBuf,
}

impl ConsulBackend {
    /// Returns the journals of the runs that use the state of a workspace.
    fn shared_journals(&self, workspace: &str) -> ObjectJournals<LimitedObjects<ConsulKeys>> {
        let (server, state) = (self.server.clone(), self.remote_client(workspace));
        // Below the key of the state, like its lock, so that a policy for these keys is sufficient.
        let state_name = state.key_below("");
        let keys = ConsulKeys { server, state, has_lock: self.lock };
        ObjectJournals::new(LimitedObjects::new(keys, MAX_JOURNAL_VALUE_LEN), &state_name)
    }
}

#[async_trait::async_trait]
impl ClientBackend for ConsulBackend {
    type Client = ConsulClient;

    const KIND: &'static str = "consul";

    fn config_dir(&self) -> &Path {
        &self.root
    }

    fn remote_client(&self, workspace: &str) -> Self::Client {
        let key = match workspace {
            DEFAULT_WORKSPACE => self.path.clone(),
            _ => format!("{}{WORKSPACE_KEY_PREFIX}{workspace}", self.path),
        };
        ConsulClient::new(self.server.clone(), key, self.gzip, self.lock)
    }

    fn journal_id(&self, _workspace: &str) -> String {
        let ConsulServer { url, parameters, .. } = &self.server;
        // The same path in another datacenter, namespace or partition is another state.
        format!("{url}\n{}\n{parameters:?}", self.path)
    }

    fn intent_log_of(&self, workspace: &str) -> Arc<dyn IntentLog> {
        let local = local_intent_log(&self.root, &self.journal_id(workspace), workspace);
        Arc::new(SharedIntents::new(local, Arc::new(self.shared_journals(workspace))))
    }

    async fn other_workspaces(&self) -> Result<Vec<String>, Cause> {
        let prefix = format!("{}{WORKSPACE_KEY_PREFIX}", self.path);
        let keys = self.server.list_keys(&prefix).await?;
        let suffixes = keys.iter().filter_map(|key| key.strip_prefix(&prefix));
        // Below the key of a workspace are its lock and its chunks.
        let names = suffixes.filter(|name| !name.is_empty() && !name.contains('/'));
        Ok(names.map(str::to_owned).collect())
    }

    async fn delete_state(&self, workspace: &str) -> Result<(), Cause> {
        self.remote_client(workspace).delete_state().await
    }
}
