//! Reproducer files: the recorded calls of a finding as a transcript, and playing them again byte for byte.

use std::io::{self, BufRead, Write};
use std::path::Path;
use std::time::Duration;

use formwork_plugin_protocol::transcript::{
    CallOutcome, ReadError, RecordedCall, Transcript, TranscriptStart,
};

use super::Report;
use crate::finding::Finding;
use crate::plugin::{LaunchOptions, Plugin, StartError};
use crate::rpc::Rpc;

/// The deadline of a call that is played.
const REPLAYED_CALL_TIMEOUT: Duration = Duration::from_secs(60);

impl Report {
    /// Writes the recorded calls of a finding as a transcript, with the call that had configured the
    /// process if there was one.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write_reproducer(&self, finding: &Finding, out: impl Write) -> io::Result<()> {
        let configured = finding.calls.iter().find_map(|call| call.configured.as_deref());
        let calls = configured.into_iter().chain(finding.calls.iter().map(|call| &call.recorded));
        let mut calls: Vec<RecordedCall> = calls.cloned().collect();
        // A replay goes by the order of the calls, and a finding names the call that it is about last.
        calls.sort_by_key(|call| call.start);
        Transcript { begun: self.begun, calls }.write(out)
    }
}

/// The outcome of playing one call again.
#[derive(Clone, Debug)]
pub struct ReplayedCall {
    /// The path of the method.
    pub path: String,
    /// Whether the answer is byte for byte the recorded one.
    pub is_same: bool,
    /// The recorded outcome, as a message.
    pub recorded: String,
    /// The current outcome, as a message.
    pub now: String,
}

/// Why a file could not be played.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The file is not a transcript.
    #[error("{0}")]
    File(#[from] ReadError),
    /// The provider does not start.
    #[error("the provider cannot be used: {0}")]
    Start(String),
    /// The provider speaks another version.
    #[error(
        "the file was recorded with version {recorded} of the protocol, and the provider speaks {spoken}"
    )]
    Version {
        /// The version in the file.
        recorded: u32,
        /// The version of the provider.
        spoken: u32,
    },
}

impl From<StartError> for ReplayError {
    fn from(error: StartError) -> Self {
        Self::Start(error.to_string())
    }
}

/// Plays the calls of a reproducer file against a provider.
///
/// The process is configured as in the file, or not at all. A process that replaces a crashed one is
/// configured like the one before.
///
/// # Errors
/// When the file cannot be read or the provider does not start.
pub async fn replay(file: impl BufRead, program: &Path) -> Result<Vec<ReplayedCall>, ReplayError> {
    let transcript = Transcript::read(file)?;
    let recorded = transcript.calls.iter().find_map(RecordedCall::protocol).map(|it| it.number());
    // A host that offers both versions gets 6, so only 5 is offered.
    let versions = if recorded == Some(5) { "5" } else { "5,6" };
    // The times of a replay are not looked at, so that any beginning does.
    let start = TranscriptStart::new(transcript.begun);
    let launch = LaunchOptions { versions: versions.into(), ..LaunchOptions::new(start) };
    let mut plugin = Plugin::launch(program, &launch).await?;
    let spoken = plugin.protocol.number();
    if let Some(recorded) = recorded.filter(|it| *it != spoken) {
        return Err(ReplayError::Version { recorded, spoken });
    }
    let mut outcomes = Vec::new();
    let mut configure: Option<Vec<bytes::Bytes>> = None;
    for call in &transcript.calls {
        // The call before may have crashed it.
        if !plugin.is_alive() {
            plugin = Plugin::launch(program, &launch).await?;
            if let Some(request) = configure.clone() {
                plugin.call_bytes(Rpc::ConfigureProvider, request, REPLAYED_CALL_TIMEOUT).await;
            }
        }
        let rpc = Rpc::ALL
            .into_iter()
            .find(|it| it.method_path(plugin.protocol).as_deref() == Some(&call.path));
        let Some(rpc) = rpc else { continue };
        if rpc == Rpc::ConfigureProvider {
            configure = Some(call.requests.clone());
        }
        let replayed = plugin.call_bytes(rpc, call.requests.clone(), REPLAYED_CALL_TIMEOUT).await;
        outcomes.push(ReplayedCall {
            path: call.path.clone(),
            is_same: replayed.recorded.answers == call.answers
                && is_same_outcome_kind(&replayed.recorded.outcome, &call.outcome),
            recorded: outcome_in_words(&call.outcome, call.answers.len()),
            now: replayed.describe_outcome(),
        });
    }
    Ok(outcomes)
}

fn is_same_outcome_kind(a: &CallOutcome, b: &CallOutcome) -> bool {
    match (a, b) {
        // Only the kind: the message depends on the time.
        (CallOutcome::Failed(_), CallOutcome::Failed(_)) => true,
        (a, b) => a == b,
    }
}

fn outcome_in_words(outcome: &CallOutcome, messages: usize) -> String {
    match outcome {
        CallOutcome::Ok => format!("answered with {messages} messages"),
        CallOutcome::Status(status) => format!("status {}: {}", status.code_name(), status.message),
        CallOutcome::Failed(reason) => format!("the provider has exited: {reason}"),
        CallOutcome::Unfinished if messages > 0 => format!("no end after {messages} messages"),
        CallOutcome::Unfinished => "no answer in time".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::SystemTime;

    use formwork_plugin_protocol::raw::RawStatus;

    use super::*;
    use crate::plugin::{Call, Reply};
    use crate::suite::{Options, Suite};

    /// A call that began the given number of microseconds after the run.
    fn call(rpc: Rpc, start: u64) -> Call {
        let mut call = Call::with_reply(rpc, Reply::TimedOut);
        call.recorded.start = Duration::from_micros(start);
        call
    }

    /// The file of a finding with these calls, as it is read again.
    fn reproducer(calls: &[Call]) -> Transcript {
        let begun = SystemTime::UNIX_EPOCH + Duration::from_secs(5);
        let options = Options { begun, ..Options::new("provider") };
        let finding = Finding::new("R-01", "resource", "it hangs");
        let finding = calls.iter().fold(finding, Finding::with_call);
        let mut file = Vec::new();
        let report = Report::new(&Suite::new(options), None);
        report.write_reproducer(&finding, &mut file).unwrap();
        let read = Transcript::read(file.as_slice()).unwrap();
        assert_eq!(read.begun, begun);
        read
    }

    #[test]
    fn a_reproducer_has_the_configuration_of_the_run() {
        let methods = |call: Call| -> Vec<String> {
            let calls = reproducer(&[call]).calls;
            calls.iter().map(|call| call.method().to_owned()).collect()
        };
        assert_eq!(methods(call(Rpc::ReadResource, 2)), ["ReadResource"]);
        let configured = Some(Arc::new(call(Rpc::ConfigureProvider, 1).recorded));
        let read = Call { configured, ..call(Rpc::ReadResource, 2) };
        assert_eq!(methods(read), ["ConfigureProvider", "ReadResource"]);
    }

    #[test]
    fn a_reproducer_has_the_calls_as_they_were_recorded_in_the_order_of_the_run() {
        let mut refused_call = call(Rpc::ReadResource, 7);
        refused_call.recorded.duration = Duration::from_micros(30);
        refused_call.recorded.answers = vec![bytes::Bytes::from_static(b"\xff")];
        refused_call.recorded.outcome = CallOutcome::Status(RawStatus {
            code: 5,
            message: "no such thing".to_owned(),
            details: bytes::Bytes::from_static(b"\x08\x05"),
        });
        let before = call(Rpc::ReadResource, 3);
        let written = reproducer(&[refused_call.clone(), before.clone()]).calls;
        assert_eq!(written, [before.recorded, refused_call.recorded]);
    }
}
