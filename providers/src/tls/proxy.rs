//! The `proxy` block of the provider: the proxy for connections to servers.

use std::sync::{Arc, Mutex, PoisonError};

use formwork_sdk::prelude::*;
use ureq::{Proxy, ProxyProtocol};

use crate::{proxy, redact_url};

/// The configuration of the provider.
#[derive(Model)]
pub(super) struct TlsConfigModel {
    /// The proxy through which data sources reach servers with `https://` URLs.
    #[block(max = 1)]
    proxy: Vec<ProxySettings>,
}

/// A proxy.
#[derive(Clone, Debug, Nested)]
#[attr(conflicts(url, from_env))]
struct ProxySettings {
    /// The URL of the proxy, which begins with `http://`, `https://` or `socks5://`.
    #[attr(optional, check = check_proxy_url)]
    url: Option<String>,
    /// User name for the proxy.
    #[attr(optional)]
    username: Option<String>,
    /// The password of the user.
    #[attr(optional, sensitive)]
    password: Option<String>,
    /// Whether the environment selects the proxy, as it does without this block.
    #[attr(optional)]
    from_env: Option<bool>,
}

fn check_proxy_url(url: &impl AsRef<str>) -> Result<(), String> {
    use ProxyProtocol::{Http, Https, Socks5, Socks5h};
    let url = url.as_ref();
    let redacted = redact_url::redact_url(url);
    match Proxy::new(url).map(|proxy| proxy.protocol()) {
        Ok(Http | Https | Socks5 | Socks5h) => Ok(()),
        Ok(_) => Err(format!(
            "must begin with \"http://\", \"https://\" or \"socks5://\", and is {redacted:?}"
        )),
        Err(error) => Err(format!("must be the URL of a proxy, and {redacted:?} is not: {error}")),
    }
}

/// The proxy to use, shared by the provider and its data sources.
#[derive(Clone, Default)]
pub(super) struct ProxyChoice(Arc<Mutex<ProxySource>>);

#[derive(Clone, Default)]
enum ProxySource {
    /// The proxy of the environment.
    #[default]
    Environment,
    /// None at all.
    Direct,
    /// This one.
    Given(Box<Proxy>),
    /// A proxy that is only known after an apply.
    Later,
}

impl ProxyChoice {
    /// The proxy for a server; `None` for going there directly.
    pub(super) fn proxy_for(&self, server: &ureq::http::Uri) -> Result<Option<Proxy>, String> {
        let choice = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match choice {
            ProxySource::Environment => proxy::proxy_from_env(server),
            ProxySource::Direct => Ok(None),
            ProxySource::Given(proxy) => Ok(Some(*proxy)),
            ProxySource::Later => {
                Err("the `proxy` of the provider depends on values that are only known after an \
                    apply; apply their resources first, with `-target`"
                    .to_owned())
            }
        }
    }
}

impl Configure for ProxyChoice {
    type Model = TlsConfigModel;

    fn validate(&self, call: Validate<TlsConfigModel>) -> Answer<()> {
        let Some(proxy) = call.config.proxy.get().and_then(|proxies| proxies.first()) else {
            return Ok(());
        };
        let needs = [
            ("username", &proxy.username, "url", &proxy.url),
            ("password", &proxy.password, "username", &proxy.username),
        ];
        for (name, value, needed, needed_name) in needs {
            if !value.is_null() && needed_name.is_null() {
                let detail = format!("`{name}` of a proxy has no effect without `{needed}`.");
                let problem = Problem::new("Invalid Attribute Combination", detail);
                call.report(problem.at("proxy"));
            }
        }
        Ok(())
    }

    async fn configure(&self, call: Setup<TlsConfigModel>) -> Answer<()> {
        let proxies = &call.config.proxy;
        let choice = match proxies.get().and_then(|proxies| proxies.first()) {
            None if proxies.is_unknown() => ProxySource::Later,
            None => ProxySource::Environment,
            Some(proxy) => choose_proxy(proxy).map_err(|error| {
                let detail = format!("The proxy cannot be used: {error}.");
                Problem::new("Unable to parse proxy URL", detail)
            })?,
        };
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = choice;
        Ok(())
    }
}

fn choose_proxy(settings: &ProxySettingsDraft) -> Result<ProxySource, ureq::Error> {
    let ProxySettingsDraft { url, username, password, from_env } = settings;
    let texts = [url, username, password];
    if texts.into_iter().any(Attr::is_unknown) || from_env.is_unknown() {
        return Ok(ProxySource::Later);
    }
    let Some(url) = settings.url.get() else {
        let is_direct = settings.from_env.get() == Some(&false);
        return Ok(if is_direct { ProxySource::Direct } else { ProxySource::Environment });
    };
    let proxy = Proxy::new(url)?;
    let username = settings.username.get().map(String::as_str).or(proxy.username());
    let password = settings.password.get().map(String::as_str).or(proxy.password());
    Ok(ProxySource::Given(Box::new(proxy::with_credentials(&proxy, username, password)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_proxy_is_not_ignored() {
        let settings = ProxySettingsDraft { url: Attr::Unknown, ..ProxySettingsDraft::default() };
        let chosen = ProxyChoice(Arc::new(Mutex::new(choose_proxy(&settings).unwrap())));
        let problem = chosen.proxy_for(&ureq::http::Uri::from_static("https://h")).unwrap_err();
        assert!(problem.contains("only known after an apply"), "{problem}");
    }
}
