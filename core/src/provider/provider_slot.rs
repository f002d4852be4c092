//! The provider that the clients of one configuration call. A restarted one takes its place.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use formwork_plugin_protocol::Provider;

/// Holds the provider that a client calls. All clients of one configuration share the slot.
pub(super) struct ProviderSlot {
    provider: RefCell<Arc<dyn Provider>>,
    /// Whether only a provider with that configuration may take it.
    pub(super) is_configured: bool,
}

impl ProviderSlot {
    /// Makes a slot for the clients of one configuration, or of none.
    pub(super) fn new(provider: Arc<dyn Provider>, is_configured: bool) -> Rc<Self> {
        Rc::new(Self { provider: RefCell::new(provider), is_configured })
    }

    /// Current provider of the slot.
    pub(super) fn current_provider(&self) -> Arc<dyn Provider> {
        self.provider.borrow().clone()
    }

    /// Has another provider answer the next calls.
    pub(super) fn replace_provider(&self, provider: &Arc<dyn Provider>) {
        *self.provider.borrow_mut() = provider.clone();
    }
}
