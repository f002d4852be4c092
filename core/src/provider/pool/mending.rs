//! Providers whose process died over a question are replaced by fresh ones, while whoever asked waits.
//! Whoever asks cannot do it: a handle knows no pool. So it leaves a note, and whoever tidies the pool
//! meanwhile does what the note says.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::rc::Rc;
use std::sync::Arc;

use formwork_plugin_protocol::Provider;
use formwork_value::{Diagnostics, Reported};
use tokio::sync::{Notify, oneshot};

use super::{Configured, Pool, about_failure};
use crate::addr::{ProviderAddr, ProviderConfigAddr};
use crate::provider::handle::{About, Handle, answers};

/// Through which provider a handle speaks. All handles for one configuration share it.
pub(in crate::provider) struct Seat {
    provider: RefCell<Arc<dyn Provider>>,
    /// Whether only a provider with that configuration may take it.
    is_configured: bool,
}

impl Seat {
    pub(in crate::provider) fn new(provider: Arc<dyn Provider>, is_configured: bool) -> Rc<Self> {
        Rc::new(Self { provider: RefCell::new(provider), is_configured })
    }

    /// Who has it now.
    pub(in crate::provider) fn provider(&self) -> Arc<dyn Provider> {
        self.provider.borrow().clone()
    }

    fn give_to(&self, provider: &Arc<dyn Provider>) {
        *self.provider.borrow_mut() = provider.clone();
    }
}

/// The notes that nobody has seen to yet.
#[derive(Default)]
pub(in crate::provider) struct Mending {
    /// How many see to notes. Without one there is no use in waiting.
    n_menders: Cell<usize>,
    notes: RefCell<VecDeque<Note>>,
    left: Notify,
}

/// A provider that gave no answer.
struct Note {
    addr: ProviderAddr,
    seat: Rc<Seat>,
    before: Arc<dyn Provider>,
    done: oneshot::Sender<Option<Arc<dyn Provider>>>,
}

impl Mending {
    /// Has a provider looked after that gave no answer. Returns whom to ask next, which is the same one
    /// if it lives; `None` if there is nobody to ask.
    pub(in crate::provider) async fn replace(
        &self,
        addr: &ProviderAddr,
        seat: &Rc<Seat>,
        before: Arc<dyn Provider>,
    ) -> Option<Arc<dyn Provider>> {
        if self.n_menders.get() == 0 {
            return None;
        }
        let (done, replaced) = oneshot::channel();
        let note = Note { addr: addr.clone(), seat: seat.clone(), before, done };
        self.notes.borrow_mut().push_back(note);
        self.left.notify_one();
        replaced.await.ok().flatten()
    }

    async fn next(&self) -> Note {
        loop {
            if let Some(note) = self.notes.borrow_mut().pop_front() {
                return note;
            }
            self.left.notified().await;
        }
    }
}

/// Somebody who sees to notes, as long as this lives.
struct Mender<'m>(&'m Mending);

impl<'m> Mender<'m> {
    fn new(mending: &'m Mending) -> Self {
        mending.n_menders.set(mending.n_menders.get() + 1);
        Self(mending)
    }
}

impl Drop for Mender<'_> {
    fn drop(&mut self) {
        self.0.n_menders.set(self.0.n_menders.get() - 1);
    }
}

impl Pool<'_> {
    /// Sees to notes, for ever.
    pub(super) async fn mend(&self) -> Infallible {
        let mender = Mender::new(&self.calls.mending);
        loop {
            let Note { addr, seat, before, done } = mender.0.next().await;
            let next = self.replacement(&addr, &seat, &before).await;
            // Whoever asked may have given up.
            done.send(next).ok();
        }
    }

    /// Whom to ask instead of a provider that gave no answer.
    async fn replacement(
        &self,
        addr: &ProviderAddr,
        seat: &Rc<Seat>,
        before: &Arc<dyn Provider>,
    ) -> Option<Arc<dyn Provider>> {
        // Of several calls that died with it only the first replaces it.
        let _one = self.reviving.acquire().await;
        if !Arc::ptr_eq(&seat.provider(), before) || answers(before).await {
            return Some(seat.provider());
        }
        // One that ends because it was asked to stop is not to begin anew.
        if self.stopping.is_wanted() {
            return None;
        }
        let next = match self.owner_of(before) {
            Some((name, entry)) => {
                // Why it cannot be replaced matters less than why it has to be.
                self.seat_anew(&mut Diagnostics::new(), &name, &entry).await.ok()?;
                entry.handle.provider()
            }
            None if seat.is_configured => return None,
            None => {
                self.processes.dismiss(before);
                match self.processes.any(addr) {
                    Some(another) => another,
                    None => {
                        let fresh = self.start_again(addr).await.ok()?;
                        self.processes.set_idle(&fresh);
                        fresh
                    }
                }
            }
        };
        seat.give_to(&next);
        Some(next)
    }

    /// Which configuration a provider has.
    fn owner_of(&self, provider: &Arc<dyn Provider>) -> Option<(ProviderConfigAddr, Configured)> {
        let configured = self.configured.borrow();
        let mut all = configured.iter();
        let owner = all.find(|(_, entry)| Arc::ptr_eq(&entry.handle.provider(), provider));
        owner.map(|(addr, entry)| (addr.clone(), entry.clone()))
    }

    /// Replaces the provider of a configuration by a new instance with the same one.
    ///
    /// # Errors
    /// When it cannot be started or configured.
    pub(super) async fn seat_anew(
        &self,
        diags: &mut Diagnostics,
        addr: &ProviderConfigAddr,
        entry: &Configured,
    ) -> Result<(), Reported> {
        let name = addr.to_string();
        let provider = self.start_again(&addr.provider).await.map_err(|failure| {
            diags.error(about_failure(&addr.provider, "start", Some(&name), &failure))
        })?;
        let seat = Seat::new(provider.clone(), true);
        let fresh = Handle::new(entry.handle.loaded().clone(), seat, self.calls.clone());
        let about = About { addr: &name, block: None };
        if let Err(reported) = fresh.configure(diags, &entry.config, about).await {
            self.processes.dismiss(&provider);
            return Err(reported);
        }
        self.processes.dismiss(&entry.handle.provider());
        entry.handle.seat().give_to(&provider);
        Ok(())
    }
}
