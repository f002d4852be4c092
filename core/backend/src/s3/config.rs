//! The arguments of the backend `s3` and the environment, read into settings.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use formwork_value::Value;
use reqsign_aws_v4::Credential;

use super::endpoint::{AwsPartition, BucketAddressing, check_url};
use super::role::{check_kms_key, read_role, read_web_identity};
use crate::arguments::BackendArguments;
use crate::aws::credentials::{AllowedAccounts, CredentialSettings};
use crate::aws::profile::ProfilePaths;
use crate::aws::sts::StsClient;
use crate::config_error::ConfigError;

/// Settings of the backend.
#[derive(Clone, Debug)]
pub(super) struct S3Settings {
    pub(super) bucket: String,
    pub(super) key: String,
    pub(super) region: String,
    pub(super) workspace_key_prefix: String,
    pub(super) addressing: BucketAddressing,
    pub(super) encryption: ObjectEncryption,
    pub(super) acl: Option<String>,
    /// Whether uploads carry a sum, which the server compares.
    pub(super) checksum: bool,
    pub(super) use_lockfile: bool,
    /// The table of locks, and the URL of its service.
    pub(super) table: Option<(String, String)>,
    pub(super) credentials: CredentialSettings,
    pub(super) max_attempts: u32,
}

/// Encryption by the server.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum ObjectEncryption {
    /// As the bucket is configured.
    Bucket,
    /// With a key of the service.
    Service,
    /// With a key of the Key Management Service.
    Kms(String),
    /// With a key that every request brings along.
    Customer(Vec<u8>),
}

// Written by hand: a derived form would print the key.
impl std::fmt::Debug for ObjectEncryption {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Bucket => "Bucket",
            Self::Service => "Service",
            Self::Kms(_) => "Kms",
            Self::Customer(_) => "Customer",
        })
    }
}

/// Arguments and the ones that replace them.
pub(super) const DEPRECATED_ARGUMENTS: [(&str, &str); 7] = [
    ("dynamodb_endpoint", "endpoints.dynamodb"),
    ("dynamodb_table", "use_lockfile"),
    ("endpoint", "endpoints.s3"),
    ("force_path_style", "use_path_style"),
    ("iam_endpoint", "endpoints.iam"),
    ("shared_credentials_file", "shared_credentials_files"),
    ("sts_endpoint", "endpoints.sts"),
];

/// Variables and the ones that replace them.
pub(super) const DEPRECATED_VARIABLES: [(&str, &str); 5] = [
    ("AWS_DYNAMODB_ENDPOINT", "AWS_ENDPOINT_URL_DYNAMODB"),
    ("AWS_IAM_ENDPOINT", "AWS_ENDPOINT_URL_IAM"),
    ("AWS_METADATA_URL", "AWS_EC2_METADATA_SERVICE_ENDPOINT"),
    ("AWS_S3_ENDPOINT", "AWS_ENDPOINT_URL_S3"),
    ("AWS_STS_ENDPOINT", "AWS_ENDPOINT_URL_STS"),
];

/// Arguments that exclude each other.
const CONFLICTING_ARGUMENTS: [(&str, &str); 4] = [
    ("kms_key_id", "sse_customer_key"),
    ("shared_credentials_file", "shared_credentials_files"),
    ("force_path_style", "use_path_style"),
    ("allowed_account_ids", "forbidden_account_ids"),
];

/// Reads the arguments.
///
/// # Errors
/// When one is missing or invalid.
pub(super) fn read_settings(arguments: &BackendArguments<'_>) -> Result<S3Settings, ConfigError> {
    let conflict = CONFLICTING_ARGUMENTS
        .iter()
        .find(|(one, other)| arguments.value(one).is_some() && arguments.value(other).is_some());
    if let Some((one, other)) = conflict {
        return Err(ConfigError::new(format!("only one of {one} and {other} can be set")));
    }
    let region = read_region(arguments)?;
    let partition = AwsPartition::from_region(&region);
    let truth = |name: &str| arguments.bool(name).unwrap_or(false);
    // A variable that is set at all counts as true, as in Terraform.
    let flag = |name: &str, variable: &str| {
        arguments.bool(name).unwrap_or_else(|| arguments.read_env_variable(variable).is_some())
    };
    let addressing = BucketAddressing {
        endpoint: read_endpoint(arguments, "s3")?,
        path_style: truth("use_path_style") || truth("force_path_style"),
        fips: flag("use_fips_endpoint", "AWS_USE_FIPS_ENDPOINT"),
        dualstack: flag("use_dualstack_endpoint", "AWS_USE_DUALSTACK_ENDPOINT"),
    };
    let table = arguments.string("dynamodb_table").filter(|name| !name.is_empty());
    let table_url = read_endpoint(arguments, "dynamodb")?
        .unwrap_or_else(|| partition.service_url("dynamodb", &region, addressing.fips));
    Ok(S3Settings {
        bucket: read_bucket(arguments)?,
        key: read_state_key(arguments)?,
        workspace_key_prefix: read_workspace_key_prefix(arguments)?,
        encryption: read_encryption(arguments)?,
        acl: arguments.string("acl").filter(|acl| !acl.is_empty()),
        checksum: !truth("skip_s3_checksum"),
        use_lockfile: truth("use_lockfile"),
        table: table.map(|table| (table, table_url)),
        credentials: read_credential_settings(arguments, &region)?,
        max_attempts: read_max_attempts(arguments)?,
        addressing,
        region,
    })
}

/// The most attempts at a request.
///
/// # Errors
/// When an argument is not valid.
pub(super) fn read_max_attempts(arguments: &BackendArguments<'_>) -> Result<u32, ConfigError> {
    if let Some(mode) = arguments.string_or_variable("retry_mode", &["AWS_RETRY_MODE"])
        && !["standard", "adaptive"].contains(&mode.as_str())
    {
        return Err(ConfigError::new(format!(
            "retry_mode is {mode:?}, which must be \"standard\" or \"adaptive\""
        )));
    }
    // The variable has no such name, so it is never set.
    arguments.u32_or_variable("max_retries", "", 5)
}

fn required_argument(arguments: &BackendArguments<'_>, name: &str) -> Result<String, ConfigError> {
    let text = arguments.string(name).filter(|text| !text.is_empty());
    text.ok_or_else(|| {
        ConfigError::new(format!("the attribute {name:?} is required by the backend"))
    })
}

fn read_bucket(arguments: &BackendArguments<'_>) -> Result<String, ConfigError> {
    let bucket = required_argument(arguments, "bucket")?;
    if bucket.starts_with("arn:") {
        return Err(ConfigError::new(format!(
            "bucket is {bucket:?}: access points are not supported; use their alias or the name of the bucket"
        )));
    }
    // Each of these would give another meaning to the URLs that are made of the name.
    if bucket.contains(['/', '?', '#', '@', ':', ' ']) {
        return Err(ConfigError::new(format!(
            "bucket is {bucket:?}, which is not the name of a bucket"
        )));
    }
    Ok(bucket)
}

fn read_state_key(arguments: &BackendArguments<'_>) -> Result<String, ConfigError> {
    let key = required_argument(arguments, "key")?;
    check_key_path("key", &key)?;
    if key.contains("//") {
        return Err(ConfigError::new(format!("key is {key:?}: the value must not contain \"//\"")));
    }
    Ok(key)
}

fn read_workspace_key_prefix(arguments: &BackendArguments<'_>) -> Result<String, ConfigError> {
    let prefix = arguments.string("workspace_key_prefix").unwrap_or_else(|| "env:".to_owned());
    check_key_path("workspace_key_prefix", &prefix)?;
    Ok(prefix)
}

fn check_key_path(name: &str, path: &str) -> Result<(), ConfigError> {
    if path.starts_with('/') || path.ends_with('/') {
        return Err(ConfigError::new(format!(
            "{name} is {path:?}: the value must not start or end with \"/\""
        )));
    }
    Ok(())
}

/// The region of an argument or a variable.
///
/// # Errors
/// When there is none, or it is no region.
pub(super) fn read_region(arguments: &BackendArguments<'_>) -> Result<String, ConfigError> {
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
        [words @ .., number] => {
            words.len() >= 2
                && words.iter().all(|word| is_word(word))
                && number.chars().all(|c| c.is_ascii_digit())
                && !number.is_empty()
        }
        [] => false,
    };
    let skip = arguments.bool("skip_region_validation").unwrap_or(false);
    // As in Terraform, a region of the environment is not checked.
    let checked = arguments.string("region").is_some_and(|region| !region.is_empty()) && !skip;
    if checked && !is_region {
        return Err(ConfigError::new(format!(
            "invalid AWS Region: {region}; servers that are compatible with S3 need skip_region_validation"
        )));
    }
    // A host is made of it.
    if !region.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c)) {
        return Err(ConfigError::new(format!("invalid AWS Region: {region}")));
    }
    Ok(region)
}

/// The URL of a service that is set by an argument or a variable.
///
/// # Errors
/// When it is not a URL.
pub(super) fn read_endpoint(
    arguments: &BackendArguments<'_>,
    service: &str,
) -> Result<Option<String>, ConfigError> {
    let in_list = string_member(arguments.value("endpoints"), service);
    let (old, old_variable) = match service {
        "s3" => (Some("endpoint"), Some("AWS_S3_ENDPOINT")),
        "dynamodb" => (Some("dynamodb_endpoint"), Some("AWS_DYNAMODB_ENDPOINT")),
        "sts" => (Some("sts_endpoint"), Some("AWS_STS_ENDPOINT")),
        _ => (None, None),
    };
    let old_value = old.and_then(|name| arguments.string(name));
    if let (Some(old), Some(_), Some(_)) = (old, &in_list, &old_value) {
        return Err(ConfigError::new(format!(
            "the parameters {old:?} and \"endpoints.{service}\" cannot be configured together"
        )));
    }
    let variable = format!("AWS_ENDPOINT_URL_{}", service.to_uppercase());
    let found = in_list
        .or(old_value)
        .or_else(|| arguments.read_env_variable(&variable))
        .or_else(|| old_variable.and_then(|name| arguments.read_env_variable(name)))
        .or_else(|| arguments.read_env_variable("AWS_ENDPOINT_URL"))
        .filter(|url| !url.is_empty());
    found.iter().try_for_each(|url| check_url(service, url))?;
    Ok(found)
}

fn read_encryption(arguments: &BackendArguments<'_>) -> Result<ObjectEncryption, ConfigError> {
    let kms = arguments.string("kms_key_id").filter(|id| !id.is_empty());
    kms.iter().try_for_each(|id| check_kms_key(id))?;
    let argument = arguments.string("sse_customer_key");
    let variable = arguments.read_env_variable("AWS_SSE_CUSTOMER_KEY");
    if kms.is_some() && variable.is_some() {
        return Err(ConfigError::new(
            "only one of \"kms_key_id\" and the environment variable \"AWS_SSE_CUSTOMER_KEY\" can be set",
        ));
    }
    let (name, text) = match (argument, variable) {
        (Some(text), _) => ("sse_customer_key", Some(text)),
        (None, text) => ("AWS_SSE_CUSTOMER_KEY", text),
    };
    let customer = match text {
        None => None,
        // The 32 bytes of a key for AES-256 are 44 characters in base64.
        Some(text) if text.len() != 44 => {
            return Err(ConfigError::new(format!("{name} must be 44 characters in length")));
        }
        Some(text) => Some(STANDARD.decode(text).map_err(|error| {
            ConfigError::new(format!("{name} must be base64 encoded: {error}"))
        })?),
    };
    Ok(match (arguments.bool("encrypt").unwrap_or(false), kms, customer) {
        // As in Terraform, a key counts only together with `encrypt`.
        (false, ..) => ObjectEncryption::Bucket,
        (true, Some(id), _) => ObjectEncryption::Kms(id),
        (true, None, Some(key)) => ObjectEncryption::Customer(key),
        (true, None, None) => ObjectEncryption::Service,
    })
}

/// The sources of credentials.
///
/// # Errors
/// When an argument is not valid.
pub(super) fn read_credential_settings(
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
    let list = |name: &str, variables: &[&str], usual: &str| {
        let set = strings_of_set(arguments.value(name));
        if !set.is_empty() {
            return set;
        }
        let variable = variables.iter().find_map(|name| arguments.read_env_variable(name));
        vec![variable.unwrap_or_else(|| usual.to_owned())]
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

pub(super) fn nested_value<'v>(value: &'v Value, name: &str) -> Option<&'v Value> {
    match value {
        Value::Object(object) => object.get(name).filter(|value| !value.is_null()),
        _ => None,
    }
}

/// The string of a member of an object.
pub(super) fn string_member(value: Option<&Value>, name: &str) -> Option<String> {
    match nested_value(value?, name)? {
        Value::String(text) => Some(text.to_string()),
        _ => None,
    }
}

/// The strings of a set.
pub(super) fn strings_of_set(value: Option<&Value>) -> Vec<String> {
    let Some(Value::Set(set)) = value else { return Vec::new() };
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.to_string()),
        _ => None,
    };
    set.items().iter().filter_map(text).collect()
}

/// The strings of a map.
pub(super) fn strings_of_map(value: Option<&Value>) -> Vec<(String, String)> {
    let Some(Value::Map(map)) = value else { return Vec::new() };
    let pair = |(name, value): (&formwork_value::Str, &Value)| match value {
        Value::String(text) => Some((name.to_string(), text.to_string())),
        _ => None,
    };
    map.iter().filter_map(pair).collect()
}
