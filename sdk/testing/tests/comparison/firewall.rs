//! `acme_firewall`: nested blocks, updates in place, import.

use std::collections::BTreeSet;

use formwork_sdk::prelude::*;

use super::service::{self, Service};

/// A firewall.
#[derive(Model)]
#[attr(from = service::Firewall, into = service::Firewall)]
#[resource(
    Firewalls(service: Service),
    create = service.create_firewall(planned.into()),
    read = service.firewall(&id),
    update = service.change_firewall(&id, planned.into()),
    delete = service.delete_firewall(&id),
)]
pub(crate) struct Firewall {
    /// The name.
    #[attr(required, replace, length = 1..=63)]
    name: String,
    /// Description of its purpose.
    #[attr(optional)]
    description: Option<String>,
    #[block(name = "rule")]
    rules: Vec<Rule>,
    /// The id.
    #[attr(computed, keep, import, local)]
    id: String,
}

/// Allowed connections.
#[derive(Clone, Debug, Nested)]
#[attr(from = service::Rule, into = service::Rule)]
pub(crate) struct Rule {
    /// The port.
    #[attr(required, range = 1..=65535)]
    port: i64,
    /// The protocol.
    #[attr(default = "tcp", one_of = ["tcp", "udp"])]
    protocol: String,
    /// Networks that may connect; all if empty.
    #[attr(default)]
    sources: BTreeSet<String>,
}
