//! Links to packages in HTTP responses: in the `X-Terraform-Get` header, or in an element
//! `<meta name="terraform-get" content="…">` of an HTML page.

use super::FetchError;
use super::http::Client;

/// Maximum length of a page, in bytes.
const MAX_SEARCHED_PAGE_SIZE: u64 = 1 << 20;

/// Requests the URL of a package from a server.
pub(super) fn find_package_url(
    http: &Client,
    url: &str,
    authorization: Option<&str>,
) -> Result<String, FetchError> {
    let joint = if url.contains('?') { '&' } else { '?' };
    let answer = http.get(&format!("{url}{joint}terraform-get=1"), authorization)?;
    if let Some(header) = answer.header("X-Terraform-Get").filter(|header| !header.is_empty()) {
        return Ok(header);
    }
    let page = answer.read_text(MAX_SEARCHED_PAGE_SIZE)?;
    link_in_page(&page).ok_or_else(|| FetchError::Address("no source URL was returned".to_owned()))
}

/// Returns the content of the `terraform-get` element in the head of a page.
fn link_in_page(page: &str) -> Option<String> {
    let head = page.split("<body").next().unwrap_or_default();
    head.split("<meta").skip(1).find_map(|element| {
        let element = element.split('>').next().unwrap_or_default();
        let is_terraform_get = find_attribute(element, "name")? == "terraform-get";
        find_attribute(element, "content").filter(|_| is_terraform_get)
    })
}

/// Returns the value of an attribute in single or double quotes.
fn find_attribute(element: &str, name: &str) -> Option<String> {
    let mut rest = element;
    while let Some((before, after)) = rest.split_once('=') {
        let value = after.trim_start();
        let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        let (value, next) = value[1..].split_once(quote)?;
        if before.trim().rsplit(char::is_whitespace).next() == Some(name) {
            return Some(value.replace("&amp;", "&"));
        }
        rest = next;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_element_is_found_in_every_notation() {
        let table = [
            (
                "<head><meta name=\"terraform-get\" content=\"https://h/a.zip\"></head>",
                Some("https://h/a.zip"),
            ),
            ("<META><meta content='x?a&amp;b' name='terraform-get' />", Some("x?a&b")),
            ("<meta charset=\"utf-8\"><meta name = \"terraform-get\" content = \"y\">", Some("y")),
            ("<body><meta name=\"terraform-get\" content=\"z\"></body>", None),
            ("<meta name=\"other\" content=\"z\">", None),
            ("hello", None),
            ("<meta name=\"terraform-get\" content=\"z", None),
        ];
        for (page, expected) in table {
            assert_eq!(link_in_page(page).as_deref(), expected, "{page}");
        }
    }
}
