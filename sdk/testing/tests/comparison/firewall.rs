//! `acme_firewall`: nested blocks, changes in place, import.

use std::collections::BTreeSet;

use formwork_sdk::prelude::*;

use super::service::{self, Service};

/// A firewall.
#[derive(Model)]
#[attr(from = service::Firewall, into = service::Firewall)]
pub(crate) struct Firewall {
    /// What it is called.
    #[attr(required, replace, length = 1..=63)]
    name: String,
    /// What it is for.
    #[attr(optional)]
    description: Option<String>,
    /// Who may connect.
    #[block(name = "rule")]
    rules: Vec<Rule>,
    /// The id.
    #[attr(computed, keep, import, local)]
    id: String,
}

/// Who may connect.
#[derive(Clone, Debug, Nested)]
#[attr(from = service::Rule, into = service::Rule)]
pub(crate) struct Rule {
    /// The port.
    #[attr(required, range = 1..=65535)]
    port: i64,
    /// The protocol.
    #[attr(default = "tcp", one_of = ["tcp", "udp"])]
    protocol: String,
    /// The networks that may connect; all if there is none.
    #[attr(default)]
    sources: BTreeSet<String>,
}

pub(crate) struct Firewalls(pub(crate) Service);

impl Resource for Firewalls {
    type Model = Firewall;

    async fn create(&self, call: Create<Firewall>) -> Answer<FirewallComputed> {
        Ok(FirewallComputed { id: self.0.create_firewall(call.planned.into()).await? })
    }

    async fn read(&self, call: Read<Firewall>) -> Answer<Option<Firewall>> {
        let found = self.0.firewall(&call.current.id).await?;
        Ok(found.map(|found| call.current.with(found)))
    }

    async fn update(&self, call: Update<Firewall>) -> Answer<FirewallComputed> {
        self.0.change_firewall(&call.prior.id, call.planned.into()).await?;
        Ok(call.prior.into())
    }

    async fn delete(&self, call: Delete<Firewall>) -> Answer<()> {
        Ok(self.0.delete_firewall(&call.prior.id).await?)
    }
}
