//! The calls that wait for a response, so that the observer of a run can show them. A call may
//! legitimately take hours: it is abandoned only at a deadline of the user or, if it is read-only, some
//! time after an interrupt.

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

/// Time that a read-only call may still take after an interrupt. A provider that receives a stop request
/// usually responds within it.
const INTERRUPTED_READ_GRACE_PERIOD: Duration = Duration::from_secs(3);

/// A call that waits for its response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingCall {
    /// The called provider.
    pub provider: ProviderAddr,
    /// The call, as the protocol names it.
    pub call: &'static str,
    /// The address of its subject, or `None` for the provider as a whole.
    pub about: Option<String>,
    /// The duration of the wait so far.
    pub elapsed: Duration,
}

impl PendingCall {
    /// Returns the address of its subject for the log, or an empty string for the provider as a whole.
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

/// All pending calls of one pool.
#[derive(Default)]
pub(super) struct ProviderCalls {
    next: Cell<u64>,
    waiting: RefCell<BTreeMap<u64, (PendingCall, Instant)>>,
    /// The deadline of each kind of call.
    pub(super) deadlines: CallDeadlines,
    /// The time of the interrupt.
    interrupted: Cell<Option<Instant>>,
    interruption: Notify,
    /// Provider restarts after calls without a response.
    pub(super) restarts: RestartQueue,
    /// Diagnostics that do not belong to a single call.
    pub(super) provider_warnings: ProviderWarnings,
    /// The sensitive values that were sent or returned.
    pub(super) secrets: Secrets,
    /// The message limit in bytes.
    pub(super) message_limit: usize,
    /// Whether the calls belong to an apply.
    applying: Cell<bool>,
}

impl ProviderCalls {
    /// Marks all calls from now on as calls of an apply.
    pub(super) fn enter_apply_phase(&self) {
        self.applying.set(true);
    }

    /// Returns the capabilities of this client. As in Terraform 1.11, an apply announces support for
    /// deferred changes, and fails if a provider defers one.
    pub(super) fn client_capabilities(&self) -> ClientCapabilities {
        ClientCapabilities {
            write_only_attributes_allowed: true,
            deferral_allowed: self.applying.get(),
            ..ClientCapabilities::default()
        }
    }

    /// Creates the calls of a pool, with the limits of its launcher.
    pub(super) fn for_launcher(launcher: &dyn ProviderLauncher) -> Self {
        Self {
            deadlines: launcher.call_deadlines(),
            secrets: launcher.secrets(),
            message_limit: launcher.message_limit(),
            ..Self::default()
        }
    }

    /// Abandons read-only calls after a grace period.
    pub(super) fn begin_interrupt(&self) {
        // The first interrupt counts, because a second one must not extend the time.
        self.interrupted.set(self.interrupted.get().or_else(|| Some(Instant::now())));
        self.interruption.notify_waiters();
    }

    /// Waits until a call that starts now must be abandoned because of an interrupt, and returns the
    /// reason. Without an interrupt it waits forever.
    pub(super) async fn wait_until_interrupted(&self, kind: CallKind) -> String {
        // A change may take effect after it was abandoned, so an interrupt does not end the wait for its
        // response. Only a deadline of the user does.
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
        // A call that starts after the interrupt also has its time, such as a read that determines the
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

    /// Returns the calls that have waited for at least the given time, the longest first.
    pub(super) fn calls_waiting_at_least(&self, least: Duration) -> Vec<PendingCall> {
        let waiting = self.waiting.borrow();
        // Numbers ascend with time, so the longest wait is first.
        let all = waiting.values().map(|(waiting, since)| {
            let elapsed = since.elapsed();
            PendingCall { elapsed, ..waiting.clone() }
        });
        all.filter(|waiting| waiting.elapsed >= least).collect()
    }
}

/// The pending calls of the current pool, for an observer of work that creates several pools in
/// sequence.
#[derive(Default)]
pub struct CallWatch(RefCell<Weak<ProviderCalls>>);

impl CallWatch {
    /// Replaces the watched calls.
    pub(super) fn watch(&self, calls: &Rc<ProviderCalls>) {
        *self.0.borrow_mut() = Rc::downgrade(calls);
    }

    /// Returns the calls that have waited for a response for at least the given time, the longest first.
    #[must_use]
    pub fn calls_waiting_at_least(&self, least: Duration) -> Vec<PendingCall> {
        let calls = self.0.borrow().upgrade();
        calls.map(|calls| calls.calls_waiting_at_least(least)).unwrap_or_default()
    }
}

/// A recorded call. When this guard is dropped, the call counts as answered or abandoned.
pub(super) struct CallInProgress {
    calls: Rc<ProviderCalls>,
    number: u64,
    /// The outcome for the log.
    outcome: &'static str,
}

impl CallInProgress {
    /// Ends the call with its response, and returns the response.
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
    fn a_call_is_pending_until_it_is_answered_or_abandoned() {
        let calls = Rc::new(ProviderCalls::default());
        let provider: ProviderAddr = "acme/test".parse().unwrap();
        let read = calls.begin_call(&provider, Method::ReadResource, Some(&"t.a"));
        let schema = calls.begin_call(&provider, Method::GetProviderSchema, None);
        let waiting_calls = |least| {
            let waiting = calls.calls_waiting_at_least(Duration::from_secs(least));
            waiting.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        let name = "provider acme/test has not answered";
        let both = [format!("{name} ReadResource for t.a"), format!("{name} GetProviderSchema")];
        assert_eq!(waiting_calls(0), both);
        assert_eq!(waiting_calls(3600), [""; 0]);
        drop(read);
        assert_eq!(waiting_calls(0), both[1..]);
        drop(schema);
        assert_eq!(waiting_calls(0), [""; 0]);
    }

    #[test]
    fn a_watch_lists_the_calls_of_the_last_living_pool() {
        let watch = CallWatch::default();
        let provider: ProviderAddr = "acme/test".parse().unwrap();
        let calls = [Rc::new(ProviderCalls::default()), Rc::new(ProviderCalls::default())];
        let seen = || {
            let waiting = watch.calls_waiting_at_least(Duration::ZERO);
            waiting.iter().map(|call| call.call).collect::<Vec<_>>()
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
