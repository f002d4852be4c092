//! Uninformative names, and words that belong in one file.

use super::{File, assert_no_violations, product, sources, words};

/// A module with such a name collects unrelated items.
const UNINFORMATIVE_NAMES: [&str; 10] = [
    "util",
    "utils",
    "helper",
    "helpers",
    "common",
    "misc",
    "manager",
    "base",
    "types",
    "shared_utils",
];

/// Files that read addresses of the internet, which have versions of their own.
const FILES_WITH_ADDRESSES: [&str; 2] =
    ["core/lang/src/functions/cidr.rs", "cli/provisioners/src/ssh/proxy.rs"];

/// Files that distinguish the two versions of the protocol. All other code asks for a plugin.
const FILES_WITH_VERSIONS: [&str; 7] = [
    "plugin-protocol/codegen/",
    "plugin-protocol/src/handshake",
    "plugin-protocol/src/fuzz_targets.rs",
    "plugin-protocol/src/reattach.rs",
    "plugin-protocol/src/server",
    "plugin-protocol/src/wire",
    "plugin-protocol/tests/",
];

/// Files that may serialise with serde: file formats and views for programs.
const SERIALISED: [&str; 52] = [
    // The settings file.
    "cli/src/settings/parse_items/json.rs",
    // The reader that all file formats share.
    "core/src/disk/json_object.rs",
    // The file formats: states, saved plans, the journal, the lock's description.
    "core/src/state/file/layout.rs",
    "core/src/state/file/read.rs",
    "core/src/state/file/sealed.rs",
    "core/src/state/file/sealed/paths.rs",
    "core/src/state/file/sealed/find_secrets.rs",
    "core/src/state/file/version3.rs",
    "core/src/state/checks.rs",
    "core/src/plan/plan_file.rs",
    "core/src/plan/plan_json.rs",
    "core/src/state/journal.rs",
    "core/src/state/journal/record.rs",
    "core/backend/src/journals/limited_objects.rs",
    "core/backend/src/lock.rs",
    // The answers of services that keep states, and the list of chunks of a state.
    "core/backend/src/aws.rs",
    "core/backend/src/aws/sts.rs",
    "core/backend/src/consul/client.rs",
    "core/backend/src/consul/server.rs",
    "core/backend/src/http/journals.rs",
    "core/backend/src/s3/bucket.rs",
    "core/backend/src/s3/dynamodb_table.rs",
    "core/backend/src/azurerm/account.rs",
    "core/backend/src/azurerm/cloud.rs",
    "core/backend/src/azurerm/container.rs",
    "core/backend/src/azurerm/identity.rs",
    "core/backend/src/azurerm/refusal.rs",
    "core/backend/src/encryption/external.rs",
    "core/backend/src/encryption/keys.rs",
    "core/backend/src/encryption/aws_kms.rs",
    "core/backend/src/encryption/gcp_kms.rs",
    "core/backend/src/encryption/openbao.rs",
    "core/backend/src/encryption/encrypted_file.rs",
    "core/backend/src/gcp.rs",
    "core/backend/src/gcp/credentials.rs",
    "core/backend/src/gcs/bucket.rs",
    "core/backend/src/kubernetes/cluster_connection.rs",
    "core/backend/src/kubernetes/cluster.rs",
    "core/backend/src/kubernetes/kubeconfig.rs",
    // TF_REATTACH_PROVIDERS.
    "plugin-protocol/src/reattach.rs",
    // Transcripts of calls.
    "plugin-protocol/src/transcript/file_format.rs",
    // The manifest of installed modules.
    "cli/src/modules/manifest.rs",
    // The answers of registries and mirrors of providers.
    "cli/src/install/source/network_mirror.rs",
    "cli/src/fetch/limited_lists.rs",
    "cli/src/modules/registry.rs",
    "cli/src/install/source/registry.rs",
    // The manifests of OCI registries.
    "cli/src/fetch/oci/manifest.rs",
    // The backend that is set up.
    "cli/src/workspace/backend/backend_record.rs",
    // The metadata and the seal of a saved plan.
    "core/operation/src/saved_plan.rs",
    "core/operation/src/saved_plan/seal.rs",
    // The binary form of signatures over releases of providers.
    "cli/src/command/provider/signing.rs",
    // The output of `version -json`.
    "cli/src/command/version.rs",
];

#[test]
fn no_module_has_an_uninformative_name() {
    let violations: Vec<_> = sources()
        .filter(|file| {
            let parts = file.path.split('/').map(|part| part.trim_end_matches(".rs"));
            parts.into_iter().any(|part| UNINFORMATIVE_NAMES.contains(&part))
        })
        .map(|file| file.path.clone())
        .collect();
    assert_no_violations(&violations, "name a module after what it holds");
}

/// Names that a reader has to be introduced to, and plain ones.
const PRIVATE_NAMES: [(&str, &str); 6] = [
    ("dragged", "destroyed_dependents"),
    ("fates", "the property that is meant"),
    ("ground", "session_inputs"),
    ("held_up", "after_last"),
    ("is_hurried", "goes_first"),
    ("told", "reported, or the content"),
];

#[test]
fn names_are_plain_words() {
    let mut violations = Vec::new();
    for file in product() {
        for (number, line) in file.product_lines() {
            for (name, plain) in PRIVATE_NAMES {
                if words(line).any(|word| word == name) {
                    violations.push(format!("{}:{number}: {name}: {plain}", file.path));
                }
            }
        }
    }
    assert_no_violations(&violations, "a name is a plain word (PRIVATE_NAMES in this file)");
}

fn names_a_version(file: &File) -> Option<usize> {
    let names = |word: &str| matches!(word, "v5" | "v6" | "V5" | "V6");
    file.product_lines().find(|(_, line)| words(line).any(names)).map(|(number, _)| number)
}

#[test]
fn versions_of_the_protocol_are_distinguished_in_one_place() {
    let is_allowed =
        |file: &&File| FILES_WITH_VERSIONS.iter().any(|path| file.path.starts_with(path));
    let violations: Vec<_> = product()
        .filter(|file| !file.path.starts_with("tests/") && !is_allowed(file))
        // Addresses of the internet have versions too.
        .filter(|file| !FILES_WITH_ADDRESSES.contains(&file.path.as_str()))
        .filter_map(|file| Some(format!("{}:{}", file.path, names_a_version(file)?)))
        .collect();
    assert_no_violations(
        &violations,
        "protocol versions are the business of plugin-protocol's wire and handshake",
    );
    assert!(product().filter(is_allowed).any(|file| names_a_version(file).is_some()));
}

#[test]
fn a_vertex_is_complete_when_it_is_created() {
    let mut n_vertices = 0;
    let mut violations = Vec::new();
    for file in product().filter(|file| file.path.starts_with("core/src/")) {
        let is_vertex = file.name().ends_with("vertex.rs") || file.path.contains("/vertex/");
        n_vertices += usize::from(is_vertex);
        for (number, line) in file.product_lines() {
            let attaches = words(line).any(|word| word.starts_with("attach_"));
            // Kinds of vertices record the results of their visits, with functions named `set_`.
            let sets =
                !file.path.contains("/vertex/") && words(line).any(|word| word.starts_with("set_"));
            if attaches || is_vertex && (sets || line.contains("&mut self")) {
                violations.push(format!("{}:{number}: {}", file.path, line.trim()));
            }
        }
    }
    assert!(n_vertices > 20, "{n_vertices} files of vertices were found");
    assert_no_violations(
        &violations,
        "a vertex is complete when made: nothing is attached to it later",
    );
}

#[test]
fn only_file_formats_and_views_are_serialised() {
    let violations: Vec<_> = product()
        .filter(|file| !file.path.starts_with("tests/"))
        .filter(|file| !SERIALISED.contains(&file.path.as_str()))
        .filter(|file| !file.path.starts_with("cli/src/view/json"))
        .filter_map(|file| {
            let serialises =
                |line: &str| words(line).any(|word| matches!(word, "Serialize" | "Deserialize"));
            let (number, _) = file.product_lines().find(|(_, line)| serialises(line))?;
            Some(format!("{}:{number}", file.path))
        })
        .collect();
    assert_no_violations(
        &violations,
        "inner types have no serialised form: only file formats and views do",
    );
    for path in SERIALISED {
        assert!(sources().any(|file| file.path == path), "{path} is listed but does not exist");
    }
}
