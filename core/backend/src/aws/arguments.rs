//! The arguments and environment variables for region, endpoints, credentials and connection, with the
//! precedence that Terraform defines.

use std::sync::Arc;
use std::time::Duration;

use reqsign_aws_v4::Credential;
use reqsign_core::Signer;
use ureq::http::Uri;

use super::credentials::{AllowedAccounts, CredentialChain, CredentialSettings};
use super::nested_values::{string_member, strings_of_set};
use super::new_signer;
use super::partition::AwsPartition;
use super::profile::ProfilePaths;
use super::role::{read_role, read_web_identity};
use super::sts::StsClient;
use crate::arguments::BackendArguments;
use crate::config_error::ConfigError;
use crate::retry::RetryPolicy;
use crate::signing::signing_context;
use crate::web::{HttpClient, TlsSettings};

/// Returns the region of an argument or a variable.
///
/// # Errors
/// Returns an error if no region is set, or if the region is invalid.
pub(crate) fn read_region(arguments: &BackendArguments<'_>) -> Result<String, ConfigError> {
    let region = arguments.string("region").filter(|region| !region.is_empty());
    let variable = || arguments.read_env_variable("AWS_REGION");
    let region =
        region.or_else(variable).or_else(|| arguments.read_env_variable("AWS_DEFAULT_REGION"));
    let region = region.ok_or_else(|| {
        ConfigError::new(
            "the \"region\" attribute or the \"AWS_REGION\" or \"AWS_DEFAULT_REGION\" environment variables must be set",
        )
    })?;
    let is_word = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_lowercase());
    let parts: Vec<&str> = region.split('-').collect();
    let is_region = match parts.as_slice() {
        [name_parts @ .., number] => {
            name_parts.len() >= 2
                && name_parts.iter().all(|name_part| is_word(name_part))
                && number.chars().all(|c| c.is_ascii_digit())
                && !number.is_empty()
        }
        [] => false,
    };
    let skip = arguments.bool("skip_region_validation").unwrap_or(false);
    // As in Terraform, a region from the environment is not validated.
    let is_checked = arguments.string("region").is_some_and(|region| !region.is_empty()) && !skip;
    if is_checked && !is_region {
        return Err(ConfigError::new(format!(
            "invalid AWS Region: {region}; servers that are compatible with S3 need skip_region_validation"
        )));
    }
    // The region becomes part of a host name.
    if !region.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c)) {
        return Err(ConfigError::new(format!("invalid AWS Region: {region}")));
    }
    Ok(region)
}

/// Returns the URL of a service that an argument or a variable sets.
///
/// # Errors
/// Returns an error if the value is not a URL.
pub(crate) fn read_endpoint(
    arguments: &BackendArguments<'_>,
    service: &str,
) -> Result<Option<String>, ConfigError> {
    let listed = string_member(arguments.value("endpoints"), service);
    let (old, old_variable) = match service {
        "s3" => (Some("endpoint"), Some("AWS_S3_ENDPOINT")),
        "dynamodb" => (Some("dynamodb_endpoint"), Some("AWS_DYNAMODB_ENDPOINT")),
        "sts" => (Some("sts_endpoint"), Some("AWS_STS_ENDPOINT")),
        _ => (None, None),
    };
    let old_value = old.and_then(|name| arguments.string(name));
    if let (Some(old), Some(_), Some(_)) = (old, &listed, &old_value) {
        return Err(ConfigError::new(format!(
            "the parameters {old:?} and \"endpoints.{service}\" cannot be configured together"
        )));
    }
    let variable = format!("AWS_ENDPOINT_URL_{}", service.to_uppercase());
    let endpoint = listed
        .or(old_value)
        .or_else(|| arguments.read_env_variable(&variable))
        .or_else(|| old_variable.and_then(|name| arguments.read_env_variable(name)))
        .or_else(|| arguments.read_env_variable("AWS_ENDPOINT_URL"))
        .filter(|url| !url.is_empty());
    endpoint.iter().try_for_each(|url| check_url(service, url))?;
    Ok(endpoint)
}

/// Checks the URL of a service.
///
/// # Errors
/// Returns an error if the value is not a URL.
fn check_url(service: &str, url: &str) -> Result<(), ConfigError> {
    let parsed: Result<Uri, _> = url.parse();
    match parsed {
        Ok(parsed)
            if matches!(parsed.scheme_str(), Some("http" | "https")) && parsed.host().is_some() =>
        {
            Ok(())
        }
        _ => Err(ConfigError::new(format!(
            "the endpoint of {service} is {url:?}, which is not a URL with http or https"
        ))),
    }
}

/// Returns the sources of credentials.
///
/// # Errors
/// Returns an error if an argument is invalid.
pub(crate) fn read_credential_settings(
    arguments: &BackendArguments<'_>,
    region: &str,
) -> Result<CredentialSettings, ConfigError> {
    let text = |name: &str| arguments.string(name).filter(|text| !text.is_empty());
    let keys = match (text("access_key"), text("secret_key")) {
        (Some(access_key_id), Some(secret_access_key)) => Some(Credential {
            access_key_id,
            secret_access_key,
            session_token: text("token"),
            expires_in: None,
        }),
        (None, None) => None,
        _ => {
            return Err(ConfigError::new(
                "access_key and secret_key must be set together, or neither",
            ));
        }
    };
    let sts_region = text("sts_region").unwrap_or_else(|| region.to_owned());
    let sts_endpoint = read_endpoint(arguments, "sts")?;
    let sts_endpoint = sts_endpoint.unwrap_or_else(|| {
        AwsPartition::from_region(&sts_region).service_url("sts", &sts_region, false)
    });
    let metadata_endpoint = text("ec2_metadata_service_endpoint")
        .or_else(|| arguments.read_env_variable("AWS_EC2_METADATA_SERVICE_ENDPOINT"))
        .or_else(|| arguments.read_env_variable("AWS_METADATA_URL"));
    let metadata_mode = arguments.string_or_variable(
        "ec2_metadata_service_endpoint_mode",
        &["AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE"],
    );
    let metadata_endpoint = match metadata_mode.as_deref().map(str::to_ascii_lowercase).as_deref() {
        None | Some("ipv4") => metadata_endpoint,
        // The metadata service has this address on every machine.
        Some("ipv6") => metadata_endpoint.or_else(|| Some("http://[fd00:ec2::254]".to_owned())),
        Some(other) => {
            return Err(ConfigError::new(format!(
                "ec2_metadata_service_endpoint_mode is {other:?}, which must be \"IPv4\" or \"IPv6\""
            )));
        }
    };
    Ok(CredentialSettings {
        keys,
        profile: text("profile"),
        files: read_profile_paths(arguments),
        web_identity: read_web_identity(arguments.value("assume_role_with_web_identity"))?,
        role: arguments
            .value("assume_role")
            .map(|value| read_role("assume_role", value))
            .transpose()?,
        sts: StsClient { endpoint: sts_endpoint, region: sts_region },
        sso_endpoint: read_endpoint(arguments, "sso")?,
        metadata_endpoint,
        metadata: arguments.bool("skip_metadata_api_check").map(|skip| !skip),
        accounts: AllowedAccounts {
            allowed: strings_of_set(arguments.value("allowed_account_ids")),
            forbidden: strings_of_set(arguments.value("forbidden_account_ids")),
        },
    })
}

fn read_profile_paths(arguments: &BackendArguments<'_>) -> ProfilePaths {
    let list = |name: &str, variables: &[&str], default: &str| {
        let set = strings_of_set(arguments.value(name));
        if !set.is_empty() {
            return set;
        }
        let variable = variables.iter().find_map(|name| arguments.read_env_variable(name));
        vec![variable.unwrap_or_else(|| default.to_owned())]
    };
    let config = list(
        "shared_config_files",
        &["AWS_SHARED_CONFIG_FILE", "AWS_CONFIG_FILE"],
        "~/.aws/config",
    );
    let credentials = match arguments.string("shared_credentials_file") {
        Some(path) => vec![path],
        None => {
            list("shared_credentials_files", &["AWS_SHARED_CREDENTIALS_FILE"], "~/.aws/credentials")
        }
    };
    ProfilePaths { config, credentials }
}

/// Returns the signer of requests to all services.
///
/// # Errors
/// As [`HttpClient::for_local_services`].
pub(crate) fn build_signer(
    arguments: &BackendArguments<'_>,
    client: &HttpClient,
    credentials: CredentialSettings,
) -> Result<Signer<Credential>, ConfigError> {
    let variables = &arguments.environment.variables;
    let local_context = signing_context(variables.clone(), HttpClient::for_local_services()?);
    let context = signing_context(variables.clone(), client.clone());
    Ok(new_signer(Arc::new(CredentialChain::new(credentials, context, local_context))))
}

/// Returns the maximum number of attempts of a request.
///
/// # Errors
/// Returns an error if an argument is invalid.
pub(crate) fn read_max_attempts(arguments: &BackendArguments<'_>) -> Result<u32, ConfigError> {
    if let Some(mode) = arguments.string_or_variable("retry_mode", &["AWS_RETRY_MODE"])
        && !["standard", "adaptive"].contains(&mode.as_str())
    {
        return Err(ConfigError::new(format!(
            "retry_mode is {mode:?}, which must be \"standard\" or \"adaptive\""
        )));
    }
    // No variable has an empty name, so it is never set.
    arguments.u32_or_variable("max_retries", "", 5)
}

/// Creates the HTTP client of all services.
///
/// # Errors
/// Returns an error if a certificate cannot be read or is invalid.
pub(crate) fn new_http_client(
    arguments: &BackendArguments<'_>,
    max_attempts: u32,
) -> Result<HttpClient, ConfigError> {
    let bundle = arguments.string_or_variable("custom_ca_bundle", &["AWS_CA_BUNDLE"]);
    let authorities = bundle.map(|path| {
        arguments.read_text(&path).map_err(|error| {
            ConfigError::new(format!("custom_ca_bundle {path:?} cannot be read: {error}"))
        })
    });
    let tls = TlsSettings {
        insecure: arguments.bool("insecure").unwrap_or(false),
        authorities: authorities.transpose()?,
        identity: None,
    };
    let retries = RetryPolicy {
        // As in Terraform, `max_retries` is the number of all attempts, including the first one.
        most: max_attempts.saturating_sub(1),
        shortest: Duration::from_millis(200),
        longest: Duration::from_secs(20),
    };
    let http_proxy = arguments.string("http_proxy");
    // As in Terraform, a proxy that an argument sets for one scheme is used for the other one, too.
    let https_proxy = arguments.string("https_proxy").or_else(|| http_proxy.clone());
    let no_proxy = arguments.string("no_proxy");
    let client = HttpClient::new(&tls, retries, |name| match name {
        "HTTP_PROXY" => http_proxy.clone().or_else(|| arguments.read_env_variable(name)),
        "HTTPS_PROXY" => https_proxy.clone().or_else(|| arguments.read_env_variable(name)),
        "NO_PROXY" => no_proxy.clone().or_else(|| arguments.read_env_variable(name)),
        _ => arguments.read_env_variable(name),
    })?;
    Ok(client.without_redirects())
}
