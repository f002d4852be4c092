//! The list of checksums of a provider release, `SHA256SUMS`.

/// Returns the checksum of a file, in lower case.
pub(crate) fn checksum_of_file(document: &str, name: &str) -> Option<String> {
    document.lines().find_map(|line| {
        let mut fields = line.split_ascii_whitespace();
        let (sum, file_name) = (fields.next()?, fields.next()?);
        (file_name == name).then(|| sum.to_ascii_lowercase())
    })
}

/// Returns all checksums as `zh:` hashes. Empty if the document is not a checksum list.
pub(crate) fn all_zh_hashes(document: &str) -> Vec<String> {
    let lines = document.lines().filter(|line| !line.trim().is_empty());
    let hash = |line: &str| {
        let mut fields = line.split_ascii_whitespace();
        let (sum, _) = (fields.next()?, fields.next()?);
        is_sha256(sum).then(|| format!("zh:{}", sum.to_ascii_lowercase()))
    };
    lines.map(hash).collect::<Option<_>>().unwrap_or_default()
}

/// Whether a string is a SHA-256 hash in hexadecimal digits.
pub(crate) fn is_sha256(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_found_by_the_name_of_the_file() {
        let (first, two) = ("a".repeat(64), "B0".repeat(32));
        let text = format!("{first}  one.zip\n\n{two}  two.zip\n");
        assert_eq!(checksum_of_file(&text, "one.zip"), Some(first.clone()));
        assert_eq!(checksum_of_file(&text, "two.zip"), Some("b0".repeat(32)));
        assert_eq!(checksum_of_file(&text, "two"), None);
        assert_eq!(
            all_zh_hashes(&text),
            [format!("zh:{first}"), format!("zh:{}", "b0".repeat(32))]
        );
        for broken in [first.as_str(), "abc  one.zip", &format!("{}  one.zip", "g".repeat(64))] {
            assert!(all_zh_hashes(&format!("{text}{broken}\n")).is_empty(), "{broken}");
        }
    }
}
