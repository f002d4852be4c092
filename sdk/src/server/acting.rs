//! The calls of actions and list resources, whose answers come one after the other.

use formwork_plugin_protocol::capability::ClientCapabilities;
use formwork_plugin_protocol::message::ProviderDiagnostic;
use formwork_plugin_protocol::message::action::{ActionEvent, ActionRequest};
use formwork_plugin_protocol::message::configure::ValidateRequest;
use formwork_plugin_protocol::message::list::{ListEvent, ListRequest, ValidateListRequest};
use formwork_plugin_protocol::{Failure, Payload};
use formwork_value::Diagnostics;
use futures_util::future::BoxFuture;
use futures_util::stream::{self, BoxStream};
use futures_util::{FutureExt as _, StreamExt as _};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::{Server, caught, check, identity, reports, settled};
use crate::action::Progress;
use crate::erased::{AnyList, Wanted};
use crate::schema::Shape;
use crate::{Answer, plan};

impl Server {
    pub(super) fn validate_action(
        &self,
        diags: &mut Diagnostics,
        request: &ValidateRequest,
    ) -> Answer<()> {
        let action = self.action(diags, &request.type_name)?;
        let config = check::decoded(diags, action.shape(), &request.config)?;
        check::config(diags, action.shape(), &config, request.client)?;
        action.validate(diags, &config)
    }

    pub(super) async fn action_planned(
        &self,
        diags: &mut Diagnostics,
        request: &ActionRequest,
    ) -> Answer<()> {
        let action = self.action(diags, &request.type_name)?;
        let config = check::decoded(diags, action.shape(), &request.config)?;
        action.plan(diags, &plan::with_defaults(action.shape(), &config)).await
    }

    /// What happens while an action goes, and how it ends.
    pub(super) fn invoked(
        &self,
        request: ActionRequest,
    ) -> BoxStream<'static, Result<ActionEvent, Failure>> {
        let mut diags = Diagnostics::new();
        let action = self.action(&mut diags, &request.type_name);
        let Ok(action) = action else {
            return stream::iter([Ok(ActionEvent::Completed(reports(diags)))]).boxed();
        };
        let (told, progress) = unbounded_channel();
        let stop = self.stop.clone();
        let work = async move {
            let done = async {
                let config = check::decoded(&mut diags, action.shape(), &request.config)?;
                let config = plan::with_defaults(action.shape(), &config).into_owned();
                action.invoke(&mut diags, &config, Progress(told), stop).await
            };
            let done = caught(done).await;
            settled(&mut diags, done);
            reports(diags)
        };
        let running = Running { progress, work: Some(work.boxed()) };
        stream::unfold(running, Running::next).boxed()
    }

    pub(super) fn validate_list(
        &self,
        diags: &mut Diagnostics,
        request: &ValidateListRequest,
    ) -> Answer<()> {
        let list = self.list_type(diags, &request.type_name)?;
        let config = check::decoded(diags, list.shape(), &request.config)?;
        check::config(diags, list.shape(), &config, request.client)?;
        list.validate(diags, &config)
    }

    pub(super) async fn listed(
        &self,
        diags: &mut Diagnostics,
        request: &ListRequest,
    ) -> Answer<Vec<ListEvent>> {
        let list = self.list_type(diags, &request.type_name)?;
        let config = check::decoded(diags, list.shape(), &request.config)?;
        let allowed =
            ClientCapabilities { write_only_attributes_allowed: true, ..Default::default() };
        check::config(diags, list.shape(), &config, allowed)?;
        let wanted = Wanted {
            config: plan::with_defaults(list.shape(), &config).into_owned(),
            // Protocol: no limit is sent as zero.
            limit: usize::try_from(request.limit)
                .ok()
                .filter(|limit| *limit > 0)
                .unwrap_or(usize::MAX),
            whole: request.include_object,
            stop: self.stop.clone(),
        };
        let found = list.list(diags, wanted).await?;
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
