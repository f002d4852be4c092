//! The remote service of the comparison, in memory. Both sides of it are given a client like this one.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The client.
#[derive(Clone, Default)]
pub(crate) struct Service(Arc<Mutex<Inside>>);

#[derive(Default)]
struct Inside {
    n_made: usize,
    firewalls: BTreeMap<String, Firewall>,
    clusters: BTreeMap<String, (Cluster, usize)>,
}

#[derive(Clone)]
pub(crate) struct Firewall {
    pub(crate) name: String,
    pub(crate) description: Option<String>,
    pub(crate) rules: Vec<Rule>,
}

#[derive(Clone)]
pub(crate) struct Rule {
    pub(crate) port: i64,
    pub(crate) protocol: String,
    pub(crate) sources: BTreeSet<String>,
}

#[derive(Clone)]
pub(crate) struct Cluster {
    pub(crate) name: String,
    pub(crate) nodes: i64,
    pub(crate) endpoint: String,
    pub(crate) is_ready: bool,
}

/// Why a request failed.
#[derive(Debug)]
pub(crate) struct Failure(&'static str);

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for Failure {}

impl Service {
    fn inside(&self) -> MutexGuard<'_, Inside> {
        // The message of a handler panic must not be masked by that of a poisoned lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn id(&self) -> String {
        let mut inside = self.inside();
        inside.n_made += 1;
        inside.n_made.to_string()
    }

    pub(crate) async fn create_firewall(&self, firewall: Firewall) -> Result<String, Failure> {
        let id = self.id();
        self.inside().firewalls.insert(id.clone(), firewall);
        Ok(id)
    }

    pub(crate) async fn firewall(&self, id: &str) -> Result<Option<Firewall>, Failure> {
        Ok(self.inside().firewalls.get(id).cloned())
    }

    pub(crate) async fn change_firewall(
        &self,
        id: &str,
        firewall: Firewall,
    ) -> Result<(), Failure> {
        self.inside().firewalls.insert(id.to_owned(), firewall);
        Ok(())
    }

    pub(crate) async fn delete_firewall(&self, id: &str) -> Result<(), Failure> {
        self.inside().firewalls.remove(id);
        Ok(())
    }

    pub(crate) async fn create_cluster(&self, name: &str, nodes: i64) -> Result<String, Failure> {
        let id = self.id();
        self.change(&id, name, nodes);
        Ok(id)
    }

    /// The cluster. It is ready after a number of requests.
    pub(crate) async fn cluster(&self, id: &str) -> Result<Option<Cluster>, Failure> {
        let mut inside = self.inside();
        let Some((cluster, n_left)) = inside.clusters.get_mut(id) else { return Ok(None) };
        *n_left = n_left.saturating_sub(1);
        cluster.is_ready = *n_left == 0;
        Ok(Some(cluster.clone()))
    }

    pub(crate) async fn resize_cluster(&self, id: &str, nodes: i64) -> Result<(), Failure> {
        let name = self.inside().clusters.get(id).map(|(cluster, _)| cluster.name.clone());
        self.change(id, &name.ok_or(Failure("there is no such cluster"))?, nodes);
        Ok(())
    }

    pub(crate) async fn delete_cluster(&self, id: &str) -> Result<(), Failure> {
        self.inside().clusters.remove(id);
        Ok(())
    }

    fn change(&self, id: &str, name: &str, nodes: i64) {
        // With the number of nodes, so that a new size changes a computed value.
        let endpoint = format!("https://{name}-{nodes}.example.com");
        let cluster = Cluster { name: name.to_owned(), nodes, endpoint, is_ready: false };
        // Ready at the third read.
        self.inside().clusters.insert(id.to_owned(), (cluster, 3));
    }
}
