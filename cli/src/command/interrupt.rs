//! What Ctrl-C does: the first stops gracefully, the second at once.

use std::cell::Cell;
use std::future::Future;

use formwork_core::provider::Pool;
use tokio::signal::unix::{SignalKind, signal};

use super::operation::Prepared;
use crate::view;

const FIRST: &str = "\nInterrupt received.\nPlease wait for Formwork to exit or data loss may occur.\nGracefully shutting down...\n\n";
const SECOND: &str = "\nTwo interrupts received. Exiting immediately. What was under way is in the journal; the next command says what became of it.\n";

/// Whether the user wants nothing new to start.
#[derive(Debug, Default)]
pub(super) struct Interrupt {
    came: Cell<bool>,
}

impl Interrupt {
    /// Set once the user wants nothing new to start.
    pub(super) fn flag(&self) -> &Cell<bool> {
        &self.came
    }

    fn come(&self) {
        self.came.set(true);
    }
}

/// Does the work until it ends. After one signal nothing new is started and the providers are asked
/// to cut short what they do; after a second one they are killed and the work is dropped: `None`.
pub(super) async fn guarded<T>(
    work: impl Future<Output = T>,
    (pool, prepared): (&Pool<'_>, &Prepared<'_>),
    interrupt: &Interrupt,
) -> Option<T> {
    tokio::pin!(work);
    let Ok(mut signals) = Signals::listen() else { return Some(work.await) };
    tokio::select! {
        result = &mut work => return Some(result),
        () = signals.next() => {}
    }
    view::err(FIRST);
    interrupt.come();
    prepared.provisioners.stop();
    let mut stopping = std::pin::pin!(pool.stop());
    let mut stopped = false;
    loop {
        tokio::select! {
            result = &mut work => return Some(result),
            () = &mut stopping, if !stopped => stopped = true,
            () = signals.next() => break,
        }
    }
    view::err(SECOND);
    prepared.launcher.kill();
    None
}

/// The signals that mean the same: Ctrl-C, a polite kill, a terminal that goes away.
pub(super) struct Signals(Vec<tokio::signal::unix::Signal>);

impl Signals {
    pub(super) fn listen() -> std::io::Result<Self> {
        let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
        kinds.into_iter().map(signal).collect::<Result<_, _>>().map(Self)
    }

    pub(super) async fn next(&mut self) {
        let [interrupt, terminate, hangup] = &mut self.0[..] else { return };
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
    }
}
