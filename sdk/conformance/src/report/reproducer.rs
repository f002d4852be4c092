//! Reproducer files: the calls of a finding as a transcript, and playing them again byte for byte.

use std::io::{self, BufRead, Write};
use std::path::Path;
use std::time::{Duration, SystemTime};

use formwork_plugin_protocol::raw::RawStatus;
use formwork_plugin_protocol::transcript::{CallOutcome, ReadError, RecordedCall, Transcript};

use crate::finding::Finding;
use crate::plugin::{Call, LaunchOptions, Plugin, Reply, StartError};
use crate::rpc::Rpc;

/// The deadline of a call that is played.
const REPLAYED_CALL_TIMEOUT: Duration = Duration::from_secs(60);

impl Finding {
    /// Writes the calls of the finding as a transcript, after the call that had configured the process
    /// if there was one.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write_reproducer(
        &self,
        protocol: u32,
        begun: SystemTime,
        out: impl Write,
    ) -> io::Result<()> {
        let configured = self.calls.iter().find_map(|call| call.configured.as_deref());
        let calls = configured.into_iter().chain(&self.calls);
        Transcript { begun, calls: calls.map(|call| to_recorded_call(call, protocol)).collect() }
            .write(out)
    }
}

fn to_recorded_call(call: &Call, protocol: u32) -> RecordedCall {
    let version = formwork_plugin_protocol::handshake::Protocol::from_number(protocol);
    let path = version.and_then(|it| call.rpc.method_path(it));
    RecordedCall {
        path: path.unwrap_or_else(|| format!("/tfplugin{protocol}.Provider/{}", call.rpc.name())),
        // A replay goes by the order of the calls, and not by their times.
        start: Duration::ZERO,
        duration: call.took,
        requests: call.request.clone(),
        answers: call.answers.clone(),
        outcome: match &call.reply {
            // The call ended well, and only its bytes make no sense.
            Reply::Answered(_) | Reply::Garbage => CallOutcome::Ok,
            Reply::Refused(code, message) => CallOutcome::Status(RawStatus {
                code: status_code_number(code),
                message: message.clone(),
                details: bytes::Bytes::new(),
            }),
            Reply::Lost { why, .. } => CallOutcome::Failed(why.clone()),
            Reply::TimedOut => CallOutcome::Unfinished,
        },
    }
}

/// The number of a status code.
fn status_code_number(name: &str) -> i32 {
    let status = |code| RawStatus { code, message: String::new(), details: bytes::Bytes::new() };
    // 2 is gRPC's `Unknown`.
    (0..=16).find(|code| status(*code).code_name() == name).unwrap_or(2)
}

/// The outcome of playing one call again.
#[derive(Clone, Debug)]
pub struct ReplayedCall {
    /// The path of the method.
    pub path: String,
    /// Whether the answer is byte for byte the recorded one.
    pub is_same: bool,
    /// The recorded outcome in words.
    pub recorded: String,
    /// The outcome now in words.
    pub now: String,
}

/// Why a file could not be played.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The file is no transcript.
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
    // A host that offers both versions gets 6, so 5 is offered alone.
    let versions = if recorded == Some(5) { "5" } else { "5,6" };
    let launch = LaunchOptions { versions: versions.into(), ..LaunchOptions::default() };
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
        let now = plugin.call_bytes(rpc, call.requests.clone(), REPLAYED_CALL_TIMEOUT).await;
        let recorded_now = to_recorded_call(&now, spoken);
        outcomes.push(ReplayedCall {
            path: call.path.clone(),
            is_same: now.answers == call.answers
                && is_same_outcome_kind(&recorded_now.outcome, &call.outcome),
            recorded: outcome_in_words(&call.outcome, call.answers.len()),
            now: now.describe_outcome(),
        });
    }
    Ok(outcomes)
}

fn is_same_outcome_kind(a: &CallOutcome, b: &CallOutcome) -> bool {
    match (a, b) {
        // Only the kind: the text depends on the moment.
        (CallOutcome::Failed(_), CallOutcome::Failed(_)) => true,
        (a, b) => a == b,
    }
}

fn outcome_in_words(outcome: &CallOutcome, messages: usize) -> String {
    match outcome {
        CallOutcome::Ok => format!("answered with {messages} messages"),
        CallOutcome::Status(status) => format!("status {}: {}", status.code_name(), status.message),
        CallOutcome::Failed(why) => format!("the provider is gone: {why}"),
        CallOutcome::Unfinished => "no answer in time".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn call(rpc: Rpc, configured: Option<Arc<Call>>) -> Call {
        let (request, answers, took) = (Vec::new(), Vec::new(), Duration::ZERO);
        Call { rpc, request, answers, reply: Reply::TimedOut, took, configured }
    }

    /// The methods in the reproducer of a finding with one call.
    fn methods(call: &Call) -> Vec<String> {
        let finding = Finding::new("R-01", "resource", "it hangs").with_call(call);
        let mut file = Vec::new();
        finding.write_reproducer(6, SystemTime::UNIX_EPOCH, &mut file).unwrap();
        let read = Transcript::read(file.as_slice()).unwrap();
        read.calls.into_iter().map(|call| call.path).collect()
    }

    #[test]
    fn a_reproducer_configures_as_the_run_had() {
        let configured = Some(Arc::new(call(Rpc::ConfigureProvider, None)));
        let [configure, read] =
            ["ConfigureProvider", "ReadResource"].map(|it| format!("/tfplugin6.Provider/{it}"));
        assert_eq!(methods(&call(Rpc::ReadResource, None)), std::slice::from_ref(&read));
        assert_eq!(methods(&call(Rpc::ReadResource, configured)), [configure, read]);
    }
}
