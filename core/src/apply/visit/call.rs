//! One changing call: announced in the journal before it is sent, its answer kept before it is
//! examined. The visits decide which change is made, and which meaning its outcome has for the
//! object.

mod resolve_unknown;
mod salvage;

use std::rc::Rc;

use formwork_plugin_protocol::Failure;
use formwork_value::diag::Blame;
use formwork_value::{Diagnostic, Diagnostics, Path, Reported, Value};

use self::salvage::taken_down;
use super::View;
use crate::instance::ChangeRequest;
use crate::messages;
use crate::provider::{Ask, CallContext, ProviderClient, ResourceType};
use crate::state::Object;
use crate::state::journal::{Action, Intent, JournalError, Op};

pub(super) use salvage::{RemainingObject, Salvaged, Seen};

/// A changing call.
#[derive(Clone, Copy)]
pub(super) struct Call<'a> {
    pub(super) view: View<'a>,
    pub(super) handle: &'a Rc<ProviderClient>,
    pub(super) ty: &'a ResourceType,
    pub(super) about: CallContext<'a>,
    pub(super) intent: Intent<'a>,
    pub(super) ask: Ask<'a>,
    /// The object that is changed or destroyed; `None` if one is made.
    pub(super) object: Option<&'a Object>,
    /// Value of the object that the new one replaces and that still exists; null if there is none.
    pub(super) predecessor: &'a Value,
    /// Sensitive paths, which messages must not show.
    pub(super) secrets: &'a [Path],
}

/// A call that was announced.
#[derive(Clone, Copy)]
pub(super) struct AnnouncedCall<'a> {
    call: Call<'a>,
    op: Op,
}

impl<'a> Call<'a> {
    fn change_request(self) -> ChangeRequest<'a> {
        let Self { handle, ty, about, secrets, .. } = self;
        ChangeRequest { handle, ty, about, secrets }
    }

    /// Announces the call. Calls of the built-in provider change nothing outside this process, so
    /// they do not wait for the disk.
    ///
    /// # Errors
    /// When it could not be announced; then the call must not be made.
    pub(super) async fn announce(
        self,
        diags: &mut Diagnostics,
    ) -> Result<AnnouncedCall<'a>, Reported> {
        let journal = self.view.journal;
        let op = match self.intent.provider.provider.is_builtin() {
            // An announcement waits for a sync of the disk. For `terraform_data` that would be the
            // larger part of the run, and after a crash its operation can be repeated without harm.
            true => journal.note(self.intent),
            false => journal.announce(self.intent).await,
        };
        let op = op.map_err(|why| {
            let addr = self.about.addr;
            let what = format!(
                "The change of {addr} was not started, and nothing more will be, because it could not be written to the journal first"
            );
            self.unwritten(diags, &what, &why)
        })?;
        Ok(AnnouncedCall { call: self, op })
    }

    /// Names the command that settles a creation whose outcome is unknown.
    fn outcome_unknown(self) -> Diagnostic {
        let addr = self.about.addr;
        let detail = format!(
            "{addr} may have been created, although the state has no object of it. The operation stays open: no run creates {addr} again until that is settled. The next plan asks the provider for the object, where the provider can tell. `formwork recover list` shows the planned attributes to look for and the commands to settle it."
        );
        Diagnostic::warning(messages::OUTCOME_OPERATION_IS_UNKNOWN, detail)
            .about(addr.to_string())
            .at_opt(self.about.block)
    }

    fn unwritten(self, diags: &mut Diagnostics, what: &str, why: &JournalError) -> Reported {
        let problem =
            Diagnostic::error(messages::JOURNAL_CANNOT_BE_WRITTEN, format!("{what}: {why}"));
        diags.error(problem.blame(Blame::Environment).about(self.about.addr.to_string()))
    }
}

impl AnnouncedCall<'_> {
    /// Sends the call, keeps the answer, and only then examines it. Without a usable answer, finds
    /// out the effect of the call.
    pub(super) async fn send(self, diags: &mut Diagnostics) -> Salvaged {
        let Self { call, op } = self;
        // No failure may leave this function between here and `answer` below: the object may exist
        // from now on, and the journal is its only record.
        let answer = call.handle.apply(call.ty, call.ask, call.about.addr).await;
        // The raw bytes are stored before anything decodes them. If decoding panics or the process
        // dies, the next run still has the id of a created object.
        let kept =
            call.view.journal.answer(op, taken_down(&answer, |text| call.handle.masked(text)));
        // The provider may still be at work on it.
        let given_up = matches!(answer, Err(Failure::GivenUp(_)));
        let salvaged = call.salvage(diags, answer);
        let salvaged = match salvaged.left {
            // The future is boxed because this branch is rare and large, and every visit would
            // reserve room for it.
            RemainingObject::InDoubt if !given_up => Box::pin(call.resolve(diags, salvaged)).await,
            _ => salvaged,
        };
        if matches!(salvaged.left, RemainingObject::InDoubt) && call.intent.action == Action::Create
        {
            // Only a creation needs the user. An update or destruction is settled by the next
            // refresh, which reads the object by its stored id.
            diags.warn(call.outcome_unknown());
        }
        // Reported last: a full disk must not hide the errors of the provider, and must not stop
        // the object from being recorded in memory.
        let found = || call.named(&salvaged.left);
        self.report_unless(diags, kept, found);
        salvaged
    }

    /// Records the result of the call for the state: the object after it.
    pub(super) fn settle(self, diags: &mut Diagnostics, object: Option<&Object>) {
        self.report_unless(diags, self.call.view.journal.settle(self.op, object), String::new);
    }

    /// Records the result of the call for the state in case that the remaining steps have no
    /// result.
    pub(super) fn settle_for_now(self, diags: &mut Diagnostics, object: Option<&Object>) {
        let kept = self.call.view.journal.settle_for_now(self.op, object);
        self.report_unless(diags, kept, String::new);
    }

    /// Nothing is wrong with the object when its outcome cannot be kept: dependents wait, that is all.
    /// `named` is what the message says about the object, which may be known nowhere else.
    fn report_unless(
        self,
        diags: &mut Diagnostics,
        kept: Result<(), JournalError>,
        named: impl FnOnce() -> String,
    ) {
        let Err(why) = kept else { return };
        // A journal that takes no answer takes no outcome either; saying so once is enough.
        let addr = self.call.about.addr.to_string();
        let is_said = |said: &Diagnostic| {
            said.reports(messages::JOURNAL_CANNOT_BE_WRITTEN)
                && said.address.as_deref() == Some(addr.as_str())
        };
        if !diags.iter().any(is_said) {
            let what =
                format!("The outcome of {addr}{} could not be written to the journal", named());
            let _: Reported = self.call.unwritten(diags, &what, &why);
        }
    }
}
