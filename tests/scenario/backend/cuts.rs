//! Connections to the server of a state that end after any number of bytes: no object is lost or created
//! twice, and no state is overwritten.

use std::net::SocketAddr;
use std::thread;

use serde_json::Value;

use super::shared_scripts;
use crate::harness::cut_proxy::{Cut, CutProxy, Direction, Passed};
use crate::harness::{HttpState, Instance, ObjectStore, Postgres, Workdir, instances_in};

/// Two objects, one after the other.
const OBJECTS: &str = "terraform {\n  required_providers {\n    bad = { source = \"formwork/bad\" }\n  }\n}\nresource \"bad_thing\" \"a\" {\n  name = \"a\"\n}\nresource \"bad_thing\" \"b\" {\n  name = \"b\"\n  link = bad_thing.a.id\n}\n";

/// Number of cuts in each direction.
const N_CUTS: u64 = 15;

/// Number of cuts at the same time: most of the time of one is spent waiting.
const N_LANES: usize = 4;

/// The endpoint of a new state.
struct Endpoint {
    server: SocketAddr,
    /// The block of the backend, with `PORT` for that of the server.
    block: String,
}

/// Returns the endpoint of a state by its name.
type EndpointOfName<'p> = &'p (dyn Fn(&str) -> Endpoint + Sync);

#[test]
fn a_connection_that_ends_at_any_byte_loses_nothing_over_http() {
    assert_cuts_lose_nothing(&|_| http_endpoint(&HttpState::start_with_journals()), false);
}

#[test]
fn a_network_that_ends_at_any_byte_loses_nothing_over_http() {
    assert_cuts_lose_nothing(&|_| http_endpoint(&HttpState::start()), true);
}

#[test]
fn a_connection_that_ends_at_any_byte_loses_nothing_over_s3() {
    let Some(store) = ObjectStore::s3() else { return };
    store.make_bucket("cuts");
    let server = host_of(&store.url);
    let endpoint = |name: &str| {
        let block = format!(
            "\"s3\" {{\n    bucket = \"cuts\"\n    key = \"{name}\"\n    region = \"us-east-1\"\n    access_key = \"AKIAEXAMPLE\"\n    secret_key = \"secret\"\n    use_path_style = true\n    use_lockfile = true\n    skip_credentials_validation = true\n    skip_requesting_account_id = true\n    skip_metadata_api_check = true\n    endpoints = {{ s3 = \"http://127.0.0.1:PORT\" }}\n  }}\n"
        );
        Endpoint { server, block }
    };
    assert_cuts_lose_nothing(&endpoint, false);
}

#[test]
fn a_connection_that_ends_at_any_byte_loses_nothing_over_pg() {
    let Some(postgres) = Postgres::start() else { return };
    let server = host_of(&postgres.conn_str());
    let endpoint = |name: &str| {
        // While a state is created, no other state of its database can be locked.
        let conn_str = postgres.make_database(name);
        let conn_str = conn_str.replace(&server.to_string(), "127.0.0.1:PORT");
        Endpoint { server, block: format!("\"pg\" {{\n    conn_str = \"{conn_str}\"\n  }}\n") }
    };
    assert_cuts_lose_nothing(&endpoint, false);
}

fn http_endpoint(server: &HttpState) -> Endpoint {
    let address = host_of(&server.address);
    let arguments = server.arguments().replace(&address.to_string(), "127.0.0.1:PORT");
    Endpoint { server: address, block: format!("\"http\" {{\n{arguments}  }}\n") }
}

/// The host and port of a URL.
fn host_of(url: &str) -> SocketAddr {
    let (_, rest) = url.split_once("://").expect("a URL has a scheme");
    let authority = rest.split('/').next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    host.parse().expect("an address of this machine")
}

/// Cuts in both directions, spread over the conversation of an apply.
fn assert_cuts_lose_nothing(endpoints: EndpointOfName<'_>, is_lasting: bool) {
    let Passed { to_server, to_client, .. } = assert_nothing_is_lost(&endpoints("whole"), None);
    let directions = [(Direction::ToServer, to_server), (Direction::ToClient, to_client)];
    let cuts = directions.into_iter().flat_map(|(direction, n_bytes)| {
        (0..N_CUTS).map(move |index| Cut { direction, after: n_bytes * index / N_CUTS, is_lasting })
    });
    let cuts: Vec<Cut> = cuts.collect();
    thread::scope(|scope| {
        for lane in 0..N_LANES {
            let cuts = &cuts;
            scope.spawn(move || {
                for (number, cut) in cuts.iter().enumerate().skip(lane).step_by(N_LANES) {
                    assert_nothing_is_lost(&endpoints(&format!("cut{number}")), Some(*cut));
                }
            });
        }
    });
}

/// Applies while the network is cut, and once more. Returns the numbers of bytes of the first apply.
fn assert_nothing_is_lost(endpoint: &Endpoint, cut: Option<Cut>) -> Passed {
    let proxy = CutProxy::start(endpoint.server);
    let block = endpoint.block.replace("PORT", &proxy.port.to_string());
    let workdir = Workdir::new(&format!("terraform {{\n  backend {block}}}\n{OBJECTS}"));
    workdir.formwork("init").succeed();
    proxy.cut_once(cut);
    let mut result = workdir.formwork("apply -auto-approve").run();
    let passed = proxy.restore();
    // Otherwise the test would say nothing about this cut.
    assert_eq!(passed.n_cuts, u32::from(cut.is_some()), "{cut:?}: {passed:?}");
    let lineage = lineage_of(&workdir.formwork("state pull").run().stdout);
    // The first one finds a lock that was left, the second one has it released.
    for _ in 0..3 {
        if result.words().contains("Lock Info:") {
            let id = shared_scripts::lock_id(&result);
            workdir.formwork(&format!("force-unlock -force {id}")).succeed();
        }
        result = workdir.formwork("apply -auto-approve").run();
        if result.code == Some(0) {
            break;
        }
    }
    assert_eq!(result.code, Some(0), "{cut:?}: {}", result.text());
    let pulled = workdir.formwork("state pull").succeed().stdout;
    if lineage.is_some() {
        assert_eq!(lineage_of(&pulled), lineage, "{cut:?}");
    }
    let expected = ["a", "b"].map(|name| {
        let (addr, id) = (format!("bad_thing.{name}"), format!("{name}-1"));
        Instance { addr, id, tainted: false, deposed: false }
    });
    assert_eq!(instances_in(&pulled), expected, "{cut:?}");
    assert_eq!(workdir.service.objects(), ["a-1", "b-1"], "{cut:?}");
    passed
}

/// The lineage of a state; `None` if there is no state, which is printed as an empty one without a lineage.
fn lineage_of(text: &str) -> Option<String> {
    let state: Value = serde_json::from_str(text).ok()?;
    state["lineage"].as_str().filter(|lineage| !lineage.is_empty()).map(str::to_owned)
}
