//! Stands between the engine and the provider: counts calls, and lets one go wrong.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use formwork_core::addr::ProviderAddr;
use formwork_core::provider::Launch;
use formwork_plugin_protocol::{Failure, Provider, ProviderExt as _, Request, Response};
use formwork_sdk::ProviderDef;
use futures_util::future::{BoxFuture, ready};
use futures_util::{FutureExt as _, StreamExt as _};

use crate::Recording;

/// Fault that can happen to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The provider dies before it has done anything.
    DiesBefore,
    /// The provider does its work and dies before it can say so.
    DiesAfter,
}

impl Fault {
    /// All that can happen.
    pub const ALL: [Self; 2] = [Self::DiesBefore, Self::DiesAfter];
}

/// Starts providers, all of which have the same trouble.
pub(crate) struct FaultLauncher {
    provider: Arc<dyn Fn() -> ProviderDef + Send + Sync>,
    /// The resource types whose objects the provider lists.
    pub(crate) lists: BTreeSet<String>,
    trouble: Arc<Mutex<FaultPlan>>,
    pub(crate) record: Record,
}

/// Handling of the calls of a provider.
#[derive(Default)]
pub(crate) enum Record {
    /// They are made.
    #[default]
    None,
    /// They are made and kept.
    Kept(Recording),
    /// They are answered as they were.
    Answered(Recording),
}

/// The calls that were made, and what happens to one of them.
#[derive(Default)]
struct FaultPlan {
    calls: Vec<String>,
    fault: Option<(usize, Fault)>,
}

impl FaultLauncher {
    pub(crate) fn new(provider: Arc<dyn Fn() -> ProviderDef + Send + Sync>) -> Self {
        let offering = (provider)().into_provider();
        // A provider on the SDK knows its types without waiting for anything.
        let metadata = offering.metadata().now_or_never().and_then(Result::ok);
        let lists = metadata.unwrap_or_default().list_resources.into_iter().collect();
        Self { provider, lists, trouble: Arc::default(), record: Record::None }
    }

    pub(crate) fn arm(&self, at: usize, fault: Fault) {
        *locked(&self.trouble) = FaultPlan { calls: Vec::new(), fault: Some((at, fault)) };
    }

    pub(crate) fn disarm(&self) -> Vec<String> {
        std::mem::take(&mut *locked(&self.trouble)).calls
    }
}

#[async_trait(?Send)]
impl Launch for FaultLauncher {
    async fn launch(&self, _: &ProviderAddr) -> Result<Arc<dyn Provider>, Failure> {
        let inner = (self.provider)().into_provider();
        let provider = Arc::new(Faulty { inner, trouble: self.trouble.clone() });
        Ok(match &self.record {
            Record::None => provider,
            Record::Kept(reel) => reel.record(provider),
            Record::Answered(reel) => reel.replay(provider),
        })
    }
}

/// A provider that has trouble with one call.
struct Faulty<P> {
    inner: P,
    trouble: Arc<Mutex<FaultPlan>>,
}

impl<P: Provider> Provider for Faulty<P> {
    fn call(&self, request: Request) -> BoxFuture<'_, Result<Response, Failure>> {
        // The engine asks these when it likes, and asks them again where there is no answer.
        if request.method().is_introspection() {
            return self.inner.call(request);
        }
        match self.trouble_with(&request) {
            Some(Fault::DiesBefore) => ready(Err(lost())).boxed(),
            Some(Fault::DiesAfter) => async move {
                if let Ok(answer) = self.inner.call(request).await {
                    finish(answer).await;
                }
                Err(lost())
            }
            .boxed(),
            None => self.inner.call(request),
        }
    }
}

impl<P> Faulty<P> {
    /// Notes a call, and returns its fault.
    fn trouble_with(&self, request: &Request) -> Option<Fault> {
        let mut trouble = locked(&self.trouble);
        let at = trouble.calls.len();
        let subject = Some(request.subject()).filter(|subject| !subject.is_empty());
        let (call, subject) = (request.method().function_name(), subject.unwrap_or("provider"));
        trouble.calls.push(format!("{call} {subject}"));
        trouble.fault.and_then(|(wanted, fault)| (wanted == at).then_some(fault))
    }
}

/// Waits until a provider has done all that an answer is about: one that streams is not made before
/// it is taken.
async fn finish(answer: Response) {
    match answer {
        Response::ListResource(events) => events.for_each(|_| ready(())).await,
        Response::InvokeAction(events) => events.for_each(|_| ready(())).await,
        Response::ReadStateBytes(chunks) => chunks.for_each(|_| ready(())).await,
        _ => {}
    }
}

fn lost() -> Failure {
    Failure::Lost {
        reason: "the connection was lost".to_owned(),
        exit: None,
        output: "the test wanted it".to_owned(),
    }
}

fn locked(trouble: &Mutex<FaultPlan>) -> MutexGuard<'_, FaultPlan> {
    trouble.lock().unwrap_or_else(PoisonError::into_inner)
}
