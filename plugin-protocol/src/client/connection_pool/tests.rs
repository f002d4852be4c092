//! Distribution of calls over connections.

use futures_util::StreamExt as _;
use tempfile::TempDir;
use tokio::net::UnixListener;
use tokio::task::JoinHandle;
use tokio_stream::wrappers::UnixListenerStream;
use tonic::transport::Server;

use super::*;
use crate::handshake::Address;
use crate::server::controller::ShutdownSignal;
use crate::server::health::Health;
use crate::wire::generated::health::health_server::HealthServer;

/// A plugin that accepts the given number of connections, and counts them.
struct Plugin {
    _dir: TempDir,
    dialer: Dialer,
    accepted: Arc<AtomicUsize>,
    server: JoinHandle<()>,
}

fn plugin(accepts: usize) -> Plugin {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("socket");
    let listener = UnixListener::bind(&path).expect("a socket");
    let accepted = Arc::<AtomicUsize>::default();
    let counter = Arc::clone(&accepted);
    let incoming = UnixListenerStream::new(listener).take(accepts).inspect(move |_| {
        counter.fetch_add(1, Ordering::Relaxed);
    });
    let server = tokio::spawn(async move {
        let service = HealthServer::new(Health(ShutdownSignal::default()));
        Server::builder().serve_with_incoming(service, incoming).await.expect("it serves");
    });
    let connect_timeout = Duration::from_secs(20);
    let dialer = Dialer { address: Address::Unix(path), tls: None, connect_timeout };
    Plugin { _dir: directory, dialer, accepted, server }
}

async fn pool(plugin: &Plugin, limit: usize) -> ConnectionPool {
    let first_channel = plugin.dialer.connect_within_timeout().await.expect("a first connection");
    ConnectionPool::new(plugin.dialer.clone(), first_channel, limit, None)
}

fn loads(pool: &ConnectionPool) -> Vec<usize> {
    pool.shared.lock().connections.iter().map(Connection::calls_in_flight).collect()
}

async fn lease(pool: &ConnectionPool) -> Lease {
    pool.lease().await.expect("a lease")
}

/// Waits until the pool has `n` connections, or is content with fewer.
async fn grown(pool: &ConnectionPool, n: usize) {
    // A connection is opened concurrently with the calls, without a signal when it is open.
    while loads(pool).len() < n {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_second_connection_is_opened_when_calls_queue_up() {
    let plugin = plugin(9);
    let pool = pool(&plugin, 2).await;
    let mut leases = Vec::new();
    for _ in 0..CALLS_BEFORE_NEXT_CONNECTION {
        leases.push(lease(&pool).await);
    }
    assert_eq!(loads(&pool), [CALLS_BEFORE_NEXT_CONNECTION]);
    assert_eq!(plugin.accepted.load(Ordering::Relaxed), 1);

    // The call that finds all connections busy does not wait for the new one.
    leases.push(lease(&pool).await);
    grown(&pool, 2).await;
    leases.push(lease(&pool).await);
    assert_eq!(loads(&pool), [CALLS_BEFORE_NEXT_CONNECTION + 1, 1]);
    drop(leases);
    assert_eq!(loads(&pool), [0, 0]);
    plugin.server.abort();
}

#[tokio::test]
async fn no_more_connections_are_opened_than_allowed_and_the_idlest_carries_the_next_call() {
    let plugin = plugin(9);
    let pool = pool(&plugin, 3).await;
    let mut leases = Vec::new();
    for _ in 0..=CALLS_BEFORE_NEXT_CONNECTION {
        leases.push(lease(&pool).await);
    }
    grown(&pool, 2).await;
    // The new connection takes the next calls, until it has enough for a third.
    while loads(&pool).len() < 3 {
        leases.push(lease(&pool).await);
        tokio::task::yield_now().await;
    }
    for _ in 0..100 {
        leases.push(lease(&pool).await);
    }
    let loads = loads(&pool);
    let (max_load, min_load) = (loads.iter().max(), loads.iter().min());
    assert!(
        loads.len() == 3 && max_load.zip(min_load).is_some_and(|(m, l)| m - l <= 1),
        "{loads:?}"
    );
    assert_eq!(plugin.accepted.load(Ordering::Relaxed), 3);
    plugin.server.abort();
}

#[tokio::test]
async fn a_closed_pool_gives_no_lease() {
    let plugin = plugin(1);
    let pool = pool(&plugin, 2).await;
    pool.close_after_calls_in_flight();
    assert!(matches!(pool.lease().await, Err(Failure::Lost { .. })));
    assert!(pool.first_open_channel().is_none());
    plugin.server.abort();
}
