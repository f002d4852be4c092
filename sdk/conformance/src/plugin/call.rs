//! A call as it was recorded, with its decoded reply.

use std::sync::Arc;

use bytes::Bytes;
use formwork_plugin_protocol::transcript::{CallOutcome, RecordedCall};

use super::truncate;
use crate::message::Msg;
use crate::rpc::{Diag, Rpc};

/// The most bytes of one answer.
pub(super) const MAX_ANSWER_BYTES: usize = 96 << 20;
/// The most messages of one answer.
const MAX_ANSWER_MESSAGES: usize = 10_000;

/// The outcome of one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// The messages of the answer; one unless the call streams.
    Answered(Vec<Msg>),
    /// A gRPC status: code and message.
    Refused(String, String),
    /// The process has exited or the connection is closed.
    Lost {
        /// The reason.
        reason: String,
        /// Whether the process reported a panic.
        panicked: bool,
    },
    /// No answer in time.
    TimedOut,
    /// Bytes that are not a message.
    Garbage,
}

impl Reply {
    /// Decodes the reply in the record of a call.
    pub(super) fn from_recorded(call: &RecordedCall, panicked: bool) -> Self {
        match &call.outcome {
            CallOutcome::Status(status) => {
                Self::Refused(status.code_name(), status.message.clone())
            }
            CallOutcome::Failed(reason) => Self::Lost { reason: reason.clone(), panicked },
            CallOutcome::Unfinished if !is_cut_off(&call.answers) => Self::TimedOut,
            CallOutcome::Ok | CallOutcome::Unfinished => {
                match call.answers.iter().map(Msg::parse).collect::<Option<Vec<_>>>() {
                    Some(messages) if !messages.is_empty() => Self::Answered(messages),
                    _ => Self::Garbage,
                }
            }
        }
    }
}

/// Whether this side has ended an unfinished answer.
fn is_cut_off(answers: &[Bytes]) -> bool {
    is_at_answer_limit(answers.len(), answers.iter().map(Bytes::len).sum())
}

/// Whether the answer to one call has reached the size limit.
pub(super) fn is_at_answer_limit(n_messages: usize, n_bytes: usize) -> bool {
    n_messages >= MAX_ANSWER_MESSAGES || n_bytes > MAX_ANSWER_BYTES
}

/// A call as it was recorded, with its decoded reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The call.
    pub rpc: Rpc,
    /// The bytes, times and outcome of the call, as they went over the wire. The reason of a lost call also
    /// has the end of the process.
    pub recorded: RecordedCall,
    /// Decoded reply.
    pub reply: Reply,
    /// The call that had configured the process, if there was one.
    pub configured: Option<Arc<RecordedCall>>,
}

impl Call {
    /// Returns a call that could not be sent.
    #[must_use]
    pub(crate) fn unsent(rpc: Rpc, recorded: RecordedCall) -> Self {
        let reply = Reply::from_recorded(&recorded, false);
        Self { rpc, recorded, reply, configured: None }
    }

    /// Returns the first message of the answer.
    #[must_use]
    pub fn first_message(&self) -> Option<&Msg> {
        match &self.reply {
            Reply::Answered(messages) => messages.first(),
            _ => None,
        }
    }

    /// Returns the diagnostics of all messages of the answer.
    #[must_use]
    pub fn diagnostics(&self) -> Vec<Diag> {
        let Reply::Answered(messages) = &self.reply else { return Vec::new() };
        if self.rpc == Rpc::InvokeAction {
            let ends = messages.iter().filter_map(|message| message.get_msg(2));
            return ends
                .flat_map(|end| end.repeated_messages(1))
                .map(|it| Diag::decode(&it))
                .collect();
        }
        let Some(field) = self.rpc.diagnostics_field() else { return Vec::new() };
        let diagnostics = messages.iter().flat_map(|message| message.repeated_messages(field));
        diagnostics.map(|message| Diag::decode(&message)).collect()
    }

    /// Whether it was answered without errors.
    #[must_use]
    pub fn is_success(&self) -> bool {
        matches!(self.reply, Reply::Answered(_)) && !self.diagnostics().iter().any(Diag::is_error)
    }

    /// Whether the provider answered, even with an error.
    #[must_use]
    pub fn has_reply(&self) -> bool {
        matches!(self.reply, Reply::Answered(_) | Reply::Refused(..))
    }

    /// Whether the call crashed the provider or hangs.
    #[must_use]
    pub fn is_crash_or_hang(&self) -> bool {
        matches!(self.reply, Reply::Lost { .. } | Reply::TimedOut | Reply::Garbage)
    }

    /// The reply in a few words.
    #[must_use]
    pub fn describe_outcome(&self) -> String {
        match &self.reply {
            Reply::Answered(_) => match self.diagnostics().into_iter().find(Diag::is_error) {
                Some(error) => format!("error: {}", truncate(&error.one_line(), 300)),
                None => "answered".to_owned(),
            },
            Reply::Refused(code, message) => format!("status {code}: {}", truncate(message, 300)),
            Reply::Lost { reason, .. } => {
                format!("the provider has exited: {}", truncate(reason, 600))
            }
            Reply::TimedOut => "no answer in time".to_owned(),
            Reply::Garbage => "an answer that is not a message".to_owned(),
        }
    }
}

#[cfg(test)]
impl Call {
    /// Returns a call without bytes, for a test that checks only its reply.
    pub(crate) fn with_reply(rpc: Rpc, reply: Reply) -> Self {
        use formwork_plugin_protocol::handshake::Protocol;
        use formwork_plugin_protocol::transcript::TranscriptStart;

        let call = super::raw_call(rpc.path_of_name(Protocol::LATEST), Vec::new());
        let start = TranscriptStart::new(std::time::SystemTime::UNIX_EPOCH);
        let recorded = start.record_unsent_call(call, CallOutcome::Unfinished);
        Self { rpc, recorded, reply, configured: None }
    }
}
