//! Converts the arguments of the backend `s3` and the environment to settings.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::endpoint::BucketAddressing;
use super::kms_key::check_kms_key;
use crate::arguments::{BackendArguments, RequiredArgument};
use crate::aws::arguments::{
    read_credential_settings, read_endpoint, read_max_attempts, read_region,
};
use crate::aws::credentials::CredentialSettings;
use crate::aws::partition::AwsPartition;
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
    /// Whether uploads contain a checksum, which the server verifies.
    pub(super) checksum: bool,
    pub(super) use_lockfile: bool,
    /// The table of locks, and the URL of its service.
    pub(super) table: Option<(String, String)>,
    pub(super) credentials: CredentialSettings,
    pub(super) max_attempts: u32,
}

/// Server-side encryption.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum ObjectEncryption {
    /// The default encryption of the bucket.
    Bucket,
    /// With a key of the service.
    Service,
    /// With a key of the Key Management Service.
    Kms(String),
    /// With a key that every request includes.
    Customer(Vec<u8>),
}

// Implemented by hand, because a derived `Debug` would print the key.
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

/// The arguments that it cannot do without.
pub(super) const REQUIRED_ARGUMENTS: [RequiredArgument; 2] = [
    RequiredArgument { name: "bucket", about: "The name of the S3 bucket" },
    RequiredArgument { name: "key", about: "The path to the state file inside the bucket" },
];

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

/// Deprecated variables and their replacements.
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
/// Returns an error if an argument is missing or invalid.
pub(super) fn read_settings(arguments: &BackendArguments<'_>) -> Result<S3Settings, ConfigError> {
    let conflict = CONFLICTING_ARGUMENTS.iter().find(|(first_name, second_name)| {
        arguments.value(first_name).is_some() && arguments.value(second_name).is_some()
    });
    if let Some((first_name, second_name)) = conflict {
        return Err(ConfigError::new(format!(
            "only one of {first_name} and {second_name} can be set"
        )));
    }
    // Together, so that one run names all that is missing.
    let region = match (arguments.check_required(&REQUIRED_ARGUMENTS), read_region(arguments)) {
        (Err(missing), Err(region)) => {
            return Err(ConfigError::new(format!("{missing}, and {region}")));
        }
        (missing, region) => missing.and(region)?,
    };
    let partition = AwsPartition::from_region(&region);
    let truth = |name: &str| arguments.bool(name).unwrap_or(false);
    // As in Terraform, a variable with any value counts as true.
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

fn read_bucket(arguments: &BackendArguments<'_>) -> Result<String, ConfigError> {
    let bucket = arguments.string("bucket").unwrap_or_default();
    if bucket.starts_with("arn:") {
        return Err(ConfigError::new(format!(
            "bucket is {bucket:?}: access points are not supported; use their alias or the name of the bucket"
        )));
    }
    // Each of these would change the meaning of the URLs that contain the name.
    if bucket.contains(['/', '?', '#', '@', ':', ' ']) {
        return Err(ConfigError::new(format!(
            "bucket is {bucket:?}, which is not the name of a bucket"
        )));
    }
    Ok(bucket)
}

fn read_state_key(arguments: &BackendArguments<'_>) -> Result<String, ConfigError> {
    let key = arguments.string("key").unwrap_or_default();
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
        // As in Terraform, a key has an effect only together with `encrypt`.
        (false, ..) => ObjectEncryption::Bucket,
        (true, Some(id), _) => ObjectEncryption::Kms(id),
        (true, None, Some(key)) => ObjectEncryption::Customer(key),
        (true, None, None) => ObjectEncryption::Service,
    })
}
