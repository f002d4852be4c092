//! Which proxy leads to a server, as programs in Go read the environment: `HTTP_PROXY` or `HTTPS_PROXY`,
//! by the scheme of the URL; none to this very machine, nor to what `NO_PROXY` names.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ureq::http::Uri;
use ureq::{Error, Proxy};

/// The proxy of the environment for a URL; `None` for going there directly.
///
/// # Errors
/// When the environment names something that is no proxy.
pub(crate) fn toward(url: &Uri) -> Result<Option<Proxy>, String> {
    let Some(named) = named(url, variable) else { return Ok(None) };
    of(&named).map(Some).map_err(|error| format!("the environment names no proxy: {error}"))
}

/// The proxy that a URL stands for; without a scheme it is `http`.
pub(crate) fn of(url: &str) -> Result<Proxy, Error> {
    let given = Proxy::new(url)?;
    rebuilt(&given, given.username(), given.password())
}

/// A proxy to which somebody else is known.
pub(crate) fn rebuilt(
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
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// The proxy that an environment names for a URL.
fn named(url: &Uri, variable: impl Fn(&str) -> Option<String>) -> Option<String> {
    let one_of =
        |names: [&str; 2]| names.into_iter().filter_map(&variable).find(|value| !value.is_empty());
    let (proxy, usual_port) = match url.scheme_str()? {
        "https" => (one_of(["HTTPS_PROXY", "https_proxy"]), 443),
        // In a CGI program this one would be a header of whoever asks.
        "http" if variable("REQUEST_METHOD").is_some_and(|value| !value.is_empty()) => return None,
        "http" => (one_of(["HTTP_PROXY", "http_proxy"]), 80),
        _ => return None,
    };
    let target = Target::of(url.host()?, url.port_u16().unwrap_or(usual_port));
    let exceptions = one_of(["NO_PROXY", "no_proxy"]).unwrap_or_default();
    proxy.filter(|_| !target.is_this_machine() && !exceptions.split(',').any(|one| target.is(one)))
}

/// A server.
struct Target {
    host: String,
    ip: Option<IpAddr>,
    port: u16,
}

impl Target {
    fn of(host: &str, port: u16) -> Self {
        let host = unbracketed(host).to_ascii_lowercase();
        Self { ip: host.parse().ok(), host, port }
    }

    fn is_this_machine(&self) -> bool {
        self.host == "localhost" || self.ip.is_some_and(|ip| ip.is_loopback())
    }

    /// Whether an entry of `NO_PROXY` means it: `*`, a network, an address, a name with all below it, or
    /// `.name` for all below alone; the last three may end in a port.
    fn is(&self, entry: &str) -> bool {
        let entry = entry.trim().to_ascii_lowercase();
        if entry == "*" {
            return true;
        }
        if let Some((network, length)) = entry.split_once('/') {
            return is_in(&self.host, network, length);
        }
        let (name, port) = match entry.rsplit_once(':') {
            // Colons in brackets, or several of them, belong to an address.
            Some((name, port))
                if !port.contains(']') && (!name.contains(':') || name.ends_with(']')) =>
            {
                (name, Some(port))
            }
            _ => (entry.as_str(), None),
        };
        let name = unbracketed(name);
        if name.is_empty() || port.is_some_and(|port| port.parse() != Ok(self.port)) {
            return false;
        }
        if let Ok(ip) = name.parse::<IpAddr>() {
            return self.ip == Some(ip);
        }
        let name = name.strip_prefix('*').filter(|rest| rest.starts_with('.')).unwrap_or(name);
        match name.strip_prefix('.') {
            Some(_) => self.host.ends_with(name),
            None => {
                let above = self.host.strip_suffix(name);
                above.is_some_and(|above| above.is_empty() || above.ends_with('.'))
            }
        }
    }
}

fn unbracketed(host: &str) -> &str {
    host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
}

/// Whether an address is in a network with a prefix of some length.
fn is_in(ip: &str, network: &str, length: &str) -> bool {
    let (Some((ip, width)), Some((network, other))) = (bits(ip), bits(network)) else {
        return false;
    };
    let length = length.parse::<u32>().ok().filter(|length| width == other && *length <= width);
    length.is_some_and(|length| (ip ^ network).checked_shr(width - length).unwrap_or(0) == 0)
}

/// The bits of an address, and how many it has.
fn bits(ip: &str) -> Option<(u128, u32)> {
    let short = ip.parse::<Ipv4Addr>().map(|ip| (u128::from(ip.to_bits()), 32));
    short.or_else(|_| ip.parse::<Ipv6Addr>().map(|ip| (ip.to_bits(), 128))).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scheme_says_which_variable_counts() {
        let both = |name: &str| match name {
            "HTTP_PROXY" => Some("plain:1".to_owned()),
            "https_proxy" => Some("safe:2".to_owned()),
            _ => None,
        };
        let table = [
            ("http://h/a", Some("plain:1")),
            ("https://h/a", Some("safe:2")),
            ("ftp://h/a", None),
            ("http://localhost:80/", None),
            ("https://127.8.8.8/", None),
            ("https://[::1]:8443/", None),
        ];
        for (url, expected) in table {
            assert_eq!(named(&url.parse().unwrap(), both).as_deref(), expected, "{url}");
        }
        let all = |name: &str| (name == "ALL_PROXY").then(|| "other".to_owned());
        assert_eq!(named(&Uri::from_static("http://h"), all), None);
        let cgi = |name: &str| match name {
            "REQUEST_METHOD" => Some("GET".to_owned()),
            _ => both(name),
        };
        assert_eq!(named(&Uri::from_static("http://h"), cgi), None);
    }

    #[test]
    fn exceptions_are_names_addresses_and_networks() {
        let table = [
            ("*", "http://h", true),
            ("", "http://h", false),
            ("a.com", "http://a.com", true),
            ("x, A.com ", "http://b.A.com", true),
            ("a.com", "http://ba.com", false),
            (".a.com", "http://a.com", false),
            (".a.com", "http://b.a.com", true),
            ("*.a.com", "http://b.a.com", true),
            ("*.a.com", "http://a.com", false),
            ("a.com:80", "http://a.com", true),
            ("a.com:443", "https://a.com", true),
            ("a.com:81", "http://a.com", false),
            ("10.1.2.3", "http://10.1.2.3", true),
            ("10.1.2.3:81", "http://10.1.2.3", false),
            ("10.0.0.0/8", "http://10.1.2.3", true),
            ("10.0.0.0/8", "http://11.1.2.3", false),
            ("10.0.0.0/8", "http://h", false),
            ("0.0.0.0/0", "http://11.1.2.3", true),
            ("10.0.0.0/99", "http://10.0.0.0", false),
            ("fe80::/10", "http://[fe80::1]", true),
            ("fe80::1", "http://[fe80::1]", true),
            ("[fe80::1]:80", "http://[fe80::1]", true),
            ("[fe80::1]:81", "http://[fe80::1]", false),
            (":80", "http://h", false),
        ];
        for (exceptions, url, is_direct) in table {
            let proxy = named(&url.parse().unwrap(), |name| match name {
                "HTTP_PROXY" | "HTTPS_PROXY" => Some("proxy".to_owned()),
                "no_proxy" => Some(exceptions.to_owned()),
                _ => None,
            });
            assert_eq!(proxy.is_none(), is_direct, "{exceptions} {url}");
        }
    }

    #[test]
    fn what_a_proxy_is_asked_with_stands_in_its_url() {
        let proxy = of("socks5://me:se%3Acret@h").unwrap();
        assert_eq!((proxy.username(), proxy.password()), (Some("me"), Some("se:cret")));
        assert!(!proxy.resolve_target());
        assert_eq!(of("h:8080").unwrap().port(), 8080);
        assert!(of("gopher://h").is_err());
    }
}
