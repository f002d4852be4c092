//! Requests that are authorized before each attempt.

#[cfg(feature = "credential-search")]
mod context;

use reqsign_core::{Error, Signer};
use ureq::http::Request;

#[cfg(feature = "credential-search")]
pub(crate) use self::context::signing_context;
use crate::cause::Cause;
use crate::web::Authorize;

#[async_trait::async_trait]
impl<K> Authorize for Signer<K>
where
    K: reqsign_core::SigningCredential,
{
    async fn authorize(&self, request: Request<Vec<u8>>) -> Result<Request<Vec<u8>>, Cause> {
        let (mut parts, body) = request.into_parts();
        self.sign(&mut parts, None).await.map_err(|error| error_with_reasons(&error))?;
        Ok(Request::from_parts(parts, body))
    }
}

/// Formats an error of the signing crate with its sources.
pub(crate) fn error_with_reasons(error: &Error) -> Cause {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(error) = source {
        let source_text = error.to_string();
        if !text.contains(&source_text) {
            text.push_str(&format!(": {source_text}"));
        }
        source = error.source();
    }
    text.into()
}
