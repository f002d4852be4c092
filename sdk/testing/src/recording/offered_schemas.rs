//! The schemas of a provider: from the provider itself, or from a transcript of its calls.

use formwork_plugin_protocol::message::schema::IdentitySchemas;
use formwork_plugin_protocol::transcript::{CallDecodeError, DecodedCall, Transcript};
use formwork_plugin_protocol::{Failure, Provider, ProviderExt as _, Response};

use super::value_json::OfferedSchemas;

impl OfferedSchemas {
    /// Asks a provider for its schemas.
    pub(super) async fn of_provider(provider: &dyn Provider) -> Result<Self, Failure> {
        let identities = match provider.identity_schemas().await {
            // Providers of before 5.9 and 6.9 have no identities.
            Err(Failure::Unimplemented(_)) => IdentitySchemas::default(),
            answer => answer?,
        };
        Ok(Self { schema: provider.schema().await?, identities })
    }

    /// Finds the schemas in the calls of a host; `None` if it has not requested them.
    pub(super) async fn of_transcript(
        transcript: &Transcript,
    ) -> Result<Option<Self>, CallDecodeError> {
        let (mut schema, mut identities) = (None, None);
        for call in &transcript.calls {
            // `GetSchema` is the name in protocol 5.
            if !matches!(
                call.method(),
                "GetProviderSchema" | "GetSchema" | "GetResourceIdentitySchemas"
            ) {
                continue;
            }
            let DecodedCall { response, .. } = call.decode().await?;
            match response {
                Ok(Response::GetProviderSchema(answer)) => schema = Some(answer),
                Ok(Response::GetResourceIdentitySchemas(answer)) => identities = Some(answer),
                _ => {}
            }
        }
        // Without them, only identities are written with their types.
        let identities = identities.unwrap_or_default();
        Ok(schema.map(|schema| Self { schema, identities }))
    }
}
