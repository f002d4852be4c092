//! One changing call: announced in the journal before it is sent, its answer kept before it is
//! examined. The visits decide which change is made, and which meaning its outcome has for the
//! object.

mod resolve_unknown;
mod salvage;

use std::rc::Rc;

use formwork_plugin_protocol::Failure;
use formwork_value::diag::Blame;
use formwork_value::{Diagnostic, Diagnostics, Path, Reported, Value};

use self::salvage::to_journaled_answer;
use super::ApplyContext;
use crate::instance_steps::ChangeRequest;
use crate::messages;
use crate::provider::{CallContext, ChangeValues, ProviderClient, ResourceType};
use crate::state::ObjectState;
use crate::state::journal::{
    CallAction, Intent, InternalRecordTiming, JournalError, OperationId, ProviderAnswer,
};

pub(in crate::apply) use salvage::{ObjectAfterCall, ReturnedObject, SalvagedResult};

/// A changing call.
#[derive(Clone, Copy)]
pub(in crate::apply) struct ChangeCall<'a> {
    pub(in crate::apply) view: ApplyContext<'a>,
    pub(in crate::apply) client: &'a Rc<ProviderClient>,
    pub(in crate::apply) ty: &'a ResourceType,
    pub(in crate::apply) about: CallContext<'a>,
    pub(in crate::apply) intent: Intent<'a>,
    pub(in crate::apply) values: ChangeValues<'a>,
    /// The object that is changed or destroyed; `None` if one is made.
    pub(in crate::apply) object: Option<&'a ObjectState>,
    /// Value of the object that the new one replaces and that still exists; null if there is none.
    pub(in crate::apply) predecessor: &'a Value,
    /// Sensitive paths, which messages must not show.
    pub(in crate::apply) secrets: &'a [Path],
    /// Whether provisioners run with the call: after a creation, or before a destruction.
    pub(in crate::apply) has_provisioners: bool,
}

/// A call that was announced.
#[derive(Clone, Copy)]
pub(in crate::apply) struct AnnouncedCall<'a> {
    call: ChangeCall<'a>,
    op: OperationId,
}

impl<'a> ChangeCall<'a> {
    fn change_request(self) -> ChangeRequest<'a> {
        let Self { client, ty, about, secrets, .. } = self;
        ChangeRequest { client, ty, about, secrets }
    }

    /// Announces the call. Calls of the built-in provider change nothing outside this process, so
    /// they do not wait for the disk.
    ///
    /// # Errors
    /// Returns an error if the announcement fails. The call must then not be made.
    pub(in crate::apply) async fn announce(
        self,
        diags: &mut Diagnostics,
    ) -> Result<AnnouncedCall<'a>, Reported> {
        let journal = self.view.journal;
        let op = match self.intent.provider.provider.is_builtin() {
            // An announcement waits for a sync of the disk. For `terraform_data` that would be the
            // larger part of the run, and after a crash its operation can be repeated without harm.
            true => {
                let records = match self.has_provisioners {
                    true => InternalRecordTiming::AtOnce,
                    false => InternalRecordTiming::Buffered,
                };
                journal.announce_internal_call(self.intent, records)
            }
            false => journal.announce_operation(self.intent).await,
        };
        let op = op.map_err(|error| {
            let addr = self.about.addr;
            let effect = format!(
                "The change of {addr} was not started, and nothing more will be, because it could not be written to the journal first"
            );
            self.report_journal_write_error(diags, &effect, &error)
        })?;
        Ok(AnnouncedCall { call: self, op })
    }

    /// Names the command that settles a creation whose outcome is unknown.
    fn outcome_unknown_diagnostic(self) -> Diagnostic {
        let addr = self.about.addr;
        let detail = format!(
            "{addr} may have been created, although the state has no object of it. The operation stays open: no run creates {addr} again until that is settled. The next plan asks the provider for the object, where the provider can tell. `formwork recover list` shows the planned attributes to look for and the commands to settle it."
        );
        Diagnostic::warning(messages::OUTCOME_OPERATION_IS_UNKNOWN, detail)
            .about(addr.to_string())
            .at_opt(self.about.block)
    }

    fn report_journal_write_error(
        self,
        diags: &mut Diagnostics,
        effect: &str,
        error: &JournalError,
    ) -> Reported {
        let problem =
            Diagnostic::error(messages::JOURNAL_CANNOT_BE_WRITTEN, format!("{effect}: {error}"));
        diags.error(problem.blamed_on(Blame::Environment).about(self.about.addr.to_string()))
    }
}

impl AnnouncedCall<'_> {
    /// Sends the call, keeps the answer, and only then examines it. Without a usable answer, finds
    /// out the effect of the call.
    pub(in crate::apply) async fn send(self, diags: &mut Diagnostics) -> SalvagedResult {
        let Self { call, op } = self;
        // No failure may leave this function between here and `answer` below: the object may exist
        // from now on, and the journal is its only record.
        let answer = call.client.apply_change(call.ty, call.values, call.about.addr).await;
        // The raw bytes are stored before anything decodes them. If decoding panics or the process
        // dies, the next run still has the id of a created object.
        // The process itself answers for the built-in provider, and its result is recorded next.
        let journaled = match call.intent.provider.provider.is_builtin() {
            true => Ok(()),
            false => {
                let journaled = to_journaled_answer(&answer, |text| call.client.mask_secrets(text));
                let has_sensitive_id = call.has_sensitive_id();
                call.view
                    .journal
                    .record_answer(op, ProviderAnswer { has_sensitive_id, ..journaled })
            }
        };
        // The provider may still be at work on it.
        let given_up = matches!(answer, Err(Failure::GivenUp(_)));
        let salvaged = call.salvage_answer(diags, answer);
        let salvaged = match salvaged.after_call {
            // The future is boxed because this branch is rare and large, and every visit would
            // reserve room for it.
            ObjectAfterCall::Unknown if !given_up => {
                Box::pin(call.resolve_unknown_effect(diags, salvaged)).await
            }
            _ => salvaged,
        };
        if matches!(salvaged.after_call, ObjectAfterCall::Unknown)
            && call.intent.action == CallAction::Create
        {
            // Only a creation needs the user. An update or destruction is settled by the next
            // refresh, which reads the object by its stored id.
            diags.warn(call.outcome_unknown_diagnostic());
        }
        // Reported last: a full disk must not hide the errors of the provider, and must not stop
        // the object from being recorded in memory.
        let existing_id = || call.describe_existing_id(&salvaged.after_call);
        self.report_unrecorded_result(diags, journaled, existing_id);
        salvaged
    }

    /// Records the result of the call for the state: the object after it.
    pub(in crate::apply) fn settle_operation(
        self,
        diags: &mut Diagnostics,
        object: Option<&ObjectState>,
    ) {
        self.report_unrecorded_result(
            diags,
            self.call.view.journal.settle_operation(self.op, object),
            String::new,
        );
    }

    /// Records the result of the call for the state in case that the remaining steps have no
    /// result.
    pub(in crate::apply) fn record_interim_result(
        self,
        diags: &mut Diagnostics,
        object: Option<&ObjectState>,
    ) {
        let written = self.call.view.journal.record_interim_result(self.op, object);
        self.report_unrecorded_result(diags, written, String::new);
    }

    /// Nothing is wrong with the object when its outcome cannot be kept: dependents wait, that is all.
    /// `named` is the name of the object in the message, which may be known nowhere else.
    fn report_unrecorded_result(
        self,
        diags: &mut Diagnostics,
        written: Result<(), JournalError>,
        named: impl FnOnce() -> String,
    ) {
        let Err(error) = written else { return };
        // A journal that takes no answer takes no outcome either; saying so once is enough.
        let addr = self.call.about.addr.to_string();
        let is_said = |diagnostic: &Diagnostic| {
            diagnostic.is_about_message(messages::JOURNAL_CANNOT_BE_WRITTEN)
                && diagnostic.address.as_deref() == Some(addr.as_str())
        };
        if !diags.iter().any(is_said) {
            let effect =
                format!("The outcome of {addr}{} could not be written to the journal", named());
            let _: Reported = self.call.report_journal_write_error(diags, &effect, &error);
        }
    }
}
