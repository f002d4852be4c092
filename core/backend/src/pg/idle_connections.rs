//! Connections of this process that wait for their next use. A command reads journals and the state, takes
//! its lock and begins a journal one after the other, and a new connection takes several round trips.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::connect::ConnectTarget;
use super::connection::Connection;

/// The longest wait. A connection that is idle for longer may be cut off without a sign.
const MAX_IDLE_TIME: Duration = Duration::from_secs(2);

/// The most connections that wait.
const MAX_IDLE_CONNECTIONS: usize = 2;

static IDLE_CONNECTIONS: Mutex<Vec<IdleConnection>> = Mutex::new(Vec::new());

struct IdleConnection {
    target: ConnectTarget,
    client: Connection,
    since: Instant,
}

/// Returns a connection with a target that waits, if there is one.
pub(super) fn take_idle_connection(target: &ConnectTarget) -> Option<Connection> {
    let mut idle = IDLE_CONNECTIONS.lock().unwrap_or_else(PoisonError::into_inner);
    idle.retain(|one| one.client.is_reusable() && one.since.elapsed() < MAX_IDLE_TIME);
    let at = idle.iter().position(|one| one.target == *target)?;
    Some(idle.swap_remove(at).client)
}

/// Lets a connection that holds no lock wait for its next use. It ends if something failed on it.
pub(super) fn keep_idle_connection(target: &ConnectTarget, client: Connection) {
    if client.is_reusable() {
        let mut idle = IDLE_CONNECTIONS.lock().unwrap_or_else(PoisonError::into_inner);
        idle.push(IdleConnection { target: target.clone(), client, since: Instant::now() });
        // The oldest one ends first.
        let surplus = idle.len().saturating_sub(MAX_IDLE_CONNECTIONS);
        idle.drain(..surplus);
    }
}
