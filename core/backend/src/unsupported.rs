//! The message for a backend that is not supported: the next step differs by its type.

use crate::kinds::BACKEND_KINDS;

/// Backends that Terraform had and removed.
const REMOVED_BACKENDS: [&str; 7] =
    ["artifactory", "azure", "etcd", "etcdv3", "manta", "swift", "atlas"];

/// Backends of Terraform that are not supported yet.
const UNSUPPORTED_BACKENDS: [&str; 5] = ["cloud", "cos", "oci", "oss", "remote"];

/// Describes why a backend cannot be used, and the next step.
#[must_use]
pub fn describe_unsupported_backend(name: &str) -> String {
    let kinds: Vec<&str> = BACKEND_KINDS.iter().map(|kind| kind.name()).collect();
    let known = kinds.join(", ");
    if REMOVED_BACKENDS.contains(&name) {
        return format!(
            "Terraform removed the backend {name:?}. States are kept by: {known}. Move the state with the last version of Terraform that has this backend."
        );
    }
    if !UNSUPPORTED_BACKENDS.contains(&name) {
        return format!("There is no backend type named {name:?}. States are kept by: {known}.");
    }
    format!(
        "There is no support for the backend {name:?}. States are kept by: {known}.\n\nTo use such a state, move it first:\n  1. With the block as it is, run \"terraform init\" and \"terraform state pull > terraform.tfstate\". The state of another workspace NAME than the default one belongs into terraform.tfstate.d/NAME/terraform.tfstate.\n  2. Replace the block by backend \"local\" {{}} or another one, and run \"formwork init -reconfigure\".\n  3. Run \"formwork plan\": it must not create what exists."
    )
}
