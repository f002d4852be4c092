//! Removes secrets from text: from URLs what grants access, which is names and passwords, signatures,
//! tokens and keys, and from logs and source code the sensitive values of the run.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use formwork_value::Secrets;

/// The sensitive values of this process. A process is one run.
static VALUES: LazyLock<Secrets> = LazyLock::new(Secrets::default);
/// The fewest bytes of a value that is hidden in source code, where short words are names.
const SHORTEST_IN_SOURCE: usize = 6;

/// The replacement of a secret.
const REDACTED: &str = "redacted";

/// Parameters of an address that never hold a secret. Of an address of a package, all others are hidden:
/// servers name their tokens as they like.
const HARMLESS: [&str; 10] = [
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

/// Parts of the names of parameters that hold secrets, in text of which nothing else is known.
const SECRET: [&str; 10] = [
    "access_key",
    "api_key",
    "apikey",
    "credential",
    "passw",
    "secret",
    "sig",
    "sshkey",
    "token",
    "x-amz-security",
];

/// The collection of sensitive values, for the engine to add to.
pub(crate) fn values() -> Secrets {
    VALUES.clone()
}

/// A text of the log without sensitive values.
pub(crate) fn logged(text: String) -> String {
    VALUES.mask(text)
}

/// The address of a package, fit to be shown.
pub(crate) fn address(address: &str) -> String {
    let secrets = secrets(address, |name| !HARMLESS.contains(&name));
    replace(address, &secrets, |_| Cow::Borrowed(REDACTED)).into_owned()
}

/// Text in which URLs occur, fit to be shown.
pub(crate) fn text(text: &str) -> Cow<'_, str> {
    replace(text, &secrets(text, is_secret), |_| Cow::Borrowed(REDACTED))
}

/// A piece of source code, fit to be shown. Its length stays, so that offsets into it hold.
pub(crate) fn source(source: &str) -> Cow<'_, str> {
    let mut found = secrets(source, is_secret);
    let values = VALUES.find(source).into_iter().filter(|at| at.len() >= SHORTEST_IN_SOURCE);
    for value in values {
        if found.iter().all(|other| other.end <= value.start || value.end <= other.start) {
            found.push(value);
        }
    }
    found.sort_by_key(|at| at.start);
    replace(source, &found, |secret| "*".repeat(secret.len()).into())
}

fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRET.iter().any(|part| name.contains(part))
}

fn replace<'t>(
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
fn secrets(text: &str, hides: impl Fn(&str) -> bool) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = text[from..].find("://").map(|at| from + at) {
        let start = at + "://".len();
        let ends = |c: char| c.is_whitespace() || c.is_control() || "\"'`<>\\".contains(c);
        let end = text[start..].find(ends).map_or(text.len(), |length| start + length);
        let scheme_start = text[..at].trim_end_matches(|c: char| c.is_ascii_alphanumeric()).len();
        user(text, start..end, &text[scheme_start..at], &mut found);
        query(text, start..end, &hides, &mut found);
        from = end;
    }
    found
}

fn user(text: &str, url: Range<usize>, scheme: &str, found: &mut Vec<Range<usize>>) {
    let rest = &text[url.clone()];
    let authority = &rest[..rest.find(['/', '?', '#']).unwrap_or(rest.len())];
    let Some(length) = authority.rfind('@') else { return };
    let name = authority[..length].find(':').unwrap_or(length);
    // A name alone is a token for many servers, but a plain name for SSH.
    let is_plain = scheme.eq_ignore_ascii_case("ssh") || &authority[..length] == "git";
    let secret = if is_plain { (name + 1).min(length)..length } else { 0..length };
    if !secret.is_empty() {
        found.push(url.start + secret.start..url.start + secret.end);
    }
}

fn query(
    text: &str,
    url: Range<usize>,
    hides: &impl Fn(&str) -> bool,
    found: &mut Vec<Range<usize>>,
) {
    let Some(mark) = text[url.clone()].find('?') else { return };
    let mut at = url.start + mark + 1;
    for parameter in text[at..url.end].split('&') {
        if let Some((name, value)) = parameter.split_once('=')
            && hides(name)
            && !value.is_empty()
        {
            let start = at + name.len() + 1;
            found.push(start..start + value.len());
        }
        at += parameter.len() + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_shows_nothing_that_grants_access() {
        for (whole, shown) in [
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
            ("https://h/?a=", "https://h/?a="),
            ("./local", "./local"),
            ("git@github.com:a/b.git", "git@github.com:a/b.git"),
        ] {
            assert_eq!(address(whole), shown);
        }
    }

    #[test]
    fn in_other_text_only_secrets_are_hidden_and_source_keeps_its_length() {
        let line = r#"  source = "git::https://me:pä@h/a?token=1&page=2" # see https://h/?page=3"#;
        assert_eq!(
            text(line),
            r#"  source = "git::https://redacted@h/a?token=redacted&page=2" # see https://h/?page=3"#
        );
        assert_eq!(
            source(line),
            r#"  source = "git::https://******@h/a?token=*&page=2" # see https://h/?page=3"#
        );
        assert_eq!(source(line).len(), line.len());
        for harmless in ["a://", "://", "http://?", "x = \"${a}://b@\"", "é://é@é?é=é"] {
            assert_eq!(text(harmless).contains("redacted"), harmless.contains('@'), "{harmless}");
        }
    }
}
