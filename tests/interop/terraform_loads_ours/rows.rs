//! The table: everything that every provider of ours offers, with all steps of its life. A test
//! finds types that are in the schemas and not in the table.

mod plain;
mod postgresql;
mod random;
mod reading;
mod time;
mod tls;

use std::collections::BTreeSet;
use std::process::Command;

use super::lifecycle_run::check;
use super::row::Provider;
use super::schemas;
use crate::harness::Installed;
use crate::interop::engine::Engine;

#[test]
fn objects_of_the_archive_provider_have_the_same_lifecycle() {
    check(&[plain::archive(), plain::archive()]);
}

#[test]
fn objects_of_the_builtin_provider_have_the_same_lifecycle() {
    check(&[plain::builtin(), plain::builtin()]);
}

#[test]
fn objects_of_the_external_provider_have_the_same_lifecycle() {
    check(&[reading::external(), reading::external()]);
}

#[test]
fn objects_of_the_http_provider_have_the_same_lifecycle() {
    let address = reading::web_server();
    check(&[reading::http(&address), reading::http(&address)]);
}

#[test]
fn objects_of_the_local_provider_have_the_same_lifecycle() {
    check(&[plain::local(), plain::local()]);
}

#[test]
fn objects_of_the_null_provider_have_the_same_lifecycle() {
    check(&[plain::null(), plain::null()]);
}

#[test]
fn objects_of_the_postgresql_provider_have_the_same_lifecycle() {
    let start = || Installed::start(|program| Command::new(program), &[], &[]);
    let (Some(theirs), Some(ours)) = (start(), start()) else { return };
    check(&[postgresql::provider(theirs.port), postgresql::provider(ours.port)]);
}

#[test]
fn objects_of_the_random_provider_have_the_same_lifecycle() {
    check(&[random::provider(), random::provider()]);
}

#[test]
fn objects_of_the_time_provider_have_the_same_lifecycle() {
    check(&[time::provider(), time::provider()]);
}

#[test]
fn objects_of_the_tls_provider_have_the_same_lifecycle() {
    check(&[tls::provider(), tls::provider()]);
}

/// Names under the headings of schemas.
type Names = BTreeSet<(String, String)>;

#[test]
fn every_type_of_a_provider_has_a_row() {
    let table = [
        plain::archive(),
        plain::builtin(),
        plain::local(),
        plain::null(),
        postgresql::provider(5432),
        random::provider(),
        reading::external(),
        reading::http("localhost"),
        time::provider(),
        tls::provider(),
    ];
    let schemas = schemas(Engine::Formwork, 6);
    assert_eq!(schemas.as_object().unwrap().len(), table.len(), "a provider has no rows");
    for provider in table {
        let address = match provider.source {
            "terraform.io/builtin/terraform" => provider.source.to_owned(),
            source => format!("registry.terraform.io/{source}"),
        };
        let headings = schemas[&address].as_object().unwrap().iter();
        let headings = headings.filter(|(heading, _)| *heading != "provider");
        let offered: Names = headings
            .flat_map(|(heading, offered)| {
                let names = offered.as_object().into_iter().flatten();
                names.map(move |(name, _)| (heading.clone(), name.clone()))
            })
            .collect();
        assert_eq!(
            rows(&provider),
            offered,
            "{address}: rows on the left, the schemas on the right"
        );
    }
}

fn rows(provider: &Provider) -> Names {
    let resources = provider.resources.iter().map(|row| ("resource_schemas", row.kind));
    let others = provider.other_types.iter().map(|row| row.name());
    resources.chain(others).map(|(heading, name)| (heading.to_owned(), name.to_owned())).collect()
}
