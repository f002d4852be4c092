//! A resource whose remote operations take their time.

use std::time::Duration;

use formwork_sdk::prelude::*;
use formwork_sdk::timeouts::at_most;

use super::service::{self, Service};

/// A cluster.
#[derive(Model)]
pub(crate) struct Cluster {
    /// What it is called.
    #[attr(required, replace)]
    name: String,
    /// How many machines it has.
    #[attr(default = 3_i64, range = 1_i64..=100)]
    nodes: i64,
    /// Where it answers.
    #[attr(computed)]
    endpoint: String,
    /// The id.
    #[attr(computed, keep)]
    id: String,
    /// How long operations may take.
    #[block]
    timeouts: Option<Timeouts>,
}

pub(crate) struct Clusters(pub(crate) Service);

#[async_trait]
impl Resource for Clusters {
    type Model = Cluster;

    async fn create(
        &self,
        diags: &mut Diagnostics,
        call: Create<Cluster>,
    ) -> Answer<ClusterComputed> {
        let wanted = call.planned;
        let made = self.0.create_cluster(&wanted.name, wanted.nodes).await;
        let id = made.map_err(failed(diags))?;
        call.partial.keep(ClusterDraft { id: id.clone().into(), ..ClusterDraft::default() });
        let written = wanted.timeouts.as_ref().and_then(|timeouts| timeouts.create.as_deref());
        self.ready(diags, id, written, &call.stop).await
    }

    async fn read(&self, diags: &mut Diagnostics, call: Read<Cluster>) -> Answer<Option<Cluster>> {
        let known = call.current;
        let found = self.0.cluster(&known.id).await.map_err(failed(diags))?;
        Ok(found.map(|service::Cluster { name, nodes, endpoint, .. }| Cluster {
            name,
            nodes,
            endpoint,
            ..known
        }))
    }

    async fn update(
        &self,
        diags: &mut Diagnostics,
        call: Update<Cluster>,
    ) -> Answer<ClusterComputed> {
        let (id, wanted) = (call.prior.id, call.planned);
        self.0.resize_cluster(&id, wanted.nodes).await.map_err(failed(diags))?;
        let written = wanted.timeouts.as_ref().and_then(|timeouts| timeouts.update.as_deref());
        self.ready(diags, id, written, &call.stop).await
    }

    async fn delete(&self, diags: &mut Diagnostics, call: Delete<Cluster>) -> Answer<()> {
        self.0.delete_cluster(&call.prior.id).await.map_err(failed(diags))
    }
}

impl Clusters {
    async fn ready(
        &self,
        diags: &mut Diagnostics,
        id: String,
        written: Option<&str>,
        stop: &Stop,
    ) -> Answer<ClusterComputed> {
        let usual = Duration::from_secs(1800);
        let wait = Wait::until("the cluster is ready", stop).at_most(at_most(written, usual));
        let mut wait = wait.every(Duration::from_secs(10));
        loop {
            let found = self.0.cluster(&id).await.map_err(failed(diags))?;
            if let Some(cluster) = found.filter(|cluster| cluster.is_ready) {
                return Ok(ClusterComputed { endpoint: cluster.endpoint, id });
            }
            wait.again(diags).await?;
        }
    }
}

fn failed(diags: &mut Diagnostics) -> impl FnOnce(service::Failure) -> Reported + '_ {
    |failure| diags.error(Diagnostic::error("The service refuses", failure.to_string()))
}
