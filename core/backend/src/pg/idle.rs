//! Connections of this process that wait for their next use. A command reads journals and the state, takes
//! its lock and begins a journal one after the other, and a new connection takes several round trips.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::connect::Target;
use super::connection::Connection;

/// The longest wait. A connection that is idle for longer may be cut off without a sign.
const LONGEST: Duration = Duration::from_secs(2);

/// The most connections that wait.
const MOST: usize = 2;

static IDLE: Mutex<Vec<Idle>> = Mutex::new(Vec::new());

struct Idle {
    target: Target,
    client: Connection,
    since: Instant,
}

/// Returns a connection with a target that waits, if there is one.
pub(super) fn take(target: &Target) -> Option<Connection> {
    let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
    idle.retain(|one| one.client.is_sound() && one.since.elapsed() < LONGEST);
    let at = idle.iter().position(|one| one.target == *target)?;
    Some(idle.swap_remove(at).client)
}

/// Lets a connection that holds no lock wait for its next use. It ends if something failed on it.
pub(super) fn keep(target: &Target, client: Connection) {
    if client.is_sound() {
        let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
        idle.push(Idle { target: target.clone(), client, since: Instant::now() });
        // The oldest one ends first.
        let surplus = idle.len().saturating_sub(MOST);
        idle.drain(..surplus);
    }
}
