//! `formwork provider check` and `formwork provider replay`: check a provider against the rules of the
//! protocol, and repeat the calls of a finding.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use formwork_conformance::finding::Tallies;
use formwork_conformance::{CheckedProvider, Options, Release, Report, report, rules};
use formwork_core::addr::ProviderAddr;
use formwork_core::disk::{
    FileOptions as _, MAX_SMALL_FILE_LEN, open_file, read_user_text_file, symlink,
};
use formwork_plugin_protocol::reattach;
use formwork_value::diag::Sources;
use formwork_value::duration::parse_nanoseconds;
use formwork_value::{Diagnostic, Diagnostics, Reported};
use tempfile::TempDir;

use super::check_inputs;
use crate::clock;
use crate::command_line::example;
use crate::env::Env;
use crate::exit::Exit;
use crate::install::shipped::{self, ShippedProgram};
use crate::install::signature;
use crate::messages;
use crate::signals::SignalGuard;
use crate::view::operation_report::OperationReport as Messages;
use crate::view::{Screen, print_out, print_transient};

/// Check a provider against the rules of the protocol.
#[derive(Debug, clap::Args)]
#[command(after_help = example(
    "target/debug/terraform-provider-weather -level=2",
    "Check a provider against the rules of the protocol."
))]
pub(crate) struct ProviderCheckArgs {
    /// The provider: a program, or the source address of one that is installed or reattached.
    #[arg(value_name = "PROGRAM|ADDRESS")]
    pub(crate) provider: String,
    /// The highest level: 0 starts the program only, 1 configures and plans, 2 reads, 3 creates and destroys
    /// real objects.
    #[arg(long, value_name = "0..3", default_value_t = 1)]
    pub(crate) level: u8,
    /// Directory of examples in the layout of the registry.
    #[arg(long, value_name = "DIR")]
    pub(crate) examples: Option<PathBuf>,
    /// File with the attributes and blocks of the provider configuration.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// The program of the previous release, to compare schemas.
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) previous: Option<PathBuf>,
    /// The release directory: archives, checksums, signature and manifest.
    #[arg(long, value_name = "DIR")]
    pub(crate) release: Option<PathBuf>,
    /// File with the public OpenPGP key of the release, ASCII-armored.
    #[arg(long, value_name = "FILE", requires = "release")]
    pub(crate) release_key: Option<PathBuf>,
    /// Check only these rules.
    #[arg(long, value_name = "ID,...", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    /// Skip these rules.
    #[arg(long, value_name = "ID,...", value_delimiter = ',')]
    pub(crate) skip: Vec<String>,
    /// Seed of the generated inputs.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Time limit for the whole run: 90s, 10m, 1h.
    #[arg(long, value_name = "LIMIT", default_value = "10m")]
    pub(crate) time: String,
    /// Print the report as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Write a report as JUnit XML.
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    /// Write a report as SARIF.
    #[arg(long, value_name = "FILE")]
    pub(crate) sarif: Option<PathBuf>,
    /// Write a report as an HTML page.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Write a line for a badge.
    #[arg(long, value_name = "FILE")]
    pub(crate) badge: Option<PathBuf>,
    /// Directory for reproducer files, one per finding.
    #[arg(long, value_name = "DIR")]
    pub(crate) reproducers: Option<PathBuf>,
    /// Record every object that is created at level 3 in a journal.
    #[arg(long, value_name = "FILE")]
    pub(crate) journal: Option<PathBuf>,
    /// Keep the results in a file. After an interruption, the same command resumes from it.
    #[arg(long, value_name = "FILE")]
    pub(crate) resume: Option<PathBuf>,
}

/// Repeat the calls of a finding.
#[derive(Debug, clap::Args)]
#[command(after_help = example(
    "P-02.json target/debug/terraform-provider-weather",
    "Repeat the calls of a finding."
))]
pub(crate) struct ProviderReplayArgs {
    /// The reproducer file.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The provider's program.
    #[arg(value_name = "PROGRAM")]
    pub(crate) program: PathBuf,
}

/// Minimum width of the report if it is not printed to a terminal.
const MIN_REPORT_WIDTH: usize = 100;

/// Runs `provider check`.
pub(super) async fn run(args: &ProviderCheckArgs, env: &Env) -> Exit {
    let mut diags = Diagnostics::new();
    let mut sources = Sources::new();
    let options = check_options(&mut diags, &mut sources, args, env);
    let messages = Messages::new(Screen::of(env), false, env.compact_warnings);
    messages.report_diagnostics(&sources, &diags);
    let Ok((options, _link)) = options else { return Exit::CannotCheck };
    let progress = ProgressLine { screen: Screen::of(env) };
    let report = run_interruptible(options, &progress).await;
    progress.clear();
    let mut diags = Diagnostics::new();
    let written = write_reports(&mut diags, args, &report);
    messages.report_diagnostics(&sources, &diags);
    if args.json {
        print_out(&report.json());
    } else if let Some(reason) = report.stopped.as_deref().filter(|_| report.protocol == 0) {
        let mut diags = Diagnostics::new();
        let Reported { .. } = diags.error(unusable_program_error(&report.provider, reason));
        messages.report_diagnostics(&sources, &diags);
    } else {
        let screen = Screen::of(env);
        let width = if crate::view::is_stdout_terminal() { screen.width } else { MIN_REPORT_WIDTH };
        print_out(&report.terminal(width.saturating_sub(1)));
    }
    match (report.exit_code(), written) {
        (2, _) | (_, Err(Reported { .. })) => Exit::CannotCheck,
        (0, _) => Exit::Done,
        _ => Exit::Failed,
    }
}

/// The error for a program that Formwork cannot connect to.
fn unusable_program_error(provider: &str, reason: &str) -> Diagnostic {
    let detail = format!(
        "{provider}: {reason}. Specify a provider program for this platform. A provider program prints a notice when it is started directly."
    );
    Diagnostic::error(messages::PROVIDER_CANNOT_BE_CHECKED, detail)
}

/// Runs the checks. The first signal ends the run early, with a report of the completed checks.
async fn run_interruptible(options: Options, progress_line: &ProgressLine) -> Report {
    let stop = Arc::clone(&options.stop);
    let mut progress = |family: &str, tallies: &Tallies| progress_line.show_family(family, tallies);
    let run = formwork_conformance::run(options, &mut progress);
    tokio::pin!(run);
    // Without a handler, signals have their default effect.
    let Ok(mut attended) = SignalGuard::start_listening() else { return run.await };
    tokio::select! {
        report = &mut run => report,
        () = attended.next() => {
            stop.store(true, Ordering::SeqCst);
            run.await
        }
    }
}

/// Progress on one line of a terminal.
struct ProgressLine {
    screen: Screen,
}

impl ProgressLine {
    fn show_family(&self, family: &str, tallies: &Tallies) {
        let findings = tallies.findings().count();
        print_transient(&self.screen, &format!("{family}, {findings} findings so far"));
    }

    fn clear(&self) {
        print_transient(&self.screen, "");
    }
}

fn check_options(
    diags: &mut Diagnostics,
    sources: &mut Sources,
    args: &ProviderCheckArgs,
    env: &Env,
) -> Result<(Options, Option<TempDir>), Reported> {
    if args.level > 3 {
        let detail =
            format!("-level={} is not a valid level. Levels are 0, 1, 2 and 3.", args.level);
        return Err(diags.error(Diagnostic::error(messages::NO_SUCH_LEVEL, detail)));
    }
    let (target, link) = resolve_provider_to_check(diags, &args.provider, env)?;
    let only = parse_rule_ids(diags, "-only", &args.only)?;
    let skip = parse_rule_ids(diags, "-skip", &args.skip)?;
    let time = parse_duration(diags, &args.time)?;
    let examples = match &args.examples {
        Some(directory) => check_inputs::read_examples(diags, sources, directory)?,
        None => Vec::new(),
    };
    let config = match &args.config {
        Some(file) => Some(check_inputs::read_provider_config(diags, sources, file)?),
        None => None,
    };
    let previous =
        args.previous.as_deref().map(|path| absolute_program_path(diags, path)).transpose()?;
    let release = match &args.release {
        Some(directory) => Some(read_release(diags, directory, args.release_key.as_deref())?),
        None => None,
    };
    let options = Options {
        target,
        level: args.level,
        only,
        skip,
        seed: args.seed,
        time,
        examples,
        config,
        previous,
        release,
        env: Vec::new(),
        journal: args.journal.clone(),
        resume: args.resume.clone(),
        begun: clock::current_time().into(),
        stop: Arc::default(),
    };
    Ok((options, link))
}

/// The release, and the key that verifies its signature.
fn read_release(
    diags: &mut Diagnostics,
    directory: &Path,
    key: Option<&Path>,
) -> Result<Release, Reported> {
    if !directory.is_dir() {
        let detail = format!(
            "-release={} is not a directory. Give the one that `formwork provider package` has written.",
            directory.display()
        );
        return Err(diags.error(Diagnostic::error(messages::NO_SUCH_DIR_RELEASE, detail)));
    }
    let key = key.map(|path| {
        read_user_text_file(path, MAX_SMALL_FILE_LEN).map_err(|error| {
            let detail = format!(
                "-release-key={}: {error}. Export a key with `gpg --export --armor ID`.",
                path.display()
            );
            diags.error(Diagnostic::error(messages::KEY_RELEASE_CANNOT_BE_READ, detail))
        })
    });
    Ok(Release { directory: directory.to_owned(), key: key.transpose()?, verify: verify_signature })
}

/// Verifies a signature as `init` does.
fn verify_signature(document: &[u8], signed: &[u8], key: &str) -> Result<(), String> {
    let verified =
        signature::verify_signature(document, signed, &[key.to_owned()], clock::current_time());
    verified.map(drop).map_err(|error| error.to_string())
}

fn parse_rule_ids(
    diags: &mut Diagnostics,
    flag: &str,
    rules: &[String],
) -> Result<BTreeSet<String>, Reported> {
    for id in rules {
        if rules::find_rule(id).is_none() {
            let detail = format!(
                "{flag} names {id:?}, which is not a rule. IDs have the form P-02; docs/conformance.md lists all of them."
            );
            return Err(diags.error(Diagnostic::error(messages::UNKNOWN_RULE, detail)));
        }
    }
    Ok(rules.iter().cloned().collect())
}

fn parse_duration(diags: &mut Diagnostics, text: &str) -> Result<Duration, Reported> {
    let parsed = parse_nanoseconds(text).ok().and_then(|it| u64::try_from(it).ok());
    parsed.map(Duration::from_nanos).filter(|it| !it.is_zero()).ok_or_else(|| {
        let detail = format!("-time={text:?} is not a duration such as 90s, 10m or 1h.");
        diags.error(Diagnostic::error(messages::INVALID_TIME_LIMIT, detail))
    })
}

/// Resolves the provider: a file, or the address of a reattached, installed or included provider. The
/// returned directory must live as long as the provider runs.
fn resolve_provider_to_check(
    diags: &mut Diagnostics,
    provider: &str,
    env: &Env,
) -> Result<(CheckedProvider, Option<TempDir>), Reported> {
    let path = Path::new(provider);
    if path.exists() {
        return Ok((CheckedProvider::Program(absolute_program_path(diags, path)?), None));
    }
    let looks_like_address = provider.matches('/').count().clamp(1, 2)
        == provider.matches('/').count()
        && !provider.starts_with(['/', '.']);
    let addr = looks_like_address.then(|| provider.parse::<ProviderAddr>().ok()).flatten();
    let Some(addr) = addr else {
        let detail = format!(
            "The file {provider:?} does not exist. Specify the path of the provider program, or the source address of an installed provider such as hashicorp/random."
        );
        return Err(diags.error(Diagnostic::error(messages::NO_SUCH_PROGRAM, detail)));
    };
    let running =
        env.reattach.as_deref().and_then(|text| reattach::parse_reattach_variable(text).ok());
    let running = running.into_iter().flatten();
    for (name, plugin) in running {
        if name.parse::<ProviderAddr>().is_ok_and(|own_addr| own_addr == addr) {
            return Ok((CheckedProvider::Running(plugin.address, plugin.protocol), None));
        }
    }
    if let Some(path) = installed_program(&addr) {
        return Ok((CheckedProvider::Program(path), None));
    }
    let shipped = shipped::find_shipped(&addr, env.bundled)
        .map(|(_, program)| link_shipped_program(&program));
    if let Some(shipped) = shipped.transpose().map_err(|error| {
        let detail = format!("A link to the program of {provider} cannot be created: {error}.");
        diags.error(Diagnostic::error(messages::PROVIDER_CANNOT_BE_CHECKED, detail))
    })? {
        return Ok(shipped);
    }
    let detail = format!(
        "{provider} is neither installed in the working directory nor running. Run `formwork init` in a directory whose configuration requires it, or specify the path of its program."
    );
    Err(diags.error(Diagnostic::error(messages::PROVIDER_NOT_INSTALLED, detail)))
}

/// An included provider. If its program name differs from its file name, a link with that name is created.
fn link_shipped_program(
    program: &ShippedProgram,
) -> io::Result<(CheckedProvider, Option<TempDir>)> {
    let Some(name) = &program.arg0 else {
        return Ok((CheckedProvider::Program(program.path.clone()), None));
    };
    let directory = tempfile::tempdir()?;
    let link = directory.path().join(name);
    // On Windows, creating links requires a privilege.
    symlink(&program.path, &link).or_else(|_| fs::copy(&program.path, &link).map(drop))?;
    Ok((CheckedProvider::Program(link), Some(directory)))
}

/// The program of a provider that is installed in the working directory.
fn installed_program(addr: &ProviderAddr) -> Option<PathBuf> {
    let directory = Path::new(".terraform/providers")
        .join(addr.host().to_string())
        .join(addr.namespace().as_str())
        .join(addr.provider_type().as_str());
    let mut programs: Vec<PathBuf> = Vec::new();
    for version in fs::read_dir(directory).ok()?.flatten() {
        for platform in fs::read_dir(version.path()).into_iter().flatten().flatten() {
            for file in fs::read_dir(platform.path()).into_iter().flatten().flatten() {
                if file.file_name().to_string_lossy().starts_with("terraform-provider-") {
                    programs.push(file.path());
                }
            }
        }
    }
    programs.sort();
    programs.pop()
}

fn absolute_program_path(diags: &mut Diagnostics, path: &Path) -> Result<PathBuf, Reported> {
    // A link is not resolved: some programs select the provider by the name under which they are started.
    let absolute_path = fs::metadata(path).and_then(|_| std::path::absolute(path));
    let absolute = absolute_path.map_err(|error| {
        let detail = format!("{} cannot be opened: {error}.", path.display());
        diags.error(Diagnostic::error(messages::NO_SUCH_PROGRAM, detail))
    })?;
    if !absolute.is_file() {
        let detail = match absolute.is_dir() {
            true => {
                format!("{} is a directory. Specify the path of the program in it.", path.display())
            }
            false => format!("{} is a device or a pipe, not a file.", path.display()),
        };
        return Err(diags.error(Diagnostic::error(messages::NOT_A_PROGRAM, detail)));
    }
    Ok(absolute)
}

/// Writes the requested reports.
fn write_reports(
    diags: &mut Diagnostics,
    args: &ProviderCheckArgs,
    report: &Report,
) -> Result<(), Reported> {
    let files = [
        (&args.junit, report.junit()),
        (&args.sarif, report.sarif()),
        (&args.html, report.html()),
        (&args.badge, format!("{}\n", report.badge_line())),
    ];
    let mut result = Ok(());
    for (path, text) in files {
        if let Some(path) = path
            && let Err(error) = fs::write(path, text)
        {
            result = Err(report_unwritable(diags, path, &error));
        }
    }
    if let Some(directory) = &args.reproducers {
        result = result.and(write_reproducers(diags, directory, report));
    }
    result
}

fn report_unwritable(diags: &mut Diagnostics, path: &Path, error: &io::Error) -> Reported {
    let detail = format!("{} cannot be written: {error}.", path.display());
    diags.error(Diagnostic::error(messages::REPORT_COULD_NOT_BE_WRITTEN, detail))
}

fn write_reproducers(
    diags: &mut Diagnostics,
    directory: &Path,
    report: &Report,
) -> Result<(), Reported> {
    fs::create_dir_all(directory).map_err(|error| report_unwritable(diags, directory, &error))?;
    let mut numbers = std::collections::BTreeMap::<&str, usize>::new();
    for finding in report.findings.iter().filter(|it| !it.calls.is_empty()) {
        let number = numbers.entry(finding.rule).or_default();
        *number += 1;
        let path = directory.join(format!("{}-{number}.jsonl", finding.rule));
        // The file contains the provider configuration, which may be secret.
        let file = File::options().write(true).create(true).truncate(true).owner_only().open(&path);
        let written = file.and_then(|file| report.write_reproducer(finding, file));
        written.map_err(|error| report_unwritable(diags, &path, &error))?;
    }
    Ok(())
}

/// Runs `provider replay`.
pub(super) async fn run_replay(args: &ProviderReplayArgs, env: &Env) -> Exit {
    let mut diags = Diagnostics::new();
    let played = replay_calls(&mut diags, args).await;
    let messages = Messages::new(Screen::of(env), false, env.compact_warnings);
    messages.report_diagnostics(&Sources::new(), &diags);
    let Ok(calls) = played else { return Exit::CannotCheck };
    let mut same = true;
    for call in &calls {
        let verdict = if call.is_same { "same response" } else { "different response" };
        print_out(&format!(
            "{}: {verdict}\n  recorded: {}\n  now: {}\n",
            call.path, call.recorded, call.now
        ));
        same &= call.is_same;
    }
    if same { Exit::Done } else { Exit::Failed }
}

async fn replay_calls(
    diags: &mut Diagnostics,
    args: &ProviderReplayArgs,
) -> Result<Vec<report::ReplayedCall>, Reported> {
    let program = absolute_program_path(diags, &args.program)?;
    let file = open_file(&args.file).map_err(|error| {
        let detail = format!("{} cannot be opened: {error}.", args.file.display());
        diags.error(Diagnostic::error(messages::NO_SUCH_REPRODUCER_FILE, detail))
    })?;
    report::replay(BufReader::new(file), &program).await.map_err(|error| {
        diags.error(Diagnostic::error(messages::FILE_CANNOT_BE_PLAYED, format!("{error}.")))
    })
}
