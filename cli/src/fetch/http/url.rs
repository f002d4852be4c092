//! URLs: their parts, relative references, and escaping. This module sends no requests.

use std::borrow::Cow;

use super::HttpError;
use crate::redact;

/// Whether requests to a URL are confidential: it uses https, or its host is the local host.
pub(crate) fn is_encrypted_or_local(url: &str) -> bool {
    let origin = origin(url);
    let Some((scheme, host)) = origin.split_once("://") else { return false };
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    let name = match host.strip_prefix('[') {
        Some(address) => address.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    let address = name.parse::<std::net::IpAddr>();
    scheme == "https" || name == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

/// Returns the user name, host and port of a URL, in lower case.
pub(crate) fn host_and_port(url: &str) -> String {
    let origin = origin(url);
    origin.split_once("://").map_or(origin.as_str(), |(_, host)| host).to_owned()
}

/// Returns the scheme, host and port of a URL, in lower case.
pub(crate) fn origin(url: &str) -> String {
    let start = url.find("://").map_or(0, |index| index + 3);
    let end = url[start..].find(['/', '?', '#']).map_or(url.len(), |index| start + index);
    url[..end].to_ascii_lowercase()
}

/// Returns the target of a redirect.
///
/// # Errors
/// The target is less confidential than the source, or is not an HTTP URL.
pub(crate) fn resolve_redirect(from: &str, to: &str) -> Result<String, HttpError> {
    let next = resolve_reference(from, to);
    let scheme = |url: &str| url.split(':').next().unwrap_or_default().to_ascii_lowercase();
    let redirect_error = |reason: &str| HttpError::Redirect {
        url: redact::redact_address(from),
        reason: format!("{reason}: {}", redact::redact_address(&next)),
    };
    match (scheme(from).as_str(), scheme(&next).as_str()) {
        (_, "https") | ("http", "http") => Ok(next),
        (_, "http") => Err(redirect_error("redirected from https to an unencrypted URL")),
        _ => Err(redirect_error("redirected to a URL that is not http or https")),
    }
}

/// Escapes the characters that are not allowed in a URL. Existing escapes are not changed.
pub(super) fn escape_url(url: &str) -> Cow<'_, str> {
    let is_allowed = |byte: u8| byte.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&byte);
    if url.bytes().all(is_allowed) {
        return Cow::Borrowed(url);
    }
    let escape_byte = |byte: u8| match is_allowed(byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    };
    Cow::Owned(url.bytes().map(escape_byte).collect())
}

/// Resolves a relative reference in a response from `base`.
pub(crate) fn resolve_reference(base: &str, reference: &str) -> String {
    if reference.split(['/', '?', '#']).next().is_some_and(|first| first.contains(':')) {
        return reference.to_owned();
    }
    let origin_end = origin(base).len();
    if let Some(rest) = reference.strip_prefix("//") {
        let scheme = base.split(':').next().unwrap_or("https");
        return format!("{scheme}://{rest}");
    }
    if reference.starts_with('/') {
        return format!("{}{reference}", &base[..origin_end]);
    }
    let path = base[origin_end..].split(['?', '#']).next().unwrap_or_default();
    if reference.starts_with(['?', '#']) {
        return format!("{}{path}{reference}", &base[..origin_end]);
    }
    let mut parts: Vec<&str> = path.split('/').skip(1).collect();
    parts.pop();
    for part in reference.split('/') {
        match part {
            "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    format!("{}/{}", &base[..origin_end], parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_resolved_against_their_document() {
        let table = [
            ("https://h/a/b", "c", "https://h/a/c"),
            ("https://h/a/b/", "./c", "https://h/a/b/c"),
            ("https://h/a/b?x=/y", "../c?z", "https://h/c?z"),
            ("https://h/a/b", "/c", "https://h/c"),
            ("https://h", "c", "https://h/c"),
            ("https://h:1/a", "//g/c", "https://g/c"),
            ("https://h/a", "http://g/c", "http://g/c"),
            ("https://h/a", "../../../c", "https://h/c"),
            ("https://h/a/b?x", "?c=/d", "https://h/a/b?c=/d"),
            ("https://h/a/b?x", "#c", "https://h/a/b#c"),
        ];
        for (base, reference, expected) in table {
            assert_eq!(resolve_reference(base, reference), expected, "{base} {reference}");
        }
    }

    #[test]
    fn characters_that_no_url_has_are_escaped() {
        let plain = "https://h/a%20b?c=[d]&e='f'";
        assert_eq!(escape_url(plain), plain);
        assert_eq!(escape_url("https://h/a b/\u{e9}|x"), "https://h/a%20b/%C3%A9%7Cx");
    }

    #[test]
    fn redirects_never_drop_encryption() {
        assert!(resolve_redirect("https://h/a", "http://h/a").is_err());
        assert!(resolve_redirect("https://h/a", "file:///etc/passwd").is_err());
        assert_eq!(resolve_redirect("http://h/a", "https://h/b").unwrap(), "https://h/b");
    }

    #[test]
    fn only_encryption_or_this_machine_keeps_a_request_private() {
        for (url, is_encrypted_or_local) in [
            ("https://h/a", true),
            ("HTTPS://h", true),
            ("http://h/a", false),
            ("http://localhost:80/a", true),
            ("http://127.0.0.1:1/a", true),
            ("http://u@[::1]:1/a", true),
            ("http://localhost@h/a", false),
            ("http://127.0.0.1.h/a", false),
            ("http://h/https://localhost", false),
            ("h/a", false),
        ] {
            assert_eq!(super::is_encrypted_or_local(url), is_encrypted_or_local, "{url}");
        }
    }
}
