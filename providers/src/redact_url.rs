//! URLs in messages, without the passwords in them.

use ureq::http::uri::Authority;

/// A URL as it may be shown.
pub(crate) fn redact_url(url: &str) -> String {
    let start = url.find("://").map_or(0, |index| index + 3);
    let end = url[start..].find(['/', '?', '#']).map_or(url.len(), |index| start + index);
    // In an invalid URL the end of a password cannot be found.
    let end = if is_optional_user_and_host(&url[start..end]) { end } else { url.len() };
    let user = url[start..end].rsplit_once('@').map(|(user, _)| user);
    match user.and_then(|user| Some((user.split_once(':')?.0, start + user.len()))) {
        Some((name, index)) => format!("{}{name}:xxxxx{}", &url[..start], &url[index..]),
        None => url.to_owned(),
    }
}

/// Whether a string is a user, a host and a port, or some of these.
fn is_optional_user_and_host(text: &str) -> bool {
    let host = text.rsplit_once('@').map_or(text, |(_, host)| host);
    let port = host.rsplit_once(':').map_or("", |(_, port)| port);
    text.parse::<Authority>().is_ok()
        && (host.ends_with(']') || port.bytes().all(|digit| digit.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::redact_url;

    #[test]
    fn passwords_are_not_shown() {
        let table = [
            ("https://u:p@h/a?b@c", "https://u:xxxxx@h/a?b@c"),
            ("https://u:p:q@h", "https://u:xxxxx@h"),
            ("https://u@h/a:b", "https://u@h/a:b"),
            ("https://h:1/@u", "https://h:1/@u"),
            ("socks5://u:p@h:1", "socks5://u:xxxxx@h:1"),
            ("https://u:p/q@h", "https://u:xxxxx@h"),
            ("https://u:p q@h", "https://u:xxxxx@h"),
            ("no url", "no url"),
            ("", ""),
        ];
        for (url, expected) in table {
            assert_eq!(redact_url(url), expected);
        }
    }
}
