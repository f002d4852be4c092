//! A layer between the engine and the provider: counts calls, and injects a fault into one.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use formwork_core::addr::ProviderAddr;
use formwork_core::provider::ProviderLauncher;
use formwork_plugin_protocol::{Failure, Provider, Request, Response};
use formwork_sdk::ProviderDef;
use futures_util::future::{BoxFuture, ready};
use futures_util::{FutureExt as _, StreamExt as _};

use crate::recording::{Recording, subject_of};

/// A fault of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CrashFault {
    /// The provider dies before its work.
    DiesBefore,
    /// The provider dies after its work, before its answer.
    DiesAfter,
}

impl CrashFault {
    /// All faults.
    pub const ALL: [Self; 2] = [Self::DiesBefore, Self::DiesAfter];
}

/// Starts providers that share a fault plan.
pub(crate) struct FaultLauncher {
    provider: Arc<dyn Fn() -> ProviderDef + Send + Sync>,
    trouble: Arc<Mutex<CallsAndFault>>,
    pub(crate) record: RecordOrReplay,
}

/// Handling of the calls of a provider.
#[derive(Default)]
pub(crate) enum RecordOrReplay {
    /// Forwards the calls.
    #[default]
    None,
    /// Forwards the calls and records them.
    Kept(Recording),
    /// Replays the recorded answers.
    Answered(Recording),
}

/// The calls made, and the fault of one of them.
#[derive(Default)]
struct CallsAndFault {
    calls: Vec<String>,
    fault: Option<(usize, CrashFault)>,
}

impl FaultLauncher {
    pub(crate) fn new(provider: Arc<dyn Fn() -> ProviderDef + Send + Sync>) -> Self {
        Self { provider, trouble: Arc::default(), record: RecordOrReplay::None }
    }

    pub(crate) fn set_fault(&self, index: usize, fault: CrashFault) {
        // The position of the fault counts from here, so that earlier calls are dropped.
        *lock_calls_and_fault(&self.trouble) =
            CallsAndFault { calls: Vec::new(), fault: Some((index, fault)) };
    }

    pub(crate) fn end_fault_and_take_calls(&self) -> Vec<String> {
        std::mem::take(&mut *lock_calls_and_fault(&self.trouble)).calls
    }
}

#[async_trait(?Send)]
impl ProviderLauncher for FaultLauncher {
    async fn launch_provider(&self, _: &ProviderAddr) -> Result<Arc<dyn Provider>, Failure> {
        // New for each launch, like a process: no memory may be shared with the next run.
        let provider: Arc<dyn Provider> = Arc::new((self.provider)().into_provider());
        // A recording contains the provider's calls. A fault belongs to the test, which injects it
        // again in a replay.
        let inner = match &self.record {
            RecordOrReplay::None => provider,
            RecordOrReplay::Kept(recording) => recording.recording_provider(provider),
            RecordOrReplay::Answered(recording) => recording.replaying_provider(provider),
        };
        Ok(Arc::new(FaultyProvider { inner, trouble: self.trouble.clone() }))
    }
}

/// A provider with a fault in one call.
struct FaultyProvider {
    inner: Arc<dyn Provider>,
    trouble: Arc<Mutex<CallsAndFault>>,
}

impl Provider for FaultyProvider {
    fn call(&self, request: Request) -> BoxFuture<'_, Result<Response, Failure>> {
        // The engine may make these calls at any time, and repeats them without an answer.
        if request.method().never_calls_service() {
            return self.inner.call(request);
        }
        match self.add_call_and_find_fault(&request) {
            Some(CrashFault::DiesBefore) => ready(Err(lost_provider_failure())).boxed(),
            Some(CrashFault::DiesAfter) => async move {
                if let Ok(answer) = self.inner.call(request).await {
                    // A stream does its work while it is read.
                    read_stream_to_end(answer).await;
                }
                Err(lost_provider_failure())
            }
            .boxed(),
            None => self.inner.call(request),
        }
    }
}

impl FaultyProvider {
    /// Records a call, and returns the fault to inject into it.
    fn add_call_and_find_fault(&self, request: &Request) -> Option<CrashFault> {
        let mut trouble = lock_calls_and_fault(&self.trouble);
        let index = trouble.calls.len();
        let (call, subject) = (request.method().handler_name(), subject_of(request));
        trouble.calls.push(format!("{call} {subject}"));
        trouble.fault.and_then(|(fault_index, fault)| (fault_index == index).then_some(fault))
    }
}

/// Waits until a provider has finished the work for an answer. The work of a stream is done only
/// when the stream is read.
async fn read_stream_to_end(answer: Response) {
    match answer {
        Response::ListResource(events) => events.for_each(|_| ready(())).await,
        Response::InvokeAction(events) => events.for_each(|_| ready(())).await,
        Response::ReadStateBytes(chunks) => chunks.for_each(|_| ready(())).await,
        _ => {}
    }
}

fn lost_provider_failure() -> Failure {
    Failure::Lost {
        reason: "the connection was lost".to_owned(),
        exit: None,
        output: "the test wanted it".to_owned(),
    }
}

fn lock_calls_and_fault(trouble: &Mutex<CallsAndFault>) -> MutexGuard<'_, CallsAndFault> {
    // A panic on another thread must not be masked by this lock: the test reports it.
    trouble.lock().unwrap_or_else(PoisonError::into_inner)
}
