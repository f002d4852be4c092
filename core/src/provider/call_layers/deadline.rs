//! Abandons a call when the deadline of its kind has passed.

use formwork_plugin_protocol::Failure;
use formwork_plugin_protocol::provider::{Request, Response};
use futures_util::FutureExt as _;
use futures_util::future::LocalBoxFuture;

use super::CallLayer;
use crate::provider::deadlines::{CallDeadlines, CallKind};

/// Abandons a call at the deadline of its kind.
pub(super) struct DeadlineLayer<'c, L> {
    pub(super) deadlines: &'c CallDeadlines,
    pub(super) inner: L,
}

impl<L: CallLayer> CallLayer for DeadlineLayer<'_, L> {
    fn call(&self, request: Request) -> LocalBoxFuture<'_, Result<Response, Failure>> {
        let kind = CallKind::of(request.method());
        self.deadlines.wait_for_answer(kind, self.inner.call(request)).boxed_local()
    }
}
