//! Every method goes through each layer, and a list counts to its end.

use std::future::{pending, ready};
use std::pin::pin;
use std::time::Duration;

use formwork_plugin_protocol::Payload;
use formwork_plugin_protocol::message::configure::DiagnosticsResponse;
use formwork_plugin_protocol::message::function::CallRequest;
use formwork_plugin_protocol::message::list::{ListEvent, ListRequest};
use formwork_plugin_protocol::message::state_store::StateRef;
use futures_util::future::{BoxFuture, Either, select};
use futures_util::{FutureExt as _, StreamExt as _, stream};
use tokio::time::timeout;

use super::*;
use crate::provider::restart_queue::RestartWorker;

/// A process with the same answer to every call.
struct Process(fn() -> Result<Response, Failure>);

impl Provider for Process {
    fn call(&self, _: Request) -> BoxFuture<'_, Result<Response, Failure>> {
        ready((self.0)()).boxed()
    }
}

/// A process that never answers.
struct HangingProcess;

impl Provider for HangingProcess {
    fn call(&self, _: Request) -> BoxFuture<'_, Result<Response, Failure>> {
        pending().boxed()
    }
}

fn lost_failure() -> Failure {
    Failure::Lost { reason: "connection closed".into(), exit: None, output: String::new() }
}

fn event() -> ListEvent {
    ListEvent { identity: None, display_name: String::new(), object: None, diagnostics: Vec::new() }
}

fn list_request() -> Request {
    let (type_name, config) = ("acme_thing".to_owned(), Payload::Absent);
    Request::ListResource(ListRequest { type_name, config, include_object: true, limit: 0 })
}

fn unlock_request() -> Request {
    let (type_name, state_id) = ("acme_store".to_owned(), "default".to_owned());
    Request::UnlockState(StateRef { type_name, state_id }, "lock".to_owned())
}

/// Requests of several kinds, of which one changes something.
fn requests() -> [Request; 5] {
    let function = CallRequest { name: "shout".to_owned(), arguments: Vec::new() };
    [
        Request::GetFunctions,
        Request::GetStates("acme_store".to_owned()),
        Request::CallFunction(function),
        list_request(),
        unlock_request(),
    ]
}

fn provider_addr() -> ProviderAddr {
    "acme/test".parse().unwrap()
}

/// Makes a call to one process. Another one is available to replace it.
async fn call_with_replacement(
    calls: &Rc<ProviderCalls>,
    request: Request,
    first: fn() -> Result<Response, Failure>,
    second: fn() -> Result<Response, Failure>,
) -> Result<Response, Failure> {
    let (addr, slot) = (provider_addr(), ProviderSlot::new(Arc::new(Process(first)), false));
    let subject = CallSubject { provider: &addr, about: &"t.a" };
    let layers = client_layers(calls, subject, &slot, |running| running);
    let restart_worker = RestartWorker::new(&calls.restarts);
    let replacing = pin!(async {
        let restart = restart_worker.next_request().await;
        restart.done.send(Some(Arc::new(Process(second)))).ok();
        pending::<()>().await;
    });
    match select(layers.call(request), replacing).await {
        Either::Left((answer, _)) => answer,
        Either::Right(_) => unreachable!("it waits forever"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_pending_call_is_listed_until_its_deadline() {
    for request in requests() {
        let method = request.method();
        let mut calls = ProviderCalls::default();
        calls.deadlines = "1s".parse().unwrap();
        let calls = Rc::new(calls);
        let (addr, slot) = (provider_addr(), ProviderSlot::new(Arc::new(HangingProcess), false));
        let subject = CallSubject { provider: &addr, about: &"t.a" };
        let layers = client_layers(&calls, subject, &slot, |running| running);
        let waiting = || {
            let waiting = calls.calls_waiting_at_least(Duration::ZERO);
            waiting.iter().map(|call| call.call).collect::<Vec<_>>()
        };
        let mut call = layers.call(request);
        assert!((&mut call).now_or_never().is_none(), "{method}");
        assert_eq!(waiting(), [method.name()]);
        assert!(matches!(call.await, Err(Failure::GivenUp(_))), "{method}");
        assert_eq!(waiting(), [""; 0], "{method}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_interrupt_abandons_read_only_calls() {
    for request in requests() {
        let method = request.method();
        let calls = Rc::<ProviderCalls>::default();
        let (addr, slot) = (provider_addr(), ProviderSlot::new(Arc::new(HangingProcess), false));
        let subject = CallSubject { provider: &addr, about: &"t.a" };
        let layers = client_layers(&calls, subject, &slot, |running| running);
        calls.begin_interrupt();
        let answer = timeout(Duration::from_secs(60), layers.call(request)).await;
        assert_eq!(answer.is_ok(), method.is_repeatable(), "{method}");
    }
}

#[tokio::test]
async fn an_interrupted_list_is_retried_and_a_change_is_not() {
    let calls = Rc::<ProviderCalls>::default();
    let begins =
        || Ok(Response::ListResource(stream::iter([Ok(event()), Err(lost_failure())]).boxed()));
    let completes = || Ok(Response::ListResource(stream::iter([Ok(event()), Ok(event())]).boxed()));
    let answer = call_with_replacement(&calls, list_request(), begins, completes).await;
    let Ok(Response::ListResource(events)) = answer else { panic!("there is no list") };
    assert_eq!(events.count().await, 2);
    assert_eq!(calls.provider_warnings.take_warnings().len(), 1);

    let dies = || Err(lost_failure());
    let unlocks = || Ok(Response::UnlockState(DiagnosticsResponse::default()));
    let answer = call_with_replacement(&calls, unlock_request(), dies, unlocks).await;
    assert!(matches!(answer, Err(Failure::Lost { .. })));
    assert!(calls.provider_warnings.take_warnings().is_empty());
}

#[tokio::test]
async fn an_endless_list_is_received_up_to_its_limit() {
    let calls = Rc::<ProviderCalls>::default();
    let endless = || Ok(Response::ListResource(stream::repeat_with(|| Ok(event())).boxed()));
    let answer = call_with_replacement(&calls, list_request(), endless, endless).await;
    let Ok(Response::ListResource(events)) = answer else { panic!("there is no list") };
    assert_eq!(events.count().await, MAX_LISTED_OBJECTS);
}
