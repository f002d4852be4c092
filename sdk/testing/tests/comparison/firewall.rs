//! A resource with nested blocks, changes in place, and import.

use std::collections::BTreeSet;

use formwork_sdk::prelude::*;

use super::service::{self, Service};

/// A firewall.
#[derive(Model)]
pub(crate) struct Firewall {
    /// What it is called.
    #[attr(required, replace, length = 1..=63)]
    name: String,
    /// What it is for.
    #[attr(optional)]
    description: Option<String>,
    /// Who may connect.
    #[block]
    rule: Vec<Rule>,
    /// The id.
    #[attr(computed, keep)]
    id: String,
}

/// Who may connect.
#[derive(Clone, Debug, Nested)]
pub(crate) struct Rule {
    /// The port.
    #[attr(required, range = 1_i64..=65535)]
    port: i64,
    /// The protocol.
    #[attr(default = "tcp", one_of = ["tcp", "udp"])]
    protocol: String,
    /// The networks that may connect; all if not set.
    #[attr(optional)]
    sources: Option<BTreeSet<String>>,
}

pub(crate) struct Firewalls(pub(crate) Service);

#[async_trait]
impl Resource for Firewalls {
    type Model = Firewall;

    async fn create(
        &self,
        diags: &mut Diagnostics,
        call: Create<Firewall>,
    ) -> Answer<FirewallComputed> {
        let id = self.0.create_firewall(call.planned.into()).await.map_err(failed(diags))?;
        Ok(FirewallComputed { id })
    }

    async fn read(
        &self,
        diags: &mut Diagnostics,
        call: Read<Firewall>,
    ) -> Answer<Option<Firewall>> {
        let id = call.current.id;
        let Some(found) = self.0.firewall(&id).await.map_err(failed(diags))? else {
            return Ok(None);
        };
        let rule = found.rules.into_iter().map(Rule::from).collect();
        Ok(Some(Firewall { name: found.name, description: found.description, rule, id }))
    }

    async fn update(
        &self,
        diags: &mut Diagnostics,
        call: Update<Firewall>,
    ) -> Answer<FirewallComputed> {
        let id = call.prior.id;
        self.0.change_firewall(&id, call.planned.into()).await.map_err(failed(diags))?;
        Ok(FirewallComputed { id })
    }

    async fn delete(&self, diags: &mut Diagnostics, call: Delete<Firewall>) -> Answer<()> {
        self.0.delete_firewall(&call.prior.id).await.map_err(failed(diags))
    }

    async fn import(&self, _: &mut Diagnostics, id: &str) -> Answer<FirewallDraft> {
        Ok(FirewallDraft { id: id.into(), ..FirewallDraft::default() })
    }
}

impl From<FirewallInput> for service::Firewall {
    fn from(wanted: FirewallInput) -> Self {
        let FirewallInput { name, description, rule } = wanted;
        let rules = rule.into_iter().map(|Rule { port, protocol, sources }| service::Rule {
            port,
            protocol,
            sources: sources.unwrap_or_default(),
        });
        Self { name, description, rules: rules.collect() }
    }
}

impl From<service::Rule> for Rule {
    fn from(service::Rule { port, protocol, sources }: service::Rule) -> Self {
        Self { port, protocol, sources: Some(sources).filter(|sources| !sources.is_empty()) }
    }
}

fn failed(diags: &mut Diagnostics) -> impl FnOnce(service::Failure) -> Reported + '_ {
    |failure| diags.error(Diagnostic::error("The service refuses", failure.to_string()))
}
