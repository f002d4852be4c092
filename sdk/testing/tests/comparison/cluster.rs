//! `acme_cluster`: operations that take their time.

use std::time::Duration;

use formwork_sdk::prelude::*;

use super::service::{self, Service};

/// A cluster.
#[derive(Model)]
#[attr(from = service::Cluster)]
pub(crate) struct Cluster {
    /// What it is called.
    #[attr(required, replace)]
    name: String,
    /// How many machines it has.
    #[attr(default = 3, range = 1..=100)]
    nodes: i64,
    /// Where it answers.
    #[attr(computed)]
    endpoint: String,
    /// The id.
    #[attr(computed, keep, local)]
    id: String,
    /// How long operations may take.
    #[block(local)]
    timeouts: Option<Timeouts>,
}

pub(crate) struct Clusters(pub(crate) Service);

impl Resource for Clusters {
    type Model = Cluster;

    async fn create(&self, call: Create<Cluster>) -> Answer<ClusterComputed> {
        let id = self.0.create_cluster(&call.planned.name, call.planned.nodes).await?;
        call.keep(ClusterDraft { id: id.clone().into(), ..ClusterDraft::default() });
        self.ready(id, &call).await
    }

    async fn read(&self, call: Read<Cluster>) -> Answer<Option<Cluster>> {
        let found = self.0.cluster(&call.current.id).await?;
        Ok(found.map(|found| call.current.with(found)))
    }

    async fn update(&self, call: Update<Cluster>) -> Answer<ClusterComputed> {
        self.0.resize_cluster(&call.prior.id, call.planned.nodes).await?;
        self.ready(call.prior.id.clone(), &call).await
    }

    async fn delete(&self, call: Delete<Cluster>) -> Answer<()> {
        Ok(self.0.delete_cluster(&call.prior.id).await?)
    }
}

impl Clusters {
    async fn ready(&self, id: String, call: &Call) -> Answer<ClusterComputed> {
        let ask = || async { Ok(self.0.cluster(&id).await?.filter(|found| found.is_ready)) };
        let wait = call.wait("the cluster is ready").every(Duration::from_secs(10));
        let endpoint = wait.at_most(Duration::from_secs(1800)).until(ask).await?.endpoint;
        Ok(ClusterComputed { endpoint, id })
    }
}
