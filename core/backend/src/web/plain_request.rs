//! Requests that need no authorization, or are already authorized.

use ureq::http::Request;

use super::{Authorize, HttpClient, HttpResponse};
use crate::cause::Cause;

impl HttpClient {
    /// Sends a request, and retries it if the server does not respond, is busy or fails.
    ///
    /// # Errors
    /// Returns an error if no response arrived. Any other response is returned, whatever its
    /// status.
    pub(crate) async fn send(&self, request: &Request<Vec<u8>>) -> Result<HttpResponse, Cause> {
        self.send_authorized(request, &NoAuthorization).await
    }
}

/// The authorization of a request that is already authorized, or needs none.
struct NoAuthorization;

#[async_trait::async_trait]
impl Authorize for NoAuthorization {
    async fn authorize(&self, request: Request<Vec<u8>>) -> Result<Request<Vec<u8>>, Cause> {
        Ok(request)
    }
}
