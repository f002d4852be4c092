//! Scripts over every backend: each stores the same states, on real servers and on own servers that
//! implement the documented part of a service.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::{StateBackend, compare_lifecycles, test_provider_suite};
use crate::harness::azure::{ACCOUNT, Azure, CONTAINER, KEY};
use crate::harness::gcs::Gcs;
use crate::harness::kubernetes::{Kubernetes, TOKEN};
use crate::harness::{Consul, HttpState, ObjectStore, Postgres};

/// The groups of the scripts.
const GROUPS: [&str; 4] = ["deposed", "failure", "data", "lifecycle"];

/// The backends that store a document under conditions as `s3` does. Without `INTEROP_BOTH` they get the
/// first two groups.
const LIKE_S3: [&str; 5] = ["azurerm", "gcs", "consul", "kubernetes", STORE];

/// A state store of the test provider.
const STORE: &str = "test_store";

/// A script that names state files.
const LOCAL: &str = "remote_state_of_another";

/// Compares the scripts over a backend. `arguments` returns those of the state with a name.
fn compare(
    kind: &'static str,
    variables: Vec<(String, String)>,
    arguments: impl Fn(&str) -> String + Sync + Send + 'static,
) {
    let n_states = AtomicUsize::new(0);
    let arguments = move || {
        let lines = arguments(&format!("state{}x", n_states.fetch_add(1, Ordering::Relaxed)));
        lines.lines().map(|line| format!("    {}\n", line.trim())).collect()
    };
    let block = if kind == STORE { "state_store" } else { "backend" };
    let backend = StateBackend { block, kind, arguments: Box::new(arguments), variables };
    let is_short = LIKE_S3.contains(&kind) && std::env::var_os("INTEROP_BOTH").is_none();
    let groups = &GROUPS[..if is_short { 2 } else { GROUPS.len() }];
    let report = compare_lifecycles(&test_provider_suite(Some(backend)), |group, name| {
        groups.contains(&group) && name != LOCAL
    });
    assert!(report.is_empty(), "\n{report}");
}

#[test]
fn lifecycles_are_the_same_over_http() {
    compare("http", Vec::new(), |_| {
        // One server for each state. It ends with the test.
        HttpState::start().arguments()
    });
}

#[test]
fn lifecycles_are_the_same_over_pg() {
    let Some(server) = Postgres::start() else { return };
    // While a state is created, no other state of its database can be locked. So each has its own
    // database.
    compare("pg", Vec::new(), move |name| format!("conn_str = \"{}\"", server.make_database(name)));
}

#[test]
fn lifecycles_are_the_same_over_s3() {
    let Some(store) = ObjectStore::s3() else { return };
    store.make_bucket("lives");
    compare("s3", Vec::new(), move |name| {
        let url = &store.url;
        format!(
            "bucket = \"lives\"
            key = \"{name}\"
            region = \"us-east-1\"
            access_key = \"AKIAEXAMPLE\"
            secret_key = \"secret\"
            use_path_style = true
            use_lockfile = true
            skip_credentials_validation = true
            skip_requesting_account_id = true
            skip_metadata_api_check = true
            endpoints = {{ s3 = \"{url}\" }}"
        )
    });
}

#[test]
fn lifecycles_are_the_same_over_azurerm() {
    let Some(azure) = Azure::start() else { return };
    let variables = azure.variables();
    compare("azurerm", variables, move |name| {
        let _running = &azure;
        format!(
            "storage_account_name = \"{ACCOUNT}\"
            container_name = \"{CONTAINER}\"
            access_key = \"{KEY}\"
            key = \"{name}\""
        )
    });
}

#[test]
fn lifecycles_are_the_same_over_gcs() {
    let Some(server) = Gcs::start("states") else { return };
    compare("gcs", Vec::new(), move |name| {
        let url = &server.url;
        format!(
            "bucket = \"states\"
            prefix = \"{name}\"
            access_token = \"token\"
            storage_custom_endpoint = \"{url}/storage/v1/b\""
        )
    });
}

#[test]
fn lifecycles_are_the_same_over_consul() {
    let server = Consul::start();
    compare("consul", Vec::new(), move |name| {
        format!("address = \"{}\"\npath = \"{name}\"", server.address)
    });
}

#[test]
fn lifecycles_are_the_same_over_kubernetes() {
    let server = Kubernetes::start();
    let directory = tempfile::tempdir().unwrap();
    // Terraform needs a file that describes the cluster.
    let path = directory.path().join("kube.yaml");
    std::fs::write(&path, server.kubeconfig(&format!("token: {TOKEN}"))).unwrap();
    compare("kubernetes", Vec::new(), move |name| {
        let _in_use = (&server, &directory);
        format!(
            "config_path = {path:?}
            config_context = \"here\"
            token = \"{TOKEN}\"
            secret_suffix = \"{name}\""
        )
    });
}

/// Terraform 1.11 has no state stores: its results are those over a file.
#[test]
fn lifecycles_are_the_same_over_a_state_store_of_a_provider() {
    if std::env::var_os("INTEROP_BOTH").is_some() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    compare(STORE, Vec::new(), move |name| {
        let directory = directory.path().join(name);
        format!("provider \"test\" {{}}\ndirectory = \"{}\"", directory.display())
    });
}
