//! The report of a run, and the forms in which it is written.

mod badge_line;
mod html;
mod json;
mod junit;
mod reproducer;
mod sarif;
mod terminal;

use std::collections::BTreeMap;
use std::io::Read as _;
use std::time::{Duration, SystemTime};

use formwork_plugin_protocol::transcript::{CallOutcome, RecordedCall};
use formwork_value::codec::hex;
use sha2::{Digest as _, Sha256};

use crate::finding::{Finding, Verdict};
use crate::offer::Kind;
use crate::rules::{self, Rule, Severity};
use crate::suite::{CheckedProvider, Suite};

pub use reproducer::{ReplayError, ReplayedCall, replay};

/// A rule with its verdict.
#[derive(Clone, Debug)]
pub struct RuleRow {
    /// The rule.
    pub rule: &'static Rule,
    /// The verdict.
    pub verdict: Verdict,
    /// The number of cases examined.
    pub cases: u64,
    /// The number of cases that broke it.
    pub broken: u64,
}

/// The result of a run.
#[derive(Clone, Debug)]
pub struct Report {
    /// The provider's file name or address.
    pub provider: String,
    /// SHA-256 of the program; empty if it is not a file.
    pub hash: String,
    /// The version of the protocol; 0 if there was no connection.
    pub protocol: u32,
    /// The level.
    pub level: u8,
    /// The seed.
    pub seed: u64,
    /// The time at which the run began, from which its calls count.
    pub begun: SystemTime,
    /// The length of the run.
    pub took: Duration,
    /// The numbers of types by kind.
    pub offers: Vec<(String, usize)>,
    /// All rules with their verdicts.
    pub rows: Vec<RuleRow>,
    /// The findings, in the order of the rules, without secrets.
    pub findings: Vec<Finding>,
    /// Why the provider could not be checked, if it could not.
    pub stopped: Option<String>,
}

/// Number of held rules of a severity, out of those that were examined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Score {
    /// Rules that held.
    pub held: usize,
    /// Rules that were examined.
    pub examined: usize,
}

impl Report {
    /// Collects the findings of a run.
    #[must_use]
    pub fn new(suite: &Suite, stopped: Option<String>) -> Self {
        let rows = rules::all_rules().map(|rule| {
            let tally = suite.tallies.of_rule(rule.id);
            RuleRow {
                rule,
                verdict: redact_verdict(suite, suite.tallies.verdict(rule)),
                cases: tally.map_or(0, |it| it.cases),
                broken: tally.map_or(0, |it| it.broken),
            }
        });
        let rows = rows.collect();
        let findings = suite.tallies.findings().map(|it| redact_finding(suite, it)).collect();
        let (provider, hash) = match &suite.options.target {
            CheckedProvider::Program(path) => {
                let name = path.file_name().map(|it| it.to_string_lossy().into_owned());
                (name.unwrap_or_default(), file_hash(path))
            }
            CheckedProvider::Running(address, _) => (address.to_string(), String::new()),
        };
        let mut offers = BTreeMap::<Kind, usize>::new();
        for offered in suite.offer.types.iter().filter(|it| it.kind != Kind::Provider) {
            *offers.entry(offered.kind).or_default() += 1;
        }
        let mut offers: Vec<_> =
            offers.into_iter().map(|(kind, number)| (kind.noun().to_owned(), number)).collect();
        if !suite.offer.functions.is_empty() {
            offers.push(("function".to_owned(), suite.offer.functions.len()));
        }
        Self {
            provider,
            hash,
            protocol: suite.protocol.map_or(0, |it| it.number()),
            level: suite.options.level,
            seed: suite.options.seed,
            begun: suite.start.begun(),
            took: suite.elapsed(),
            offers,
            rows,
            findings,
            stopped: stopped.map(|reason| suite.secrets.redact(&reason)),
        }
    }

    /// Counts the rules of a severity.
    #[must_use]
    pub fn score(&self, severity: Severity) -> Score {
        let rows = self.rows.iter().filter(|row| row.rule.severity == severity);
        let mut score = Score::default();
        for row in rows {
            match row.verdict {
                Verdict::Held => {
                    score.held += 1;
                    score.examined += 1;
                }
                Verdict::Broken => score.examined += 1,
                Verdict::Skipped(_) => {}
            }
        }
        score
    }

    /// Counts rules with a verdict.
    #[must_use]
    pub fn count_verdicts(&self, word: &str) -> usize {
        self.rows.iter().filter(|row| row.verdict.word() == word).count()
    }

    /// The verdict on a rule.
    #[must_use]
    pub fn verdict_on_rule(&self, id: &str) -> Option<&Verdict> {
        self.rows.iter().find(|row| row.rule.id == id).map(|row| &row.verdict)
    }

    /// The exit code of the command: 0 if all musts hold, 1 with findings on musts, 2 if the provider
    /// could not be checked, or not to the end.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        let must = self.score(Severity::Must);
        match &self.stopped {
            // Without a protocol, no provider could be called.
            Some(_) if self.protocol == 0 => 2,
            _ if must.held < must.examined => 1,
            // A run that ended early is not a success, even if no rule was broken until then.
            Some(_) => 2,
            None => 0,
        }
    }

    /// The reason why a run stopped, as a message.
    fn end_cause(&self) -> &'static str {
        match self.protocol {
            0 => "The provider could not be checked",
            _ => "The run ended early",
        }
    }

    /// Panics with the report if the provider could not be checked or breaks a must. For tests.
    ///
    /// # Panics
    /// See above.
    pub fn assert_conforms(&self) {
        assert!(self.exit_code() == 0, "{}", self.terminal(100));
    }
}

fn redact_verdict(suite: &Suite, verdict: Verdict) -> Verdict {
    match verdict {
        Verdict::Skipped(reason) => Verdict::Skipped(suite.secrets.redact(&reason)),
        other => other,
    }
}

/// The finding without secrets. Calls keep their bytes only where these hold none.
pub(crate) fn redact_finding(suite: &Suite, finding: &Finding) -> Finding {
    let clean = |text: &str| escape_control_characters(&suite.secrets.redact(text));
    let mut finding = finding.clone();
    // A provider may have put a secret into any of these.
    for text in [
        &mut finding.message,
        &mut finding.expected,
        &mut finding.found,
        &mut finding.input,
        &mut finding.path,
        &mut finding.subject,
    ] {
        *text = clean(text);
    }
    // Bytes with a secret cannot be redacted: the lengths in them would not fit any more.
    finding.calls.retain(|call| !holds_secret(suite, &call.recorded));
    finding
}

/// Whether a call contains a secret, in its bytes or in the reason of its end.
fn holds_secret(suite: &Suite, call: &RecordedCall) -> bool {
    let end: [&[u8]; 2] = match &call.outcome {
        CallOutcome::Ok | CallOutcome::Unfinished => [&[], &[]],
        CallOutcome::Status(status) => [status.message.as_bytes(), &status.details[..]],
        CallOutcome::Failed(reason) => [reason.as_bytes(), &[]],
    };
    let messages = call.requests.iter().chain(&call.answers).map(|bytes| &bytes[..]);
    messages.chain(end).any(|bytes| suite.secrets.holds_configured_secret(bytes))
}

/// The string with escaped control characters: providers may send any message.
fn escape_control_characters(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            // Texts have line breaks and tabs. Other control characters could drive a terminal.
            '\n' | '\t' => c.to_string(),
            c if c.is_control() => c.escape_default().to_string(),
            c => c.to_string(),
        })
        .collect()
}

pub(crate) fn file_hash(path: &std::path::Path) -> String {
    let Ok(mut file) = std::fs::File::open(path) else { return String::new() };
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => hasher.update(&buffer[..read]),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            // The hash of a part would name another program.
            Err(_) => return String::new(),
        }
    }
    hex::encode(&hasher.finalize())
}

#[cfg(test)]
mod tests {
    use formwork_plugin_protocol::raw::RawStatus;
    use formwork_value::schema::{Attribute, Block, Role};
    use formwork_value::{Str, Type, Value};

    use super::*;
    use crate::plugin::{Call, Reply};
    use crate::rpc::Rpc;
    use crate::suite::Options;

    #[test]
    fn a_call_with_a_secret_anywhere_in_its_record_is_left_out() {
        let mut suite = Suite::new(Options::new("provider"));
        let password =
            Attribute { sensitive: true, ..Attribute::new(Type::String, Role::Required) };
        let block =
            Block { attributes: [(Str::from("password"), password)].into(), ..Block::default() };
        let config = Value::object([("password", Value::string("swordfish"))]);
        suite.secrets.add_sensitive_strings(&block, &config);
        let is_kept = |outcome: CallOutcome| {
            let mut call = Call::with_reply(Rpc::ReadResource, Reply::TimedOut);
            call.recorded.outcome = outcome;
            let finding = Finding::new("R-01", "resource", "it ends").with_call(&call);
            !redact_finding(&suite, &finding).calls.is_empty()
        };
        let status = |message: &str, details: &'static [u8]| {
            let (message, details) = (message.to_owned(), details.into());
            CallOutcome::Status(RawStatus { code: 2, message, details })
        };
        assert!(is_kept(CallOutcome::Unfinished) && is_kept(status("no", b"\x08\x02")));
        assert!(!is_kept(status("swordfish is wrong", b"")));
        assert!(!is_kept(status("no", b"\x08\x02swordfish")));
        assert!(!is_kept(CallOutcome::Failed("panic: swordfish".to_owned())));
    }

    /// A report with one rule held and one broken, with characters that other formats escape.
    pub(super) fn report() -> Report {
        let mut suite = Suite::new(Options::new("terraform-provider <odd> name"));
        suite.tallies.record_pass("P-01");
        // XML has no form for these two characters, and HTML needs the others escaped.
        let finding = Finding::new("P-02", "resource acme_item", "a <b> & \"c\" \u{1}\u{ffff}");
        // `]]>` would end a CDATA section.
        let finding =
            finding.with_path("name").with_expected_and_found("one\nline", "another ]]> 'one'");
        suite.tallies.add_finding(finding.with_input("{\"name\":\"x\"}"));
        suite.tallies.note_skipped_rule("P-03", "<no> reason");
        Report::new(&suite, None)
    }
}
