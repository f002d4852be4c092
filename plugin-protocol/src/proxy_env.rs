//! Proxy selection as programs in Go read the environment: `HTTP_PROXY` or `HTTPS_PROXY`, by the
//! scheme of the URL; none for this machine, nor for hosts in `NO_PROXY`. Used for every HTTP
//! request of this program and of plugins. Sends no requests itself.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The proxies that an environment names.
#[derive(Clone, Debug, Default)]
pub struct ProxyEnv {
    http: Option<String>,
    https: Option<String>,
    exceptions: String,
}

impl ProxyEnv {
    /// Reads them from the variables of an environment.
    pub fn read(variable: impl Fn(&str) -> Option<String>) -> Self {
        // As in Go, the first one that is not empty counts.
        let first_non_empty = |names: [&str; 2]| {
            names.into_iter().filter_map(&variable).find(|value| !value.is_empty())
        };
        // In a CGI program `HTTP_PROXY` would be a header of the client.
        let is_cgi = variable("REQUEST_METHOD").is_some_and(|value| !value.is_empty());
        Self {
            http: first_non_empty(["HTTP_PROXY", "http_proxy"]).filter(|_| !is_cgi),
            https: first_non_empty(["HTTPS_PROXY", "https_proxy"]),
            exceptions: first_non_empty(["NO_PROXY", "no_proxy"]).unwrap_or_default(),
        }
    }

    /// The proxy for what is at a scheme, a host, and a port if it is not the usual one; `None` for going
    /// there directly.
    #[must_use]
    pub fn proxy_for(&self, scheme: &str, host: &str, port: Option<u16>) -> Option<&str> {
        let (proxy, default_port) = match scheme {
            "https" => (&self.https, 443),
            "http" => (&self.http, 80),
            _ => return None,
        };
        let target = TargetServer::from_host_and_port(host, port.unwrap_or(default_port));
        // As in Go, requests to this machine never use a proxy, regardless of `NO_PROXY`.
        let is_direct = target.is_this_machine()
            || self.exceptions.split(',').any(|exception| target.matches_no_proxy_entry(exception));
        proxy.as_deref().filter(|_| !is_direct)
    }
}

/// A server.
struct TargetServer {
    host: String,
    ip: Option<IpAddr>,
    port: u16,
}

impl TargetServer {
    fn from_host_and_port(host: &str, port: u16) -> Self {
        let host = without_brackets(host).to_ascii_lowercase();
        Self { ip: host.parse().ok(), host, port }
    }

    fn is_this_machine(&self) -> bool {
        self.host == "localhost" || self.ip.is_some_and(|ip| ip.is_loopback())
    }

    /// Whether an entry of `NO_PROXY` matches: `*`, a network, an address, a name with its
    /// subdomains, or `.name` for only the subdomains; the last three may end in a port.
    fn matches_no_proxy_entry(&self, entry: &str) -> bool {
        let entry = entry.trim().to_ascii_lowercase();
        if entry == "*" {
            return true;
        }
        if let Some((network, length)) = entry.split_once('/') {
            return is_in_network(&self.host, network, length);
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
        let name = without_brackets(name);
        if name.is_empty() || port.is_some_and(|port| port.parse() != Ok(self.port)) {
            return false;
        }
        if let Ok(ip) = name.parse::<IpAddr>() {
            return self.ip == Some(ip);
        }
        // As in Go, `*.a.com` means the same as `.a.com`.
        let name = name.strip_prefix('*').filter(|suffix| suffix.starts_with('.')).unwrap_or(name);
        match name.strip_prefix('.') {
            Some(_) => self.host.ends_with(name),
            None => {
                let subdomain = self.host.strip_suffix(name);
                subdomain.is_some_and(|subdomain| subdomain.is_empty() || subdomain.ends_with('.'))
            }
        }
    }
}

fn without_brackets(host: &str) -> &str {
    host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
}

/// Whether an address is in a network with a prefix of some length.
fn is_in_network(ip: &str, network: &str, length: &str) -> bool {
    let (Some((ip, width)), Some((network, network_width))) =
        (address_bits(ip), address_bits(network))
    else {
        return false;
    };
    let length =
        length.parse::<u32>().ok().filter(|length| width == network_width && *length <= width);
    // A shift by all bits has no value. It means a prefix of length 0, which holds every address.
    length.is_some_and(|length| (ip ^ network).checked_shr(width - length).unwrap_or(0) == 0)
}

/// The bits of an address, and their number.
fn address_bits(ip: &str) -> Option<(u128, u32)> {
    let short = ip.parse::<Ipv4Addr>().map(|ip| (u128::from(ip.to_bits()), 32));
    short.or_else(|_| ip.parse::<Ipv6Addr>().map(|ip| (ip.to_bits(), 128))).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scheme_selects_the_proxy_variable() {
        let both = |name: &str| match name {
            "HTTP_PROXY" => Some("plain:1".to_owned()),
            "https_proxy" => Some("safe:2".to_owned()),
            _ => None,
        };
        let table = [
            ("http", "h", None, Some("plain:1")),
            ("https", "h", None, Some("safe:2")),
            ("ftp", "h", None, None),
            ("http", "localhost", Some(80), None),
            ("https", "127.8.8.8", None, None),
            ("https", "[::1]", Some(8443), None),
        ];
        for (scheme, host, port, expected) in table {
            assert_eq!(
                ProxyEnv::read(both).proxy_for(scheme, host, port),
                expected,
                "{scheme} {host}"
            );
        }
        // Go's HTTP client does not support `ALL_PROXY`.
        let all_proxy = |name: &str| (name == "ALL_PROXY").then(|| "other".to_owned());
        assert_eq!(ProxyEnv::read(all_proxy).proxy_for("http", "h", None), None);
        let cgi = |name: &str| match name {
            "REQUEST_METHOD" => Some("GET".to_owned()),
            _ => both(name),
        };
        assert_eq!(ProxyEnv::read(cgi).proxy_for("http", "h", None), None);
        assert_eq!(ProxyEnv::read(cgi).proxy_for("https", "h", None), Some("safe:2"));
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
            let proxies = ProxyEnv::read(|name| match name {
                "HTTP_PROXY" | "HTTPS_PROXY" => Some("proxy".to_owned()),
                "no_proxy" => Some(exceptions.to_owned()),
                _ => None,
            });
            let (scheme, host) = url.split_once("://").unwrap();
            let proxy = proxies.proxy_for(scheme, host, None);
            assert_eq!(proxy.is_none(), is_direct, "{exceptions} {url}");
        }
    }
}
