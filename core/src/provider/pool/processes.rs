//! The living instances of providers, by state: busy, idle, or about to end. Their configuration is
//! the pool's business.

use std::cell::{Cell, RefCell};
use std::convert::Infallible;
use std::rc::Rc;
use std::sync::Arc;

use formwork_plugin_protocol::Provider;
use tokio::sync::{Notify, Semaphore};

use super::stopping::StartPurpose;
use crate::addr::ProviderAddr;
use crate::provider::launcher::ProviderLauncher;

/// The instances that live.
#[derive(Default)]
pub(super) struct ProviderProcesses {
    running: RefCell<Vec<ProviderProcess>>,
    /// Set off when one is dismissed, or released by a holder.
    dismissed: Notify,
    n_starting: Cell<usize>,
    n_ending: Cell<usize>,
    /// Set off when one has ended.
    ended: Notify,
}

struct ProviderProcess {
    addr: ProviderAddr,
    provider: Arc<dyn Provider>,
    role: ProcessRole,
    /// Purpose of its start, until it is asked for that.
    purpose: StartPurpose,
    /// Number of tasks that find out through it the effect of a change.
    n_evidence: usize,
    /// Whether it was asked to stop. Providers then refuse all later calls.
    is_stopped: bool,
    /// Held by the task that checks whether it lives, and replaces it if not.
    turn: Rc<Semaphore>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ProcessRole {
    /// It has a configuration, or is about to get one.
    Busy,
    /// It has no configuration.
    Idle,
    /// It is to end when its last holder is done.
    Dismissed,
}

impl ProviderProcess {
    fn is_process_of(&self, provider: &Arc<dyn Provider>) -> bool {
        Arc::ptr_eq(&self.provider, provider)
    }

    /// Whether only the list of running instances holds it, so that no call to it is under way.
    fn has_no_calls(&self) -> bool {
        // Calls hold a reference, so the count tells whether one is pending without a table of its
        // own.
        !self.addr.is_builtin() && Arc::strong_count(&self.provider) == 1
    }
}

impl ProviderProcesses {
    /// Takes in an instance that was started, for a caller that configures it.
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

    /// An idle instance, which from now on belongs to the caller.
    pub(super) fn take_idle(&self, addr: &ProviderAddr) -> Option<Arc<dyn Provider>> {
        let mut running = self.running.borrow_mut();
        let idle =
            running.iter_mut().find(|it| it.role == ProcessRole::Idle && it.addr == *addr)?;
        idle.role = ProcessRole::Busy;
        Some(idle.provider.clone())
    }

    /// Any instance of a provider, for a call that needs no configuration.
    pub(super) fn any_instance_of(&self, addr: &ProviderAddr) -> Option<Arc<dyn Provider>> {
        let running = self.running.borrow();
        let fit =
            running.iter().find(|it| it.role != ProcessRole::Dismissed && it.addr == *addr)?;
        Some(fit.provider.clone())
    }

    /// An idle instance to which no call is under way.
    pub(super) fn idle_without_calls(&self) -> Option<Arc<dyn Provider>> {
        let running = self.running.borrow();
        let unused = running.iter().find(|it| it.role != ProcessRole::Busy && it.has_no_calls())?;
        Some(unused.provider.clone())
    }

    /// Records that a task is about to find out through an instance the effect of a change.
    pub(super) fn begin_effect_query(&self, provider: &Arc<dyn Provider>) {
        let mut running = self.running.borrow_mut();
        if let Some(process) = running.iter_mut().find(|it| it.is_process_of(provider)) {
            // From here on the count protects it. After the last task it is stopped like any other.
            process.purpose = StartPurpose::Work;
            process.n_evidence += 1;
        }
    }

    /// Records that the task has found out, or cannot.
    pub(super) fn end_effect_query(&self, provider: &Arc<dyn Provider>) {
        let mut running = self.running.borrow_mut();
        if let Some(process) = running.iter_mut().find(|it| it.is_process_of(provider)) {
            process.n_evidence -= 1;
        }
    }

    /// The instances that are to be asked to stop: those that report the effect of a change are
    /// not.
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

    /// Whether an instance was asked to stop.
    pub(super) fn was_stopped(&self, provider: &Arc<dyn Provider>) -> bool {
        self.running.borrow().iter().any(|it| it.is_process_of(provider) && it.is_stopped)
    }

    /// Number of processes, those starting and ending included.
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

    /// Waits until a process has ended that is about to. Returns whether there is one.
    pub(super) async fn wait_for_dismissed_to_end(&self) -> bool {
        let ending = self.n_ending.get() > 0;
        if ending {
            self.ended.notified().await;
        }
        ending
    }

    /// Has an instance end as soon as it has no holder.
    pub(super) fn dismiss_instance(&self, provider: &Arc<dyn Provider>) {
        self.set_role(provider, ProcessRole::Dismissed);
        self.dismissed.notify_one();
    }

    /// Ends the instances that were dismissed and released since.
    pub(super) fn recheck_dismissed(&self) {
        self.dismissed.notify_one();
    }

    /// Semaphore that has to be held to replace an instance; none if it has ended.
    pub(super) fn restart_semaphore(&self, provider: &Arc<dyn Provider>) -> Option<Rc<Semaphore>> {
        let running = self.running.borrow();
        running.iter().find(|it| it.is_process_of(provider)).map(|process| process.turn.clone())
    }

    /// Ends an instance.
    pub(super) async fn end_instance(
        &self,
        launcher: &dyn ProviderLauncher,
        provider: &Arc<dyn Provider>,
    ) {
        // Out of the list before the wait, so that no new call gets a provider that is ending.
        self.running.borrow_mut().retain(|process| !process.is_process_of(provider));
        let _ending = CountGuard::new(&self.n_ending, Some(&self.ended));
        launcher.close_provider(provider).await;
    }

    /// Instances that were dismissed and have no holder.
    fn dismissed_instances(&self) -> Vec<Arc<dyn Provider>> {
        let running = self.running.borrow();
        let leaving =
            running.iter().filter(|it| it.role == ProcessRole::Dismissed && it.has_no_calls());
        leaving.map(|process| process.provider.clone()).collect()
    }

    /// Ends dismissed instances, for ever.
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
            // Side by side, because a plugin may take seconds to end.
            let ends = leaving.iter().map(|provider| self.end_instance(launcher, provider));
            futures_util::future::join_all(ends).await;
        }
    }
}

/// Something that is counted while this lives, so that a wait that is given up is not counted for ever.
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
    fn who_finds_out_what_a_change_did_is_asked_to_stop_once_that_is_known() {
        let processes = ProviderProcesses::default();
        let addr: ProviderAddr = "acme/test".parse().unwrap();
        let provider: Arc<dyn Provider> = Arc::new(BuiltinProvider::default());
        processes.add_started(&addr, &provider, StartPurpose::EffectQuery);
        assert!(processes.instances_to_stop().is_empty(), "it was started for that");
        // Two changes were lost, and both are asked about.
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
