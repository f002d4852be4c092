//! The arguments of the backend `azurerm` and the environment, read into settings.

use formwork_value::Type;
use formwork_value::schema::Block;

use super::account::{Access, Credentials};
use super::cloud::{Cloud, CloudSource};
use super::identity::{Assertion, Identity, Source};
use crate::kind::{Arguments, ConfigError, optional_attributes};

/// Settings of the backend.
pub(super) struct Settings {
    pub(super) account: String,
    pub(super) container: String,
    pub(super) key: String,
    pub(super) snapshot: bool,
    pub(super) credentials: Credentials,
}

const STRINGS: &[&str] = &[
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

const BOOLS: &[&str] = &[
    "lookup_blob_endpoint",
    "snapshot",
    "use_aks_workload_identity",
    "use_azuread_auth",
    "use_cli",
    "use_msi",
    "use_oidc",
];

/// The schema. The required arguments are checked later: options of `init` may set them.
pub(super) fn schema() -> Block {
    let strings = STRINGS.iter().map(|name| (*name, Type::String));
    let bools = BOOLS.iter().map(|name| (*name, Type::Bool));
    optional_attributes(&strings.chain(bools).collect::<Vec<_>>())
}

/// Reads the arguments.
///
/// # Errors
/// When one is missing or invalid, or two contradict each other.
pub(super) fn read(arguments: &Arguments<'_>) -> Result<Settings, ConfigError> {
    let account = required_text(arguments, "storage_account_name")?;
    // The name becomes a part of the host: with `/` or `@` in it, the requests and their signatures
    // would go to another host.
    if !account.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') {
        return Err(ConfigError::new(format!(
            "storage_account_name is {account:?}, which is not the name of a storage account"
        )));
    }
    let container = required_text(arguments, "container_name")?;
    if container.contains(['/', '?', '#', ' ']) {
        return Err(ConfigError::new(format!(
            "container_name is {container:?}, which is not the name of a container"
        )));
    }
    let key = required_text(arguments, "key")?;
    let snapshot = arguments.truth_or_variable("snapshot", "ARM_SNAPSHOT")?;
    let credentials = credentials(arguments)?;
    Ok(Settings { account, container, key, snapshot, credentials })
}

fn required_text(arguments: &Arguments<'_>, name: &str) -> Result<String, ConfigError> {
    text(arguments, name, &[]).ok_or_else(|| {
        ConfigError::new(format!("the attribute {name:?} is required by the backend"))
    })
}

/// The string of an argument, else of a variable. An empty string counts as not set.
fn text(arguments: &Arguments<'_>, name: &str, variables: &[&str]) -> Option<String> {
    arguments.text_or_variable(name, variables).filter(|text| !text.is_empty())
}

fn credentials(arguments: &Arguments<'_>) -> Result<Credentials, ConfigError> {
    let cloud =
        match text(arguments, "metadata_host", &["ARM_METADATA_HOSTNAME", "ARM_METADATA_HOST"]) {
            Some(host) => CloudSource::Metadata(host),
            None => {
                let name = text(arguments, "environment", &["ARM_ENVIRONMENT"]);
                CloudSource::BuiltIn(Cloud::named(name.as_deref().unwrap_or("public"))?)
            }
        };
    let lookup_endpoint =
        arguments.truth_or_variable("lookup_blob_endpoint", "ARM_USE_DNS_ZONE_ENDPOINT")?;
    let resource_group = text(arguments, "resource_group_name", &[]);
    let access_key = text(arguments, "access_key", &["ARM_ACCESS_KEY"]);
    let sas_token = text(arguments, "sas_token", &["ARM_SAS_TOKEN"]);
    let use_tokens = arguments.truth_or_variable("use_azuread_auth", "ARM_USE_AZUREAD")?;
    let access = match (access_key, sas_token) {
        (Some(key), _) => Access::Key(key),
        // The portal shows a signature with the question mark of the URL it belongs to.
        (None, Some(token)) => Access::Sas(token.trim_start_matches('?').to_owned()),
        (None, None) if use_tokens => Access::Token,
        (None, None) => Access::ListedKey,
    };
    // Keys are listed at the path of the account in the Resource Manager, and the group is a part
    // of it.
    if resource_group.is_none() && matches!(access, Access::ListedKey) {
        return Err(ConfigError::new(
            "one of `access_key`, `sas_token`, `use_azuread_auth` and `resource_group_name` must be specified",
        ));
    }
    if resource_group.is_none() && lookup_endpoint {
        return Err(ConfigError::new(
            "`resource_group_name` is required when `lookup_blob_endpoint` is set",
        ));
    }
    // A key or a signature must work on a machine that has no identity at all.
    let needs_identity = lookup_endpoint || matches!(access, Access::Token | Access::ListedKey);
    Ok(Credentials {
        cloud,
        access,
        lookup_endpoint,
        resource_group,
        subscription: text(arguments, "subscription_id", &["ARM_SUBSCRIPTION_ID"]),
        identity: if needs_identity { Some(identity(arguments)?) } else { None },
    })
}

/// The identity that tokens are issued to, from the first source that is configured, in the order of
/// Terraform.
fn identity(arguments: &Arguments<'_>) -> Result<Identity, ConfigError> {
    let aks = arguments
        .truth_or_variable("use_aks_workload_identity", "ARM_USE_AKS_WORKLOAD_IDENTITY")?;
    let of_aks = |name: &str| if aks { arguments.variable(name) } else { None };
    let tenant = agreed(
        "the tenant ID",
        [text(arguments, "tenant_id", &["ARM_TENANT_ID"]), of_aks("AZURE_TENANT_ID")],
    )?;
    let client_id = agreed(
        "the client ID",
        [
            text(arguments, "client_id", &["ARM_CLIENT_ID"]),
            file(arguments, "client_id_file_path", "ARM_CLIENT_ID_FILE_PATH")?,
            of_aks("AZURE_CLIENT_ID"),
        ],
    )?;
    // A secret or assertion means nothing without the application that it is of.
    let principal = tenant.is_some() && client_id.is_some();
    let source = match principal {
        true => principal_source(arguments, aks)?,
        false => None,
    };
    let source = match source {
        Some(source) => source,
        None if arguments.truth_or_variable("use_msi", "ARM_USE_MSI")? => {
            let endpoint = text(arguments, "msi_endpoint", &["ARM_MSI_ENDPOINT"]);
            // The metadata service has this address on every machine of Azure.
            Source::Machine(endpoint.unwrap_or_else(|| {
                "http://169.254.169.254/metadata/identity/oauth2/token".to_owned()
            }))
        }
        None if use_cli(arguments)? => Source::CommandLine,
        None => {
            return Err(ConfigError::new(
                "there are no credentials for Azure: set client_id and tenant_id with client_secret or use_oidc, use_msi or use_cli",
            ));
        }
    };
    Ok(Identity { tenant, client_id, source })
}

fn use_cli(arguments: &Arguments<'_>) -> Result<bool, ConfigError> {
    let is_set =
        arguments.truth("use_cli").is_some() || arguments.variable("ARM_USE_CLI").is_some();
    // The Azure CLI is asked unless that is forbidden, as in Terraform.
    Ok(!is_set || arguments.truth_or_variable("use_cli", "ARM_USE_CLI")?)
}

/// The secret or assertion of a service principal.
fn principal_source(arguments: &Arguments<'_>, aks: bool) -> Result<Option<Source>, ConfigError> {
    let certificate = [
        ("client_certificate", "ARM_CLIENT_CERTIFICATE"),
        ("client_certificate_path", "ARM_CLIENT_CERTIFICATE_PATH"),
    ];
    if certificate.iter().any(|(name, variable)| text(arguments, name, &[variable]).is_some()) {
        return Err(ConfigError::new(
            "client certificates are not supported: use client_secret, use_oidc, use_msi or use_cli",
        ));
    }
    let secret = agreed(
        "the client secret",
        [
            text(arguments, "client_secret", &["ARM_CLIENT_SECRET"]),
            file(arguments, "client_secret_file_path", "ARM_CLIENT_SECRET_FILE_PATH")?,
        ],
    )?;
    if let Some(secret) = secret {
        return Ok(Some(Source::Secret(secret)));
    }
    if !aks && !arguments.truth_or_variable("use_oidc", "ARM_USE_OIDC")? {
        return Ok(None);
    }
    let variable = if aks { arguments.variable("AZURE_FEDERATED_TOKEN_FILE") } else { None };
    let of_aks = variable.map(|path| read_file(arguments, "AZURE_FEDERATED_TOKEN_FILE", &path));
    let token = agreed(
        "the OIDC token",
        [
            text(arguments, "oidc_token", &["ARM_OIDC_TOKEN"]),
            file(arguments, "oidc_token_file_path", "ARM_OIDC_TOKEN_FILE_PATH")?,
            of_aks.transpose()?,
        ],
    )?;
    if let Some(token) = token {
        return Ok(Some(Source::Assertion(Assertion::Token(token))));
    }
    // The second variable here and below is of GitHub Actions, the third of Azure Pipelines.
    let request_token = text(
        arguments,
        "oidc_request_token",
        &["ARM_OIDC_REQUEST_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_TOKEN", "SYSTEM_ACCESSTOKEN"],
    );
    let url = text(
        arguments,
        "oidc_request_url",
        &["ARM_OIDC_REQUEST_URL", "ACTIONS_ID_TOKEN_REQUEST_URL", "SYSTEM_OIDCREQUESTURI"],
    );
    let connection = text(
        arguments,
        "ado_pipeline_service_connection_id",
        &["ARM_ADO_PIPELINE_SERVICE_CONNECTION_ID", "ARM_OIDC_AZURE_SERVICE_CONNECTION_ID"],
    );
    // OIDC without a token counts as not configured, so that the next source is tried.
    let (Some(url), Some(token)) = (url, request_token) else { return Ok(None) };
    Ok(Some(Source::Assertion(match connection {
        Some(connection) => Assertion::Pipeline { url, token, connection },
        None => Assertion::Workflow { url, token },
    })))
}

/// The value that all of the sources have which have one.
fn agreed<const N: usize>(
    name: &str,
    sources: [Option<String>; N],
) -> Result<Option<String>, ConfigError> {
    // A file often ends with a line end, which is not part of the value.
    let mut values = sources.into_iter().flatten().map(|value| value.trim().to_owned());
    let first = values.next();
    if values.any(|value| first.as_ref() != Some(&value)) {
        return Err(ConfigError::new(format!(
            "mismatch between {name} that is set and the one in a file or of AKS Workload Identity: remove one, or make sure that they match"
        )));
    }
    Ok(first.filter(|value| !value.is_empty()))
}

fn file(
    arguments: &Arguments<'_>,
    name: &str,
    variable: &str,
) -> Result<Option<String>, ConfigError> {
    let path = text(arguments, name, &[variable]);
    path.map(|path| read_file(arguments, name, &path)).transpose()
}

fn read_file(arguments: &Arguments<'_>, name: &str, path: &str) -> Result<String, ConfigError> {
    arguments
        .read_text(path)
        .map_err(|error| ConfigError::new(format!("{name} {path:?} cannot be read: {error}")))
}
