//! Tests of the three resources in `docs/sdk-comparison.md`: their lifecycle, and the code and line
//! counts on the page.

mod comparison {
    pub(crate) mod cluster;
    pub(crate) mod firewall;
    pub(crate) mod greeting;
    pub(crate) mod service;
}

use comparison::service::Service;
use formwork_sdk::prelude::*;
use formwork_sdk::value::schema::Block;
use formwork_sdk_testing::TestEngine;

const PAGE: &str = include_str!("../../../docs/sdk-comparison.md");

/// The resources in the order of the page.
const OURS: [(&str, &str); 3] = [
    ("greeting", include_str!("comparison/greeting.rs")),
    ("firewall", include_str!("comparison/firewall.rs")),
    ("cluster", include_str!("comparison/cluster.rs")),
];

fn test_engine(service: &Service) -> TestEngine {
    let service = service.clone();
    TestEngine::new(move || {
        ProviderDef::new("registry.terraform.io/acme/acme")
            .resource("acme_greeting", comparison::greeting::Greetings)
            .resource("acme_firewall", comparison::firewall::Firewalls(service.clone()))
            .resource("acme_cluster", comparison::cluster::Clusters(service.clone()))
    })
}

const CONFIG: &str = r#"
resource "acme_greeting" "a" {
  name = "you"
}
resource "acme_firewall" "a" {
  name = "web"
  rule {
    port    = 443
    sources = ["10.0.0.0/8"]
  }
  rule {
    port     = 53
    protocol = "udp"
  }
}
resource "acme_cluster" "a" {
  name = "main"
  timeouts {
    create = "1h"
  }
}
"#;

#[test]
fn the_three_resources_pass_their_life_cycle() {
    let service = Service::default();
    let mut engine = test_engine(&service);
    engine.run_lifecycle(CONFIG);
    engine.apply(CONFIG).expect_applied();
    assert_eq!(engine.attribute("acme_greeting.a", "text"), "Hello, you");
    assert_eq!(engine.attribute("acme_cluster.a", "endpoint"), "https://main-3.example.com");
    let more = CONFIG
        .replace("port     = 53", "port     = 54")
        .replace("\"main\"", "\"main\"\n  nodes = 5");
    engine.apply(&more).expect_applied();
    assert_eq!(engine.attribute("acme_cluster.a", "endpoint"), "https://main-5.example.com");
    engine.plan(&more).expect_no_changes();
    // The new name forces a new cluster, which is not ready after a second.
    engine.apply(&more.replace("1h", "1s").replace("main", "slow")).expect_error("Timed out");
    assert!(engine.is_tainted("acme_cluster.a"));
    assert_eq!(engine.attribute("acme_cluster.a", "id"), "5");
}

#[test]
fn a_firewall_is_imported() {
    let service = Service::default();
    // Alone, so that the service gives it the id 1.
    let rest = CONFIG.find("resource \"acme_firewall\"").unwrap()
        ..CONFIG.find("resource \"acme_cluster\"").unwrap();
    let firewall = &CONFIG[rest];
    test_engine(&service).apply(firewall).expect_applied();
    let import = format!("{firewall}import {{\n  to = acme_firewall.a\n  id = \"1\"\n}}\n");
    // Another test engine, because an import needs a state that lacks the object.
    let mut later = test_engine(&service);
    later.apply(&import).expect_applied();
    later.plan(firewall).expect_no_changes();
}

#[test]
fn the_page_contains_the_current_code_and_correct_counts() {
    let (go, rust) = (blocks("go"), blocks("rust"));
    assert_eq!((go.len(), rust.len()), (OURS.len(), OURS.len()));
    let mut sums = (0, 0);
    for (((name, ours), go), rust) in OURS.iter().zip(go).zip(rust) {
        let (_, code) = ours.split_once("\n\n").expect("a head and code");
        assert_eq!(rust.trim(), code.trim(), "{name}");
        let (theirs, ours) = (counted(go), counted(rust));
        sums = (sums.0 + theirs, sums.1 + ours);
        let row = format!("| {name} | {theirs} | {ours} |");
        assert!(PAGE.contains(&row), "the table should say {row}");
    }
    let row = format!("| together | {} | {} |", sums.0, sums.1);
    assert!(PAGE.contains(&row), "the table should say {row}");
    assert!(sums.1 * 5 <= sums.0, "more than a fifth: {sums:?}");
}

/// An item without its own description has that of its type.
#[test]
fn every_attribute_has_a_description() {
    let shapes = [
        comparison::greeting::Greeting::shape(),
        comparison::firewall::Firewall::shape(),
        comparison::cluster::Cluster::shape(),
    ];
    for shape in &shapes {
        expect_described("the resource type", &shape.block);
    }
    let timeouts = &shapes[2].block.blocks["timeouts"].block.docs.description;
    assert_eq!(timeouts, "Timeouts of operations.");
}

fn expect_described(name: &str, block: &Block) {
    assert!(!block.docs.description.is_empty(), "{name}");
    for (name, attribute) in &block.attributes {
        assert!(!attribute.docs.description.is_empty(), "{name}");
    }
    for (name, nested) in &block.blocks {
        expect_described(name.as_str(), &nested.block);
    }
}

/// The blocks of code of a language.
fn blocks(language: &str) -> Vec<&'static str> {
    let opening = format!("```{language}\n");
    let parts = PAGE.split(opening.as_str()).skip(1);
    parts.filter_map(|part| part.split_once("\n```")).map(|(code, _)| code).collect()
}

/// The lines that are neither empty nor a comment. Descriptions of attributes count.
fn counted(code: &str) -> usize {
    let is_comment = |line: &str| line.starts_with("//") && !line.starts_with("///");
    code.lines().map(str::trim).filter(|line| !line.is_empty() && !is_comment(line)).count()
}
