//! The layers over the one call of a running provider. Each does one thing to every call, whatever
//! its method, so that no place that makes a call can leave it out. Their order is written here.
//!
//! They do not implement [`Provider`], which has to be fit for several threads: the tables of the
//! engine are on one task, and have no locks.

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
    /// Makes a call. The response is the one of the request's method.
    fn call(&self, request: Request) -> LocalBoxFuture<'_, Result<Response, Failure>>;
}

/// Subject of a call, for the log, the list of pending calls and warnings.
#[derive(Clone, Copy)]
pub(super) struct CallSubject<'c> {
    /// The provider.
    pub(super) provider: &'c ProviderAddr,
    /// The address that the call is about.
    pub(super) about: &'c dyn Display,
}

/// All layers over the calls of a client, the outermost first: retry, then those of each attempt.
/// `answering` returns the provider that answers in place of a running one, such as its mock.
pub(super) fn client_layers<'c>(
    calls: &'c Rc<ProviderCalls>,
    subject: CallSubject<'c>,
    slot: &'c Rc<ProviderSlot>,
    answering: impl Fn(Arc<dyn Provider>) -> Arc<dyn Provider> + 'c,
) -> impl CallLayer + 'c {
    // Outside of everything else, so that each attempt has a line in the log and a time of its own.
    let attempt = move |provider| attempt_layers(calls, subject, answering(provider));
    RetryLayer { calls, subject, slot, attempt }
}

/// The layers over the calls of one process, the outermost first: log, interrupt, and those of a
/// process that is being started.
pub(super) fn attempt_layers<'c>(
    calls: &'c Rc<ProviderCalls>,
    subject: CallSubject<'c>,
    provider: Arc<dyn Provider>,
) -> impl CallLayer + 'c {
    // The log is outside of the times, so that it has a call that was given up, too.
    let inner = InterruptLayer { calls, inner: start_layers(calls, provider) };
    LogLayer { calls, subject, inner }
}

/// The layers over the calls to a process that is being started, the outermost first: deadline,
/// whole list. The pool has a line in the log and an interrupt for the start as a whole.
pub(super) fn start_layers(
    calls: &ProviderCalls,
    provider: Arc<dyn Provider>,
) -> impl CallLayer + '_ {
    // A deadline counts to the last piece of an answer that streams.
    DeadlineLayer { deadlines: &calls.deadlines, inner: WholeListLayer { provider } }
}

#[cfg(test)]
mod tests;
