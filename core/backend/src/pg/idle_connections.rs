//! Idle connections of this process. A command reads journals and the state, acquires its lock and begins
//! a journal one after the other, and a new connection takes several round trips.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::connect::ConnectTarget;
use super::connection::Connection;

/// Maximum idle time. A connection that is idle for longer may be closed unnoticed.
const MAX_IDLE_TIME: Duration = Duration::from_secs(2);

/// Maximum number of idle connections.
const MAX_IDLE_CONNECTIONS: usize = 2;

static IDLE_CONNECTIONS: Mutex<Vec<IdleConnection>> = Mutex::new(Vec::new());

struct IdleConnection {
    target: ConnectTarget,
    client: Connection,
    since: Instant,
}

/// Returns an idle connection to a target, if there is one.
pub(super) fn take_idle_connection(target: &ConnectTarget) -> Option<Connection> {
    let mut idle = IDLE_CONNECTIONS.lock().unwrap_or_else(PoisonError::into_inner);
    idle.retain(|connection| {
        connection.client.is_reusable() && connection.since.elapsed() < MAX_IDLE_TIME
    });
    let index = idle.iter().position(|connection| connection.target == *target)?;
    Some(idle.swap_remove(index).client)
}

/// Keeps a connection that holds no lock for its next use. It is closed if a statement failed on
/// it.
pub(super) fn keep_idle_connection(target: &ConnectTarget, client: Connection) {
    if client.is_reusable() {
        let mut idle = IDLE_CONNECTIONS.lock().unwrap_or_else(PoisonError::into_inner);
        idle.push(IdleConnection { target: target.clone(), client, since: Instant::now() });
        // The oldest one is closed first.
        let surplus = idle.len().saturating_sub(MAX_IDLE_CONNECTIONS);
        idle.drain(..surplus);
    }
}
