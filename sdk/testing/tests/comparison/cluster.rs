//! `acme_cluster`: operations that take their time.

use std::time::Duration;

use formwork_sdk::prelude::*;

use super::service::{self, Service};

/// A cluster.
#[derive(Model)]
#[attr(from = service::Cluster)]
#[resource(
    Clusters(service: Service),
    create = service.create_cluster(&name, nodes),
    read = service.cluster(&id),
    update = service.resize_cluster(&id, nodes),
    delete = service.delete_cluster(&id),
    ready(found.is_ready, every = Duration::from_secs(10), at_most = Duration::from_secs(1800)),
)]
pub(crate) struct Cluster {
    /// The name.
    #[attr(required, replace)]
    name: String,
    /// Number of machines.
    #[attr(default = 3, range = 1..=100)]
    nodes: i64,
    /// The endpoint.
    #[attr(computed)]
    endpoint: String,
    /// The id.
    #[attr(computed, keep, import, local)]
    id: String,
    #[block(local)]
    timeouts: Option<Timeouts>,
}
