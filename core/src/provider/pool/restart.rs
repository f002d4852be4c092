//! Replaces providers whose process died during a read-only call, while the caller waits. The
//! caller cannot do it: a handle knows no pool. So it leaves a note, and the task that tidies the
//! pool meanwhile follows the note.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::rc::Rc;
use std::sync::Arc;

use formwork_plugin_protocol::Provider;
use formwork_value::{Diagnostics, Reported};
use futures_util::StreamExt as _;
use futures_util::stream::unfold;
use tokio::sync::{Notify, oneshot};

use super::processes::Processes;
use super::stopping::StartPurpose;
use super::{Configured, Pool};
use crate::addr::{ProviderAddr, ProviderConfigAddr};
use crate::provider::client::{CallContext, ProviderClient, answers};

/// Through which provider a handle speaks. All handles for one configuration share it.
pub(in crate::provider) struct ProviderSlot {
    provider: RefCell<Arc<dyn Provider>>,
    /// Whether only a provider with that configuration may take it.
    is_configured: bool,
}

impl ProviderSlot {
    pub(in crate::provider) fn new(provider: Arc<dyn Provider>, is_configured: bool) -> Rc<Self> {
        Rc::new(Self { provider: RefCell::new(provider), is_configured })
    }

    /// Provider that has the seat now.
    pub(in crate::provider) fn provider(&self) -> Arc<dyn Provider> {
        self.provider.borrow().clone()
    }

    fn give_to(&self, provider: &Arc<dyn Provider>) {
        *self.provider.borrow_mut() = provider.clone();
    }
}

/// Notes that are still to be handled.
#[derive(Default)]
pub(in crate::provider) struct Mending {
    /// Number of tasks that handle notes. Without one there is no use in waiting.
    n_menders: Cell<usize>,
    notes: RefCell<VecDeque<RestartRequest>>,
    left: Notify,
}

/// A provider that gave no answer.
struct RestartRequest {
    addr: ProviderAddr,
    seat: Rc<ProviderSlot>,
    before: Arc<dyn Provider>,
    done: oneshot::Sender<Option<Arc<dyn Provider>>>,
}

impl Mending {
    /// Checks a provider that gave no answer. Returns the provider to ask next, which is the same
    /// one if it lives; `None` if there is none to ask.
    pub(in crate::provider) async fn replace(
        &self,
        addr: &ProviderAddr,
        seat: &Rc<ProviderSlot>,
        before: Arc<dyn Provider>,
    ) -> Option<Arc<dyn Provider>> {
        if self.n_menders.get() == 0 {
            return None;
        }
        let (done, replaced) = oneshot::channel();
        let note = RestartRequest { addr: addr.clone(), seat: seat.clone(), before, done };
        self.notes.borrow_mut().push_back(note);
        self.left.notify_one();
        replaced.await.ok().flatten()
    }

    async fn next(&self) -> RestartRequest {
        loop {
            if let Some(note) = self.notes.borrow_mut().pop_front() {
                return note;
            }
            self.left.notified().await;
        }
    }
}

/// A task that handles notes, as long as this lives.
pub(super) struct RestartWorker<'m>(&'m Mending);

impl<'m> RestartWorker<'m> {
    pub(super) fn new(mending: &'m Mending) -> Self {
        mending.n_menders.set(mending.n_menders.get() + 1);
        Self(mending)
    }
}

impl Drop for RestartWorker<'_> {
    fn drop(&mut self) {
        self.0.n_menders.set(self.0.n_menders.get() - 1);
    }
}

/// A task finds out through a provider the effect of a change.
pub struct Evidence<'p> {
    processes: &'p Processes,
    provider: Arc<dyn Provider>,
}

impl Drop for Evidence<'_> {
    fn drop(&mut self) {
        self.processes.end_evidence(&self.provider);
    }
}

impl Pool<'_> {
    /// Handles notes, for ever: each by itself, so that a provider that takes long to start does
    /// not delay callers of another.
    pub(super) async fn mend(&self, mender: RestartWorker<'_>) -> Infallible {
        let notes =
            unfold(mender.0, |mending| async move { Some((mending.next().await, mending)) });
        notes.for_each_concurrent(None, |note| self.see_to(note)).await;
        // There is always one more to wait for.
        std::future::pending().await
    }

    async fn see_to(&self, note: RestartRequest) {
        let RestartRequest { addr, seat, before, done } = note;
        let next = self.replaced(&addr, &seat, &before, StartPurpose::Work).await;
        // A call that was cut short must not begin again.
        let next = next.filter(|_| !self.stopping.forbids(StartPurpose::Work));
        drop((seat, before));
        // The caller may have given up.
        done.send(next).ok();
        self.processes.look_again();
    }

    /// Finds a provider for a handle after a change through it brought no answer: the same provider
    /// if it lives and was not asked to stop, else a new one with the same configuration. `None` if
    /// there is none. As long as the returned value lives, an interrupt leaves that provider alone.
    pub async fn revive(&self, handle: &ProviderClient) -> Option<Evidence<'_>> {
        let (seat, before) = (handle.seat(), handle.provider());
        let provider = self.replaced(handle.addr(), seat, &before, StartPurpose::Evidence).await?;
        self.processes.begin_evidence(&provider);
        Some(Evidence { processes: &self.processes, provider })
    }

    /// Finds the provider to ask instead of one that gave no answer. Why it cannot be replaced
    /// matters less than why it has to be.
    async fn replaced(
        &self,
        addr: &ProviderAddr,
        seat: &Rc<ProviderSlot>,
        before: &Arc<dyn Provider>,
        purpose: StartPurpose,
    ) -> Option<Arc<dyn Provider>> {
        // Of several calls that died with it only the first replaces it.
        let turn = self.processes.turn_at(before);
        let _one = match &turn {
            Some(turn) => turn.acquire().await.ok(),
            None => None,
        };
        if !Arc::ptr_eq(&seat.provider(), before) {
            return Some(seat.provider());
        }
        let refuses = purpose == StartPurpose::Evidence && self.processes.was_stopped(before);
        if !refuses && answers(before).await {
            return Some(seat.provider());
        }
        self.processes.dismiss(before);
        if self.owner_of(before).is_none() {
            if seat.is_configured {
                return None;
            }
            if let Some(another) = self.processes.any(addr) {
                seat.give_to(&another);
                return Some(another);
            }
        }
        let fresh = self.start_again(addr, purpose).await.ok()?;
        match self.configure_like(before, &fresh).await {
            Ok(is_configured) if is_configured || !seat.is_configured => {
                seat.give_to(&fresh);
                Some(fresh)
            }
            Ok(_) => None,
            Err(_) => {
                self.processes.dismiss(&fresh);
                None
            }
        }
    }

    /// Has a fresh provider take the place of another. Returns whether it is configured: the
    /// configuration may have been let go while it started.
    ///
    /// # Errors
    /// When it does not accept the configuration.
    async fn configure_like(
        &self,
        before: &Arc<dyn Provider>,
        fresh: &Arc<dyn Provider>,
    ) -> Result<bool, Reported> {
        let Some((name, entry)) = self.owner_of(before) else {
            self.processes.set_idle(fresh);
            return Ok(false);
        };
        let seat = ProviderSlot::new(fresh.clone(), true);
        let handle = ProviderClient::new(entry.handle.loaded().clone(), seat, self.calls.clone());
        let about = CallContext { addr: &name, block: None };
        handle.configure(&mut Diagnostics::new(), &entry.config, about).await?;
        match self.owner_of(before) {
            Some((_, entry)) => entry.handle.seat().give_to(fresh),
            // No other user releases it any more, so it ends with its caller.
            None => self.processes.dismiss(fresh),
        }
        Ok(true)
    }

    /// Returns the configuration that a provider has.
    fn owner_of(&self, provider: &Arc<dyn Provider>) -> Option<(ProviderConfigAddr, Configured)> {
        let configured = self.configured.borrow();
        let mut all = configured.iter();
        let owner = all.find(|(_, entry)| Arc::ptr_eq(&entry.handle.provider(), provider));
        owner.map(|(addr, entry)| (addr.clone(), entry.clone()))
    }
}
