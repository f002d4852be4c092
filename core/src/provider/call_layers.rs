//! The layers over the single `call` method of a running provider. Each layer applies to every call of
//! any method, so that no caller can omit it. This module defines their order.
//!
//! They do not implement [`Provider`], which must be thread-safe: the tables of the engine belong to one
//! task and have no locks.

mod deadline;
mod interrupt;
mod log;
mod retry;
mod whole_list;

use std::fmt::Display;
use std::rc::Rc;
use std::sync::Arc;

use formwork_plugin_protocol::provider::{Request, Response};
use formwork_plugin_protocol::{Failure, Provider};
use futures_util::future::LocalBoxFuture;

use self::deadline::DeadlineLayer;
use self::interrupt::InterruptLayer;
use self::log::LogLayer;
use self::retry::RetryLayer;
pub(super) use self::whole_list::MAX_LISTED_OBJECTS;
use self::whole_list::WholeListLayer;
use super::pending_calls::ProviderCalls;
use super::provider_slot::ProviderSlot;
use crate::addr::ProviderAddr;

/// A layer over the calls of a provider, on one task.
pub(super) trait CallLayer {
    /// Makes a call. The response has the method of the request.
    fn call(&self, request: Request) -> LocalBoxFuture<'_, Result<Response, Failure>>;
}

/// Subject of a call, for the log, the list of pending calls and warnings.
#[derive(Clone, Copy)]
pub(super) struct CallSubject<'c> {
    /// The provider.
    pub(super) provider: &'c ProviderAddr,
    /// The address of the subject of the call.
    pub(super) about: &'c dyn Display,
}

/// All layers over the calls of a client, the outermost first: retry, then those of each attempt.
/// `answering` returns the provider that responds instead of a running one, such as its mock.
pub(super) fn client_layers<'c>(
    calls: &'c Rc<ProviderCalls>,
    subject: CallSubject<'c>,
    slot: &'c Rc<ProviderSlot>,
    answering: impl Fn(Arc<dyn Provider>) -> Arc<dyn Provider> + 'c,
) -> impl CallLayer + 'c {
    // The outermost layer, so that each attempt has its own log line and time.
    let attempt = move |provider| attempt_layers(calls, subject, answering(provider));
    RetryLayer { calls, subject, slot, attempt }
}

/// The layers over the calls of one process, the outermost first: log, interrupt, and the layers of a
/// starting process.
pub(super) fn attempt_layers<'c>(
    calls: &'c Rc<ProviderCalls>,
    subject: CallSubject<'c>,
    provider: Arc<dyn Provider>,
) -> impl CallLayer + 'c {
    // The log is outside of the timeouts, so that it also contains abandoned calls.
    let inner = InterruptLayer { calls, inner: start_layers(calls, provider) };
    LogLayer { calls, subject, inner }
}

/// The layers over the calls to a starting process, the outermost first: deadline, whole list. The pool
/// logs and interrupts the start as a whole.
pub(super) fn start_layers(
    calls: &ProviderCalls,
    provider: Arc<dyn Provider>,
) -> impl CallLayer + '_ {
    // A deadline applies up to the last message of a streamed response.
    DeadlineLayer { deadlines: &calls.deadlines, inner: WholeListLayer { provider } }
}

#[cfg(test)]
mod tests;
