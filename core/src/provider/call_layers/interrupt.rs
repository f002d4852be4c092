//! Abandons a read-only call some time after an interrupt.

use std::pin::pin;

use formwork_plugin_protocol::Failure;
use formwork_plugin_protocol::provider::{Request, Response};
use futures_util::FutureExt as _;
use futures_util::future::{Either, LocalBoxFuture, select};

use super::CallLayer;
use crate::provider::deadlines::CallKind;
use crate::provider::pending_calls::ProviderCalls;

/// Abandons a read-only call some time after an interrupt.
pub(super) struct InterruptLayer<'c, L> {
    pub(super) calls: &'c ProviderCalls,
    pub(super) inner: L,
}

impl<L: CallLayer> CallLayer for InterruptLayer<'_, L> {
    fn call(&self, request: Request) -> LocalBoxFuture<'_, Result<Response, Failure>> {
        async move {
            let given_up = pin!(self.calls.wait_until_interrupted(CallKind::of(request.method())));
            // Polled in this order, so that a response that has arrived takes precedence over the
            // interrupt.
            match select(self.inner.call(request), given_up).await {
                Either::Left((answer, _)) => answer,
                Either::Right((reason, _)) => Err(Failure::GivenUp(reason)),
            }
        }
        .boxed_local()
    }
}
