//! A session that holds a lock. A thread of its own renews it while the engine is busy.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use ureq::http::StatusCode;

use super::server::ConsulServer;

/// The timing of a session.
#[derive(Clone, Copy, Debug)]
pub(super) struct SessionTimes {
    /// The server may end a session that has not been renewed for this time.
    pub(super) ttl: Duration,
    /// The pause after a renewal.
    pub(super) pause: Duration,
    /// The pause after a renewal that failed.
    pub(super) retry: Duration,
    /// Timeout of one renewal.
    pub(super) limit: Duration,
}

/// The timing of sessions with the requested TTL: one renewal may be lost, and another attempt
/// follows soon.
pub(super) const SESSION_TIMES: SessionTimes = SessionTimes {
    ttl: Duration::from_secs(15),
    pause: Duration::from_secs(7),
    retry: Duration::from_secs(1),
    limit: Duration::from_secs(3),
};

/// A session. It is not renewed any more once it is dropped.
pub(super) struct ConsulSession {
    /// Its id.
    pub(super) id: String,
    ttl: Duration,
    status: Arc<SessionStatus>,
    _stop: Sender<()>,
}

/// The known status of the session.
struct SessionStatus {
    /// The start of the last renewal that succeeded.
    renewed: Mutex<Instant>,
    /// Whether the server reported that the session has ended.
    has_ended: AtomicBool,
}

impl SessionStatus {
    fn last_renewal(&self) -> Instant {
        // An instant is written in one step, so a panic under the lock cannot have damaged it.
        *self.renewed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set_renewed(&self, time: Instant) {
        *self.renewed.lock().unwrap_or_else(PoisonError::into_inner) = time;
    }
}

impl ConsulSession {
    /// Keeps a session alive that was created at a given time.
    ///
    /// # Errors
    /// Returns an error if the system cannot create a thread.
    pub(super) fn keep_alive(
        server: ConsulServer,
        id: String,
        began: Instant,
        times: SessionTimes,
    ) -> io::Result<Self> {
        let (stop, stopped) = channel::<()>();
        let session_status =
            SessionStatus { renewed: Mutex::new(began), has_ended: AtomicBool::new(false) };
        let session_status = Arc::new(session_status);
        let (shared_status, name) = (Arc::clone(&session_status), id.clone());
        let renewal = std::thread::Builder::new().name("consul session".to_owned());
        renewal.spawn(move || {
            let client = server.client.clone().with_time_limit(times.limit);
            let mut pause = times.pause;
            // Dropping the session closes the channel, which ends the wait immediately.
            while stopped.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                let Ok(request) = server.renewal_request(&name) else { return };
                let began = Instant::now();
                // An unresponsive server may respond the next time, even after the TTL, because it
                // ends sessions late.
                pause = match client.send_blocking(request) {
                    Ok(answer) if answer.status == StatusCode::NOT_FOUND => {
                        shared_status.has_ended.store(true, Ordering::SeqCst);
                        return;
                    }
                    Ok(answer) if answer.status == StatusCode::OK => {
                        // The time before the request, because the server may count from its
                        // arrival.
                        shared_status.set_renewed(began);
                        times.pause
                    }
                    Ok(answer) => {
                        tracing::warn!(status = %answer.status, "the lock could not be renewed");
                        times.retry
                    }
                    Err(error) => {
                        tracing::warn!(%error, "the lock could not be renewed");
                        times.retry
                    }
                };
            }
        })?;
        Ok(Self { id, ttl: times.ttl, status: session_status, _stop: stop })
    }

    /// Simulates a session that the server has ended.
    #[cfg(test)]
    pub(super) fn mark_ended_by_server(&self) {
        self.status.has_ended.store(true, Ordering::SeqCst);
    }

    /// Simulates a session that was not renewed for a time.
    #[cfg(test)]
    pub(super) fn pretend_unrenewed_for(&self, duration: Duration) {
        let time = self.status.last_renewal().checked_sub(duration).unwrap_or_else(Instant::now);
        self.status.set_renewed(time);
    }

    /// Whether the server has ended the session.
    pub(super) fn has_ended(&self) -> bool {
        self.status.has_ended.load(Ordering::SeqCst)
    }

    /// Whether the server has ended the session, or may have ended it because no renewal has
    /// succeeded for its TTL.
    pub(super) fn may_have_ended(&self) -> bool {
        self.has_ended() || self.status.last_renewal().elapsed() > self.ttl
    }
}
