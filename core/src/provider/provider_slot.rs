//! The provider that the clients of one configuration call. A restart replaces it.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use formwork_plugin_protocol::Provider;

/// Holds the provider that a client calls. All clients of one configuration share the slot.
pub(super) struct ProviderSlot {
    provider: RefCell<Arc<dyn Provider>>,
    /// Whether only a provider with that configuration may occupy the slot.
    pub(super) is_configured: bool,
}

impl ProviderSlot {
    /// Creates a slot for the clients of one configuration, or without one.
    pub(super) fn new(provider: Arc<dyn Provider>, is_configured: bool) -> Rc<Self> {
        Rc::new(Self { provider: RefCell::new(provider), is_configured })
    }

    /// Returns the current provider of the slot.
    pub(super) fn current_provider(&self) -> Arc<dyn Provider> {
        self.provider.borrow().clone()
    }

    /// Replaces the provider for later calls.
    pub(super) fn replace_provider(&self, provider: &Arc<dyn Provider>) {
        *self.provider.borrow_mut() = provider.clone();
    }
}
