//! The calls that wait for an answer, so that the watcher of a run can show them. A call may
//! rightly take hours: it is given up only by a deadline that the user has set, or, where nothing
//! is lost by that, some time after an interrupt.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::future::pending;
use std::rc::{Rc, Weak};
use std::time::Duration;

use formwork_plugin_protocol::capability::ClientCapabilities;
use formwork_plugin_protocol::{Failure, Method};
use formwork_value::Secrets;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};
use tracing::{debug, trace};

use super::deadlines::{CallDeadlines, CallKind};
use super::launcher::ProviderLauncher;
use super::restart_queue::RestartQueue;
use super::warnings::ProviderWarnings;
use crate::addr::ProviderAddr;

/// Time that a call without changes may still take after an interrupt: a provider that is asked to
/// stop usually answers within that.
const INTERRUPTED_READ_GRACE_PERIOD: Duration = Duration::from_secs(3);

/// A call that waits for its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingCall {
    /// The provider that was asked.
    pub provider: ProviderAddr,
    /// The call, as the protocol names it.
    pub call: &'static str,
    /// The address it is about; none if it is about the provider as a whole.
    pub about: Option<String>,
    /// For how long it has waited.
    pub elapsed: Duration,
}

impl PendingCall {
    /// The address it is about, for the log; empty if it is about the provider as a whole.
    fn address_or_empty(&self) -> &str {
        self.about.as_deref().unwrap_or_default()
    }
}

impl Display for PendingCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "provider {} has not answered {}", self.provider.display_string(), self.call)?;
        match &self.about {
            Some(about) => write!(f, " for {about}"),
            None => Ok(()),
        }
    }
}

/// All calls of one pool that wait.
#[derive(Default)]
pub(super) struct ProviderCalls {
    next: Cell<u64>,
    waiting: RefCell<BTreeMap<u64, (PendingCall, Instant)>>,
    /// The time of each kind of call.
    pub(super) deadlines: CallDeadlines,
    /// When the run was interrupted.
    interrupted: Cell<Option<Instant>>,
    interruption: Notify,
    /// Restarts of providers after calls without an answer.
    pub(super) restarts: RestartQueue,
    /// Diagnostics about calls that belong to none of them.
    pub(super) provider_warnings: ProviderWarnings,
    /// The sensitive values that were sent or returned.
    pub(super) secrets: Secrets,
    /// The largest message in bytes.
    pub(super) message_limit: usize,
    /// Whether the calls belong to an apply.
    applying: Cell<bool>,
}

impl ProviderCalls {
    /// Marks all calls from now on as calls of an apply.
    pub(super) fn enter_apply_phase(&self) {
        self.applying.set(true);
    }

    /// The capabilities of this client. As in Terraform 1.11, an apply announces that a provider may
    /// defer changes, and fails if it does.
    pub(super) fn client_capabilities(&self) -> ClientCapabilities {
        ClientCapabilities {
            write_only_attributes_allowed: true,
            deferral_allowed: self.applying.get(),
            ..ClientCapabilities::default()
        }
    }

    /// Makes the calls of a pool, within the limits of its launcher.
    pub(super) fn for_launcher(launcher: &dyn ProviderLauncher) -> Self {
        Self {
            deadlines: launcher.call_deadlines(),
            secrets: launcher.secrets(),
            message_limit: launcher.message_limit(),
            ..Self::default()
        }
    }

    /// Gives up calls that change nothing, from some time later on.
    pub(super) fn begin_interrupt(&self) {
        // The first interrupt counts: a second one must not extend the time.
        self.interrupted.set(self.interrupted.get().or_else(|| Some(Instant::now())));
        self.interruption.notify_waiters();
    }

    /// Waits until a call that begins now is to be given up because the run was interrupted, and says
    /// so. Without an interrupt it waits forever.
    pub(super) async fn wait_until_interrupted(&self, kind: CallKind) -> String {
        // A change may take effect after it was given up, so an interrupt does not end the wait for
        // its answer. Only a deadline of the user does.
        if !kind.is_read_only() {
            return pending().await;
        }
        let begun = Instant::now();
        let interrupted = loop {
            let notified = self.interruption.notified();
            if let Some(interrupted) = self.interrupted.get() {
                break interrupted;
            }
            notified.await;
        };
        // A call that begins after the interrupt has its time too, such as a read that finds out the
        // effect of a change.
        sleep_until(interrupted.max(begun) + INTERRUPTED_READ_GRACE_PERIOD).await;
        "the run was interrupted, and the call changes nothing".to_owned()
    }

    /// Records a call until the returned guard is dropped.
    pub(super) fn begin_call(
        self: &Rc<Self>,
        provider: &ProviderAddr,
        method: Method,
        about: Option<&dyn Display>,
    ) -> CallInProgress {
        let call = method.name();
        let number = self.next.replace(self.next.get() + 1);
        let (provider, about) = (provider.clone(), about.map(ToString::to_string));
        let waiting = PendingCall { provider, call, about, elapsed: Duration::ZERO };
        trace!(provider = %waiting.provider, call, address = waiting.address_or_empty(), "call begins");
        self.waiting.borrow_mut().insert(number, (waiting, Instant::now()));
        CallInProgress { calls: self.clone(), number, outcome: "given up" }
    }

    /// The calls that have waited for so long at least, the longest first.
    pub(super) fn calls_waiting_at_least(&self, least: Duration) -> Vec<PendingCall> {
        let waiting = self.waiting.borrow();
        // Numbers ascend with time, so the longest wait comes first.
        let all = waiting.values().map(|(waiting, since)| {
            let elapsed = since.elapsed();
            PendingCall { elapsed, ..waiting.clone() }
        });
        all.filter(|waiting| waiting.elapsed >= least).collect()
    }
}

/// The calls of one pool after the other that wait, for an observer of work that makes pools of its own.
#[derive(Default)]
pub struct CallWatch(RefCell<Weak<ProviderCalls>>);

impl CallWatch {
    /// Watches these calls from now on, and no others.
    pub(super) fn watch(&self, calls: &Rc<ProviderCalls>) {
        *self.0.borrow_mut() = Rc::downgrade(calls);
    }

    /// The calls that have waited for an answer for so long at least, the longest first.
    #[must_use]
    pub fn calls_waiting_at_least(&self, least: Duration) -> Vec<PendingCall> {
        let calls = self.0.borrow().upgrade();
        calls.map(|calls| calls.calls_waiting_at_least(least)).unwrap_or_default()
    }
}

/// A call that was taken down. It counts as answered, or as given up, once this is dropped.
pub(super) struct CallInProgress {
    calls: Rc<ProviderCalls>,
    number: u64,
    /// The outcome for the log.
    outcome: &'static str,
}

impl CallInProgress {
    /// Ends the call with its answer, and returns the answer.
    pub(super) fn end_call<T>(mut self, answer: Result<T, Failure>) -> Result<T, Failure> {
        self.outcome = match &answer {
            Ok(_) => "answered",
            Err(failure) => failure.kind_for_logs(),
        };
        answer
    }
}

impl Drop for CallInProgress {
    fn drop(&mut self) {
        let ended = self.calls.waiting.borrow_mut().remove(&self.number);
        let Some((waiting, since)) = ended else { return };
        let duration_ms = u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX);
        let PendingCall { provider, call, .. } = &waiting;
        let (address, outcome) = (waiting.address_or_empty(), self.outcome);
        debug!(%provider, call, address, duration_ms, outcome, "call ended");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_waits_until_it_is_answered_or_given_up() {
        let calls = Rc::new(ProviderCalls::default());
        let provider: ProviderAddr = "acme/test".parse().unwrap();
        let read = calls.begin_call(&provider, Method::ReadResource, Some(&"t.a"));
        let schema = calls.begin_call(&provider, Method::GetProviderSchema, None);
        let said = |least| {
            let waiting = calls.calls_waiting_at_least(Duration::from_secs(least));
            waiting.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        let name = "provider acme/test has not answered";
        let both = [format!("{name} ReadResource for t.a"), format!("{name} GetProviderSchema")];
        assert_eq!(said(0), both);
        assert_eq!(said(3600), [""; 0]);
        drop(read);
        assert_eq!(said(0), both[1..]);
        drop(schema);
        assert_eq!(said(0), [""; 0]);
    }

    #[test]
    fn a_watch_has_the_calls_of_the_last_pool_as_long_as_that_lives() {
        let watch = CallWatch::default();
        let provider: ProviderAddr = "acme/test".parse().unwrap();
        let calls = [Rc::new(ProviderCalls::default()), Rc::new(ProviderCalls::default())];
        let seen = || {
            let waiting = watch.calls_waiting_at_least(Duration::ZERO);
            waiting.iter().map(|one| one.call).collect::<Vec<_>>()
        };
        let read = calls[0].begin_call(&provider, Method::ReadResource, None);
        assert_eq!(seen(), [""; 0]);
        watch.watch(&calls[0]);
        assert_eq!(seen(), ["ReadResource"]);
        let plan = calls[1].begin_call(&provider, Method::PlanResourceChange, None);
        watch.watch(&calls[1]);
        assert_eq!(seen(), ["PlanResourceChange"]);
        drop((read, plan, calls));
        assert_eq!(seen(), [""; 0]);
    }
}
