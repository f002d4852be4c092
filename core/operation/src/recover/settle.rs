//! Settles all selected open operations, and stores the state: adopts their objects, forgets them, or
//! lets the next apply repeat them.

use formwork_core::addr::InstanceAddr;
use formwork_core::state::recover::UnresolvedOperation;
use formwork_value::{Diagnostic, Diagnostics, Reported};

use super::select_operations::{OperationSelection, select_unresolved_addresses};
use super::{AdoptRequest, AdoptedOrDestroyed};
use crate::messages;
use crate::operation::Operation;
use crate::state_session::StateSession;

/// A decision about an open operation that requires no search for its object.
///
/// ```
/// use formwork_core::addr::InstanceAddr;
/// use formwork_operation::StateSession;
/// use formwork_operation::recover::Decision;
///
/// /// Lets the next apply do the operations on an instance again. Returns their number.
/// fn retry(session: &mut StateSession, addr: &InstanceAddr) -> usize {
///     session.decide_without_storing_state(addr, Decision::Retry).len()
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The object does not exist, or is not managed any more.
    Forget,
    /// The operation had no effect. The next apply repeats it.
    Retry,
}

impl Decision {
    /// The human-readable decision that the journal records.
    const fn reason(self) -> &'static str {
        match self {
            Self::Forget => "settled by the user",
            Self::Retry => "not executed, according to the user",
        }
    }
}

/// An instance whose open operations were settled by a [`Decision`].
///
/// ```
/// use formwork_operation::recover::SettledInstance;
///
/// /// The addresses whose objects are not managed any more.
/// fn unmanaged(settled: &[SettledInstance]) -> Vec<String> {
///     let displaced = settled.iter().filter(|instance| instance.displaced.is_some());
///     displaced.map(|instance| instance.addr.to_string()).collect()
/// }
///
/// let addr = "terraform_data.a".parse().unwrap();
/// assert!(unmanaged(&[SettledInstance { addr, displaced: None }]).is_empty());
/// ```
#[derive(Clone, Debug)]
pub struct SettledInstance {
    /// The address, as it was selected.
    pub addr: InstanceAddr,
    /// The operation whose address now has another object, if there is one: the state keeps that object,
    /// and the one of the operation is not managed.
    pub displaced: Option<UnresolvedOperation>,
}

/// A request to adopt the objects of all selected operations.
///
/// See [`Operation::adopt_selected`] for an example.
#[derive(Clone, Copy, Debug)]
pub struct AdoptSelectedRequest<'a> {
    /// The operations.
    pub selection: OperationSelection<'a>,
    /// The id of the object, if the user specified it. An id is valid for one operation only.
    pub id: Option<&'a str>,
    /// Whether the objects may differ from the plan.
    pub force: bool,
}

/// The result of a request to adopt objects.
///
/// ```
/// use formwork_operation::recover::{AdoptedOrDestroyed, AdoptionSummary};
///
/// let adopted = vec![AdoptedOrDestroyed::InState("terraform_data.a".parse().unwrap())];
/// let summary = AdoptionSummary { adopted, is_complete: true };
/// assert_ne!(summary, AdoptionSummary::default());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AdoptionSummary {
    /// The completed adoptions. They are in the stored state.
    pub adopted: Vec<AdoptedOrDestroyed>,
    /// Whether all selected operations are settled.
    pub is_complete: bool,
}

impl StateSession {
    /// Settles open operations by a decision of the user, and stores the state. Returns the instances, or
    /// none if all are selected and nothing is open.
    ///
    /// ```
    /// use formwork_backend::local::StateFilePaths;
    /// use formwork_operation::recover::{Decision, OperationSelection};
    /// use formwork_operation::{SessionOptions, StateSession};
    /// use formwork_value::Diagnostics;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let directory = tempfile::tempdir().unwrap();
    /// let state = StateFilePaths::from_state_path(directory.path().join("terraform.tfstate")).into();
    /// let mut diags = Diagnostics::new();
    /// let options = SessionOptions::new("recover", directory.path());
    /// let mut session = StateSession::open(&mut diags, state, &options).await.unwrap();
    /// let all = OperationSelection::All;
    /// let settled = session.settle_selected(&mut diags, all, Decision::Retry).await;
    /// session.unlock(&mut diags).await;
    /// // No run was interrupted in this directory.
    /// assert!(settled.unwrap().is_empty());
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns an error if the selection matches nothing, or if the state cannot be written.
    pub async fn settle_selected(
        &mut self,
        diags: &mut Diagnostics,
        selection: OperationSelection<'_>,
        decision: Decision,
    ) -> Result<Vec<SettledInstance>, Reported> {
        let selected = select_unresolved_addresses(diags, self, selection)?;
        let mut settled = Vec::new();
        for addr in selected {
            let open = self.decide_without_storing_state(&addr, decision);
            // A decision does not change the state, so the other object is still found in it.
            let state = &self.file.state;
            let displaced = open
                .into_iter()
                .rfind(|operation| operation.other_object_in_place(state).is_some());
            settled.push(SettledInstance { addr, displaced });
        }
        // One write for all of them: a failure must not keep only some of the decisions.
        if !settled.is_empty() {
            self.write_state_or_errored_file(diags).await?;
        }
        Ok(settled)
    }

    /// Decides about all open operations of an instance, without storing the state: see
    /// [`StateSession::write_state_or_errored_file`]. Returns these operations.
    pub fn decide_without_storing_state(
        &mut self,
        addr: &InstanceAddr,
        decision: Decision,
    ) -> Vec<UnresolvedOperation> {
        self.mark_decided(addr, decision.reason())
    }
}

impl Operation<'_> {
    /// Adopts the objects of all selected operations, and stores the state with the objects that
    /// could be adopted.
    ///
    /// ```
    /// use formwork_operation::recover::{AdoptSelectedRequest, OperationSelection};
    /// use formwork_operation::{Operation, StateSession};
    /// use formwork_value::{Diagnostics, Reported};
    ///
    /// async fn adopt_all(
    ///     diags: &mut Diagnostics,
    ///     operation: &Operation<'_>,
    ///     session: &mut StateSession,
    /// ) -> Result<bool, Reported> {
    ///     let selection = OperationSelection::All;
    ///     let request = AdoptSelectedRequest { selection, id: None, force: false };
    ///     let summary = operation.adopt_selected(diags, session, request).await?;
    ///     Ok(summary.is_complete)
    /// }
    /// ```
    ///
    /// # Errors
    /// Returns an error if the selection matches nothing, if an id is given for several operations, or
    /// if the state cannot be written. Failed adoptions are reported, but return no error here: see
    /// [`AdoptionSummary::is_complete`].
    pub async fn adopt_selected(
        &self,
        diags: &mut Diagnostics,
        session: &mut StateSession,
        request: AdoptSelectedRequest<'_>,
    ) -> Result<AdoptionSummary, Reported> {
        let AdoptSelectedRequest { selection, id, force } = request;
        // The user specifies addresses of the configuration, which may have changed since that run.
        session.follow_moves_of_unresolved(self.inputs.config);
        let selected = select_unresolved_addresses(diags, session, selection)?;
        if id.is_some() && selected.len() > 1 {
            let detail = "The address matches several operations, but an id identifies one object.";
            return Err(diags.error(Diagnostic::error(messages::TOO_MANY_OPERATIONS, detail)));
        }
        let mut adopted = Vec::new();
        for addr in &selected {
            let request = AdoptRequest { addr, id, force };
            // A failure is reported, and must not keep the other objects out of the state.
            if let Ok(outcome) = self.adopt_without_storing_state(diags, session, request).await {
                adopted.push(outcome);
            }
        }
        // After failures too: the providers' responses about these objects are not requested again.
        if !adopted.is_empty() {
            session.write_state_or_errored_file(diags).await?;
        }
        let is_complete = adopted.len() == selected.len();
        Ok(AdoptionSummary { adopted, is_complete })
    }
}
