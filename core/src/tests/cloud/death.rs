//! Processes that die during a call, and calls that hang until they are released.

use std::sync::atomic::Ordering::Relaxed;

use formwork_plugin_protocol::Failure;
use formwork_plugin_protocol::message::ProviderDiagnostic;
use formwork_value::Path;
use formwork_value::diag::Severity;

use super::{CallFault, CloudProvider, FakeCloud};

fn process_ended_failure() -> Failure {
    Failure::Lost { reason: "connection closed".into(), exit: None, output: String::new() }
}

impl FakeCloud {
    pub(super) fn last_call(&self) -> String {
        self.lock_contents().calls.last().cloned().unwrap_or_default()
    }

    /// Waits as long as a call is to hang.
    pub(super) async fn hang_while_scripted(&self, call: &str) {
        while self.lock_contents().faults.get(call) == Some(&CallFault::Hangs) {
            self.lock_contents().hung = true;
            tokio::task::yield_now().await;
        }
    }
}

impl CloudProvider {
    /// Dies.
    pub(super) fn die(&self) -> Failure {
        // It dies once, though several calls may be lost with it.
        if !self.dead.swap(true, Relaxed) {
            self.cloud.lock_contents().n_running -= 1;
        }
        process_ended_failure()
    }

    pub(super) fn check_alive(&self) -> Result<(), Failure> {
        if self.dead.load(Relaxed) { Err(process_ended_failure()) } else { Ok(()) }
    }

    /// Makes the most of a call: it may hang, and the process may die over it.
    pub(super) async fn run_object_faults(&self, call: &str) -> Result<(), Failure> {
        self.cloud.hang_while_scripted(call).await;
        if self.cloud.lock_contents().deaths.remove(call) {
            return Err(self.die());
        }
        self.check_alive()
    }

    /// The same for requests to the process as a whole, which may also be refused.
    pub(super) async fn run_process_faults(&self, call: &str) -> Result<(), Failure> {
        let call = format!("{call} {}", self.number);
        let fault = self.cloud.lock_contents().faults.get(&call).copied();
        if fault == Some(CallFault::Refuses) {
            return Err(Failure::Status { code: "Internal".into(), message: "no".into() });
        }
        self.run_object_faults(&call).await
    }

    /// Warnings of the process when it returns its schemas.
    pub(super) fn warnings(&self) -> Vec<ProviderDiagnostic> {
        let warning = self.cloud.lock_contents().warning.clone();
        let warnings = warning.into_iter().map(|summary| ProviderDiagnostic {
            severity: Severity::Warning,
            summary,
            detail: String::new(),
            path: Path::root(),
            code: None,
        });
        warnings.collect()
    }
}
