//! The targets of redirects, for the HTTP clients of programs and plugins.

use ureq::http::Uri;

/// Returns the target of a redirect from the URL `base`, if it is a valid URL.
#[must_use]
pub fn resolve_location(base: &Uri, location: &str) -> Option<Uri> {
    let reference = location.split('#').next().unwrap_or_default();
    let first = reference.split(['/', '?']).next().unwrap_or_default();
    if first.contains(':') {
        return reference.parse::<Uri>().ok().filter(|url| url.scheme().is_some());
    }
    let (scheme, authority) = (base.scheme_str()?, base.authority()?);
    let url = match reference {
        _ if reference.starts_with("//") => format!("{scheme}:{reference}"),
        _ if reference.starts_with('/') => format!("{scheme}://{authority}{reference}"),
        _ if reference.is_empty() || reference.starts_with('?') => {
            format!("{scheme}://{authority}{}{reference}", base.path())
        }
        _ => format!("{scheme}://{authority}{}", resolve_path(base.path(), reference)),
    };
    url.parse().ok()
}

/// Resolves a relative path, with its query, against the path `base`.
fn resolve_path(base: &str, reference: &str) -> String {
    let (path, query) = reference.split_at(reference.find('?').unwrap_or(reference.len()));
    let mut parts: Vec<&str> = base.split('/').skip(1).collect();
    parts.pop();
    let n_steps = path.split('/').count();
    for (n, step) in path.split('/').enumerate() {
        match step {
            "." | ".." => {
                if step == ".." {
                    parts.pop();
                }
                // A directory at the end keeps its slash.
                if n + 1 == n_steps {
                    parts.push("");
                }
            }
            step => parts.push(step),
        }
    }
    format!("/{}{query}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_location_is_resolved_from_the_url_of_the_request() {
        let base = "http://u:p@h:81/a/b?q=1".parse::<Uri>().unwrap();
        for (location, expected) in [
            ("https://g/c?d", "https://g/c?d"),
            ("//g/c", "http://g/c"),
            ("/c#d", "http://u:p@h:81/c"),
            ("c?x=/y", "http://u:p@h:81/a/c?x=/y"),
            ("../c/", "http://u:p@h:81/c/"),
            ("./", "http://u:p@h:81/a/"),
            ("?r", "http://u:p@h:81/a/b?r"),
        ] {
            let resolved = resolve_location(&base, location).unwrap();
            assert_eq!(resolved.to_string(), expected, "{location}");
        }
        assert_eq!(resolve_location(&base, "http://h\u{e9}/"), None);
    }
}
