//! The running instances of providers, by state: busy, idle, or dismissed. The pool manages their
//! configurations.

use std::cell::{Cell, RefCell};
use std::convert::Infallible;
use std::rc::Rc;
use std::sync::Arc;

use formwork_plugin_protocol::Provider;
use tokio::sync::{Notify, Semaphore};

use super::stopping::StartPurpose;
use crate::addr::ProviderAddr;
use crate::provider::launcher::ProviderLauncher;

/// The running instances.
#[derive(Default)]
pub(super) struct ProviderProcesses {
    running: RefCell<Vec<ProviderProcess>>,
    /// Notified when an instance is dismissed, or released by a holder.
    dismissed: Notify,
    n_starting: Cell<usize>,
    n_ending: Cell<usize>,
    /// Notified when an instance has ended.
    ended: Notify,
}

struct ProviderProcess {
    addr: ProviderAddr,
    provider: Arc<dyn Provider>,
    role: ProcessRole,
    /// Purpose of its start, until it is requested for it.
    purpose: StartPurpose,
    /// Number of tasks that use it to determine the effect of a change.
    n_evidence: usize,
    /// Whether it received a stop request, after which providers refuse all calls.
    is_stopped: bool,
    /// Held by the task that checks whether it is alive, and replaces it if not.
    turn: Rc<Semaphore>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ProcessRole {
    /// The instance has a configuration, or is about to get one.
    Busy,
    /// The instance has no configuration.
    Idle,
    /// The instance is stopped when its last holder is done.
    Dismissed,
}

impl ProviderProcess {
    fn is_process_of(&self, provider: &Arc<dyn Provider>) -> bool {
        Arc::ptr_eq(&self.provider, provider)
    }

    /// Returns whether only the list of running instances holds it, so that it has no pending call.
    fn has_no_calls(&self) -> bool {
        // Calls hold a reference, so its count shows whether one is pending, without a
        // separate table.
        !self.addr.is_builtin() && Arc::strong_count(&self.provider) == 1
    }
}

impl ProviderProcesses {
    /// Adds a started instance for a caller that configures it.
    pub(super) fn add_started(
        &self,
        addr: &ProviderAddr,
        provider: &Arc<dyn Provider>,
        purpose: StartPurpose,
    ) {
        let (addr, provider) = (addr.clone(), provider.clone());
        let (role, is_stopped, turn) = (ProcessRole::Busy, false, Rc::new(Semaphore::new(1)));
        let process =
            ProviderProcess { addr, provider, role, purpose, n_evidence: 0, is_stopped, turn };
        self.running.borrow_mut().push(process);
    }

    fn set_role(&self, provider: &Arc<dyn Provider>, role: ProcessRole) {
        if let Some(process) =
            self.running.borrow_mut().iter_mut().find(|it| it.is_process_of(provider))
        {
            process.role = role;
        }
    }

    /// Records that an instance has no configuration.
    pub(super) fn set_idle(&self, provider: &Arc<dyn Provider>) {
        self.set_role(provider, ProcessRole::Idle);
    }

    /// Takes an idle instance, which then belongs to the caller.
    pub(super) fn take_idle(&self, addr: &ProviderAddr) -> Option<Arc<dyn Provider>> {
        let mut running = self.running.borrow_mut();
        let idle =
            running.iter_mut().find(|it| it.role == ProcessRole::Idle && it.addr == *addr)?;
        idle.role = ProcessRole::Busy;
        Some(idle.provider.clone())
    }

    /// Returns any instance of a provider, for a call that needs no configuration.
    pub(super) fn any_instance_of(&self, addr: &ProviderAddr) -> Option<Arc<dyn Provider>> {
        let running = self.running.borrow();
        let fit =
            running.iter().find(|it| it.role != ProcessRole::Dismissed && it.addr == *addr)?;
        Some(fit.provider.clone())
    }

    /// Returns an idle instance without pending calls.
    pub(super) fn idle_without_calls(&self) -> Option<Arc<dyn Provider>> {
        let running = self.running.borrow();
        let unused = running.iter().find(|it| it.role != ProcessRole::Busy && it.has_no_calls())?;
        Some(unused.provider.clone())
    }

    /// Records that a task uses an instance to determine the effect of a change.
    pub(super) fn begin_effect_query(&self, provider: &Arc<dyn Provider>) {
        let mut running = self.running.borrow_mut();
        if let Some(process) = running.iter_mut().find(|it| it.is_process_of(provider)) {
            // From here on, the count protects it. After the last task it is stopped like any other.
            process.purpose = StartPurpose::Work;
            process.n_evidence += 1;
        }
    }

    /// Records the end of such a task.
    pub(super) fn end_effect_query(&self, provider: &Arc<dyn Provider>) {
        let mut running = self.running.borrow_mut();
        if let Some(process) = running.iter_mut().find(|it| it.is_process_of(provider)) {
            process.n_evidence -= 1;
        }
    }

    /// Returns the instances to which to send a stop request: all but those that report the effect of a
    /// change.
    pub(super) fn instances_to_stop(&self) -> Vec<Arc<dyn Provider>> {
        let mut running = self.running.borrow_mut();
        let is_at_work =
            |it: &&mut ProviderProcess| it.purpose == StartPurpose::Work && it.n_evidence == 0;
        let at_work = running.iter_mut().filter(is_at_work);
        let stopped = at_work.map(|process| {
            process.is_stopped = true;
            process.provider.clone()
        });
        stopped.collect()
    }

    /// Returns whether an instance received a stop request.
    pub(super) fn was_stopped(&self, provider: &Arc<dyn Provider>) -> bool {
        self.running.borrow().iter().any(|it| it.is_process_of(provider) && it.is_stopped)
    }

    /// Returns the number of processes, including those that are starting and ending.
    pub(super) fn live_process_count(&self) -> usize {
        let running = self.running.borrow();
        let n_running = running.iter().filter(|process| !process.addr.is_builtin()).count();
        // The limit saves memory, and a process uses it until it has ended.
        n_running + self.n_starting.get() + self.n_ending.get()
    }

    /// Counts a process that is starting, until the result is dropped.
    pub(super) fn count_starting_process(&self) -> CountGuard<'_> {
        CountGuard::new(&self.n_starting, None)
    }

    /// Waits until a process that is ending has ended. Returns whether one exists.
    pub(super) async fn wait_for_dismissed_to_end(&self) -> bool {
        let ending = self.n_ending.get() > 0;
        if ending {
            self.ended.notified().await;
        }
        ending
    }

    /// Dismisses an instance, which is stopped as soon as it has no holder.
    pub(super) fn dismiss_instance(&self, provider: &Arc<dyn Provider>) {
        self.set_role(provider, ProcessRole::Dismissed);
        self.dismissed.notify_one();
    }

    /// Stops the dismissed instances that have been released.
    pub(super) fn recheck_dismissed(&self) {
        self.dismissed.notify_one();
    }

    /// Returns the semaphore that must be held to replace an instance, or `None` if it has ended.
    pub(super) fn restart_semaphore(&self, provider: &Arc<dyn Provider>) -> Option<Rc<Semaphore>> {
        let running = self.running.borrow();
        running.iter().find(|it| it.is_process_of(provider)).map(|process| process.turn.clone())
    }

    /// Stops an instance.
    pub(super) async fn end_instance(
        &self,
        launcher: &dyn ProviderLauncher,
        provider: &Arc<dyn Provider>,
    ) {
        // Removed from the list before the wait, so that no new call gets a provider that is ending.
        self.running.borrow_mut().retain(|process| !process.is_process_of(provider));
        let _ending = CountGuard::new(&self.n_ending, Some(&self.ended));
        launcher.close_provider(provider).await;
    }

    /// Returns the dismissed instances without holders.
    fn dismissed_instances(&self) -> Vec<Arc<dyn Provider>> {
        let running = self.running.borrow();
        let leaving =
            running.iter().filter(|it| it.role == ProcessRole::Dismissed && it.has_no_calls());
        leaving.map(|process| process.provider.clone()).collect()
    }

    /// Stops dismissed instances in an endless loop.
    pub(super) async fn end_dismissed_forever(
        &self,
        launcher: &dyn ProviderLauncher,
    ) -> Infallible {
        loop {
            let leaving = self.dismissed_instances();
            if leaving.is_empty() {
                self.dismissed.notified().await;
                continue;
            }
            // Concurrently, because a plugin may take seconds to end.
            let ends = leaving.iter().map(|provider| self.end_instance(launcher, provider));
            futures_util::future::join_all(ends).await;
        }
    }
}

/// A guard that counts something until it is dropped, so that an abandoned wait does not remain counted.
pub(super) struct CountGuard<'p> {
    count: &'p Cell<usize>,
    end: Option<&'p Notify>,
}

impl<'p> CountGuard<'p> {
    fn new(count: &'p Cell<usize>, end: Option<&'p Notify>) -> Self {
        count.set(count.get() + 1);
        Self { count, end }
    }
}

impl Drop for CountGuard<'_> {
    fn drop(&mut self) {
        self.count.set(self.count.get() - 1);
        if let Some(end) = self.end {
            end.notify_waiters();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::builtin::BuiltinProvider;

    #[test]
    fn a_provider_resolving_a_change_is_stopped_once_the_effect_is_known() {
        let processes = ProviderProcesses::default();
        let addr: ProviderAddr = "acme/test".parse().unwrap();
        let provider: Arc<dyn Provider> = Arc::new(BuiltinProvider::default());
        processes.add_started(&addr, &provider, StartPurpose::EffectQuery);
        assert!(processes.instances_to_stop().is_empty(), "it was started for that");
        // Two changes were lost, and the effect of both is requested.
        processes.begin_effect_query(&provider);
        processes.begin_effect_query(&provider);
        processes.end_effect_query(&provider);
        assert!(processes.instances_to_stop().is_empty(), "somebody is still at it");
        assert!(!processes.was_stopped(&provider));
        processes.end_effect_query(&provider);
        assert_eq!(processes.instances_to_stop().len(), 1);
        assert!(processes.was_stopped(&provider));
    }
}
