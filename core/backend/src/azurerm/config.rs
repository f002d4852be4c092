//! Converts the arguments of the backend `azurerm` and the environment to settings.

use formwork_value::Type;
use formwork_value::schema::Block;

use super::account::{AccountCredentials, BlobAuthorization};
use super::cloud::{AzureCloud, CloudSource};
use super::identity::{FederatedToken, TokenIdentity, TokenSource};
use crate::arguments::{BackendArguments, RequiredArgument, optional_attributes_block};
use crate::config_error::ConfigError;

/// Settings of the backend.
pub(super) struct AzureSettings {
    pub(super) account: String,
    pub(super) container: String,
    pub(super) key: String,
    pub(super) snapshot: bool,
    pub(super) credentials: AccountCredentials,
}

const STRING_ARGUMENTS: &[&str] = &[
    "access_key",
    "ado_pipeline_service_connection_id",
    "client_certificate",
    "client_certificate_password",
    "client_certificate_path",
    "client_id",
    "client_id_file_path",
    "client_secret",
    "client_secret_file_path",
    "container_name",
    "endpoint",
    "environment",
    "key",
    "metadata_host",
    "msi_endpoint",
    "oidc_request_token",
    "oidc_request_url",
    "oidc_token",
    "oidc_token_file_path",
    "resource_group_name",
    "sas_token",
    "storage_account_name",
    "subscription_id",
    "tenant_id",
];

const BOOL_ARGUMENTS: &[&str] = &[
    "lookup_blob_endpoint",
    "snapshot",
    "use_aks_workload_identity",
    "use_azuread_auth",
    "use_cli",
    "use_msi",
    "use_oidc",
];

/// The arguments that it cannot do without.
pub(super) const REQUIRED_ARGUMENTS: [RequiredArgument; 3] = [
    RequiredArgument {
        name: "container_name",
        about: "The container name to use in the Storage Account.",
    },
    RequiredArgument { name: "key", about: "The blob key to use in the Storage Container." },
    RequiredArgument { name: "storage_account_name", about: "The name of the storage account." },
];

/// The schema.
pub(super) fn schema() -> Block {
    // Required arguments are checked later, because options of `init` may set them.
    let strings = STRING_ARGUMENTS.iter().map(|name| (*name, Type::String));
    let bools = BOOL_ARGUMENTS.iter().map(|name| (*name, Type::Bool));
    optional_attributes_block(&strings.chain(bools).collect::<Vec<_>>())
}

/// Reads the arguments.
///
/// # Errors
/// Returns an error if an argument is missing or invalid, or if two contradict each other.
pub(super) fn read_settings(
    arguments: &BackendArguments<'_>,
) -> Result<AzureSettings, ConfigError> {
    arguments.check_required(&REQUIRED_ARGUMENTS)?;
    let text = |name: &str| arguments.string(name).unwrap_or_default();
    let account = text("storage_account_name");
    // The name becomes a part of the host: with `/` or `@` in it, the requests and their signatures
    // would go to another host.
    if !account.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') {
        return Err(ConfigError::new(format!(
            "storage_account_name is {account:?}, which is not the name of a storage account"
        )));
    }
    let container = text("container_name");
    if container.contains(['/', '?', '#', ' ']) {
        return Err(ConfigError::new(format!(
            "container_name is {container:?}, which is not the name of a container"
        )));
    }
    let key = text("key");
    let snapshot = arguments.bool_or_variable("snapshot", "ARM_SNAPSHOT")?;
    let credentials = read_account_credentials(arguments)?;
    Ok(AzureSettings { account, container, key, snapshot, credentials })
}

/// The string of an argument, else of a variable. An empty string counts as not set.
fn argument_or_variable(
    arguments: &BackendArguments<'_>,
    name: &str,
    variables: &[&str],
) -> Option<String> {
    arguments.string_or_variable(name, variables).filter(|text| !text.is_empty())
}

fn read_account_credentials(
    arguments: &BackendArguments<'_>,
) -> Result<AccountCredentials, ConfigError> {
    let cloud = match argument_or_variable(
        arguments,
        "metadata_host",
        &["ARM_METADATA_HOSTNAME", "ARM_METADATA_HOST"],
    ) {
        Some(host) => CloudSource::Metadata(host),
        None => {
            let name = argument_or_variable(arguments, "environment", &["ARM_ENVIRONMENT"]);
            CloudSource::BuiltIn(AzureCloud::find_by_name(name.as_deref().unwrap_or("public"))?)
        }
    };
    let lookup_endpoint =
        arguments.bool_or_variable("lookup_blob_endpoint", "ARM_USE_DNS_ZONE_ENDPOINT")?;
    let resource_group = argument_or_variable(arguments, "resource_group_name", &[]);
    let access_key = argument_or_variable(arguments, "access_key", &["ARM_ACCESS_KEY"]);
    let sas_token = argument_or_variable(arguments, "sas_token", &["ARM_SAS_TOKEN"]);
    let use_tokens = arguments.bool_or_variable("use_azuread_auth", "ARM_USE_AZUREAD")?;
    let access = match (access_key, sas_token) {
        (Some(key), _) => BlobAuthorization::Key(key),
        // The portal shows a signature with the question mark of its URL.
        (None, Some(token)) => BlobAuthorization::Sas(token.trim_start_matches('?').to_owned()),
        (None, None) if use_tokens => BlobAuthorization::Token,
        (None, None) => BlobAuthorization::ListedKey,
    };
    // Keys are listed at the path of the account in the Resource Manager, which contains the
    // resource group.
    if resource_group.is_none() && matches!(access, BlobAuthorization::ListedKey) {
        return Err(ConfigError::new(
            "one of `access_key`, `sas_token`, `use_azuread_auth` and `resource_group_name` must be specified",
        ));
    }
    if resource_group.is_none() && lookup_endpoint {
        return Err(ConfigError::new(
            "`resource_group_name` is required when `lookup_blob_endpoint` is set",
        ));
    }
    // A key or a signature must work on a machine that has no identity.
    let needs_identity = lookup_endpoint
        || matches!(access, BlobAuthorization::Token | BlobAuthorization::ListedKey);
    Ok(AccountCredentials {
        cloud,
        access,
        lookup_endpoint,
        resource_group,
        subscription: argument_or_variable(arguments, "subscription_id", &["ARM_SUBSCRIPTION_ID"]),
        identity: if needs_identity { Some(read_token_identity(arguments)?) } else { None },
    })
}

/// Returns the identity that tokens are issued to, from the first configured source in Terraform's
/// order.
fn read_token_identity(arguments: &BackendArguments<'_>) -> Result<TokenIdentity, ConfigError> {
    let aks =
        arguments.bool_or_variable("use_aks_workload_identity", "ARM_USE_AKS_WORKLOAD_IDENTITY")?;
    let aks_variable = |name: &str| if aks { arguments.read_env_variable(name) } else { None };
    let tenant = agreed_value(
        "the tenant ID",
        [
            argument_or_variable(arguments, "tenant_id", &["ARM_TENANT_ID"]),
            aks_variable("AZURE_TENANT_ID"),
        ],
    )?;
    let client_id = agreed_value(
        "the client ID",
        [
            argument_or_variable(arguments, "client_id", &["ARM_CLIENT_ID"]),
            file_argument_content(arguments, "client_id_file_path", "ARM_CLIENT_ID_FILE_PATH")?,
            aks_variable("AZURE_CLIENT_ID"),
        ],
    )?;
    // A secret or assertion has no meaning without its application.
    let has_principal = tenant.is_some() && client_id.is_some();
    let source = match has_principal {
        true => service_principal_source(arguments, aks)?,
        false => None,
    };
    let source = match source {
        Some(source) => source,
        None if arguments.bool_or_variable("use_msi", "ARM_USE_MSI")? => {
            let endpoint = argument_or_variable(arguments, "msi_endpoint", &["ARM_MSI_ENDPOINT"]);
            // The metadata service has this address on every Azure machine.
            TokenSource::Machine(endpoint.unwrap_or_else(|| {
                "http://169.254.169.254/metadata/identity/oauth2/token".to_owned()
            }))
        }
        None if reads_tokens_from_cli(arguments)? => TokenSource::CommandLine,
        None => {
            return Err(ConfigError::new(
                "there are no credentials for Azure: set client_id and tenant_id with client_secret or use_oidc, use_msi or use_cli",
            ));
        }
    };
    Ok(TokenIdentity { tenant, client_id, source })
}

fn reads_tokens_from_cli(arguments: &BackendArguments<'_>) -> Result<bool, ConfigError> {
    let is_set =
        arguments.bool("use_cli").is_some() || arguments.read_env_variable("ARM_USE_CLI").is_some();
    // The Azure CLI is used unless that is disabled, as in Terraform.
    Ok(!is_set || arguments.bool_or_variable("use_cli", "ARM_USE_CLI")?)
}

/// Returns the secret or assertion of a service principal.
fn service_principal_source(
    arguments: &BackendArguments<'_>,
    aks: bool,
) -> Result<Option<TokenSource>, ConfigError> {
    let certificate = [
        ("client_certificate", "ARM_CLIENT_CERTIFICATE"),
        ("client_certificate_path", "ARM_CLIENT_CERTIFICATE_PATH"),
    ];
    if certificate
        .iter()
        .any(|(name, variable)| argument_or_variable(arguments, name, &[variable]).is_some())
    {
        return Err(ConfigError::new(
            "client certificates are not supported: use client_secret, use_oidc, use_msi or use_cli",
        ));
    }
    let secret = agreed_value(
        "the client secret",
        [
            argument_or_variable(arguments, "client_secret", &["ARM_CLIENT_SECRET"]),
            file_argument_content(
                arguments,
                "client_secret_file_path",
                "ARM_CLIENT_SECRET_FILE_PATH",
            )?,
        ],
    )?;
    if let Some(secret) = secret {
        return Ok(Some(TokenSource::Secret(secret)));
    }
    if !aks && !arguments.bool_or_variable("use_oidc", "ARM_USE_OIDC")? {
        return Ok(None);
    }
    let variable =
        if aks { arguments.read_env_variable("AZURE_FEDERATED_TOKEN_FILE") } else { None };
    let aks_token = variable.map(|path| read_file(arguments, "AZURE_FEDERATED_TOKEN_FILE", &path));
    let token = agreed_value(
        "the OIDC token",
        [
            argument_or_variable(arguments, "oidc_token", &["ARM_OIDC_TOKEN"]),
            file_argument_content(arguments, "oidc_token_file_path", "ARM_OIDC_TOKEN_FILE_PATH")?,
            aks_token.transpose()?,
        ],
    )?;
    if let Some(token) = token {
        return Ok(Some(TokenSource::Assertion(FederatedToken::Token(token))));
    }
    // The second variable here and below comes from GitHub Actions, the third from Azure Pipelines.
    let request_token = argument_or_variable(
        arguments,
        "oidc_request_token",
        &["ARM_OIDC_REQUEST_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_TOKEN", "SYSTEM_ACCESSTOKEN"],
    );
    let url = argument_or_variable(
        arguments,
        "oidc_request_url",
        &["ARM_OIDC_REQUEST_URL", "ACTIONS_ID_TOKEN_REQUEST_URL", "SYSTEM_OIDCREQUESTURI"],
    );
    let connection = argument_or_variable(
        arguments,
        "ado_pipeline_service_connection_id",
        &["ARM_ADO_PIPELINE_SERVICE_CONNECTION_ID", "ARM_OIDC_AZURE_SERVICE_CONNECTION_ID"],
    );
    // OIDC without a token counts as not configured, so that the next source is tried.
    let (Some(url), Some(token)) = (url, request_token) else { return Ok(None) };
    Ok(Some(TokenSource::Assertion(match connection {
        Some(connection) => FederatedToken::Pipeline { url, token, connection },
        None => FederatedToken::Workflow { url, token },
    })))
}

/// Returns the value that all sources with a value agree on.
fn agreed_value<const N: usize>(
    name: &str,
    sources: [Option<String>; N],
) -> Result<Option<String>, ConfigError> {
    // A file often ends with a line break, which is not part of the value.
    let mut values = sources.into_iter().flatten().map(|value| value.trim().to_owned());
    let first = values.next();
    if values.any(|value| first.as_ref() != Some(&value)) {
        return Err(ConfigError::new(format!(
            "mismatch between {name} that is set and the one in a file or from AKS Workload Identity: remove one, or make sure that they match"
        )));
    }
    Ok(first.filter(|value| !value.is_empty()))
}

fn file_argument_content(
    arguments: &BackendArguments<'_>,
    name: &str,
    variable: &str,
) -> Result<Option<String>, ConfigError> {
    let path = argument_or_variable(arguments, name, &[variable]);
    path.map(|path| read_file(arguments, name, &path)).transpose()
}

fn read_file(
    arguments: &BackendArguments<'_>,
    name: &str,
    path: &str,
) -> Result<String, ConfigError> {
    arguments
        .read_text(path)
        .map_err(|error| ConfigError::new(format!("{name} {path:?} cannot be read: {error}")))
}
