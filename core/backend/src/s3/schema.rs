//! The arguments of the backend `s3`, as in Terraform.

use formwork_value::Type;
use formwork_value::schema::Block;

use crate::arguments::optional_attributes_block;
use crate::aws::schema::{connection_arguments_block, nested_attribute, string_attributes};

const STRING_ARGUMENTS: &[&str] = &[
    "acl",
    "bucket",
    "dynamodb_endpoint",
    "dynamodb_table",
    "endpoint",
    "iam_endpoint",
    "key",
    "kms_key_id",
    "shared_credentials_file",
    "sse_customer_key",
    "sts_endpoint",
    "workspace_key_prefix",
];

const BOOL_ARGUMENTS: &[&str] = &[
    "encrypt",
    "force_path_style",
    "skip_region_validation",
    "skip_s3_checksum",
    "use_lockfile",
    "use_path_style",
];

const ENDPOINT_SERVICES: &[&str] = &["dynamodb", "iam", "s3", "sso", "sts"];

/// Returns the schema.
pub(super) fn schema() -> Block {
    // `bucket` and `key` are checked later, because options of `init` may set them.
    let mut attributes = string_attributes(STRING_ARGUMENTS);
    attributes.extend(BOOL_ARGUMENTS.iter().map(|name| (*name, Type::Bool)));
    let mut block = connection_arguments_block();
    block.attributes.extend(optional_attributes_block(&attributes).attributes);
    let endpoints = nested_attribute(&string_attributes(ENDPOINT_SERVICES));
    block.attributes.insert("endpoints".into(), endpoints);
    if let Some(key) = block.attributes.get_mut("sse_customer_key") {
        key.sensitive = true;
    }
    block
}
