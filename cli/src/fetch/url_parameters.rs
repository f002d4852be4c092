//! Parameters of an address that Formwork uses and does not send to the server.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

/// Removes a parameter from the query of a URL. Returns the URL without it, and its values in order.
pub(super) fn take_parameter(url: &str, name: &str) -> (String, Vec<String>) {
    let (address, query) = url.split_once('?').unwrap_or((url, ""));
    let mut values = Vec::new();
    let mut rest = Vec::new();
    for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
        match parameter.split_once('=') {
            Some((parameter_name, value)) if parameter_name == name => {
                values.push(decode_percent(value));
            }
            _ => rest.push(parameter),
        }
    }
    let url =
        if rest.is_empty() { address.to_owned() } else { format!("{address}?{}", rest.join("&")) };
    (url, values)
}

/// Decodes percent escapes. Malformed escapes are not changed.
pub(super) fn decode_percent(text: &str) -> String {
    percent_decode_str(text).decode_utf8().map_or_else(|_| text.to_owned(), Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_is_removed_and_the_others_are_kept() {
        let table: [(&str, &str, &[&str]); 6] = [
            ("https://h/a", "https://h/a", &[]),
            ("https://h/a?p=1", "https://h/a", &["1"]),
            ("https://h/a?b=2&p=x%2Fy&&c", "https://h/a?b=2&c", &["x/y"]),
            ("https://h/a?p=1&p=&p=%zz", "https://h/a", &["1", "", "%zz"]),
            ("https://h/a?p&pp=1", "https://h/a?p&pp=1", &[]),
            ("https://h/a?b=http://i/?p=1", "https://h/a?b=http://i/?p=1", &[]),
        ];
        for (url, rest, values) in table {
            let (remaining_url, taken_values) = take_parameter(url, "p");
            assert_eq!(
                (remaining_url.as_str(), taken_values.as_slice()),
                (rest, &*values.iter().map(|v| (*v).to_owned()).collect::<Vec<_>>()),
                "{url}"
            );
        }
    }
}
