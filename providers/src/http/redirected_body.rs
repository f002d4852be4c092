//! Redirects of a request with a body. The HTTP library follows those of other requests, and sends no body again.

use std::time::Instant;

use formwork_plugin_protocol::redirect_location::resolve_location;
use ureq::http::request::Parts;
use ureq::http::{Method, Request, Response, Uri, header};
use ureq::{Agent, Body, Error};

/// Greatest number of redirects.
pub(super) const MAX_REDIRECTS: u32 = 10;

/// Sends a request with a body. As in Go, a redirect with 307 or 308 keeps the method and the body, and the target of
/// another one is read without a body.
///
/// # Errors
/// When no response arrives, or when the redirects have no end.
pub(super) fn send_with_body(
    agent: &Agent,
    mut head: Parts,
    body: &str,
) -> Result<Response<Body>, Error> {
    let (limit, began) = (agent.config().timeouts().global, Instant::now());
    for n_followed in 0..=MAX_REDIRECTS {
        let request = agent.configure_request(Request::from_parts(head.clone(), body));
        let request = request.max_redirects(0);
        // One limit for all of them.
        let left = limit.map(|limit| limit.saturating_sub(began.elapsed()));
        let response = agent.run(request.timeout_global(left).build())?;
        let status = response.status().as_u16();
        let location = response.headers().get(header::LOCATION);
        let location = location.and_then(|text| text.to_str().ok()).unwrap_or_default();
        if !matches!(status, 301..=303 | 307 | 308) || location.is_empty() {
            return Ok(response);
        }
        redirect_head(&mut head, location)?;
        if !matches!(status, 307 | 308) {
            if head.method != Method::HEAD {
                head.method = Method::GET;
            }
            let request = agent.configure_request(Request::from_parts(head, ()));
            let request = request.max_redirects(MAX_REDIRECTS.saturating_sub(n_followed + 1));
            let left = limit.map(|limit| limit.saturating_sub(began.elapsed()));
            return agent.run(request.timeout_global(left).build());
        }
    }
    Err(Error::TooManyRedirects)
}

/// Changes the head of a request to that for the target of a redirect.
fn redirect_head(head: &mut Parts, location: &str) -> Result<(), Error> {
    let next = resolve_location(&head.uri, location);
    let next = next.filter(|next| matches!(next.scheme_str(), Some("http" | "https")));
    let next = next.ok_or_else(|| {
        Error::BadUri("the server redirects to an address that is not HTTP or HTTPS".to_owned())
    })?;
    if !may_have_credentials(&head.uri, &next) {
        // The same headers as in Go.
        for name in [header::AUTHORIZATION, header::COOKIE, header::PROXY_AUTHORIZATION] {
            head.headers.remove(name);
        }
    }
    if head.uri.authority() != next.authority() {
        head.headers.remove(header::HOST);
    }
    head.headers.remove(header::CONTENT_LENGTH);
    head.uri = next;
    Ok(())
}

/// Whether the credentials for one URL may be sent to another one: to the same host, and not with less protection.
/// The HTTP library has the same rule for other requests.
fn may_have_credentials(from: &Uri, to: &Uri) -> bool {
    from.host() == to.host() && (from.scheme() == to.scheme() || to.scheme_str() == Some("https"))
}
