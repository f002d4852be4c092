//! Receives a list to its end, so that the outer layers observe its result and duration.

use std::sync::Arc;

use formwork_plugin_protocol::message::list::ListEvent;
use formwork_plugin_protocol::provider::{Request, Response, StreamedResponse};
use formwork_plugin_protocol::{Failure, Provider};
use formwork_value::diag::Severity;
use futures_util::future::LocalBoxFuture;
use futures_util::{FutureExt as _, StreamExt as _, stream};

use super::CallLayer;

/// Maximum number of listed objects. With more, a match might not be the only one.
pub(in crate::provider) const MAX_LISTED_OBJECTS: usize = 10_000;

/// Forwards calls to a provider, and receives its lists to the end.
pub(super) struct WholeListLayer {
    pub(super) provider: Arc<dyn Provider>,
}

impl CallLayer for WholeListLayer {
    fn call(&self, request: Request) -> LocalBoxFuture<'_, Result<Response, Failure>> {
        async move {
            match self.provider.call(request).await? {
                Response::ListResource(events) => {
                    receive_list(events).await.map(Response::ListResource)
                }
                answer => Ok(answer),
            }
        }
        .boxed_local()
    }
}

/// Receives a list up to its end, its first error or the maximum number of objects.
async fn receive_list(
    mut events: StreamedResponse<ListEvent>,
) -> Result<StreamedResponse<ListEvent>, Failure> {
    let mut received = Vec::new();
    while let Some(event) = events.next().await {
        let event = event?;
        let failed =
            event.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
        received.push(Ok(event));
        if failed || received.len() >= MAX_LISTED_OBJECTS {
            break;
        }
    }
    Ok(stream::iter(received).boxed())
}
