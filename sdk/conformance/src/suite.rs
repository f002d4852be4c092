//! A run over one provider: the running plugin, its schema, the results so far, and the remaining
//! time.

mod options;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use formwork_plugin_protocol::handshake::Protocol;
use formwork_plugin_protocol::transcript::{CallOutcome, TranscriptStart};
use formwork_value::{Plain, Value};

use crate::finding::{Finding, Tallies, path_as_message_prefix};
use crate::generate::{self, ConfigExtent, Dice};
use crate::message::Msg;
use crate::offer::{Kind, Offer, OfferedType};
use crate::plugin::{Call, LaunchOptions, Plugin, Reply, StartError, raw_call};
use crate::redact::Secrets;
use crate::request;
use crate::rpc::{Diag, Rpc};
use crate::rules::{self, Rule};
use crate::system;

pub use options::{CheckedProvider, Example, Options, Release, VerifySignature};

/// Progress of a run: the family and the rule ids that are examined now.
pub type ProgressCallback<'p> = &'p mut dyn FnMut(&str, &Tallies);

/// The reason of a rule that was not examined because the time was over.
const TIME_OVER_REASON: &str = "the time was over";
/// The deadline of a call that validates, plans or reads.
pub const READ_ONLY_CALL_TIMEOUT: Duration = Duration::from_secs(20);
/// The deadline of a changing call.
pub const CHANGING_CALL_TIMEOUT: Duration = Duration::from_secs(120);
/// The most restarts after crashes in one run.
const MAX_RESTARTS: usize = 200;

/// One run.
pub struct Suite {
    /// The settings.
    pub options: Options,
    /// Counts of the examined cases.
    pub tallies: Tallies,
    /// The schema.
    pub offer: Offer,
    /// Secrets that must not be printed.
    pub(crate) secrets: Secrets,
    /// Whether the running plugin is configured.
    pub configured: bool,
    /// The dynamic configuration of the provider.
    pub config: Msg,
    /// Legal configurations found so far.
    pub legal: BTreeMap<(Kind, String), Vec<Value>>,
    /// Resource types that detect whether an object exists.
    pub(crate) tracked: BTreeSet<String>,
    /// Output and diagnostics of plugins that have ended.
    pub past: EndedPluginsOutput,
    /// The protocol that was negotiated.
    pub protocol: Option<Protocol>,
    /// Variables that lead the provider to a proxy.
    pub(crate) proxy_env: Vec<(OsString, OsString)>,
    /// The moment from which the times of all calls count.
    pub(crate) start: TranscriptStart,
    plugin: Option<Plugin>,
    restarts: usize,
    began: Instant,
    /// Whether cases were not examined because the time was over.
    is_cut_short: AtomicBool,
}

/// Output of plugins that have ended.
#[derive(Debug, Default)]
pub struct EndedPluginsOutput {
    /// Their output to stdout after the handshake.
    pub stdout: Vec<u8>,
    /// Their output to stderr.
    pub stderr: Vec<u8>,
    /// Their diagnostics.
    pub diagnostics: Vec<(Rpc, Diag)>,
    /// The largest answer.
    pub largest: (usize, Option<Rpc>),
}

impl Suite {
    /// Begins a run.
    #[must_use]
    pub fn new(mut options: Options) -> Self {
        // Some checks start the program in another directory.
        if let CheckedProvider::Program(path) = &mut options.target
            && let Ok(absolute) = std::path::absolute(&path)
        {
            *path = absolute;
        }
        let secrets = Secrets::new(options.seed);
        let start = TranscriptStart::new(options.begun);
        Self {
            options,
            tallies: Tallies::default(),
            offer: Offer::default(),
            secrets,
            configured: false,
            config: Msg::new(),
            legal: BTreeMap::new(),
            tracked: BTreeSet::new(),
            past: EndedPluginsOutput::default(),
            protocol: None,
            proxy_env: Vec::new(),
            start,
            plugin: None,
            restarts: 0,
            began: Instant::now(),
            is_cut_short: AtomicBool::new(false),
        }
    }

    /// Whether a rule is to be examined in this run.
    #[must_use]
    pub fn is_rule_wanted(&self, id: &str) -> bool {
        rules::find_rule(id).is_some_and(|rule| self.is_selected(rule))
    }

    /// Whether one of several rules is to be examined.
    #[must_use]
    pub fn wants_any(&self, ids: &[&str]) -> bool {
        ids.iter().any(|id| self.is_rule_wanted(id)) && !self.is_run_over()
    }

    fn is_selected(&self, rule: &Rule) -> bool {
        let Options { only, skip, level, .. } = &self.options;
        rule.level <= *level
            && (only.is_empty() || only.contains(rule.id))
            && !skip.contains(rule.id)
            && system::unsupported_reason(rule.id).is_none()
    }

    /// Sets the reason of every selected rule that was not examined, and drops the findings of
    /// rules that were not selected.
    pub fn note_reasons_of_unexamined(&mut self) {
        let level = self.options.level;
        for rule in rules::all_rules() {
            let Options { only, skip, .. } = &self.options;
            // The user's selection first, which is a better reason than the time limit.
            let reason = if skip.contains(rule.id) {
                "left out with -skip".to_owned()
            } else if !only.is_empty() && !only.contains(rule.id) {
                "not among -only".to_owned()
            } else if rule.level > level {
                format!("is examined at level {}", rule.level)
            } else if let Some(missing) = system::unsupported_reason(rule.id) {
                missing.to_owned()
            } else if self.is_interrupted() {
                "the run was interrupted".to_owned()
            } else if self.is_time_over_or_interrupted() {
                TIME_OVER_REASON.to_owned()
            } else {
                continue;
            };
            self.tallies.note_skipped_rule(rule.id, reason);
        }
    }

    /// Whether cases of the selected rules were not examined because the time was over.
    #[must_use]
    pub fn is_cut_short(&self) -> bool {
        !self.is_interrupted() && self.is_cut_short.load(Ordering::Relaxed)
    }

    /// Whether the next case is not to be examined: the time of the run is over, or the caller has ended it.
    #[must_use]
    pub fn is_run_over(&self) -> bool {
        let is_late = self.is_time_over_or_interrupted();
        self.is_cut_short.fetch_or(is_late, Ordering::Relaxed);
        is_late
    }

    /// Whether the time of the run is over, or the caller has ended it.
    fn is_time_over_or_interrupted(&self) -> bool {
        self.is_interrupted() || self.began.elapsed() > self.options.time
    }

    /// Whether the caller has ended the run.
    #[must_use]
    pub fn is_interrupted(&self) -> bool {
        self.options.stop.load(Ordering::SeqCst)
    }

    /// The time since the beginning.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    /// Counts a case: held, or broken with the finding.
    pub fn record_case(&mut self, id: &'static str, held: bool, finding: impl FnOnce() -> Finding) {
        // A check may examine several rules together, some of which were not selected.
        if !self.is_rule_wanted(id) {
            return;
        }
        match held {
            true => self.tallies.record_pass(id),
            false => self.tallies.add_finding(finding()),
        }
    }

    /// Checks that the provider survives a call for which it may need its service.
    ///
    /// Without a configuration the service may be missing, and a provider may wait for it.
    pub fn check_survives_call(
        &mut self,
        id: &'static str,
        call: &Call,
        finding: impl FnOnce() -> Finding,
    ) {
        if matches!(call.reply, Reply::TimedOut) && self.options.config.is_none() {
            let reason = "no answer in time; a service may be missing without -config";
            return self.note_skipped_rules(&[id], reason);
        }
        self.record_case(id, !call.is_crash_or_hang(), finding);
    }

    /// Notes why rules cannot be examined.
    pub fn note_skipped_rules(&mut self, ids: &[&'static str], reason: &str) {
        for id in ids {
            self.tallies.note_skipped_rule(id, reason);
        }
    }

    /// A seeded random number generator for one purpose.
    #[must_use]
    pub fn seeded_dice(&self, of: &str) -> Dice {
        Dice::new(self.options.seed, of)
    }

    /// The usual settings for starting the provider.
    #[must_use]
    pub fn launch_options(&self) -> LaunchOptions {
        let mut env = self.options.env.clone();
        env.extend(self.proxy_env.iter().cloned());
        // At TRACE, so that a secret in any line of the log is found.
        env.push(("TF_LOG".into(), "TRACE".into()));
        LaunchOptions { env, ..LaunchOptions::new(self.start) }
    }

    /// The program, if the provider is one.
    #[must_use]
    pub fn program_path(&self) -> Option<PathBuf> {
        match &self.options.target {
            CheckedProvider::Program(path) => Some(path.clone()),
            CheckedProvider::Running(..) => None,
        }
    }

    /// Starts another process of the provider, or connects to the running one again.
    ///
    /// # Errors
    /// When the provider does not start.
    pub async fn start_another_process(&self) -> Result<Plugin, StartError> {
        match &self.options.target {
            CheckedProvider::Program(path) => Plugin::launch(path, &self.launch_options()).await,
            CheckedProvider::Running(address, protocol) => {
                Plugin::connect_to_running(address, *protocol, self.start).await
            }
        }
    }

    /// Starts the provider if it does not run.
    ///
    /// # Errors
    /// When the provider does not start, or was restarted too often.
    pub async fn ensure_running(&mut self) -> Result<(), String> {
        if self.plugin.as_ref().is_some_and(Plugin::is_alive) {
            return Ok(());
        }
        self.end_plugin();
        if self.restarts >= MAX_RESTARTS {
            return Err("the provider crashed too often".to_owned());
        }
        self.restarts += 1;
        let plugin = self.start_another_process().await.map_err(|error| error.to_string())?;
        self.protocol = Some(plugin.protocol);
        // Configured again, because the checks after a crash rely on it.
        if self.configured {
            let request = request::configure_request(&self.config);
            plugin.call(Rpc::ConfigureProvider, &request, CHANGING_CALL_TIMEOUT).await;
        }
        self.plugin = Some(plugin);
        Ok(())
    }

    /// Ends the running plugin and keeps its output.
    pub fn end_plugin(&mut self) {
        let Some(plugin) = self.plugin.take() else { return };
        // Kept for the checks over all output, which come last.
        append_up_to_limit(&mut self.past.stdout, plugin.stdout());
        append_up_to_limit(&mut self.past.stderr, plugin.stderr());
        let diagnostics = plugin.diagnostics.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.past.diagnostics.extend(diagnostics);
        // A provider may report without end.
        self.past.diagnostics.truncate(10_000);
        let largest = plugin.largest.into_inner().unwrap_or_else(PoisonError::into_inner);
        if largest.0 > self.past.largest.0 {
            self.past.largest = largest;
        }
    }

    /// The running plugin.
    #[must_use]
    pub fn plugin(&self) -> Option<&Plugin> {
        self.plugin.as_ref()
    }

    /// Makes a call. A provider that has exited is restarted before the next call.
    pub async fn call(&mut self, rpc: Rpc, request: &Msg) -> Call {
        self.call_with_deadline(rpc, vec![request.encode()], READ_ONLY_CALL_TIMEOUT).await
    }

    /// Makes a changing call.
    pub async fn call_changing(&mut self, rpc: Rpc, request: &Msg) -> Call {
        self.call_with_deadline(rpc, vec![request.encode()], CHANGING_CALL_TIMEOUT).await
    }

    /// Makes a call of any bytes within a deadline.
    pub async fn call_with_deadline(
        &mut self,
        rpc: Rpc,
        request: Vec<bytes::Bytes>,
        deadline: Duration,
    ) -> Call {
        let running = self.ensure_running().await;
        let plugin = match (running, &self.plugin) {
            (Ok(()), Some(plugin)) => plugin,
            (running, _) => {
                let reason = running.err().unwrap_or_else(|| "it does not run".to_owned());
                // A provider that has never answered has chosen no version.
                let path = rpc.path_of_name(self.protocol.unwrap_or(Protocol::LATEST));
                let call = raw_call(path, request);
                let recorded = self.start.record_unsent_call(call, CallOutcome::Failed(reason));
                return Call::unsent(rpc, recorded);
            }
        };
        let call = plugin.call_bytes(rpc, request, deadline).await;
        if call.is_crash_or_hang() {
            // A plugin that hangs or sent garbage is not used for the next call.
            if let Some(started) = &plugin.started {
                started.child.kill();
            }
            self.end_plugin();
        }
        call
    }

    /// Validates a configuration.
    pub async fn call_validate(&mut self, offered: &OfferedType, config: &Value) -> Call {
        let request = request::validate_request(offered, config);
        self.call(request::validate_rpc(offered.kind), &request).await
    }

    /// Example configurations of a type, in the type of its schema.
    #[must_use]
    pub fn examples_of(&self, offered: &OfferedType) -> Vec<(String, Result<Value, String>)> {
        let configured = self.options.examples.iter();
        configured
            .filter(|it| it.kind == offered.kind && it.name == offered.name)
            .map(|example| {
                let coerced = offered.block().coerce(&example.value);
                let coerced = coerced.map_err(|error| {
                    format!("{}{}", path_as_message_prefix(&error.path), error.reason)
                });
                (example.file.clone(), coerced)
            })
            .collect()
    }

    /// The configuration of everything in a block, for checks of single attributes.
    #[must_use]
    pub fn generate_config(
        &self,
        offered: &OfferedType,
        extent: ConfigExtent,
        number: u64,
    ) -> Value {
        // Each extent and each number has a sequence of its own.
        let subject = format!("{}/{}/{number}", offered.display_name(), extent as u8);
        generate::generate_config(offered.block(), extent, &mut self.seeded_dice(&subject))
    }

    /// Shrinks an input for as long as the call with it crashes the provider.
    pub async fn shrink_crashing_config(&mut self, offered: &OfferedType, value: &Value) -> Value {
        let mut value = value.clone();
        // Bounded, because each crash costs a restart of the provider.
        for _ in 0..40 {
            let mut smaller = None;
            for candidate in generate::smaller_values(offered.block(), &value).into_iter().take(30)
            {
                if self.call_validate(offered, &candidate).await.is_crash_or_hang() {
                    smaller = Some(candidate);
                    break;
                }
            }
            match smaller {
                Some(candidate) if !self.is_time_over_or_interrupted() => value = candidate,
                _ => break,
            }
        }
        value
    }
}

/// A value without marks as a proof of it.
#[must_use]
pub fn to_plain(value: &Value) -> Plain {
    value.clone().split_marks().0
}

fn append_up_to_limit(buffer: &mut Vec<u8>, more: Vec<u8>) {
    const MAX_KEPT_OUTPUT_BYTES: usize = 16 << 20;
    // A provider at TRACE may print without end.
    let room = MAX_KEPT_OUTPUT_BYTES.saturating_sub(buffer.len()).min(more.len());
    buffer.extend_from_slice(&more[..room]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Verdict;
    use crate::report::Report;

    /// The verdict on R-01 after a call with this reply.
    fn verdict(config: Option<Value>, reply: Reply) -> Option<Verdict> {
        let mut options = Options::new("provider");
        options.config = config;
        let mut suite = Suite::new(options);
        let call = Call::with_reply(Rpc::ReadResource, reply);
        suite.check_survives_call("R-01", &call, || Finding::new("R-01", "resource", "it hangs"));
        Report::new(&suite, None).verdict_on_rule("R-01").cloned()
    }

    #[test]
    fn a_provider_may_wait_for_a_service_that_no_configuration_names() {
        let config = Some(Value::object([("endpoint", Value::string("http://127.0.0.1:9/"))]));
        assert_eq!(verdict(config, Reply::TimedOut), Some(Verdict::Broken));
        let lost = Reply::Lost { reason: "it has ended".to_owned(), panicked: true };
        assert_eq!(verdict(None, lost), Some(Verdict::Broken));
        let skipped = verdict(None, Reply::TimedOut);
        assert!(matches!(skipped, Some(Verdict::Skipped(_))), "{skipped:?}");
    }
}
