//! Redirects: the next request, and the headers that it keeps.

use formwork_plugin_protocol::redirect_location::resolve_location;
use ureq::http::request::Parts;
use ureq::http::{HeaderName, Method, Uri, header};

use super::{HttpResponse, redact_url};

/// The headers that are also sent to another server. The others may be credentials.
const PORTABLE_HEADERS: [&str; 4] = ["accept", "content-type", "content-md5", "if-none-match"];

/// Changes a request to the one for the target of a redirect. Returns `false` if the response is not a redirect, or is
/// one that cannot be followed with the same method.
///
/// # Errors
/// Returns an error if the target is not an HTTP URL, or is less protected than the request.
pub(super) fn follow_redirect(request: &mut Parts, answer: &HttpResponse) -> Result<bool, String> {
    match answer.status.as_u16() {
        // Other clients continue with GET. Its response does not confirm the write: a login page would count as a
        // stored state, or as an acquired lock.
        301..=303 if request.method != Method::GET && request.method != Method::HEAD => {
            return Ok(false);
        }
        301..=303 | 307 | 308 => {}
        _ => return Ok(false),
    }
    let location = answer.header(header::LOCATION.as_str()).unwrap_or_default();
    if location.is_empty() {
        return Ok(false);
    }
    let next_uri = resolve_location(&request.uri, location);
    let next_uri =
        next_uri.filter(|next_uri| matches!(next_uri.scheme_str(), Some("http" | "https")));
    let next_uri = next_uri.ok_or_else(|| {
        format!("redirected to {:?}, which is not an HTTP URL", redact_url(location))
    })?;
    if is_encrypted(&request.uri) && !is_encrypted(&next_uri) {
        let target = redact_url(&next_uri.to_string());
        return Err(format!(
            "redirected from https to {target}, where anyone could read or replace the content"
        ));
    }
    if !is_same_server(&request.uri, &next_uri) {
        let names: Vec<HeaderName> = request.headers.keys().cloned().collect();
        for name in names.iter().filter(|name| !PORTABLE_HEADERS.contains(&name.as_str())) {
            request.headers.remove(name);
        }
    }
    request.headers.remove(header::CONTENT_LENGTH);
    request.uri = next_uri;
    Ok(true)
}

fn is_encrypted(url: &Uri) -> bool {
    url.scheme_str() == Some("https")
}

/// Whether the credentials for one URL may be sent to another one: to the same server, or to the same host with
/// encryption.
fn is_same_server(source: &Uri, target: &Uri) -> bool {
    let port = |url: &Uri| url.port_u16().unwrap_or(if is_encrypted(url) { 443 } else { 80 });
    let is_same_host = match (source.host(), target.host()) {
        (Some(source), Some(target)) => source.eq_ignore_ascii_case(target),
        _ => false,
    };
    let is_same_origin =
        is_encrypted(source) == is_encrypted(target) && port(source) == port(target);
    is_same_host && (is_same_origin || (!is_encrypted(source) && is_encrypted(target)))
}

#[cfg(test)]
mod tests {
    use ureq::http::{HeaderValue, Request, StatusCode};

    use super::*;

    fn redirect(status: u16, to: &str) -> HttpResponse {
        HttpResponse {
            status: StatusCode::from_u16(status).unwrap(),
            headers: [(header::LOCATION, HeaderValue::from_str(to).unwrap())].into_iter().collect(),
            body: Vec::new(),
            follows_unclear_attempt: false,
            refusal: String::new(),
            redirected_to: None,
        }
    }

    #[test]
    fn another_server_gets_no_credential_with_a_content() {
        let credentials = [
            "authorization",
            "cookie",
            "proxy-authorization",
            "x-amz-security-token",
            "x-amz-server-side-encryption-customer-key",
            "x-consul-token",
            "x-goog-encryption-key",
            "x-vault-token",
        ];
        let mut request = Request::put("http://user:word@h/a?token=word");
        for name in credentials {
            request = request.header(name, "word");
        }
        let request = request.header("content-type", "text/plain").body(()).unwrap();
        let (first, _) = request.into_parts();
        for (status, to, keeps) in [
            (307, "/b", true),
            (307, "//h:81/b", false),
            (307, "//g/b", false),
            (308, "https://g/b", false),
        ] {
            let mut next = first.clone();
            assert_eq!(follow_redirect(&mut next, &redirect(status, to)), Ok(true), "{to}");
            assert!(next.headers.contains_key("content-type"), "{to}");
            let kept = credentials.iter().filter(|name| next.headers.contains_key(**name)).count();
            assert_eq!(kept, if keeps { credentials.len() } else { 0 }, "{to}");
            assert_eq!(next.uri.to_string().contains("user:word@"), keeps, "{to}");
            assert!(!next.uri.to_string().contains("token"), "{to}");
        }
        // Back on the first server, the credentials are gone.
        let mut next = first.clone();
        for to in ["http://g/b", "http://h/a"] {
            assert_eq!(follow_redirect(&mut next, &redirect(307, to)), Ok(true), "{to}");
        }
        assert!(!next.headers.contains_key("authorization"));
    }

    #[test]
    fn content_is_resent_only_with_its_method_and_equal_protection() {
        let follow = |status: u16, location: &str| {
            let request = Request::put("https://h/a").header("content-md5", "x").body(()).unwrap();
            let mut request = request.into_parts().0;
            let follows = follow_redirect(&mut request, &redirect(status, location))?;
            let has_sum = request.headers.contains_key("content-md5");
            Ok::<_, String>((follows, request.method.to_string(), has_sum))
        };
        assert_eq!(follow(307, "/b"), Ok((true, "PUT".to_owned(), true)));
        // A GET of the other location would not show whether the write succeeded.
        for status in [301, 302, 303] {
            assert_eq!(follow(status, "/b"), Ok((false, "PUT".to_owned(), true)));
        }
        assert_eq!(follow(200, "/b"), Ok((false, "PUT".to_owned(), true)));
        assert!(
            follow(308, "http://h/b?key=x").unwrap_err().ends_with("read or replace the content")
        );
        assert!(follow(308, "file:///etc/passwd").unwrap_err().contains("not an HTTP URL"));
    }

    #[test]
    fn credentials_stay_with_their_server() {
        let is_same = |source: &str, target: &str| {
            is_same_server(&source.parse::<Uri>().unwrap(), &target.parse::<Uri>().unwrap())
        };
        assert!(is_same("http://h/a", "http://H:80/b"));
        assert!(is_same("http://h:8080/a", "https://h/a"));
        assert!(!is_same("https://h/a", "http://h/a"));
        assert!(!is_same("https://h/a", "https://h:8443/a"));
        assert!(!is_same("https://h/a", "https://g/a"));
    }
}
