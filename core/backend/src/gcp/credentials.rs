//! Google Cloud credentials, in the order of Terraform: an access token, a credentials file or its content,
//! the application default credentials, the metadata service of the machine, and then impersonation.

use std::time::Duration;

use formwork_value::schema::Block;
use formwork_value::{Type, Value};
use reqsign_core::jwt::encode_rs256_pem;
use reqsign_core::time::Timestamp;
use reqsign_core::{Context, Error, ProvideCredential, Result, Signer};
use reqsign_google::{
    Credential, RequestSigner, ServiceAccountImpersonationCredentialProvider,
    ServiceAccountImpersonationGrant, StaticCredentialProvider, Token,
    VmMetadataCredentialProvider,
};
use serde::{Deserialize, Serialize};
use ureq::http::{Request, StatusCode, header};

use super::{argument_or_variable, read_file_or_text};
use crate::arguments::{BackendArguments, optional_attributes_block};
use crate::config_error::ConfigError;
use crate::signing::signing_context;
use crate::web::{HttpClient, json_error_text, percent_encode, redact_url};

/// The scope of tokens for other Google Cloud services.
const CLOUD_PLATFORM_SCOPE: &str = "https://www.googleapis.com/auth/cloud-platform";

/// The grant type for a token in exchange for a signed assertion.
const JWT_GRANT_TYPE: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";

/// The validity period of an assertion.
const ASSERTION_VALIDITY: Duration = Duration::from_secs(3600);

/// The source of credentials.
#[derive(Clone)]
enum CredentialSource {
    /// A token that was set.
    Token(String),
    /// The content of a credentials file.
    Json(String),
    /// The metadata service of the machine.
    Machine,
}

/// Credentials of one source.
struct CredentialProvider {
    source: CredentialSource,
    scope: &'static str,
    /// For the metadata service, which responds immediately or not at all.
    local_context: Context,
}

impl std::fmt::Debug for CredentialProvider {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tokens").field("scope", &self.scope).finish_non_exhaustive()
    }
}

/// The key of a service account.
#[derive(Deserialize)]
struct ServiceAccountKey {
    client_email: String,
    private_key: String,
    #[serde(default)]
    private_key_id: String,
    token_uri: Option<String>,
}

#[derive(Serialize)]
struct JwtHeader<'c> {
    alg: &'static str,
    typ: &'static str,
    kid: &'c str,
}

#[derive(Serialize)]
struct JwtClaims<'c> {
    iss: &'c str,
    scope: &'c str,
    aud: &'c str,
    exp: i64,
    iat: i64,
}

#[derive(Deserialize)]
struct TokenResponse {
    access_token: String,
    expires_in: u32,
}

/// The scopes of tokens for a service.
#[derive(Clone, Copy)]
pub(crate) struct TokenScopes {
    /// The scope of a token of the account itself.
    pub(crate) of_account: &'static str,
    /// The scope of a token of an impersonated account.
    pub(crate) of_impersonated_account: &'static str,
}

/// The credentials arguments, which a backend and a key provider share.
pub(crate) fn credential_arguments_block() -> Block {
    optional_attributes_block(&[
        ("access_token", Type::String),
        ("credentials", Type::String),
        ("impersonate_service_account", Type::String),
        ("impersonate_service_account_delegates", Type::list(Type::String)),
    ])
}

/// Creates the signer of requests.
///
/// # Errors
/// Returns an error if the credentials are not JSON, or if a file cannot be read.
pub(crate) fn new_signer(
    arguments: &BackendArguments<'_>,
    client: &HttpClient,
    scopes: TokenScopes,
) -> std::result::Result<Signer<Credential>, ConfigError> {
    let variables = &arguments.environment.variables;
    let context = signing_context(variables.clone(), client.clone());
    let local_context = signing_context(variables.clone(), HttpClient::for_local_services()?);
    let source = find_credential_source(arguments)?;
    let variables =
        ["GOOGLE_BACKEND_IMPERSONATE_SERVICE_ACCOUNT", "GOOGLE_IMPERSONATE_SERVICE_ACCOUNT"];
    let signer = RequestSigner::new("storage");
    Ok(match argument_or_variable(arguments, "impersonate_service_account", &variables) {
        None => Signer::new(
            context,
            CredentialProvider { source, scope: scopes.of_account, local_context },
            signer,
        ),
        Some(account) => {
            // Impersonation is a call of the IAM service, which the storage scope does not permit.
            let tokens = CredentialProvider { source, scope: CLOUD_PLATFORM_SCOPE, local_context };
            let delegates =
                string_list_argument(arguments, "impersonate_service_account_delegates");
            let grant =
                ServiceAccountImpersonationGrant::new(account, [scopes.of_impersonated_account])
                    .with_delegates(delegates);
            let provider = ServiceAccountImpersonationCredentialProvider::new(tokens, grant);
            Signer::new(context, provider, signer)
        }
    })
}

/// Returns the strings of a list argument.
fn string_list_argument(arguments: &BackendArguments<'_>, name: &str) -> Vec<String> {
    let Some(Value::List(list)) = arguments.value(name) else { return Vec::new() };
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.to_string()),
        _ => None,
    };
    list.items().iter().filter_map(text).collect()
}

fn find_credential_source(
    arguments: &BackendArguments<'_>,
) -> std::result::Result<CredentialSource, ConfigError> {
    if let Some(token) =
        argument_or_variable(arguments, "access_token", &["GOOGLE_OAUTH_ACCESS_TOKEN"])
    {
        return Ok(CredentialSource::Token(token));
    }
    let variables = ["GOOGLE_BACKEND_CREDENTIALS", "GOOGLE_CREDENTIALS"];
    if let Some(credentials) = argument_or_variable(arguments, "credentials", &variables) {
        return text_if_valid_json(read_file_or_text(arguments, credentials)).map(CredentialSource::Json).ok_or_else(|| {
            ConfigError::new(
                "the string provided in credentials is neither valid json nor a valid file path",
            )
        });
    }
    let home = arguments.read_env_variable("HOME").unwrap_or_default();
    let default_path = format!("{home}/.config/gcloud/application_default_credentials.json");
    let (path, is_set) = match arguments.read_env_variable("GOOGLE_APPLICATION_CREDENTIALS") {
        Some(path) => (path, true),
        None => (default_path, false),
    };
    match arguments.read_text(&path) {
        Ok(content) => text_if_valid_json(content)
            .map(CredentialSource::Json)
            .ok_or_else(|| ConfigError::new(format!("the credentials in {path:?} are not JSON"))),
        // A file that was specified has to exist. The default file may be missing.
        Err(error) if is_set => Err(ConfigError::new(format!(
            "the file {path:?} of GOOGLE_APPLICATION_CREDENTIALS cannot be read: {error}"
        ))),
        Err(_) => Ok(CredentialSource::Machine),
    }
}

fn text_if_valid_json(text: String) -> Option<String> {
    serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok().then_some(text)
}

impl CredentialProvider {
    async fn credential_from_json(
        &self,
        content: &str,
        context: &Context,
    ) -> Result<Option<Credential>> {
        // The content was verified to be JSON when it was read.
        let kind: serde_json::Value = serde_json::from_str(content).unwrap_or_default();
        if kind.get("type").and_then(serde_json::Value::as_str) != Some("service_account") {
            let provider = StaticCredentialProvider::new(content).with_scope(self.scope);
            return provider.provide_credential(context).await;
        }
        let account: ServiceAccountKey = serde_json::from_str(content).map_err(|error| {
            Error::config_invalid(format!("the key of the service account is not valid: {error}"))
        })?;
        account.exchange_assertion(self.scope, context).await.map(Some)
    }
}

impl ServiceAccountKey {
    /// Exchanges a signed assertion for a token.
    async fn exchange_assertion(&self, scope: &str, context: &Context) -> Result<Credential> {
        let url = self.token_uri.as_deref().unwrap_or("https://oauth2.googleapis.com/token");
        let now = Timestamp::now();
        let expires = now + ASSERTION_VALIDITY;
        let claims = JwtClaims {
            iss: &self.client_email,
            scope,
            // The service refuses an assertion that is intended for another URL.
            aud: url,
            exp: expires.as_second(),
            iat: now.as_second(),
        };
        let header = JwtHeader { alg: "RS256", typ: "JWT", kid: &self.private_key_id };
        let assertion = encode_rs256_pem(&header, &claims, self.private_key.as_bytes())?;
        let form = format!(
            "grant_type={}&assertion={}",
            percent_encode(JWT_GRANT_TYPE),
            percent_encode(&assertion)
        );
        let request = Request::post(url)
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(form.into_bytes().into())
            .map_err(|error| Error::config_invalid(format!("token_uri is {url:?}: {error}")))?;
        let answer = context.http_send(request).await?;
        let redacted_url = redact_url(url);
        if answer.status() != StatusCode::OK {
            // Proxies mark a token with 203.
            let body: &[u8] = if answer.status().is_success() { &[] } else { answer.body() };
            let body_text = String::from_utf8_lossy(body);
            let body_text = body_text.split_whitespace().collect::<Vec<_>>().join(" ");
            let body_text = body_text.chars().take(500).collect::<String>();
            let body_text =
                if body_text.is_empty() { String::new() } else { format!(": {body_text}") };
            return Err(Error::credential_invalid(format!(
                "POST {redacted_url}: HTTP {}{body_text}; check the key of the service account {:?}, and the clock of this machine",
                answer.status(),
                self.client_email
            )));
        }
        let issued: TokenResponse = serde_json::from_slice(answer.body()).map_err(|error| {
            let reason = json_error_text(&error);
            Error::credential_invalid(format!(
                "POST {redacted_url}: the response cannot be read: {reason}"
            ))
        })?;
        let expires = now + Duration::from_secs(issued.expires_in.into());
        Ok(Credential::with_token(Token {
            access_token: issued.access_token,
            expires_at: Some(expires),
        }))
    }
}

impl ProvideCredential for CredentialProvider {
    type Credential = Credential;

    async fn provide_credential(&self, context: &Context) -> Result<Option<Credential>> {
        let credential = match &self.source {
            CredentialSource::Token(token) => {
                // The expiry of an explicitly set token is unknown. The service refuses it when it
                // has expired.
                let token = Token { access_token: token.clone(), expires_at: None };
                Some(Credential::with_token(token))
            }
            CredentialSource::Json(content) => self.credential_from_json(content, context).await?,
            CredentialSource::Machine => {
                let provider = VmMetadataCredentialProvider::new().with_scope(self.scope);
                // Most machines have no such service, so its absence is one of the reasons below.
                provider.provide_credential(&self.local_context).await.unwrap_or_default()
            }
        };
        credential.map(Some).ok_or_else(|| {
            Error::credential_invalid(
                "could not find default credentials: no credentials or access_token in the backend, no GOOGLE_CREDENTIALS and GOOGLE_APPLICATION_CREDENTIALS in the environment, no application default credentials, and no metadata service of the machine; set one of them, or run `gcloud auth application-default login`",
            )
        })
    }
}
