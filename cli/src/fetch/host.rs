//! Finds the services that a host offers, and how to ask for them.

use std::collections::BTreeMap;

use super::credentials::Credentials;
use super::http::{self, Client, HttpError, Patience, resolve};
use crate::env::Env;
use crate::install::settings::Settings;
use crate::redact;

/// The longest list of services.
const MAX_DOCUMENT: u64 = 1 << 20;

/// Why a service cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HostError {
    /// The host does not say what it offers.
    #[error("failed to request discovery document: {0}")]
    Unknown(#[from] HttpError),
    /// What it says makes no sense.
    #[error("the discovery document of {host} is not valid: {reason}")]
    Malformed { host: String, reason: String },
    /// It does not offer this service.
    #[error("host {host} does not provide a {service} service")]
    NotOffered { host: String, service: &'static str },
}

/// What is known of hosts: each is asked once.
pub(crate) struct Hosts<'a> {
    credentials: Credentials<'a>,
    patience: Patience,
    known: BTreeMap<String, BTreeMap<String, String>>,
}

impl<'a> Hosts<'a> {
    /// Knows only what the settings say.
    pub(crate) fn new(env: &'a Env, settings: &'a Settings) -> Self {
        let known = settings.hosts.clone();
        Self { credentials: Credentials::new(env, settings), patience: env.patience(), known }
    }

    /// The URL of a service, ending in a slash. `name` is what people call it.
    ///
    /// # Errors
    /// When the host cannot be asked or does not offer it.
    pub(crate) fn service(
        &mut self,
        http: &Client,
        host: &str,
        (id, name): (&str, &'static str),
    ) -> Result<String, HostError> {
        if !self.known.contains_key(host) {
            let services = discover(http, host, self.asking(host, &discovery(host)).as_deref())?;
            self.known.insert(host.to_owned(), services);
        }
        let found = self.known.get(host).and_then(|services| services.get(id));
        let url =
            found.ok_or_else(|| HostError::NotOffered { host: host.to_owned(), service: name })?;
        Ok(format!("{}/", url.trim_end_matches('/')))
    }

    /// What a request to a host says about who asks.
    pub(crate) fn asking(&self, host: &str, url: &str) -> Option<String> {
        if !http::is_private(url) {
            return None;
        }
        self.credentials.token(host).map(|token| format!("Bearer {token}"))
    }

    /// Why nothing can be said about who asks, if somebody should know.
    pub(crate) fn complaint(&self, host: &str, url: &str) -> Option<String> {
        if !http::is_private(url) && self.credentials.token(host).is_some() {
            return Some(format!(
                "the token for {host} was not sent, because {} is not encrypted: give the service an https:// address",
                redact::address(url)
            ));
        }
        self.credentials.complaint(host)
    }

    /// How patiently services are asked.
    pub(crate) fn patience(&self) -> Patience {
        self.patience
    }
}

/// The URL of the discovery document of a host.
fn discovery(host: &str) -> String {
    format!("https://{host}/.well-known/terraform.json")
}

fn discover(
    http: &Client,
    host: &str,
    asking: Option<&str>,
) -> Result<BTreeMap<String, String>, HostError> {
    let answer = match http.get(&discovery(host), asking) {
        Ok(answer) => answer,
        // Such a host offers nothing, which is no failure.
        Err(HttpError::Status { status: 404, .. }) => return Ok(BTreeMap::new()),
        Err(error) => return Err(error.into()),
    };
    let base = answer.url.clone();
    let text = answer.text(MAX_DOCUMENT)?;
    let malformed = |reason: String| HostError::Malformed { host: host.to_owned(), reason };
    services(&base, &text).map_err(malformed)
}

/// The URLs of the services that a discovery document names, by service.
///
/// # Errors
/// When the text is not a JSON object.
pub(crate) fn services(base: &str, text: &str) -> Result<BTreeMap<String, String>, String> {
    let document: serde_json::Value =
        serde_json::from_str(text).map_err(|error| error.to_string())?;
    let document = document.as_object().ok_or_else(|| "it is no object".to_owned())?;
    // Services of kinds that are not ours may be described by more than a URL.
    let urls =
        document.iter().filter_map(|(id, url)| Some((id.clone(), resolve(base, url.as_str()?))));
    Ok(urls.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_sent_over_https_only_and_the_complaint_says_so() {
        let mut settings = Settings::default();
        settings.tokens.insert("h.example".into(), "secret".into());
        let env = Env::default();
        let hosts = Hosts::new(&env, &settings);
        let asking = |url| hosts.asking("h.example", url);
        assert_eq!(asking("https://h.example/v1").as_deref(), Some("Bearer secret"));
        assert_eq!(asking("http://h.example/v1"), None);
        let complaint = hosts.complaint("h.example", "http://h.example/v1").unwrap();
        assert!(
            complaint.contains("was not sent") && complaint.contains("https://"),
            "{complaint}"
        );
        assert_eq!(hosts.complaint("h.example", "https://h.example/v1"), None);
        assert_eq!(hosts.complaint("other.example", "http://other.example/v1"), None);
    }
}
