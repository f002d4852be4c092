//! Processes that die over a call, and calls that hang until they are let go.

use std::sync::atomic::Ordering::Relaxed;

use formwork_plugin_protocol::Failure;
use formwork_plugin_protocol::message::ProviderDiagnostic;
use formwork_value::Path;
use formwork_value::diag::Severity;

use super::{Cloud, Cloudy, Fault};

fn gone() -> Failure {
    Failure::Lost { reason: "connection closed".into(), exit: None, output: String::new() }
}

impl Cloud {
    pub(super) fn last_call(&self) -> String {
        self.things().calls.last().cloned().unwrap_or_default()
    }

    /// Waits as long as a call is to hang.
    pub(super) async fn let_go(&self, call: &str) {
        while self.things().faults.get(call) == Some(&Fault::Hangs) {
            self.things().hung = true;
            tokio::task::yield_now().await;
        }
    }
}

impl Cloudy {
    /// Dies.
    pub(super) fn lost(&self) -> Failure {
        // It dies once, though several calls may be lost with it.
        if !self.dead.swap(true, Relaxed) {
            self.cloud.things().n_running -= 1;
        }
        gone()
    }

    pub(super) fn alive(&self) -> Result<(), Failure> {
        if self.dead.load(Relaxed) { Err(gone()) } else { Ok(()) }
    }

    /// Makes the most of a call: it may hang, and the process may die over it.
    pub(super) async fn outlives(&self, call: &str) -> Result<(), Failure> {
        self.cloud.let_go(call).await;
        if self.cloud.things().deaths.remove(call) {
            return Err(self.lost());
        }
        self.alive()
    }

    /// The same for what is asked of this process as a whole. It may refuse, too.
    pub(super) async fn survives(&self, call: &str) -> Result<(), Failure> {
        let call = format!("{call} {}", self.number);
        let fault = self.cloud.things().faults.get(&call).copied();
        if fault == Some(Fault::Refuses) {
            return Err(Failure::Status { code: "Internal".into(), message: "no".into() });
        }
        self.outlives(&call).await
    }

    /// Warnings of the process when it returns its schemas.
    pub(super) fn warnings(&self) -> Vec<ProviderDiagnostic> {
        let warning = self.cloud.things().warning.clone();
        let warnings = warning.into_iter().map(|summary| ProviderDiagnostic {
            severity: Severity::Warning,
            summary,
            detail: String::new(),
            path: Path::root(),
        });
        warnings.collect()
    }
}
