//! Quotations of a request in the answer that refuses it.
//!
//! A response body that quotes a long part of the request content, which may be a state or a key, is not printed.
//! Credentials of the request, and short values of its content, are replaced where they occur: the rest of the body is
//! often the only reason that a server gives. A secret that may be an ordinary word or number, such as `admin`, is
//! replaced only as a whole word. A secret of fewer than 4 bytes is not replaced, because any body may contain it by
//! chance.
//!
//! Credentials are replaced in every response body with an error status. Values of the content are replaced only in a
//! body of unknown format: a message of a known service names objects of the request, such as a table, on purpose.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::percent_decode_str;
use ureq::http::header;
use ureq::http::request::Parts;

/// Number of consecutive letters and digits that identify a quotation.
const QUOTED_PIECE_LEN: usize = 16;

/// Maximum length of a refusal in a message, in bytes.
const MAX_REFUSAL_LEN: usize = 500;

/// Minimum length of a secret that is replaced, in bytes.
const MIN_SECRET_LEN: usize = 4;

/// Maximum length of a value of the content that is replaced, in bytes. A longer value is found as a quotation.
const MAX_VALUE_LEN: usize = 64;

/// Properties of states and locks whose values are not secret, and often the reason for a refusal.
const PUBLIC_PROPERTIES: [&[u8]; 12] = [
    b"lineage",
    b"terraform_version",
    b"mode",
    b"type",
    b"name",
    b"provider",
    b"ID",
    b"Operation",
    b"Who",
    b"Version",
    b"Created",
    b"Path",
];

/// Replacement of a secret.
const REPLACEMENT: &[u8] = b"redacted";

/// Parts of the names of headers, query parameters and form fields whose values are credentials.
const CREDENTIAL_NAME_PARTS: [&str; 9] =
    ["assertion", "auth", "cookie", "credential", "key", "pass", "secret", "sig", "token"];

/// Ends of such names whose values are not secret, as in `client_secret_id` or `customer-key-md5`.
const PUBLIC_NAME_ENDS: [&str; 4] = ["id", "md5", "sha256", "algorithm"];

/// Returns the beginning of a refusal in one line; empty if it quotes a long part of the request content.
pub(super) fn describe_refusal(content: &[u8], refusal: &[u8]) -> String {
    let text = &refusal[..refusal.len().min(MAX_REFUSAL_LEN)];
    if repeats(content, text) {
        return String::new();
    }
    let text = hide_values(content, text);
    String::from_utf8_lossy(&text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether a text quotes the content. Only letters and digits are compared, because quotations have other escapes and
/// spaces.
fn repeats(content: &[u8], text: &[u8]) -> bool {
    let (content, text) = (letters_and_digits(content), letters_and_digits(text));
    // A quotation of twice this length has at least one of these pieces, wherever it begins.
    let pieces: HashSet<&[u8]> = content.chunks_exact(QUOTED_PIECE_LEN).collect();
    text.windows(QUOTED_PIECE_LEN).any(|piece| pieces.contains(piece))
}

fn letters_and_digits(text: &[u8]) -> Vec<u8> {
    let (mut letters, mut bytes) = (Vec::new(), text.iter());
    while let Some(byte) = bytes.next() {
        match byte {
            // The letter of an escape, as in `\n`, is not part of the string.
            b'\\' => {
                bytes.next();
            }
            byte if byte.is_ascii_alphanumeric() => letters.push(*byte),
            _ => {}
        }
    }
    letters
}

/// Replaces the credentials of a request in the answer that refuses it.
pub(super) fn hide_credentials(head: &Parts, content: &[u8], text: Vec<u8>) -> Vec<u8> {
    let credentials = credentials_of_request(head, content);
    replace_secrets(text, credentials.iter().map(Vec::as_slice).collect())
}

/// Replaces the string values of JSON content.
fn hide_values(content: &[u8], text: &[u8]) -> Vec<u8> {
    // Substrings of the text are looked up, because the content may have millions of values.
    let mut parts: HashSet<&[u8]> = HashSet::new();
    for start in 0..text.len() {
        let rest = &text[start..];
        let lengths = MIN_SECRET_LEN..=MAX_VALUE_LEN.min(rest.len());
        parts.extend(lengths.map(|length| &rest[..length]));
    }
    let mut quoted: BTreeSet<&[u8]> = BTreeSet::new();
    visit_string_values(content, |value| {
        if parts.contains(value) {
            quoted.insert(value);
        }
    });
    replace_secrets(text.to_vec(), quoted.into_iter().collect())
}

/// Visits the string values of JSON, without decoding escapes. Content that is not JSON has some by chance.
fn visit_string_values<'c>(content: &'c [u8], mut visit: impl FnMut(&'c [u8])) {
    let (mut rest, mut property): (&[u8], &[u8]) = (content, b"");
    while let Some(start) = rest.iter().position(|byte| *byte == b'"') {
        let text = &rest[start + 1..];
        let (string, after) = text.split_at(end_of_string(text));
        rest = after.get(1..).unwrap_or_default();
        if rest.trim_ascii_start().first() == Some(&b':') {
            property = string;
        } else if !PUBLIC_PROPERTIES.contains(&property) {
            visit(string);
        }
    }
}

/// Returns the index of the quotation mark that ends a string.
fn end_of_string(text: &[u8]) -> usize {
    let mut is_escaped = false;
    for (at, byte) in text.iter().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return at,
            _ => {}
        }
    }
    text.len()
}

/// The credentials in the headers, the URL and the form of a request, in each spelling of a quotation.
fn credentials_of_request(head: &Parts, content: &[u8]) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    for (name, value) in &head.headers {
        if value.is_sensitive() || is_credential_name(name.as_str()) {
            add_header_credentials(&mut found, &String::from_utf8_lossy(value.as_bytes()));
        }
    }
    let authority = head.uri.authority().map_or("", |authority| authority.as_str());
    if let Some((login, _)) = authority.rsplit_once('@') {
        // The client sends the login of a URL as such a header.
        let decoded = decode_percent(login);
        found.push(STANDARD.encode(&decoded));
        found.push(password_of_login(login).to_owned());
        found.push(password_of_login(&decoded).to_owned());
    }
    add_parameter_credentials(&mut found, head.uri.query().unwrap_or_default());
    let content_type = head.headers.get(header::CONTENT_TYPE);
    if content_type.is_some_and(|text| text.as_bytes().starts_with(b"application/x-www-form")) {
        add_parameter_credentials(&mut found, &String::from_utf8_lossy(content));
    }
    let spellings = found.into_iter().flat_map(|text| {
        let json = serde_json::Value::from(text.as_str()).to_string();
        let json = json.trim_matches('"').to_owned();
        let xml = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        [text, json, xml]
    });
    let spellings: BTreeSet<Vec<u8>> = spellings.map(String::into_bytes).collect();
    spellings.into_iter().filter(|text| text.len() >= MIN_SECRET_LEN).collect()
}

/// Adds the value of a header: a credential, or the scheme of an authorization with one.
fn add_header_credentials(found: &mut Vec<String>, value: &str) {
    if let Some((scheme, credential)) = value.split_once(' ') {
        let decoded = STANDARD.decode(credential.trim()).unwrap_or_default();
        if scheme.eq_ignore_ascii_case("basic") {
            found.push(password_of_login(&String::from_utf8_lossy(&decoded)).to_owned());
        }
        found.push(credential.trim().to_owned());
    }
    found.push(value.to_owned());
}

/// Adds the values of a query or a form whose names are those of credentials.
fn add_parameter_credentials(found: &mut Vec<String>, text: &str) {
    for (name, value) in text.split('&').filter_map(|pair| pair.split_once('=')) {
        if is_credential_name(name) {
            found.push(value.to_owned());
            found.push(decode_percent(value));
        }
    }
}

fn is_credential_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    CREDENTIAL_NAME_PARTS.iter().any(|part| name.contains(part))
        && !PUBLIC_NAME_ENDS.iter().any(|end| name.ends_with(end))
}

/// The secret part of a login: the password, or a token in the place of the user.
fn password_of_login(login: &str) -> &str {
    match login.split_once(':') {
        Some((token, "")) => token,
        Some((_, password)) => password,
        None => login,
    }
}

/// Decodes percent-encoding. Invalid escapes are kept.
fn decode_percent(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// Replaces the occurrences of secrets.
fn replace_secrets(text: Vec<u8>, mut secrets: Vec<&[u8]>) -> Vec<u8> {
    // The longest first: a password may be a part of a longer secret.
    secrets.sort_by_key(|secret| Reverse(secret.len()));
    secrets.into_iter().fold(text, |text, secret| replace_secret(&text, secret))
}

/// Replaces the occurrences of one secret.
fn replace_secret(text: &[u8], secret: &[u8]) -> Vec<u8> {
    // A longer one is no ordinary word or number.
    let is_ordinary = secret.len() < QUOTED_PIECE_LEN
        && (secret.iter().all(u8::is_ascii_alphabetic) || secret.iter().all(u8::is_ascii_digit));
    let (mut replaced, mut at) = (Vec::with_capacity(text.len()), 0);
    while let Some(byte) = text.get(at) {
        let end = at + secret.len();
        let is_found = text[at..].starts_with(secret);
        if is_found && !(is_ordinary && is_inside_word(text, at, end)) {
            replaced.extend_from_slice(REPLACEMENT);
            at = end;
        } else {
            replaced.push(*byte);
            at += 1;
        }
    }
    replaced
}

/// Whether a part of a text belongs to a longer word.
fn is_inside_word(text: &[u8], start: usize, end: usize) -> bool {
    let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || !byte.is_ascii();
    let before = &text[..start];
    // The letter of an escape, as in `\n`, is none of the word.
    let is_after_escape = before.len() > 1 && before[before.len() - 2] == b'\\';
    (before.last().is_some_and(is_letter) && !is_after_escape)
        || text.get(end).is_some_and(is_letter)
}

#[cfg(test)]
mod tests {
    use ureq::http::Request;

    use super::*;

    #[test]
    fn a_quotation_is_recognised_in_other_escapes_and_spaces() {
        let state = br#"{"version": 4, "outputs": {"a": {"value": "hunter2-hunter2-hunter2"}}}"#;
        for (text, is_quotation) in [
            (&br#"bad: {"version":4,"outputs":{"a":{"value":"hunter2-hunter2"#[..], true),
            (b"value hunter2 hunter2 hunter2", true),
            (b"the version of the outputs has no value", false),
            (b"", false),
        ] {
            assert_eq!(repeats(state, text), is_quotation, "{}", String::from_utf8_lossy(text));
        }
        assert!(!repeats(b"", b"a refusal of a request without content"));
    }

    #[test]
    fn short_values_of_a_content_are_hidden_in_its_refusal() {
        let state = br#"{"lineage": "3c9f-01", "outputs": {"a": {"value": "hunter2!", "type": "string"}, "password": {"value": "admin"}}, "l": ["x\"yz9", "abc"]}"#;
        for (text, expected) in [
            (
                "value hunter2! of admin,\n not administrators",
                "value redacted of redacted, not administrators",
            ),
            ("the password of 3c9f-01 is no string", "the password of 3c9f-01 is no string"),
            ("bad: \"x\\\"yz9\" or abc", "bad: \"redacted\" or abc"),
            ("", ""),
        ] {
            assert_eq!(describe_refusal(state, text.as_bytes()), expected);
        }
        let quotation = br#"bad: {"lineage":"3c9f-01","outputs":{"a":{"value":"hunter2!","type":"#;
        assert_eq!(describe_refusal(state, quotation), "");
        assert_eq!(describe_refusal(b"", b"no\n content"), "no content");
    }

    #[test]
    fn credentials_of_a_request_are_hidden_wherever_it_carries_them() {
        let url = "https://u:p%40ss@h/a?sig=s3c%2Fr&name=public";
        let head = Request::put(url)
            // `me:admin`
            .header("Authorization", "Basic bWU6YWRtaW4=")
            .header("X-Consul-Token", "0f1e-2d3c")
            .header("X-Api-Key", "abc")
            .header("x-amz-server-side-encryption-aws-kms-key-id", "alias/state")
            .header("Content-Type", "application/x-www-form-urlencoded");
        let head = head.body(()).unwrap().into_parts().0;
        let content = b"client_id=my-app&client_secret=a%22b%22c7";
        for (text, expected) in [
            (
                "user admin:\\nadmin of administrators",
                "user redacted:\\nredacted of administrators",
            ),
            ("got Basic bWU6YWRtaW4=", "got redacted"),
            ("login dTpwQHNz with p@ss or p%40ss", "login redacted with redacted or redacted"),
            ("token=0f1e-2d3c0f1e-2d3c.", "token=redactedredacted."),
            ("signature s3c/r of public", "signature redacted of public"),
            ("my-app has not a\"b\"c7 or a\\\"b\\\"c7", "my-app has not redacted or redacted"),
            // Too short, and no secret.
            ("abc of alias/state", "abc of alias/state"),
        ] {
            let hidden = hide_credentials(&head, content, text.as_bytes().to_vec());
            assert_eq!(String::from_utf8_lossy(&hidden), expected);
        }
    }
}
