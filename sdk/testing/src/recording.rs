//! Calls of a provider and their answers as lines of JSON: the readable form of a transcript, and
//! replayed without a provider. The record has no sensitive values. Streamed answers (of lists and
//! actions) are kept and returned as a whole.

mod answer;
mod offered_schemas;
mod record_replay_provider;
mod request;
mod secret;
mod value_json;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use formwork_plugin_protocol::transcript::{CallDecodeError, CallOutcome, DecodedCall, Transcript};
use formwork_plugin_protocol::{Failure, Provider, Request};
use serde_json::{Value as Json, json};

use record_replay_provider::{RecordingProvider, ReplayingProvider};
use secret::{Secrets, TokenValues};
use value_json::{OfferedSchemas, RecordedRequestOrAnswer};

/// A record of calls, shared by all providers that write it or answer from it.
///
/// Each line is an object: `call` and `of` name the call and its subject, then come `request` and
/// `answer`. Lines are in the order in which the calls ended, those of a transcript in the order in
/// which they began. They do not depend on the time or the machine. An unknown value is `{"$unknown": …}`. A secret is replaced by a token,
/// `«secret 1»`, the same wherever the secret is.
#[derive(Clone, Default)]
pub struct Recording(Arc<Mutex<RecordingData>>);

#[derive(Default)]
struct RecordingData {
    lines: Vec<RecordingLine>,
    secrets: Secrets,
    bound: TokenValues,
}

/// A call with its answer.
struct RecordingLine {
    call: String,
    of: String,
    request: Json,
    answer: Json,
    /// Whether its answer was used.
    used: bool,
}

/// The reason why a string is not a record.
#[derive(Debug, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct UnreadableRecording {
    line: usize,
    reason: String,
}

/// The reason why a transcript cannot be converted to a record.
#[derive(Debug, thiserror::Error)]
pub enum UnreadableTranscript {
    /// The secrets are not known without the schema.
    #[error("no call of the transcript has returned the schema, which marks sensitive attributes")]
    NoSchema,
    /// A call has no messages of the protocol.
    #[error(transparent)]
    Call(#[from] CallDecodeError),
}

impl Recording {
    /// Creates an empty record.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads a record.
    ///
    /// # Errors
    /// When a line is not a call with its answer.
    pub fn from_text(text: &str) -> Result<Self, UnreadableRecording> {
        let mut data = RecordingData::default();
        for (text, line) in text.lines().zip(1..) {
            let unreadable = |reason: String| UnreadableRecording { line, reason };
            let mut json: Json =
                serde_json::from_str(text).map_err(|error| unreadable(error.to_string()))?;
            let member = |name: &str| {
                let text = json[name].as_str().map(str::to_owned);
                text.ok_or_else(|| unreadable(format!("`{name}` is no text")))
            };
            let (call, of) = (member("call")?, member("of")?);
            let (request, answer) = (json["request"].take(), json["answer"].take());
            data.lines.push(RecordingLine { call, of, request, answer, used: false });
        }
        Ok(Self(Arc::new(Mutex::new(data))))
    }

    /// Creates a record from a transcript, such as one of a plugin.
    ///
    /// # Errors
    /// When a call cannot be decoded, or no call has returned the schema.
    pub async fn from_transcript(transcript: &Transcript) -> Result<Self, UnreadableTranscript> {
        let offer = OfferedSchemas::of_transcript(transcript).await?;
        let offer = offer.ok_or(UnreadableTranscript::NoSchema)?;
        let recording = Self::new();
        recording.add_transcript(&offer, transcript).await?;
        Ok(recording)
    }

    /// The record as text, without secrets.
    #[must_use]
    pub fn text(&self) -> String {
        let data = self.lock_data();
        let mut replacer = data.secrets.new_replacer();
        let lines = data.lines.iter().map(|line| {
            let (call, of) = (Json::from(line.call.as_str()), Json::from(line.of.as_str()));
            let (request, answer) =
                (replacer.hide_secrets(&line.request), replacer.hide_secrets(&line.answer));
            format!("{{\"call\":{call},\"of\":{of},\"request\":{request},\"answer\":{answer}}}\n")
        });
        lines.collect()
    }

    /// Wraps a provider with a layer that records its calls.
    #[must_use]
    pub fn recording_provider(&self, provider: Arc<dyn Provider>) -> Arc<dyn Provider> {
        Arc::new(RecordingProvider::new(provider, self.clone()))
    }

    /// A provider that replays the recorded answers. Only the schemas come from `offer`, so a
    /// record remains valid after changes of descriptions.
    #[must_use]
    pub fn replaying_provider(&self, offer: Arc<dyn Provider>) -> Arc<dyn Provider> {
        Arc::new(ReplayingProvider::new(offer, self.clone()))
    }

    /// The recorded calls that were not made.
    #[must_use]
    pub fn unused_calls(&self) -> Vec<String> {
        let data = self.lock_data();
        data.lines.iter().filter(|line| !line.used).map(RecordingLine::name).collect()
    }

    /// Adds a line for each call of a transcript that a record has.
    async fn add_transcript(
        &self,
        offer: &OfferedSchemas,
        transcript: &Transcript,
    ) -> Result<(), CallDecodeError> {
        // Other services than the provider's are about the process.
        for call in transcript.calls.iter().filter(|call| call.protocol().is_some()) {
            let DecodedCall { request, response } = call.decode().await?;
            let ended_at = transcript.begun.checked_add(call.start + call.duration);
            let ended_at = ended_at.unwrap_or(transcript.begun);
            let (method, of) = (request.method(), subject_of(&request).to_owned());
            let page = RecordedRequestOrAnswer::new(offer, ended_at).encode_request(&request);
            let Some(page) = page else { continue };
            let mut record = RecordedRequestOrAnswer::new(offer, ended_at);
            let answer = match response {
                Ok(response) => answer::encode_answer(&mut record, &of, response).await,
                Err(failure) => Err(failure),
            };
            match answer {
                Ok(()) => {}
                // The host has waited no longer, and has seen no answer.
                Err(Failure::GivenUp(_)) if call.outcome == CallOutcome::Unfinished => continue,
                // A failed call belongs to the record: the host has seen it.
                Err(failure) => record.add_nonempty_member("failure", json!(failure.to_string())),
            }
            self.add_line(method.handler_name(), &of, page, record);
        }
        Ok(())
    }

    fn add_line(
        &self,
        call: &str,
        of: &str,
        request: RecordedRequestOrAnswer<'_>,
        answer: RecordedRequestOrAnswer<'_>,
    ) {
        let mut data = self.lock_data();
        // For the whole record, so that a secret is hidden in earlier lines too.
        data.secrets.add_secrets(request.secrets, request.names);
        data.secrets.add_secrets(answer.secrets, answer.names);
        let (request, answer) = (Json::Object(request.fields), Json::Object(answer.fields));
        data.lines.push(RecordingLine {
            call: call.to_owned(),
            of: of.to_owned(),
            request,
            answer,
            used: false,
        });
    }

    /// Finds the answer to a call among those not used yet, with the secrets of this run, and marks
    /// it as used.
    fn take_unused_answer(
        &self,
        call: &str,
        of: &str,
        request: RecordedRequestOrAnswer<'_>,
    ) -> Result<Json, String> {
        let mut data = self.lock_data();
        let RecordingData { lines, bound, .. } = &mut *data;
        let request = Json::Object(request.fields);
        // The first unused line that fits, because concurrent calls come in any order.
        let open = lines.iter_mut().filter(|line| !line.used);
        let mut first = None;
        for line in open {
            let is_same_call = line.call == call && line.of == of;
            let verdict = match is_same_call {
                true => bound.match_request(&line.request, &request),
                false => Err(String::new()),
            };
            match verdict {
                Ok(more) => {
                    // Only a call that fits teaches values of tokens.
                    *bound = more;
                    line.used = true;
                    return Ok(bound.restore_secrets(&line.answer));
                }
                // The first remaining call of the same kind is the most helpful one in the message;
                // otherwise the very first.
                Err(difference) => match &first {
                    None => first = Some((line.name(), is_same_call, difference)),
                    Some((_, false, _)) if is_same_call => {
                        first = Some((line.name(), true, difference));
                    }
                    Some(_) => {}
                },
            }
        }
        Err(match first {
            None => format!("{call} of {of} came after everything that was recorded"),
            Some((name, false, _)) => format!("{call} of {of} came instead of {name}"),
            Some((name, true, difference)) => {
                format!(
                    "{call} of {of} came, but not as the {name} that was recorded: {difference}"
                )
            }
        })
    }

    fn lock_data(&self) -> MutexGuard<'_, RecordingData> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RecordingLine {
    fn name(&self) -> String {
        format!("{} of {}", self.call, self.of)
    }
}

/// Returns the name of the type or function that a request is about, or a word for the provider as a
/// whole.
pub(crate) fn subject_of(request: &Request) -> &str {
    match request.type_or_function_name() {
        "" => "provider",
        name => name,
    }
}

#[cfg(test)]
mod tests;
