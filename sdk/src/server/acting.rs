//! The calls of actions and list resources, whose answers come one after the other.

use bytes::Bytes;
use formwork_plugin_protocol::capability::ClientCapabilities;
use formwork_plugin_protocol::message::action::{ActionEvent, ActionRequest};
use formwork_plugin_protocol::message::configure::ValidateRequest;
use formwork_plugin_protocol::message::list::{ListEvent, ListRequest, ValidateListRequest};
use formwork_plugin_protocol::message::{DeferredReason, ProviderDiagnostic};
use formwork_plugin_protocol::{Failure, Payload};
use futures_util::future::BoxFuture;
use futures_util::stream::{self, BoxStream};
use futures_util::{FutureExt as _, StreamExt as _};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::{Server, check, identity};
use crate::action::Progress;
use crate::call::Call;
use crate::erased::{AnyList, Wanted};
use crate::schema::Shape;
use crate::{Answer, plan};

impl Server {
    pub(super) fn validate_action(&self, call: &Call, request: &ValidateRequest) -> Answer<()> {
        let action = self.action(&request.type_name)?;
        let config = check::config(call, action.shape(), &request.config, request.client)?;
        action.validate(&config, call.clone())
    }

    pub(super) async fn action_planned(
        &self,
        call: &Call,
        request: &ActionRequest,
    ) -> Answer<Option<DeferredReason>> {
        let action = self.action(&request.type_name)?;
        let config = check::decoded(action.shape(), &request.config)?;
        let context = self.context(call, &Bytes::new(), &Payload::Absent, request.client)?;
        let config = plan::with_defaults(action.shape(), &config);
        action.plan(&config, context.clone()).await?;
        Ok(context.deferral.take())
    }

    /// What happens while an action goes, and how it ends.
    pub(super) fn invoked(
        &self,
        request: ActionRequest,
    ) -> BoxStream<'static, Result<ActionEvent, Failure>> {
        let call = self.call(&format!("invoke action.{}", request.type_name));
        let action = self.action(&request.type_name);
        let (told, progress) = unbounded_channel();
        let work = async move {
            let done = async {
                let action = action?;
                let config = check::decoded(action.shape(), &request.config)?;
                let config = plan::with_defaults(action.shape(), &config).into_owned();
                let call = call.lasting_as(&config, "invoke");
                action.invoke(&config, Progress(told), call).await
            };
            call.settled(done).await.1
        };
        let running = Running { progress, work: Some(work.boxed()) };
        stream::unfold(running, Running::next).boxed()
    }

    pub(super) fn validate_list(&self, call: &Call, request: &ValidateListRequest) -> Answer<()> {
        let list = self.list_type(&request.type_name)?;
        let config = check::config(call, list.shape(), &request.config, request.client)?;
        list.validate(&config, call.clone())
    }

    pub(super) async fn listed(
        &self,
        call: &Call,
        request: &ListRequest,
    ) -> Answer<Vec<ListEvent>> {
        let list = self.list_type(&request.type_name)?;
        let allowed =
            ClientCapabilities { write_only_attributes_allowed: true, ..Default::default() };
        let config = check::config(call, list.shape(), &request.config, allowed)?;
        if call.has_failed() {
            return Ok(Vec::new());
        }
        let wanted = Wanted {
            config: plan::with_defaults(list.shape(), &config).into_owned(),
            // Protocol: no limit is sent as zero.
            limit: usize::try_from(request.limit)
                .ok()
                .filter(|limit| *limit > 0)
                .unwrap_or(usize::MAX),
            whole: request.include_object,
        };
        let found = call.unless_stopped(list.list(wanted, call.clone())).await?;
        Ok(found.into_iter().map(|one| event(list, one, request.include_object)).collect())
    }
}

fn event(
    list: &dyn AnyList,
    (display_name, object): (String, formwork_value::Value),
    whole: bool,
) -> ListEvent {
    let shape: &Shape = list.objects();
    let object: Payload = check::encoded(shape, &plan::settled(&object));
    let identity = identity::of(shape, &object);
    ListEvent { identity, display_name, object: whole.then_some(object), diagnostics: Vec::new() }
}

/// An action under way.
struct Running {
    progress: UnboundedReceiver<String>,
    /// Gone once it has ended.
    work: Option<BoxFuture<'static, Vec<ProviderDiagnostic>>>,
}

impl Running {
    /// The next thing that happens; what was told before the end comes before it.
    async fn next(mut self) -> Option<(Result<ActionEvent, Failure>, Self)> {
        let work = self.work.as_mut()?;
        let event = tokio::select! {
            biased;
            Some(text) = self.progress.recv() => ActionEvent::Progress(text),
            diagnostics = work => {
                self.work = None;
                let Ok(text) = self.progress.try_recv() else {
                    return Some((Ok(ActionEvent::Completed(diagnostics)), self));
                };
                self.work = Some(std::future::ready(diagnostics).boxed());
                ActionEvent::Progress(text)
            }
        };
        Some((Ok(event), self))
    }
}

#[cfg(test)]
mod tests;
