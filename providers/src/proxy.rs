//! The proxy that leads to a server, for the client that asks it: [`ProxyEnv`] says which.

use formwork_plugin_protocol::proxy_env::ProxyEnv;
use ureq::http::Uri;
use ureq::{Error, Proxy};

/// The proxy of the environment for a URL; `None` for going there directly.
///
/// # Errors
/// When the environment names something that is no proxy.
pub(crate) fn proxy_from_env(url: &Uri) -> Result<Option<Proxy>, String> {
    let (Some(scheme), Some(host)) = (url.scheme_str(), url.host()) else { return Ok(None) };
    let proxies = ProxyEnv::read(read_env_variable);
    let Some(named) = proxies.proxy_for(scheme, host, url.port_u16()) else { return Ok(None) };
    parse_proxy(named).map(Some).map_err(|error| format!("the environment names no proxy: {error}"))
}

/// The proxy of a URL; without a scheme it is `http`.
pub(crate) fn parse_proxy(url: &str) -> Result<Proxy, Error> {
    let given = Proxy::new(url)?;
    with_credentials(&given, given.username(), given.password())
}

/// A copy of the proxy with other credentials.
pub(crate) fn with_credentials(
    given: &Proxy,
    username: Option<&str>,
    password: Option<&str>,
) -> Result<Proxy, Error> {
    let mut proxy = Proxy::builder(given.protocol()).host(given.host()).port(given.port());
    if let Some(name) = username {
        proxy = proxy.username(name);
    }
    if let Some(word) = password {
        proxy = proxy.password(word);
    }
    // Names mean to the proxy what they mean there.
    proxy.resolve_target(false).build()
}

#[expect(clippy::disallowed_methods, reason = "the variables that all programs know")]
fn read_env_variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_proxy_is_asked_with_stands_in_its_url() {
        let proxy = parse_proxy("socks5://me:se%3Acret@h").unwrap();
        assert_eq!((proxy.username(), proxy.password()), (Some("me"), Some("se:cret")));
        assert!(!proxy.resolve_target());
        assert_eq!(parse_proxy("h:8080").unwrap().port(), 8080);
        assert!(parse_proxy("gopher://h").is_err());
    }
}
