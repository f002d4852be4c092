//! Service discovery: the services of a host, and their URLs and credentials.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::credentials::Credentials;
use super::http::{self, Client, HttpError, RetryPolicy, resolve_reference};
use super::limited_lists::quote_shortened;
use super::login::{self, LoginError, LoginService};
use crate::env::Env;
use crate::redact;
use crate::settings::Settings;

/// Maximum length of a discovery document, in bytes.
const MAX_DISCOVERY_DOCUMENT_SIZE: u64 = 1 << 20;

/// Reason why a service cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HostError {
    /// The host does not return a discovery document.
    #[error("failed to request discovery document: {0}")]
    Unknown(#[from] HttpError),
    /// The discovery document is malformed.
    #[error("the discovery document of {host} is not valid: {reason}")]
    Malformed { host: String, reason: String },
    /// The host does not provide this service. It may provide another version of it.
    #[error("host {host} does not provide a {service} service")]
    NotOffered { host: String, service: &'static str, other_version: bool },
}

/// A service that a host can provide.
#[derive(Clone, Copy)]
pub(crate) struct HostService {
    /// The identifier in the discovery document.
    pub(crate) id: &'static str,
    /// The name in messages.
    pub(crate) name: &'static str,
}

/// The services of hosts. The discovery document of each host is requested once.
pub(crate) struct Hosts<'a> {
    credentials: Credentials<'a>,
    retry_policy: RetryPolicy,
    services: Mutex<BTreeMap<String, HostServices>>,
}

/// The URLs of a host's services.
type HostServices = BTreeMap<String, String>;

impl<'a> Hosts<'a> {
    /// Creates an instance without known hosts, except for those in the settings.
    pub(crate) fn new(env: &'a Env, settings: &'a Settings) -> Self {
        let services = Mutex::new(settings.hosts.clone());
        Self {
            credentials: Credentials::new(env, settings),
            retry_policy: registry_retry_policy(env),
            services,
        }
    }

    /// Returns the URL of a service, with a trailing slash.
    ///
    /// # Errors
    /// The discovery document cannot be fetched, or the host does not provide the service.
    pub(crate) fn service_url(
        &self,
        http: &Client,
        host: &str,
        service: HostService,
    ) -> Result<String, HostError> {
        let HostService { id, name } = service;
        // The lock is held during the request, so that each host receives only one request.
        let mut known_services = self.services.lock().unwrap_or_else(PoisonError::into_inner);
        if !known_services.contains_key(host) {
            let services = fetch_services(
                http,
                host,
                self.authorization_header(host, &discovery_url(host)).as_deref(),
            )?;
            known_services.insert(host.to_owned(), services);
        }
        let services = known_services.get(host);
        let Some(url) = services.and_then(|services| services.get(id)) else {
            let family = format!("{}.", id.split('.').next().unwrap_or_default());
            let is_other = |service: &String| service.starts_with(&family);
            let other_version = services.is_some_and(|services| services.keys().any(is_other));
            return Err(HostError::NotOffered {
                host: host.to_owned(),
                service: name,
                other_version,
            });
        };
        let url = url.split(['?', '#']).next().unwrap_or_default();
        // The document is public, so a password in it is not a secret, and it could be for any server.
        if http::origin(url).contains('@') {
            return Err(HostError::Malformed {
                host: host.to_owned(),
                reason: "embedded username/password information is not permitted".to_owned(),
            });
        }
        // Other schemes are not supported, and a server must not be able to refer to local files.
        let scheme = url.split("://").next().filter(|scheme| scheme.len() < url.len());
        let scheme = scheme.unwrap_or_else(|| url.split(':').next().unwrap_or_default());
        if !["https", "http"].iter().any(|web_scheme| scheme.eq_ignore_ascii_case(web_scheme)) {
            let reason = format!(
                "the address of the {name} service has the scheme {}, which is neither https nor http",
                quote_shortened(scheme)
            );
            return Err(HostError::Malformed { host: host.to_owned(), reason });
        }
        Ok(format!("{}/", url.trim_end_matches('/')))
    }

    /// Returns the services for logging in to a host.
    ///
    /// # Errors
    /// The discovery document cannot be fetched, or describes the services incorrectly.
    pub(crate) fn login_services(
        &self,
        http: &Client,
        host: &str,
    ) -> Result<LoginServices, HostError> {
        let (base, document) = fetch_discovery_document(http, host, None)?;
        let malformed = |error: LoginError| HostError::Malformed {
            host: host.to_owned(),
            reason: error.to_string(),
        };
        let login = document
            .get(login::LOGIN_SERVICE_ID)
            .map(|value| LoginService::from_discovery_document(&base, value));
        let tokens = document.get("tfe.v2").and_then(|url| url.as_str());
        let tokens = tokens
            .map(|url| resolve_reference(&base, url))
            .filter(|url| http::is_encrypted_or_local(url));
        Ok(LoginServices {
            login: login.transpose().map_err(malformed)?,
            tokens: tokens.map(|url| format!("{}/", url.trim_end_matches('/'))),
        })
    }

    /// Returns the `Authorization` header of a request to a host.
    pub(crate) fn authorization_header(&self, host: &str, url: &str) -> Option<String> {
        if !http::is_encrypted_or_local(url) {
            return None;
        }
        self.credentials.token(host).map(|token| format!("Bearer {token}"))
    }

    /// Returns the reason why a request has no credentials, if it should be reported.
    pub(crate) fn credentials_error(&self, host: &str, url: &str) -> Option<String> {
        if !http::is_encrypted_or_local(url) && self.credentials.token(host).is_some() {
            return Some(format!(
                "the token for {host} was not sent, because {} is not encrypted: use an https:// address for the service",
                redact::redact_address(url)
            ));
        }
        self.credentials.helper_error(host)
    }

    /// Timeouts and retries of requests to services.
    pub(crate) fn retry_policy(&self) -> RetryPolicy {
        self.retry_policy
    }
}

/// The services for logging in to a host.
pub(crate) struct LoginServices {
    /// The service that issues tokens.
    pub(crate) login: Option<LoginService>,
    /// The URL of the API in whose user interface users create tokens.
    pub(crate) tokens: Option<String>,
}

/// Returns the URL of the discovery document of a host.
fn discovery_url(host: &str) -> String {
    format!("https://{host}/.well-known/terraform.json")
}

fn fetch_services(
    http: &Client,
    host: &str,
    authorization: Option<&str>,
) -> Result<HostServices, HostError> {
    let (base, document) = fetch_discovery_document(http, host, authorization)?;
    Ok(service_urls(&base, &document))
}

/// Returns the URLs of the services in a discovery document, by service. Services whose description is not
/// a URL are skipped.
fn service_urls(base: &str, document: &DiscoveryDocument) -> HostServices {
    let urls = document
        .iter()
        .filter_map(|(id, url)| Some((id.clone(), resolve_reference(base, url.as_str()?))));
    urls.collect()
}

/// Parses a discovery document.
///
/// # Errors
/// The document is not a JSON object.
fn parse_discovery_document(text: &str) -> Result<DiscoveryDocument, String> {
    match serde_json::from_str(text).map_err(|error| error.to_string())? {
        serde_json::Value::Object(document) => Ok(document),
        serde_json::Value::Null => Ok(DiscoveryDocument::default()),
        _ => Err("it is not a JSON object".to_owned()),
    }
}

/// Parses arbitrary text as a discovery document.
#[cfg(any(test, fuzzing))]
pub(crate) fn fuzz_discovery(base: &str, text: &str) {
    drop(parse_discovery_document(text).map(|document| service_urls(base, &document)));
}

type DiscoveryDocument = serde_json::Map<String, serde_json::Value>;

/// Returns the discovery document of a host and its final URL.
fn fetch_discovery_document(
    http: &Client,
    host: &str,
    authorization: Option<&str>,
) -> Result<(String, DiscoveryDocument), HostError> {
    let answer = match http.get(&discovery_url(host), authorization) {
        Ok(answer) => answer,
        // A host without a discovery document provides no services, which is not an error.
        Err(HttpError::Status { status: 404, .. }) => return Ok(Default::default()),
        Err(error) => return Err(error.into()),
    };
    let base = answer.url.clone();
    let text = answer.read_text(MAX_DISCOVERY_DOCUMENT_SIZE)?;
    let malformed = |reason: String| HostError::Malformed { host: host.to_owned(), reason };
    Ok((base, parse_discovery_document(&text).map_err(malformed)?))
}

/// Returns the timeouts and retries for registries. Unset variables and zero mean the default.
pub(super) fn registry_retry_policy(env: &Env) -> RetryPolicy {
    let timeout = env.registry_timeout.filter(|timeout| !timeout.is_zero());
    RetryPolicy {
        retries: env.registry_retries.filter(|retries| *retries > 0).unwrap_or(1),
        timeout: timeout.unwrap_or(Duration::from_secs(10)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_has_the_address_of_a_web_server() {
        let env = Env::default();
        let http =
            Client::new(formwork_plugin_protocol::proxy_env::ProxyEnv::read(|_| None), |_| ());
        let service = HostService { id: "modules.v1", name: "modules" };
        let service_at = |url: &str| {
            let mut settings = Settings::default();
            let services = BTreeMap::from([(service.id.to_owned(), url.to_owned())]);
            settings.hosts.insert("h.example".into(), services);
            let found_url = Hosts::new(&env, &settings).service_url(&http, "h.example", service);
            found_url.map_err(|error| error.to_string())
        };
        assert_eq!(service_at("https://m.example/v1").unwrap(), "https://m.example/v1/");
        // As in Terraform. No token is sent to such an address.
        assert_eq!(service_at("http://m.example/v1").unwrap(), "http://m.example/v1/");
        for url in ["file:///etc/", "ssh://m.example/", "data:,x", "/v1"] {
            let reason = service_at(url).unwrap_err();
            assert!(reason.contains("is neither https nor http"), "{reason}");
        }
    }

    #[test]
    fn a_token_is_sent_only_over_https() {
        let mut settings = Settings::default();
        settings.tokens.insert("h.example".into(), "secret".into());
        let env = Env::default();
        let hosts = Hosts::new(&env, &settings);
        let authorization = |url| hosts.authorization_header("h.example", url);
        assert_eq!(authorization("https://h.example/v1").as_deref(), Some("Bearer secret"));
        assert_eq!(authorization("http://h.example/v1"), None);
        let complaint = hosts.credentials_error("h.example", "http://h.example/v1").unwrap();
        assert!(
            complaint.contains("was not sent") && complaint.contains("https://"),
            "{complaint}"
        );
        assert_eq!(hosts.credentials_error("h.example", "https://h.example/v1"), None);
        assert_eq!(hosts.credentials_error("other.example", "http://other.example/v1"), None);
    }
}
