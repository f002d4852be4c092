//! The arguments for region, credentials and connection, as in Terraform. The backend `s3` and the key
//! provider `aws_kms` share them.

use formwork_value::Type;
use formwork_value::schema::{
    Attribute, AttributeKind, Block, NestedAttributes, Nesting, Role, SchemaDocs,
};

use crate::arguments::optional_attributes_block;

const STRING_ARGUMENTS: &[&str] = &[
    "access_key",
    "custom_ca_bundle",
    "ec2_metadata_service_endpoint",
    "ec2_metadata_service_endpoint_mode",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "profile",
    "region",
    "retry_mode",
    "secret_key",
    "sts_region",
    "token",
];

const BOOL_ARGUMENTS: &[&str] = &[
    "insecure",
    "skip_credentials_validation",
    "skip_metadata_api_check",
    "skip_requesting_account_id",
    "use_dualstack_endpoint",
    "use_fips_endpoint",
];

const SET_ARGUMENTS: &[&str] = &[
    "allowed_account_ids",
    "forbidden_account_ids",
    "shared_config_files",
    "shared_credentials_files",
];

const ROLE_ARGUMENTS: &[&str] =
    &["duration", "external_id", "policy", "role_arn", "session_name", "source_identity"];

const WEB_IDENTITY_ARGUMENTS: &[&str] = &[
    "duration",
    "policy",
    "role_arn",
    "session_name",
    "web_identity_token",
    "web_identity_token_file",
];

/// Returns the schema.
pub(crate) fn connection_arguments_block() -> Block {
    let set = || Type::set(Type::String);
    let mut attributes = string_attributes(STRING_ARGUMENTS);
    attributes.extend(BOOL_ARGUMENTS.iter().map(|name| (*name, Type::Bool)));
    attributes.extend(SET_ARGUMENTS.iter().map(|name| (*name, set())));
    attributes.push(("max_retries", Type::Number));
    let mut role = string_attributes(ROLE_ARGUMENTS);
    role.extend([("policy_arns", set()), ("transitive_tag_keys", set())]);
    role.push(("tags", Type::map(Type::String)));
    let mut web_identity = string_attributes(WEB_IDENTITY_ARGUMENTS);
    web_identity.push(("policy_arns", set()));
    let mut block = optional_attributes_block(&attributes);
    block.attributes.extend([
        ("assume_role".into(), nested_attribute(&role)),
        ("assume_role_with_web_identity".into(), nested_attribute(&web_identity)),
    ]);
    block
}

/// Creates string attributes.
pub(crate) fn string_attributes(names: &[&'static str]) -> Vec<(&'static str, Type)> {
    names.iter().map(|name| (*name, Type::String)).collect()
}

/// Creates an optional object of optional attributes.
pub(crate) fn nested_attribute(members: &[(&str, Type)]) -> Attribute {
    let Block { attributes, .. } = optional_attributes_block(members);
    Attribute {
        kind: AttributeKind::Nested(NestedAttributes { attributes, nesting: Nesting::Single }),
        role: Role::Optional,
        sensitive: false,
        write_only: false,
        docs: SchemaDocs::default(),
    }
}
