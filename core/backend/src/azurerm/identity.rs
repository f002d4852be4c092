//! Microsoft Entra ID identities and the tokens that are issued to them: with a secret, with a token of
//! another identity provider, by the machine, or by the Azure CLI.

use std::time::Duration;

use reqsign_azure_storage::Credential;
use reqsign_core::time::Timestamp;
use reqsign_core::{Context, Error, ProvideCredential};
use serde::Deserialize;
use ureq::http::{Request, StatusCode, header};

use super::cloud::AzureCloud;
use crate::cause::Cause;
use crate::credential_program::CredentialProgram;
use crate::web::{HttpClient, json_error_text, percent_encode};

/// The audience of tokens that other identity providers issue for an exchange.
const FEDERATION_AUDIENCE: &str = "api://AzureADTokenExchange";

/// The assertion type of a token exchange.
const ASSERTION_TYPE: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// An identity, with the source of its tokens.
#[derive(Clone)]
pub(super) struct TokenIdentity {
    pub(super) tenant: Option<String>,
    pub(super) client_id: Option<String>,
    pub(super) source: TokenSource,
}

/// The source of tokens.
#[derive(Clone)]
pub(super) enum TokenSource {
    /// The secret of a service principal.
    Secret(String),
    /// A token of another identity provider.
    Assertion(FederatedToken),
    /// The managed identity of the machine, from its metadata service at this URL.
    Machine(String),
    /// The program `az`.
    CommandLine,
}

/// A token of another identity provider, or the way to request one.
#[derive(Clone)]
pub(super) enum FederatedToken {
    /// The token.
    Token(String),
    /// A request from a GitHub Actions workflow.
    Workflow { url: String, token: String },
    /// A request from an Azure DevOps pipeline.
    Pipeline { url: String, token: String, connection: String },
}

/// The tokens of an identity for one service.
pub(super) struct IdentityTokenIssuer {
    pub(super) identity: TokenIdentity,
    pub(super) cloud: AzureCloud,
    /// The service, as a URL.
    pub(super) resource: String,
    pub(super) client: HttpClient,
    /// For the metadata service of the machine.
    pub(super) local_client: HttpClient,
}

// Implemented by hand, because a derived `Debug` would print the secret of the identity.
impl std::fmt::Debug for IdentityTokenIssuer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tokens").field("resource", &self.resource).finish_non_exhaustive()
    }
}

/// A token in a service's response. Some services encode numbers as strings.
#[derive(Deserialize)]
struct IssuedToken {
    access_token: String,
    #[serde(default)]
    expires_in: serde_json::Value,
}

/// A token as `az` prints it.
#[derive(Deserialize)]
struct CliToken {
    #[serde(rename = "accessToken")]
    access_token: String,
    #[serde(default)]
    expires_on: Option<i64>,
}

/// A token of GitHub or Azure DevOps.
#[derive(Deserialize)]
struct FederatedTokenResponse {
    #[serde(alias = "oidcToken")]
    value: Option<String>,
}

impl IssuedToken {
    fn to_credential(&self) -> Credential {
        // The metadata service encodes the number as a string, Entra ID does not.
        let seconds = match &self.expires_in {
            serde_json::Value::String(text) => text.parse().ok(),
            other => other.as_f64(),
        };
        // A larger number would make the addition below panic.
        let seconds = seconds.filter(|seconds: &f64| *seconds > 0.0 && *seconds < 1e9);
        let expires = seconds.map(|seconds| Timestamp::now() + Duration::from_secs_f64(seconds));
        Credential::with_bearer_token(&self.access_token, expires)
    }
}

impl IdentityTokenIssuer {
    async fn issue_token(&self) -> Result<Credential, Cause> {
        let secret = match &self.identity.source {
            TokenSource::Secret(secret) => format!("client_secret={}", percent_encode(secret)),
            TokenSource::Assertion(assertion) => format!(
                "client_assertion_type={}&client_assertion={}",
                percent_encode(ASSERTION_TYPE),
                percent_encode(&self.fetch_federated_token(assertion).await?)
            ),
            TokenSource::Machine(endpoint) => {
                return self.token_from_instance_metadata(endpoint).await;
            }
            TokenSource::CommandLine => return self.token_from_cli().await,
        };
        let TokenIdentity { tenant, client_id, .. } = &self.identity;
        // Reading the configuration ensures that both are set if the source is a secret or an
        // assertion.
        let (tenant, client_id) =
            (tenant.as_deref().unwrap_or_default(), client_id.as_deref().unwrap_or_default());
        let url = format!("{}/{}/oauth2/v2.0/token", self.cloud.login, percent_encode(tenant));
        // The scope includes all permissions granted to the identity. A token cannot be requested
        // without a scope.
        let scope = format!("{}/.default", self.resource);
        let form = format!(
            "client_id={}&grant_type=client_credentials&scope={}&{secret}",
            percent_encode(client_id),
            percent_encode(&scope)
        );
        let request = Request::post(&url)
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(form.into_bytes())?;
        let issued: IssuedToken = send_json_request(&self.client, &request).await?;
        Ok(issued.to_credential())
    }

    async fn fetch_federated_token(&self, assertion: &FederatedToken) -> Result<String, Cause> {
        let (request, token) = match assertion {
            FederatedToken::Token(token) => return Ok(token.clone()),
            FederatedToken::Workflow { url, token } => (
                Request::get(with_query_parameters(url, &[("audience", FEDERATION_AUDIENCE)])),
                token,
            ),
            FederatedToken::Pipeline { url, token, connection } => {
                let query = [
                    ("api-version", "7.1"),
                    ("serviceConnectionId", connection.as_str()),
                    ("audience", FEDERATION_AUDIENCE),
                ];
                (Request::post(with_query_parameters(url, &query)), token)
            }
        };
        let request = request
            .header(header::ACCEPT, "application/json")
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::AUTHORIZATION, format!("Bearer {token}"))
            .body(Vec::new())?;
        let response: FederatedTokenResponse = send_json_request(&self.client, &request).await?;
        response.value.ok_or_else(|| "the OIDC provider has issued no token".into())
    }

    async fn token_from_instance_metadata(&self, endpoint: &str) -> Result<Credential, Cause> {
        let mut query = vec![("api-version", "2018-02-01"), ("resource", self.resource.as_str())];
        // A machine may have several identities, and the ID selects one of them.
        if let Some(id) = &self.identity.client_id {
            query.push(("client_id", id));
        }
        // The metadata service refuses requests without this header, so that another program cannot
        // be tricked into querying it.
        let request =
            Request::get(with_query_parameters(endpoint, &query)).header("Metadata", "true");
        let issued: IssuedToken =
            send_json_request(&self.local_client, &request.body(Vec::new())?).await?;
        Ok(issued.to_credential())
    }

    async fn token_from_cli(&self) -> Result<Credential, Cause> {
        let scope = format!("{}/.default", self.resource);
        let mut arguments =
            vec!["account", "get-access-token", "--output", "json", "--scope", &scope];
        if let Some(tenant) = &self.identity.tenant {
            arguments.extend(["--tenant", tenant]);
        }
        let output = azure_cli_call(&arguments).run_for_output().await?;
        let cli_token: CliToken = serde_json::from_slice(&output).map_err(|error| {
            format!("the token of `az` cannot be read: {}", json_error_text(&error))
        })?;
        // Older versions of `az` print the end only as a local time, which means nothing without
        // its zone.
        let expires = cli_token.expires_on.and_then(|seconds| Timestamp::from_second(seconds).ok());
        Ok(Credential::with_bearer_token(&cli_token.access_token, expires))
    }
}

/// Runs the Azure CLI with arguments.
pub(super) fn azure_cli_call(arguments: &[&str]) -> CredentialProgram {
    CredentialProgram {
        name: "az".to_owned(),
        arguments: arguments.iter().map(|text| (*text).to_owned()).collect(),
        variables: Vec::new(),
    }
}

/// Adds parameters to a URL and preserves the existing ones.
fn with_query_parameters(url: &str, parameters: &[(&str, &str)]) -> String {
    let (_, query) = url.split_once('?').unwrap_or((url, ""));
    let has_parameter =
        |name: &str| query.split('&').any(|pair| pair.split('=').next() == Some(name));
    // URLs from GitHub and Azure DevOps already have parameters.
    let missing = parameters.iter().filter(|(name, _)| !has_parameter(name));
    let missing: Vec<_> =
        missing.map(|(name, value)| format!("{name}={}", percent_encode(value))).collect();
    let separator = if url.contains('?') { "&" } else { "?" };
    format!("{url}{separator}{}", missing.join("&"))
}

/// Sends a request and reads the response.
async fn send_json_request<T: serde::de::DeserializeOwned>(
    client: &HttpClient,
    request: &Request<Vec<u8>>,
) -> Result<T, Cause> {
    let (method, url) = (request.method().as_str(), request.uri().to_string());
    let answer = client.send(request).await?;
    match answer.status {
        StatusCode::OK => serde_json::from_slice(&answer.body).map_err(|error| {
            // The answer may be a secret, so it is not repeated.
            let (url, reason) = (crate::web::redact_url(&url), json_error_text(&error));
            format!("{method} {url}: the response cannot be read: {reason}").into()
        }),
        _ => Err(answer.unexpected_response_cause(method, &url)),
    }
}

impl ProvideCredential for IdentityTokenIssuer {
    type Credential = Credential;

    async fn provide_credential(&self, _: &Context) -> reqsign_core::Result<Option<Credential>> {
        let remedy = match &self.identity.source {
            TokenSource::Secret(_) => "check tenant_id, client_id and client_secret",
            TokenSource::Assertion(_) => "check tenant_id, client_id and the OIDC token",
            TokenSource::Machine(_) => "check that the machine has an identity, and msi_endpoint",
            TokenSource::CommandLine => "run `az login`, or set access_key or other credentials",
        };
        self.issue_token().await.map(Some).map_err(|cause| {
            let text = format!("there is no token for {}: {cause}; {remedy}", self.resource);
            Error::credential_invalid(text)
        })
    }
}
