//! Removes secrets from text: user names, passwords, signatures, tokens and keys from URLs, and the sensitive
//! values of the run from logs and source code.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use formwork_value::Secrets;
use percent_encoding::percent_decode_str;

/// The sensitive values of this process, which executes one run.
static SENSITIVE_VALUES: LazyLock<Secrets> = LazyLock::new(Secrets::default);
/// The colon after a scheme: literal, percent-encoded, and percent-encoded twice, in lower case.
const COLON_FORMS: [&str; 3] = [":", "%3a", "%253a"];
/// The slash, likewise.
const SLASH_FORMS: [&str; 3] = ["/", "%2f", "%252f"];
/// Maximum number of times that a parameter value is decoded.
const MAX_PERCENT_DECODINGS: usize = 3;
/// Minimum length in bytes of a value that is hidden in source code, where short words are names.
const MIN_SECRET_LENGTH_IN_SOURCE: usize = 6;

/// The replacement of a secret.
const SECRET_REPLACEMENT: &str = "redacted";

/// Parameters of an address that never contain a secret. All others are hidden in package addresses, because
/// servers use arbitrary names for tokens.
const PUBLIC_PARAMETERS: [&str; 10] = [
    "archive",
    "branch",
    "checksum",
    "commit",
    "depth",
    "digest",
    "filename",
    "ref",
    "tag",
    "terraform-get",
];

/// Parts of parameter names that indicate secrets, in arbitrary text.
const SECRET_NAME_PARTS: [&str; 11] = [
    "auth",
    "bearer",
    "credential",
    "jwt",
    "key",
    "passw",
    "pwd",
    "secret",
    "sig",
    "token",
    "x-amz-security",
];

/// The collection of sensitive values, for the engine to add to.
pub(crate) fn sensitive_values() -> Secrets {
    SENSITIVE_VALUES.clone()
}

/// Removes sensitive values and secrets in URLs from log text.
pub(crate) fn redact_log_text(text: String) -> String {
    let masked = SENSITIVE_VALUES.mask(text);
    match redact_text(&masked) {
        Cow::Borrowed(_) => masked,
        Cow::Owned(redacted) => redacted,
    }
}

/// A package address without secrets, for display.
pub(crate) fn redact_address(address: &str) -> String {
    let hides = |name: &str| !PUBLIC_PARAMETERS.contains(&name);
    let mut secrets = Vec::new();
    // The whole string is one URL, even if a password contains a quote or a space.
    match address.find("://").filter(|index| !address[..*index].contains(['?', '#'])) {
        Some(index) => {
            Url { text: address, scheme_end: index, end: address.len() }
                .secret_ranges_in_urls(&hides, &mut secrets);
        }
        // As in `git::name:password@host:path`. Only a parameter can be a URL.
        None => {
            secrets.extend(password_range_without_scheme(address));
            secret_parameter_ranges(address, 0..address.len(), &hides, &mut secrets);
            secret_ranges_in_inner_urls(address, 0..address.len(), &hides, &mut secrets);
        }
    }
    replace_ranges(address, &merge_ranges(secrets), |_| Cow::Borrowed(SECRET_REPLACEMENT))
        .into_owned()
}

/// Text without the secrets in its URLs, for display.
pub(crate) fn redact_text(text: &str) -> Cow<'_, str> {
    replace_ranges(text, &merge_ranges(all_secret_ranges_in_urls(text)), |_| {
        Cow::Borrowed(SECRET_REPLACEMENT)
    })
}

/// Source code without secrets, for display. Its length does not change, so that offsets into it remain
/// valid.
pub(crate) fn redact_source(source: &str) -> Cow<'_, str> {
    let mut ranges = all_secret_ranges_in_urls(source);
    ranges.extend(
        SENSITIVE_VALUES
            .find_secret_ranges(source)
            .into_iter()
            .filter(|range| range.len() >= MIN_SECRET_LENGTH_IN_SOURCE),
    );
    replace_ranges(source, &merge_ranges(ranges), |secret| "*".repeat(secret.len()).into())
}

/// The secrets in all URLs of a string, including percent-encoded URLs.
fn all_secret_ranges_in_urls(text: &str) -> Vec<Range<usize>> {
    let mut ranges = secret_ranges_in_urls(text, &is_secret_parameter_name);
    ranges.extend(percent_encoded_secret_ranges(
        text,
        |c| is_url_end(c) || c == '\'',
        &is_secret_parameter_name,
    ));
    ranges
}

/// Whether a character ends a URL within text.
fn is_url_end(c: char) -> bool {
    c.is_whitespace() || c.is_control() || "\"`<>\\".contains(c)
}

fn is_secret_parameter_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRET_NAME_PARTS.iter().any(|part| name.contains(part))
}

fn replace_ranges<'t>(
    text: &'t str,
    secrets: &[Range<usize>],
    with: impl Fn(&str) -> Cow<'static, str>,
) -> Cow<'t, str> {
    if secrets.is_empty() {
        return Cow::Borrowed(text);
    }
    let (mut result, mut from) = (String::with_capacity(text.len()), 0);
    for secret in secrets {
        result.push_str(&text[from..secret.start]);
        result.push_str(&with(&text[secret.clone()]));
        from = secret.end;
    }
    result.push_str(&text[from..]);
    Cow::Owned(result)
}

/// The secrets in the URLs of a string, in order.
fn secret_ranges_in_urls(text: &str, hides: &dyn Fn(&str) -> bool) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut from = 0;
    while let Some(index) = text[from..].find("://").map(|index| from + index) {
        let start = index + "://".len();
        // An apostrophe is part of a URL, unless it quotes the URL.
        let is_quoted = text[..scheme_start(text, index)].ends_with('\'');
        let mut end = text[start..].find(is_url_end).map_or(text.len(), |length| start + length);
        if is_quoted {
            // A quote within a password is followed by more of the URL.
            let mut quotes = text[start..end].match_indices('\'').map(|(index, _)| start + index);
            let closes =
                |index: &usize| !text[index + 1..].starts_with(|c: char| c.is_alphanumeric());
            end = quotes.find(closes).unwrap_or(end);
        }
        Url { text, scheme_end: index, end }.secret_ranges_in_urls(hides, &mut ranges);
        from = end;
    }
    ranges
}

/// The beginning of the scheme that ends at a position, including a getter prefix (`git::`).
fn scheme_start(text: &str, end: usize) -> usize {
    text[..end].trim_end_matches(|c: char| c.is_ascii_alphanumeric() || c == ':').len()
}

/// The password in an address of the form `name:password@host:path`.
fn password_range_without_scheme(address: &str) -> Option<Range<usize>> {
    // An IPv6 address and a password may also contain colons.
    let getter = address
        .split_once("::")
        .filter(|(name, _)| name.chars().all(|c| c.is_ascii_alphanumeric()));
    let start = getter.map_or(0, |(name, _)| name.len() + "::".len());
    let authority = address[start..].split(['/', '?', '#']).next().unwrap_or_default();
    let (login, _) = authority.rsplit_once('@')?;
    let (name, password) = login.split_once(':')?;
    let from = start + name.len() + 1;
    (!password.is_empty()).then_some(from..from + password.len())
}

/// A URL in a string.
#[derive(Clone, Copy)]
struct Url<'t> {
    text: &'t str,
    /// The byte offset of `://`.
    scheme_end: usize,
    end: usize,
}

impl Url<'_> {
    fn secret_ranges_in_urls(self, hides: &dyn Fn(&str) -> bool, ranges: &mut Vec<Range<usize>>) {
        let mut secrets = Vec::new();
        self.add_login_range(&mut secrets);
        self.add_parameter_ranges(hides, &mut secrets);
        secret_ranges_in_inner_urls(
            self.text,
            self.authority_start()..self.end,
            hides,
            &mut secrets,
        );
        ranges.extend(merge_ranges(secrets));
    }

    fn authority_start(self) -> usize {
        self.scheme_end + "://".len()
    }

    fn add_login_range(self, ranges: &mut Vec<Range<usize>>) {
        let rest = &self.text[self.authority_start()..self.end];
        let authority = &rest[..rest.find(['/', '?', '#']).unwrap_or(rest.len())];
        let Some(length) = authority.rfind('@') else { return };
        let name = authority[..length].find(':').unwrap_or(length);
        let before = &self.text[..self.scheme_end];
        let scheme = &before[before.trim_end_matches(|c: char| c.is_ascii_alphanumeric()).len()..];
        // A user name without a password is a token for many servers, but not for SSH.
        let is_plain = scheme.eq_ignore_ascii_case("ssh") || &authority[..length] == "git";
        let secret = if is_plain { (name + 1).min(length)..length } else { 0..length };
        if !secret.is_empty() {
            ranges.push(self.authority_start() + secret.start..self.authority_start() + secret.end);
        }
    }

    /// The parameters, including those of the fragment, in which some servers return tokens.
    fn add_parameter_ranges(self, hides: &dyn Fn(&str) -> bool, ranges: &mut Vec<Range<usize>>) {
        secret_parameter_ranges(self.text, self.authority_start()..self.end, hides, ranges);
    }
}

/// The secrets in parameters whose values are themselves URLs, such as the URL of a checksum file.
fn secret_ranges_in_inner_urls(
    text: &str,
    range: Range<usize>,
    hides: &dyn Fn(&str) -> bool,
    ranges: &mut Vec<Range<usize>>,
) {
    let from = range.start;
    let starts: Vec<usize> =
        text[range.clone()].match_indices("://").map(|(index, _)| from + index).collect();
    for (number, index) in starts.iter().enumerate() {
        // The rest after the next URL is searched with that URL, and with the URL that contains both.
        let end = starts.get(number + 1).copied().unwrap_or(range.end);
        let inner = Url { text, scheme_end: *index, end };
        inner.add_login_range(ranges);
        inner.add_parameter_ranges(hides, ranges);
    }
    let encoded = percent_encoded_secret_ranges(&text[range], |_| false, hides);
    ranges.extend(encoded.into_iter().map(|secret| from + secret.start..from + secret.end));
}

/// Sorts ranges and merges overlapping ones.
fn merge_ranges(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_by_key(|range| range.start);
    let mut merged: Vec<Range<usize>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match merged.last_mut().filter(|last| range.start < last.end) {
            Some(last) => last.end = last.end.max(range.end),
            None => merged.push(range),
        }
    }
    merged
}

/// The secrets in partly percent-encoded URLs, which are parts of other URLs. `ends` returns true for a
/// character that cannot be part of a URL.
fn percent_encoded_secret_ranges(
    url: &str,
    ends: impl Fn(char) -> bool,
    hides: &dyn Fn(&str) -> bool,
) -> Vec<Range<usize>> {
    let lower = url.to_ascii_lowercase();
    let schemes: Vec<Range<usize>> = lower
        .match_indices([':', '%'])
        .filter_map(|(index, _)| {
            scheme_separator_length(&lower[index..]).map(|length| index..index + length)
        })
        // Unencoded URLs have already been searched.
        .filter(|scheme| &lower[scheme.clone()] != "://")
        .collect();
    let mut ranges = Vec::new();
    for (number, scheme) in schemes.iter().enumerate() {
        // The rest after the next scheme is searched with that scheme.
        let end = schemes.get(number + 1).map_or(lower.len(), |next| next.start);
        let Some(rest) = lower.get(scheme.end..end) else { continue };
        let rest = &rest[..rest.find(&ends).unwrap_or(rest.len())];
        let first = |marks: &[&str]| marks.iter().filter_map(|mark| rest.find(mark)).min();
        // An encoded slash may be part of the password.
        let authority = &rest[..first(&["%3f", "%23", "/", "?", "#", "&"]).unwrap_or(rest.len())];
        let length = ["%2540", "%40", "@"].iter().filter_map(|index| authority.rfind(index)).max();
        let login = length.filter(|length| *length > 0);
        ranges.extend(login.map(|length| scheme.end..scheme.end + length));
        let Some(query) = first(&["%253f", "%3f", "?", "%2523", "%23", "#"]) else { continue };
        let decoded = decode_percent(&url[scheme.end + query..scheme.end + rest.len()]);
        let mut secrets = Vec::new();
        secret_parameter_ranges(&decoded, 0..decoded.len(), hides, &mut secrets);
        if !secrets.is_empty() {
            ranges.push(scheme.end + query..scheme.end + rest.len());
        }
    }
    ranges
}

/// Removes percent-encoding, even repeated encoding.
fn decode_percent(text: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(text);
    for _ in 0..MAX_PERCENT_DECODINGS {
        let decoded = percent_decode_str(&text).decode_utf8_lossy().into_owned();
        if decoded == text {
            break;
        }
        text = decoded.into();
    }
    text
}

/// The length of `://` at the beginning of a lower-case string, each character encoded or not.
fn scheme_separator_length(text: &str) -> Option<usize> {
    let after_one_of = |text: &'_ str, forms: &[&str]| {
        let form = forms.iter().find(|form| text.starts_with(**form))?;
        Some(form.len())
    };
    let colon = after_one_of(text, &COLON_FORMS)?;
    let first = colon + after_one_of(&text[colon..], &SLASH_FORMS)?;
    Some(first + after_one_of(&text[first..], &SLASH_FORMS)?)
}

/// The secret parameter values within a range of a string.
fn secret_parameter_ranges(
    text: &str,
    range: Range<usize>,
    hides: &dyn Fn(&str) -> bool,
    ranges: &mut Vec<Range<usize>>,
) {
    let Some(mark) = text[range.clone()].find(['?', '#']) else { return };
    let mut start = range.start + mark + 1;
    for parameter in text[start..range.end].split('&') {
        ranges.extend(
            secret_value_range(parameter, hides)
                .map(|value| start + value.start..start + value.end),
        );
        start += parameter.len() + 1;
    }
}

/// Whether a value is a percent-encoded URL with a secret.
fn is_encoded_url_with_secret(value: &str, hides: &dyn Fn(&str) -> bool) -> bool {
    let text = decode_percent(value);
    // In an unencoded URL, only the secret is hidden, not the whole value.
    text != value && text.contains("://") && !secret_ranges_in_urls(&text, hides).is_empty()
}

/// The secret value of a parameter. A fragment may follow a value that is not secret.
fn secret_value_range(parameter: &str, hides: &dyn Fn(&str) -> bool) -> Option<Range<usize>> {
    let mut start = 0;
    loop {
        let (name, value) = parameter[start..].split_once('=')?;
        start += name.len() + 1;
        let before_fragment = value.split('#').next().unwrap_or_default();
        if hides(&percent_decode_str(name).decode_utf8_lossy())
            || is_encoded_url_with_secret(before_fragment, hides)
        {
            return (!value.is_empty()).then_some(start..parameter.len());
        }
        if before_fragment.len() == value.len() {
            return None;
        }
        start += before_fragment.len() + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_text_shows_no_secret_of_a_url() {
        let text = "asks https://u:pw@h/a?token=1".to_owned();
        assert_eq!(redact_log_text(text), "asks https://redacted@h/a?token=redacted");
        assert_eq!(redact_log_text("plain".to_owned()), "plain");
    }

    #[test]
    fn an_address_shows_no_credentials() {
        for (address, redacted) in [
            ("https://h/a//b?ref=v1&archive=zip", "https://h/a//b?ref=v1&archive=zip"),
            ("https://u:p@h/a?b@c", "https://redacted@h/a?b@c"),
            ("git::https://ghp_1@h/a.git?ref=x", "git::https://redacted@h/a.git?ref=x"),
            ("git::https://ghp_1:x-oauth-basic@h/a.git", "git::https://redacted@h/a.git"),
            ("git::ssh://git@h/a.git", "git::ssh://git@h/a.git"),
            ("git::ssh://me:p@h/a.git", "git::ssh://me:redacted@h/a.git"),
            ("git::ssh://git@h/a?sshkey=S0VZ&ref=v", "git::ssh://git@h/a?sshkey=redacted&ref=v"),
            (
                "https://b.s3.amazonaws.com/a.zip?X-Amz-Signature=1&X-Amz-Credential=2&other=3",
                "https://b.s3.amazonaws.com/a.zip?X-Amz-Signature=redacted&X-Amz-Credential=redacted&other=redacted",
            ),
            ("https://u:p@q@h", "https://redacted@h"),
            ("git::https://u:p'w \"x@h/a.git", "git::https://redacted@h/a.git"),
            (
                "https://u:p@h/a.zip?checksum=file:https://u:p@h/sums&x=https://u:p@h",
                "https://redacted@h/a.zip?checksum=file:https://redacted@h/sums&x=redacted",
            ),
            ("git::me:pw@h:a/b.git", "git::me:redacted@h:a/b.git"),
            ("git::me:p::w@h:a/b.git", "git::me:redacted@h:a/b.git"),
            ("git::me:pw@[fe80::1]:a/b.git", "git::me:redacted@[fe80::1]:a/b.git"),
            ("git@h:a/b.git?sshkey=S0VZ", "git@h:a/b.git?sshkey=redacted"),
            (
                "https://h/a.zip?checksum=file:https://h/sums?token=1",
                "https://h/a.zip?checksum=file:https://h/sums?token=redacted",
            ),
            ("me:pw@h/a", "me:redacted@h/a"),
            ("h:80/a@b", "h:80/a@b"),
            ("https://h/a.zip?%74oken=1'2 3#a=4", "https://h/a.zip?%74oken=redacted"),
            ("https://h/a?ref=v#token=1&b=2", "https://h/a?ref=v#token=redacted&b=redacted"),
            ("https://h/a?token=a?b", "https://h/a?token=redacted"),
            ("https://h/?a=", "https://h/?a="),
            (
                "me:pw@h/a?token=1&checksum=file:https://u:p@h/s",
                "me:redacted@h/a?token=redacted&checksum=file:https://redacted@h/s",
            ),
            (
                "https://h/a?checksum=file:https%3A%2F%2Fu%3Ap%40h%2Fs&ref=1",
                "https://h/a?checksum=redacted&ref=1",
            ),
            (
                "https://h/a?checksum=file:https%3A//u%3Ap%40h/s&ref=1",
                "https://h/a?checksum=redacted&ref=1",
            ),
            ("https://h/a?checksum=file:https:%2F%2Fu:p%40h%2Fs", "https://h/a?checksum=redacted"),
            (
                "https://h/a?checksum=file:https%253A%252F%252Fu%253Ap%2540h",
                "https://h/a?checksum=redacted",
            ),
            (
                "https://h/a?checksum=file:https%3A%2F%2Fh%2Fs%3Ftoken%3D1",
                "https://h/a?checksum=redacted",
            ),
            (
                "https://h/a?checksum=file:https%3A%2F%2Fu%3Ap%2Fq%40h",
                "https://h/a?checksum=file:https%3A%2F%2Fredacted%40h",
            ),
            (
                "https://h/a?checksum=file:https%3A%2F%2Fh%2Fs",
                "https://h/a?checksum=file:https%3A%2F%2Fh%2Fs",
            ),
            ("https://h/b/https%3A//u%3Ap%2Fq%40h/s", "https://h/b/https%3A//redacted%40h/s"),
            ("https://h/b/https:%2F%2Fu:p@h", "https://h/b/https:%2F%2Fredacted@h"),
            (
                "https://h/to/https%3A%2F%2Fh%2Fx%3Fpage%3D2%26token%3D1",
                "https://h/to/https%3A%2F%2Fh%2Fxredacted",
            ),
            (
                "https://h/to/https%3A%2F%2Fh%2Fx%3Fref%3D2",
                "https://h/to/https%3A%2F%2Fh%2Fx%3Fref%3D2",
            ),
            ("./local", "./local"),
            ("git@github.com:a/b.git", "git@github.com:a/b.git"),
        ] {
            assert_eq!(redact_address(address), redacted);
        }
    }

    #[test]
    fn many_urls_are_all_hidden() {
        for (scheme, position_of_secret) in
            [("://", "@"), (":%2F%2F", "@"), ("%3A//", "%40"), ("%253A%252F%252F", "%2540")]
        {
            let redacted = redact_address(&format!(
                "https://{}",
                format!("{scheme}a{position_of_secret}b?k=1&").repeat(50_000)
            ));
            assert!(!redacted.contains(&format!("a{position_of_secret}b")), "{}", &redacted[..100]);
        }
    }

    #[test]
    fn any_number_of_fragments_is_read() {
        let url = format!("https://h/?ref=b{}", "#ref=d".repeat(1_000_000));
        assert_eq!(redact_address(&url), url);
        assert_eq!(redact_address(&format!("{url}#token=1")), format!("{url}#token=redacted"));
    }

    #[test]
    fn in_other_text_only_secrets_are_hidden_and_source_keeps_its_length() {
        let line = r#"  source = "git::https://me:pä@h/a?token=1&page=2" # see https://h/?page=3"#;
        assert_eq!(
            redact_text(line),
            r#"  source = "git::https://redacted@h/a?token=redacted&page=2" # see https://h/?page=3"#
        );
        assert_eq!(
            redact_source(line),
            r#"  source = "git::https://******@h/a?token=*&page=2" # see https://h/?page=3"#
        );
        assert_eq!(redact_source(line).len(), line.len());
        for (line, redacted) in [
            ("'https://u:p@h/', 'me@x'", "'https://redacted@h/', 'me@x'"),
            ("'git::https://u:p@h/', 'me@x'", "'git::https://redacted@h/', 'me@x'"),
            ("'https://u:p'w@h/', 'me@x'", "'https://redacted@h/', 'me@x'"),
            ("https://h/?next=https%3a%2f%2fu:p@h/", "https://h/?next=redacted"),
            (r#""https://u:p'w@h/?sig=a'b""#, r#""https://redacted@h/?sig=redacted""#),
            ("to https%3A%2F%2Fu%3Apw%40h%2Fx, then", "to https%3A%2F%2Fredacted%40h%2Fx, then"),
            ("\"https%3A%2F%2Fh%2Fx%3Ftoken%3D1\" next", "\"https%3A%2F%2Fh%2Fxredacted\" next"),
            ("https://h/#access_token=1&page=2", "https://h/#access_token=redacted&page=2"),
            (
                "https://h/?GoogleAccessKey=1&%6Bey=2&code=3",
                "https://h/?GoogleAccessKey=redacted&%6Bey=redacted&code=3",
            ),
        ] {
            assert_eq!(redact_text(line), redacted);
        }
        for harmless in ["a://", "://", "http://?", "x = \"${a}://b@\"", "é://é@é?é=é"] {
            assert_eq!(
                redact_text(harmless).contains("redacted"),
                harmless.contains('@'),
                "{harmless}"
            );
        }
    }
}
