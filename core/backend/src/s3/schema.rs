//! The arguments of the backend `s3`, as Terraform has them.

use formwork_value::Type;
use formwork_value::schema::{
    Attribute, AttributeKind, Block, NestedAttributes, Nesting, Role, SchemaDocs,
};

const STRING_ARGUMENTS: &[&str] = &[
    "access_key",
    "acl",
    "bucket",
    "custom_ca_bundle",
    "dynamodb_endpoint",
    "dynamodb_table",
    "ec2_metadata_service_endpoint",
    "ec2_metadata_service_endpoint_mode",
    "endpoint",
    "http_proxy",
    "https_proxy",
    "iam_endpoint",
    "key",
    "kms_key_id",
    "no_proxy",
    "profile",
    "region",
    "retry_mode",
    "secret_key",
    "shared_credentials_file",
    "sse_customer_key",
    "sts_endpoint",
    "sts_region",
    "token",
    "workspace_key_prefix",
];

const BOOL_ARGUMENTS: &[&str] = &[
    "encrypt",
    "force_path_style",
    "insecure",
    "skip_credentials_validation",
    "skip_metadata_api_check",
    "skip_region_validation",
    "skip_requesting_account_id",
    "skip_s3_checksum",
    "use_dualstack_endpoint",
    "use_fips_endpoint",
    "use_lockfile",
    "use_path_style",
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

const ENDPOINT_SERVICES: &[&str] = &["dynamodb", "iam", "s3", "sso", "sts"];

/// The schema.
pub(super) fn schema() -> Block {
    // `bucket` and `key` are checked later: options of `init` may set them.
    let set = || Type::set(Type::String);
    let mut block = Block::default();
    let lists =
        [(STRING_ARGUMENTS, Type::String), (BOOL_ARGUMENTS, Type::Bool), (SET_ARGUMENTS, set())];
    for (names, ty) in lists {
        let attributes = names.iter().map(|name| ((*name).into(), optional_attribute(ty.clone())));
        block.attributes.extend(attributes);
    }
    let mut role = string_attributes(ROLE_ARGUMENTS);
    role.extend([("policy_arns", set()), ("transitive_tag_keys", set())]);
    role.push(("tags", Type::map(Type::String)));
    let mut web_identity = string_attributes(WEB_IDENTITY_ARGUMENTS);
    web_identity.push(("policy_arns", set()));
    block.attributes.extend([
        ("max_retries".into(), optional_attribute(Type::Number)),
        ("assume_role".into(), nested_attribute(role)),
        ("assume_role_with_web_identity".into(), nested_attribute(web_identity)),
        ("endpoints".into(), nested_attribute(string_attributes(ENDPOINT_SERVICES))),
    ]);
    if let Some(key) = block.attributes.get_mut("sse_customer_key") {
        key.sensitive = true;
    }
    block
}

fn optional_attribute(ty: Type) -> Attribute {
    Attribute::new(ty, Role::Optional)
}

fn string_attributes(names: &[&'static str]) -> Vec<(&'static str, Type)> {
    names.iter().map(|name| (*name, Type::String)).collect()
}

fn nested_attribute(members: Vec<(&'static str, Type)>) -> Attribute {
    let members = members.into_iter().map(|(name, ty)| (name.into(), optional_attribute(ty)));
    let nested = NestedAttributes { attributes: members.collect(), nesting: Nesting::Single };
    Attribute {
        kind: AttributeKind::Nested(nested),
        role: Role::Optional,
        sensitive: false,
        write_only: false,
        docs: SchemaDocs::default(),
    }
}
