//! Requests that need no authorization, or have it already.

use ureq::http::Request;

use super::{Authorize, HttpClient, HttpResponse};
use crate::cause::Cause;

impl HttpClient {
    /// Sends a request, and again where the server does not answer, is busy or fails.
    ///
    /// # Errors
    /// When no answer came. One with any other status is returned.
    pub(crate) async fn send(&self, request: &Request<Vec<u8>>) -> Result<HttpResponse, Cause> {
        self.send_authorized(request, &NoAuthorization).await
    }
}

/// The authorization of a request that has it already, or needs none.
struct NoAuthorization;

#[async_trait::async_trait]
impl Authorize for NoAuthorization {
    async fn authorize(&self, request: Request<Vec<u8>>) -> Result<Request<Vec<u8>>, Cause> {
        Ok(request)
    }
}
