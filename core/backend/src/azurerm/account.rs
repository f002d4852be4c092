//! A storage account: its address and the authorization of requests, resolved on first use.

use reqsign_azure_storage::{Credential, RequestSigner, StaticCredentialProvider};
use reqsign_core::{Context, Signer};
use serde::Deserialize;
use tokio::sync::OnceCell;
use ureq::http::{Request, StatusCode, header};

use super::cloud::{AzureCloud, CloudSource};
use super::identity::{IdentityTokenIssuer, TokenIdentity, TokenSource, azure_cli_call};
use crate::cause::Cause;
use crate::web::{HttpClient, HttpResponse, json_error_text, percent_encode};

/// The version of the Resource Manager API.
const RESOURCE_MANAGER_API_VERSION: &str = "2023-01-01";

/// Settings for access to an account.
pub(super) struct AccountCredentials {
    pub(super) cloud: CloudSource,
    pub(super) access: BlobAuthorization,
    /// Whether the address of the account is requested from the Resource Manager.
    pub(super) lookup_endpoint: bool,
    pub(super) resource_group: Option<String>,
    pub(super) subscription: Option<String>,
    /// The identity that tokens are issued to, if any are required.
    pub(super) identity: Option<TokenIdentity>,
}

/// The authorization of blob requests.
pub(super) enum BlobAuthorization {
    /// A key of the account.
    Key(String),
    /// A shared access signature.
    Sas(String),
    /// Tokens of the identity.
    Token,
    /// A key that is requested from the Resource Manager.
    ListedKey,
}

/// A storage account.
pub(super) struct StorageAccount {
    pub(super) name: String,
    credentials: AccountCredentials,
    client: HttpClient,
    local_client: HttpClient,
    resolved: OnceCell<ResolvedAccount>,
}

/// The address of an account, and the authorization of requests to it.
pub(super) struct ResolvedAccount {
    /// The URL of the blob service, without a trailing slash.
    pub(super) url: String,
    signer: Signer<Credential>,
}

#[derive(Deserialize)]
struct AccountDocument {
    properties: AccountProperties,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AccountProperties {
    primary_endpoints: BlobEndpoint,
}

#[derive(Deserialize)]
struct BlobEndpoint {
    blob: String,
}

#[derive(Deserialize)]
struct AccountKeys {
    keys: Vec<AccountKey>,
}

#[derive(Deserialize)]
struct AccountKey {
    #[serde(default)]
    permissions: String,
    #[serde(default)]
    value: String,
}

impl StorageAccount {
    /// Creates the account. Sends no request yet.
    pub(super) fn new(
        name: String,
        credentials: AccountCredentials,
        client: HttpClient,
        local_client: HttpClient,
    ) -> Self {
        Self { name, credentials, client, local_client, resolved: OnceCell::new() }
    }

    /// Creates an account at a URL, for tests.
    #[cfg(test)]
    pub(super) fn for_test_at_url(url: &str, client: HttpClient, key: &str) -> Self {
        let provider = StaticCredentialProvider::new_shared_key("account", key);
        let signer = Signer::new(Context::new(), provider, RequestSigner::new());
        let resolved = OnceCell::new_with(Some(ResolvedAccount { url: url.to_owned(), signer }));
        let cloud = AzureCloud::find_by_name("public").expect("it is built in");
        let credentials = AccountCredentials {
            cloud: CloudSource::BuiltIn(cloud),
            access: BlobAuthorization::Key(key.to_owned()),
            lookup_endpoint: false,
            resource_group: None,
            subscription: None,
            identity: None,
        };
        Self {
            name: "account".to_owned(),
            credentials,
            local_client: client.clone(),
            client,
            resolved,
        }
    }

    /// Sends a blob request, and retries it if the service is busy or does not respond.
    ///
    /// # Errors
    /// Returns an error if there are no credentials, or if no response arrived. A response with any
    /// status is returned.
    pub(super) async fn send(&self, request: &Request<Vec<u8>>) -> Result<HttpResponse, Cause> {
        let resolved = self.resolve_access().await?;
        self.client.send_authorized(request, &resolved.signer).await
    }

    /// The name of the account for messages, before its address is known.
    pub(super) fn location(&self) -> String {
        let storage = match &self.credentials.cloud {
            CloudSource::BuiltIn(cloud) => cloud.storage.as_str(),
            CloudSource::Metadata(host) => host.as_str(),
        };
        format!("https://{}.blob.{storage}", self.name)
    }

    /// Returns the address and the authorization.
    ///
    /// # Errors
    /// Returns an error if a service that is required to resolve them does not respond as expected.
    pub(super) async fn resolve_access(&self) -> Result<&ResolvedAccount, Cause> {
        // A failure is not cached, so that the next call tries again.
        self.resolved.get_or_try_init(|| self.look_up_account()).await
    }

    async fn look_up_account(&self) -> Result<ResolvedAccount, Cause> {
        let AccountCredentials { cloud, access, lookup_endpoint, .. } = &self.credentials;
        let cloud = cloud.resolve(&self.client).await?;
        // As in Terraform, an account whose key is listed has its address looked up, too.
        let needs_lookup = *lookup_endpoint || matches!(access, BlobAuthorization::ListedKey);
        let manager = match needs_lookup {
            true => Some(self.resource_manager_client(&cloud).await?),
            false => None,
        };
        let url = match &manager {
            None => format!("https://{}.blob.{}", self.name, cloud.storage),
            Some(manager) => {
                // An account in a DNS zone has a number in its host name, which cannot be derived
                // from the account name.
                let document: AccountDocument =
                    manager.send_request(&self.client, "GET", "").await?;
                document.properties.primary_endpoints.blob.trim_end_matches('/').to_owned()
            }
        };
        let static_signer = |provider| Signer::new(Context::new(), provider, RequestSigner::new());
        let with_key =
            |key: &str| static_signer(StaticCredentialProvider::new_shared_key(&self.name, key));
        let signer = match (access, &manager) {
            (BlobAuthorization::Key(key), _) => with_key(key),
            (BlobAuthorization::Sas(token), _) => {
                static_signer(StaticCredentialProvider::new_sas_token(token))
            }
            (BlobAuthorization::ListedKey, Some(manager)) => {
                with_key(&self.fetch_account_key(manager).await?)
            }
            // The manager is always set for a listed key.
            (BlobAuthorization::Token | BlobAuthorization::ListedKey, _) => Signer::new(
                Context::new(),
                self.token_issuer(cloud, STORAGE_TOKEN_RESOURCE)?,
                RequestSigner::new(),
            ),
        };
        Ok(ResolvedAccount { url, signer })
    }

    fn token_issuer(
        &self,
        cloud: AzureCloud,
        resource: &str,
    ) -> Result<IdentityTokenIssuer, Cause> {
        let identity = self.credentials.identity.clone();
        Ok(IdentityTokenIssuer {
            identity: identity.ok_or("there is no identity to issue a token to")?,
            cloud,
            resource: resource.to_owned(),
            client: self.client.clone(),
            local_client: self.local_client.clone(),
        })
    }

    /// Returns the URL of the account in the Resource Manager.
    async fn resource_manager_client(
        &self,
        cloud: &AzureCloud,
    ) -> Result<ResourceManagerClient, Cause> {
        let AccountCredentials { identity, subscription, resource_group, .. } = &self.credentials;
        let subscription = match (subscription, identity.as_ref().map(|identity| &identity.source))
        {
            (Some(subscription), _) => subscription.clone(),
            (None, Some(TokenSource::CommandLine)) => default_cli_subscription().await?,
            (None, _) => return Err("subscription_id is not set".into()),
        };
        let group = resource_group.as_deref().unwrap_or_default();
        let url = format!(
            "{}/subscriptions/{}/resourceGroups/{}/providers/Microsoft.Storage/storageAccounts/{}",
            cloud.manager,
            percent_encode(&subscription),
            percent_encode(group),
            self.name
        );
        let tokens = self.token_issuer(cloud.clone(), &cloud.manager)?;
        Ok(ResourceManagerClient {
            url,
            signer: Signer::new(Context::new(), tokens, RequestSigner::new()),
        })
    }

    async fn fetch_account_key(&self, manager: &ResourceManagerClient) -> Result<String, Cause> {
        let listed: AccountKeys = manager.send_request(&self.client, "POST", "/listKeys").await?;
        let full_key = listed
            .keys
            .into_iter()
            // A read-only key could neither take the lease nor write.
            .find(|key| key.permissions.eq_ignore_ascii_case("full") && !key.value.is_empty());
        let name = &self.name;
        let missing = || format!("there is no key with full permissions for the account {name:?}");
        Ok(full_key.ok_or_else(missing)?.value)
    }
}

/// The service that blob tokens are issued for.
const STORAGE_TOKEN_RESOURCE: &str = "https://storage.azure.com";

/// Returns the default subscription of the Azure CLI.
async fn default_cli_subscription() -> Result<String, Cause> {
    let output = azure_cli_call(&["account", "show", "--output", "json"]).run_for_output().await?;
    let account: serde_json::Value = serde_json::from_slice(&output)?;
    let id = account.get("id").and_then(serde_json::Value::as_str);
    Ok(id.ok_or("subscription_id is not set, and `az account show` returns none")?.to_owned())
}

/// An account in the Resource Manager.
struct ResourceManagerClient {
    url: String,
    signer: Signer<Credential>,
}

impl ResourceManagerClient {
    async fn send_request<T: serde::de::DeserializeOwned>(
        &self,
        client: &HttpClient,
        method: &str,
        call: &str,
    ) -> Result<T, Cause> {
        let url = format!("{}{call}?api-version={RESOURCE_MANAGER_API_VERSION}", self.url);
        let request = Request::builder()
            .method(method)
            .uri(&url)
            .header(header::ACCEPT, "application/json")
            // Azure refuses a POST request without a length.
            .header(header::CONTENT_LENGTH, "0")
            .body(Vec::new())?;
        let answer = client.send_authorized(&request, &self.signer).await?;
        match answer.status {
            StatusCode::OK => Ok(serde_json::from_slice(&answer.body).map_err(|error| {
                let reason = json_error_text(&error);
                format!("{method} {url}: the response cannot be read: {reason}")
            })?),
            _ => Err(answer.unexpected_response_cause(method, &url)),
        }
    }
}
