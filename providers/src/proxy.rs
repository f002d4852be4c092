//! The proxy for the requests of an HTTP client, as selected by [`ProxyEnv`].

pub(crate) use formwork_plugin_protocol::http_proxy::{parse_proxy, with_credentials};
use formwork_plugin_protocol::proxy_env::ProxyEnv;
use ureq::Proxy;
use ureq::http::Uri;

/// The proxy of the environment for a URL; `None` for a direct connection.
///
/// # Errors
/// When the proxy URL of the environment is not valid.
pub(crate) fn proxy_from_env(url: &Uri) -> Result<Option<Proxy>, String> {
    let (Some(scheme), Some(host)) = (url.scheme_str(), url.host()) else { return Ok(None) };
    let proxies = ProxyEnv::read(read_env_variable);
    let Some(proxy_url) = proxies.proxy_for(scheme, host, url.port_u16()) else { return Ok(None) };
    parse_proxy(proxy_url)
        .map(Some)
        .map_err(|error| format!("the environment names no proxy: {error}"))
}

#[expect(clippy::disallowed_methods, reason = "the standard proxy variables")]
fn read_env_variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
