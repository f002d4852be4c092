//! A session that holds a lock, kept alive on a thread of its own while the engine is busy.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

use ureq::http::StatusCode;

use super::client::Server;

/// The pause between two signs of life: half of what ends a session.
const PAUSE: Duration = Duration::from_secs(7);

/// A session. It is not kept alive any more once it is dropped.
pub(super) struct Session {
    /// Its id.
    pub(super) id: String,
    is_lost: Arc<AtomicBool>,
    _stop: Sender<()>,
}

impl Session {
    /// Keeps a session alive.
    pub(super) fn keep(server: Server, id: String) -> Self {
        let (stop, stopped) = channel::<()>();
        let is_lost = Arc::new(AtomicBool::new(false));
        let (lost, name) = (Arc::clone(&is_lost), id.clone());
        std::thread::spawn(move || {
            while stopped.recv_timeout(PAUSE) == Err(RecvTimeoutError::Timeout) {
                let Ok(request) = server.renewal(&name) else { return };
                // A server that does not answer may answer the next time.
                match server.client.exchange(request) {
                    Ok(answer) if answer.status == StatusCode::NOT_FOUND => {
                        lost.store(true, Ordering::SeqCst);
                        return;
                    }
                    Ok(_) | Err(_) => {}
                }
            }
        });
        Self { id, is_lost, _stop: stop }
    }

    /// Takes the session for ended by the server.
    #[cfg(test)]
    pub(super) fn lose(&self) {
        self.is_lost.store(true, Ordering::SeqCst);
    }

    /// Whether the server has ended the session.
    pub(super) fn is_lost(&self) -> bool {
        self.is_lost.load(Ordering::SeqCst)
    }
}
