//! File permissions as text in octal digits.

use formwork_sdk::prelude::*;

/// Checks a permission that an author wrote.
pub(super) fn check_permission(name: &str, permission: &Attr<String>) -> Answer<()> {
    match permission.get() {
        Some(text) if parse_mode(text).is_none() => {
            let detail = format!(
                "`{name}` is {text:?}; give three or four octal digits, for example \"0644\"."
            );
            let problem = Problem::new("Invalid File Permission String Value", detail);
            Err(problem.at(name))
        }
        _ => Ok(()),
    }
}

/// The permission as the system takes it.
pub(super) fn parse_mode(text: &str) -> Option<u32> {
    let digits = text.bytes().all(|digit| matches!(digit, b'0'..=b'7'));
    let mode = u32::from_str_radix(text, 8).ok()?;
    (digits && (3..=4).contains(&text.len()) && mode <= 0o777).then_some(mode)
}

#[cfg(test)]
mod tests {
    use super::parse_mode;

    #[test]
    fn permissions_have_three_or_four_octal_digits() {
        assert_eq!(parse_mode("0644"), Some(0o644));
        assert_eq!(parse_mode("777"), Some(0o777));
        for text in ["", "77", "07777", "1777", "0o7", "+77", "089", "rwx"] {
            assert_eq!(parse_mode(text), None, "{text}");
        }
    }
}
