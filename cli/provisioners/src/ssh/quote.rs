//! Quoting of words for a remote shell, and splitting of remote paths.

use formwork_value::quote::shell_quoted;

/// Quotes a string as one word for a Unix shell, or for the Windows shell.
pub(super) fn quote_shell_word(text: &str, unix: bool) -> String {
    if unix {
        return shell_quoted(text);
    }
    match text.contains([' ', '"', '\t']) {
        true => format!("\"{}\"", text.replace('"', "\\\"")),
        false => text.to_owned(),
    }
}

/// Splits a path into directory and name, as Terraform does: for a path that ends with a slash, the
/// directory is the path without the slash.
pub(super) fn split_path(path: &str) -> (&str, &str) {
    let directory = match path.rfind('/') {
        None => ".",
        Some(index) => {
            let directory = path.get(..index).unwrap_or_default().trim_end_matches('/');
            if directory.is_empty() { "/" } else { directory }
        }
    };
    let without_slashes = path.trim_end_matches('/');
    let name = match without_slashes.rsplit('/').next() {
        Some(name) if !name.is_empty() => name,
        _ if path.is_empty() => ".",
        _ => "/",
    };
    (directory, name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_strings_are_one_shell_word() {
        assert_eq!(quote_shell_word("/tmp/a b", true), "'/tmp/a b'");
        assert_eq!(quote_shell_word("it's $HOME", true), r"'it'\''s $HOME'");
        assert_eq!(quote_shell_word("C:/windows/temp", false), "C:/windows/temp");
        assert_eq!(quote_shell_word("C:/my files", false), "\"C:/my files\"");
    }

    #[test]
    fn paths_are_split_as_in_terraform() {
        for (path, directory, name) in [
            ("/tmp/a", "/tmp", "a"),
            ("/tmp/a/", "/tmp/a", "a"),
            ("a", ".", "a"),
            ("/a", "/", "a"),
            ("", ".", "."),
            ("/", "/", "/"),
            ("~/a", "~", "a"),
        ] {
            assert_eq!(split_path(path), (directory, name), "{path}");
        }
    }
}
