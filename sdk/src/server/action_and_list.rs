//! Calls of actions and list resources, whose answers are streams.

use std::sync::Arc;

use bytes::Bytes;
use formwork_plugin_protocol::capability::ClientCapabilities;
use formwork_plugin_protocol::message::ProviderDiagnostic;
use formwork_plugin_protocol::message::action::{ActionEvent, ActionRequest};
use formwork_plugin_protocol::message::configure::ValidateRequest;
use formwork_plugin_protocol::message::list::{ListEvent, ListRequest, ValidateListRequest};
use formwork_plugin_protocol::{Failure, Payload};
use formwork_value::Value;
use futures_util::future::{BoxFuture, ready};
use futures_util::stream::{self, BoxStream, poll_fn};
use futures_util::{FutureExt as _, Stream, StreamExt as _};
use tokio::sync::mpsc::{channel, unbounded_channel};

use super::{Server, decode_and_check, identity, unsupported_type_problem};
use crate::action::Progress;
use crate::call::Call;
use crate::erased::{AnyAction, AnyList, ListQuery};
use crate::list::FoundObject;
use crate::schema::Shape;
use crate::{Answer, Problem, plan};

impl Server {
    fn find_action(&self, name: &str) -> Answer<Arc<dyn AnyAction>> {
        match self.provider.actions.get(name) {
            Some(action) => Ok(action.clone()),
            None => Err(unsupported_type_problem("action type", name)),
        }
    }

    fn find_list_resource(&self, name: &str) -> Answer<Arc<dyn AnyList>> {
        match self.provider.lists.get(name) {
            Some(list) => Ok(list.clone()),
            None => Err(unsupported_type_problem("list resource type", name)),
        }
    }

    pub(super) fn handle_validate_action(
        &self,
        call: &Call,
        request: &ValidateRequest,
    ) -> Answer<()> {
        let action = self.find_action(&request.type_name)?;
        let config = decode_and_check::decode_and_check_config(
            call,
            action.shape(),
            &request.config,
            request.client,
        )?;
        action.validate(&config, call.clone())
    }

    pub(super) async fn handle_plan_action(
        &self,
        call: &Call,
        request: &ActionRequest,
    ) -> Answer<()> {
        let action = self.find_action(&request.type_name)?;
        let config = decode_and_check::decode_value(action.shape(), &request.config)?;
        let context = self.new_context(call, &Bytes::new(), &Payload::Absent, request.client)?;
        let config = plan::config_with_defaults(action.shape(), &config);
        action.plan(&config, context).await
    }

    /// Progress of an action, and its end.
    pub(super) fn handle_invoke_action(
        &self,
        request: ActionRequest,
    ) -> BoxStream<'static, Result<ActionEvent, Failure>> {
        let call = self.new_call("invoke action.", &request.type_name);
        let action = self.find_action(&request.type_name);
        // Unbounded, because a handler must not wait for the host only to report progress.
        let (messages, mut progress) = unbounded_channel();
        let work = async move {
            let outcome = async {
                let action = action?;
                let config = decode_and_check::decode_value(action.shape(), &request.config)?;
                let config = plan::config_with_defaults(action.shape(), &config).into_owned();
                let call = call.with_configured_timeout(&config, "invoke");
                action.invoke(&config, Progress(messages), call).await
            };
            call.collect_answer(outcome).await.1
        };
        let events = stream_messages_until_end(
            poll_fn(move |context| progress.poll_recv(context)),
            work.boxed(),
        );
        let event = |step| match step {
            MessageOrEnd::Message(text) => ActionEvent::Progress(text),
            MessageOrEnd::Ended(diagnostics) => ActionEvent::Completed(diagnostics),
        };
        events.map(move |step| Ok(event(step))).boxed()
    }

    pub(super) fn handle_validate_list(
        &self,
        call: &Call,
        request: &ValidateListRequest,
    ) -> Answer<()> {
        let list = self.find_list_resource(&request.type_name)?;
        let config = decode_and_check::decode_and_check_config(
            call,
            list.shape(),
            &request.config,
            request.client,
        )?;
        list.validate(&config, call.clone())
    }

    /// The objects of a list, each on request of the host. The handler continues only on request,
    /// so that no object is read without use.
    pub(super) fn handle_list_objects(
        &self,
        request: ListRequest,
    ) -> BoxStream<'static, Result<ListEvent, Failure>> {
        let call = self.new_call("list ", &request.type_name);
        let list = self.find_list_resource(&request.type_name);
        // Protocol 6: `ListResource.Request.limit` is zero for no limit.
        // A negative limit counts as none.
        let limit = usize::try_from(request.limit).ok().filter(|limit| *limit > 0);
        let include_object = request.include_object;
        // One slot, so that the handler is at most one object ahead of the host.
        let (sender, mut finds) = channel(1);
        // The clone shares the diagnostics, and each event includes those since the previous event.
        let listing_call = call.clone();
        let objects = list.as_ref().ok().cloned();
        let work = async move {
            let outcome = async {
                let list = list?;
                let config = decode_valid_list_config(&call, &*list, &request.config)?;
                // The errors are reported already, and the handler could only repeat them.
                let Some(config) = config else { return Ok(()) };
                let query = ListQuery { config, limit, include_object };
                call.run_unless_stopped(list.list(query, sender, call.clone())).await
            };
            call.collect_answer(outcome).await.1
        };
        let steps = stream_messages_until_end(
            poll_fn(move |context| finds.poll_recv(context)),
            work.boxed(),
        );
        // The stream ends with the last requested object and does not wait for the handler.
        let initial_state = (steps.boxed(), limit.unwrap_or(usize::MAX));
        let events = stream::unfold(initial_state, async |(mut steps, remaining)| {
            let remaining = remaining.checked_sub(1)?;
            Some((steps.next().await?, (steps, remaining)))
        });
        let event = move |step| match (step, &objects) {
            (MessageOrEnd::Message(find), Some(list)) => {
                Some(build_list_event(list.object_shape(), find, include_object, &listing_call))
            }
            (MessageOrEnd::Ended(diagnostics), _) if !diagnostics.is_empty() => {
                // Protocol 6: diagnostics of a list can only be sent in an event.
                let display_name = String::new();
                Some(ListEvent { identity: None, display_name, object: None, diagnostics })
            }
            _ => None,
        };
        events.filter_map(move |step| ready(event(step).map(Ok))).boxed()
    }
}

/// The configuration of a query, with defaults; `None` if it is invalid.
fn decode_valid_list_config(
    call: &Call,
    list: &dyn AnyList,
    config: &Payload,
) -> Answer<Option<Value>> {
    // The request has no capabilities. Every host that lists supports write-only attributes: they
    // came with protocol 5.8 and 6.8, lists with 5.10 and 6.10.
    let allowed = ClientCapabilities { write_only_attributes_allowed: true, ..Default::default() };
    let config = decode_and_check::decode_and_check_config(call, list.shape(), config, allowed)?;
    let is_right = !call.has_reported_error();
    Ok(is_right.then(|| plan::config_with_defaults(list.shape(), &config).into_owned()))
}

/// A found object, with the diagnostics since the previous one.
fn build_list_event(
    shape: &Shape,
    find: FoundObject,
    include_object: bool,
    call: &Call,
) -> ListEvent {
    let FoundObject { display_name, object } = find;
    let object: Payload =
        decode_and_check::encode_value(shape, &plan::replace_unknown_with_null(&object));
    let identity = identity::object_identity(shape, &object);
    if identity.is_none() {
        let names: Vec<_> = shape.identity.keys().map(|name| format!("`{name}`")).collect();
        let detail = format!(
            "{display_name:?} was found without what identifies it, which is {}. This is a bug in the \
             provider.",
            names.join(" and ")
        );
        call.report(Problem::new("Provider found an object without identity", detail));
    }
    let object = include_object.then_some(object);
    ListEvent { identity, display_name, object, diagnostics: call.take_diagnostics() }
}

/// A progress message, or the end.
enum MessageOrEnd<T> {
    Message(T),
    Ended(Vec<ProviderDiagnostic>),
}

/// Runs the work whenever the next step is requested. Messages precede the end.
fn stream_messages_until_end<T: Send + 'static>(
    messages: impl Stream<Item = T> + Unpin + Send + 'static,
    work: BoxFuture<'static, Vec<ProviderDiagnostic>>,
) -> impl Stream<Item = MessageOrEnd<T>> + Send {
    let initial_state = (messages, Some(work), None);
    stream::unfold(initial_state, async |(mut messages, mut work, mut outcome)| {
        if let Some(running) = &mut work {
            tokio::select! {
                // Messages first, so that the end does not overtake those that were sent before it.
                biased;
                Some(text) = messages.next() => {
                    return Some((MessageOrEnd::Message(text), (messages, work, outcome)));
                }
                diagnostics = running => outcome = Some(diagnostics),
            }
        }
        // The sender may still exist, so the stream must not wait for further messages.
        let step = match messages.next().now_or_never().flatten() {
            Some(text) if outcome.is_some() => MessageOrEnd::Message(text),
            _ => MessageOrEnd::Ended(outcome.take()?),
        };
        Some((step, (messages, None, outcome)))
    })
}

#[cfg(test)]
mod tests;
