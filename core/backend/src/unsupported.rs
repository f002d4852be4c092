//! The message for an unsupported backend, with a remedy for its type.

use formwork_value::diag::Message;

use crate::kinds::BACKEND_KINDS;
use crate::left_out_part::describe_left_out_part;
use crate::messages;

/// Backends that have a cargo feature, by name. A build may leave them out.
const OPTIONAL_BACKENDS: [&str; 7] = ["http", "pg", "s3", "gcs", "azurerm", "consul", "kubernetes"];

/// Backends that Terraform had and removed.
const REMOVED_BACKENDS: [&str; 7] =
    ["artifactory", "azure", "etcd", "etcdv3", "manta", "swift", "atlas"];

/// Backends of Terraform that are not supported yet.
const UNSUPPORTED_BACKENDS: [&str; 5] = ["cloud", "cos", "oci", "oss", "remote"];

/// The steps to move a state from such a backend to Formwork.
const STEPS_TO_MOVE: &str = "To use such a state, move it first:\n  1. With the block as it is, run \"terraform init\" and \"terraform state pull > terraform.tfstate\". Save the state of a workspace NAME other than the default one as terraform.tfstate.d/NAME/terraform.tfstate.\n  2. Replace the block by backend \"local\" {} or another one, and run \"formwork init -reconfigure\".\n  3. Run \"formwork plan\": it must not create what exists.";

/// Describes why a backend cannot be used, with the remedy.
#[must_use]
pub fn describe_unsupported_backend(name: &str) -> String {
    describe_backend_missing_from(name, &names_in_this_build(), STEPS_TO_MOVE)
}

/// Describes why a data source cannot read the states of a backend, with the remedy.
pub(crate) fn describe_unsupported_source(name: &str) -> String {
    let outputs = match name {
        "cloud" | "remote" => {
            "\n\nThe data source \"tfe_outputs\" of the provider hashicorp/tfe reads the outputs without a copy."
        }
        _ => "",
    };
    let steps = format!(
        "To read such a state, copy it whenever it has changed:\n  1. In the directory of its configuration, run \"terraform state pull > FILE\".\n  2. Here, read the copy with backend = \"local\" and config = {{ path = \"FILE\" }}.{outputs}"
    );
    describe_backend_missing_from(name, &names_in_this_build(), &steps)
}

/// Returns the message for the block of a backend that cannot be used: `usual`, unless the backend is not
/// part of this build.
#[must_use]
pub fn unsupported_backend_message(name: &str, default: &'static Message) -> &'static Message {
    match is_left_out(name, &names_in_this_build()) {
        true => messages::BACKEND_LEFT_OUT_OF_BUILD,
        false => default,
    }
}

fn names_in_this_build() -> Vec<&'static str> {
    BACKEND_KINDS.iter().map(|kind| kind.name()).collect()
}

fn is_left_out(name: &str, kinds: &[&str]) -> bool {
    OPTIONAL_BACKENDS.contains(&name) && !kinds.contains(&name)
}

/// Describes why a backend cannot be used in a build with the given backends. The steps are for a backend
/// that Terraform still has.
fn describe_backend_missing_from(name: &str, kinds: &[&str], steps: &str) -> String {
    if is_left_out(name, kinds) {
        return describe_left_out_part("backend", name);
    }
    let known = kinds.join(", ");
    if REMOVED_BACKENDS.contains(&name) {
        return format!(
            "Terraform removed the backend {name:?}. Available backends: {known}. Move the state with the last version of Terraform that has this backend."
        );
    }
    if !UNSUPPORTED_BACKENDS.contains(&name) {
        return format!("There is no backend type named {name:?}. Available backends: {known}.");
    }
    format!("The backend {name:?} is not supported. Available backends: {known}.\n\n{steps}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backend_that_was_left_out_of_a_build_is_refused_by_its_feature() {
        let detail = describe_backend_missing_from("s3", &["local", "inmem", "pg"], "");
        assert!(detail.contains("does not include the backend \"s3\""), "{detail}");
        assert!(detail.ends_with("--features s3"), "{detail}");
        let detail = describe_backend_missing_from("s4", &["local", "pg"], "");
        assert_eq!(detail, "There is no backend type named \"s4\". Available backends: local, pg.");
    }

    #[test]
    fn each_feature_of_a_backend_is_known_and_in_a_whole_build() {
        let manifest = include_str!("../Cargo.toml");
        let (_, features) = manifest.split_once("\n# Backends.\n").unwrap();
        let lines = features.lines().take_while(|line| !line.is_empty());
        let mut features: Vec<&str> =
            lines.filter_map(|line| Some(line.split_once(" = [")?.0)).collect();
        let names = names_in_this_build();
        let missing: Vec<_> = features.iter().filter(|name| !names.contains(name)).collect();
        assert!(missing.is_empty(), "{missing:?}: a feature has the name of its backend");
        let mut optional = OPTIONAL_BACKENDS;
        features.sort_unstable();
        optional.sort_unstable();
        assert_eq!(features, optional);
    }
}
