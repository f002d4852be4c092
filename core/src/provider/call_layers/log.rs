//! Lists a call as pending, and logs its start and end.

use std::rc::Rc;

use formwork_plugin_protocol::Failure;
use formwork_plugin_protocol::provider::{Request, Response};
use futures_util::FutureExt as _;
use futures_util::future::LocalBoxFuture;

use super::{CallLayer, CallSubject};
use crate::provider::pending_calls::ProviderCalls;

/// Lists a call as pending while it waits, and masks the text of its failure.
pub(super) struct LogLayer<'c, L> {
    pub(super) calls: &'c Rc<ProviderCalls>,
    pub(super) subject: CallSubject<'c>,
    pub(super) inner: L,
}

impl<L: CallLayer> CallLayer for LogLayer<'_, L> {
    fn call(&self, request: Request) -> LocalBoxFuture<'_, Result<Response, Failure>> {
        async move {
            let CallSubject { provider, about } = self.subject;
            let in_progress = self.calls.begin_call(provider, request.method(), Some(about));
            let answer = self.inner.call(request).await;
            // A failure may quote the request, sensitive values included.
            let mask = |text| self.calls.secrets.mask(text);
            in_progress.end_call(answer.map_err(|failure| failure.map_text(mask)))
        }
        .boxed_local()
    }
}
